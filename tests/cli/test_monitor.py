"""`firesteel monitor`: finds the bug of its demo, and says nothing of two jobs that agree."""

import json
from datetime import UTC, datetime

import pytest
from pyspark.errors import StreamingQueryException

from firesteel.cli import advertising
from firesteel.cli.main import main
from firesteel.cli.monitor import Seen, _show, concluded, view

MODULE = """
from firesteel.cli.advertising import joined, looked_up

right = looked_up()
wrong = looked_up(bug="twice")


def silent(events):
    return joined(events).where("false")


def same(numbers):
    return numbers


def changed(numbers):
    return numbers.selectExpr("timestamp + make_dt_interval(int(value = 17)) AS timestamp", "value")


def raising(numbers):
    raise ValueError("no such column\\nat line 5")


def failing(numbers):
    return numbers.selectExpr("timestamp", "if(value < 25, value, raise_error('too large')) AS value")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "advertising_jobs.py").write_text(MODULE)
    (tmp_path / "in").mkdir()
    rows = list(advertising.events(3_000))
    for number in range(3):
        advertising.write(rows[number * 1000 : number * 1000 + 1000], str(tmp_path / "in" / f"{number}.parquet"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arguments(right, *more):
    return [
        *("monitor", "advertising_jobs:joined", f"advertising_jobs:{right}", "--once", "--watermark", "ts=5 seconds"),
        *("--input", "in", "--schema", advertising.EVENTS, "--option", "maxFilesPerTrigger=1"),
        *("--json-lines", "found.jsonl", "--metrics", "firesteel.prom", *more),
    ]


@pytest.mark.slow
def test_two_jobs_that_agree_and_two_that_do_not(spark, folder, capsys):
    assert main(arguments("right")) == 0
    assert "differences 0" in " ".join(capsys.readouterr().out.split())
    assert not (folder / "found.jsonl").read_text()
    assert "firesteel_verdict 1" in (folder / "firesteel.prom").read_text()
    assert main(arguments("wrong", "--stop")) == 1
    found = [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()]
    assert {row["kind"] for row in found} == {"unmatched"}
    assert {row["side"] for row in found} == {"right"}
    assert all(row["right"]["id"] % 50 == 0 for row in found)
    assert "has no match in left" in capsys.readouterr().out


@pytest.mark.slow
def test_a_job_that_puts_out_nothing_differs_although_no_watermark_passes_its_rows(spark, folder, capsys):
    given = arguments("silent")
    given[given.index("ts=5 seconds")] = "ts=1 day"
    assert main(given) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "differences 0" in said
    assert "rows had no match when all was read" in said
    given += ["--unmatched-at-most", "16", "--overflow", "stop"]
    assert main(given) == 3
    assert "unmatched_at_most allows 1 here" in capsys.readouterr().err


def live(right, *more):
    given = ["--format", "rate-micro-batch", "--option", "rowsPerBatch=10", "--key", "value"]
    return ["monitor", "advertising_jobs:same", f"advertising_jobs:{right}", *given, *more]


@pytest.mark.slow
def test_a_source_that_goes_on_needs_no_input(spark, folder, capsys):
    assert main(live("changed", "--stop", "--json-lines", "found.jsonl")) == 1
    found = [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()]
    assert [(row["kind"], row["key"]) for row in found] == [("difference", "value=17")]
    assert "came where left has" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_a_query_that_fails_is_not_one_that_found_a_difference(spark, folder, capsys):
    assert main(live("failing")) == 3
    said = capsys.readouterr().err
    assert said.startswith("firesteel monitor: the query failed: ")
    assert "too large" in said
    assert len(said.splitlines()) == 1


def test_a_job_that_raises_has_failed(spark, folder, capsys):
    assert main(live("raising")) == 3
    assert capsys.readouterr().err == (
        "firesteel monitor: advertising_jobs:raising failed: ValueError: no such column\n"
    )


@pytest.mark.slow
def test_the_demo_finds_its_bug(spark, capsys):
    assert main(["monitor", "--demo"]) == 0
    said = capsys.readouterr().out
    assert "it does not know one of the campaigns" in said
    assert "campaign-7" in said
    assert "firesteel found it." in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "two jobs and their input are needed"),
        (["nothing:left", "nothing:right"], "two jobs and their input are needed"),
        (["nothing:left", "nothing:right", "--format", "rate-micro-batch"], "its module cannot be imported"),
        (["nothing:left", "nothing:right", "--input", "in"], "its module cannot be imported"),
    ],
)
def test_wrong_arguments_are_refused(given, said, capsys):
    assert main(["monitor", *given]) == 2
    assert said in capsys.readouterr().err


AT = datetime(2030, 1, 1, tzinfo=UTC)


def progress(group, unmatched, lag, matched=10):
    counts = {"unmatched": unmatched, "matched": matched, "quarantined": 1, "lag": lag, "time": AT}
    return {"kind": "progress", "id": f"progress/0/{group}", **counts}


def shown(seen, after=0.0):
    from rich.console import Console

    console = Console(record=True, width=100)
    console.print(view(seen, AT.timestamp() + after))
    return " ".join(console.export_text().split())


def test_the_view_adds_up_groups_and_keeps_the_first_difference():
    seen = Seen()
    for group, unmatched in enumerate((3, 4)):
        seen.take(progress(group, unmatched, 0.5 + group))
    for number in range(2):
        seen.take({"kind": "difference", "id": str(number), "reason": f"left: [{number}] is odd"})
    said = shown(seen)
    assert "matched 20 pairs" in said
    assert "unmatched 7" in said
    assert "lag 1.5 s" in said
    assert "differences 2 the first left: [0] is odd" in said
    assert "shed" not in said
    assert "lag 61.5 s" in shown(seen, after=60)  # it waits, and its group is not called
    for group in (0, 1):
        seen.take(progress(group, 0, 0.0))
    assert "lag 0.0 s" in shown(seen, after=60)


def test_the_view_says_how_many_rows_come_in_and_how_many_pairs_are_matched_a_second():
    seen = Seen()
    seen.take(progress(0, 0, 0.0, matched=100))
    seen.tick(50.0, None)
    assert "input 0 rows a second matched 100 pairs, 0 a second" in shown(seen)
    seen.take(progress(0, 0, 0.0, matched=400))
    seen.tick(50.5, {"inputRowsPerSecond": float("nan")})
    assert "input 0 rows a second matched 400 pairs, 0 a second" in shown(seen)  # too soon to tell
    seen.tick(52.0, {"inputRowsPerSecond": 1234.5})
    assert "input 1,234 rows a second matched 400 pairs, 150 a second" in shown(seen)
    seen.tick(54.0, {})
    assert "input 0 rows a second matched 400 pairs, 0 a second" in shown(seen)


def test_a_query_that_failed_before_anybody_waited_for_it_has_failed():
    class Ended:
        isActive, lastProgress = False, None

        def awaitTermination(self, seconds):
            raise StreamingQueryException("it ended")

    with pytest.raises(StreamingQueryException, match="it ended"):
        _show(Ended(), Seen())


def test_rows_that_were_dropped_are_no_difference_but_nothing_is_all_right_either(capsys):
    seen = Seen()
    seen.take({"kind": "shed", "id": "shed/1/0", "reason": "5 rows waited"})
    assert "shed 1 time differences 0" in shown(seen)
    assert concluded(seen, all_read=False) == 1
    assert "some were dropped, and were not compared" in capsys.readouterr().out


def test_what_is_left_without_a_match_counts_when_all_was_read(capsys):
    seen = Seen()
    seen.take(progress(0, 3, 0.0))
    assert concluded(seen, all_read=False) == 0
    assert not capsys.readouterr().out
    assert concluded(seen, all_read=True) == 1
    assert "3 rows had no match when all was read" in capsys.readouterr().out
