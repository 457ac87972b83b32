"""Symbolic search: what a solver finds and nothing else does; and what happens without it."""

from __future__ import annotations

import pytest

import firesteel as fs
from firesteel import operators
from firesteel.operators import symbolic
from firesteel.operators.inputs import known_inputs
from firesteel.operators.properties import About

ROOT = 48_613


def equation(x: int) -> int | None:
    """Only 48,613 and -48,608 solve it, and neither is written here."""
    return None if x * x - 5 * x + 6 == 2_362_980_710 else x


def equation_without_root(x: int) -> int | None:
    return None if x * x - 5 * x + 6 == 2_362_980_711 else x


def rare_pair(a: int, b: int) -> int:
    """Commutative but where the two lie on a line."""
    return a if 3 * a + 7 * b == 1_000_003 else a + b


@pytest.fixture
def with_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hypothesis_crosshair_provider")
    monkeypatch.delenv("FIRESTEEL_SYMBOLIC", raising=False)
    assert symbolic.is_there()


@pytest.mark.slow
@pytest.mark.usefixtures("with_solver")
def test_what_only_a_solver_finds() -> None:
    found = fs.analyze(equation, "one_to_one", "total", tests=100)
    assert found["one_to_one"].verdict is fs.Verdict.FALSE
    assert found["one_to_one"].evidence in (
        f"equation({ROOT}) has 0 outputs: [None]",
        "equation(-48608) has 0 outputs: [None]",
    )
    assert found["one_to_one"].tests == 101 and found["one_to_one"].replay
    assert found["total"].verdict is fs.Verdict.INCONCLUSIVE
    line = fs.analyze(operators.reducer(rare_pair), "commutative", tests=100)["commutative"]
    assert line.verdict is fs.Verdict.FALSE


@pytest.mark.slow
@pytest.mark.usefixtures("with_solver")
def test_a_right_look_alike_and_one_that_is_too_hard() -> None:
    right = fs.analyze(equation_without_root, "one_to_one", tests=100)["one_to_one"]
    assert right.verdict is fs.Verdict.INCONCLUSIVE and right.tests == 100

    def collatz(n: int) -> int:
        while n > 1 and n != 77_031:
            n = 3 * n + 1 if n % 2 else n // 2
        return n

    # It ends when its time is up.
    assert fs.analyze(collatz, "total", tests=20, seconds=4)["total"].verdict is fs.Verdict.INCONCLUSIVE


def test_without_it_the_question_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRESTEEL_SYMBOLIC", "off")
    assert not symbolic.is_there()
    found = fs.analyze(equation, "one_to_one", tests=500)["one_to_one"]
    assert (found.verdict, found.tests) == (fs.Verdict.INCONCLUSIVE, 500)
    monkeypatch.delenv("FIRESTEEL_SYMBOLIC")
    monkeypatch.setattr(symbolic, "find_spec", lambda name: None)
    assert not symbolic.is_there()


def test_what_it_is_asked() -> None:
    def wanted(
        operator: operators.Operator, sample: list[int] | None = None, **verdicts: fs.Verdict
    ) -> tuple[str, ...]:
        inputs = known_inputs(operator, None, sample)
        assert inputs is not None
        done = {name: fs.Finding(name, verdict) for name, verdict in verdicts.items()}
        return symbolic.wanted_of(About(operator, inputs), done)

    open_, false = fs.Verdict.INCONCLUSIVE, fs.Verdict.FALSE
    plain = operators.function(equation)
    assert wanted(plain, deterministic=open_, one_to_one=open_, idempotent=false, stateless=open_) == ("one_to_one",)
    assert wanted(operators.reducer(rare_pair), commutative=open_, stateless=open_) == ("commutative",)
    # A function with side effects would be called as often as the solver likes; and no other values are fed than given.
    assert wanted(plain, one_to_one=open_, pure=false) == wanted(plain, one_to_one=open_, deterministic=false) == ()
    assert wanted(plain, sample=[1], one_to_one=open_) == ()
    assert wanted(operators.pandas_udf(lambda n: n, input="n INT"), total=open_) == ()
    assert wanted(operators.function(len), sample=[1], total=open_) == ()
