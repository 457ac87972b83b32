"""Evidence for a reducer or an aggregate, shown on real Spark: two orders of arrival, or two partitionings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.evidence.operators import Different, Finding
from firesteel.perturb import Order
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.perturb.shuffles import arriving
from firesteel.values.records import shown

if TYPE_CHECKING:
    from pyspark import RDD
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
    call = _call(kind, finding.property)
    return (
        _in_two_orders(spark, operator, call, sides)
        if finding.property == "commutative" and _pieces(sides[1]) == _pieces(sides[0])[::-1]
        else ""
    ) or _in_two_partitionings(spark, operator, call, sides)


def _in_two_orders(spark: SparkSession, operator: Any, call: str, sides: Sequence[Sequence[Any]]) -> str:
    """The same data twice, and what a shuffle brings arrives in the opposite order; empty where that is not possible.

    Partitions arrive to be merged. The values of a single partition arrive in it, each from a partition of its own.
    """
    pieces = _pieces(sides[0])
    orders: tuple[Order | None, ...] = (None, "reversed")
    results = []
    try:
        for order in orders:
            with arriving(spark.sparkContext, order):
                results.append(_folded(_keyed(spark, pieces, shuffled=len(sides[0]) == 1), operator))
    except (InvalidArgument, SubjectFailure):  # the session is not a local one: there, partitions are exchanged
        return ""
    if results[0] == results[1]:
        return ""
    what = " and ".join(shown(list(piece)) for piece in pieces)
    return (
        f"{call} gave {shown(results[0])} when {what} arrived in this order, and {shown(results[1])} when they arrived "
        "in the opposite order"
    )


def _in_two_partitionings(spark: SparkSession, operator: Any, call: str, sides: Sequence[Sequence[Any]]) -> str:
    results = []
    for side in sides:
        keyed = _keyed(spark, side)
        zero = call == "RDD.aggregate"
        results.append(
            keyed.values().aggregate(operator.zero, *operator.functions) if zero else _folded(keyed, operator)
        )
    texts = [
        f"{shown(result)} over the partitions {' and '.join(shown(list(part)) for part in side)}"
        for result, side in zip(results, sides, strict=True)
    ]
    if results[0] == results[1]:
        return f"the same in this session, {texts[0]}"
    return f"{call} gave {texts[0]}, and {texts[1]}"


def _partitions(kind: str, fold: Sequence[Any]) -> list[list[Any]]:
    """The partitions of a fold. A reducer merges what lies in one partition first."""
    if kind == "reducer":
        if len(fold) == 1:
            return [[value] for part in fold[0] for value in part]
        return [[value for part in group for value in part] for group in fold]
    return [list(part) for group in fold for part in group]


def _pieces(partitions: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """What arrives: whole partitions; where there is only one, its values."""
    return [[value] for value in partitions[0]] if len(partitions) == 1 else [list(part) for part in partitions]


def _call(kind: str, property: str) -> str:
    if property == "zero_is_identity":
        return "RDD.aggregate"
    return {"reducer": "reduceByKey", "aggregate": "aggregateByKey", "combiner": "combineByKey"}[kind]


def _keyed(spark: SparkSession, partitions: Sequence[Sequence[Any]], *, shuffled: bool = False) -> RDD[Any]:
    """The values of some partitions, all of one key; or shuffled into one partition, as they arrive."""
    values = [list(part) for part in partitions]
    # One slice for each partition; local mode delivers map outputs in the order of their partitions.
    keyed = spark.sparkContext.parallelize(range(len(values)), len(values)).mapPartitions(
        lambda numbers: [(0, value) for number in numbers for value in values[number]]
    )
    return keyed.partitionBy(1) if shuffled else keyed


def _folded(keyed: RDD[Any], operator: Any) -> Any:
    functions = operator.functions
    match operator.kind.value:
        case "reducer":
            found = keyed.reduceByKey(functions[0], 1)
        case "aggregate":
            found = keyed.aggregateByKey(operator.zero, functions[0], functions[1], 1)
        case _:
            found = keyed.combineByKey(functions[0], functions[1], functions[2], 1)
    return found.values().collect()[0]
