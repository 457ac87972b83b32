"""Runs cases on Structured Streaming and records their traces.

Instant k holds input batch k and everything Spark put out until it was idle, the extra micro-batches without data that
it runs after a watermark moved included. Outputs are told apart by Spark's own batch ids, never by counting. Where the
subject has a watermark, the last instant also holds what comes out when event time ends. With `over`, the instants are
windows of event time instead, cut from what was recorded.

The next batch is fed before the last one's output is converted, so that Spark works while Python does; a case that is
decided has then run at most one batch too far.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument
from firesteel.spark.engines.control import changed
from firesteel.spark.engines.query import Query, Taken, TooLarge
from firesteel.spark.engines.source import MemorySource
from firesteel.spark.engines.subject import Subject, outputs_of
from firesteel.spark.failures import SubjectFailure, root_cause
from firesteel.spark.perturb.levers import dismissed, new_workers, pulled
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.streams import Batch, Instant, Stream, Trace, make_batch, together

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Watcher: TypeAlias = Callable[[Instant], bool]
"""Sees each instant as it comes; True stops the case: nothing later matters."""

# Rows with java.time values: those of java.sql live in another calendar before 1582.
_JAVA_TIME = {"spark.sql.datetime.java8API.enabled": "true"}
_building = Lock()


def exercise(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher) -> Trace:
    """Run a case and record its trace, until the watcher stops it.

    Nothing of the case stays in Spark afterwards: queries, views, checkpoints and threads are cleaned up, also when it
    fails.
    """
    kept = any(len(b) > how.large for stream in case.inputs.values() for b in stream)
    try:
        return _alone(spark, case, subject, how, watcher, kept)
    except TooLarge as found:
        # Found out too late: from the start, then, with output that never comes to the driver.
        # Windows are judged only after the whole run, so none of them was yet.
        judged = found.judged if how.over is None else 0
        return _alone(spark, case, subject, how, _resumed(watcher, judged), kept=True)


def in_threads(
    spark: SparkSession, run: Callable[[Case], Trace], cases: Sequence[Case]
) -> list[Trace | SubjectFailure]:
    """Run cases, several at once, each in queries of its own; a case that fails gives its failure."""
    jvm: Any = spark._jvm
    active = partial(jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession, spark._jsparkSession)
    # Held for all of them: a case that ends would give the setting back while others still need it. And a thread of its
    # own knows no session, whose settings the encoders of rows go by.
    with changed(spark, _JAVA_TIME), ThreadPoolExecutor(at_once(spark), "firesteel", initializer=active) as pool:
        return list(pool.map(partial(or_failure, run), cases))


def or_failure(run: Callable[[Case], Trace], case: Case) -> Trace | SubjectFailure:
    """What running a case gives: its trace, or its failure."""
    try:
        return run(case)
    except SubjectFailure as failure:
        return failure


def at_once(spark: SparkSession) -> int:
    """How many cases are run at once: a micro-batch keeps little more than a core busy, and waits in between."""
    if os.environ.get("PYSPARK_PIN_THREAD", "true").lower() != "true":
        return 1  # threads share those of the JVM then, and with them its locks
    return max(1, min(4, int(spark.sparkContext.defaultParallelism) + 1))


def _resumed(watcher: Watcher, judged: int) -> Watcher:
    """The watcher, from where it stopped: it must not see an instant twice."""
    return lambda instant: instant.index >= judged and watcher(instant)


def _alone(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher, kept: bool) -> Trace:
    if how.over is None:
        return _recorded(spark, case, subject, how, watcher, kept)
    for name, stream in case.inputs.items():
        how.over.check_input(name, stream.schema)
    how.over.spans(case.inputs)  # refuses what cannot be cut, before Spark runs
    whole = how.over.cut(_recorded(spark, case, subject, how, lambda instant: False, kept), case)
    seen = []
    for instant in whole:
        seen.append(instant)
        if watcher(instant):
            break
    return Trace(seen, outside=whole.outside)


def _recorded(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher, kept: bool) -> Trace:
    instants: list[Instant] = []
    workers: list[str] = []
    with ExitStack() as stack:
        stack.enter_context(changed(spark, _JAVA_TIME))
        stack.callback(dismissed, spark.sparkContext, workers)
        # A subject may make views, whose names it shares with other cases that are being built; and so are settings.
        with _building, pulled(spark, how.under):
            queries = _built(spark, case, subject, how, stack, kept or _starts_again(how))
        for query in queries:
            query.feed(0)
        for index in range(case.length):
            last = index + 1 == case.length
            for query in queries:
                query.settle(index, instants, last=last)
            taken = [query.take() for query in queries]
            if how.under is not None and how.under.replayed_batch == index:
                _start_again(spark, case, subject, how, queries, index, workers, replayed=taken)
                for query in queries:
                    query.settle(index, instants, last=last)
                taken = [query.take() for query in queries]
            restarts = how.under is not None and how.under.restart == index and not last
            if how.state and not any(query.keeps_state for query in queries):
                raise InvalidArgument("state=True, but the subject keeps no state: there is nothing to look at")
            if not last and not restarts:
                for query in queries:
                    query.feed(index + 1)
            try:
                outputs = {query.name: query.output(rows) for query, rows in zip(queries, taken, strict=True)}
            except TooLarge as found:
                found.judged = index
                raise
            instants.append(_instant(case, index, outputs, queries, instants))
            if watcher(instants[-1]):
                break
            if restarts:  # only now: a query that is stopped takes with it what it knows of its batches
                _start_again(spark, case, subject, how, queries, index, workers)
                for query in queries:
                    query.feed(index + 1)
    return Trace(instants)


def _instant(
    case: Case, index: int, outputs: Mapping[str, Batch], queries: Sequence[Query], before: Sequence[Instant]
) -> Instant:
    watermarks = [query.watermark for query in queries if query.watermark is not None]
    return Instant(
        index,
        {name: batch_at(stream, index) for name, stream in case.inputs.items()},
        outputs,
        time=queries[0].time(index),
        watermark=min(watermarks, default=None),
        dropped=sum(query.dropped for query in queries),
        recorded_state=together(states) if (states := [q.state for q in queries if q.state is not None]) else None,
        drawn=case.drawn,
        previous=before[-1] if before else None,
    )


def batch_at(stream: Stream, index: int) -> Batch:
    return stream[index] if index < len(stream) else make_batch((), stream.schema)


# --- building --------------------------------------------------------------------------------------


def _built(
    spark: SparkSession, case: Case, subject: Subject, how: Running, stack: ExitStack, kept: bool
) -> list[Query]:
    """The running queries of a case, one for every output of the subject."""
    sources, frames = _frames(spark, case, subject)
    if how.over is not None:
        how.over.check_names(case.inputs, frames)
    queries = []
    for number, name in enumerate(frames):
        if number:
            # A MemoryStream serves one query: the next output gets sources, and a run of the subject, of its own.
            sources, frames = _frames(spark, case, subject)
        queries.append(Query(spark, name, frames[name], sources, how.mode_of(name), how, kept))
        stack.enter_context(queries[-1].running(stack))
    return queries


def _starts_again(how: Running) -> bool:
    """Is the query started again? Then what comes out is kept: Spark's memory sink goes on from no checkpoint."""
    return how.under is not None and (how.under.restart is not None or how.under.replayed_batch is not None)


def _start_again(
    spark: SparkSession,
    case: Case,
    subject: Subject,
    how: Running,
    queries: Sequence[Query],
    index: int,
    workers: list[str],
    replayed: Sequence[Taken] | None = None,
) -> None:
    """Stop the queries of a case and start them from their checkpoints; the subject is called anew for each.

    With `replayed`, what came out of the last batch, that batch was not committed, and is run again.
    """
    for number, query in enumerate(queries):
        sources = query.stopped(None if replayed is None else replayed[number])
        with _building, pulled(spark, how.under):
            with new_workers(spark.sparkContext) as made:
                inputs = {name: source.df for name, source in zip(case.inputs, sources, strict=True)}
                frames = outputs_of(spark, subject, inputs, case.drawn)
            workers.append(made)
            query.start_again(frames[query.name], sources, index)


def _frames(spark: SparkSession, case: Case, subject: Subject) -> tuple[list[MemorySource], Mapping[str, DataFrame]]:
    sources = {name: _source(spark, name, stream) for name, stream in case.inputs.items()}
    frames = outputs_of(spark, subject, {name: source.df for name, source in sources.items()}, case.drawn)
    return list(sources.values()), frames


def _source(spark: SparkSession, name: str, stream: Stream) -> MemorySource:
    from pyspark.errors import AnalysisException

    try:
        source = MemorySource(spark, _schema(name, stream))
        source.load(stream)
    except AnalysisException as error:  # a type that is switched off in this session
        raise InvalidArgument(f"Spark does not take the schema of the stream {name!r}: {root_cause(error)}") from error
    return source


def _schema(name: str, stream: Stream) -> Any:
    if stream.schema is None:
        raise InvalidArgument(
            f"the stream {name!r} has no schema, which Spark needs: write Stream('user BIGINT', [...]), or make its "
            "records with ss.records(schema)"
        )
    return stream.schema
