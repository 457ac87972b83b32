"""What to do with the verdicts of a monitor: functions for `foreachBatch`.

    found.writeStream.foreachBatch(sinks.json_lines("verdicts.jsonl")).option("checkpointLocation", ...).start()

Verdicts are few, so their rows come to the driver. After a crash Spark may hand over the last micro-batch once more: a
file holds each verdict once all the same, and a callback may see it again, with the same `id`.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["callback", "json_lines", "metrics", "stop", "together"]

_Sink: TypeAlias = "Callable[[DataFrame, int], None]"
_PROGRESS = "progress"
_BAD = ("difference", "unmatched", "false")
_PATIENCE = 30.0


def callback(function: Callable[[Mapping[str, Any]], object], *, progress: bool = False) -> _Sink:
    """Calls a function with each verdict, a dict. With `progress=True` also with rows of the kind "progress".

    >>> sink = callback(print)
    """

    def call(frame: DataFrame, batch: int) -> None:
        for row in _rows(frame):
            if progress or row["kind"] != _PROGRESS:
                function(row)

    return call


def json_lines(path: str | PathLike[str]) -> _Sink:
    """Appends each verdict to a file, as a line of JSON with the id of its query and the number of its micro-batch.

    A micro-batch that comes again after a crash replaces its lines.

    >>> sink = json_lines("verdicts.jsonl")
    """
    from firesteel.spark.monitor.queries import query_id

    file = Path(path)

    def append(frame: DataFrame, batch: int) -> None:
        rows = [row for row in _rows(frame) if row["kind"] != _PROGRESS]
        query = query_id(frame)
        _forget(file, query, batch)
        with file.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps({"query": query, "batch": batch, **row}, default=_plain) + "\n" for row in rows)

    return append


def metrics(path: str | PathLike[str], *, name: str = "firesteel") -> _Sink:
    """Keeps a file with metrics as Prometheus reads them: unmatched, lag, differences, and the verdict.

    The monitor has to be made with `progress=True`. `verdict` is 0 as soon as a difference was found, else 1.

    >>> sink = metrics("/var/lib/node_exporter/firesteel.prom")
    """
    file = Path(path)
    groups: dict[str, Mapping[str, Any]] = {}
    seen: set[str] = set()
    before = _metrics_of(file, name)

    def write(frame: DataFrame, batch: int) -> None:
        for row in _rows(frame):
            if row["kind"] == _PROGRESS:
                groups[row["id"].rpartition("/")[2]] = row
            elif row["kind"] in _BAD:
                seen.add(row.get("id") or json.dumps(row, default=_plain))
        differences = before + len(seen)
        numbers = {
            "unmatched": sum(row["unmatched"] for row in groups.values()),
            "lag_seconds": max((row["lag"] for row in groups.values()), default=0.0),
            "matched": sum(row["matched"] for row in groups.values()),
            "quarantined": sum(row["quarantined"] for row in groups.values()),
            "differences": differences,
            "verdict": int(not differences),
        }
        lines = [f"# TYPE {name}_{key} gauge\n{name}_{key} {value}\n" for key, value in numbers.items()]
        new = file.with_name(file.name + ".new")
        new.write_text("".join(lines), encoding="utf-8")
        os.replace(new, file)  # a reader never sees half of it

    return write


def stop() -> _Sink:
    """Stops the query after the micro-batch with its first difference.

    >>> sink = stop()
    """

    def look(frame: DataFrame, batch: int) -> None:
        if any(row["kind"] in _BAD for row in _rows(frame)):
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


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime | date) else str(value)


def _forget(file: Path, query: str | None, batch: int) -> None:
    """Take out the lines of a micro-batch that is handed over once more, and a line that a crash left unfinished."""
    if not file.exists():
        return
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if line.endswith("\n") and not _is_of(json.loads(line), query, batch)]
    if len(kept) < len(lines):
        new = file.with_name(file.name + ".new")
        new.write_text("".join(kept), encoding="utf-8")
        os.replace(new, file)


def _is_of(line: Mapping[str, Any], query: str | None, batch: int) -> bool:
    return line["query"] == query and bool(line["batch"] >= batch)


def _metrics_of(file: Path, name: str) -> int:
    """How many differences a file tells of already."""
    if not file.exists():
        return 0
    found = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    return next((int(words[1]) for words in found if words[0] == f"{name}_differences"), 0)


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
