"""Time under control: a streaming query's clock, its watermark, and what it does when there is no data.

Spark has no interface for any of this. A query's clock is a field of its execution, which is replaced before the first
batch. The end of event time is written into the tracker that Spark takes the next watermark from, without any input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from firesteel.spark.failures import SubjectFailure
from firesteel.spark.jvm import field_of
from firesteel.spark.plans.reader import analysed
from firesteel.spark.plans.tree import Node
from firesteel.values.durations import START

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A hundred years: past every window, session, join bound and timer.
_FAR = int(timedelta(days=100 * 365).total_seconds() * 1000)

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
# Spark writes the watermark into the code that it generates, and so compiles that again for every micro-batch. For few
# records it is quicker without generated code.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
_FEW = 10_000


class Traits:
    """What the plan of a subject says about how its query has to be driven."""

    def __init__(self, frame: DataFrame) -> None:
        nodes = list(analysed(frame).walk())
        kinds = {node.kind for node in nodes}
        self.event_time = "EventTimeWatermark" in kinds
        self.in_python = "TransformWithStateInPySpark" in kinds
        self.processors = self.in_python or "TransformWithState" in kinds
        # Spark runs batch after batch for these, because a timer may be due: it is never idle.
        self.restless = any(_waits_for_the_clock(node) for node in nodes)
        # If Spark runs no batches without data, the runner has to trigger them.
        self.driven = self.restless or frame.sparkSession.conf.get(_NO_DATA) == "false"


# The nodes that call a user's function when time has passed: the argument that says which time, and for each of its
# values whether that is processing time.
_TIMEOUTS = {"NoTimeout": False, "EventTimeTimeout": False, "ProcessingTimeTimeout": True}
_TIME_MODES = {"NoTime": False, "EventTime": False, "ProcessingTime": True}
_TIMED = {
    "FlatMapGroupsInPandasWithState": ("timeout", _TIMEOUTS),
    "FlatMapGroupsWithState": ("timeout", _TIMEOUTS),
    "TransformWithState": ("timeMode", _TIME_MODES),
    "TransformWithStateInPySpark": ("timeMode", _TIME_MODES),
}


def _waits_for_the_clock(node: Node) -> bool:
    if node.kind not in _TIMED:
        return False
    name, known = _TIMED[node.kind]
    told = node.argument(name)
    if told not in known:
        raise SubjectFailure(f"this version of Spark has a {name} that firesteel does not know: {told}")
    return known[str(told)]


@contextmanager
def settings_for(spark: SparkSession, traits: Traits, records: int) -> Iterator[None]:
    """The session's settings that a query over some number of records needs when it starts; it keeps a copy."""
    wanted = dict(INTERPRETED) if traits.event_time and records <= _FEW else {}
    if traits.restless:
        wanted[_NO_DATA] = "false"  # batches without data run when the runner says so
    if traits.processors and "RocksDB" not in str(spark.conf.get(_PROVIDER)):
        wanted[_PROVIDER] = _ROCKSDB  # the only store that transformWithState works with
    if traits.processors and traits.in_python:
        _require_protobuf()
    with changed(spark, wanted):
        yield


@contextmanager
def changed(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of the session, changed for a while."""
    is_set = spark._jsparkSession.sessionState().conf().contains
    before = {name: str(spark.conf.get(name)) if is_set(name) else None for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def _require_protobuf() -> None:
    from importlib.util import find_spec

    # PySpark does not depend on it, and its workers die without a message if it is missing.
    if find_spec("google") is None or find_spec("google.protobuf") is None:
        raise SubjectFailure(
            "the subject uses transformWithState, for which PySpark needs the package protobuf: pip install protobuf"
        )


class Control:
    """The time of one running query."""

    def __init__(self, spark: SparkSession, execution: Any, traits: Traits, interval: timedelta) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._execution, self._traits, self._interval = execution, traits, interval
        self._clock = jvm.org.apache.spark.util.ManualClock(_millis(START))
        _give_clock(execution, self._clock)

    def at(self, index: int) -> datetime:
        """The processing time of a batch."""
        return START + index * self._interval

    def advance_to(self, index: int) -> None:
        """Make it the time of a batch: call it while the query is idle."""
        self._clock.setTime(_millis(self.at(index)))

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """Feed several sources, or partitions, so that the query sees all of it in one batch."""
        lock = self._execution.awaitProgressLock()  # the query holds it while it looks for new data
        lock.lock()
        try:
            yield
        finally:
            lock.unlock()

    @property
    def watermark(self) -> int:
        """The watermark that the next batch will have, in milliseconds."""
        return int(self._execution.watermarkTracker().currentWatermark())

    def end_event_time(self) -> bool:
        """Move the watermark past everything from the batch after the next one on; False where there is none."""
        tracker = self._execution.watermarkTracker()
        ends = _field(tracker, "operatorToWatermarkMap").get(tracker)
        as_java = self._jvm.scala.jdk.javaapi.CollectionConverters.asJava
        found: dict[Any, Any] = dict(as_java(ends))
        far = max([self.watermark, *map(_value, found.values())]) + _FAR
        for operator, end in found.items():
            ends.update(operator, self._jvm.scala.Option.apply(far) if _is_option(end) else far)
        return bool(found)


def _value(end: Any) -> int:
    """The watermark of one operator: an Option from Spark 4.1 on, a number before."""
    if not _is_option(end):
        return int(end)
    return int(end.get()) if end.isDefined() else 0


def _is_option(end: Any) -> bool:
    return not isinstance(end, int)


def _millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _give_clock(execution: Any, clock: Any) -> None:
    _field(execution, "triggerClock").set(execution, clock)


def _field(thing: Any, name: str) -> Any:
    try:
        return field_of(thing, name)
    except LookupError as error:
        raise SubjectFailure(
            f"this version of Spark keeps time in a way that firesteel does not know ({error}): processing time and "
            "the end of event time cannot be controlled with it"
        ) from None
