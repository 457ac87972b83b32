"""Many cases in one query: a micro-batch costs almost the same for one case as for hundreds.

Every record carries the number of its case in a hidden column, which `firesteel.spark.bulk.carry` brings through the
subject's plan; what comes out is told apart by it. A bulk run only screens: the caller runs a case that matters alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from firesteel.spark.bulk.shared import SharedQueries
from firesteel.spark.engines.subject import Subject, taken_by
from firesteel.spark.failures import CannotCarry
from firesteel.spark.running import Running
from firesteel.values.cases import Case, exact
from firesteel.values.traces import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_RECORDS = 1_500_000
"""The most input records that one bulk run takes: they are all on the driver."""


def exercise_together(
    spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running, *, also_single: bool = False
) -> list[Trace | None]:
    """Run cases together and record their traces; None for one that has to run alone.

    `CannotCarry` says why it is not possible at all. With `also_single`, a case that can share a query with no other
    one runs here too, in a query of its own, as long as there are few of these.
    """
    if not cases:
        return []
    if how.state:
        raise CannotCarry("the state after every batch belongs to all cases together")
    if any(len(batch) > how.large for case in cases for stream in case.inputs.values() for batch in stream):
        raise CannotCarry("a batch is large enough for a run of its own")
    _refuse_different(subject, cases)
    shared = SharedQueries(spark, cases, subject, how)
    traces: list[Trace | None] = [None] * len(cases)
    for group in shared.groups(also_single):
        for chunk in _chunks(cases, group):
            for number, trace in zip(chunk, shared.run([cases[number] for number in chunk]), strict=True):
                traces[number] = trace if how.over is None else how.over.cut(trace, cases[number])
    if not any(trace is not None for trace in traces):
        raise CannotCarry("its event times differ from case to case, and a query has one watermark for all")
    return traces


def _refuse_different(subject: Subject, cases: Sequence[Case]) -> None:
    """Refuse a subject whose program depends on values that are drawn for every case."""
    given = [taken_by(subject, case.drawn) for case in cases]
    if any(exact(values) != exact(given[0]) for values in given):
        names = dict.fromkeys(name for values in given for name in values)
        raise CannotCarry(f"it depends on {', '.join(names)}, drawn for every case")


def _chunks(cases: Sequence[Case], group: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of cases that are few enough for one run."""
    chunk: list[int] = []
    records = 0
    for number in group:
        size = sum(len(batch) for stream in cases[number].inputs.values() for batch in stream)
        if chunk and records + size > MOST_RECORDS:
            yield chunk
            chunk, records = [], 0
        chunk.append(number)
        records += size
    if chunk:
        yield chunk
