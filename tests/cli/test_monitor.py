"""`firesteel monitor`: finds the bug of its demo, and says nothing of two jobs that agree."""

import json

import pytest

from firesteel.cli import advertising
from firesteel.cli.main import main
from firesteel.cli.monitor import Seen, view

MODULE = """
from firesteel.cli.advertising import joined, looked_up

right = looked_up()
wrong = looked_up(bug="twice")
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
        (["nothing:left", "nothing:right", "--input", "in"], "its module cannot be imported"),
    ],
)
def test_wrong_arguments_are_refused(given, said, capsys):
    assert main(["monitor", *given]) == 2
    assert said in capsys.readouterr().err


def test_the_view_adds_up_groups_and_keeps_the_first_difference():
    from rich.console import Console

    seen = Seen()
    for group, unmatched in enumerate((3, 4)):
        counts = {"unmatched": unmatched, "matched": 10, "quarantined": 1, "lag": 0.5 + group}
        seen.take({"kind": "progress", "id": f"progress/0/{group}", **counts})
    for number in range(2):
        seen.take({"kind": "difference", "id": str(number), "reason": f"left: [{number}] is odd"})
    console = Console(record=True, width=100)
    console.print(view(seen))
    said = " ".join(console.export_text().split())
    assert "matched 20 pairs" in said
    assert "unmatched 7" in said
    assert "lag 1.5 s" in said
    assert "differences 2 the first left: [0] is odd" in said
