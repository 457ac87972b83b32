"""The engines that cases are run on: Structured Streaming, DStreams, batch jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from firesteel.spark.engines import batch, dstream, structured
from firesteel.spark.engines.structured import Watcher, or_failure
from firesteel.spark.engines.subject import Subject
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.streams import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ENGINES = {"structured": structured.exercise, "dstream": dstream.exercise, "batch": batch.exercise}


def exercise(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher) -> Trace:
    """Run a case on the engine that was asked for, and record its trace until the watcher stops it."""
    return _ENGINES[how.engine](spark, case, subject, how, watcher)


def exercise_apart(
    spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running
) -> list[Trace | SubjectFailure]:
    """Run whole cases by themselves, several at once where the engine can; a case that fails gives its failure."""
    return in_threads(spark, lambda case: exercise(spark, case, subject, how, lambda now: False), cases, how)


def in_threads(
    spark: SparkSession, run: Callable[[Case], Trace], cases: Sequence[Case], how: Running
) -> list[Trace | SubjectFailure]:
    """Run cases, several at once where the engine can; a case that fails gives its failure."""
    if how.engine == "structured":
        return structured.in_threads(spark, run, cases)
    return [or_failure(run, case) for case in cases]
