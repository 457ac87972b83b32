"""A zoo of subjects: what every case gets in a bulk run is what it gets alone, or the run is refused with a reason.

The traces have to be equal as a whole: inputs, outputs (as multisets), times, watermarks and dropped records.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout
from pyspark.sql.types import DoubleType, IntegerType

import firesteel as fs
from firesteel.spark.bulk.carry import CannotCarry
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.structured import exercise
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case

# --- cases -----------------------------------------------------------------------------------------------------------


def one(schema, *streams):
    """Cases with one input."""
    return [Case({"input": fs.Stream(schema, batches)}) for batches in streams]


def two(left, right, *streams):
    """Cases with two inputs."""
    return [Case({"left": fs.Stream(left, a), "right": fs.Stream(right, b)}) for a, b in streams]


def at(minutes):
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)


# Different lengths, empty batches, an empty first one, a case of nothing, null keys, duplicates in and over batches.
KEYED = one(
    "k INT, n INT, s STRING, xs ARRAY<INT>",
    [[(0, 1, "a", [1, 2]), (None, 2, "b", []), (0, 1, "a", [1, 2])], [], [(0, 5, "b", None), (None, 3, "a", [3])]],
    [[], [(0, 4, "a", [1]), (1, None, None, [2, None]), (0, 4, "a", [1])]],
    [[]],
)

# Records of several cases in every batch: what looks at whole columns must not see them together.
MIXED = one(
    "k INT, n INT, s STRING, xs ARRAY<INT>",
    [[(0, 1, "a", [1]), (1, 9, "b", None)], [(0, 5, "b", None), (2, None, "a", [3]), (0, 7, None, [])]],
    [[(0, 40, "a", [1]), (1, 2, None, [2, None]), (3, 4, "a", [1])], [(1, 100, "c", [])]],
    [[(5, 3, "d", [])], [(6, 8, "e", None)]],
)

NESTED = one(
    "id INT, p STRUCT<a: INT, b: STRING>, m MAP<STRING, INT>, ps ARRAY<STRUCT<x: INT, y: STRING>>",
    [[(1, (1, "x"), {"u": 1, "v": 2}, [(1, "p"), (2, None)])], [], [(2, None, None, None), (3, (None, "x"), {}, [])]],
    [[], [(1, (1, "x"), {"u": 3}, [(1, "p")]), (1, (2, None), {"w": None}, [(None, "q")])]],
    [[]],
)

TAKEN = one(
    "__case0 INT, __case STRING",
    [[(1, "a"), (None, "b")], [], [(1, "c")]],
    [[], [(1, "a"), (1, "a"), (2, None)]],
    [[]],
)

# Without a watermark any times will do.
TIMES = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(1), 0, 1), (at(31), None, 2), (at(2), 0, 3)], [], [(at(-200), 0, 4), (None, 0, 5)]],
    [[], [(at(1), 0, 6), (at(900), 1, 7), (at(10), 0, 8)]],
    [[]],
)

# The latest event time of every batch is the same in all cases: 9, 19, 29. Watermarks of 5 minutes drop none.
ALIGNED = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(9), 0, 1), (at(2), 0, 1), (at(5), None, 2)], [(at(19), 0, 1), (at(6), 0, 3)], [(at(29), None, 2)]],
    [[(at(9), 1, 7)], [(at(19), 0, 1), (at(18), 0, 1)], [(at(29), 0, 1), (at(16), 0, 1), (at(28), None, 9)]],
    [[(at(9), None, 0)], [(at(19), None, 0)], [(at(29), None, 0)]],
)

# As before, with a batch that is empty everywhere.
GAPS = one(
    "ts TIMESTAMP, k INT, n INT",
    [[], [(at(9), 0, 1), (at(2), 0, 1), (at(5), None, 2)], [(at(29), 0, 1), (at(20), 0, 2)]],
    [[], [(at(9), 1, 1), (at(1), 0, 5)], [(at(29), None, 1)]],
    [[], [(at(9), None, 1)], [(at(29), 1, 1), (at(28), 1, 1), (at(12), 1, 1)]],
)

# The latest event times differ, but never by an hour's end: 0:30 to 0:55, 2:05 to 2:50, 3:10 to 3:40.
HOURS = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(30), 0, 1), (at(1), 0, 2), (at(29), None, 3)], [(at(170), 0, 1), (at(61), 1, 1)], [(at(200), 0, 1)]],
    [[(at(55), 1, 1)], [(at(125), 1, 4), (at(124), None, 2)], [(at(220), 0, 1), (at(190), 1, 1), (at(127), 1, 1)]],
    [[(at(42), 0, 9), (at(42), 0, 9)], [(at(150), None, 9)], [(at(190), None, 9)]],
)

# One case has nothing at all, and so no watermark; another one has a record that comes late.
LATE = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(9), 0, 1)], [(at(19), 0, 1), (at(6), 0, 3)], [(at(29), None, 2)]],
    [[(at(9), 1, 7)], [(at(19), 0, 1), (at(18), 0, 1)], [(at(29), 0, 1), (at(16), 0, 1)]],
    [[(at(9), 0, 1)], [(at(19), 0, 1), (at(1), 0, 3)], [(at(29), 0, 2)]],
    [[], [], []],
)

# Watermarks differ from case to case.
APART = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(9), 0, 1)], [(at(19), 0, 1)]],
    [[(at(8), 0, 1)], [(at(20), 0, 1)]],
    [[(at(7), 0, 1)], [(at(21), 0, 1)]],
)

PAIRED = two(
    "k INT, a INT",
    "k INT, b INT",
    ([[(0, 1), (1, 2), (None, 3)], [], [(0, 4)]], [[(0, 10), (None, 30)], [(1, 20), (0, 11)], []]),
    ([[], [(0, 5), (0, 5)]], [[(0, 12)], [(0, 13), (2, 14)]]),
    ([[]], [[(0, 15)]]),
)

# Both sides have the same latest event time in each batch, in all cases.
PAIRED_IN_TIME = two(
    "k INT, ts TIMESTAMP, a INT",
    "k INT, us TIMESTAMP, b INT",
    (
        [[(0, at(9), 1), (1, at(5), 2)], [(0, at(19), 3)], [(5, at(59), 4)]],
        [[(0, at(9), 10), (2, at(8), 20)], [(0, at(19), 11), (1, at(10), 12)], [(6, at(59), 13)]],
    ),
    (
        [[(0, at(9), 1), (None, at(2), 2)], [(1, at(19), 3), (1, at(19), 3)], [(5, at(59), 4), (0, at(40), 6)]],
        [[(1, at(9), 10), (None, at(2), 9)], [(1, at(19), 11), (7, at(16), 15)], [(5, at(59), 13), (0, at(58), 13)]],
    ),
)

# --- subjects --------------------------------------------------------------------------------------------------------


@dataclass
class Kept:
    """One of the zoo."""

    name: str
    subject: Callable[..., Any]
    mode: str | dict[str, str] = "append"
    cases: Sequence[Case] = field(default_factory=lambda: KEYED)
    refused: str | None = None
    """A regular expression for the reason why its cases run one at a time."""
    alone: tuple[int, ...] = ()
    """The cases that cannot run together with others."""
    slow: bool = False


def names(f):
    """A static table."""
    return f.sparkSession.createDataFrame([(0, "zero"), (1, "one"), (1, "uno")], "k INT, name STRING")


def sql(text):
    """A subject in SQL, over a temporary view `events`."""

    def subject(f):
        f.createOrReplaceTempView("events")
        names(f).createOrReplaceTempView("names")
        return f.sparkSession.sql(text)

    return subject


def two_views(left, right):
    left.createOrReplaceTempView("l")
    right.createOrReplaceTempView("r")
    return left.sparkSession.sql("SELECT l.k, a, b FROM l JOIN r ON l.k = r.k WHERE a > 1")


def grouped_in_pandas(f):
    def doubled(group):
        return pd.DataFrame({"k": group["k"].iloc[:1], "n": [int(group["n"].sum()) * 2]})

    return f.groupBy("k").applyInPandas(doubled, "k INT, n INT")


def counted_with_state(f):
    def count(key, frames, state):
        (before,) = state.get if state.exists else (0,)
        now = before + sum(len(frame) for frame in frames)
        state.update((now,))
        yield pd.DataFrame({"k": [key[0]], "c": [now]})

    return f.groupBy("k").applyInPandasWithState(count, "k INT, c INT", "c INT", "append", GroupStateTimeout.NoTimeout)


class Summing(StatefulProcessor):
    def init(self, handle):
        self._sum = handle.getValueState("sum", "n BIGINT")

    def handleInputRows(self, key, rows, timer_values):
        before = self._sum.get()[0] if self._sum.exists() else 0
        now = int(before + sum(int(frame["n"].fillna(0).sum()) for frame in rows))
        self._sum.update((now,))
        yield pd.DataFrame({"k": [key[0]], "n": [now]})

    def close(self):
        pass


class Alarm(StatefulProcessor):
    """Puts out a key five minutes of event time after its first record."""

    def init(self, handle):
        self._handle = handle
        self._seen = handle.getValueState("seen", "n BIGINT")

    def handleInputRows(self, key, rows, timer_values):
        for row in rows:
            if not self._seen.exists():
                self._seen.update((row.n,))
                self._handle.registerTimer(int(row.ts.timestamp() * 1000) + 300_000)
            yield Row(k=row.k, n=row.n, at=timer_values.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
        yield Row(k=-1, n=self._seen.get()[0], at=expiredTimerInfo.getExpiryTimeInMs())

    def close(self):
        pass


def mapped_in_pandas(f):
    def rows(frames):
        for frame in frames:
            yield frame.assign(s=str(frame["n"].dtype))[["k", "s"]]

    return f.mapInPandas(rows, "k INT, s STRING")


def mapped_in_arrow(f):
    return f.mapInArrow(lambda batches: (batch.select(["k", "n"]) for batch in batches), "k INT, n INT")


def plain_udf(f):
    factor = {"by": 3}

    @F.udf("int")
    def times(n):
        return None if n is None else n * factor["by"]

    return f.select("k", times("n").alias("m"))


def pandas_udf(f):
    @F.pandas_udf("double")
    def half(n: pd.Series) -> pd.Series:
        return n / 2

    return f.withColumn("h", half(F.coalesce("n", F.lit(0)))).where("h > 0.5")


@F.pandas_udf(DoubleType())
def from_the_mean(n: pd.Series) -> pd.Series:
    return n - n.mean()  # a mix of cases has another mean


@F.pandas_udf(IntegerType())
def place(n: pd.Series, s: pd.Series) -> pd.Series:
    return pd.Series(range(len(n)))


def pandas_udf_in_parts(f):
    @F.pandas_udf("string")
    def beside(parts: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        for k, s in parts:
            yield s.fillna("?") + k.max().astype(str)

    @F.pandas_udf("bigint")
    def running(parts: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for n in parts:
            yield n.fillna(0).cumsum().astype("int64")

    return f.select("k", beside("k", "s").alias("t"), running("n").alias("c"))


def arrow_udf(f):
    @F.arrow_udf("bigint")
    def total(n: pa.Array) -> pa.Array:
        return pa.array([pc.sum(n).as_py()] * len(n), pa.int64())

    @F.arrow_udf("bigint")
    def running(parts: Iterator[pa.Array]) -> Iterator[pa.Array]:
        for n in parts:
            yield pc.cumulative_sum(pc.fill_null(n, 0)).cast(pa.int64())

    return f.select("k", total("n").alias("t"), running(F.col("n") + 1).alias("c"))


def struct_udf(f):
    @F.pandas_udf("lo INT, hi INT")
    def ends(n: pd.Series, p: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"lo": n.min(), "hi": p["n"].max()}, index=n.index)

    return f.na.fill(0).select("k", ends(n=F.col("n"), p=F.struct("k", "n")).alias("e"))


def windowed(window, *keys):
    return lambda f: f.withWatermark("ts", "5 minutes").groupBy(window(), *keys).agg(F.count("*").alias("c"))


def joined_in_time(kind):
    def subject(left, right):
        a = left.withWatermark("ts", "5 minutes").alias("a")
        b = right.withWatermark("us", "5 minutes").alias("b")
        near = F.expr("a.k = b.k AND us >= ts - INTERVAL 10 MINUTES AND us <= ts + INTERVAL 10 MINUTES")
        return a.join(b, near, kind)

    return subject


def joined(left, right, kind="inner"):
    return left.join(right, "k", kind)


def tumbling():
    return F.window("ts", "10 minutes")


def hourly():
    return F.window("ts", "1 hour")


def sliding():
    return F.window("ts", "20 minutes", "10 minutes")


def session():
    return F.session_window("ts", "5 minutes")


ZOO = [
    # Records one by one.
    Kept("select", lambda f: f.select((F.col("n") + 1).alias("m"), "k", F.lit("x").alias("x"))),
    Kept("withColumn", lambda f: f.withColumn("n", F.col("n") * 2).withColumn("m", F.col("n") % 3), slow=True),
    Kept("filter", lambda f: f.where("n > 2 OR k IS NULL")),
    Kept("drop and rename", lambda f: f.drop("xs").withColumnRenamed("k", "key").toDF("a", "b", "c"), slow=True),
    Kept("union", lambda f: f.where("n > 2").union(f.where("n < 5"))),
    Kept(
        "unionByName",
        lambda f: f.select("k", "n").unionByName(f.select("s", "k").where("k = 0"), allowMissingColumns=True),
    ),
    Kept("explode", lambda f: f.select("k", F.explode("xs").alias("x")), slow=True),
    Kept("posexplode_outer", lambda f: f.select("*", F.posexplode_outer("xs")).drop("xs"), slow=True),
    Kept("inline", lambda f: f.select("id", F.inline("ps")), cases=NESTED),
    Kept(
        "nested columns",
        lambda f: f.select(F.struct("id", "p").alias("q"), F.array("p.a").alias("as"), "m.u", F.map_keys("m"), "*"),
        cases=NESTED,
    ),
    Kept("nested keys", lambda f: f.groupBy("p", "ps").count(), "update", NESTED, slow=True),
    Kept("Python UDF with a closure", plain_udf),
    Kept("pandas UDF", pandas_udf),
    Kept("pandas UDF of a whole column, in another", lambda f: f.select("k", from_the_mean(place("n", "s") + 2)),
         cases=MIXED),
    Kept("pandas UDF as a group", lambda f: f.groupBy(place("n", "s").alias("p")).agg(F.sum("n")), "update", MIXED),
    Kept("pandas UDF in a filter", lambda f: f.where(from_the_mean(F.coalesce("n", "k", F.lit(1))) >= 0), cases=MIXED),
    Kept("pandas UDFs of parts", pandas_udf_in_parts, cases=MIXED),
    Kept("pandas UDF of structs, by name", struct_udf, cases=MIXED),
    Kept("Arrow UDFs", arrow_udf, cases=MIXED),
    Kept("pandas UDF in a generator", lambda f: f.select("k", F.explode(F.array(place("n", "s"), "n"))),
         refused="of whole columns", slow=True),
    Kept("mapInPandas", mapped_in_pandas),
    Kept("mapInArrow", mapped_in_arrow, slow=True),
    Kept("repartition and hint", lambda f: f.repartition(3, "k").hint("broadcast").coalesce(1), slow=True),
    # Groups and duplicates.
    Kept("groupBy", lambda f: f.groupBy("k").agg(F.sum("n"), F.max("s"), F.approx_count_distinct("n")), "complete"),
    Kept("groupBy, update mode", lambda f: f.groupBy("k").agg(F.sum("n").alias("n"), F.min("xs")), "update",
         slow=True),
    Kept("having", lambda f: f.groupBy("s").count().where("count > 1").select("s"), "update", slow=True),
    Kept("collect_list", lambda f: f.groupBy("k").agg(F.sort_array(F.collect_list("s")).alias("ss")), "complete",
         slow=True),
    Kept("groupBy an expression", lambda f: f.groupBy(F.col("n") % 2, F.upper("s")).count(), "update", slow=True),
    Kept("rollup", lambda f: f.rollup("k", "s").agg(F.sum("n"), F.grouping_id()), "complete"),
    Kept("cube", lambda f: f.cube("k", "s").count(), "update", slow=True),
    Kept("pivot", lambda f: f.groupBy("k").pivot("s", ["a", "b"]).agg(F.max("s")), "update"),
    Kept("orderBy", lambda f: f.groupBy("k").count().orderBy(F.desc("count")), "complete", slow=True),
    Kept("distinct", lambda f: f.select("k", "s").distinct()),
    Kept("dropDuplicates", lambda f: f.dropDuplicates(["k"]).select("k"), slow=True),
    Kept("dropDuplicates of everything", lambda f: f.dropDuplicates(), slow=True),
    Kept("applyInPandas", grouped_in_pandas),
    Kept("applyInPandasWithState", counted_with_state),
    Kept(
        "transformWithStateInPandas",
        lambda f: f.na.fill(0).groupBy("k").transformWithStateInPandas(Summing(), "k INT, n BIGINT", "update", "none"),
        "update",
        slow=True,
    ),
    # Time, without a watermark.
    Kept("tumbling windows", lambda f: f.groupBy(tumbling(), "k").sum("n"), "update", TIMES),
    Kept("sliding windows", lambda f: f.groupBy(sliding()).count(), "complete", TIMES, slow=True),
    Kept("session windows", lambda f: f.groupBy(session(), "k").count(), "complete", TIMES),
    # Time, with one.
    Kept("watermark that nothing uses", lambda f: f.withWatermark("ts", "5 minutes").select("k", "ts"), cases=ALIGNED),
    Kept("tumbling windows that close", windowed(tumbling, "k"), cases=ALIGNED),
    Kept("sliding windows that close", windowed(sliding, "k"), cases=GAPS, slow=True),
    Kept("hours that close", windowed(hourly, "k"), cases=HOURS),
    Kept("hours, update mode", windowed(hourly), "update", HOURS, slow=True),
    Kept("hours, complete mode", windowed(hourly), "complete", HOURS, slow=True),
    Kept("sessions that close", windowed(session, "k"), cases=ALIGNED),
    Kept(
        "windows of windows",
        lambda f: windowed(tumbling, "k")(f).groupBy(F.window("window", "20 minutes")).sum("c"),
        cases=ALIGNED,
        slow=True,
    ),
    Kept("dropDuplicates in time", lambda f: f.withWatermark("ts", "5 minutes").dropDuplicates(["k", "ts"]), "append",
         ALIGNED),
    Kept("dropDuplicatesWithinWatermark",
         lambda f: f.withWatermark("ts", "5 minutes").dropDuplicatesWithinWatermark(["k"]), "append", ALIGNED),
    Kept("late records", windowed(tumbling, "k"), cases=LATE, alone=(2, 3)),
    Kept("watermarks apart", lambda f: f.withWatermark("ts", "5 minutes").dropDuplicates(["k", "ts"]), "append", APART,
         refused="event times differ"),
    Kept(
        "transformWithState with timers",
        lambda f: f.withWatermark("ts", "5 minutes").na.fill(0).groupBy("k").transformWithState(
            Alarm(), "k INT, n BIGINT, at BIGINT", "append", "eventTime"),
        cases=ALIGNED,
        slow=True,
    ),
    # Joins.
    Kept("static inner join", lambda f: f.join(names(f), "k")),
    Kept("static left join", lambda f: f.join(F.broadcast(names(f)), "k", "left").select("k", "name", "n"),
         slow=True),
    Kept("static right join", lambda f: names(f).join(f, "k", "right"), slow=True),
    Kept("static semi join", lambda f: f.join(names(f), "k", "left_semi"), slow=True),
    Kept("static anti join", lambda f: f.join(names(f), "k", "left_anti"), slow=True),
    Kept("inner join", joined, cases=PAIRED),
    Kept("self-join", lambda f: f.alias("x").join(f.alias("y"), F.expr("x.n = y.n")).select("x.s", "y.k")),
    Kept("duplicate column names", lambda left, right: left.join(right, left.k == right.k), cases=PAIRED, slow=True),
    Kept("inner join in time", joined_in_time("inner"), cases=PAIRED_IN_TIME),
    Kept("left join in time", joined_in_time("left_outer"), cases=PAIRED_IN_TIME, slow=True),
    Kept("right join in time", joined_in_time("right_outer"), cases=PAIRED_IN_TIME, slow=True),
    Kept("full join in time", joined_in_time("full_outer"), cases=PAIRED_IN_TIME),
    Kept("semi join in time", joined_in_time("left_semi"), cases=PAIRED_IN_TIME, slow=True),
    Kept("two inputs united", lambda left, right: left.union(right), cases=PAIRED, slow=True),
    # SQL.
    Kept("SQL", sql("SELECT k, count(*) c, max(n) m FROM events WHERE n > 0 GROUP BY k HAVING c > 1"), "update"),
    Kept("SQL with a CTE",
         sql("WITH big AS (SELECT * FROM events WHERE n > 1) SELECT a.k FROM big a JOIN names USING (k)")),
    Kept("SQL, nested", sql("SELECT m FROM (SELECT k, max(n) m FROM (SELECT * FROM events WHERE s = 'a') GROUP BY k)"),
         "update", slow=True),
    Kept("SQL, lateral view", sql("SELECT k, x FROM events LATERAL VIEW explode(xs) t AS x"), slow=True),
    Kept("SQL over two views", two_views, cases=PAIRED, slow=True),
    Kept("SQL, a scalar subquery", sql("SELECT * FROM events WHERE k < (SELECT max(k) FROM names)"), slow=True),
    Kept("SQL, a subquery with IN", sql("SELECT * FROM events WHERE k IN (SELECT k FROM names)"), slow=True),
    Kept("SQL, a subquery with EXISTS", sql("SELECT k, n FROM events WHERE EXISTS (SELECT 1 FROM names WHERE "
                                            "names.k = events.k AND events.n > 1)"), slow=True),
    Kept("SQL, a lateral subquery", sql("SELECT k, m FROM events, LATERAL (SELECT n + 1 AS m)"), slow=True),
    Kept("SQL, a lateral subquery of a table", sql("SELECT e.k, t.name FROM events e, LATERAL "
                                                   "(SELECT name FROM names WHERE names.k = e.k) t"), slow=True),
    # Names.
    Kept("__case0 in the input", lambda f: f.groupBy("__case0").agg(F.max("__case").alias("__case")), "update", TAKEN),
    Kept("__case0 made by the subject", lambda f: f.select("k", F.col("n").alias("__case0"), F.lit(7).alias("__case"))),
    Kept("two outputs", lambda f: {"big": f.where("n > 2"), "sums": f.groupBy("k").agg(F.sum("n").alias("n"))},
         {"sums": "update"}),
    Kept("two inputs and two outputs", lambda left, right: {"both": joined(left, right), "left": left}, cases=PAIRED,
         slow=True),
    # Those that cannot.
    Kept("global aggregation", lambda f: f.groupBy().count(), "complete", refused="aggregates without a group"),
    Kept("limit", lambda f: f.limit(2), refused="limits the number of records"),
    Kept("rand", lambda f: f.withColumn("r", F.rand()), refused=r"not deterministic, such as rand\(\)"),
]  # fmt: skip


SWAPPED = two(
    "k INT, ts TIMESTAMP, a INT",
    "k INT, us TIMESTAMP, b INT",
    ([[(0, at(100), 1), (0, at(20), 7)], [(0, at(200), 2)]], [[(0, at(10), 8)], [(0, at(200), 9)]]),
    ([[(0, at(10), 1)], [(0, at(200), 2)]], [[(0, at(100), 8)], [(0, at(200), 9)]]),
)

NULLS_LAST = two(
    "k INT, ts TIMESTAMP, a INT",
    "k INT, us TIMESTAMP, b INT",
    ([[(0, at(5), 1), (None, at(55), 1)], [(0, at(56), 2)]], [[(None, at(55), 8), (0, at(5), 3)], [(0, at(56), 9)]]),
    ([[(0, at(5), 1), (3, at(55), 1)], [(0, at(56), 2)]], [[(3, at(55), 8), (0, at(5), 3)], [(0, at(56), 9)]]),
)

# The latest record of the first case is one that a filter, or a join, leaves out.
LEFT_OUT = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(5), 0, 1), (at(55), None, -1)], [(at(56), 0, 1)]],
    [[(at(5), 0, 1), (at(55), 0, 1)], [(at(56), 0, 1)]],
)


def dtype_seen(f):
    @F.pandas_udf("string")
    def text(n: pd.Series) -> pd.Series:
        return n.astype(str)

    return f.select(text("n").alias("t"))


# Found to be wrong once: the watermark, or what a function sees, depended on other cases.
TRAPS = [
    Kept("watermarks of two inputs, swapped", joined_in_time("left_outer"), cases=SWAPPED),
    Kept("null keys come last", joined_in_time("inner"), cases=NULLS_LAST),
    Kept("a filter behind the watermark",
         lambda f: f.withWatermark("ts", "0 minutes").where("n > 0").groupBy(tumbling()).count(), cases=LEFT_OUT),
    Kept("a static join behind the watermark",
         lambda f: f.withWatermark("ts", "0 minutes").join(names(f), "k").groupBy(tumbling()).count(), cases=LEFT_OUT),
    Kept("windows that start before the hour",
         lambda f: f.withWatermark("ts", "0 hours").groupBy(F.window("ts", "1 hour", "1 hour", "-15 minutes")).count(),
         cases=one("ts TIMESTAMP", [[(at(100),)], [(at(170),)]], [[(at(110),)], [(at(170),)]])),
    Kept("a column by another name",
         lambda f: f.withWatermark("TS", "5 minutes").groupBy(tumbling()).count(), cases=ALIGNED),
    Kept("pandas UDF that sees its dtype", dtype_seen, cases=one("n INT", [[(1,), (2,)]], [[(None,), (3,)]])),
]  # fmt: skip


@pytest.mark.parametrize(
    "subject, cases, how, reason",
    [
        (lambda f: names(f).join(f, "k", "left"), KEYED, {}, "keeps every record of a static table in an outer join"),
        (lambda f: f.select("k").union(names(f).select("k")), KEYED, {}, "unites a stream with a batch"),
        (lambda f: f, [*one("k INT", [[(1,)]]), *one("k BIGINT", [[(1,)]])], {}, "different schemas for 'input'"),
        (lambda f: f, KEYED, {"state": True}, "the state after every batch belongs to all cases together"),
        (lambda f: f, KEYED, {"large": 1}, "a batch is large enough for a run of its own"),
        (lambda f: names(f), KEYED, {}, "which no stream flows through"),
    ],
    ids=["static outer", "union with a batch", "schemas", "state", "large", "no stream"],
)
def test_why_cases_cannot_run_together(spark, subject, cases, how, reason):
    with pytest.raises((CannotCarry, SubjectFailure), match=reason):
        exercise_together(spark, cases, subject, Running(**how))


def test_what_spark_refuses_alone_is_refused_together(spark):
    """Equating the cases would make an equality where the subject has none."""
    cases = two("a INT", "b INT", ([[(1,)]], [[(2,)]]), ([[(3,)]], [[(2,)]]))
    with pytest.raises((CannotCarry, SubjectFailure)):
        exercise_together(spark, cases, lambda left, right: left.join(right, F.expr("a < b")), Running())


def test_an_input_that_is_joined_with_itself(spark):
    def subject(f):
        return f.alias("a").join(f.alias("b"), "k").select("k")

    alone = [exercise(spark, case, subject, Running(), lambda instant: False) for case in KEYED]
    assert exercise_together(spark, KEYED, subject, Running()) == alone
    assert sum(len(instant.output) for trace in alone for instant in trace) > 5


def of_the_zoo(number, kept):
    # Of those that are quick by themselves, every fourth is enough for a quick run.
    marks = [pytest.mark.slow] if kept.slow or number % 4 else []
    return pytest.param(kept, id=kept.name, marks=marks)


@pytest.mark.parametrize("kept", [of_the_zoo(*each) for each in enumerate([*ZOO, *TRAPS])])
def test_together_as_alone(spark, kept):
    how = Running(output_mode=kept.mode)
    if kept.refused is not None:
        with pytest.raises(CannotCarry, match=kept.refused):
            exercise_together(spark, kept.cases, kept.subject, how)
        return
    try:
        together = exercise_together(spark, kept.cases, kept.subject, how)
    except CannotCarry:
        if kept in TRAPS:
            return  # sound, if not quick
        raise
    if kept in ZOO:
        assert tuple(n for n, trace in enumerate(together) if trace is None) == kept.alone
    alone = [exercise(spark, case, kept.subject, how, lambda instant: False) for case in kept.cases]
    came_out = 0
    for number, (expected, found) in enumerate(zip(alone, together, strict=True)):
        came_out += sum(len(batch) for instant in expected for batch in instant.outputs.values())
        if found is not None:
            assert list(found) == list(expected), f"case {number}"
            assert [shape(instant) for instant in found] == [shape(instant) for instant in expected], f"case {number}"
    assert came_out, "nothing came out that could differ"


def shape(instant):
    return {name: batch.schema.simpleString() for name, batch in instant.outputs.items()}


def test_the_zoo_is_large_and_few_of_it_run_one_case_at_a_time():
    refused = [kept.name for kept in ZOO if kept.refused is not None]
    assert len(ZOO) >= 40 and len(refused) <= 6, refused
