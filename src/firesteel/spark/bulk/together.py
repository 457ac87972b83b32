"""Many cases in one query: a micro-batch costs almost the same for one case as for hundreds.

Every record carries the number of its case in a hidden column, which `firesteel.spark.bulk.carry` brings through the
subject's plan; what comes out is told apart by it. A bulk run only screens: the caller runs a case that matters alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from firesteel.spark.bulk.shared import SharedQueries, batch_sizes
from firesteel.spark.engines.subject import Subject, taken_by
from firesteel.spark.failures import CannotCarry
from firesteel.spark.running import Running
from firesteel.values.cases import Case, exact
from firesteel.values.traces import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_RECORDS = 1_500_000
"""The most input records that one bulk run takes: they are all on the driver."""
MOST_IN_ARROW = 200_000
"""The most where they have to fit into one Arrow batch: it is in memory as a whole."""


class Together(list["Trace | None"]):
    """What a bulk run recorded: the trace of every case, None for one that has to run alone."""

    doubtful = False
    """Does the program hold anything but what is known to be carried well? Then more has to be run alone, too."""


def exercise_together(
    spark: SparkSession,
    cases: Sequence[Case],
    subject: Subject,
    how: Running,
    *,
    also_single: bool = False,
    late: bool = False,
) -> Together:
    """Run cases together and record their traces; None for one that has to run alone.

    `CannotCarry` says why it is not possible at all. With `also_single`, a case that can share a query with no other
    one runs here too, in a query of its own, as long as there are few of these. With `late`, cases with late records
    share one as well, and the traces do not say how many of them Spark dropped.
    """
    if not cases:
        return Together()
    if how.state:
        raise CannotCarry("the state after every batch belongs to all cases together")
    if any(len(batch) > how.large for case in cases for stream in case.inputs.values() for batch in stream):
        raise CannotCarry("a batch is large enough for a run of its own")
    _refuse_different(subject, cases)
    shared = SharedQueries(spark, cases, subject, how, late=late)
    traces = Together([None] * len(cases))
    traces.doubtful = shared.doubtful
    for group in shared.groups(also_single):
        for chunk in _chunks(cases, group, shared.fits_arrow):
            for number, trace in zip(chunk, shared.run([cases[number] for number in chunk]), strict=True):
                traces[number] = trace if how.over is None else how.over.cut(trace, cases[number])
    if not any(trace is not None for trace in traces):
        raise CannotCarry(shared.why_apart)
    return traces


def _refuse_different(subject: Subject, cases: Sequence[Case]) -> None:
    """Refuse a subject whose program depends on values that are drawn for every case."""
    given = [taken_by(subject, case.drawn) for case in cases]
    if any(exact(values) != exact(given[0]) for values in given):
        names = dict.fromkeys(name for values in given for name in values)
        raise CannotCarry(f"it depends on {', '.join(names)}, drawn for every case")


def _chunks(cases: Sequence[Case], group: Sequence[int], fits_arrow: int | None) -> Iterator[list[int]]:
    """Numbers of cases that are few enough for one run; one that fills an Arrow batch where that shows is alone."""
    chunk: list[int] = []
    total = 0
    for number in group:
        sizes = batch_sizes([cases[number]])
        if fits_arrow is not None and max(sizes.values(), default=0) > fits_arrow:
            yield [number]
            continue
        if chunk and total + sizes.total() > (MOST_RECORDS if fits_arrow is None else MOST_IN_ARROW):
            yield chunk
            chunk, total = [], 0
        chunk.append(number)
        total += sizes.total()
    if chunk:
        yield chunk
