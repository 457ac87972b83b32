"""Sinks: how they are called, what is read from them, and a replayed batch on Spark."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

import firesteel as fs
from firesteel import operators
from firesteel.operators.onspark.feeds import Feed, Gave, Material
from firesteel.operators.onspark.model import About
from firesteel.operators.onspark.sinks import QUESTIONS, SinkRunner, empty_place, rows_in
from firesteel.values.records import Record

ROWS: Material = (("input", ("a", 1)), ("input", ("b", 2)))


def sink(function: Any = print, read: Any = list, fresh: Any = list) -> Any:
    return operators.sink(function, input="k STRING, n INT", read=read, fresh=fresh)


def raises(place: Any) -> Any:
    raise FileNotFoundError(place)


def test_a_read_that_raises_on_a_fresh_place_means_empty() -> None:
    assert empty_place(sink(read=raises, fresh=lambda: "new")) == "new"


def test_rows_are_read_in_many_forms() -> None:
    assert rows_in(sink(read=lambda place: {"a": 1}), None) == (("a", 1),)
    assert rows_in(sink(read=lambda place: [{"k": "a"}, ("b", 2)]), None) == (Record(k="a"), ("b", 2))
    assert rows_in(sink(read=lambda: None), None) == ()


def test_a_change_is_judged_against_the_same_batch_alone() -> None:
    (question,) = QUESTIONS["stateless"](About(sink()), ROWS)
    assert [len(feed.batches) for feed in question.feeds] == [2, 1, 1]
    appended = [Gave((("a", "b"),)), Gave((("a",),)), Gave((("b",),))]
    kept_largest = [Gave((("b",),)), Gave((("a",),)), Gave((("b",),))]
    assert question.judge(appended) is None and question.judge(kept_largest) is not None


class Writer:
    """A `foreach` writer: a file for every row."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def open(self, partition: int, epoch: int) -> bool:
        return True

    def process(self, row: Any) -> None:
        _, name = tempfile.mkstemp(dir=self.folder, suffix=".json")
        Path(name).write_text(json.dumps(row.asDict()))

    def close(self, error: Exception | None) -> None: ...


@pytest.mark.slow
def test_sinks_on_spark(spark: Any, tmp_path: Path) -> None:
    """A sink that appends blindly is not replay-safe; the same keyed by batch id is; and so for a writer of rows."""
    import sys

    from pyspark import cloudpickle

    def folder() -> str:
        return tempfile.mkdtemp(dir=tmp_path)

    def read(place: str) -> list[Any]:
        return [row for file in Path(place).iterdir() for row in _rows(json.loads(file.read_text()))]

    def append(frame: Any, batch_id: int, place: str) -> None:
        _, name = tempfile.mkstemp(dir=place)
        Path(name).write_text(json.dumps([row.asDict() for row in frame.collect()]))

    def by_batch(frame: Any, batch_id: int, place: str) -> None:
        Path(place, f"{batch_id}").write_text(json.dumps([row.asDict() for row in frame.collect()]))

    with pytest.raises(fs.Falsified, match="append") as failure:
        fs.holds(sink(append, read, folder), "replay_safe", tests=3, seconds=30, spark=spark)
    assert "replayed" in failure.value.report.evidence.finding.evidence
    kept = fs.holds(sink(by_batch, read, folder), "replay_safe", tests=2, seconds=20, spark=spark)
    assert kept.verdict is fs.Verdict.INCONCLUSIVE
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        writer = SinkRunner(spark, sink(Writer, read, folder))
        assert sorted(row.k for row in writer.alone(Feed((ROWS,))).rows) == ["a", "b"]  # type: ignore[union-attr]
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def _rows(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]
