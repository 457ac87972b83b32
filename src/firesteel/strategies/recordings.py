"""Recorded streams: `replay` cuts a DataFrame, a file or a list of records into batches, and draws the recording.

Hypothesis begins with the simplest example, and shrinks failing examples towards it. So the simplest example is the
recording without its records. The next examples are the whole recording, and then parts of it. All of them have as many
batches as the recording, at the same event times. Only records are left out, so that a property which needs six batches
gets six. A check may run only a few cases, or one, so it asks for `choices_of_whole` and begins with them.

Which records are kept is drawn as a list of numbers, because Hypothesis knows how to take elements out of a list. If
there are too many records for one list, there is a list for each digit of their numbers (to a large base), and one for
the remainders modulo a prime. A record is kept if it is in all of these lists, and each list may shrink by itself. When
all records are kept, each of these choices has only one outcome. They are drawn all the same, so that shrinking has
lists to begin with.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from firesteel.errors import InvalidArgument, described
from firesteel.strategies.arguments import whole
from firesteel.strategies.combinators import Streams
from firesteel.strategies.reading import Recording, recording_of
from firesteel.strategies.records import remember_schema
from firesteel.values import schemas
from firesteel.values.batches import make_batch
from firesteel.values.durations import duration, text
from firesteel.values.event_time import Span
from firesteel.values.schemas.conform import in_utc
from firesteel.values.streams import Stream, make_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

# The base of the digits, which is also the longest a list can be; and the prime.
_BASE, _PRIME = 64, 61
# An event time far from all others would make a huge number of batches, most of them empty.
_MOST_BATCHES = 10_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# What the first strategy of each pair draws, the second one can draw as well. So Hypothesis can go from the whole
# recording to parts of it with the same choices.
_MORE_TO_COME, _MORE = st.integers(1, 1), st.integers(0, 15)
_NO_MORE = st.integers(0, 0)
_ALL_LISTS = st.integers(0, 0)
_EXACTLY = [st.integers(number, number) for number in range(_BASE)]
_BELOW = [st.integers(0, max(0, count - 1)) for count in range(_BASE + 1)]

Recorded: TypeAlias = "DataFrame | str | os.PathLike[str] | Stream | Sequence[Any] | Any"
"""A DataFrame of PySpark or pandas, the path of a file, a stream, or a list of records."""


def replay(
    recorded: Recorded,
    *,
    every: str | timedelta | int,
    column: str | None = None,
    schema: StructType | str | type | None = None,
) -> Streams:
    """A recording as a stream, and parts of it. A batch is a stretch of event time, or a number of records.

    - `recorded`: a DataFrame (PySpark, pandas), the path of a file (.csv with a header, .json with an object a line,
      .parquet) or of a folder of such files, a stream, or a list of records.
    - `every`: a duration, such as "1 hour", and the `column` that holds the event time. Batches begin at whole
      multiples of it, as Spark's windows do; a stretch without records is an empty batch. Or a whole number of
      records, in the order in which they were recorded.
    - `schema`: the columns and their types, if the recording does not tell them, or not exactly. Other columns are left
      out.

    Times without a zone are taken to be in UTC. What is drawn has all batches of the recording, with all of its records
    or some of them, and shrinks to the records that matter. `fs.for_all` begins with the whole recording.

    >>> from hypothesis import find
    >>> clicks = Stream("user INT, at TIMESTAMP", [[(n, datetime(2030, 1, 1, 9, 50 * n // 10)) for n in range(9)]])
    >>> hours = replay(clicks, every="10 minutes", column="at")
    >>> [len(batch) for batch in find(hours, lambda stream: sum(map(len, stream)) == 9)]
    [2, 2, 2, 2, 1]
    >>> find(hours, lambda stream: any(record.user == 5 for record in stream[2])).batches[2].values("user")
    [5]
    """
    recording = recording_of(recorded, None if schema is None else schemas.parse(schema))
    if not recording.records:
        raise InvalidArgument(f"{recording.name} holds no records: there is nothing to replay")
    if isinstance(every, int):
        if column is not None:
            raise InvalidArgument(
                f"{described('every', every)} is a number of records, which needs no column, but "
                f"{described('column', column)} is given: write every='1 hour' to cut by event time, or leave it out"
            )
        size = whole(every, "every", 1)
        batch_of = [index // size for index in range(len(recording.records))]
        return _known(_Cut(recording, batch_of, batch_of[-1] + 1, None))
    return _known(_by_time(recording, duration(every, "every"), column))


def choices_of_whole(streams: Any) -> tuple[Any, ...] | None:
    """The choices by which Hypothesis draws the whole recording from what `replay` made; None for other strategies.

    >>> choices_of_whole(replay(["a", "b"], every=1))
    (True, 0, 1, 0, 1, 1, 0)
    """
    choices: tuple[Any, ...] | None = getattr(streams, _WHOLE, None)
    return choices


@dataclass(frozen=True, eq=False)
class _Cut:
    """A recording, and the batch that each of its records is in."""

    recording: Recording
    batch_of: Sequence[int]
    batches: int
    span: Span | None

    def __repr__(self) -> str:
        return f"{self.recording.name}, {len(self.recording.records)} records in {self.batches} batches"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # else Hypothesis would list the fields of a dataclass


_WHOLE = "_firesteel_choices_of_whole"


def _known(cut: _Cut) -> Streams:
    """The strategy, with the choices of the whole recording beside it."""
    choices: list[Any] = [True, 0]
    for count, _ in _lists(len(cut.batch_of)):
        choices += [choice for number in range(count) for choice in (1, number)] + [0]
    strategy = _replayed(cut)
    setattr(strategy, _WHOLE, tuple(choices))
    remember_schema(strategy, cut.recording.schema)
    return strategy


@st.composite
def _replayed(draw: DrawFn, cut: _Cut) -> Stream:
    everything = draw(st.booleans())
    lists = _lists(len(cut.batch_of))
    # Usually one list is incomplete. With several, next to nothing would be left.
    short = draw(_ALL_LISTS if everything else st.integers(0, len(lists)))
    kept: Iterable[int] = range(len(cut.batch_of))
    for place, (count, number_of) in enumerate(lists, start=1):
        complete = everything or short not in (0, place)
        chosen = _all_numbers(draw, count) if complete else _some_numbers(draw, count)
        kept = [index for index in kept if number_of(index) in chosen]
    batches: list[list[Any]] = [[] for _ in range(cut.batches)]
    for index in kept:
        batches[cut.batch_of[index]].append(cut.recording.records[index])
    schema = cut.recording.schema
    return make_stream((make_batch(batch, schema) for batch in batches), schema, cut.span)


def _lists(records: int) -> list[tuple[int, Callable[[int], int]]]:
    """For each list how many numbers there are, and which of them a record has."""
    if records <= _BASE:
        return [(records, lambda index: index)]
    lists: list[tuple[int, Callable[[int], int]]] = []
    weight = 1
    while weight < records:
        lists.append((min(_BASE, -(-records // weight)), _digit(weight)))
        weight *= _BASE
    return [*reversed(lists), (_PRIME, lambda index: index % _PRIME)]


def _digit(weight: int) -> Callable[[int], int]:
    return lambda index: index // weight % _BASE


def _all_numbers(draw: DrawFn, count: int) -> Container[int]:
    for number in range(count):
        draw(_MORE_TO_COME)
        draw(_EXACTLY[number])
    draw(_NO_MORE)
    return range(count)


def _some_numbers(draw: DrawFn, count: int) -> Container[int]:
    numbers = set()
    while draw(_MORE):
        numbers.add(draw(_BELOW[count]))
    return numbers


# --- event time ----------------------------------------------------------------------------------------------------


def _by_time(recording: Recording, every: timedelta, column: str | None) -> _Cut:
    moments = list(_moments(recording, column))
    first, last = min(moments), max(moments)
    # Python's floor goes down before the epoch as well.
    start = _EPOCH + (first - _EPOCH) // every * every
    count = (last - start) // every + 1
    if count > _MOST_BATCHES:
        raise InvalidArgument(
            f"{recording.name} reaches from {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S}, which is {count} "
            f"batches of {text(every)}, more than {_MOST_BATCHES}: write a longer every, or take out the records that "
            f"lie far from the others"
        )
    span = (start, start + count * every)
    return _Cut(recording, [(moment - start) // every for moment in moments], count, span)


def _moments(recording: Recording, column: str | None) -> Iterator[datetime]:
    """The event times of all records."""
    names = [] if recording.schema is None else recording.schema.fieldNames()
    if column is None:
        raise InvalidArgument(
            f"column is missing, which tells the event time that every= goes by: name one of {', '.join(names)}, or "
            "write a whole number of records, every=100"
        )
    if recording.schema is None or column not in names:
        raise InvalidArgument(
            f"{described('column', column)} names no column: {recording.name} has {', '.join(names) or 'none'}"
        )
    kind = recording.schema[column].dataType
    if type(kind).__name__ not in ("TimestampType", "TimestampNTZType"):
        raise InvalidArgument(
            f"{described('column', column)} is not a timestamp, but {schemas.type_ddl(kind)}: name another column, or "
            f"say what it is with schema='..., {column} TIMESTAMP'"
        )
    for index, record in enumerate(recording.records):
        moment = record[column]
        if moment is None:
            raise InvalidArgument(
                f"{recording.place(index)} has no event time: its {column} is null. Take out such records first, or "
                "cut by their number, every=100"
            )
        yield in_utc(moment)
