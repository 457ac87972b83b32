"""Equal rows have equal numbers: a column, or several, as an array of whole numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from firesteel.values.records import canonical

_MANY = 2**62


def combined(columns: Iterable[Any], rows: int) -> Any:
    """A number for each row of some Arrow columns: two rows have the same one where they agree in all columns.

    >>> import pyarrow as pa
    >>> nan = float("nan")
    >>> combined([pa.array([1, 1, None, None]), pa.array([nan, nan, 0.0, -0.0])], 4).tolist()
    [0, 0, 1, 1]
    """
    return joined([_codes(column) + 2 for column in columns], rows)


def joined(parts: Iterable[Any], rows: int) -> Any:
    """The same for arrays of whole numbers from 0 on.

    >>> import numpy as np
    >>> joined([np.array([5, 5, 5]), np.array([1, 2, 1])], 3).tolist()
    [0, 1, 0]
    """
    import numpy as np
    import pandas as pd

    found, many = np.zeros(rows, dtype=np.int64), 1
    for codes in parts:
        size = int(codes.max(initial=0)) + 1
        if many * size > _MANY:
            found, different = pd.factorize(found)
            many = len(different)
        found = found * size + codes
        many *= size
    return pd.factorize(found)[0].astype(np.int64)


def numbered(values: Iterable[Hashable]) -> Any:
    """A number for each of some values, the same for equal ones.

    >>> numbered(["a", "b", "a"]).tolist()
    [0, 1, 0]
    """
    import numpy as np

    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(value, len(seen)) for value in values], dtype=np.int64)


def before(groups: Any, counted: Any = None) -> Any:
    """For each row, how many rows of its group come before it; or how many of those that are counted.

    >>> import numpy as np
    >>> before(np.array([7, 8, 7, 7])).tolist()
    [0, 0, 1, 2]
    >>> before(np.array([7, 8, 7, 7]), np.array([False, True, True, False])).tolist()
    [0, 0, 0, 1]
    """
    import numpy as np

    order = np.argsort(groups, kind="stable")
    in_order = groups[order]
    is_first = np.ones(len(groups), dtype=bool)
    is_first[1:] = in_order[1:] != in_order[:-1]
    firsts = np.flatnonzero(is_first)
    ones = np.ones(len(groups), dtype=np.int64) if counted is None else counted[order].astype(np.int64)
    so_far = np.cumsum(ones) - ones
    found = np.empty(len(groups), dtype=np.int64)
    found[order] = so_far - np.repeat(so_far[firsts], np.diff(firsts, append=len(groups)))
    return found


def _codes(column: Any) -> Any:
    """Numbers from -2 on; nulls equal each other, and so do NaNs, and 0.0 and -0.0."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa  # type: ignore[import-untyped]

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column), dtype=np.int64)
    if pa.types.is_floating(kind):
        nulls = column.is_null().to_numpy(zero_copy_only=False)
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        codes = pd.factorize(values)[0].astype(np.int64)  # 0.0 and -0.0 are one value there
        codes[nulls] = -2
        return codes
    if pa.types.is_nested(kind):
        return numbered(map(canonical, column.to_pylist(maps_as_pydicts="strict")))
    indices = column.dictionary_encode().indices
    return indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def first_of_each(groups: Any, rows: Any) -> Any:
    """The first of these rows in each group, in order; `groups` has the group of every one of them.

    >>> import numpy as np
    >>> first_of_each(np.array([5, 3, 5]), np.array([10, 11, 12])).tolist()
    [10, 11]
    """
    import numpy as np

    _, places = np.unique(groups, return_index=True)
    return rows[np.sort(places)]


def is_one_of(groups: Any, some: Sequence[int] | Any) -> Any:
    """Which rows belong to one of some groups."""
    import numpy as np

    return np.isin(groups, np.asarray(some, dtype=np.int64))
