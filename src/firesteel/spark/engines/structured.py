"""Runs a case on Structured Streaming and records its trace.

Instant k holds input batch k and everything Spark put out until it was idle. That includes what came out of the
micro-batches without data that Spark runs after a watermark moved. Outputs are told apart by Spark's own batch ids,
never by counting. Where the subject has a watermark, the last instant also holds what comes out when event time ends.
With `over`, the instants are windows of event time instead, cut from what was recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument
from firesteel.spark.engines.building import Building
from firesteel.spark.engines.control import changed
from firesteel.spark.engines.engine import Engine, Watcher
from firesteel.spark.engines.loop import outputs_of_batches
from firesteel.spark.engines.query import Query, TooLarge
from firesteel.spark.engines.recorded import JAVA_TIME
from firesteel.spark.engines.subject import Subject
from firesteel.spark.running import Running
from firesteel.values.batches import Batch, together
from firesteel.values.cases import Case
from firesteel.values.traces import Instant, Trace, up_to

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def exercise(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher) -> Trace:
    """Run a case and record its trace, until the watcher stops it.

    Nothing of the case stays in Spark afterwards: queries, views, checkpoints and threads are cleaned up, also when it
    fails.
    """
    kept = any(len(batch) > how.large for stream in case.inputs.values() for batch in stream)
    watcher = _once(watcher)
    try:
        return _instants_or_windows(spark, case, subject, how, watcher, kept)
    except TooLarge:
        # This was found out too late: the case is run again, with output that never comes to the driver.
        return _instants_or_windows(spark, case, subject, how, watcher, kept=True)


def _once(watcher: Watcher) -> Watcher:
    """The watcher, which does not see an instant again when the case is run again."""
    seen = 0

    def watch(instant: Instant) -> bool:
        nonlocal seen
        if instant.index < seen:
            return False
        seen = instant.index + 1
        return watcher(instant)

    return watch


def _instants_or_windows(
    spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher, kept: bool
) -> Trace:
    if how.over is None:
        return _recorded(spark, case, subject, how, watcher, kept)
    for name, stream in case.inputs.items():
        how.over.check_input(name, stream.schema)
    how.over.spans(case.inputs)  # refuses what cannot be cut, before Spark runs
    whole = how.over.cut(_recorded(spark, case, subject, how, lambda instant: False, kept), case)
    return up_to(whole, watcher)


def _recorded(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher, kept: bool) -> Trace:
    instants: list[Instant] = []
    with ExitStack() as stack:
        stack.enter_context(changed(spark, JAVA_TIME))
        building = Building(spark, case, subject, how, stack)
        queries = building.queries(kept=kept)
        batches = outputs_of_batches(queries, case.length, recorded=instants, interruptions=building)
        for index, outputs in enumerate(batches):
            if how.state and not any(query.keeps_state for query in queries):
                raise InvalidArgument("state=True, but the subject keeps no state: there is nothing to look at")
            instant = _instant(case, index, outputs, queries)
            instants.append(instant.after(instants[-1] if instants else None))
            if watcher(instants[-1]):
                break
    return Trace(instants)


def _instant(case: Case, index: int, outputs: Mapping[str, Batch], queries: Sequence[Query]) -> Instant:
    watermarks = [query.watermark for query in queries if query.watermark is not None]
    states = [query.state for query in queries if query.state is not None]
    return Instant(
        index,
        case.batches_at(index),
        outputs,
        time=queries[0].time(index),
        recorded_watermark=min(watermarks, default=None),
        recorded_dropped=sum(query.dropped for query in queries),
        recorded_state=together(states) if states else None,
        drawn=case.drawn,
    )


ENGINE = Engine("structured", exercise, bulk=True, parallel=True)
