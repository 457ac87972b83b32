"""Streams with state and without event time, on one port."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from benchmarks.operators.stepping import Rows, Stepping, stepped
from benchmarks.operators.suite import Suite
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

from firesteel import operators

SUITE = Suite()
KEYED = "k STRING NOT NULL, n INT NOT NULL"
OUT = "k STRING, n INT"


# --- aggregates of DataFrames ---


def counted(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").count()


def largest(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").agg(F.max("n").alias("n"))


def whole_rows(frame: DataFrame) -> DataFrame:
    return frame.dropDuplicates()


SUITE.add(
    "a count of each key, updated",
    operators.transformation(counted, input=KEYED, key="k", output_mode="update"),
    "a record changes the count of its key, which comes out; a count has no order, and keys do not meet",
    no="stateless",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="an aggregate that gives exactly one row for each record",
    like="aggregate",
)
SUITE.add(
    "a count of each key, complete",
    operators.transformation(counted, input=KEYED, key="k", output_mode="complete"),
    "the whole table comes out each time, so with two keys two rows; the last table is the same in any order",
    no="one_to_one stateless",
    yes="deterministic commutative partition_isolated",
    surprise="the same aggregate as in update mode, and other answers",
    like="aggregate",
)
SUITE.add(
    "the largest of each key, updated",
    operators.transformation(largest, input=KEYED, key="k", output_mode="update"),
    "a record changes at most the row of its key, which comes out even if it stays; max has no order",
    no="stateless",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="update mode puts out a row that did not change",
    like="aggregate",
)
SUITE.add(
    "each row once",
    operators.transformation(whole_rows, input=KEYED, key="k"),
    "a row that came before gives nothing; rows that are dropped are equal to one that is kept, so order is gone",
    no="one_to_one stateless",
    yes="deterministic commutative partition_isolated",
    like="deduplicate",
)


# --- processors ---


class RunningCount(Stepping):
    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        count = (kept or 0) + len(rows)
        return count, [(rows[0][0], count)]


class RunningSum(Stepping):
    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        total = (kept or 0) + sum(n % 1000 for _, n in rows)
        return total, [(rows[0][0], total)]


class Changed(Stepping):
    """Puts out a value that is not the one before."""

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        k, n = rows[-1]
        return n, [(k, n)] if n != kept else []


class EveryThird(Stepping):
    """A punctor: the third record of a key is put out, and then every third."""

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        before = kept or 0
        after = before + len(rows)
        return after, rows[-1:] if after // 3 > before // 3 else []


class ThreeRecords(Stepping):
    """A window of three records of a key: their sum, then a new window. Never more than one window closes at once."""

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        window = [*(kept or []), *(n for _, n in rows)]
        if len(window) < 3:
            return window, []
        return [], [(rows[0][0], sum(window) % 1000)]


SUITE.add(
    "a running count, appended",
    operators.processor(RunningCount, key="k", input=KEYED, output=OUT),
    "one row for each record, 1, 2, 3; whatever came first, the same numbers come out",
    no="stateless",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="running results usually depend on the order, as the running sum beside it does",
    like="custom state",
)
SUITE.add(
    "a running sum, appended",
    operators.processor(RunningSum, key="k", input=KEYED, output=OUT),
    "one row for each record; 1 and then 2 gives 1, 3, and 2 and then 1 gives 2, 3",
    no="stateless commutative",
    yes="deterministic one_to_one partition_isolated",
    surprise="addition has no order, but what is put out on the way has",
    like="custom state",
)
SUITE.add(
    "what changed",
    operators.processor(Changed, key="k", input=KEYED, output=OUT),
    "a repeated value gives nothing; 1, 1, 2 are two changes and 1, 2, 1 are three",
    no="one_to_one stateless commutative",
    yes="deterministic partition_isolated",
    surprise="with two records, both orders give the same two rows, or one: it takes three",
    like="deduplicate",
)
SUITE.add(
    "every third record",
    operators.processor(EveryThird, key="k", input=KEYED, output=OUT),
    "which record is the third depends on the order",
    no="one_to_one stateless commutative",
    yes="deterministic partition_isolated",
    surprise="with fewer than three records of one key nothing comes out at all",
    like="punctor",
)
SUITE.add(
    "sums of three records",
    operators.processor(ThreeRecords, key="k", input=KEYED, output=OUT),
    "the window closes with its third record and then starts again; six records in another order make other sums",
    no="one_to_one stateless commutative",
    yes="deterministic partition_isolated",
    surprise="within one window the order does not matter, so three records in any order agree: it takes four",
    like="aggregate",
)


# --- delta windows: a window ends where an attribute moves too far from its first value ---


class DeltaMax(Stepping):
    """The largest of a window, put out by the record that ends it."""

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        first, best = kept or [rows[0][1], rows[0][1]]
        out: Rows = []
        for k, n in rows:
            if n - first > 2500:
                out.append((k, best))
                first, best = n, n
            best = max(best, n)
        return [first, best], out


class DeltaCount(Stepping):
    """How many records a window had, by an attribute in quarters."""

    reads = ("k", "x")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        first, count = kept or [rows[0][1], 0]
        out: Rows = []
        for k, x in rows:
            if abs(x - first) >= 128.25:
                out.append((k, count))
                first, count = x, 0
            count += 1
        return [first, count], out


class DeltaSort(Stepping):
    """The records of a window, whatever their keys, sorted; put out by the record that ends it."""

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        window = [tuple(row) for row in kept or []]
        out: Rows = []
        for k, n in rows:
            if window and n - window[0][1] > 40:
                out += sorted(window, key=lambda row: (row[1], row[0]))
                window = []
            window.append((k, n))
        return window, out


def sorted_windows(frame: DataFrame) -> DataFrame:
    return stepped(frame.withColumn("everyone", F.lit("all")), DeltaSort, "everyone")


SUITE.add(
    "the largest of a delta window",
    operators.processor(DeltaMax, key="k", input=KEYED, output=OUT),
    "silent until n is 2,500 above the first of its window; which record is the first depends on the order",
    no="one_to_one stateless commutative",
    yes="deterministic partition_isolated",
    surprise="a maximum has no order, but its window has; and most inputs never end one",
    like="aggregate; failed: a delta window",
)
SUITE.add(
    "the count of a delta window",
    operators.processor(DeltaCount, key="k", input="k STRING NOT NULL, x DOUBLE NOT NULL", output=OUT),
    "silent until x is 128.25 away from the first of its window; which record is the first depends on the order",
    no="one_to_one stateless commutative",
    yes="deterministic partition_isolated",
    surprise="a count has no order, but its window has",
    like="aggregate; failed: a delta window",
)
SUITE.add(
    "a sort over a delta window",
    operators.transformation(sorted_windows, input=KEYED, key="k"),
    "rows wait until one comes that is 40 above the first, of any key; in falling order none ever comes",
    no="one_to_one stateless commutative partition_isolated",
    yes="deterministic",
    surprise="sorting is there to make the order of records irrelevant",
    like="sort; failed: a delta window",
)


# --- keys that meet ---


class Leaking(StatefulProcessor):
    """Counts in an attribute of its class, which all keys of a worker share."""

    seen = 0

    def init(self, handle: Any) -> None: ...

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        Leaking.seen += sum(map(len, rows))
        yield pd.DataFrame({"k": [key[0]], "n": [Leaking.seen]})

    def close(self) -> None: ...


class InTurn(Stepping):
    """Numbers the records of all keys in the order in which they come."""

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        before = kept or 0
        return before + len(rows), [(k, before + place) for place, (k, _) in enumerate(rows, 1)]


class Vault(Stepping):
    """Silent except on one code and one number; then it says how often that was so, of all keys."""

    reads = ("k", "code", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        opened = kept or 0
        out: Rows = []
        for k, code, n in rows:
            if code == "open-7731" and n == 90210:
                opened += 1
                out.append((k, opened))
        return opened, out


def in_turn(frame: DataFrame) -> DataFrame:
    return stepped(frame.withColumn("everyone", F.lit("all")), InTurn, "everyone")


def vault(frame: DataFrame) -> DataFrame:
    return stepped(frame.withColumn("everyone", F.lit("all")), Vault, "everyone")


SUITE.add(
    "a count that leaks through a class attribute",
    operators.processor(Leaking, key="k", input=KEYED, output=OUT),
    "the attribute counts the records of all keys that a Python worker has seen, those of a retried task twice",
    no="deterministic",
    surprise="Spark makes a processor for each partition, so it looks as if each had its own count",
    like="custom state",
)
SUITE.add(
    "numbered in turn",
    operators.transformation(in_turn, input=KEYED, key="k"),
    "a record's number is how many came before, of any key",
    no="stateless commutative partition_isolated",
    yes="deterministic one_to_one",
    like="custom state",
)
SUITE.add(
    "a vault with one code",
    operators.transformation(vault, input="k STRING NOT NULL, code STRING NOT NULL, n INT NOT NULL", key="k"),
    "only one code with one number opens it; then the number of openings of all keys comes out",
    no="one_to_one stateless commutative partition_isolated",
    yes="deterministic",
    surprise="it is silent on almost any input",
    like="custom state; failed: silent except on very specific input",
)


# --- DStreams ---


def totals(pairs: Any) -> Any:
    return pairs.updateStateByKey(lambda new, old: (old or 0) + sum(new))


SUITE.add(
    "totals of a DStream's keys",
    operators.transformation(totals, input=KEYED, engine="dstream"),
    "every batch puts out the totals of all keys: with two keys two rows, and on the way in another order others",
    no="one_to_one stateless commutative",
    yes="deterministic",
    surprise="a total does not depend on the order, but totals on the way do",
    like="custom state",
)
