"""Windows to judge a property by: with `over=fs.tumbling("15 minutes", on="ts")` an instant is a window of event time.

A window is a span of event time, [start, end). The windows of a case follow from its input alone, before Spark runs.
`Window.cut` makes a trace of them: each instant holds the input and output of one window, whichever micro-batches they
were in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument, described
from firesteel.values.batches import Batch, make_batch, together
from firesteel.values.cases import Case, as_case
from firesteel.values.durations import duration, text
from firesteel.values.event_time import Span, common_span, moments
from firesteel.values.records import listed, shown
from firesteel.values.schemas.conform import in_utc
from firesteel.values.streams import Stream
from firesteel.values.traces import Instant, Trace, all_dropped

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

__all__ = ["Window", "session_window", "sliding", "tumbling"]

MOST = 100_000
"""How many windows a case may have: more of them are a mistake, and would take forever."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT = timedelta(microseconds=1)


def tumbling(size: str | timedelta, *, on: str | Mapping[str, str]) -> Window:
    """Windows of one size, side by side, aligned as Spark's `window` aligns them.

    `on` names the column of the event time: one name for all inputs and outputs, or a name for each.

    >>> tumbling("15 minutes", on={"input": "ts", "output": "at"})
    tumbling('15 minutes', on={'input': 'ts', 'output': 'at'})
    >>> clicks = Stream("ts TIMESTAMP", [[(datetime(2030, 1, 1, 9, 5),), (datetime(2030, 1, 1, 9, 31),)]])
    >>> [f"{start:%H:%M} to {end:%H:%M}" for start, end in tumbling("15 minutes", on="ts").spans({"input": clicks})]
    ['09:00 to 09:15', '09:15 to 09:30', '09:30 to 09:45']
    """
    length = duration(size, "size")
    return _Aligned(length, length, on=_checked(on))


def sliding(size: str | timedelta, *, every: str | timedelta, on: str | Mapping[str, str]) -> Window:
    """Windows of one size that start every `every`: they overlap, and a record lies in several.

    >>> clicks = Stream("ts TIMESTAMP", [[(datetime(2030, 1, 1, 9, 5),)]])
    >>> windows = sliding("30 minutes", every="15 minutes", on="ts").spans({"input": clicks})
    >>> [f"{start:%H:%M} to {end:%H:%M}" for start, end in windows]
    ['08:45 to 09:15', '09:00 to 09:30']
    """
    length, step = duration(size, "size"), duration(every, "every")
    if step > length:
        raise InvalidArgument(
            f"{described('every', every)} is longer than {described('size', size)}: records between two windows would "
            f"lie in none, and Spark refuses it; write every={text(length)!r} or less"
        )
    return _Aligned(length, step, on=_checked(on))


def session_window(gap: str | timedelta, *, on: str | Mapping[str, str]) -> Window:
    """Windows as Spark's `session_window` makes them, without keys: each holds input that is less than `gap` apart.

    A session lasts from its first input record until `gap` after its last. Records of all inputs count together.

    >>> at = [(datetime(2030, 1, 1, 9, minute),) for minute in (0, 4, 30)]
    >>> windows = session_window("10 minutes", on="ts").spans({"input": Stream("ts TIMESTAMP", [at])})
    >>> [f"{start:%H:%M} to {end:%H:%M}" for start, end in windows]
    ['09:00 to 09:14', '09:30 to 09:40']
    """
    return _Session(duration(gap, "gap"), on=_checked(on))


@dataclass(frozen=True)
class Window(ABC):
    """How the event time of a case is cut into windows. Made by `tumbling`, `sliding` and `session_window`.

    >>> isinstance(tumbling("1 hour", on="ts"), Window)
    True
    """

    on: str | Mapping[str, str] = field(kw_only=True, hash=False)
    """The event-time column of all inputs and outputs, or of each by its name."""

    @abstractmethod
    def _spans(self, times: Sequence[datetime], reach: Span) -> list[Span]:
        """The windows of input that has these event times and reaches from its first moment to its last."""

    @abstractmethod
    def next_span(self, times: Sequence[datetime], *, since: datetime, after: Span | None) -> Span | None:
        """The next window of input that still comes in; `times` are the event times that are in no window before it.

        It is the one after the window `after`. Without that it is the first that holds one of the times and ends after
        `since`. None where no window can be told yet.

        >>> hour = tumbling("1 hour", on="ts")
        >>> at = [datetime(2030, 1, 1, 9, 30, tzinfo=UTC)]
        >>> start, end = hour.next_span(at, since=at[0], after=None)
        >>> f"{start:%H:%M} to {end:%H:%M}"
        '09:00 to 10:00'
        >>> start, end = hour.next_span([], since=at[0], after=(start, end))
        >>> f"{start:%H:%M} to {end:%H:%M}"
        '10:00 to 11:00'
        """

    @abstractmethod
    def last_end(self, time: datetime) -> datetime:
        """When the last window ends that a record with this event time lies in; it may last longer with other records.

        >>> f"{sliding('1 hour', every='15 minutes', on='ts').last_end(datetime(2030, 1, 1, 9, 20, tzinfo=UTC)):%H:%M}"
        '10:15'
        """

    @abstractmethod
    def count(self, first: Span, until: datetime) -> int:
        """How many windows end by a moment, from this one on, if no more input comes; only those that are aligned.

        >>> at = [datetime(2030, 1, 1, hour, tzinfo=UTC) for hour in (9, 10, 12)]
        >>> tumbling("1 hour", on="ts").count((at[0], at[1]), at[2])
        3
        """

    # --- does `on` fit the streams? ---

    def check_names(self, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        """Refuse a name in `on` that is neither an input nor an output.

        >>> tumbling("1 hour", on={"input": "ts", "out": "at"}).check_names(["input"], ["output"])
        Traceback (most recent call last):
            ...
        firesteel.errors.InvalidArgument: on={'input': 'ts', 'out': 'at'} (dict) names 'out', which is neither an \
input nor an output: the inputs are 'input', the outputs 'output'
        """
        inputs, outputs = list(inputs), list(outputs)
        unknown = [name for name in self._columns if name not in {*inputs, *outputs}]
        if unknown:
            raise InvalidArgument(
                f"{described('on', self.on)} names {listed(unknown)}, which is neither an input nor an output: "
                f"the inputs are {listed(inputs)}, the outputs {listed(outputs)}"
            )

    def check_input(self, name: str, schema: StructType | None) -> None:
        """Refuse an input that lacks the event-time column that `on` names.

        >>> from firesteel.values import schemas
        >>> tumbling("1 hour", on="ts").check_input("input", schemas.parse("ts TIMESTAMP"))
        """
        if schema is None:
            raise InvalidArgument(
                f"the input {name!r} has no schema, so no event time either: write Stream('ts TIMESTAMP NOT NULL', "
                "[...]), or make its records with ss.records(schema)"
            )
        self._check(f"the input {name!r}", name, schema, "make it a TIMESTAMP in the schema of the stream")

    def check_output(self, name: str, schema: StructType) -> None:
        """Refuse an output that lacks the event-time column that `on` names.

        >>> from firesteel.values import schemas
        >>> tumbling("1 hour", on="at").check_output("output", schemas.parse("at DATE"))
        Traceback (most recent call last):
            ...
        firesteel.errors.InvalidArgument: on='at' (str): the column 'at' of the output 'output' is DATE, and event \
time has to be TIMESTAMP or TIMESTAMP_NTZ: in the subject, add .withColumn('at', F.col('at').cast('timestamp'))
        """
        cast = "in the subject, add .withColumn({0!r}, F.col({0!r}).cast('timestamp'))"
        self._check(f"the output {name!r}", name, schema, cast.format(self._columns.get(name, self.on)))

    def _check(self, stream: str, name: str, schema: StructType, instead: str) -> None:
        from firesteel.values.schemas import type_ddl

        kinds = {field.name: field.dataType for field in schema.fields}
        right = [column for column, kind in kinds.items() if _is_time(kind)]
        there = f"its columns are {listed(kinds)}; " + (f"write {right[0]!r}" if right else "add a TIMESTAMP")
        column = self._column(name, f"{stream}: {there}", write=right[0] if right else "ts")
        if column not in kinds:
            inside = f", or select {column!r} as a column of its own" if column.split(".")[0] in kinds else ""
            raise InvalidArgument(f"{described('on', self.on)}: {stream} has no column {column!r}; {there}{inside}")
        if column not in right:
            if _is_window(kinds[column]):
                instead = f"select its start, as in .select(F.col({column!r}).start.alias('at'), ...)"
            raise InvalidArgument(
                f"{described('on', self.on)}: the column {column!r} of {stream} is {type_ddl(kinds[column])}, and "
                f"event time has to be TIMESTAMP or TIMESTAMP_NTZ: {instead}"
            )

    @property
    def _columns(self) -> Mapping[str, str]:
        """The event-time columns by the name of their stream, where `on` gives them so."""
        return {} if isinstance(self.on, str) else self.on

    def _column(self, name: str, stream: str, *, write: str = "ts") -> str:
        """The event-time column of an input or output."""
        if isinstance(self.on, str):
            return self.on
        if name not in self.on:
            raise InvalidArgument(
                f"{described('on', self.on)} names no column of {stream}, as in on={dict(self.on) | {name: write}}"
            )
        return self.on[name]

    # --- the windows of a case ---

    def spans(self, inputs: Mapping[str, Stream]) -> list[Span]:
        """The windows of a case, in order: all between the ends of its input's event time, empty ones as well.

        >>> hour = (datetime(2030, 1, 1, 9, tzinfo=UTC), datetime(2030, 1, 1, 10, tzinfo=UTC))
        >>> len(tumbling("15 minutes", on="ts").spans({"input": Stream("ts TIMESTAMP", [], span=hour)}))
        4
        """
        for name, stream in inputs.items():
            if stream.schema is not None:
                self.check_input(name, stream.schema)
        times = [moment for name, stream in inputs.items() for moment in self._times(name, stream)]
        reach = _range(times, common_span(stream.span for stream in inputs.values()))
        if reach is None:
            return []
        try:
            return self._spans(times, reach)
        except OverflowError as error:
            raise InvalidArgument(
                f"{self!r} has windows that begin before the year 1 or end after the year 9999, which a timestamp "
                f"cannot hold: the event times are {_reach(reach)}; bring them closer to today (ss.timed)"
            ) from error

    def _times(self, name: str, stream: Stream) -> list[datetime]:
        column = self._column(name, f"the input {name!r}: write one")
        found = [moment for batch in stream for moment in moments(batch, column)]
        times = [moment for moment in found if moment is not None]
        if len(times) < len(found):
            record = [record for batch in stream for record in batch][found.index(None)]
            raise InvalidArgument(
                f"the input {name!r} has a record whose event time, {column!r}, is null, so it lies in no window: "
                f"{shown(record)}; make the column NOT NULL in the schema, or generate its times with ss.timed"
            )
        return times

    def cut(self, trace: Trace, inputs: Mapping[str, Stream]) -> Trace:
        """A trace with one instant for each window: input of the streams, and output of the trace, by event time.

        Output that lies in no window is in the `outside` of the new trace.

        >>> at = [datetime(2030, 1, 1, hour, tzinfo=UTC) for hour in (9, 11, 15)]
        >>> clicks = Stream("ts TIMESTAMP", [[(at[1],)], [(at[0],)]])
        >>> put_out = Batch([(at[1],), (at[2],)], schema="ts TIMESTAMP")
        >>> run = Trace([Instant(0, {}, {"output": put_out})])
        >>> windows = tumbling("1 hour", on="ts").cut(run, {"input": clicks})
        >>> [(len(now.input), len(now.output)) for now in windows], len(windows.outside["output"])
        ([(1, 0), (0, 0), (1, 1)], 1)
        """
        spans = self.spans(inputs)
        taken = {
            name: _whole(stream).within(self._column(name, f"the input {name!r}: write one"), spans)[0]
            for name, stream in inputs.items()
        }
        given: dict[str, list[Batch]] = {}
        outside: dict[str, Batch] = {}
        for name in trace[0].outputs if trace else ():
            output = together(instant.outputs[name] for instant in trace)
            given[name], rest = output.within(self._column(name, f"the output {name!r}: write one"), spans)
            if len(rest):
                outside[name] = rest
        drawn = as_case(inputs).drawn
        # Spark counts what it drops, and does not say which records these were.
        dropped = all_dropped(trace)
        instants = (
            Instant(
                index,
                {name: parts[index] for name, parts in taken.items()},
                {name: parts[index] for name, parts in given.items()},
                time=start,
                is_window=True,
                recorded_dropped=dropped if dropped == 0 or len(spans) == 1 else None,
                drawn=drawn,
            )
            for index, (start, _) in enumerate(spans)
        )
        return Trace(instants, outside=outside)

    def _allow(self, count: int, reach: Span) -> None:
        if count > MOST:
            raise InvalidArgument(
                f"{self!r} cuts the input into {count:,} windows, {_reach(reach)}, and {MOST:,} are the most: bring "
                "the event times closer together (ss.timed), or take a larger window"
            )


def instants_of(case: Case, over: Window | None) -> int:
    """The number of instants that the trace of a case will have."""
    return case.length if over is None else len(over.spans(case.inputs))


@dataclass(frozen=True, repr=False)
class _Aligned(Window):
    """Windows of one size that start at the multiples of `every` since 1970 in UTC, as those of Spark do."""

    size: timedelta
    every: timedelta

    def __repr__(self) -> str:
        if self.every == self.size:
            return f"tumbling({text(self.size)!r}, on={self.on!r})"
        return f"sliding({text(self.size)!r}, every={text(self.every)!r}, on={self.on!r})"

    def _spans(self, times: Sequence[datetime], reach: Span) -> list[Span]:
        # The first window is the first that ends after the first moment, so that it holds it.
        first = (reach[0] - _EPOCH - self.size) // self.every + 1
        last = (reach[1] - _EPOCH) // self.every
        self._allow(last - first + 1, reach)
        starts = (_EPOCH + self.every * index for index in range(first, last + 1))
        return [(start, start + self.size) for start in starts]

    def next_span(self, times: Sequence[datetime], *, since: datetime, after: Span | None) -> Span | None:
        if after is not None:
            start = after[0] + self.every
        elif times:
            # The first that ends after the earliest time, and after `since`.
            earliest = max(min(times), since)
            start = _EPOCH + self.every * ((earliest - _EPOCH - self.size) // self.every + 1)
        else:
            return None
        return start, start + self.size

    def count(self, first: Span, until: datetime) -> int:
        return max(0, (until - first[1]) // self.every + 1)

    def last_end(self, time: datetime) -> datetime:
        return _EPOCH + self.every * ((time - _EPOCH) // self.every) + self.size


@dataclass(frozen=True, repr=False)
class _Session(Window):
    """Windows that last as long as input comes less than `gap` apart."""

    gap: timedelta

    def __repr__(self) -> str:
        return f"session_window({text(self.gap)!r}, on={self.on!r})"

    def _spans(self, times: Sequence[datetime], reach: Span) -> list[Span]:
        if not times:
            return []
        ordered = sorted(times)
        breaks = [(last, first) for last, first in pairwise(ordered) if first - last >= self.gap]
        self._allow(len(breaks) + 1, (ordered[0], ordered[-1]))
        starts = [ordered[0], *(first for _, first in breaks)]
        lasts = [*(last for last, _ in breaks), ordered[-1]]
        return [(start, last + self.gap) for start, last in zip(starts, lasts, strict=True)]

    def next_span(self, times: Sequence[datetime], *, since: datetime, after: Span | None) -> Span | None:
        ordered = sorted(times)
        if not ordered:
            return None
        last = next((last for last, first in pairwise(ordered) if first - last >= self.gap), ordered[-1])
        return ordered[0], last + self.gap

    def count(self, first: Span, until: datetime) -> int:
        return 0  # no session is without input

    def last_end(self, time: datetime) -> datetime:
        return time + self.gap


def _range(times: Sequence[datetime], covered: Span | None) -> Span | None:
    """The first and the last moment of input that has these times and covers this span; None where it is empty."""
    edges = []
    if covered is not None and covered[0] < covered[1]:
        edges = [in_utc(covered[0]), in_utc(covered[1]) - _MOMENT]
    if times:
        edges += [min(times), max(times)]
    return (min(edges), max(edges)) if edges else None


def _whole(stream: Stream) -> Batch:
    return together([make_batch((), stream.schema), *stream])


def _checked(on: object) -> str | Mapping[str, str]:
    """`on` as it was given, if it names columns."""
    how = "write the name of the event-time column, 'ts', or one for each stream, {'input': 'ts', 'output': 'at'}"
    if not isinstance(on, (str, Mapping)):
        raise InvalidArgument(f"{described('on', on)} names no column: {how}")
    if not on:
        raise InvalidArgument(f"{described('on', on)} is empty: {how}")
    if isinstance(on, str):
        return on
    for name, column in on.items():
        if not isinstance(name, str) or not name:
            raise InvalidArgument(
                f"{described('on', on)} has {described('a key', name)}, which is not the name of a stream: {how}"
            )
        if not isinstance(column, str) or not column:
            raise InvalidArgument(f"{described(f'on[{name!r}]', column)} is not the name of a column: {how}")
    return dict(on)


def _is_time(kind: DataType) -> bool:
    from pyspark.sql.types import TimestampNTZType, TimestampType

    return isinstance(kind, (TimestampType, TimestampNTZType))


def _is_window(kind: DataType) -> bool:
    """Is it the struct that Spark's `window` puts out?"""
    from pyspark.sql.types import StructType

    return isinstance(kind, StructType) and kind.fieldNames() == ["start", "end"]


def _reach(reach: Span) -> str:
    return f"from {reach[0].isoformat(sep=' ')} to {reach[1].isoformat(sep=' ')}"
