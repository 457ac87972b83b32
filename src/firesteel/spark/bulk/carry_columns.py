"""What runs in Spark's Python workers around a user's function of whole columns, which would see several cases at once.

The function is called for every case by itself. As with `carry_workers`, all of this is sent to the executors with its
code: it may import PySpark, pandas, numpy and pyarrow, inside functions, and of firesteel only `carry_workers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from firesteel.spark.bulk.carry_workers import CUT, Pickled, exact


class Arguments:
    """What a function of whole columns is called with: the exact types of its arguments, and the names of some.

    `most` is how many records an Arrow batch has at the most; 0 where there is no limit.
    """

    def __init__(self, types: list[str | None], names: list[str | None], most: int) -> None:
        self._types, self.most = types, max(most, 0)
        self._names = [name for name in names if name is not None]

    def taken(self, columns: Any, named: dict[str, Any]) -> list[Any]:
        """The user's arguments, without the column; named ones come last."""
        return [*columns[:-1], *(named[name] for name in self._names)]

    def given(self, columns: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as the function takes them."""
        few = len(columns) - len(self._names)
        return columns[:few], dict(zip(self._names, columns[few:], strict=True))

    def exact(self, columns: list[Any]) -> list[Any]:
        return [_exact_series(column, dtype) for column, dtype in zip(columns, self._types, strict=True)]


def _exact_series(column: Any, dtype: str | None) -> Any:
    import pandas as pd

    if dtype is None or not isinstance(column, pd.Series):
        return column
    return exact(column.to_frame(), {0: dtype}).iloc[:, 0]


class Series:
    """Columns as pandas series, or frames where they hold structs."""

    @staticmethod
    def cases(column: Any) -> Any:
        return column

    @staticmethod
    def at(columns: list[Any], places: Any, arguments: Arguments) -> list[Any]:
        return arguments.exact([column.iloc[places].reset_index(drop=True) for column in columns])

    @staticmethod
    def together(parts: list[Any]) -> Any:
        return _series_together(parts)

    @staticmethod
    def cut(column: Any, start: int, size: int) -> Any:
        return column.iloc[start : start + size].reset_index(drop=True)


class Arrays:
    """Columns as Arrow arrays."""

    @staticmethod
    def cases(column: Any) -> Any:
        return column.to_pandas()

    @staticmethod
    def at(columns: list[Any], places: Any, arguments: Arguments) -> list[Any]:
        return [column.take(_indices(places)) for column in columns]

    @staticmethod
    def together(parts: list[Any]) -> Any:
        return _arrays_together(parts)

    @staticmethod
    def cut(column: Any, start: int, size: int) -> Any:
        return column.slice(start, size)


Columns = type[Series] | type[Arrays]


def of_columns(kind: Columns, pickled: Pickled, arguments: Arguments) -> Callable[..., Any]:
    """For functions of whole columns."""

    def called(columns: list[Any]) -> Any:
        positional, by_name = arguments.given(columns)
        return pickled.load()(*positional, **by_name)

    def function(*columns: Any, **named: Any) -> Any:
        own = arguments.taken(columns, named)
        if not len(columns[-1]):
            return called(own)
        if len(columns[-1]) >= arguments.most > 0:
            raise ValueError(CUT)
        places = _places(kind.cases(columns[-1]))
        return _in_place(kind.together([called(kind.at(own, at, arguments)) for at in places]), places)

    return function


def of_parts(kind: Columns, pickled: Pickled, arguments: Arguments) -> Callable[[Any], Any]:
    """For functions that take an iterator over columns, or over tuples of columns."""

    def called(columns: list[Any]) -> Any:
        step = arguments.most or len(columns[0])
        parts = [[kind.cut(column, at, step) for column in columns] for at in range(0, len(columns[0]), step)]
        given = iter([part[0] if len(part) == 1 else tuple(part) for part in parts])
        return kind.together(list(pickled.load()(given)))

    def function(parts: Any) -> Iterator[Any]:
        kept = list(parts)
        if not kept:
            return
        *own, cases = (kind.together(list(column)) for column in zip(*kept, strict=True))
        places = _places(kind.cases(cases))
        answer = _in_place(kind.together([called(kind.at(own, at, arguments)) for at in places]), places)
        start = 0
        for columns in kept:
            yield kind.cut(answer, start, len(columns[-1]))
            start += len(columns[-1])

    return function


def _places(cases: Any) -> list[Any]:
    """Where the records of every case are, in their order."""
    import numpy as np
    import pandas as pd

    rows = pd.Series(np.arange(len(cases)))
    return [own.to_numpy() for _, own in rows.groupby(cases.to_numpy(), sort=False)]


def _in_place(made: Any, places: list[Any]) -> Any:
    """The results of all cases, one after the other, brought into the order that the records had together."""
    import numpy as np

    order = np.concatenate(places)
    if len(made) != len(order):
        raise ValueError(f"the function made {len(made)} values of {len(order)}")
    back = np.argsort(order)
    return made.iloc[back].reset_index(drop=True) if hasattr(made, "iloc") else made.take(_indices(back))


def _indices(places: Any) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]

    return pa.array(places)


def _series_together(made: list[Any]) -> Any:
    import pandas as pd

    parts = [part if isinstance(part, pd.DataFrame) else pd.Series(part) for part in made]
    if len({str(part.dtypes) for part in parts}) > 1:
        parts = [part.astype(object) for part in parts]  # a common type would change some of the values
    return pd.concat(parts, ignore_index=True) if len(parts) != 1 else parts[0]


def _arrays_together(made: list[Any]) -> Any:
    import pyarrow as pa

    whole = pa.chunked_array([chunk for part in made for chunk in getattr(part, "chunks", [part])])
    joined = whole.combine_chunks()
    return pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined
