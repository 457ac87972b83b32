"""The engines that cases are run on: Structured Streaming, DStreams, batch jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from firesteel.spark import batch, dstream, structured
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.query import Running
from firesteel.spark.structured import Case, Watcher
from firesteel.spark.subject import Subject
from firesteel.streams import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ENGINES = {"structured": structured.exercise, "dstream": dstream.exercise, "batch": batch.exercise}


def exercise(
    spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running, watchers: Sequence[Watcher]
) -> list[Trace]:
    """Run cases on the engine that was asked for, and record their traces, each as far as its watcher lets it go."""
    return _ENGINES[how.engine](spark, cases, subject, how, watchers)


def exercise_apart(
    spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running
) -> list[Trace | SubjectFailure]:
    """Run whole cases by themselves, several at once where the engine can; a case that fails gives its failure."""
    if how.engine == "structured":
        return structured.exercise_apart(spark, cases, subject, how)
    return [_one(spark, case, subject, how) for case in cases]


def _one(spark: SparkSession, case: Case, subject: Subject, how: Running) -> Trace | SubjectFailure:
    try:
        return exercise(spark, [case], subject, how, [lambda instant: False])[0]
    except SubjectFailure as failure:
        return failure
