"""The engine against a brute-force reading, on random formulas and traces; and mutants of the engine, caught."""

import random
from collections import Counter

import pytest

from firesteel.logic.ltl import explain as explain_module
from firesteel.logic.ltl import monitor, obligations, past, progression
from firesteel.logic.ltl.formulas import Consume, Release, Until, postorder
from firesteel.logic.ltl.obligations import Running, both, either
from firesteel.logic.ltl.progression import progress
from firesteel.logic.verdicts import Verdict
from tests.logic import oracle
from tests.logic.next_form import explicit_next_form, judge
from tests.logic.random_formulas import FUTURE, OPERATORS, depth_of, random_formula

PAIRS = 24_000


def pairs(count, seed, **options):
    rng = random.Random(seed)
    for _ in range(count):
        formula = random_formula(rng, rng.choice([1, 2, 2, 3, 3, 4]), **options)
        yield formula, [rng.randint(0, 3) for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4, 5, 6, 8]))]


def test_the_monitor_agrees_with_brute_force():
    verdicts, operators, deep = Counter(), Counter(), 0
    for formula, trace in pairs(PAIRS, seed=20):
        expected = oracle.judge(formula, trace)
        assert formula.evaluate(trace) is expected, (formula, trace)
        verdicts[expected] += 1
        operators.update({type(inner).__name__.lower() for inner in postorder(formula)})
        deep += depth_of(formula) >= 3
    assert min(verdicts[v] for v in Verdict) >= 0.15 * PAIRS, verdicts
    assert deep >= 0.3 * PAIRS
    assert set(OPERATORS) <= set(operators), "every operator was tried"
    assert min(operators[name] for name in OPERATORS) >= 500, operators


def test_a_definite_verdict_never_changes_and_a_monitor_is_never_ahead_of_the_truth():
    for formula, trace in pairs(3_000, seed=21):
        monitor = formula.monitor()
        so_far = Verdict.INCONCLUSIVE
        for index, instant in enumerate(trace):
            verdict = monitor.step(instant)
            assert not so_far.definite or verdict is so_far
            so_far = verdict
            if verdict.definite:
                # what is definite after a prefix holds however the trace goes on
                rng = random.Random(index)
                other = trace[: index + 1] + [rng.randint(0, 3) for _ in range(4)]
                assert oracle.judge(formula, other) is verdict, (formula, other)
        assert monitor.finish() is oracle.judge(formula, trace)


def test_the_papers_procedure_agrees():
    for formula, trace in pairs(4_000, seed=22, operators=FUTURE):
        assert judge(formula, trace) is oracle.judge(formula, trace), (formula, trace)


def test_the_explicit_next_form_means_the_same():
    for formula, trace in pairs(1_000, seed=23, operators=FUTURE, unbounded=False, bodies=False):
        written_out = explicit_next_form(formula)
        names = {type(inner).__name__ for inner in postorder(written_out)}
        assert names <= {"Constant", "Atom", "Not", "And", "Or", "Implies", "Next"}
        assert written_out.evaluate(trace) is oracle.judge(formula, trace), (formula, trace)


def test_explanations_agree_and_rest_on_what_they_say():
    for formula, trace in pairs(3_000, seed=24):
        reason = formula.explain(trace)
        assert reason.verdict is oracle.judge(formula, trace), (formula, trace)
        for step in _steps(reason):
            if step.because and step.verdict.definite:
                assert all(inner.verdict.definite for inner in step.because), (formula, trace)
        monitor = formula.monitor()
        for index, instant in enumerate(trace):
            if monitor.step(instant).definite:
                open_ended = formula.explain(trace[: index + 1], ended=False)
                assert open_ended.verdict is monitor.verdict, (formula, trace)
                break


def _steps(reason):
    yield reason
    for inner in reason.because:
        yield from _steps(inner)


# --- mutants ------------------------------------------------------------------------------------------


def strong_release(node, rest, turn):
    now = progress(node.then, turn)
    first = progress(node.first, turn)
    return both((now, first if rest is None else either((first, rest))))


def until_without_its_first_part(node, rest, turn):
    now = progress(node.then, turn)
    return now if rest is None else either((now, rest))


def always_that_stops_one_short(node, turn):
    rest = None if turn.flat or turn.index >= node.last - 1 else node
    return progression._UNFOLD[type(node.formula)](node.formula, rest, turn)


def consume_that_starts_now(node, turn):
    return progression._let(node, turn)


def once_that_forgets_too_late(cell, fresh, holds, bound, turn):
    return _witnesses(cell, fresh, holds, None if bound is None else bound + 1, turn)


def implication_of_an_open_premise_is_true(premise, then, asked, turn):
    return Verdict.TRUE if premise is not Verdict.TRUE else progress(then, turn)


def absorption_under_the_wrong_value(parts, neutral):
    return _absorbed(parts, ~neutral)


_witnesses, _absorbed = past._witnesses, obligations._absorbed


@pytest.mark.parametrize(
    "place, key, mutant",
    [
        (progression._UNFOLD, Release, strong_release),
        (progression._UNFOLD, Until, until_without_its_first_part),
        (monitor._RULES, Running, always_that_stops_one_short),
        (monitor._RULES, Consume, consume_that_starts_now),
        (past, "_witnesses", once_that_forgets_too_late),
        (progression, "_promised", implication_of_an_open_premise_is_true),
        (obligations, "_absorbed", absorption_under_the_wrong_value),
    ],
    ids=lambda value: getattr(value, "__name__", "table"),
)
def test_mutants_of_the_engine_are_caught(monkeypatch, place, key, mutant):
    if isinstance(place, dict):
        monkeypatch.setitem(place, key, mutant)
    else:
        monkeypatch.setattr(place, key, mutant)
    assert any(formula.evaluate(trace) is not oracle.judge(formula, trace) for formula, trace in pairs(4_000, seed=20))


def test_the_reader_of_explanations_is_checked_too(monkeypatch):
    monkeypatch.setattr(explain_module, "_until", lambda instants, first, then, open_: Verdict.TRUE)
    assert any(formula.explain(trace).verdict is not oracle.judge(formula, trace) for formula, trace in pairs(500, 20))
