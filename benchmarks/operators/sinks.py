"""Sinks: what `foreachBatch` calls. Their output is what is in the place where they write, here a folder of texts."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.operators.suite import Suite
from pyspark.sql import DataFrame

from firesteel import operators

SUITE = Suite()
KEYED = "k STRING NOT NULL, n INT NOT NULL"
_FOLDERS: list[Any] = []


def fresh() -> str:
    """A new folder, which is gone when the process ends."""
    if not _FOLDERS:
        _FOLDERS.append(tempfile.TemporaryDirectory(prefix="operators-"))
    return tempfile.mkdtemp(dir=_FOLDERS[0].name)


def rows_in(place: str) -> list[dict[str, Any]]:
    """All rows of all files."""
    return [{"k": k, "n": n} for file in Path(place).iterdir() for k, n in json.loads(file.read_text())]


def _table(place: str) -> dict[str, int]:
    file = Path(place, "table")
    return dict(json.loads(file.read_text())) if file.exists() else {}


def _write(place: str, table: dict[str, int]) -> None:
    Path(place, "table").write_text(json.dumps(list(table.items())))


def _batch(frame: DataFrame) -> dict[str, int]:
    """The largest value of each key in a batch."""
    return dict(sorted((row.k, row.n) for row in frame.collect()))


def append(frame: DataFrame, batch_id: int, place: str) -> None:
    Path(tempfile.mkstemp(dir=place)[1]).write_text(json.dumps([[row.k, row.n] for row in frame.collect()]))


def latest(frame: DataFrame, batch_id: int, place: str) -> None:
    _write(place, {**_table(place), **_batch(frame)})


def largest(frame: DataFrame, batch_id: int, place: str) -> None:
    table = _table(place)
    _write(place, table | {k: max(n, table.get(k, n)) for k, n in _batch(frame).items()})


def snapshot(frame: DataFrame, batch_id: int, place: str) -> None:
    rows = _batch(frame)
    if rows:
        _write(place, rows)


def stamp(frame: DataFrame, batch_id: int, place: str) -> None:
    now = time.time_ns()
    Path(tempfile.mkstemp(dir=place)[1]).write_text(json.dumps([[row.k, now] for row in frame.collect()]))


_PLACE: dict[str, Any] = {"input": KEYED, "key": "k", "read": rows_in, "fresh": fresh}
SUITE.add(
    "a sink that appends",
    operators.sink(append, **_PLACE),
    "every batch adds its own rows, whatever is there",
    yes="deterministic stateless commutative partition_isolated",
    surprise="a sink that only adds to what is there sounds as if it had a state",
    like="custom",
)
SUITE.add(
    "a sink that keeps the latest of each key",
    operators.sink(latest, **_PLACE),
    "the batch that comes last decides for its keys",
    no="stateless commutative",
    yes="deterministic partition_isolated",
    like="custom state",
)
SUITE.add(
    "a sink that keeps the largest of each key",
    operators.sink(largest, **_PLACE),
    "what a batch changes depends on what is there; in the end the largest is there in any order",
    no="stateless",
    yes="deterministic commutative partition_isolated",
    surprise="it reads, compares and writes, and the order of batches does not matter",
    like="custom state",
)
SUITE.add(
    "a sink that overwrites",
    operators.sink(snapshot, **_PLACE),
    "only the last batch is there in the end: rows of other keys remove those of a key",
    no="stateless commutative partition_isolated",
    yes="deterministic",
    surprise="it looks at nothing that is there, but what it takes away depends on it",
    like="custom state",
)
SUITE.add(
    "a sink that stamps",
    operators.sink(stamp, **_PLACE),
    "the time of writing is another one in another run",
    no="deterministic",
    like="custom",
)
