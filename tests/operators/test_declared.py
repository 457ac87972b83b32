"""What code declares about itself: checked by a function, and collected by pytest."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import firesteel as fs
from firesteel.operators.declared import declarations_of

pytest_plugins = ["pytester"]


def declaring(name: str, text: str) -> ModuleType:
    module = ModuleType(name)
    exec("import firesteel as fs\n" + text, module.__dict__)
    sys.modules[name] = module
    return module


def test_the_function_is_unchanged() -> None:
    def plus(a: int, b: int) -> int:
        return a + b

    before = dict(vars(plus))
    assert fs.declares("commutative")(plus) is plus
    assert vars(plus) == before


def test_every_claim_is_checked() -> None:
    module = declaring(
        "declaring_right",
        """
@fs.declares("commutative", "associative", "not idempotent", tests=20)
def plus(a: int, b: int) -> int:
    return a + b
""",
    )
    assert len(fs.check_declared(module)) == 3


def test_a_false_claim_fails() -> None:
    declaring(
        "declaring_wrong",
        """
@fs.declares("stateless", "associative", tests=20)
def minus(a: int, b: int) -> int:
    return a - b
""",
    )
    with pytest.raises(fs.Falsified, match=r"minus .*is not associative"):
        fs.check_declared("declaring_wrong")


def test_from_outside_and_suppressed() -> None:
    made = fs.declared(divmod, "deterministic", operator=fs.operators.function)
    assert made in declarations_of("builtins")
    with pytest.raises(fs.InvalidArgument, match="declares nothing"):
        fs.check_declared("nobody")
    with pytest.raises(fs.InvalidArgument, match="takes claims"):
        fs.declares(len)  # type: ignore[arg-type]


@pytest.mark.slow
def test_pytest_collects_claims(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(
        jobs="""
        import firesteel as fs

        @fs.declares("commutative", "associative", tests=20)
        def minus(a: int, b: int) -> int:
            return a - b

        @fs.declares("commutative", tests=20)
        def plus(a: int, b: int) -> int:
            return a + b
        """,
        test_other="def test_it(): pass",
    )
    pytester.makeini("[pytest]\nfiresteel_declared = jobs\n")
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    done: Any = pytester.runpytest_subprocess("-v")
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["*jobs.minus: commutative*", "*minus(0, 1) = -1, minus(1, 0) = 1*"])
    pytester.runpytest_subprocess("test_other.py").assert_outcomes(passed=1)
