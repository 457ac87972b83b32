"""Evidence for a reducer or an aggregate, shown on real Spark: the same fold under two partitionings or orders."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firesteel.evidence.operators import Different, Finding
from firesteel.values.records import shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SHOWN = {
    "reducer": ("commutative", "associative", "idempotent"),
    "aggregate": ("commutative", "seq_comb_agree", "zero_is_identity"),
    "combiner": ("commutative", "seq_comb_agree"),
}


def active_session() -> SparkSession | None:
    """The active session, if Spark runs already."""
    if "pyspark.sql.session" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def shown_on_spark(spark: SparkSession, operator: Any, finding: Finding) -> str:
    """What Spark gave for the two runs of the evidence; empty where it cannot be shown there."""
    kind = operator.kind.value
    proof = finding.proof
    if finding.property not in _SHOWN.get(kind, ()) or not isinstance(proof, Different):
        return ""
    if not len(proof.left.run) == len(proof.right.run) == 1:
        return ""
    sides = [_partitions(kind, seen.run[0]) for seen in (proof.left, proof.right)]
    results = [_folded(spark, operator, finding.property, side) for side in sides]
    texts = [
        f"{shown(result)} over the partitions {' and '.join(shown(list(part)) for part in side)}"
        for result, side in zip(results, sides, strict=True)
    ]
    if results[0] == results[1]:
        return f"the same in this session, {texts[0]}"
    return f"{_call(kind, finding.property)} gave {texts[0]}, and {texts[1]}"


def _partitions(kind: str, fold: Sequence[Any]) -> list[list[Any]]:
    """The partitions of a fold. A reducer merges what lies in one partition first."""
    if kind == "reducer":
        if len(fold) == 1:
            return [[value] for part in fold[0] for value in part]
        return [[value for part in group for value in part] for group in fold]
    return [list(part) for group in fold for part in group]


def _call(kind: str, property: str) -> str:
    if property == "zero_is_identity":
        return "RDD.aggregate"
    return {"reducer": "reduceByKey", "aggregate": "aggregateByKey", "combiner": "combineByKey"}[kind]


def _folded(spark: SparkSession, operator: Any, property: str, partitions: Sequence[Sequence[Any]]) -> Any:
    values = [list(part) for part in partitions]
    # One slice for each partition; local mode delivers map outputs in the order of their partitions.
    rdd = spark.sparkContext.parallelize(range(len(values)), len(values)).mapPartitions(
        lambda numbers: [value for number in numbers for value in values[number]]
    )
    functions = operator.functions
    if property == "zero_is_identity":
        return rdd.aggregate(operator.zero, *functions)
    keyed = rdd.map(lambda value: (0, value))
    match operator.kind.value:
        case "reducer":
            found = keyed.reduceByKey(functions[0], 1)
        case "aggregate":
            found = keyed.aggregateByKey(operator.zero, functions[0], functions[1], 1)
        case _:
            found = keyed.combineByKey(functions[0], functions[1], functions[2], 1)
    return found.values().collect()[0]
