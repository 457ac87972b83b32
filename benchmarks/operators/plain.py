"""Streams without state: a firing gives the same whatever came before. Commutative and isolated by that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from benchmarks.operators.stepping import Rows, Stepping
from benchmarks.operators.suite import Suite
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType

from firesteel import operators

SUITE = Suite()
KEYED = "k STRING NOT NULL, n INT NOT NULL"
_FREE = "deterministic stateless commutative partition_isolated"


def doubled(frame: DataFrame) -> DataFrame:
    return frame.select("k", (F.col("n").cast("long") * 2).alias("n"))


def all_but_one(frame: DataFrame) -> DataFrame:
    return frame.where("n <> 70707")


def words(frame: DataFrame) -> DataFrame:
    return frame.select("k", F.explode(F.split("line", " ")).alias("word"))


def items(frame: DataFrame) -> DataFrame:
    return frame.select("k", F.explode_outer("ns").alias("n"))


def split_apart(frame: DataFrame) -> dict[str, DataFrame]:
    return {"small": frame.where("n < 10"), "large": frame.where("n >= 10")}


def split_overlapping(frame: DataFrame) -> dict[str, DataFrame]:
    return {"small": frame.where("n <= 10"), "large": frame.where("n >= 10")}


def priced(frame: DataFrame) -> DataFrame:
    rows = [("apple", 3), ("pear", 4), ("plum", 5), ("plum", 6)]
    prices = frame.sparkSession.createDataFrame(rows, "k STRING NOT NULL, price INT NOT NULL")
    return frame.join(prices, "k", "left")


def marked(frame: DataFrame) -> DataFrame:
    return frame.withWatermark("ts", "0 seconds").select("k", F.date_trunc("hour", "ts").alias("hour"))


SUITE.add(
    "doubled",
    operators.transformation(doubled, input=KEYED, key="k"),
    "a projection: each row by itself",
    yes=f"{_FREE} one_to_one",
    like="functor",
)
SUITE.add(
    "all but one number",
    operators.transformation(all_but_one, input=KEYED, key="k"),
    "each row by itself; a row with n = 70707 gives nothing",
    no="one_to_one",
    yes=_FREE,
    surprise="almost any test sees one row for each record",
    like="filter",
)
SUITE.add(
    "words of a line",
    operators.transformation(words, input="k STRING NOT NULL, line STRING NOT NULL", key="k"),
    "each row by itself; a line with a space gives two rows",
    no="one_to_one",
    yes=_FREE,
    like="split",
)
SUITE.add(
    "items of a list, or a null",
    operators.transformation(items, input="k STRING NOT NULL, ns ARRAY<INT> NOT NULL", key="k"),
    "each row by itself; a list of two items gives two rows",
    no="one_to_one",
    yes=_FREE,
    surprise="outer promises a row for an empty list, not one row for every list",
    like="split",
)
SUITE.add(
    "a split into two outputs",
    operators.transformation(split_apart, input=KEYED, key="k"),
    "each row goes to exactly one of the outputs",
    yes=f"{_FREE} one_to_one",
    surprise="each output by itself is a filter, which drops rows",
    like="split",
)
SUITE.add(
    "a split whose outputs overlap",
    operators.transformation(split_overlapping, input=KEYED, key="k"),
    "a row with n = 10 goes to both outputs",
    no="one_to_one",
    yes=_FREE,
    surprise="the conditions look like complements",
    like="split",
)
SUITE.add(
    "joined with a table of prices",
    operators.transformation(priced, input=KEYED, key="k"),
    "the table is fixed, so each row by itself; a plum has two prices",
    no="one_to_one",
    yes=_FREE,
    surprise="a left join with a table keeps every row, and mostly once; and it has no state",
    like="join",
)
SUITE.add(
    "a watermark and nothing else",
    operators.transformation(marked, input="k STRING NOT NULL, ts TIMESTAMP NOT NULL", key="k"),
    "a watermark drops late rows only in operators that keep state, and there is none",
    yes=f"{_FREE} one_to_one",
    surprise="withWatermark of 0 seconds reads as if late rows were dropped",
    like="punctor",
)


# --- Python code that looks as if it remembered ---


def size_of(key: Any, frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"k": [key[0]], "size": [len(frame)]})


def grouped(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").applyInPandas(size_of, "k STRING, size LONG")


@F.pandas_udf(DoubleType())
def summed_up(n: pd.Series) -> pd.Series:
    return n.astype("float64").cumsum()


def running(frame: DataFrame) -> DataFrame:
    return frame.select("k", summed_up("n").alias("total"))


def centred(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for frame in frames:
        yield frame.assign(n=frame["n"] - frame["n"].mean())


def around_zero(frame: DataFrame) -> DataFrame:
    return frame.mapInPandas(centred, "k STRING, n DOUBLE")


def noted(key: Any, frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
    largest = max(int(n) for frame in frames for n in frame["n"])
    state.update((largest,))
    yield pd.DataFrame({"k": [key[0]], "n": [largest]})


class Archivist(Stepping):
    """Keeps everything and reads nothing of it."""

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        return [*(kept or []), *(n for _, n in rows)], rows


SUITE.add(
    "the size of a group in pandas",
    operators.transformation(grouped, input=KEYED, key="k"),
    "applyInPandas of a stream sees the groups of one batch: a record alone in its batch is a group of one",
    yes=f"{_FREE} one_to_one",
    surprise="groupBy of a stream usually keeps a state",
    like="aggregate",
)
SUITE.add(
    "a running total in a pandas UDF",
    operators.transformation(running, input=KEYED),
    "cumsum starts again with every batch, and a firing is one record alone in its batch",
    yes="deterministic stateless commutative one_to_one",
    surprise="it looks like a running total of the stream",
    like="custom state",
)
SUITE.add(
    "centred in mapInPandas",
    operators.transformation(around_zero, input=KEYED),
    "the mean is that of a frame, and a record alone in its batch is its own mean",
    yes="deterministic stateless commutative one_to_one",
    surprise="rows are combined with others, but never with those of earlier batches",
    like="custom",
)
SUITE.add(
    "a state that is written and never read, in a state function",
    operators.state_function(
        noted, key="k", input=KEYED, output="k STRING, n INT", state="n INT", output_mode="append"
    ),
    "the output is the largest of the batch; what was kept is not looked at",
    yes=f"{_FREE} one_to_one",
    surprise="applyInPandasWithState, and it updates the state",
    like="custom state",
)
SUITE.add(
    "a state that is written and never read, in a processor",
    operators.processor(Archivist, key="k", input=KEYED, output="k STRING, n INT"),
    "the output is the batch's rows; the list that is kept is not looked at",
    yes=f"{_FREE} one_to_one",
    surprise="its state grows with every record",
    like="custom state",
)


# --- DStreams ---


def summed_by_batch(pairs: Any) -> Any:
    return pairs.reduceByKey(lambda a, b: a + b)


SUITE.add(
    "sums of a DStream's keys",
    operators.transformation(summed_by_batch, input=KEYED, engine="dstream"),
    "reduceByKey of a DStream reduces each batch by itself: a record alone in its batch comes out as it is",
    yes="deterministic stateless commutative one_to_one",
    surprise="a sum by key sounds like a total of the stream",
    like="aggregate",
)
