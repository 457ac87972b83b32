"""Runs a case into a sink: a function that Spark hands every micro-batch to, as `foreachBatch` does.

Batches are replayed the way Spark replays them: the batch ran, its commit did not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.spark.engines.building import Building
from firesteel.spark.engines.control import changed
from firesteel.spark.engines.loop import outputs_of_batches
from firesteel.spark.engines.query import Query, Taken
from firesteel.spark.engines.recorded import JAVA_TIME
from firesteel.spark.engines.source import MemorySource
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
