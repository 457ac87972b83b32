"""What runs in Spark's Python workers around a user's function while a hidden column is carried past it.

The function gets what it gets alone: keys and records without the column. What it makes gets the column back, last.

All of this is sent to the executors with its code, since firesteel need not be installed there: it may import PySpark,
pandas and pyarrow, inside functions, and nothing else. The user's function goes along as Spark pickled it, and is only
unpickled where it is called: closures, broadcast variables and large functions work as they do in a run alone.
"""

from __future__ import annotations

import inspect
import pickle
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

            command = pickle.loads(self._command)
            if isinstance(command, Broadcast):  # Spark broadcasts a function that is too large for every task
                command = pickle.loads(command.value)
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


def mapped(pickled: Pickled, widen: Widen, by_case: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """For mapInPandas and mapInArrow: functions of the parts of a partition, which may mix cases."""

    def function(parts: Any) -> Any:
        for case, own in by_case(parts):
            made = pickled.load()(own)
            if not isinstance(made, Iterator):
                raise TypeError(f"the function returned {type(made).__name__}, which is not an iterator")
            yield from _each(made, case, widen)

    return function


def with_state(pickled: Pickled, widen: Widen) -> Callable[[Any, Any, Any], Any]:
    """For applyInPandasWithState."""

    def function(key: Any, frames: Any, state: Any) -> Any:
        own = [without_last_column(frame) for frame in uncut(frames)]
        # After a timeout the frames are a list, of one that is empty.
        made = pickled.load()(key[:-1], own if isinstance(frames, list) else iter(own), state)
        # A frame, or what is not iterable, is a mistake of the user's: Spark reports it as it does alone.
        return _each(made, key[-1], widen) if _is_list(made) else made

    return function


def transformed(
    pickled: Pickled, widen: Widen, narrow: Callable[[Any], Iterator[Any]], key_of: Callable[[Any], Any]
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
    """A user's StatefulProcessor, which sees keys without the column.

    Spark keeps state and timers by the whole key, and so those of different cases apart.
    """

    def __init__(self, processor: Any, widen: Widen, narrow: Callable[[Any], Iterator[Any]]) -> None:
        self._processor = processor
        self._widen = widen
        self._narrow = narrow

    def init(self, handle: Any) -> None:
        self._processor.init(handle)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:
        made = self._processor.handleInputRows(without_last(key), self._narrow(rows), timerValues)
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


def rows_without_last(rows: Any) -> Iterator[Any]:
    return map(without_last, rows)


def without_last_column(frame: Any) -> Any:
    return frame.iloc[:, :-1]


CUT = "an Arrow batch is full: it may cut the records of a case in another place than alone"


def uncut(frames: Any) -> list[Any]:
    """The frames of a group, which is one: where an Arrow batch ends in a group depends on the groups before it."""
    kept = list(frames)
    if len(kept) > 1:
        raise ValueError(CUT)
    return kept


def exact(frame: Any, types: dict[int, str]) -> Any:
    """The frame with the types that its columns have if they have no nulls.

    Some types of pandas cannot hold a null, so that one null gives its whole column another type. Where a frame is cut
    from a larger one, that null may have been one of another case.
    """
    made = frame.copy(deep=False)
    for index, dtype in types.items():
        column = made.iloc[:, index]
        if dtype.startswith(LISTS_OF):
            made.isetitem(index, exact_lists(column, dtype.removeprefix(LISTS_OF)))
        elif column.dtype != dtype and not column.isna().any():
            made.isetitem(index, column.astype(dtype))
    return made


LISTS_OF = "lists of "
"""In front of a type: that of the elements, in a column of arrays."""


def exact_lists(column: Any, dtype: str) -> Any:
    if any(element is None for array in column if array is not None for element in array):
        return column
    return column.map(lambda array: array if array is None else array.astype(dtype))


def exact_frames(types: dict[int, str]) -> Callable[[Any], Iterator[Any]]:
    """For transformWithStateInPandas, where the frame of a group is cut from one of many groups.

    A null gives the integers of all these groups another type. Which groups they are alone is not known here.
    """

    def narrow(frames: Any) -> Iterator[Any]:
        for frame in map(without_last_column, uncut(frames)):
            for index, dtype in types.items():
                if not dtype.startswith(LISTS_OF) and frame.iloc[:, index].dtype.kind in "fO":
                    raise ValueError("a null among integers changes the type that other groups see")
            yield exact(frame, types)

    return narrow


def exact_key(integers: list[int]) -> Callable[[Any], Any]:
    """Gives keys back their integers, which come as floats where there is a null among them, maybe of another case.

    With a null key of its own, a case has floats for integers alone as well, and Spark then mixes up the state of
    groups. Such a case has to run alone to show that, so it is refused here.
    """

    def key_of(key: Any) -> Any:
        values = list(key)
        for index in integers:
            if isinstance(values[index], float):
                if values[index] != values[index]:
                    raise ValueError("a null in an integer key: other keys of its case may lose their state")
                values[index] = int(values[index])
        return tuple(values)

    return key_of


def frames_by_case(most: int, types: dict[int, str]) -> Callable[[Any], Any]:
    """Takes the frames of a partition apart: for every case an iterator over its own frames, as large as alone."""

    def parts(frames: Any) -> Iterator[tuple[Any, Any]]:
        import pandas as pd

        found: dict[Any, list[Any]] = {}
        for frame in frames:
            for case, part in frame.groupby(frame.iloc[:, -1].to_numpy(), sort=False):
                found.setdefault(case, []).append(without_last_column(part))
        for case in list(found):
            own = found.pop(case)  # frees the memory case by case
            yield case, cut(pd.concat(own, ignore_index=True) if len(own) > 1 else own[0].reset_index(drop=True))

    def cut(whole: Any) -> Iterator[Any]:
        step = most if most > 0 else len(whole)
        return (exact(whole.iloc[at : at + step].reset_index(drop=True), types) for at in range(0, len(whole), step))

    return parts


def batches_by_case(most: int) -> Callable[[Any], Any]:
    """The same for Arrow."""

    def parts(batches: Any) -> Iterator[tuple[Any, Any]]:
        import pyarrow as pa  # type: ignore[import-untyped]

        found: dict[Any, list[Any]] = {}
        for batch in batches:
            for case, part in split(batch):
                found.setdefault(case, []).append(part)
        for case in list(found):
            whole = pa.Table.from_batches(found.pop(case)).combine_chunks()
            yield case, iter(whole.to_batches(max_chunksize=most if most > 0 else None))

    def split(batch: Any) -> Iterator[tuple[Any, Any]]:
        cases = batch.column(batch.num_columns - 1).to_pandas()
        records = batch.select(list(range(batch.num_columns - 1)))
        for case, part in cases.groupby(cases.to_numpy(), sort=False):
            yield case, records.take(part.index.to_numpy())

    return parts


# --- and goes back on ------------------------------------------------------------------------------------------------


def widened_frame(name: str, columns: int, *, named: bool = False) -> Widen:
    """Puts the column behind the others, where Spark finds it by its name as well as by its place.

    `named` frames must have column names, since Spark puts several together before it looks for the columns.
    """

    def widen(frame: Any, case: Any) -> Any:
        import pandas as pd

        if not isinstance(frame, pd.DataFrame) or not (len(frame) or len(frame.columns)):
            return frame  # Spark refuses what is not a frame, and ignores an empty one, as it does alone
        if len(frame.columns) != columns:
            raise ValueError(f"a frame has {len(frame.columns)} columns instead of {columns}")
        by_name = any(isinstance(label, str) for label in frame.columns)
        if named and not by_name:
            raise ValueError("a frame has no column names")
        wide = frame.copy(deep=False)
        wide.insert(columns, name if by_name else columns, [case] * len(frame), allow_duplicates=True)
        return wide

    return widen


def widened_arrow(name: str, columns: int) -> Widen:
    """The same for Arrow."""

    def widen(table: Any, case: Any) -> Any:
        import pyarrow as pa

        if not isinstance(table, pa.Table | pa.RecordBatch) or not (table.num_rows or table.num_columns):
            return table
        if table.num_columns != columns:
            raise ValueError(f"a table has {table.num_columns} columns instead of {columns}")
        number = case.as_py() if isinstance(case, pa.Scalar) else case
        value = pa.array([number] * table.num_rows, type=pa.int32())
        return type(table).from_arrays([*table.columns, value], names=[*table.schema.names, name])

    return widen


def widened_row(name: str) -> Widen:
    def widen(row: Any, case: Any) -> Any:
        from pyspark.sql import Row

        return Row(**{**row.asDict(), name: case}) if isinstance(row, Row) else row

    return widen
