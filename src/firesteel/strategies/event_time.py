"""Event time: `timed` puts a time into every record of a stream.

Batch k covers the window from `start + k * every` up to before `start + (k + 1) * every`, and its records are spread
over it, each somewhere in a slice of its own: in order, and no two at the same moment. The options make this less tidy:

- `out_of_order="8 minutes"`: bounded disorder. Some records lie up to 8 minutes before where they would be, as with a
  network that delays them. A watermark of 8 minutes or more loses none.
- `late="30 minutes"`: a few records lie further back than that, up to 30 minutes: a watermark of less drops some.
- `close_after="1 hour"`: one more record at the end, an hour after the last window. It moves the watermark on, so that
  a job in append mode emits its last windows.

Nothing lies before `start`. Everything shrinks to the tidy stream, with each record at the start of its slice.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from firesteel.errors import InvalidArgument, described
from firesteel.strategies.arguments import lifted, strategy_of
from firesteel.strategies.combinators import Batches, Streams
from firesteel.strategies.records import Beside, drawn_beside, schema_of, with_schema_of
from firesteel.values.batches import Batch, make_batch, with_schema
from firesteel.values.durations import START, duration
from firesteel.values.records import Record, make_records
from firesteel.values.schemas import type_ddl
from firesteel.values.streams import Stream, make_stream

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

# Times that are not drawn beside their records are drawn one by one if there are at most this many, and taken from one
# seed if there are more: Hypothesis's budget of choices is finite.
_ONE_BY_ONE = 250

# Moments are whole microseconds after `start`, and lengths whole microseconds, which is what Spark's timestamps hold.
_MICROSECOND = timedelta(microseconds=1)
_SECOND, _MINUTE = 1_000_000, 60_000_000
_UNITS = (_SECOND, 1_000, 1)

# What is drawn for a record is a number below this, which says how far into its slice the record lies. If records may
# be moved, another number says how far back, and a kind says whether.
_NUMBERS = 2**24
# Of 256 kinds, the first 150 leave a record where it is; with `late`, the last 40 make it late.
_KINDS, _MOVED, _LATE = 256, 150, 216
# Bugs are at edges: one number in nine picks the last moment of a window, or the longest way back. These are always the
# same numbers, so that shrinking may change everything around them.
_EDGE = _NUMBERS * 8 // 9

Ticket: TypeAlias = tuple[int, ...]


def _ticket(drawn: bytes) -> Ticket:
    return tuple(int.from_bytes(part, "big") for part in (drawn[-3:], drawn[:-3]))


# Drawn as bytes, because all of them are equally likely, while Hypothesis prefers small integers. Drawn in one choice,
# because a record that takes fewer choices is shrunk sooner.
_tidy: SearchStrategy[Ticket] = st.binary(min_size=3, max_size=3).map(_ticket)
_messy: SearchStrategy[Ticket] = st.binary(min_size=7, max_size=7).map(_ticket)
_seeds = st.integers(0, 2**32 - 1)


def timed(
    stream: Batches | Streams,
    *,
    every: str | timedelta,
    column: str,
    start: datetime = START,
    out_of_order: str | timedelta | None = None,
    late: str | timedelta | None = None,
    close_after: str | timedelta | None = None,
) -> Streams:
    """What `stream` draws, with an event time in `column` of every record; batch k covers the k-th `every` of time.

    `column` is a TIMESTAMP or a TIMESTAMP_NTZ (then in UTC); what `stream` has there is replaced, and not even drawn
    where it comes from plain `ss.records`.

    - `out_of_order`: some records lie up to this much before where they would be.
    - `late`: a few records lie further back than that, up to this much.
    - `close_after`: one more batch, a copy of the last record this much after the end, moves the watermark on.

    >>> from hypothesis import find, strategies as st
    >>> from firesteel import strategies as ss
    >>> click = ss.records("user INT NOT NULL, at TIMESTAMP NOT NULL", user=st.integers(0, 9))
    >>> two = ss.always(ss.batches(click, min_size=2, max_size=2), during=2)
    >>> stream = find(ss.timed(two, every="1 hour", column="at", close_after="2 hours"), lambda stream: True)
    >>> [[f"{record.at:%H:%M}" for record in batch] for batch in stream]
    [['00:00', '00:30'], ['01:00', '01:30'], ['04:00']]

    >>> ss.timed(ss.batches(click), every="1 hour", column="user")
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: column='user' (str) is not a timestamp, but INT: name a column of type TIMESTAMP \
or TIMESTAMP_NTZ
    """
    strategy_of(stream, "stream", "a strategy of streams, such as ss.always(ss.batches(...), during=6)")
    if not isinstance(column, str):
        raise InvalidArgument(
            f"{described('column', column)} is not the name of a column: write it as text, such as 'ts'"
        )
    schema = schema_of(stream)
    if schema is not None:
        _is_ntz(schema, column)
    times = _Times(
        start=_in_utc(start),
        every=_length(every, "every"),
        disorder=0 if out_of_order is None else _length(out_of_order, "out_of_order", zero=True),
        late=0 if late is None else _length(late, "late"),
        closing=None if close_after is None else _length(close_after, "close_after", zero=True),
    )
    if late is not None and times.late <= times.disorder:
        raise InvalidArgument(
            f"{described('late', late)} is not more than {described('out_of_order', out_of_order)}: late records lie "
            "further back than those that are only out of order; write a longer duration"
        )
    return with_schema_of(_timed(stream, times, column), [stream])


def _length(value: str | timedelta, argument: str, *, zero: bool = False) -> int:
    return duration(value, argument, zero=zero) // _MICROSECOND


def _in_utc(start: Any) -> datetime:
    """The moment as a plain, aware datetime in UTC, also where it is of a subclass, such as pandas' Timestamp."""
    if not isinstance(start, datetime):
        raise InvalidArgument(
            f"{described('start', start)} is not a moment: write a datetime, such as datetime(2030, 1, 1, tzinfo=UTC)"
        )
    return datetime.combine(start.date(), start.time(), start.tzinfo or UTC).astimezone(UTC)


# --- when records happen -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Times:
    """What was asked for in one call of `timed`: all but `start` in microseconds."""

    start: datetime
    every: int
    disorder: int
    late: int
    closing: int | None

    @property
    def messy(self) -> bool:
        return self.disorder > 0 or self.late > 0

    def of_batch(self, index: int, tickets: Sequence[Ticket]) -> list[int]:
        """When the records of one batch happen, after `start`."""
        window = index * self.every
        places = [window + place for place in _spread(self.every, tickets)]
        return list(map(self._moved, places, tickets)) if self.messy else places

    def _moved(self, at: int, ticket: Ticket) -> int:
        kind, number = divmod(ticket[1], _NUMBERS)
        # No further back than `start`. Early records that have no room to be late may still be out of order.
        if kind >= _LATE and at > self.disorder < self.late:
            return at - _back(self.disorder, min(at, self.late), number)
        if kind >= _MOVED and at and self.disorder:
            return at - _back(0, min(at, self.disorder), number)
        return at

    def end(self, batches: int) -> datetime:
        """The end of the span: after every record, and after the window of the job that holds the closing one."""
        # Whoever closes after an hour has windows of at most an hour. So a window that begins then ends an hour later
        # at the latest.
        length = batches * self.every + (0 if self.closing is None else 2 * self.closing + 1)
        try:
            return self.start + timedelta(microseconds=length)
        except OverflowError:
            raise InvalidArgument(
                f"{described('start', self.start)} is too late: the stream reaches beyond the year 9999; start earlier"
            ) from None


def _spread(every: int, tickets: Sequence[Ticket]) -> Iterator[int]:
    """A place in each of as many equal slices of a window as there are tickets, in ascending order."""
    size = len(tickets)
    # Rounded to the unit, slices have to stay apart.
    unit = next((unit for unit in _UNITS if unit <= _readable(every) and unit * size <= every), 1)
    bounds = [index * every // size // unit * unit for index in range(size)]
    for (low, high), ticket in zip(pairwise(bounds), tickets, strict=False):
        yield low + (high - low) // unit * ticket[0] // _NUMBERS * unit
    if tickets:
        low = bounds[-1]
        steps = -((low - every) // unit)  # rounded up: a window need not be whole units
        number = tickets[-1][0]
        yield every - 1 if number >= _EDGE else low + steps * number // _NUMBERS * unit


def _back(above: int, most: int, number: int) -> int:
    """A length above `above` and up to `most`."""
    unit = _readable(most - above)
    return most if number >= _EDGE else above + ((most - above) // unit * number // _NUMBERS + 1) * unit


def _readable(length: int) -> int:
    """The unit in which to say when something happens within this length."""
    if length >= _MINUTE:
        return _SECOND
    return 1_000 if length >= _SECOND else 1


# --- how it is drawn ---------------------------------------------------------------------------------------------


@st.composite
def _timed(draw: DrawFn, stream: SearchStrategy[Any], times: _Times, column: str) -> Stream:
    beside = Beside(_messy if times.messy else _tidy, width=2 if times.messy else 1, column=column)
    drawn = lifted(drawn_beside(draw, stream, beside), "timed")
    tickets = _tickets(draw, [record for batch in drawn.batches for record in batch.records], beside)
    batches = [with_schema(batch, drawn.schema) for batch in drawn.batches]
    naive = _holds_naive(drawn.schema, batches, column)
    start = times.start.replace(tzinfo=None) if naive else times.start
    end = times.end(len(batches))
    made = []
    for index, batch in enumerate(batches):
        whens = times.of_batch(index, list(islice(tickets, len(batch))))
        moments = [start + timedelta(0, 0, when) for when in whens]
        made.append(make_batch(_at(batch.records, column, moments), drawn.schema))
    if times.closing is not None:
        last = next((batch.records[-1:] for batch in reversed(batches) if batch), ())
        closing = timedelta(0, 0, len(batches) * times.every + times.closing)
        made.append(make_batch(_at(last, column, [start + closing] * len(last)), drawn.schema))
    return make_stream(made, drawn.schema, (times.start, end))


def _tickets(draw: DrawFn, records: list[Any], beside: Beside) -> Iterator[Ticket]:
    """A ticket for each record: drawn beside it, or else drawn now, one by one or from one seed."""
    found = beside.taken(records)
    missing = found.count(None)
    if missing > _ONE_BY_ONE:
        spare = _seeded(draw(_seeds), missing, beside.width)
    else:
        spare = (draw(beside.strategy) for _ in range(missing))
    if missing == len(found):
        return spare
    return (next(spare) if ticket is None else ticket for ticket in found)


def _seeded(seed: int, count: int, width: int) -> Iterator[Ticket]:
    """Tickets from a seed; seed 0 is for the simplest of all."""
    if not seed:
        return repeat((0,) * width, count)
    numbers = random.Random(seed).choices
    bounds = (_NUMBERS, _KINDS * _NUMBERS)[:width]
    return zip(*(numbers(range(bound), k=count) for bound in bounds), strict=True)


def _at(records: Iterable[Record], column: str, moments: list[datetime]) -> list[Record]:
    """The records with these moments in a column that they have."""
    return make_records({**r.__dict__, column: moment} for r, moment in zip(records, moments, strict=True))


# --- the column --------------------------------------------------------------------------------------------------


def _holds_naive(schema: StructType | None, batches: list[Batch], column: str) -> bool:
    """Does the column hold naive datetimes? Without a schema, the records tell."""
    if schema is not None:
        return _is_ntz(schema, column)
    drawn = [_datetime_in(record, column) for batch in batches for record in batch.records]
    return any(value is not None and value.tzinfo is None for value in drawn)


def _is_ntz(schema: StructType, column: str) -> bool:
    if column not in schema.fieldNames():
        raise _no_column(column, schema.fieldNames())
    kind = schema[column].dataType
    if kind.__class__.__name__ not in ("TimestampType", "TimestampNTZType"):
        raise InvalidArgument(
            f"{described('column', column)} is not a timestamp, but {type_ddl(kind)}: name a column of type TIMESTAMP "
            "or TIMESTAMP_NTZ"
        )
    return kind.__class__.__name__ == "TimestampNTZType"


def _datetime_in(record: Any, column: str) -> datetime | None:
    if not isinstance(record, Record):
        raise InvalidArgument(
            f"ss.timed drew {described('element', record)}, which is not a record: make records with "
            f"ss.records('..., {column} TIMESTAMP NOT NULL'), or give their schema to ss.batches(..., schema=...)"
        )
    if column not in record.__dict__:
        raise _no_column(column, list(record.__dict__))
    value = record.__dict__[column]
    if value is not None and not isinstance(value, datetime):
        raise InvalidArgument(
            f"{described('column', column)} is not a timestamp: it holds {described('value', value)}; name a column of "
            "datetimes"
        )
    return value


def _no_column(column: str, names: list[str]) -> InvalidArgument:
    return InvalidArgument(
        f"{described('column', column)} names no column: the records have {', '.join(names) or 'no columns'}"
    )
