"""`firesteel lint` with arguments that it cannot use, and how findings are written. Without Spark."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from firesteel.cli import scripts
from firesteel.cli.lint import REFUSED, Wanted, _baseline, _configured
from firesteel.cli.main import main
from firesteel.cli.scripts import stdout_as_stderr
from firesteel.errors import InvalidArgument
from firesteel.evidence.lint import Lint, Severity
from firesteel.linting import lint_program
from firesteel.model.lint.linting import linted
from firesteel.model.lint.rules.catalogue import RULES
from firesteel.report.lint import as_data, as_sarif, fingerprint, text
from firesteel.values.programs import CallSite, Level, Program


@pytest.fixture
def script(tmp_path):
    made = tmp_path / "job.py"
    made.write_text("raise AssertionError('this must not be run')\n")
    return made


def refused(capsys, *arguments):
    assert main(["lint", *map(str, arguments)]) == REFUSED
    return capsys.readouterr().err


def test_arguments_that_cannot_be_used(capsys, tmp_path, script):
    assert "no program is given" in refused(capsys)
    assert "is not a file" in refused(capsys, tmp_path / "missing.py")
    (tmp_path / "job.txt").write_text("")
    assert "has to end in .py" in refused(capsys, tmp_path / "job.txt")
    assert "is ties-after-sort meant?" in refused(capsys, "--ignore", "ties-after-srt", script)
    assert "is not a time" in refused(capsys, "--seconds", "0", script)
    assert "--write-baseline" in refused(capsys, "--baseline", tmp_path / "none.json", script)
    missing = tmp_path / "nowhere" / "old.json"
    assert "a folder that does not exist" in refused(capsys, "--write-baseline", missing, script)
    assert "is a folder" in refused(capsys, "--write-baseline", tmp_path, script)
    (tmp_path / "old.json").write_text("[]")
    assert "is not a baseline" in refused(capsys, "--baseline", tmp_path / "old.json", script)


@pytest.mark.parametrize("command, option", [("model", "--output"), ("dag", "--draw")])
def test_what_cannot_be_written_is_refused_before_the_program_runs(capsys, tmp_path, script, command, option):
    order = [str(script), option, str(tmp_path / "nowhere" / "made.svg")]
    assert main([command, *(order if command == "model" else [*order[1:], order[0]])]) == REFUSED
    assert "a folder that does not exist" in capsys.readouterr().err


@pytest.mark.parametrize(
    "table, told",
    [
        ('ignore = ["no-such-rule"]', "is not a rule"),
        ("ignore = 3", "cannot be used"),
        ('fail-on = "sometimes"', "cannot be used"),
        ("seconds = -1", "cannot be used"),
        ("rules = []", "is not known"),
        ("ignore = [", "cannot be read"),
    ],
)
def test_settings_that_cannot_be_used(capsys, tmp_path, script, table, told):
    (tmp_path / "pyproject.toml").write_text(f"[tool.firesteel.lint]\n{table}\n")
    assert told in refused(capsys, script)


@pytest.mark.parametrize(
    "text, told",
    [
        ('[tool.firesteel]\nignore = ["sort-destroyed"]\n', "key='ignore' (str) in [tool.firesteel]"),
        ("[tool.firesteel]\nlint = 3\n", "lint=3 (int) in [tool.firesteel]"),
        ("[tool]\nfiresteel = 3\n", "firesteel=3 (int) in [tool]"),
        ("[tool.firesteel.lint]\nseconds = 3\n[tool.firesteel.other]\n", "key='other' (str) in [tool.firesteel]"),
    ],
)
def test_settings_in_the_wrong_place(capsys, tmp_path, script, text, told):
    (tmp_path / "pyproject.toml").write_text(text)
    said = refused(capsys, script)
    assert told in said and "write [tool.firesteel.lint]" in said


def test_settings_of_a_project(tmp_path, script, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(
        '[tool.firesteel.lint]\nignore = ["sort-destroyed"]\nbaseline = "old.json"\nseconds = 90\n'
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    expected = Wanted(("sort-destroyed",), "error", tmp_path / "old.json", 90.0)
    assert _configured(script) == expected
    (elsewhere / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert _configured(elsewhere / "job.py") == Wanted(), "the nearest one counts"


def test_a_baseline_of_the_project_that_is_made_now(capsys, tmp_path, script):
    (tmp_path / "pyproject.toml").write_text('[tool.firesteel.lint]\nbaseline = "old.json"\n')
    assert "--write-baseline" in refused(capsys, script)
    assert _baseline(tmp_path / "old.json", is_made=True) == frozenset()
    (tmp_path / "old.json").write_text("[]")
    assert "is not a baseline" in refused(capsys, "--write-baseline", tmp_path / "old.json", script)


def test_a_program_that_does_not_end_is_told_of_the_limit(capsys, monkeypatch):
    monkeypatch.setattr(scripts, "_HINT_AFTER", 0.05)
    with scripts._hinting(Path("job.py"), "Stop it"):
        time.sleep(0.3)
    assert capsys.readouterr().err == "firesteel: job.py still runs after 0.05 s. Stop it\n"
    with scripts._hinting(Path("job.py"), "Stop it"):
        pass
    with scripts._hinting(Path("job.py"), ""):
        time.sleep(0.2)
    assert capsys.readouterr().err == ""


def test_the_rules_are_listed(capsys):
    assert main(["lint", "--rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(RULES) >= 25
    assert all(line.split()[0] in RULES for line in lines)


def test_ignoring_what_is_not_a_rule():
    for ignore in (["no-such-rule"], "take-without-order", [3]):
        with pytest.raises(InvalidArgument, match="ignore="):
            linted(Program(), ignore)
    with pytest.raises(InvalidArgument, match="seconds=0"):
        lint_program(Program(), seconds=0)


def test_a_program_without_operations_is_not_silently_clean():
    assert "nothing was captured" in linted(Program()).notes[0]


# --- how findings are written ---


def finding(tmp_path, line=2, confirmed=""):
    file = tmp_path / "job.py"
    file.write_text("import x\n\nfirst = counts.take(1)\nother = counts.take(1)\n")
    where = CallSite(str(file), line, "<module>")
    return Lint(
        "take-without-order",
        Severity.ERROR,
        where,
        "take takes whichever rows arrive first",
        "an example",
        "sort first",
        Level.UNORDERED,
        Level.INDETERMINATE,
        confirmed,
    )


def test_text(tmp_path):
    said = text([finding(tmp_path)], ["a note"])
    assert said.splitlines() == [
        f"{tmp_path}/job.py:2: error: take takes whichever rows arrive first [take-without-order]",
        "  example    an example",
        "  instead    sort first",
        "  level      Spark believes UNORDERED; this is INDETERMINATE",
        "",
        "note: a note",
        "1 error",
    ]
    assert "  seen       two runs gave 1 and 2" in text([finding(tmp_path, confirmed="two runs gave 1 and 2")])


def test_known_findings_are_not_nothing():
    assert text([]) == "nothing hangs on luck, as far as the rules see"
    assert text([], left_out=2) == "nothing new was found"


def test_what_spark_prints_goes_to_standard_error(capfd):
    """A console sink of a stream prints in the JVM: it must not stand in the middle of JSON."""
    with stdout_as_stderr():
        subprocess.run([sys.executable, "-c", "print('from a process')"], check=True)
    print("from here", flush=True)
    assert capfd.readouterr() == ("from here\n", "from a process\n")


def test_json_and_sarif(tmp_path, monkeypatch):
    one = finding(tmp_path)
    (data,) = json.loads(json.dumps(as_data([one])))["findings"]
    assert (data["rule"], data["severity"], data["line"], data["spark_level"]) == (one.rule, "error", 2, "UNORDERED")
    monkeypatch.chdir(tmp_path)
    (run,) = json.loads(json.dumps(as_sarif([one], "1.0", ["a note"])))["runs"]
    (ran,) = run["invocations"]
    assert ran["executionSuccessful"] is True
    assert ran["toolExecutionNotifications"] == [{"level": "note", "message": {"text": "a note"}}]
    (result,) = run["results"]
    listed = run["tool"]["driver"]["rules"]
    assert listed[result["ruleIndex"]]["id"] == result["ruleId"] == one.rule and result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "job.py"}, "region": {"startLine": 2}}


def test_a_fingerprint_stays_when_lines_move(tmp_path):
    import linecache

    old = fingerprint(finding(tmp_path, 3))
    assert old != fingerprint(finding(tmp_path, 4)), "another line"
    moved = finding(tmp_path, 4)
    (tmp_path / "job.py").write_text("import x\n\n\nfirst = counts.take(1)\n")
    linecache.checkcache()
    assert fingerprint(moved) == old


def test_every_rule_says_all_that_it_has_to():
    for name, rule in RULES.items():
        assert name == rule.name and name == name.lower()
        assert all((rule.summary, rule.example, rule.instead, rule.why)), name
        assert not rule.summary.endswith(".") and not rule.example.endswith("."), name
