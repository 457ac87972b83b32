"""Event time: spans of it, the moments of records, and which records lie in which span."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.values.schemas.conform import in_utc

if TYPE_CHECKING:
    from firesteel.values.batches import Batch

Span: TypeAlias = tuple[datetime, datetime]
"""From the first moment, up to but not including the second."""


def common_span(spans: Iterable[Span | None]) -> Span | None:
    """The event time that several streams cover together; None where none of them says.

    >>> common_span([(datetime(2030, 1, 1), datetime(2030, 1, 3)), None, (datetime(2030, 1, 2), datetime(2030, 1, 4))])
    (datetime.datetime(2030, 1, 1, 0, 0), datetime.datetime(2030, 1, 4, 0, 0))
    """
    known = [span for span in spans if span is not None]
    return (min(start for start, _ in known), max(end for _, end in known)) if known else None


def moments(batch: Batch, column: str) -> list[datetime | None]:
    """The event times of a batch's records, aware and in UTC; one without a zone is taken to be in UTC.

    >>> from firesteel import Batch, Record
    >>> moments(Batch([Record(at=datetime(2030, 1, 1)), Record(at=None)]), "at")
    [datetime.datetime(2030, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), None]
    """
    try:  # past Record.__getitem__, which costs more than everything else here
        found = [record.__dict__[column] for record in batch.records]
    except (AttributeError, KeyError):
        found = batch.values(column)
    return [moment if moment is None or moment.tzinfo is UTC else in_utc(moment) for moment in found]


def divided(
    records: Sequence[Any], times: Sequence[datetime | None], spans: Sequence[Span]
) -> tuple[list[list[Any]], list[Any]]:
    """The records that lie in each span, by their times, and those that lie in none.

    The spans are in order: each starts, and ends, no earlier than the one before it. They may overlap, and then a
    record may lie in several.
    """
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    parts: list[list[Any]] = [[] for _ in spans]
    rest: list[Any] = []
    for record, moment in zip(records, times, strict=True):
        if moment is None:
            rest.append(record)
            continue
        begun = place = bisect_right(starts, moment)
        while place and moment < ends[place - 1]:
            place -= 1
            parts[place].append(record)
        if place == begun:
            rest.append(record)
    return parts, rest
