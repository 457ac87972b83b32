"""Evidence is small: as small as what Hypothesis makes of the same question.

The general search draws values with Hypothesis and shrinks the choices that it made. An analysis makes its tests
without Hypothesis, thousands a second, and runs them in worker processes, many simpler candidates in one job. So it has
a shrinking of its own. Here it is held against Hypothesis's, on the zoo.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from firesteel import Verdict, operators
from firesteel.operators import domains as d
from firesteel.operators.analysis import Wanted, _tried, analyze
from firesteel.operators.as_strategy import strategy_of
from firesteel.operators.examine import decoded
from firesteel.operators.execute import Loaded, perform
from firesteel.operators.inputs import known_inputs
from firesteel.operators.kinds import Family
from firesteel.operators.outcomes import Job
from firesteel.operators.properties import About
from firesteel.operators.questions import questions
from firesteel.operators.workers import Workers
from firesteel.values.equality import EXACT
from tests.operators.zoo import Instance, instances


@pytest.fixture(autouse=True)
def to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """How far it gets in seconds depends on the machine; here it has the time that it needs."""
    monkeypatch.setattr("firesteel.operators.examine._SHRINK_SECONDS", 60.0)


ASKED = (
    "commutative",
    "associative",
    "idempotent",
    "one_to_one",
    "total",
    "seq_comb_agree",
    "zero_is_identity",
    "row_wise",
)


def fitting() -> list[tuple[Instance, str]]:
    """What may be run in this process: no state, no side effects, and inputs that are known."""
    found = []
    for each in instances():
        if set(each.no) & {"deterministic", "stateless", "pure", "picklable"} or each.options.get("sample"):
            continue
        if each.operator.kind.family in (Family.CALLS, Family.FOLDS, Family.COLUMNS):
            found += [(each, name) for name in each.no if name in ASKED]
    return found


def by_hypothesis(instance: Instance, name: str) -> tuple[Any, ...] | None:
    """The simplest material that refutes a property, by Hypothesis's shrinking, in this process."""
    known = known_inputs(instance.operator, None, None)
    if known is None:
        with Workers(Loaded(instance.operator)) as workers:
            known = _tried(instance.operator, workers, 1.0)
    about, loaded = About(instance.operator, known), Loaded(instance.operator, known.columns)
    equal = instance.options.get("equal", EXACT)

    def refutes(material: tuple[Any, ...]) -> bool:
        for question in questions(name, about, material, equal):
            seen = [perform(loaded, side.run, Job((), limit=0)) for side in question.sides]
            if question.judge(seen) is not None:
                return True
        return False

    materials = st.lists(strategy_of(known.record), min_size=1, max_size=6).map(tuple)
    try:
        return find(
            materials, refutes, settings=settings(max_examples=2_000, derandomize=True, database=None, deadline=None)
        )
    except NoSuchExample:  # it takes a constant of the code, or a long list
        return None


def by_us(instance: Instance, name: str) -> tuple[Any, ...]:
    equal = instance.options.get("equal", EXACT)
    (finding,) = analyze(Wanted(instance.operator, (name,), equal=equal, seconds=60)).findings
    assert finding.verdict is Verdict.FALSE
    return decoded(finding.replay)


def larger(pairs: list[tuple[Instance, str]]) -> tuple[int, list[str]]:
    """How many were compared, and where ours has more records, or is longer when it is written down."""
    compared, found = 0, []
    for instance, name in pairs:
        theirs = by_hypothesis(instance, name)
        if theirs is None:
            continue
        compared += 1
        ours = by_us(instance, name)
        if (len(ours), len(repr(ours))) > (len(theirs), len(repr(theirs))):
            found.append(f"{instance.name}, {name}: {ours} where Hypothesis has {theirs}")
    return compared, found


LEAVES = (d.Ints(), d.Floats(), d.Texts())
DOMAINS = (*LEAVES, d.Lists(d.Ints()), d.Maps(d.Texts(), d.Ints()), d.Rows((d.Maybe(d.Ints()), d.Texts())))


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_what_is_simpler_comes_to_an_end(domain: d.Domain) -> None:
    rng = Random(0)
    for _ in range(50):
        value, steps = domain.random(rng), 0
        while simpler := list(domain.simpler(value)):
            assert value not in simpler
            value, steps = rng.choice(simpler), steps + 1
            assert steps < 200


def test_a_bound_is_reached_in_few_steps() -> None:
    value, steps = 2_000_000_000, 0
    while better := next((each for each in d.Ints().simpler(value) if each >= 48_611), None):
        value, steps = better, steps + 1
    assert value == 48_611 and steps < 80


def test_what_stands_in_several_places_is_made_simpler_in_all() -> None:
    def same(a: tuple[str, int], b: tuple[str, int]) -> tuple[str, int]:
        return (a[0], a[1] - b[1]) if a[0] == b[0] and len(a[0]) > 1 else ("", 0)

    (finding,) = analyze(Wanted(operators.reducer(same), ("commutative",))).findings
    assert decoded(finding.replay) == (("aa", 0), ("aa", 1))


@pytest.mark.slow
def test_some_of_the_zoo() -> None:
    quick = [pair for pair in fitting() if pair[0].operator.kind.family is not Family.COLUMNS]
    compared, found = larger(quick[::8])
    assert compared >= 5 and found == []


@pytest.mark.slow
@pytest.mark.sweep
def test_all_of_the_zoo() -> None:
    compared, found = larger(fitting())
    print(f"{compared} materials were compared")
    assert found == []
