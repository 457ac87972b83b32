"""`firesteel model`: runs and verifies programs from files."""

import json

import pytest

from firesteel.cli.main import main

COUNTER = """
frame(x) and (int x <== start and skip ; while x < 3 {x := x + 1 or x := x + 2})
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "counter.m"
    path.write_text(COUNTER)
    return str(path)


def test_run(file, capsys):
    assert main(["model", "run", file, "--input", "start=1"]) == 0
    assert json.loads(capsys.readouterr().out) == {"x": 3}


def test_run_shows_states(file, capsys):
    assert main(["model", "run", file, "--input", "start=2", "--states"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [{"state": 0, "x": 2}, {"state": 1}, {"state": 2, "x": 3}]


def test_run_with_an_external(tmp_path, capsys):
    path = tmp_path / "root.m"
    path.write_text("y <== ext root(x) and empty")
    assert main(["model", "run", str(path), "--input", "x=16", "--external", "root=math:sqrt"]) == 0
    assert json.loads(capsys.readouterr().out) == {"y": 4.0}


def test_verify(file, capsys):
    arguments = ["model", "verify", file, "--input", "start=0", "--formula", "<> up", "--define", "up=x >= 3"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "true in 5 runs, 14 states\n"


def test_verify_finds_a_run(file, capsys):
    arguments = ["model", "verify", file, "--input", "start=0", "--formula", "[] low", "--define", "low=x <= 3"]
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert out.startswith("the formula is false in a run of counter.m: state 4\n")
    assert "low       x <= 3" in out and "inputs    start=0" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "FILE"], "the program needs the input 'start'"),
        (["run", "FILE", "--input", "start"], "--input='start' (str) is not a name and a value"),
        (["run", "FILE", "--input", "start=text"], "x is declared as int, and 'text' (string) is assigned"),
        (["run", "FILE", "--input", "start=0", "--bound", "2"], "has not ended after 2 states"),
        (["run", "nothing.m"], "'nothing.m' (str) cannot be read"),
        (["verify", "FILE", "--input", "start=0", "--formula", "[ p"], "write `[]` for always"),
        (["verify", "FILE", "--input", "start=0", "--formula", "[] p"], "the proposition 'p' reads 'p'"),
        (
            ["verify", "FILE", "--input", "start=0", "--formula", "true", "--runs", "2"],
            "it has more runs than 2 runs",
        ),
    ],
)
def test_what_is_wrong_is_said(file, capsys, arguments, said):
    assert main(["model", *(file if each == "FILE" else each for each in arguments)]) == 2
    written = capsys.readouterr()
    assert said in written.err and written.err.startswith("firesteel model: ")
    assert not written.out
