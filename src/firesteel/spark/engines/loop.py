"""The run loop: queries are fed batch by batch, and what each batch put out is read.

A case that runs alone and many cases that share queries go through it alike. The next batch is fed before the last
one's output is converted, so that Spark works while Python does; a run that is stopped has gone at most one batch too
far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from firesteel.spark.engines.query import Query, Taken
from firesteel.spark.failures import SubjectFailure
from firesteel.values.batches import Batch
from firesteel.values.traces import Instant, Trace


class Interruptions(Protocol):
    """Where queries are stopped in the middle of a run, and how they are started again."""

    def replays(self, index: int) -> bool:
        """Is a batch run again, as if it had not been committed?"""

    def stops_after(self, index: int) -> bool:
        """Are the queries stopped after a batch?"""

    def start_again(self, queries: Sequence[Query], index: int, replayed: Sequence[Taken] | None = None) -> None:
        """Stop the queries and start them from their checkpoints; `replayed` is what the uncommitted batch put out."""


def outputs_of_batches(
    queries: Sequence[Query],
    length: int,
    *,
    recorded: Sequence[Instant] = (),
    interruptions: Interruptions | None = None,
) -> Iterator[dict[str, Batch]]:
    """Feed the queries all batches, and give what came out of each, by the name of the output.

    `recorded` are the instants so far, which go with the failure of a later batch.
    """
    _feed(queries, 0)
    for index in range(length):
        last = index + 1 == length
        taken = _settled(queries, index, recorded, last=last)
        if interruptions is not None and interruptions.replays(index):
            interruptions.start_again(queries, index, replayed=taken)
            taken = _settled(queries, index, recorded, last=last)
        stops = interruptions is not None and interruptions.stops_after(index)
        if not last and not stops:
            _feed(queries, index + 1)
        yield _outputs(queries, taken, recorded)
        if interruptions is not None and stops and not last:
            # Only now: a query that is stopped no longer says what it knows of its batches.
            interruptions.start_again(queries, index)
            _feed(queries, index + 1)


def _feed(queries: Sequence[Query], index: int) -> None:
    for query in queries:
        query.feed(index)


def _outputs(queries: Sequence[Query], taken: Sequence[Taken], recorded: Sequence[Instant]) -> dict[str, Batch]:
    try:
        return {query.name: query.output(rows) for query, rows in zip(queries, taken, strict=True)}
    except SubjectFailure as failure:
        raise SubjectFailure(str(failure), Trace(recorded)) from failure.__cause__


def _settled(queries: Sequence[Query], index: int, recorded: Sequence[Instant], *, last: bool) -> list[Taken]:
    """What came out of a batch, once Spark has nothing left to do."""
    try:
        for query in queries:
            query.settle(index, recorded, last=last)
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(f"in batch {index}")
        raise
    return [query.take() for query in queries]
