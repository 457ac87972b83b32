"""The queries of one case: built from the subject, one for each output, and started again from their checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.perturb.changes import Stop
from firesteel.spark.engines.query import Query, Taken
from firesteel.spark.engines.source import MemorySource, schema_refusals
from firesteel.spark.engines.subject import Subject, being_built, outputs_of
from firesteel.spark.engines.waiting import crew
from firesteel.spark.perturb.levers import dismissed, new_workers, pulled
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.streams import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Building:
    """Builds the queries of one case, and starts them again where the perturbation of the run says so."""

    def __init__(
        self,
        spark: SparkSession,
        case: Case,
        subject: Subject,
        how: Running,
        stack: ExitStack,
        query: Callable[..., Query] = Query,
    ) -> None:
        self._query = query
        self._spark, self._case, self._subject, self._how, self._stack = spark, case, subject, how, stack
        self._workers: list[str] = []
        stack.callback(dismissed, spark.sparkContext, self._workers)

    def queries(self, *, kept: bool) -> list[Query]:
        """The running queries, one for every output of the subject; output that is `kept` stays in Spark."""
        # Spark's memory sink does not go on from a checkpoint, so what a query puts out before a stop has to be kept.
        kept = kept or bool(self._how.under.stops)
        with _one_at_a_time(), pulled(self._spark, self._how.under), being_built(self._subject, self._case.drawn):
            sources, frames = self._frames()
            if self._how.over is not None:
                self._how.over.check_names(self._case.inputs, frames)
            queries: list[Query] = []
            for name in frames:
                if queries:
                    # A MemoryStream serves one query: the next output gets sources, and a run of the subject, of its
                    # own.
                    sources, frames = self._frames()
                mode = self._how.mode_of(name)
                queries.append(self._query(self._spark, name, frames[name], sources, mode, self._how, kept))
                self._stack.enter_context(queries[-1].running(self._stack))
        return queries

    def replays(self, index: int) -> bool:
        return Stop(index, committed=False) in self._how.under.stops

    def stops_after(self, index: int) -> bool:
        return Stop(index, committed=True) in self._how.under.stops

    def start_again(self, queries: Sequence[Query], index: int, replayed: Sequence[Taken] | None = None) -> None:
        """Stop the queries and start them from their checkpoints; the subject is called anew for each.

        `replayed` is the output of the last batch. If it is given, that batch counts as not committed and is run again.
        """
        for number, query in enumerate(queries):
            sources = query.stopped(None if replayed is None else replayed[number])
            with _one_at_a_time(), pulled(self._spark, self._how.under):
                with new_workers(self._spark.sparkContext) as made:
                    frames = self._outputs(dict(zip(self._case.inputs, sources, strict=True)))
                self._workers.append(made)
                query.start_again(frames[query.name], sources, index)

    def _frames(self) -> tuple[list[MemorySource], Mapping[str, DataFrame]]:
        """New sources for every input, and what the subject makes of them."""
        sources = {name: _source(self._spark, name, stream) for name, stream in self._case.inputs.items()}
        return list(sources.values()), self._outputs(sources)

    def _outputs(self, sources: Mapping[str, MemorySource]) -> Mapping[str, DataFrame]:
        inputs = {name: source.df for name, source in sources.items()}
        outputs = outputs_of(self._spark, self._subject, inputs, self._case.drawn)
        self._how.refuse_unknown_modes(outputs)
        return outputs


def _one_at_a_time() -> AbstractContextManager[object]:
    """Held while a case is built, where others are being run at the same time.

    It is a lock among these alone. Subjects may call `fs.run` themselves, also from threads that Spark calls them in.
    """
    mine = crew()
    return nullcontext() if mine is None else mine.building


def _source(spark: SparkSession, name: str, stream: Stream) -> MemorySource:
    with schema_refusals(name):
        source = MemorySource(spark, schema_of(name, stream))
        source.load(stream)
    return source


def schema_of(name: str, stream: Stream) -> Any:
    """The schema of a stream, which Spark needs."""
    if stream.schema is None:
        raise InvalidArgument(
            f"the stream {name!r} has no schema, which Spark needs: write Stream('user BIGINT', [...]), or make its "
            "records with ss.records(schema)"
        )
    return stream.schema
