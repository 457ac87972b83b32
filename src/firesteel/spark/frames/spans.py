"""Spans of event time in a large batch: what an executor does with the records of a partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from firesteel.values.batches import Batch, make_batch
from firesteel.values.event_time import Span
from firesteel.values.records import Record

if TYPE_CHECKING:
    from pyspark.sql import Column

CHUNK = 50_000
"""How many records an executor holds at a time."""


def count_within(
    column: str, spans: Sequence[Span]
) -> Callable[[Iterator[Record]], Iterator[tuple[Counter[int], int]]]:
    """A function that counts the records in each span, by the span's index, and the records outside all spans."""

    def counted(records: Iterator[Record]) -> Iterator[tuple[Counter[int], int]]:
        for chunk in _chunks(records):
            parts, rest = chunk.within(column, spans)
            yield Counter({index: len(part) for index, part in enumerate(parts) if part}), len(rest)

    return counted


def choose_within(
    column: str, spans: Sequence[Span], *, inside: bool
) -> Callable[[Iterator[Record]], Iterator[Record]]:
    """A function that chooses the records that lie in some span, or those outside all spans, in their order."""

    def chosen(records: Iterator[Record]) -> Iterator[Record]:
        for chunk in _chunks(records):
            _, rest = chunk.within(column, spans)
            outside = set(map(id, rest))
            yield from (record for record in chunk if (id(record) not in outside) == inside)

    return chosen


def between(column: Column, kind: str, span: Span) -> Column:
    """Does a column of this type lie in a span?"""
    start, end = (_literal(edge, kind) for edge in span)
    return (column >= start) & (column < end)


def _literal(moment: datetime, kind: str) -> Column:
    """A literal of Spark that means the same moment in every time zone, as PySpark's own does not."""
    from pyspark.sql import functions as F

    if kind == "timestamp_ntz":
        return F.lit(moment.astimezone(UTC).replace(tzinfo=None).isoformat()).cast(kind)
    return F.timestamp_micros(F.lit((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)))


def _chunks(records: Iterator[Record]) -> Iterator[Batch]:
    while chunk := tuple(islice(records, CHUNK)):
        yield make_batch(chunk, None)
