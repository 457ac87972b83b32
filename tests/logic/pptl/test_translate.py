"""LTLss formulas as PPTL: judged by the monitors of both logics, and by LTLss's brute-force reading."""

import random
from collections import Counter
from itertools import product

import pytest

import firesteel as fs
from firesteel import InvalidArgument, Verdict
from firesteel.logic import pptl
from tests.logic import oracle
from tests.logic.random_formulas import ATOMS, FUTURE, random_formula

NAMES = [atom.name for atom in ATOMS]


def letter(x):
    return {atom.name for atom in ATOMS if atom.predicate(x)}


def pairs(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        formula = random_formula(rng, rng.choice([1, 2, 2, 3]), operators=FUTURE, bodies=False)
        yield formula, [rng.randint(0, 3) for _ in range(rng.randint(1, 6))]


def test_a_complete_trace_is_true_in_both_or_in_neither():
    """What is inconclusive in LTLss is false in PPTL: a trace that is too short never passes."""
    seen = Counter()
    for formula, trace in pairs(2_500, seed=1):
        expected = oracle.judge(formula, trace)
        translated = pptl.of(formula)
        assert bool(translated.evaluate(map(letter, trace), names=NAMES)) == (expected is Verdict.TRUE), (
            formula,
            trace,
        )
        seen[expected] += 1
    assert min(seen[verdict] for verdict in Verdict) > 200, seen


def test_verdicts_are_equal_wherever_ltlss_is_definite_before_the_end():
    definite = Counter()
    for formula, trace in pairs(800, seed=2):
        first, second = formula.monitor(), pptl.of(formula).monitor(names=NAMES, cap=20_000)
        for x in trace:
            known, also = first.step(x), second.step(letter(x))
            if known.definite:
                assert also is known, (formula, trace)
                definite[known] += 1
    assert min(definite[verdict] for verdict in (Verdict.TRUE, Verdict.FALSE)) > 300, definite


def test_a_translation_can_be_read():
    p, q = fs.now(lambda x: x, name="p"), fs.now(lambda x: x, name="q")
    assert str(pptl.of(fs.next_(p))) == "next p"
    assert str(pptl.of(~fs.next_(p))) == "next not p"
    assert str(pptl.of(fs.next_(p, times=3))) == "len(3) ; p"
    assert str(pptl.of(fs.eventually(p, within=3))) == "(empty or skip)^2 ; p"
    assert str(pptl.of(fs.always(p, during=3))) == "not ((empty or skip)^2 ; not p) and (len(2) ; true)"
    assert str(pptl.of(fs.until(p, q))) == "p until q"
    assert str(pptl.of(fs.release(p, q))) == "p release q"
    assert str(pptl.of(fs.next_(fs.always(p)))) == "next [] p or empty", "past the end, always has closed true"


def test_large_bounds_are_no_large_formulas():
    p, q = fs.now(lambda x: x, name="p"), fs.now(lambda x: x, name="q")
    answered = pptl.of(fs.always(fs.implies(p, fs.eventually(q, within=200)), during=3))
    assert len(str(answered)) < 200
    assert answered.evaluate([{"p"}] * 200 + [{"q"}] * 3) is Verdict.FALSE
    assert answered.evaluate([{"p"}] * 199 + [{"q"}] * 3) is Verdict.TRUE


@pytest.mark.parametrize(
    "formula",
    [
        fs.let(lambda x: True),
        fs.always(fs.consume(lambda x: True)),
        fs.always(fs.once(lambda x: x)),
        fs.previously(lambda x: x),
        fs.historically(lambda x: x),
        fs.since(lambda x: x, lambda y: y),
    ],
)
def test_what_has_no_translation(formula):
    with pytest.raises(InvalidArgument, match="has no translation into PPTL: `let` and `consume` make formulas from"):
        pptl.of(formula)


def test_two_predicates_of_one_name_are_refused():
    first, second = fs.now(lambda x: x > 1, name="p"), fs.now(lambda x: x > 2, name="p")
    assert pptl.of(first & first).names == {"p"}
    with pytest.raises(InvalidArgument, match="two predicates have the name 'p'"):
        pptl.of(first & second)


def test_a_mutant_that_forgets_what_is_past_the_end_is_caught(monkeypatch):
    from firesteel.logic.pptl import translate

    later = translate._later
    monkeypatch.setattr(translate, "_later", lambda body, past, times: (later(body, False, times)[0], past))
    assert any(
        bool(pptl.of(formula).evaluate(map(letter, trace), names=NAMES))
        != (oracle.judge(formula, trace) is Verdict.TRUE)
        for formula, trace in pairs(3_000, seed=1)
    )


def test_bounds_that_reach_past_the_end_where_always_has_closed():
    p, q = fs.now(lambda x: "p" in x, name="p"), fs.now(lambda x: "q" in x, name="q")
    closed, open_ = fs.always(q), fs.eventually(q)
    for n in (1, 2, 3):
        for formula in [
            fs.until(p, closed, within=n),
            fs.until(closed, p, within=n),
            fs.release(p, closed, during=n),
            fs.release(closed, closed, during=n),
            fs.release(p, open_, during=n),
            fs.eventually(closed, within=n),
            fs.always(closed, during=n),
            fs.next_(closed, times=n),
        ]:
            for whole in (formula, ~formula):
                translated = pptl.of(whole)
                for length in (1, 2):
                    for trace in product(["", "p", "q", "pq"], repeat=length):
                        expected = oracle.judge(whole, trace) is Verdict.TRUE
                        assert bool(translated.evaluate(map(set, trace), names=["p", "q"])) == expected, (whole, trace)
