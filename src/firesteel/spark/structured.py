"""Runs cases on Structured Streaming and records their traces: the one place that starts streaming queries.

Instant k holds input batch k and everything Spark put out until it was idle, the extra micro-batches without data that
it runs after a watermark moved included. Outputs are told apart by Spark's own batch ids, never by counting.

The next batch is fed before the last one's output is converted, so that Spark works while Python does; a case that is
decided has then run at most one batch too far.
"""

from __future__ import annotations

import inspect
import itertools
import json
import logging
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.names import name_of
from firesteel.spark.failures import SubjectFailure, refused_mode, root_cause
from firesteel.spark.large import keep, large_batch
from firesteel.spark.recorded import Reader
from firesteel.spark.source import MemorySource
from firesteel.streams import Batch, Instant, Stream, Trace, make_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Subject: TypeAlias = Callable[..., Any]
Watcher: TypeAlias = Callable[[Instant], bool]
"""Sees each instant as it comes; True stops the case: nothing later matters."""

_numbers = itertools.count()
_NO_WATERMARK = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_PROGRESS_SECONDS = 5.0


@dataclass(frozen=True)
class Case:
    """One generated input: a stream for every input of the subject."""

    inputs: Mapping[str, Stream]

    @property
    def length(self) -> int:
        """The number of instants: shorter inputs are padded with empty batches."""
        return max((len(stream) for stream in self.inputs.values()), default=0)


@dataclass(frozen=True)
class Running:
    """How cases are run."""

    output_mode: str | Mapping[str, str] = "append"
    large: int = 10_000
    """A batch of more records than this stays a Spark DataFrame."""
    seconds: float = 120.0
    """A micro-batch that takes longer than this hangs."""


def exercise(
    spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running, watchers: Sequence[Watcher]
) -> list[Trace]:
    """Run cases and record their traces, each as far as its watcher lets it go.

    What a trace holds is gone from Spark afterwards: queries, views, checkpoints and threads are cleaned up after
    every case, also when it fails.
    """
    traces = []
    for case, watcher in zip(cases, watchers, strict=True):
        kept = any(len(b) > how.large for stream in case.inputs.values() for b in stream)
        try:
            traces.append(_alone(spark, case, subject, how, watcher, kept))
        except _TooLarge as found:
            # Found out too late: from the start, then, with output that never comes to the driver.
            traces.append(_alone(spark, case, subject, how, _resumed(watcher, found.judged), kept=True))
    return traces


def _resumed(watcher: Watcher, judged: int) -> Watcher:
    """The watcher, from where it stopped: it must not see an instant twice."""
    return lambda instant: instant.index >= judged and watcher(instant)


class _TooLarge(Exception):
    """An output that was collected turned out to be large; `judged` instants before it were fine."""

    judged = 0


def _alone(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher, kept: bool) -> Trace:
    instants: list[Instant] = []
    with ExitStack() as stack:
        stack.enter_context(_exact_dates(spark))
        queries = _built(spark, case, subject, how, stack, kept)
        for query in queries:
            query.feed(0)
        for index in range(case.length):
            for query in queries:
                query.settle(how.seconds, index, instants)
            taken = [query.take() for query in queries]
            if index + 1 < case.length:
                for query in queries:
                    query.feed(index + 1)
            try:
                outputs = {query.name: query.output(rows) for query, rows in zip(queries, taken, strict=True)}
            except _TooLarge as found:
                found.judged = index
                raise
            instants.append(_instant(case, index, outputs, queries, instants))
            if watcher(instants[-1]):
                break
    return Trace(instants)


@contextmanager
def _exact_dates(spark: SparkSession) -> Iterator[None]:
    """Rows with java.time values: those of java.sql live in another calendar before 1582."""
    name = "spark.sql.datetime.java8API.enabled"
    before = spark.conf.get(name)
    spark.conf.set(name, "true")
    try:
        yield
    finally:
        spark.conf.set(name, str(before))


def _instant(
    case: Case, index: int, outputs: Mapping[str, Batch], queries: Sequence[_Query], before: Sequence[Instant]
) -> Instant:
    watermarks = [query.watermark for query in queries if query.watermark is not None]
    return Instant(
        index,
        {name: _batch_at(stream, index) for name, stream in case.inputs.items()},
        outputs,
        watermark=min(watermarks, default=None),
        dropped=sum(query.dropped for query in queries),
        previous=before[-1] if before else None,
    )


def _batch_at(stream: Stream, index: int) -> Batch:
    return stream[index] if index < len(stream) else make_batch((), stream.schema)


# --- building --------------------------------------------------------------------------------------


def _built(
    spark: SparkSession, case: Case, subject: Subject, how: Running, stack: ExitStack, kept: bool
) -> list[_Query]:
    """The running queries of a case, one for every output of the subject."""
    sources, frames = _frames(spark, case, subject)
    queries = []
    for number, name in enumerate(frames):
        if number:
            # A MemoryStream serves one query: the next output gets sources, and a run of the subject, of its own.
            sources, frames = _frames(spark, case, subject)
        mode = how.output_mode if isinstance(how.output_mode, str) else how.output_mode.get(name, "append")
        queries.append(_Query(spark, name, frames[name], sources, mode, how, kept))
        stack.enter_context(queries[-1].running(stack))
    return queries


def _frames(spark: SparkSession, case: Case, subject: Subject) -> tuple[list[MemorySource], Mapping[str, DataFrame]]:
    sources = {name: _source(spark, name, stream) for name, stream in case.inputs.items()}
    frames = _called(subject, {name: source.df for name, source in sources.items()})
    return list(sources.values()), _outputs(spark, subject, frames)


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


def _called(subject: Subject, frames: Mapping[str, DataFrame]) -> Any:
    """What the subject makes of its inputs: one is handed over by position, several by name."""
    if not callable(subject):
        raise InvalidArgument(f"{described('subject', subject)} is no function of DataFrames")
    by_name = {} if list(frames) == ["input"] else dict(frames)
    by_place = () if by_name else tuple(frames.values())
    try:
        inspect.signature(subject).bind(*by_place, **by_name)
    except TypeError as error:
        takes = ", ".join(inspect.signature(subject).parameters)
        raise InvalidArgument(
            f"the subject {name_of(subject)}({takes}) cannot take the streams {', '.join(map(repr, frames))}: {error}. "
            "One stream is handed over by position; a dict of streams by name"
        ) from None
    except ValueError:
        pass  # a builtin without a signature: let it be called
    try:
        with _quiet():
            return subject(*by_place, **by_name)
    except Exception as error:
        raise SubjectFailure(
            f"the subject {name_of(subject)} raised {type(error).__name__} when it was built: {root_cause(error)}"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """PySpark logs the whole stack of an analysis error that is about to be raised; it is kept as the cause anyway."""
    logger = logging.getLogger("DataFrameQueryContextLogger")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _outputs(spark: SparkSession, subject: Subject, made: Any) -> Mapping[str, DataFrame]:
    from pyspark.sql import DataFrame

    frames = dict(made) if isinstance(made, Mapping) else {"output": made}
    where = f"the subject {name_of(subject)}"
    if not frames:
        raise SubjectFailure(f"{where} returned no output: return a DataFrame, or a dict of them by name")
    for name, frame in frames.items():
        what = "returned" if name == "output" and not isinstance(made, Mapping) else f"returned, as {name!r},"
        if not isinstance(frame, DataFrame):
            raise SubjectFailure(f"{where} {what} {described('value', frame)}: return a DataFrame, or a dict of them")
        if not frame.sparkSession._jsparkSession.equals(spark._jsparkSession):
            raise SubjectFailure(
                f"{where} {what} a DataFrame of another Spark session: build it from the DataFrames that it is given"
            )
        if not frame.isStreaming:
            raise SubjectFailure(
                f"{where} {what} a batch DataFrame, which no stream flows through: build it from the DataFrames that "
                "it is given"
            )
    return frames


# --- one query -------------------------------------------------------------------------------------


class _Query:
    """One streaming query with its sources and what it has put out: the state of a run."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        frame: DataFrame,
        sources: Sequence[MemorySource],
        mode: str,
        how: Running,
        kept: bool,
    ) -> None:
        self.name = name
        self.mode = mode
        self.watermark: datetime | None = None
        self.dropped = 0
        self._spark, self._frame, self._sources, self._how = spark, frame, sources, how
        self._reader = Reader(spark, frame.schema)
        self._has_event_time = "EventTimeWatermark" in frame._jdf.queryExecution().analyzed().toString()
        self._kept: list[tuple[int, DataFrame]] | None = [] if kept else None
        self._seen = -1
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="firesteel")

    @contextmanager
    def running(self, stack: ExitStack) -> Iterator[None]:
        view = f"firesteel_{next(_numbers)}"
        checkpoint = _checkpoint(self._spark)
        stack.callback(_removed, self._spark, checkpoint)
        writer = self._frame.writeStream.outputMode(self.mode).option("checkpointLocation", checkpoint)
        if self._kept is None:
            writer = writer.format("memory").queryName(view)
        else:
            writer = writer.foreachBatch(self._keep)
        try:
            self._query = writer.start()
        except Exception as error:
            raise refused_mode(error, self.mode, self.name) from error
        try:
            if self._kept is None:
                self._sink = self._query._jsq.streamingQuery().sink()
            yield
        finally:
            with suppress(Exception):  # a query that failed says so again when it is stopped
                self._query.stop()
            self._spark.catalog.dropTempView(view)
            self._thread.shutdown(wait=False, cancel_futures=True)

    def feed(self, index: int) -> None:
        for source in self._sources:
            source.feed(index)

    def settle(self, seconds: float, index: int, instants: Sequence[Instant]) -> None:
        """Wait until Spark has done everything that it can do with what it was fed."""
        try:
            self._thread.submit(self._query.processAllAvailable).result(timeout=seconds)
        except FutureTimeout:
            raise SubjectFailure(
                f"batch {index} took longer than {seconds:g} s: the subject hangs, or needs more time (seconds=...)",
                Trace(instants),
            ) from None
        except Exception as error:
            raise SubjectFailure(
                f"the subject raised inside Spark in batch {index}: {root_cause(error)}", Trace(instants)
            ) from error

    def take(self) -> _Taken:
        """What came out since the last time: a handle, quick to get and not changed by later batches."""
        first = self._seen + 1
        rows: Any
        if self._kept is not None:
            rows, self._kept = self._kept, []
            self._seen = max((batch_id for batch_id, _ in rows), default=self._seen)
        else:
            rows = self._sink.dataSinceBatch(self._seen)
            latest = self._sink.latestBatchId()
            self._seen = latest.get() if latest.isDefined() else self._seen
        return _Taken(range(first, self._seen + 1), rows)

    def output(self, taken: _Taken) -> Batch:
        """The batch behind a handle; the watermark and the late records of its micro-batches are known from then on."""
        if self._has_event_time:
            self._read_progress(taken.batch_ids)
        if self._kept is None:
            if taken.rows.size() > self._how.large:
                raise _TooLarge
            return self._reader.batch(taken.rows)
        # In complete mode every micro-batch puts out the whole table anew: the last one is the answer.
        frames = [frame for _, frame in (taken.rows[-1:] if self.mode == "complete" else taken.rows)]
        return large_batch(frames, self._reader, self._how.large)

    def _keep(self, frame: DataFrame, batch_id: int) -> None:
        assert self._kept is not None
        self._kept.append((batch_id, keep(frame)))

    def _read_progress(self, batch_ids: range) -> None:
        """The watermark that was in force while the data batch ran, and the records dropped as late."""
        progress = self._progress(batch_ids)
        first = min(progress, default=None)
        if first is not None:
            at = datetime.fromisoformat(progress[first]["eventTime"].get("watermark", _NO_WATERMARK.isoformat()))
            self.watermark = at if at > _NO_WATERMARK else None
        self.dropped = sum(
            operator["numRowsDroppedByWatermark"] for p in progress.values() for operator in p["stateOperators"]
        )

    def _progress(self, batch_ids: range) -> dict[int, dict[str, Any]]:
        """Spark's own account of some micro-batches; it may come a moment after the batch is done."""
        found: dict[int, dict[str, Any]] = {}
        give_up = time.monotonic() + _PROGRESS_SECONDS
        while not set(batch_ids) <= set(found) and time.monotonic() < give_up:
            for event in reversed(list(self._query._jsq.recentProgress())):
                if event.batchId() < batch_ids.start:
                    break
                if event.batchId() in batch_ids and event.batchId() not in found:
                    found[event.batchId()] = json.loads(event.json())
        return found


@dataclass(frozen=True)
class _Taken:
    """Output that was taken but not looked at yet, and the ids of the micro-batches that made it."""

    batch_ids: range
    rows: Any


def _checkpoint(spark: SparkSession) -> str:
    """A folder not there yet: below the session's own checkpoint location where it has one, as on a cluster."""
    base = spark.conf.get("spark.sql.streaming.checkpointLocation", None) or tempfile.gettempdir()
    return f"{base.rstrip('/')}/firesteel-{uuid.uuid4()}"


def _removed(spark: SparkSession, folder: str) -> None:
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)
