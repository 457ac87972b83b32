"""Evidence for reducers and aggregates, shown on real Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

import firesteel as fs
from firesteel import operators


def minus(a: int, b: int) -> int:
    return a - b


def count_then_max(a: int, b: int) -> int:
    return max(a, b)


def test_what_spark_does_with_the_evidence(spark: SparkSession) -> None:
    found = fs.analyze(operators.reducer(minus), "commutative", "associative", spark=spark)
    assert found["commutative"].confirmed == (
        "reduceByKey gave -1 when [0] and [1] arrived in this order, and 1 when they arrived in the opposite order"
    )
    assert found["associative"].confirmed == (
        "reduceByKey gave -1 over the partitions [1, 1] and [1], and 1 over the partitions [1] and [1, 1]"
    )
    assert f"Seen on Spark: {found['commutative'].confirmed}." in found.explain("commutative")


def test_an_aggregate_and_a_combiner(spark: SparkSession) -> None:
    # The session is active, so it need not be handed over.
    counted = operators.aggregate(0, lambda n, x: n + 1, count_then_max)
    assert "aggregateByKey gave" in fs.analyze(counted, "seq_comb_agree")["seq_comb_agree"].confirmed
    from_one = operators.aggregate(1, lambda n, x: n + x, lambda a, b: a + b)
    assert "RDD.aggregate gave" in fs.analyze(from_one, "zero_is_identity")["zero_is_identity"].confirmed
    lists = operators.combiner(lambda x: [x], lambda xs, x: [*xs, x], lambda a, b: a + b)
    found = fs.analyze(lists, "commutative")["commutative"].confirmed
    assert found.startswith("combineByKey gave [0, 1] when [0] and [1] arrived in this order, and [1, 0] when they")

    right = fs.analyze(operators.reducer(max), "commutative", tests=20)["commutative"]
    assert right.confirmed == ""
