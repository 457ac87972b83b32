"""Keys in quarantine: nothing more is reported of them until they are reset. A table with the columns of the key.

A key that was reset from some event time on stays in the table, with that time: its rows from before are still left
out, whenever they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firesteel.monitoring.matching.classes import combined

FROM = "_fs_from"
"""Rows of the key are looked at from this event time on, in microseconds; null: never."""


def added(quarantine: Any, keys: Any) -> Any:
    """More keys; those that were reset before are in quarantine again.

    >>> import pyarrow as pa
    >>> before = pa.table({"k": [1, 2], FROM: pa.array([None, 7], pa.int64())})
    >>> added(before, pa.table({"k": [2, 3]})).to_pydict()
    {'k': [1, 2, 3], '_fs_from': [None, None, None]}
    """
    import numpy as np
    import pyarrow as pa  # type: ignore[import-untyped]

    names = keys.column_names
    keys = keys.append_column(FROM, pa.nulls(keys.num_rows, pa.int64()))
    if quarantine is None:
        return keys
    old, new = _codes(quarantine, keys, names)
    return pa.concat_tables([quarantine.filter(pa.array(~np.isin(old, new))), keys])


def reset(quarantine: Any, resets: Any, key: Sequence[str], event_time: str | None) -> Any:
    """Without the keys of some rows; or, if rows have an event time, with the one from which they are looked at again.

    A key that was reset already is being compared, and stays as it is.

    >>> import pyarrow as pa
    >>> before = pa.table({"k": [1, 2], FROM: pa.array([None, None], pa.int64())})
    >>> reset(before, pa.table({"k": [2, 5]}), ["k"], None).to_pydict()
    {'k': [1], '_fs_from': [None]}
    >>> reset(before, pa.table({"k": [2, 5], "ts": pa.array([9, 9])}), ["k"], "ts").to_pydict()
    {'k': [1, 2], '_fs_from': [None, 9]}
    """
    import numpy as np
    import pyarrow as pa

    old, new = _codes(quarantine, resets, key)
    if event_time is None:
        return quarantine.filter(pa.array(~np.isin(old, new)))
    times = dict(zip(new.tolist(), resets.column(event_time).cast(pa.int64()).to_pylist(), strict=True))
    since = quarantine.column(FROM).to_pylist()
    found = [times.get(code) if before is None else before for code, before in zip(old.tolist(), since, strict=True)]
    return quarantine.set_column(quarantine.num_columns - 1, FROM, pa.array(found, pa.int64()))


def left_out(quarantine: Any, rows: Any, key: Sequence[str], event_time: str | None) -> Any:
    """Which rows are of a key in quarantine.

    >>> import pyarrow as pa
    >>> keys = pa.table({"k": [1, 2], FROM: pa.array([None, 7], pa.int64())})
    >>> rows = pa.table({"k": [1, 2, 2, 3], "ts": [9, 6, 7, 1]})
    >>> left_out(keys, rows, ["k"], "ts").tolist()
    [True, True, False, False]
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    codes, of_rows = _codes(quarantine, rows, key)
    entry = pd.Index(codes).get_indexer(of_rows)
    out = entry >= 0
    if event_time is not None:
        never = np.iinfo(np.int64)
        since = quarantine.column(FROM).fill_null(never.max).to_numpy()
        times = rows.column(event_time).cast(pa.int64()).fill_null(never.min).to_numpy()
        out &= times < since[entry]
    return out


def _codes(first: Any, second: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """The keys of the rows of two tables as numbers; the same ones for the same keys."""
    import pyarrow as pa

    columns = [pa.chunked_array([*first.column(name).chunks, *second.column(name).chunks]) for name in names]
    codes = combined(columns, first.num_rows + second.num_rows)
    return codes[: first.num_rows], codes[first.num_rows :]
