"""Runs a case into a sink: a function that Spark hands every micro-batch to, as `foreachBatch` does.

Batches are replayed the way Spark replays them: the batch ran, its commit did not. `call_sink` does without a query: it
calls the function itself, with DataFrames of the same rows, which takes a tenth of the time. That only screens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.perturb.changes import Stop
from firesteel.spark.engines.building import Building, schema_of
from firesteel.spark.engines.control import changed
from firesteel.spark.engines.loop import outputs_of_batches
from firesteel.spark.engines.query import Query, Taken
from firesteel.spark.engines.recorded import JAVA_TIME
from firesteel.spark.engines.source import BatchFrames, MemorySource
from firesteel.spark.engines.waiting import Stopped, Worker, outcome
from firesteel.spark.failures import raised_inside, took_too_long
from firesteel.spark.jobs import cancel, tagged
from firesteel.spark.perturb.levers import pulled
from firesteel.spark.running import Running
from firesteel.values.batches import Batch, make_batch
from firesteel.values.cases import Case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Write: TypeAlias = Callable[["DataFrame", int], None]


def exercise_sink(spark: SparkSession, case: Case, write: Write, how: Running) -> None:
    """Feed a case to a sink, batch by batch, with the restarts and replays of `how.under`."""
    with ExitStack() as stack:
        stack.enter_context(changed(spark, JAVA_TIME))
        building = Building(spark, case, _as_it_is, how, stack, partial(_SinkQuery, write))
        queries = building.queries(kept=True)
        for _ in outputs_of_batches(queries, case.length, interruptions=building):
            pass


def can_be_called(how: Running) -> bool:
    """Can `call_sink` run cases so? A query that is stopped after a commit, and started again, needs a query."""
    return not any(stop.committed for stop in how.under.stops)


def call_sink(spark: SparkSession, case: Case, write: Write, how: Running) -> None:
    """Call a sink with the batches of a case, without a query; a batch that is replayed comes again with its id."""
    worker, calls = Worker(), _Calls(spark, case, write, how)
    try:
        outcome(worker.submit(calls.run), how.seconds)
    except TimeoutError:
        calls.end()
        raise took_too_long("a call of the sink", how.seconds) from None
    except Exception as error:
        raise raised_inside(error) from error
    finally:
        worker.close()


class _Calls:
    """Calls a sink, in a thread that may be given up."""

    def __init__(self, spark: SparkSession, case: Case, write: Write, how: Running) -> None:
        self._spark, self._case, self._write, self._how = spark, case, write, how
        self._tag: str | None = None
        self._ended = False

    def run(self) -> None:
        ((name, stream),) = self._case.inputs.items()
        frames = BatchFrames(self._spark, stream, schema_of(name, stream))
        with changed(self._spark, JAVA_TIME):
            own = _as_in_a_query(self._spark)
        with tagged(own.sparkContext) as self._tag, pulled(own, self._how.under):
            for batch_id in range(self._case.length):
                for _ in range(2 if Stop(batch_id, committed=False) in self._how.under.stops else 1):
                    if self._ended:
                        raise Stopped
                    self._write(frames.frame(batch_id, own), batch_id)

    def end(self) -> None:
        self._ended = True
        if self._tag is not None:
            cancel(self._spark.sparkContext, self._tag)


def _as_in_a_query(spark: SparkSession) -> SparkSession:
    """A session such as a query has, with settings and views of its own; it is this thread's session."""
    from pyspark.sql import SparkSession

    java: Any = spark._jsparkSession.cloneSession()
    jvm: Any = spark._jvm
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(java)
    return SparkSession(spark.sparkContext, java)


def writing_rows(writer: Any) -> Write:
    """A `foreach` writer as such a function: it is called in the workers, for each partition, as Spark calls it."""

    def write(frame: DataFrame, batch_id: int) -> None:
        from pyspark import TaskContext

        def partition(rows: Any) -> None:
            context = TaskContext.get()
            number = 0 if context is None else context.partitionId()
            opened = writer.open(number, batch_id) if hasattr(writer, "open") else True
            error: Exception | None = None
            try:
                for row in rows if opened else ():
                    writer.process(row)
            except Exception as raised:
                error = raised
                raise
            finally:
                if hasattr(writer, "close"):
                    writer.close(error)

        frame.foreachPartition(partition)

    return write


def _as_it_is(frame: DataFrame) -> DataFrame:
    return frame


class _SinkQuery(Query):
    """A query whose batches go to the user's sink; nothing of them is read here."""

    def __init__(
        self,
        write: Write,
        spark: SparkSession,
        name: str,
        frame: DataFrame,
        sources: Sequence[MemorySource],
        mode: str,
        how: Running,
        kept: bool,
    ) -> None:
        super().__init__(spark, name, frame, sources, mode, how, kept)
        self._write = write

    def _keep(self, frame: DataFrame, batch_id: int) -> None:
        self._write(frame, batch_id)
        assert self._kept is not None
        self._kept.append((batch_id, frame))

    def output(self, taken: Taken) -> Batch:
        return make_batch((), None)
