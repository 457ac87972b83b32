"""Many cases of DStreams in one StreamingContext: each has DStreams of its own, and their outputs are united.

A batch is then one job for all cases, and there is one context to start and to stop. It only screens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firesteel.spark.bulk.jobs import in_parts, parts_of, with_number
from firesteel.spark.engines import dstream
from firesteel.spark.engines.subject import Subject, call_subject
from firesteel.spark.failures import CannotCarry, OneCaseFails, SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.batches import Batch
from firesteel.values.cases import Case
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST = 40
"""So many cases share a context."""


def exercise_beside(
    spark: SparkSession,
    cases: Sequence[Case],
    subject: Subject,
    how: Running,
    is_over: Callable[[], bool] = lambda: False,
) -> list[Trace | None]:
    """Run cases together and record their traces; None for those left when it is over.

    `OneCaseFails` if one makes it fail.
    """
    return in_parts(cases, _MOST, lambda some: _beside(spark, some, subject, how), is_over)


def _beside(spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running) -> list[Trace]:
    names = list(cases[0].inputs)
    streams = {f"{name}_{number}": each.inputs[name] for number, each in enumerate(cases) for name in names}
    several = False

    def all_of_them(**inputs: Any) -> Any:
        nonlocal several
        made: list[Any] = []
        for number, case in enumerate(cases):
            made.append(call_subject(subject, {name: inputs[f"{name}_{number}"] for name in names}, case.drawn))
        several = any(isinstance(each, Mapping) for each in made)
        numbered = [each.map(with_number(number)) for number, each in enumerate(made)]
        return numbered[0].context().union(*numbered)

    try:
        whole = dstream.exercise(spark, Case(streams), all_of_them, how, _to_the_end)
    except SubjectFailure as failure:
        if several:
            raise CannotCarry("it has several outputs") from failure
        if failure.hangs or not failure.depends_on_case:
            raise
        raise OneCaseFails(f"one of the cases makes it fail ({failure})") from failure
    parts = [parts_of(now.outputs["output"], len(cases)) for now in whole]
    return [
        Trace([_of(now, case, parts[now.index][number]) for now in whole if now.index < case.length])
        for number, case in enumerate(cases)
    ]


def _of(now: Instant, case: Case, output: Batch) -> Instant:
    """What a case alone had at an instant of all of them."""
    return Instant(now.index, case.batches_at(now.index), {"output": output}, time=now.time, drawn=case.drawn)


def _to_the_end(now: Instant) -> bool:
    return False
