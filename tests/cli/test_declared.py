"""`firesteel analyze MODULE --declared`: claims beside findings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from firesteel.cli.main import main

TEXT = """
import firesteel as fs

@fs.declares("commutative", "not idempotent", tests=30)
def plus(a: int, b: int) -> int:
    return a + b
"""
WRONG = """
@fs.declares("commutative", tests=30)
def minus(a: int, b: int) -> int:
    return a - b
"""


@pytest.mark.parametrize("name, more, code", [("claims_right", "", 0), ("claims_wrong", WRONG, 1)])
def test_claims_beside_findings(
    name: str, more: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / f"{name}.py").write_text(TEXT + more)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert main(["analyze", name, "--declared"]) == code
    said = capsys.readouterr().out
    assert "not idempotent" in said and ("minus" in said and "DIFFERS" in said) is bool(code)


@pytest.mark.parametrize("name, said", [("no_such_module_here", "cannot be imported"), ("json", "declares nothing")])
def test_a_module_that_says_nothing(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", name, "--declared"]) == 2
    assert said in capsys.readouterr().err


ON_SPARK = """
import firesteel as fs
from firesteel import operators

def job(f):
    return operators.transformation(f, input="n INT", engine="batch")

@fs.declares("one_to_one", "not partition_independent", operator=job, tests=4, sample=[(1,), (2,)])
def numbered(frame):
    return frame.selectExpr("n", "monotonically_increasing_id() as id")

@fs.declares("one_to_one", operator=job, tests=4, sample=[(1,), (2,)])
def some(frame):
    return frame.where("n > 1")
"""


@pytest.mark.slow
def test_claims_about_operators_on_spark(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("firesteel.operators.onspark.examine._SHRINK_SECONDS", 0.0)
    (tmp_path / "claims_on_spark.py").write_text(ON_SPARK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert main(["analyze", "claims_on_spark", "--declared"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "DIFFERS" in line] == ["some"]
    assert sum("numbered" in line for line in lines) == 2
