"""One streaming query: it is started, fed batch by batch on a clock of its own, and read by Spark's batch ids."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from firesteel.spark.engines.control import Control, Traits, settings_for
from firesteel.spark.engines.recorded import Reader
from firesteel.spark.engines.source import MemorySource
from firesteel.spark.engines.state import StateReader
from firesteel.spark.engines.waiting import STOP_SECONDS, Stopped, Worker, is_done, outcome
from firesteel.spark.failures import SubjectFailure, goes_on, raised_inside, refused_mode, took_too_long
from firesteel.spark.frames.large import keep, large_batch
from firesteel.spark.jobs import cancel, tagged
from firesteel.spark.running import Running
from firesteel.spark.session import checkpoints
from firesteel.values.batches import Batch
from firesteel.values.traces import Instant

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_numbers = itertools.count()
_NO_WATERMARK = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_PROGRESS_SECONDS = 30.0
_LOOK_SECONDS = 0.002


class TooLarge(Exception):
    """An output that was collected turned out to be large."""


class Query:
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
        self.state: Batch | None = None
        self._spark, self._frame, self._sources, self._how = spark, frame, sources, how
        self._reader = Reader(spark, frame.schema)
        self._traits = Traits(frame)
        if how.over is not None:
            how.over.check_output(name, self._reader.schema)
        self._kept: list[tuple[int, DataFrame]] | None = [] if kept else None
        self._seen = -1
        self._worker = Worker()

    @contextmanager
    def running(self, stack: ExitStack) -> Iterator[None]:
        self._view = f"firesteel_{next(_numbers)}"
        self._checkpoint = checkpoints.new_folder(self._spark)
        stack.callback(checkpoints.remove, self._spark, self._checkpoint)
        self._start()
        try:
            self._give_control()
            self._states = StateReader(self._spark, self._checkpoint)
            yield
        except BaseException as error:
            if not self._stop() and isinstance(error, SubjectFailure):
                raise goes_on(self._named, STOP_SECONDS, error) from error.__cause__
            raise
        else:
            if not self._stop():
                raise goes_on(self._named, STOP_SECONDS)
        finally:
            self._worker.close()
            self._spark.catalog.dropTempView(self._view)

    @property
    def _named(self) -> str:
        return f"the query of {self.name!r}"

    def _start(self) -> None:
        writer = self._frame.writeStream.outputMode(self.mode).option("checkpointLocation", self._checkpoint)
        writer = writer.queryName(self._view)
        writer = writer.format("memory") if self._kept is None else writer.foreachBatch(self._keep)
        records = sum(source.size for source in self._sources)
        with settings_for(self._spark, self._traits, records), tagged(self._spark.sparkContext) as self._tag:
            try:
                self._query = writer.start()
            except Exception as error:
                raise refused_mode(error, self.mode, self.name) from error
            except KeyboardInterrupt:
                self._stop_if_started()
                raise

    def _stop_if_started(self) -> None:
        """Stop the query where its start was interrupted."""
        for query in self._spark.streams.active:
            if query.name == self._view:
                self._query = query
                self._stop()

    def _give_control(self) -> None:
        execution = self._query._jsq.streamingQuery()
        self._sink = execution.sink()
        self._control = Control(self._spark, execution, self._traits, self._how.batch_interval)

    def _stop(self) -> bool:
        """Stop the query; False where it does not stop in time. Its jobs are cancelled then, but one of the subject's
        functions may hang on the driver."""
        # Where Spark still works on a batch, another thread has to do it. A query that failed says so again: who cares.
        stopper = Worker() if self._worker.is_busy else self._worker
        stopping = stopper.submit(self._query.stop)
        if stopper is not self._worker:
            stopper.close()
        if not is_done(stopping, STOP_SECONDS):
            cancel(self._spark.sparkContext, self._tag)
        return is_done(stopping, STOP_SECONDS / 2)

    def stopped(self, replayed: Taken | None) -> list[MemorySource]:
        """Stop the query, and give the sources that it can go on with. A batch to be replayed is left uncommitted."""
        if not self._stop():
            raise goes_on(self._named, STOP_SECONDS)
        if replayed is not None:
            self._seen = replayed.batch_ids.start - 1
            self._uncommit(replayed.batch_ids.start)
        return [source.anew(to_last_batch=replayed is not None) for source in self._sources]

    def _uncommit(self, batch_id: int) -> None:
        """Leave the checkpoint as a crash does between a batch's output and its commit."""
        jvm: Any = self._spark._jvm
        for log, first in (("commits", batch_id), ("offsets", batch_id + 1)):
            folder = jvm.org.apache.hadoop.fs.Path(self._checkpoint, log)
            files = folder.getFileSystem(self._spark._jsc.hadoopConfiguration())
            for found in files.listStatus(folder):
                name = found.getPath().getName()
                if name.isdecimal() and int(name) >= first:
                    files.delete(found.getPath(), False)

    def start_again(self, frame: DataFrame, sources: Sequence[MemorySource], index: int) -> None:
        """Start the query from its checkpoint, after the batch or in it."""
        self._frame, self._sources = frame, sources
        self._start()
        self._give_control()
        self._control.advance_to(index)

    @property
    def keeps_state(self) -> bool:
        """Does the subject keep state? This is known once the state was read."""
        return self._states.keeps_any

    def time(self, index: int) -> datetime:
        """The processing time of a batch."""
        return self._control.at(index)

    def feed(self, index: int) -> None:
        """Add a batch to every source, seen by Spark all at once, at the batch's own time."""
        self._control.advance_to(index)
        at_once = len(self._sources) == 1 and self._sources[0].is_fed_at_once(index)
        with nullcontext() if at_once else self._control.unseen():
            for source in self._sources:
                source.feed(index)

    def settle(self, index: int, recorded: Sequence[Instant], *, last: bool) -> None:
        """Wait until Spark has done everything that it can do with what it was fed.

        The instants that were recorded so far go with a failure.
        """
        before = self._control.watermark if self._traits.restless else 0
        self._wait(index, recorded)
        if self._traits.restless and self._control.watermark != before:
            self._feed_nothing()  # event time moved, and Spark runs no batch without data here
            self._wait(index, recorded)
        if last and self._closes() and self._control.end_event_time():
            for _ in range(2 if self._traits.driven else 1):  # one to take the new watermark, one to act on it
                self._feed_nothing()
                self._wait(index, recorded)

    def _closes(self) -> bool:
        # In complete mode Spark always puts out the whole table, and keeps every window.
        return self._how.close and self._traits.event_time and self.mode != "complete"

    def _feed_nothing(self) -> None:
        self._sources[0].feed_nothing()

    def _wait(self, index: int, recorded: Sequence[Instant]) -> None:
        seconds = self._how.seconds
        try:
            outcome(self._worker.submit(self._query.processAllAvailable), seconds)
        except TimeoutError:
            raise took_too_long(f"batch {index}", seconds, recorded) from None
        except Stopped:
            raise
        except Exception as error:
            raise raised_inside(error, f" in batch {index}", recorded) from error

    def take(self) -> Taken:
        """A handle on what came out since the last time: quick to get, and not changed by later batches."""
        first = self._seen + 1
        rows: Any
        if self._kept is not None:
            rows, self._kept = self._kept, []
            self._seen = max((batch_id for batch_id, _ in rows), default=self._seen)
        else:
            rows = self._sink.dataSinceBatch(self._seen)
            latest = self._sink.latestBatchId()
            self._seen = latest.get() if latest.isDefined() else self._seen
        if self._how.state:
            self.state = self._states.after(self._seen)
        return Taken(range(first, self._seen + 1), rows)

    def output(self, taken: Taken) -> Batch:
        """The batch behind a handle. Afterwards the watermark and the late records of its micro-batches are known."""
        if self._traits.event_time:
            self._read_progress(taken.batch_ids)
        if self._kept is None:
            if taken.rows.size() > self._how.large:
                raise TooLarge
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
            if not set(batch_ids) <= set(found):
                time.sleep(_LOOK_SECONDS)
        if not set(batch_ids) <= set(found):
            raise SubjectFailure(f"Spark gave no account of a micro-batch within {_PROGRESS_SECONDS:g} s")
        return found


@dataclass(frozen=True)
class Taken:
    """Output that was taken but not looked at yet, and the ids of the micro-batches that made it."""

    batch_ids: range
    rows: Any
