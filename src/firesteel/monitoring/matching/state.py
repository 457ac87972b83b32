"""What is kept of a group of rows between two micro-batches: tables of Arrow as bytes, and counts as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from firesteel.errors import InvalidArgument

SIDE, BATCH, PARTITION, POSITION, CAME = "_fs_side", "_fs_batch", "_fs_partition", "_fs_position", "_fs_came"
"""Columns beside those of the rows: 0 for the left and 1 for the right, where a row came, and when, in milliseconds."""
MARK = "_fs_mark"
"""Where there are barriers: is a row one of them?"""
PLACE = (SIDE, BATCH, PARTITION, POSITION, CAME)

Bytes: TypeAlias = "tuple[str, bytes, bytes | None]"
"""The state as Spark keeps it: counts, the rows that wait, and the keys in quarantine."""


@dataclass(frozen=True)
class Counts:
    """What was counted so far."""

    matched: int = 0
    quarantined: int = 0
    """Rows that were not looked at, because their key is in quarantine."""
    blind: int | None = None
    """Where nothing is ordered and rows were shed: rows up to this event time are not reported, in microseconds."""

    def more(self, *, matched: int = 0, quarantined: int = 0) -> Counts:
        return replace(self, matched=self.matched + matched, quarantined=self.quarantined + quarantined)


@dataclass(frozen=True)
class State:
    """The rows that wait, as a table, and the keys in quarantine, as another; None where there are none."""

    counts: Counts = Counts()
    waiting: Any = None
    quarantine: Any = None

    def keep(self, digest: str) -> Bytes:
        text = json.dumps({"digest": digest, **vars(self.counts)})
        return text, _written(self.waiting) or b"", _written(self.quarantine)

    @classmethod
    def restore(cls, kept: Sequence[Any] | None, digest: str) -> State:
        if kept is None:
            return cls()
        text, waiting, quarantine = kept
        counts = json.loads(text)
        if counts.pop("digest") != digest:
            raise InvalidArgument(
                "the checkpoint was written by a monitor with another dependence, equality, watermark, number of "
                "groups or other columns: begin with a new checkpointLocation, or give the old ones"
            )
        return cls(Counts(**counts), table_of(waiting), table_of(quarantine))


def _written(table: Any) -> bytes | None:
    import pyarrow as pa  # type: ignore[import-untyped]

    if table is None or not table.num_rows:
        return None
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def table_of(written: bytes | None) -> Any:
    """The table of Arrow's bytes; None where there are none."""
    import pyarrow as pa

    return pa.ipc.open_stream(pa.py_buffer(written)).read_all() if written else None
