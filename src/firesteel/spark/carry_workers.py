"""What runs in Spark's Python workers around a user's function while a hidden column is carried past it.

The function gets what it gets alone: keys and records without the column. What it makes gets the column back, last.

All of this is sent to the executors with its code, since firesteel need not be installed there: it may import PySpark,
pandas and pyarrow, inside functions, and nothing else. The user's function goes along as Spark pickled it, and is not
read before it is called: so its closures, broadcast variables and sheer size are no different from a run alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Widen = Callable[[Any, Any], Any]
"""Puts the column onto something that the user's function made: its value is the second argument."""


class Pickled:
    """A user's function as Spark pickled it."""

    def __init__(self, command: bytes) -> None:
        self._command = command
        self._function: Any = None

    def load(self) -> Any:
        if self._function is None:
            from pyspark import Broadcast
            from pyspark.serializers import CloudPickleSerializer

            command = CloudPickleSerializer().loads(self._command)
            if isinstance(command, Broadcast):  # one that was too large to be sent with every task
                command = CloudPickleSerializer().loads(command.value)
            self._function = command[0]
        return self._function


# --- functions -------------------------------------------------------------------------------------------------------


def grouped(pickled: Pickled, widen: Widen) -> Callable[[Any, Any], Any]:
    """For applyInPandas and applyInArrow: functions of a whole group, or of its key and the group."""

    def function(key: Any, group: Any) -> Any:
        return widen(_called(pickled.load(), key, group), key[-1])

    return function


def grouped_parts(pickled: Pickled, widen: Widen) -> Callable[[Any, Any], Any]:
    """For applyInPandas and applyInArrow: functions of a group's parts, or of its key and the parts."""

    def function(key: Any, parts: Any) -> Any:
        return _each(_called(pickled.load(), key, parts), key[-1], widen)

    return function


def mapped(pickled: Pickled, widen: Widen) -> Callable[[Any, Any], Any]:
    """For mapInPandas and mapInArrow, which are carried as groups: the key is the partition and the case."""

    def function(key: Any, parts: Any) -> Any:
        made = pickled.load()(parts)
        if not isinstance(made, Iterator):
            raise TypeError(f"the function returned {type(made).__name__}, which is no iterator")
        return _each(made, key[-1], widen)

    return function


def with_state(pickled: Pickled, widen: Widen) -> Callable[[Any, Any, Any], Any]:
    """For applyInPandasWithState."""

    def function(key: Any, frames: Any, state: Any) -> Any:
        made = pickled.load()(key[:-1], frames, state)
        # Spark says what is wrong with something that cannot be iterated over, and with a frame, as it does alone.
        return _each(made, key[-1], widen) if _is_list(made) else made

    return function


def transformed(
    pickled: Pickled, widen: Widen, narrow: Callable[[Any], Any], key_of: Callable[[Any], Any]
) -> Callable[[Any, Any, Any, Any], Any]:
    """For transformWithState and transformWithStateInPandas: the function is a method that calls a processor."""
    ready: list[Any] = []

    def function(client: Any, mode: Any, key: Any, rows: Any) -> Any:
        if not ready:
            ready.append(pickled.load())
            tools = ready[0].__self__
            tools._stateful_processor = Processor(tools._stateful_processor, widen, narrow)
        return ready[0](client, mode, None if key is None else key_of(key), rows)

    return function


class Processor:
    """A user's StatefulProcessor. Spark keeps state and timers by the whole key, and so apart; it sees less of it."""

    def __init__(self, processor: Any, widen: Widen, narrow: Callable[[Any], Any]) -> None:
        self._processor = processor
        self._widen = widen
        self._narrow = narrow

    def init(self, handle: Any) -> None:
        self._processor.init(handle)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:
        made = self._processor.handleInputRows(without_last(key), map(self._narrow, rows), timerValues)
        return _each(made, key[-1], self._widen)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:
        made = self._processor.handleExpiredTimer(
            key=without_last(key), timerValues=timerValues, expiredTimerInfo=expiredTimerInfo
        )
        return _each(made, key[-1], self._widen)

    def close(self) -> None:
        self._processor.close()


def _called(function: Any, key: Any, group: Any) -> Any:
    # Spark counts the arguments in the same way.
    if len(inspect.getfullargspec(function).args) == 1:
        return function(group)
    return function(key[:-1], group)


def _each(made: Iterable[Any], case: Any, widen: Widen) -> Iterator[Any]:
    return (widen(part, case) for part in made)


def _is_list(made: Any) -> bool:
    import pandas as pd

    return isinstance(made, Iterable) and not isinstance(made, pd.DataFrame)


# --- the column comes off --------------------------------------------------------------------------------------------


def without_last(row: Any) -> Any:
    """A tuple or a Row without its last field."""
    from pyspark.sql import Row

    fields = getattr(row, "__fields__", None)
    return row[:-1] if fields is None else Row(*fields[:-1])(*row[:-1])


def frame_without_last(integers: list[int]) -> Callable[[Any], Any]:
    """Frames without their last column.

    transformWithStateInPandas makes frames from parts of larger ones: a null, maybe of another case, has turned the
    integers of its column into floats. They are turned back where this frame has no null in the column.
    """

    def narrow(frame: Any) -> Any:
        narrowed = frame.iloc[:, :-1].copy(deep=False)
        for index in integers:
            column = narrowed.iloc[:, index]
            if column.dtype.kind == "f" and not column.isna().any():
                narrowed.isetitem(index, column.astype("int64"))
        return narrowed

    return narrow


def whole_key(integers: list[int]) -> Callable[[Any], Any]:
    """Keys whose integers are no floats, which they become when a null, maybe of another case, is among them.

    Spark itself takes a float in place of an integer for a null key, and so mixes up the state of all such groups. A
    case that really has such a null must show that, alone.
    """

    def exact(key: Any) -> Any:
        values = list(key)
        for index in integers:
            if isinstance(values[index], float):
                if values[index] != values[index]:
                    raise ValueError("a null in an integer key: other keys of its case may lose their state")
                values[index] = int(values[index])
        return tuple(values)

    return exact


# --- and goes back on ------------------------------------------------------------------------------------------------


def widened_frame(name: str, columns: int, *, named: bool = False) -> Widen:
    """The column goes behind the others, where both those who look for it by name and by place find it.

    `named` frames must have names, since Spark puts them together before it looks for the columns.
    """

    def widen(frame: Any, case: Any) -> Any:
        import pandas as pd

        if not isinstance(frame, pd.DataFrame) or not (len(frame) or len(frame.columns)):
            return frame  # Spark refuses the one and ignores the other, as it does alone
        if len(frame.columns) != columns:
            raise ValueError(f"a frame has {len(frame.columns)} columns instead of {columns}")
        by_name = any(isinstance(label, str) for label in frame.columns)
        if named and not by_name:
            raise ValueError("a frame has no column names")
        wide = frame.copy(deep=False)
        wide.insert(columns, name if by_name else columns, [case] * len(frame), allow_duplicates=True)
        return wide

    return widen


def widened_arrow(name: str, columns: list[str] | int) -> Widen:
    """The same for Arrow. Where the names of all columns are given they are set, since only the order counts alone."""
    number = columns if isinstance(columns, int) else len(columns)

    def widen(table: Any, case: Any) -> Any:
        import pyarrow as pa

        if not isinstance(table, pa.Table | pa.RecordBatch) or not (table.num_rows or table.num_columns):
            return table
        if table.num_columns != number:
            raise ValueError(f"a table has {table.num_columns} columns instead of {number}")
        names = table.schema.names if isinstance(columns, int) else columns
        value = pa.array([case.as_py()] * table.num_rows, type=case.type)
        return type(table).from_arrays([*table.columns, value], names=[*names, name])

    return widen


def widened_row(name: str) -> Widen:
    def widen(row: Any, case: Any) -> Any:
        from pyspark.sql import Row

        return Row(**{**row.asDict(), name: case}) if isinstance(row, Row) else row

    return widen
