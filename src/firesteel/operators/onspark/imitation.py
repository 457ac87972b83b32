"""Code with state, run in plain Python as Spark would run it: batch by batch, key by key, with timers and TTL.

This only screens: what it shows is seen on Spark before anybody is told. It runs in a process of its own, and imports
neither Spark nor pandas before it is called. PySpark has such a thing for processors (`TwsTester`, from 4.2 on); it has
no TTL, no watermark that moves, and no keys of several columns, so processors get a handle of our own here.
`tests/operators/onspark/test_imitation.py` compares the two where both can be used.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

START = 946_684_800_000
"""When the first batch runs, in milliseconds: the clock of queries on Spark starts there too."""
_FAR = 32_503_680_000_000
"""Event time ends before this."""
_PANDAS = {"integer": "int32", "long": "int64", "short": "int16", "byte": "int8", "double": "float64"}
_WHOLE = {"integer", "long", "short", "byte"}


@dataclass(frozen=True)
class Imitation:
    """A processor or a state function as a function of batches: it gives what comes out of each of them."""

    code: Callable[..., Any]
    is_processor: bool
    key: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    """Names and types of the input."""
    output: tuple[tuple[str, str], ...]
    time: str | None
    """The column of event time, where that counts."""
    time_mode: str
    delay: int = 0
    """How far the watermark is behind, in milliseconds."""
    in_rows: bool = False
    """Does the code take and give rows, and not frames of pandas?"""

    def __call__(self, batches: Sequence[Sequence[tuple[Any, ...]]], interval: int, close: bool) -> Any:
        from firesteel.operators.sending import cloudpickle

        # Spark sends the code to every task anew.
        sent = cloudpickle().dumps(self.code() if self.is_processor else self.code)
        kept: Any = _Handle(self.time_mode) if self.is_processor else _Groups(self.time_mode)
        latest: int | None = None
        instants: list[tuple[Any, ...]] = []
        for number, rows in enumerate(batches):
            kept.now = START + number * interval
            out = [*self._batch(sent, rows, kept)]
            times = [self._moment(row) for row in rows] if self.time is not None else []
            latest = max([*times, *([] if latest is None else [latest])], default=None)
            if latest is not None and latest - self.delay > kept.watermark:
                kept.watermark = latest - self.delay
                out += self._batch(sent, (), kept)  # Spark runs a batch without data when the watermark has moved
            if close and self.time is not None and number + 1 == len(batches):
                kept.watermark = _FAR
                out += self._batch(sent, (), kept)
            instants.append(tuple(out))
        return tuple(instants)

    def _batch(self, sent: bytes, rows: Sequence[tuple[Any, ...]], kept: Any) -> Iterator[tuple[Any, ...]]:
        groups: dict[Any, list[tuple[Any, ...]]] = {}
        places = [self._place(name) for name in self.key]
        for row in rows:
            if self.time is None or self._moment(row) > kept.watermark:
                groups.setdefault(tuple(row[place] for place in places), []).append(row)
        code = pickle.loads(sent)
        ordered = sorted(groups.items(), key=lambda item: repr(item[0]))
        given = self._as_rows if self.in_rows else self._frames
        for made in kept.calls(code, [(key, given(group)) for key, group in ordered]):
            yield from [self._row(made)] if self.in_rows else self._rows(made)

    def _place(self, name: str) -> int:
        return [each for each, _ in self.columns].index(name)

    def _moment(self, row: tuple[Any, ...]) -> int:
        value: datetime | None = row[self._place(self.time or "")]
        if value is None:
            return _FAR
        return round((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000)

    def _as_rows(self, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        from pyspark.sql import Row

        make = Row(*[name for name, _ in self.columns])
        kinds = [kind for _, kind in self.columns]
        return [make(*[_without_zone(each, kind) for each, kind in zip(row, kinds, strict=True)]) for row in rows]

    def _row(self, row: Any) -> tuple[Any, ...]:
        return tuple(_plain(value, kind) for value, (_, kind) in zip(row, self.output, strict=True))

    def _frames(self, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        import pandas

        made = {}
        for place, (name, kind) in enumerate(self.columns):
            values = [row[place] for row in rows]
            values = [_without_zone(each, kind) for each in values]
            known = _PANDAS.get(kind) if None not in values else None
            made[name] = pandas.Series(values, dtype=known)
        return [pandas.DataFrame(made)]

    def _rows(self, frame: Any) -> Iterator[tuple[Any, ...]]:
        names = [name for name, _ in self.output]
        chosen = frame[names] if set(names) <= set(frame.columns) else frame
        for row in chosen.itertuples(index=False, name=None):
            yield self._row(row)


def _without_zone(value: Any, kind: str) -> Any:
    """A moment as Spark hands it to Python: in UTC, where our sessions are, and without saying so."""
    return value.astimezone(UTC).replace(tzinfo=None) if value is not None and kind == "timestamp" else value


def _plain(value: Any, kind: str) -> Any:
    """A value of a pandas frame as Spark would give it."""
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    elif hasattr(value, "item"):
        value = value.item()
    if isinstance(value, datetime) and kind == "timestamp" and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    if isinstance(value, float) and kind not in ("double", "float"):
        return None if value != value else int(value) if kind in _WHOLE else value
    return value


# --- processors ---


class _Handle:
    """What a processor is given to keep state and to set timers."""

    def __init__(self, time_mode: str) -> None:
        self.now, self.watermark, self.key = START, 0, None
        self._time_mode = time_mode
        self._timers: dict[Any, set[int]] = {}
        self._held: dict[tuple[str, Any], dict[Any, tuple[Any, int]]] = {}

    def calls(self, processor: Any, groups: Sequence[tuple[Any, list[Any]]]) -> Iterator[Any]:
        """The frames, or the rows, that a batch makes."""
        from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, TimerValues

        processor.init(self)
        clock, mark = {"none": (-1, -1), "processingTime": (self.now, -1)}.get(
            self._time_mode, (self.now, self.watermark)
        )
        values = TimerValues(clock, mark)
        for self.key, given in groups:
            yield from processor.handleInputRows(self.key, iter(given), values) or ()
        until = self.now if self._time_mode == "processingTime" else self.watermark
        for key, at in sorted(((key, at) for key, ats in self._timers.items() for at in ats), key=repr):
            if at <= until and at in self._timers.get(key, ()):
                self.key = key
                yield from processor.handleExpiredTimer(key, values, ExpiredTimerInfo(at)) or ()
                self._timers[key].discard(at)
        processor.close()

    def getValueState(self, stateName: str, schema: Any, ttlDurationMs: int | None = None) -> Any:
        return _Value(self, stateName, ttlDurationMs)

    def getListState(self, stateName: str, schema: Any, ttlDurationMs: int | None = None) -> Any:
        return _List(self, stateName, ttlDurationMs)

    def getMapState(
        self, stateName: str, userKeySchema: Any, valueSchema: Any, ttlDurationMs: int | None = None
    ) -> Any:
        return _Map(self, stateName, ttlDurationMs)

    def registerTimer(self, expiryTimestampMs: int) -> None:
        if self._time_mode == "none":
            raise ValueError("there are no timers without a time mode")
        self._timers.setdefault(self.key, set()).add(expiryTimestampMs)

    def deleteTimer(self, expiryTimestampMs: int) -> None:
        self._timers.get(self.key, set()).discard(expiryTimestampMs)

    def listTimers(self) -> Iterator[int]:
        return iter(sorted(self._timers.get(self.key, ())))

    def deleteIfExists(self, stateName: str) -> None:
        for name, key in list(self._held):
            if name == stateName:
                del self._held[name, key]

    def cell(self, name: str) -> dict[Any, tuple[Any, int]]:
        """What one state holds for the present key: values, and when each was written."""
        return self._held.setdefault((name, self.key), {})


@dataclass(frozen=True)
class _State:
    """What the three kinds of state have in common: values by entry, each of which lives as long as its TTL."""

    handle: _Handle
    name: str
    ttl: int | None

    def _live(self) -> dict[Any, Any]:
        cell = self.handle.cell(self.name)
        for entry, (_, at) in list(cell.items()):
            if self.ttl is not None and at + self.ttl <= self.handle.now:
                del cell[entry]
        return {entry: value for entry, (value, _) in cell.items()}

    def _put(self, entry: Any, value: Any) -> None:
        self.handle.cell(self.name)[entry] = (tuple(map(_atom, value)), self.handle.now)

    def exists(self) -> bool:
        return bool(self._live())

    def clear(self) -> None:
        self.handle.cell(self.name).clear()


def _atom(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


class _Value(_State):
    def get(self) -> Any:
        return self._live().get(0)

    def update(self, newValue: Any) -> None:
        self._put(0, newValue)


class _List(_State):
    def get(self) -> Iterator[Any]:
        return iter(list(self._live().values()))

    def put(self, newState: Sequence[Any]) -> None:
        self.clear()
        self.appendList(newState)

    def appendValue(self, newState: Any) -> None:
        cell = self.handle.cell(self.name)
        self._put(max(cell, default=-1) + 1, newState)

    def appendList(self, newState: Sequence[Any]) -> None:
        for each in newState:
            self.appendValue(each)


class _Map(_State):
    def getValue(self, key: Any) -> Any:
        return self._live().get(tuple(map(_atom, key)))

    def containsKey(self, key: Any) -> bool:
        return tuple(map(_atom, key)) in self._live()

    def updateValue(self, key: Any, value: Any) -> None:
        self._put(tuple(map(_atom, key)), value)

    def iterator(self) -> Iterator[Any]:
        return iter(list(self._live().items()))

    def keys(self) -> Iterator[Any]:
        return iter(list(self._live()))

    def values(self) -> Iterator[Any]:
        return iter(list(self._live().values()))

    def removeKey(self, key: Any) -> None:
        self.handle.cell(self.name).pop(tuple(map(_atom, key)), None)


# --- functions with state ---


@dataclass
class _Groups:
    """The states of all keys of a function for `applyInPandasWithState`, in Spark's own class for one state."""

    time_mode: str
    now: int = START
    watermark: int = 0
    _held: dict[Any, tuple[Any, int]] = field(default_factory=dict)
    """By key: the value, and when it times out; -1 where it does not."""

    def calls(self, function: Any, groups: Sequence[tuple[Any, list[Any]]]) -> Iterator[Any]:
        """The frames that a batch makes."""
        for key, frames in groups:
            yield from self._call(function, key, frames, False)
        until = self.now if self.time_mode == "processingTime" else self.watermark
        met = {key for key, _ in groups}
        for key, (_, due) in sorted(self._held.items(), key=repr):
            if key not in met and due != -1 and due < until:
                yield from self._call(function, key, [], True)

    def _call(self, function: Any, key: Any, frames: list[Any], timed_out: bool) -> Iterator[Any]:
        from pyspark.sql.streaming.state import GroupState

        timeouts = {"none": "NoTimeout", "processingTime": "ProcessingTimeTimeout", "eventTime": "EventTimeTimeout"}
        value, _ = self._held.get(key, (None, -1))
        state: Any = GroupState(
            value,
            self.now,
            self.watermark,
            timeouts[self.time_mode],
            timed_out,
            self.time_mode == "eventTime",
            value is not None,
            False,
            False,
            -1,  # a time-out holds until the next call
            b"",
            None,  # type: ignore[arg-type]
        )
        yield from function(key, iter(frames), state)
        if state.exists:
            self._held[key] = (tuple(state.get), state._timeout_timestamp)
        else:
            self._held.pop(key, None)
