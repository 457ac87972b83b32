"""How a run is performed, in a child of the worker: the function is called as Spark would call it."""

from __future__ import annotations

import copy
import inspect
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from typing import Any, TypeAlias

from firesteel.operators import clock
from firesteel.operators.kinds import Family, Kind, Operator
from firesteel.operators.outcomes import Gave, Job, Late, Opaque, Outcome, Raised, Seen, Twice
from firesteel.operators.process import TooLate

_ATOMS = (int, str, float, bool, bytes, date, datetime, type(None))


@dataclass(frozen=True)
class Loaded:
    """What a worker loads: an operator, and the columns of each of its ports, with their pandas types."""

    operator: Operator
    columns: tuple[tuple[tuple[str, str], ...], ...] = ()


def perform(loaded: Loaded, run: Sequence[Any], job: Job) -> Seen:
    """Every firing of a run, one after the other."""
    from firesteel.operators.watching import Lines, Watch

    functions = loaded.operator.functions
    lines = Lines(functions) if job.traced else None
    watch = Watch(functions) if job.watched else None
    fire = firing(loaded, _as_it_is if watch is None else watch.frame)
    outcomes: list[Outcome] = []
    clock.start_again()
    for each in run:
        given = _copied(each)
        if watch is not None:
            watch.before(given)
        if lines is not None:
            lines.start()
        outcomes.append(_outcome(fire, given, job.limit))
        if lines is not None:
            lines.stop()
        if watch is not None:
            watch.after(given)
        clock.pass_time()
        if isinstance(outcomes[-1], Late):
            break
    found = frozenset() if lines is None else frozenset(lines.found)
    return Seen(tuple(outcomes), found, None if watch is None else watch.seen())


def _outcome(fire: Callable[[Any], Iterable[Any]], given: Any, limit: float) -> Outcome:
    try:
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            return Gave(tuple(_kept(output) for output in fire(given)))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TooLate:
        return Late(limit)
    except MemoryError as error:
        return Raised("MemoryError", str(error))
    except BaseException as error:  # sys.exit, and what else a function may raise
        return Raised(type(error).__name__, _said(error))


def _said(error: BaseException) -> str:
    try:
        return str(error)[:300]
    except Exception:
        return ""


def _copied(value: Any) -> Any:
    """A value that shares nothing with any other: what a function does to it is not seen by the next call."""
    if type(value) is tuple:
        return tuple(map(_copied, value))
    if isinstance(value, Twice):
        return Twice(_copied(value.arguments))
    return value if type(value) in _ATOMS else copy.deepcopy(value)


def _kept(output: Any) -> Any:
    """An output as it is now: the function may hold on to it, and change it in a later call."""
    try:
        return _copied(output)
    except Exception:  # it cannot be copied, so it cannot be sent either
        return Opaque(type(output).__name__)


Note: TypeAlias = Callable[[Any], Any]
"""Is shown each pandas object that the function is given, and gives it back."""


def _as_it_is(frame: Any) -> Any:
    return frame


def firing(loaded: Loaded, note: Note = _as_it_is) -> Callable[[Any], Iterable[Any]]:
    """What one firing does: it takes what is fed and gives the outputs."""
    operator = loaded.operator
    match operator.kind.family:
        case Family.CALLS:
            return _call(operator)
        case Family.FOLDS if operator.kind is Kind.GROUPED_AGG:
            return lambda fold: [_value(operator.function(*map(note, _series(fold[0][0], loaded.columns[0]))))]
        case Family.FOLDS:
            return lambda fold: [_value(_folded(operator, fold))]
        case Family.COLUMNS:
            return _columns(loaded, note)
        case Family.GROUPS:
            return _groups(loaded, note)


def _call(operator: Operator) -> Callable[[Any], Iterable[Any]]:
    function = operator.function
    if operator.kind is not Kind.FLAT:
        return lambda fed: [_value(_twice(function, fed) if isinstance(fed, Twice) else function(*fed))]
    if operator.partitions:
        return lambda arguments: map(_value, function(iter(arguments[0])) or ())
    return lambda arguments: map(_value, function(*arguments) or ())


def _twice(function: Callable[..., Any], fed: Twice) -> Any:
    return function(function(*fed.arguments))


def _folded(operator: Operator, fold: Sequence[Sequence[Sequence[Any]]]) -> Any:
    """A fold as Spark does it: every partition by itself, then the results, left to right.

    A fold has groups of partitions: a group's partitions are merged first, then what the groups gave.
    """
    merge = operator.functions[-1]
    merged = [reduce(merge, [_added(operator, part) for part in group]) for group in fold]
    return reduce(merge, merged)


def _added(operator: Operator, part: Sequence[Any]) -> Any:
    """The values of one partition."""
    match operator.kind:
        case Kind.REDUCER:
            return reduce(operator.function, part)
        case Kind.AGGREGATE:
            # Spark pickles the zero for every fold, so no fold sees what another did to it.
            return reduce(operator.function, part, _fresh(operator.zero))
        case _:
            create, add, _ = operator.functions
            return reduce(add, part[1:], create(part[0]))


def _fresh(zero: Any) -> Any:
    return zero if type(zero) in _ATOMS else pickle.loads(pickle.dumps(zero))


def _series(rows: Sequence[tuple[Any, ...]], columns: Sequence[tuple[str, str]]) -> list[Any]:
    import pandas as pd

    made = []
    for place, (name, kind) in enumerate(columns):
        values = [row[place] for row in rows]
        made.append(pd.Series(values, name=name, dtype=_dtype(kind, values)))
    return made


def _dtype(kind: str, values: Sequence[Any]) -> Any:
    """The type that Spark gives a column in pandas: whole numbers with nulls are floats there."""
    if any(value is None for value in values):
        return {"int64": "float64", "bool": "object"}.get(kind, kind)
    return kind


def _frame(rows: Sequence[tuple[Any, ...]], columns: Sequence[tuple[str, str]]) -> Any:
    import pandas as pd

    series = _series(rows, columns)
    frame = pd.DataFrame(dict(enumerate(series)))
    frame.columns = [name for name, _ in columns]
    return frame


def _arrow(rows: Sequence[tuple[Any, ...]], columns: Sequence[tuple[str, str]]) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]

    types = {"int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_(), "datetime64[ns]": pa.timestamp("us")}
    arrays = [
        pa.array([row[place] for row in rows], types.get(kind, pa.string() if kind == "str" else None))
        for place, (_, kind) in enumerate(columns)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=[name for name, _ in columns])


def _columns(loaded: Loaded, note: Note) -> Callable[[Any], Iterable[Any]]:
    function, columns = loaded.operator.function, loaded.columns[0]
    match loaded.operator.kind:
        case Kind.PANDAS_UDF:
            give = _iterated if _takes_iterator(function) else _called
            return lambda batches: give(function, [list(map(note, _series(batch, columns))) for batch in batches])
        case Kind.ARROW_UDF:
            return lambda batches: _called(function, [_arrow(batch, columns).columns for batch in batches])
        case Kind.MAP_IN_PANDAS:
            return lambda batches: _rows(function(note(_frame(batch, columns)) for batch in batches))
        case _:
            return lambda batches: _rows(function(_arrow(batch, columns) for batch in batches))


def _takes_iterator(function: Callable[..., Any]) -> bool:
    """Is it a pandas UDF of the iterator kind? Its type hint says so, as it does for Spark."""
    hints = list(getattr(function, "__annotations__", {}).values())
    return bool(hints) and "Iterator" in str(hints[0])


def _called(function: Callable[..., Any], batches: Sequence[Sequence[Any]]) -> Iterator[Any]:
    for series in batches:
        result = function(*series)
        size = len(series[0]) if series else 0
        if len(result) != size:
            raise ValueError(f"the result has {len(result)} rows where {size} went in")
        yield from _listed(result)


def _iterated(function: Callable[..., Any], batches: Sequence[Sequence[Any]]) -> Iterator[Any]:
    for result in function(series[0] if len(series) == 1 else tuple(series) for series in batches):
        yield from _listed(result)


def _listed(column: Any) -> Iterator[Any]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return map(_value, values)


def _rows(frames: Iterable[Any]) -> Iterator[Any]:
    for frame in frames:
        yield from _rows_of(frame)


def _rows_of(frame: Any) -> Iterator[Any]:
    """The rows of a pandas DataFrame or an Arrow batch, each a dictionary by column."""
    if hasattr(frame, "to_pylist"):
        yield from frame.to_pylist()
        return
    names = list(frame.columns)
    for row in zip(*(list(frame.iloc[:, place]) for place in range(len(names))), strict=True):
        yield {name: _value(value) for name, value in zip(names, row, strict=True)}


def _groups(loaded: Loaded, note: Note) -> Callable[[Any], Iterable[Any]]:
    operator, function = loaded.operator, loaded.operator.function
    ports = len(operator.inputs)
    with_key = _parameters(function) == ports + 1
    places = [[name for name, _ in loaded.columns[0]].index(str(each)) for each in operator.key]

    def fire(group: Sequence[Sequence[tuple[Any, ...]]]) -> Iterable[Any]:
        frames = [note(_frame(rows, columns)) for rows, columns in zip(group, loaded.columns, strict=True)]
        first = next((rows[0] for rows in group if rows), ())
        key = tuple(first[place] for place in places) if first else ()
        return _rows_of(function(key, *frames) if with_key else function(*frames))

    return fire


def _parameters(function: Callable[..., Any]) -> int:
    try:
        return len(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return 1


def _value(value: Any) -> Any:
    """A value as Python holds it: what pandas and numpy mean by null is None."""
    kind = type(value)
    if kind in _ATOMS and kind is not float:
        return value
    module = kind.__module__
    if module.startswith("numpy"):
        value = value.tolist() if hasattr(value, "tolist") else value
    elif module.startswith("pandas"):
        if kind.__name__ in ("NAType", "NaTType"):
            return None
        if kind.__name__ == "Timestamp":
            return value.to_pydatetime()
        if kind.__name__ in ("Series", "Index"):
            return list(_listed(value))
        if kind.__name__ == "DataFrame":
            return list(_rows_of(value))
    if inspect.isgenerator(value):
        return list(value)
    return value
