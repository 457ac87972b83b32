"""Batch jobs over DataFrames and RDDs. A job over one row is a firing; `stateless` does not apply."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from benchmarks.operators.suite import Suite
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from firesteel import operators

SUITE = Suite()
KEYED = "k STRING NOT NULL, n INT NOT NULL"


def shares(frame: DataFrame) -> DataFrame:
    return frame.withColumn("share", F.expr("try_divide(n, sum(n) over ())"))


def ranked(frame: DataFrame) -> DataFrame:
    return frame.withColumn("rank", F.rank().over(Window.partitionBy("k").orderBy("n")))


def numbered(frame: DataFrame) -> DataFrame:
    return frame.withColumn("id", F.monotonically_increasing_id())


def seeded(frame: DataFrame) -> DataFrame:
    return frame.withColumn("ticket", F.rand(42))


def in_order(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").agg(F.sort_array(F.collect_list("n")).alias("ns"))


def smallest_two(frame: DataFrame) -> DataFrame:
    return frame.orderBy("n", "k").limit(2)


SUITE.add(
    "a share of the total",
    operators.transformation(shares, input=KEYED, key="k", engine="batch"),
    "each row by the sum of all rows, of whole numbers: no order, but other keys are in the sum",
    no="partition_isolated",
    yes="deterministic one_to_one commutative",
    like="aggregate",
)
SUITE.add(
    "ranks within a key",
    operators.transformation(ranked, input=KEYED, key="k", engine="batch"),
    "rows that are equal in n have the same rank, so ties do not show; other keys are in other windows",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="row_number in its place would depend on the order of ties",
    like="sort",
)
SUITE.add(
    "numbered by place",
    operators.transformation(numbered, input=KEYED, key="k", engine="batch"),
    "the id is the partition and the place in it: the same for the same partitions, another in another order",
    no="commutative partition_isolated",
    yes="deterministic one_to_one",
    surprise="Spark itself calls the expression not deterministic",
    like="custom",
)
SUITE.add(
    "a seeded lottery ticket in a job",
    operators.transformation(seeded, input=KEYED, key="k", engine="batch"),
    "the seed and the partition fix the sequence; which row gets which number goes by its place",
    no="commutative partition_isolated",
    yes="deterministic one_to_one",
    surprise="in a stream the same expression is not deterministic; and a row's ticket is not its own",
    like="custom",
)
SUITE.add(
    "a sorted basket of each key",
    operators.transformation(in_order, input=KEYED, key="k", engine="batch"),
    "sorted whole numbers have no order of arrival",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="collect_list is known for its order, and a job over one row gives one row",
    like="aggregate",
)
SUITE.add(
    "the smallest two",
    operators.transformation(smallest_two, input=KEYED, key="k", engine="batch"),
    "sorted by all columns, so ties are equal rows; a smaller row of another key takes the place",
    no="partition_isolated",
    yes="deterministic one_to_one commutative",
    surprise="limit is known for taking any rows; and of one row it takes that one",
    like="sort",
)


# --- RDDs ---


def indexed(pairs: Any) -> Any:
    return pairs.zipWithIndex().map(lambda pair: (pair[0][0], pair[1]))


def added(pairs: Any) -> Any:
    return pairs.reduceByKey(lambda a, b: a + b)


def first_of_partition(pairs: Any) -> Any:
    def first(rows: Iterator[Any]) -> Iterator[Any]:
        return islice(rows, 1)

    return pairs.mapPartitions(first)


SUITE.add(
    "an index of an RDD",
    operators.transformation(indexed, input=KEYED, key="k", engine="rdd"),
    "the index is the place in the RDD",
    no="commutative partition_isolated",
    yes="deterministic one_to_one",
    like="custom",
)
SUITE.add(
    "sums of an RDD's keys",
    operators.transformation(added, input=KEYED, key="k", engine="rdd"),
    "whole numbers of one key, added in any order",
    yes="deterministic one_to_one commutative partition_isolated",
    like="aggregate",
)
SUITE.add(
    "the first of each partition",
    operators.transformation(first_of_partition, input=KEYED, key="k", engine="rdd"),
    "one row of each partition, the first: the order decides, and another key may be there",
    no="commutative partition_isolated",
    yes="deterministic one_to_one",
    surprise="of one row it keeps that row, so it looks as if it dropped nothing",
    like="split",
)
