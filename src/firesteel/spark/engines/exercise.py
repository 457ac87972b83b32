"""The engines that cases are run on, by name: Structured Streaming, DStreams, batch jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from firesteel.spark.engines import batch, dstream, structured
from firesteel.spark.engines.engine import Engine, Watcher
from firesteel.spark.engines.subject import Subject
from firesteel.spark.engines.threads import run_at_once, trace_or_failure
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.traces import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (structured.ENGINE, dstream.ENGINE, batch.ENGINE)}


def exercise(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher) -> Trace:
    """Run a case on the engine that was asked for, and record its trace until the watcher stops it."""
    return ENGINES[how.engine].exercise(spark, case, subject, how, watcher)


def exercise_apart(
    spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running
) -> list[Trace | SubjectFailure]:
    """Run whole cases by themselves, several at once where the engine can; a case that fails gives its failure."""
    return in_threads(spark, lambda case: exercise(spark, case, subject, how, lambda now: False), cases, how)


def in_threads(
    spark: SparkSession, run: Callable[[Case], Trace], cases: Sequence[Case], how: Running
) -> list[Trace | SubjectFailure]:
    """Run cases, several at once where the engine can; a case that fails gives its failure."""
    if ENGINES[how.engine].parallel:
        return run_at_once(spark, run, cases)
    return [trace_or_failure(run, case) for case in cases]
