"""What to do with the verdicts of a monitor: functions for `foreachBatch`.

    found.writeStream.foreachBatch(sinks.json_lines("verdicts.jsonl")).option("checkpointLocation", ...).start()

Verdicts are few, so their rows come to the driver. After a crash Spark may hand over the last micro-batch once more: a
file holds each verdict once all the same, and a callback may see it again, with the same `id`.
"""

from __future__ import annotations

import base64
import json
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.monitoring.progress import PROGRESS, Group, Progress, is_difference

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["callback", "json_lines", "metrics", "stop", "together"]

_Sink: TypeAlias = "Callable[[DataFrame, int], None]"
_PATIENCE = 30.0


def callback(function: Callable[[Mapping[str, Any]], object], *, progress: bool = False) -> _Sink:
    """Calls a function with each verdict, a dict. With `progress=True` also with rows of the kind "progress".

    >>> sink = callback(print)
    """

    def call(frame: DataFrame, batch: int) -> None:
        for row in _rows(frame):
            if progress or row["kind"] != PROGRESS:
                function(row)

    return call


def json_lines(path: str | PathLike[str]) -> _Sink:
    """Appends each verdict to a file, as a line of JSON with the id of its query and the number of its micro-batch.

    A micro-batch that comes again after a crash replaces its lines. Floats that JSON does not have are written as text:
    "NaN", "Infinity", "-Infinity". So are the keys of a map.

    >>> sink = json_lines("verdicts.jsonl")
    """
    from firesteel.spark.monitor.queries import query_id

    file = Path(path)
    last: dict[str | None, int] = {}

    def append(frame: DataFrame, batch: int) -> None:
        rows = [row for row in _rows(frame) if row["kind"] != PROGRESS]
        query = query_id(frame)
        if batch <= last.get(query, batch):  # the first one since the start may be in the file already
            _forget(file, query, batch)
        last[query] = batch
        with file.open("a", encoding="utf-8") as out:
            out.writelines(_line({"query": query, "batch": batch, **row}) for row in rows)

    return append


def metrics(path: str | PathLike[str], *, name: str = "firesteel") -> _Sink:
    """Keeps a file with metrics as Prometheus reads them: unmatched, lag, differences, and the verdict.

    The monitor has to be made with `progress=True`. `verdict` is 0 as soon as a difference was found, else 1. The file
    is written with every micro-batch. A comment in it says which one that was, so that a micro-batch that comes again
    after a crash is counted once.

    >>> sink = metrics("/var/lib/node_exporter/firesteel.prom")
    """
    from firesteel.spark.monitor.queries import query_id

    file = Path(path)
    counted = _counted_in(file, name)

    def write(frame: DataFrame, batch: int) -> None:
        nonlocal counted
        now = counted.next(query_id(frame), batch)
        for row in _rows(frame):
            now.take(row)
        _replace(file, now.text(name, time.time()))
        counted = now

    return write


def stop() -> _Sink:
    """Stops the query after the micro-batch with its first difference.

    >>> sink = stop()
    """

    def look(frame: DataFrame, batch: int) -> None:
        if any(map(is_difference, _rows(frame))):
            _stop_later(frame, batch)

    return look


def together(*sinks: _Sink) -> _Sink:
    """Several of these, one after the other.

    >>> sink = together(json_lines("verdicts.jsonl"), stop())
    """

    def all_of(frame: DataFrame, batch: int) -> None:
        kept = frame.persist()
        try:
            for sink in sinks:
                sink(kept, batch)
        finally:
            kept.unpersist()

    return all_of


def _rows(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(_plain(row), allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    match value:
        case Mapping():
            return {_as_key(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case None | bool() | int() | float() | str():
            return value
        case datetime() | date():
            return value.isoformat()
        case bytes() | bytearray():
            return base64.b64encode(value).decode()  # as Spark's to_json
        case _:
            return str(value)


def _as_key(key: Any) -> str:
    plain = _plain(key)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _forget(file: Path, query: str | None, batch: int) -> None:
    """Take out the lines of a micro-batch that is handed over once more, and a line that a crash left unfinished."""
    if not file.exists():
        return
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if line.endswith("\n") and not _is_of(json.loads(line), query, batch)]
    if len(kept) < len(lines):
        _replace(file, "".join(kept))


def _is_of(line: Mapping[str, Any], query: str | None, batch: int) -> bool:
    return line["query"] == query and bool(line["batch"] >= batch)


def _replace(file: Path, text: str) -> None:
    """Write a file as a whole: a reader never sees half of it."""
    new = file.with_name(file.name + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, file)


@dataclass
class _Counted:
    """What a file of metrics tells, and what has to be known to count one more micro-batch, or the last one again."""

    query: str | None = None
    batch: int = -1
    before: int = 0
    """The differences of all micro-batches before this one."""
    here: int = 0
    """The differences of this one."""
    progress: Progress = field(default_factory=Progress)

    def next(self, query: str | None, batch: int) -> _Counted:
        """Before the rows of a micro-batch are taken: the next one, or the last one once more."""
        if query != self.query:
            return _Counted(query, batch, self.before + self.here)
        again = batch <= self.batch
        return _Counted(query, batch, self.before + (0 if again else self.here), 0, self.progress)

    def take(self, row: Mapping[str, Any]) -> None:
        if row["kind"] == PROGRESS:
            self.progress.take(row)
        elif is_difference(row):
            self.here += 1

    def text(self, name: str, now: float) -> str:
        differences = self.before + self.here
        numbers = {
            "unmatched": self.progress.unmatched,
            "lag_seconds": round(self.progress.lag(now), 3),
            "matched": self.progress.matched,
            "quarantined": self.progress.quarantined,
            "differences": differences,
            "verdict": int(not differences),
        }
        groups = {number: list(vars(group).values()) for number, group in self.progress.groups.items()}
        state = json.dumps([self.query, self.batch, self.before, self.here, groups])
        lines = [f"# TYPE {name}_{key} gauge\n{name}_{key} {value}\n" for key, value in numbers.items()]
        return f"# {name} {state}\n" + "".join(lines)


def _counted_in(file: Path, name: str) -> _Counted:
    """What a file tells that an earlier run wrote."""
    if not file.exists():
        return _Counted()
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"# {name} ["):
            query, batch, before, here, groups = json.loads(line.removeprefix(f"# {name} "))
            known = {number: Group(*group) for number, group in groups.items()}
            return _Counted(query, batch, before, here, Progress(known))
    return _Counted()


def _stop_later(frame: DataFrame, batch: int) -> None:
    """Stop the query of a micro-batch once Spark has noted that it is done."""
    from firesteel.spark.monitor.queries import query_of

    query = query_of(frame)
    if query is None:
        return

    def wait() -> None:
        end = time.monotonic() + _PATIENCE
        while query.isActive and time.monotonic() < end:
            last = query.lastProgress
            if last is not None and last["batchId"] >= batch:
                break
            time.sleep(0.05)
        query.stop()

    threading.Thread(target=wait, name="firesteel-stop", daemon=True).start()
