"""Two DataFrames that should hold the same rows, up to the order that matters.

Where the dependence orders nothing, everything, or the rows of a key, Spark compares
(`firesteel.spark.frames.compare`). For any other dependence a matcher is asked, on the driver, row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.equivalence.index import key_columns
from firesteel.equivalence.matcher import Matcher
from firesteel.errors import InvalidArgument
from firesteel.evidence.frames import Difference, Odd, Undecided
from firesteel.logic.verdicts import Verdict
from firesteel.spark.frames.arguments import blaming, require_frames
from firesteel.spark.frames.columns import schema_difference
from firesteel.spark.frames.compare import SHOWN, difference
from firesteel.spark.frames.rows import Places, records
from firesteel.values.dependence import Dependence, Ordered, SameKey, Unordered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def compare(left: Any, right: Any, dependence: Any, equal: Any) -> Difference | Undecided | None:
    """How two frames differ, up to a dependence; None if they do not."""
    matcher = Matcher(dependence, equal=equal)  # refuses what is not a dependence or an equality
    require_frames(left, right)
    schema = schema_difference(left.schema, right.schema, matcher.equality.ignore)
    if schema:
        return Difference(schema=schema)
    _require_columns(matcher.dependence, left.schema)
    with blaming(left, right):
        match matcher.dependence:
            case Unordered():
                return difference(left, right, matcher.equality)
            case Ordered():
                return difference(left, right, matcher.equality, Places())
            case SameKey(columns):
                return difference(left, right, matcher.equality, Places(columns))
            case _:
                return _matched(left, right, matcher)


def _matched(left: DataFrame, right: DataFrame, matcher: Matcher) -> Difference | None:
    # In turns, so that few records wait for their match.
    iterators = [records(left), records(right)]
    steps = [matcher.left, matcher.right]
    while iterators and matcher.verdict is Verdict.INCONCLUSIVE:
        for iterator, step in list(zip(iterators, steps, strict=True)):
            record = next(iterator, None)
            if record is None:
                iterators.remove(iterator)
                steps.remove(step)
            else:
                step(record)
    if matcher.finish() is Verdict.TRUE:
        return None
    alone = matcher.unmatched
    odd = [tuple(Odd(record) for record in some[:SHOWN]) for some in alone]
    return Difference(len(alone[0]), len(alone[1]), odd[0], odd[1], reason=matcher.reason)


def _require_columns(dependence: Dependence, schema: StructType) -> None:
    there = schema.fieldNames()
    for column in key_columns(dependence):
        if column not in there:
            has = ", ".join(map(repr, there)) or "no columns"
            raise InvalidArgument(f"{dependence!r} asks for the column {column!r}: the frames have {has}")
