"""Two ports that do not wait for each other."""

from __future__ import annotations

from typing import Any

from benchmarks.operators.stepping import Rows, Stepping, of_port, stepped, united
from benchmarks.operators.suite import Suite
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from firesteel import operators

SUITE = Suite()
KEYED = "k STRING NOT NULL, n INT NOT NULL"
BOTH = {"left": KEYED, "right": KEYED}
TIMED = {
    "left": "k STRING NOT NULL, n INT NOT NULL, ts TIMESTAMP NOT NULL",
    "right": "k STRING NOT NULL, m INT NOT NULL, us TIMESTAMP NOT NULL",
}


# --- DataFrames ---


def merged(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.union(right)


def matched(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.join(right.withColumnRenamed("n", "m"), "k")


def numbers_of(calls: DataFrame, numbers: DataFrame) -> DataFrame:
    whole = F.concat("country", "area", "line") == F.col("number")
    told = F.length("country") * F.length("area") * F.length("line") > 0
    return calls.join(numbers, whole & told)


def counted(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.union(right).groupBy("k").count()


def each_once(left: DataFrame, right: DataFrame) -> DataFrame:
    return left.union(right).dropDuplicates()


def windows_beside(left: DataFrame, right: DataFrame) -> DataFrame:
    windows = left.withWatermark("ts", "1 minute").groupBy("k", F.window("ts", "10 minutes")).count()
    return windows.select("k", F.col("count").cast("int").alias("n")).union(right.select("k", F.col("m").alias("n")))


def windows_of_pairs(left: DataFrame, right: DataFrame) -> DataFrame:
    near = F.expr("l.k = r.k and us between ts - interval 5 minutes and ts + interval 5 minutes")
    first = left.withWatermark("ts", "1 minute").alias("l")
    second = right.withWatermark("us", "1 minute").alias("r")
    return first.join(second, near).select("l.k", "n", "m")


SUITE.add(
    "a union",
    operators.transformation(merged, input=BOTH, key="k"),
    "a record on either port comes out at once, as it is",
    yes="deterministic one_to_one non_blocking stateless commutative partition_isolated",
    like="union",
)
SUITE.add(
    "a join of two streams",
    operators.transformation(matched, input=BOTH, key="k"),
    "a pair comes out with the later of the two, and is made of both; in any order the same pairs come out",
    no="one_to_one stateless",
    yes="deterministic non_blocking commutative partition_isolated",
    surprise="the left record waits for the right one, but what comes out is not the left record",
    like="join",
)
SUITE.add(
    "a join on three strings",
    operators.transformation(
        numbers_of,
        input={
            "calls": "country STRING NOT NULL, area STRING NOT NULL, line STRING NOT NULL",
            "numbers": "number STRING NOT NULL",
        },
    ),
    "as any inner join; a pair needs three strings that make up a fourth",
    no="one_to_one stateless",
    yes="deterministic non_blocking commutative",
    surprise="with unrelated strings nothing ever comes out, as from an operator without state that drops everything",
    like="join; failed: three concatenated strings",
)
SUITE.add(
    "a count over two ports",
    operators.transformation(counted, input=BOTH, key="k", output_mode="update"),
    "a record on either port changes the count of its key, which comes out at once",
    no="stateless",
    yes="deterministic one_to_one non_blocking commutative partition_isolated",
    like="union and aggregate",
)
SUITE.add(
    "each row once, of two ports",
    operators.transformation(each_once, input=BOTH, key="k"),
    "a row comes out at once, on whichever port it is first",
    no="one_to_one stateless",
    yes="deterministic non_blocking commutative partition_isolated",
    like="union and deduplicate",
)
SUITE.add(
    "windows beside another stream",
    operators.transformation(windows_beside, input=TIMED, key="k"),
    "only the left port has a watermark, so its windows wait for its own records alone",
    no="one_to_one stateless commutative partition_isolated",
    yes="deterministic non_blocking",
    surprise="with a watermark on the right port too, the windows would wait for it, though nothing there is joined",
    like="windowed aggregate and union",
)
SUITE.add(
    "a join within five minutes",
    operators.transformation(windows_of_pairs, input=TIMED, key="k"),
    "pairs are made of both; behind the watermark a record finds its partner no more, and any key moves it",
    no="one_to_one stateless commutative partition_isolated",
    yes="deterministic non_blocking",
    surprise="each key is joined with itself, and still other keys decide what is late",
    like="join",
)


# --- processors over both ports ---


class Lookup(Stepping):
    """Puts the latest value of the right port beside each record of the left one, or -1."""

    reads = ("port", "k", "n")
    writes = ("k", "n", "known")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        known = -1 if kept is None else kept
        out = [(k, n, known) for k, n in of_port(rows, "a left")]
        news = of_port(rows, "b right")
        return (news[-1][1] if news else known), out


class Sides(Stepping):
    """How many records came on each port."""

    reads = ("port", "k", "n")
    writes = ("k", "left", "right")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        left, right = kept or [0, 0]
        left, right = left + len(of_port(rows, "a left")), right + len(of_port(rows, "b right"))
        return [left, right], [(rows[0][1], left, right)]


class Turnstile(Stepping):
    """Once the right port has spoken, the left one passes; before that its records are dropped."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        unlocked = bool(kept) or bool(of_port(rows, "b right"))
        return unlocked, of_port(rows, "a left") if unlocked else []


class Larger(Stepping):
    """The largest so far, of both ports, if a record made it larger."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        best = max(n for _, _, n in rows)
        return (best, [(rows[0][1], best)]) if kept is None or best > kept else (kept, [])


class Muted(Stepping):
    """The left port passes until the right one says 13."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        muted = bool(kept) or any(n == 13 for _, n in of_port(rows, "b right"))
        return muted, [] if muted else of_port(rows, "a left")


def looked_up(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), Lookup, schema="k STRING, n INT, known INT")


def sides(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), Sides, schema="k STRING, left INT, right INT")


def turnstile(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), Turnstile)


def larger(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), Larger)


def muted(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), Muted)


SUITE.add(
    "a lookup of the latest",
    operators.transformation(looked_up, input=BOTH, key="k"),
    "a left record comes out at once, with what is known; which right record is the latest depends on the order",
    no="one_to_one stateless commutative",
    yes="deterministic non_blocking partition_isolated",
    surprise="it reads like a join, and does not wait",
    like="join",
)
SUITE.add(
    "how many on each side",
    operators.transformation(sides, input=BOTH, key="k"),
    "one row for each record; left a, right a, left b has no (0, 1) for a, and left b, right a, left a has one",
    no="stateless commutative",
    yes="deterministic one_to_one non_blocking partition_isolated",
    surprise="counts of a port have no order; but they come out beside those of the other port",
    like="barrier",
)
SUITE.add(
    "a turnstile that drops",
    operators.transformation(turnstile, input=BOTH, key="k"),
    "left records before the first right one are dropped and never come out; which ones depends on the order",
    no="one_to_one stateless commutative",
    yes="deterministic non_blocking partition_isolated",
    surprise="it looks like a gate; but a gate keeps what it holds back",
    like="gate",
)
SUITE.add(
    "records of a lifetime, of two ports",
    operators.transformation(larger, input=BOTH, key="k"),
    "a record that is larger than all before comes out at once; 1, 2 are two records and 2, 1 is one",
    no="one_to_one stateless commutative",
    yes="deterministic non_blocking partition_isolated",
    like="custom state",
)
SUITE.add(
    "muted by one word",
    operators.transformation(muted, input=BOTH, key="k"),
    "left records pass at once until the right port says 13; which ones were before it depends on the order",
    no="one_to_one stateless commutative",
    yes="deterministic non_blocking partition_isolated",
    surprise="the right port seems to be ignored: it takes one number, and a left record after it",
    like="gate",
)
