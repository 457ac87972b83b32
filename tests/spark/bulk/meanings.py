"""Programs that mean something else when many cases share a query, unless care is taken: each once was let through.

Each has a reason why it is refused, or None where it has to come out as alone. Beside some stands a look-alike that has
to be carried.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout
from pyspark.sql.types import LongType, StringType

import firesteel as fs
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from tests.spark.bulk.zoo_cases import at, one, two
from tests.spark.bulk.zoo_subjects import names


@dataclass(frozen=True)
class Meaning:
    """A program, cases that tell, and what has to become of it."""

    name: str
    subject: Callable[..., Any]
    cases: Sequence[Case]
    refused: str | None = None
    """A regular expression for the reason."""
    how: Running = field(default_factory=Running)
    settings: dict[str, str] = field(default_factory=dict)


NUMBERS = one(
    "k INT NOT NULL, n INT NOT NULL", *([[(k % 3, 10 * c + k) for k in range(5)], [(0, c)]] for c in range(4))
)
NULLS = one("k INT, n INT", [[(1, 1), (2, 2)], [(1, 5)]], [[(1, None), (3, 3)], [(2, None)]])


# --- functions that remember ---


def closure(f):
    seen: list[int] = []

    @F.udf("int")
    def number(n):
        seen.append(n)
        return len(seen)

    return f.select("n", number("n").alias("number"))


def nonlocal_name(f):
    count = 0

    @F.udf("int")
    def number(n):
        nonlocal count
        count += 1
        return count

    return f.select(number("n").alias("number"))


def iterator(f):
    numbers = itertools.count()
    return f.select("n", F.udf(lambda n: next(numbers), "int")("n").alias("number"))


class Counted:
    total = 0


def class_attribute(f):
    @F.udf("int")
    def number(n):
        Counted.total += 1
        return Counted.total

    return f.select("n", number("n").alias("number"))


CACHE: dict[int, int] = {}


def module_global(f):
    @F.udf("int")
    def place(n):
        if n not in CACHE:
            CACHE[n] = len(CACHE)
        return CACHE[n]

    return f.select("n", place("n").alias("place"))


class Numbering:
    """A function with state in an instance."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, n):
        self.seen += 1
        return self.seen


class Forgetful(StatefulProcessor):
    """Counts in an attribute, where it should use the handle."""

    def init(self, handle):
        self._handle, self._count = handle, 0

    def handleInputRows(self, key, rows, timer_values):
        self._count += sum(len(frame) for frame in rows)
        yield pd.DataFrame({"k": [key[0]], "c": [self._count]})

    def close(self):
        pass


def accumulator(f):
    counted = f.sparkSession.sparkContext.accumulator(0)

    @F.udf("int")
    def plus(n):
        counted.add(1)
        return n + 1

    return f.select(plus("n").alias("n"))


def file_outside(f):
    @F.udf("int")
    def lines(n):
        with open("/tmp/never-written-by-a-test", "a+") as file:
            return len(file.readlines()) + n

    return f.select(lines("n").alias("n"))


def lookup(f):
    """Holds a table, which it only reads, and changes what is its own."""
    table = {0: "zero", 1: "one"}

    @F.udf("string")
    def name(k):
        found: list[str] = []
        found.append(table.get(k, "many"))
        own = {"name": found[0]}
        own["name"] += "!"
        return own["name"]

    return f.select(name("k").alias("name"))


# --- functions that see partitions, or Arrow batches ---


def with_place(frame, schema="k INT, n INT, place LONG"):
    def place(parts):
        for part in parts:
            yield part.assign(place=range(len(part)))

    return frame.mapInPandas(place, schema)


@F.pandas_udf(LongType())
def from_first(n: pd.Series) -> pd.Series:
    return n - n.iloc[0]


def in_two_places(f):
    with_one = f.withColumn("m", from_first("n"))
    return with_one.union(with_one.where("m > 1"))


@F.pandas_udf(StringType())
def kinds(p: pd.DataFrame) -> pd.Series:
    return p["n"].map(lambda n: type(n).__name__)


@F.pandas_udf(StringType())
def nested_kinds(xs: pd.Series) -> pd.Series:
    return xs.map(lambda outer: ",".join(str(inner.dtype) for inner in outer))


def in_a_lateral_subquery(f):
    f.sparkSession.udf.register("from_first", from_first)
    f.createOrReplaceTempView("events")
    return f.sparkSession.sql("SELECT k, m FROM events, LATERAL (SELECT from_first(n) AS m)")


def table_function(f):
    from pyspark.sql.functions import udtf

    @udtf(returnType="total: int")
    class Total:
        def __init__(self):
            self.total = 0

        def eval(self, n: int):
            self.total += n
            yield (self.total,)

    f.sparkSession.udtf.register("running_total", Total.asDeterministic())
    f.createOrReplaceTempView("events")
    return f.sparkSession.sql("SELECT n, total FROM events, LATERAL running_total(n)")


def state_kinds(f):
    """The type of the numbers that a function with state is handed."""

    def kind(key, frames, state):
        seen = [str(frame["n"].dtype) for frame in frames]
        state.update((1,))
        yield pd.DataFrame({"k": [key[0]], "kind": [",".join(seen)]})

    return f.groupBy("k").applyInPandasWithState(
        kind, "k INT, kind STRING", "n INT", "append", GroupStateTimeout.NoTimeout
    )


# --- time ---


def united_with_unmarked(left, right):
    marked = left.withWatermark("ts", "0 minutes")
    return marked.union(right).groupBy(F.window("ts", "10 minutes")).count().select(
        F.window_time("window").alias("ts"), "count"
    )  # fmt: skip


def sessions(f):
    """Ends a session by a timeout of its own: five minutes after its last record."""

    def told(key, frames, state):
        if state.hasTimedOut:
            (count,) = state.get
            state.remove()
            yield pd.DataFrame({"k": [key[0]], "c": [count], "w": [state.getCurrentWatermarkMs()]})
            return
        before, latest = (state.get[0] if state.exists else 0), 0
        for frame in frames:
            before += len(frame)
            latest = max(latest, int(frame["ts"].max().timestamp() * 1000))
        state.update((before,))
        state.setTimeoutTimestamp(max(latest, state.getCurrentWatermarkMs()) + 300_000)

    marked = f.withWatermark("ts", "2 minutes")
    return marked.groupBy("k").applyInPandasWithState(
        told, "k INT, c INT, w LONG", "c INT", "append", GroupStateTimeout.EventTimeTimeout
    )


def waiting(f):
    """Puts out a key that was not seen for a while of processing time."""

    def told(key, frames, state):
        if state.hasTimedOut:
            yield pd.DataFrame({"k": [key[0]], "c": [state.get[0]]})
            state.remove()
            return
        now = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
        state.update((now,))
        state.setTimeoutDuration(1500)

    return f.groupBy("k").applyInPandasWithState(
        told, "k INT, c INT", "c INT", "append", GroupStateTimeout.ProcessingTimeTimeout
    )


TIMES = one(
    "ts TIMESTAMP NOT NULL, k INT NOT NULL",
    [[(at(1), 0), (at(9), 1)], [(at(19), 0)], [(at(29), 1), (at(28), 0)]],
    [[(at(9), 0)], [(at(19), 2), (at(17), 0)], [(at(29), 0)]],
)
LATE_BY_ANOTHER = two(
    "ts TIMESTAMP NOT NULL", "ts TIMESTAMP NOT NULL",
    ([[(at(1),)], [(at(50),)], [(at(61),)]], [[(at(2),)], [], [(at(3),)]]),
    ([[(at(1),)], [(at(50),)], [(at(61),)]], [[(at(2),)], [], []]),
)  # fmt: skip
LARGEST = 2**63 - 1
HUGE = one("ts TIMESTAMP NOT NULL, n BIGINT NOT NULL",
           [[(at(1), LARGEST)], [(at(2), 1), (at(3), -1)]], [[(at(1), 1)], [(at(2), 2)]])  # fmt: skip
TENS = fs.tumbling("10 minutes", on={"input": "ts", "output": "ts"})
PAIRED_TENS = fs.tumbling("10 minutes", on={"left": "ts", "right": "ts", "output": "ts"})
DOUBLES = one("k INT NOT NULL, x DOUBLE NOT NULL",
              *([[(k % 5, 0.1 * k + c) for k in range(20)], [(k % 4, 1e15 * c + k / 3) for k in range(9)]]
                for c in range(3)))  # fmt: skip


def summed(f):
    return f.groupBy(F.window("ts", "10 minutes")).agg(F.sum("n").alias("n")).select(
        F.window_time("window").alias("ts"), "n"
    )  # fmt: skip


def marked_sum(f):
    return summed(f.withWatermark("ts", "10 minutes"))


REMEMBERS = "keeps .* between calls"
SHUFFLED = "behind a shuffle"
SMALL_ARROW = {"spark.sql.execution.arrow.maxRecordsPerBatch": "3"}

MEANINGS = [
    # Functions that remember.
    Meaning("a closure", closure, NUMBERS, REMEMBERS),
    Meaning("a nonlocal name", nonlocal_name, NUMBERS, REMEMBERS),
    Meaning("an iterator", iterator, NUMBERS, REMEMBERS),
    Meaning("a class attribute", class_attribute, NUMBERS, REMEMBERS),
    Meaning("a global of a module", module_global, NUMBERS, REMEMBERS),
    Meaning("an instance", lambda f: f.select("n", F.udf(Numbering(), "int")("n").alias("m")), NUMBERS, REMEMBERS),
    Meaning("a processor's attribute",
            lambda f: f.groupBy("k").transformWithStateInPandas(Forgetful(), "k INT, c INT", "append", "none"),
            NUMBERS, REMEMBERS),
    Meaning("an accumulator", accumulator, NUMBERS, "accumulator"),
    Meaning("a file", file_outside, NUMBERS, "outside of Spark"),
    Meaning("a table function with state", table_function, NUMBERS, "table function"),
    Meaning("a table that is only read", lookup, NUMBERS),
    # Functions that see partitions or Arrow batches.
    Meaning("mapInPandas", lambda f: with_place(f), NUMBERS),
    Meaning("mapInPandas after repartition", lambda f: with_place(f.repartition(2)), NUMBERS, SHUFFLED),
    Meaning("mapInPandas after a group",
            lambda f: with_place(f.groupBy("k").agg(F.max("n").alias("n"))), NUMBERS, SHUFFLED,
            Running(output_mode="update")),
    Meaning("a function of columns after duplicates", lambda f: f.dropDuplicates(["k", "n"]).select(from_first("n")),
            NUMBERS, SHUFFLED),
    Meaning("mapInPandas after a static join", lambda f: with_place(f.join(names(f), "k").select("k", "n")), NUMBERS),
    Meaning("Arrow batches that cut cases", lambda f: f.select("n", from_first("n")), NUMBERS, "Arrow batch",
            settings=SMALL_ARROW),
    Meaning("a function of columns in two places of a plan", in_two_places, NUMBERS),
    Meaning("mapInPandas with small Arrow batches", lambda f: with_place(f), NUMBERS, settings=SMALL_ARROW),
    Meaning("a null in a struct", lambda f: f.select(kinds(F.struct("n")).alias("t")), NULLS, "a null of another case"),
    Meaning("a null in a nested array", lambda f: f.select(nested_kinds(F.array(F.array("n"))).alias("t")), NULLS,
            "a null of another case"),
    Meaning("a null in a function with state", state_kinds, NULLS),
    Meaning("a lateral subquery", in_a_lateral_subquery, NUMBERS, "of whole columns"),
    # Aggregates.
    Meaning("an approximate percentile", lambda f: f.groupBy("k").agg(F.percentile_approx("x", 0.5, 3)), DOUBLES,
            "percentile_approx|ApproximatePercentile", Running(output_mode="update")),
    Meaning("sums of doubles", lambda f: f.groupBy("k").agg(F.sum("x"), F.avg("x"), F.stddev("x")), DOUBLES, None,
            Running(output_mode="update")),
    Meaning("sums of doubles behind a shuffle", lambda f: f.dropDuplicates(["k", "x"]).groupBy("k").agg(F.sum("x")),
            DOUBLES, SHUFFLED, Running(output_mode="update")),
    Meaning("the first of each key behind a shuffle", lambda f: f.repartition(3).dropDuplicates(["k"]), DOUBLES,
            SHUFFLED),
    Meaning("lists of many groups", lambda f: f.groupBy("x").agg(F.collect_list("k"), F.collect_set("k")),
            one("k INT NOT NULL, x INT NOT NULL",
                *([[(k, (k * k + c) % 7) for k in range(40)], [(c + k, k % 9) for k in range(30)]]
                  for c in range(30))),
            None, Running(output_mode="complete")),
    Meaning("sums that overflow", marked_sum, HUGE, None, Running(over=TENS)),
    # Time.
    Meaning("late by another input", united_with_unmarked, LATE_BY_ANOTHER, "late", Running(over=PAIRED_TENS)),
    Meaning("sessions by timeouts", sessions, TIMES),
    Meaning("sessions by timeouts, not closed", sessions, TIMES, None, Running(close=False)),
    Meaning("timeouts of processing time", waiting,
            one("k INT NOT NULL", [[(0,), (1,)], [(1,)], [], [(0,)]], [[(0,)], [], [(2,)], [(2,)]])),
    Meaning("a session without a key", lambda f: f.groupBy(F.session_window("ts", "5 minutes")).count(), TIMES,
            "without a key", Running(output_mode="complete")),
]  # fmt: skip
