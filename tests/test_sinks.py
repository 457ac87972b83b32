"""What is done with verdicts: files that hold each once, metrics, callbacks."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from types import SimpleNamespace

import pytest
from pyspark.sql import Row

from firesteel import sinks

AT = datetime(2030, 1, 1, tzinfo=UTC)


class Frame:
    """As much of a micro-batch as a sink needs."""

    def __init__(self, *rows, query="one"):
        self.rows = rows
        context = SimpleNamespace(getLocalProperty=lambda name: query)
        self.sparkSession = SimpleNamespace(sparkContext=context)

    def collect(self):
        return self.rows

    def persist(self):
        return self

    def unpersist(self):
        return self


def difference(id_):
    return Row(id=id_, kind="difference", time=AT, left=Row(n=1), unmatched=2, matched=5, quarantined=0, lag=1.5)


def progress(group, unmatched, lag):
    return Row(
        id=f"progress/3/{group}",
        kind="progress",
        time=AT,
        left=None,
        unmatched=unmatched,
        matched=7,
        quarantined=1,
        lag=lag,
    )


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_lines_hold_each_verdict_once_even_if_a_batch_comes_again(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    sinks.json_lines(path)(Frame(difference("a"), progress(0, 1, 0.0)), 0)
    sinks.json_lines(path)(Frame(difference("b"), difference("c")), 1)
    with path.open("a") as file:
        file.write('{"batch": 1, "id": "half')  # a crash in the middle of a line
    again = sinks.json_lines(path)
    again(Frame(difference("b"), difference("c")), 1)
    again(Frame(difference("d")), 2)
    assert [(line["batch"], line["id"]) for line in lines(path)] == [(0, "a"), (1, "b"), (1, "c"), (2, "d")]
    assert lines(path)[0]["left"] == {"n": 1}
    assert lines(path)[0]["time"] == "2030-01-01T00:00:00+00:00"
    again(Frame(difference("e"), query="another"), 0)
    assert [(line["query"], line["id"]) for line in lines(path)][-2:] == [("one", "d"), ("another", "e")]
    assert [file.name for file in tmp_path.iterdir()] == ["verdicts.jsonl"]


def test_json_lines_hold_what_json_has_no_word_for(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    odd = Row(
        days={date(2030, 1, 1): 1, None: 2},
        n=[float("nan"), float("inf"), float("-inf"), 1.5],
        price=Decimal("1.10"),
        raw=bytearray(b"ab"),
        on=True,
    )
    sinks.json_lines(path)(Frame(Row(id="a", kind="difference", left=odd)), 0)

    def refused(constant):
        raise AssertionError(f"{constant} is not JSON")

    (line,) = path.read_text().splitlines()
    assert json.loads(line, parse_constant=refused)["left"] == {
        "days": {"2030-01-01": 1, "null": 2},
        "n": ["NaN", "Infinity", "-Infinity", 1.5],
        "price": "1.10",
        "raw": "YWI=",
        "on": True,
    }


def test_json_lines_look_at_what_is_in_the_file_once(tmp_path, monkeypatch):
    path = tmp_path / "verdicts.jsonl"
    sinks.json_lines(path)(Frame(difference("a")), 4)
    looked = []
    forget = sinks._forget
    monkeypatch.setattr(sinks, "_forget", lambda *given: looked.append(given[1:]) or forget(*given))
    again = sinks.json_lines(path)
    for batch in range(4, 9):
        again(Frame(difference(f"b{batch}")), batch)
    again(Frame(difference("c"), query="another"), 7)
    again(Frame(difference("b8 again")), 8)  # the query failed, and was started again with the same sink
    assert looked == [("one", 4), ("another", 7), ("one", 8)]
    assert [line["id"] for line in lines(path)] == ["b4", "b5", "b6", "b7", "c", "b8 again"]


def metrics_in(path):
    return dict(line.split() for line in path.read_text().splitlines() if not line.startswith("#"))


@pytest.fixture
def clock(monkeypatch):
    """The clock that the sinks read, in seconds after `AT`."""
    found = SimpleNamespace(now=0.0)
    monkeypatch.setattr(sinks, "time", SimpleNamespace(time=lambda: AT.timestamp() + found.now))
    return found


def test_metrics_add_up_the_groups_and_count_each_difference_once(tmp_path, clock):
    path = tmp_path / "firesteel.prom"
    sink = sinks.metrics(path)
    sink(Frame(progress(0, 4, 0.5), progress(1, 3, 2.5)), 0)
    assert metrics_in(path) == {
        "firesteel_unmatched": "7",
        "firesteel_lag_seconds": "2.5",
        "firesteel_matched": "14",
        "firesteel_quarantined": "2",
        "firesteel_differences": "0",
        "firesteel_verdict": "1",
    }
    sink(Frame(progress(1, 0, 0.0), difference("a")), 1)
    sink(Frame(difference("a")), 1)
    assert metrics_in(path)["firesteel_unmatched"] == "4"
    assert metrics_in(path)["firesteel_differences"] == "1"
    assert metrics_in(path)["firesteel_verdict"] == "0"
    sinks.metrics(path)(Frame(), 2)  # another process goes on
    assert metrics_in(path)["firesteel_differences"] == "1"
    assert [file.name for file in tmp_path.iterdir()] == ["firesteel.prom"]


def test_metrics_count_a_batch_that_comes_again_after_a_crash_once(tmp_path):
    path = tmp_path / "firesteel.prom"
    sinks.metrics(path)(Frame(difference("a")), 4)
    sinks.metrics(path)(Frame(difference("b"), difference("c")), 5)
    again = sinks.metrics(path)  # a new process: the commit of micro-batch 5 was lost
    again(Frame(difference("b"), difference("c")), 5)
    assert metrics_in(path)["firesteel_differences"] == "3"
    again(Frame(difference("d"), Row(id="e", kind="shed")), 6)
    assert metrics_in(path)["firesteel_differences"] == "4"
    sinks.metrics(path)(Frame(difference("x"), query="another"), 0)  # with a new checkpoint
    assert metrics_in(path)["firesteel_differences"] == "5"


def test_the_lag_of_a_group_that_waits_grows_while_it_is_not_called(tmp_path, clock):
    path = tmp_path / "firesteel.prom"
    sink = sinks.metrics(path)
    sink(Frame(progress(0, 4, 0.5), progress(1, 0, 0.0)), 0)
    clock.now = 60.0
    sink(Frame(progress(1, 0, 0.0)), 1)
    assert metrics_in(path)["firesteel_lag_seconds"] == "60.5"
    clock.now = 90.0
    sinks.metrics(path)(Frame(), 2)  # another process, in which no group was called yet
    assert metrics_in(path)["firesteel_lag_seconds"] == "90.5"
    assert metrics_in(path)["firesteel_unmatched"] == "4"
    sinks.metrics(path)(Frame(), 3)
    sink = sinks.metrics(path)
    sink(Frame(progress(0, 0, 0.0)), 4)
    assert metrics_in(path)["firesteel_lag_seconds"] == "0.0"
    assert metrics_in(path)["firesteel_unmatched"] == "0"
    sinks.metrics(path)(Frame(progress(2, 1, 0.0), query="another"), 0)
    assert metrics_in(path)["firesteel_matched"] == "7"  # groups of another query are others


@pytest.mark.parametrize(("asked", "kinds"), [(False, ["difference"]), (True, ["difference", "progress"])])
def test_a_callback_gets_dicts(asked, kinds):
    seen = []
    sinks.callback(seen.append, progress=asked)(Frame(difference("a"), progress(0, 0, 0.0)), 0)
    assert [row["kind"] for row in seen] == kinds
    assert seen[0]["left"] == {"n": 1}


def test_several_sinks_see_the_same_rows():
    seen, frame = [], Frame(difference("a"))
    sinks.together(sinks.callback(seen.append), sinks.callback(seen.append))(frame, 0)
    assert [row["id"] for row in seen] == ["a", "a"]


def test_a_query_is_stopped_after_its_first_difference(spark):
    numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
    kinds = numbers.selectExpr("if(value = 17, 'difference', 'shed') AS kind")
    query = kinds.writeStream.foreachBatch(sinks.stop()).start()
    try:
        assert query.awaitTermination(60) is True
    finally:
        query.stop()
    assert query.exception() is None
    assert query.lastProgress["batchId"] >= 1  # the first one has none
