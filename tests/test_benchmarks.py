"""Every benchmark ends with one line of JSON that has its bounds. Their speed is not asserted here."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("run", BENCHMARKS / "run.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run", module)
    spec.loader.exec_module(module)
    return module


def test_a_bound_is_kept_or_not(run):
    assert run.Bound(2.0, at_most=2.2).ok and not run.Bound(2.3, at_most=2.2).ok
    assert run.Bound(60, at_least=60).ok and not run.Bound(59, at_least=60).ok
    assert run.Bound(1.98765, at_most=2.2).as_json() == {"measured": 1.988, "at_most": 2.2}


@pytest.mark.parametrize("measured, ok", [(1.0, True), (3.0, False)])
def test_the_last_line_is_json(run, monkeypatch, capsys, measured, ok):
    monkeypatch.setattr(run, "load", lambda name: lambda: {"ratio": run.Bound(measured, at_most=2)})
    assert run.main(["logic"]) == (0 if ok else 1)
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last == {"benchmark": "logic", "bounds": {"ratio": {"measured": measured, "at_most": 2}}, "ok": ok}


def test_an_unknown_name_lists_those_there_are(run, capsys):
    assert run.main(["nothing"]) == 2
    assert "generate, lint, logic" in capsys.readouterr().err


def test_a_quick_part_is_asked_for_where_there_is_one(run, monkeypatch, capsys):
    monkeypatch.setattr(run, "load", lambda name: dict)
    monkeypatch.setenv("OPERATORS_QUICK", "")
    assert run.main(["operators-spark", "--quick"]) == 0 and run.os.environ["OPERATORS_QUICK"] == "1"
    assert run.main(["logic", "--quick"]) == 2


def test_every_benchmark_loads(run):
    for name in run.names():
        assert callable(run.load(name))


def test_numbers_are_handed_over(run, monkeypatch, capsys):
    seen = {}
    monkeypatch.setattr(run, "load", lambda name: lambda **given: seen.update(given) or {})
    assert run.main(["monitor-soak", "--minutes", "3", "--a-file", "10"]) == 0
    assert seen == {"minutes": 3.0, "a_file": 10.0}
