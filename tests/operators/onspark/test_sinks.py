"""Sinks: how they are called, what is read from them, and a replayed batch on Spark."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle

from firesteel import operators
from firesteel.operators.onspark.feeds import Failed, Feed, Gave, Material
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


def test_a_row_that_does_not_fit_is_an_answer() -> None:
    """A sample with a number that a FLOAT does not hold: the sink is not called."""
    floats = operators.sink(raises, input="x FLOAT", read=list, fresh=list)
    failed = SinkRunner(None, floats).alone(Feed(((("input", (0.1,)),),)))  # type: ignore[arg-type]
    assert isinstance(failed, Failed) and failed.always and "is not exactly a FLOAT" in failed.message


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


def _folder(tmp_path: Path) -> str:
    return tempfile.mkdtemp(dir=tmp_path)


def _read_json(place: str) -> list[Any]:
    return [row for file in Path(place).iterdir() for row in _rows(json.loads(file.read_text()))]


def _read_parquet(place: str) -> Any:
    import pandas as pd

    return pd.concat([pd.read_parquet(file) for file in Path(place).glob("**/*.parquet")])


def _read_table(place: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(place)) as table:
        return list(table.execute("select k, n from rows"))


def parquet_appended(frame: Any, batch_id: int, place: str) -> None:
    frame.write.mode("append").parquet(f"{place}/table")


def parquet_by_batch(frame: Any, batch_id: int, place: str) -> None:
    frame.write.mode("overwrite").parquet(f"{place}/table/batch={batch_id}")


def _written(frame: Any, place: str, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(place)) as table, table:
        table.execute(
            "create table if not exists rows (k text primary key, n int) "
            if "replace" in statement
            else "create table if not exists rows (k text, n int)"
        )
        table.executemany(statement, [tuple(row) for row in frame.collect()])


def inserted(frame: Any, batch_id: int, place: str) -> None:
    _written(frame, place, "insert into rows values (?, ?)")


def upserted(frame: Any, batch_id: int, place: str) -> None:
    _written(frame, place, "insert or replace into rows values (?, ?)")


@pytest.mark.slow
def test_sinks_on_spark(spark: Any, tmp_path: Path) -> None:
    """A sink that appends blindly is not replay-safe; the same by batch id or by key is: folders of Parquet, a table of
    SQLite. And what a writer of rows writes. `tests/quality` has files of JSON."""

    def folder() -> str:
        return _folder(tmp_path)

    def table() -> str:
        return f"{folder()}/rows.db"

    pairs = [
        (sink(parquet_appended, _read_parquet, folder), sink(parquet_by_batch, _read_parquet, folder)),
        (sink(inserted, _read_table, table), sink(upserted, _read_table, table)),
    ]
    for wrong, right in pairs:
        assert _differs(spark, wrong, "replay_safe") and not _differs(spark, right, "replay_safe")
    assert _differs(spark, pairs[0][1], "idempotent"), "a batch with an id of its own is new to it"
    assert not _differs(spark, pairs[1][1], "idempotent")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        writer = SinkRunner(spark, sink(Writer, _read_json, folder))
        assert sorted(row.k for row in writer.alone(Feed((ROWS,))).rows) == ["a", "b"]  # type: ignore[union-attr]
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def _differs(spark: Any, operator: Any, property: str) -> bool:
    """Does the first question about a property show that it does not hold?"""
    runner = SinkRunner(spark, operator)
    question = next(iter(QUESTIONS[property](About(operator), ROWS)))
    gave = [runner.alone(feed) for feed in question.feeds]
    assert all(isinstance(each, Gave) and each.rows for each in gave), gave
    return question.judge(gave) is not None  # type: ignore[arg-type]


def _rows(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]
