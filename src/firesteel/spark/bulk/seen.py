"""What watermarks see of the cases: most of it the input alone tells; the rest a batch job does.

Spark moves filters below a watermark, and a subject may filter or compute before its watermark. Then the plan below the
watermark is run once as a batch job, over the records of all cases, each with the number of its case and batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firesteel.spark.bulk.align import Edges, EdgesOfOne, TimeFacts, Watermark, edges_of, watermarks_in
from firesteel.spark.bulk.carry import part_of
from firesteel.spark.engines.source import PackedSource
from firesteel.spark.failures import CannotCarry, root_cause
from firesteel.values.cases import Case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def seen_by_watermarks(
    spark: SparkSession, cases: Sequence[Case], facts: Sequence[TimeFacts], columns: Mapping[str, str]
) -> list[Edges]:
    """The event times that watermarks are computed from, of every case. `columns` are the inputs' hidden columns."""
    found = [edges_of(case, facts) for case in cases]
    for operator in watermarks_in(facts):
        if operator.below is not None:
            for edges, known in zip(found, _told_by_spark(spark, cases, operator, columns), strict=True):
                edges[operator] = known
    return list(found)


@dataclass(frozen=True)
class _Numbered:
    """Packed records of a batch job. They are numbered by case and batch."""

    column: str
    frame: DataFrame

    def instance(self) -> Any:
        return self.frame._jdf.queryExecution().analyzed()


def _told_by_spark(
    spark: SparkSession, cases: Sequence[Case], operator: Watermark, columns: Mapping[str, str]
) -> list[EdgesOfOne]:
    """For every case and batch, the first and the last event time of what gets to a watermark."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    assert operator.below is not None
    found: dict[int, tuple[int, int]] = {}
    longest = max(case.length for case in cases)
    for part, event_time in operator.below.plans:
        source = _numbered(spark, cases, operator.input, columns[operator.input], longest)
        try:
            rows = _first_and_last(part_of(spark, part, event_time, {operator.input: source}))
        except (Py4JError, PySparkException) as error:
            raise CannotCarry(f"what its watermark sees cannot be told beforehand ({root_cause(error)})") from error
        for number, first, last in rows:
            known = found.get(number, (first, last))
            found[number] = min(first, known[0]), max(last, known[1])
    return [[found.get(number * longest + index) for index in range(case.length)] for number, case in enumerate(cases)]


def _numbered(spark: SparkSession, cases: Sequence[Case], name: str, column: str, longest: int) -> _Numbered:
    schema = cases[0].inputs[name].schema
    assert schema is not None
    groups = [
        (number * longest + index, batch.records)
        for number, case in enumerate(cases)
        for index, batch in enumerate(case.inputs[name])
        if batch.records
    ]
    return _Numbered(column, PackedSource(spark, schema, column).rows(groups))


def _first_and_last(frame: DataFrame) -> list[tuple[int, int, int]]:
    from pyspark.sql import functions as F

    at = F.unix_millis("at")
    named = frame.toDF("at", "number").where("at IS NOT NULL")
    return [tuple(row) for row in named.groupBy("number").agg(F.min(at), F.max(at)).collect()]
