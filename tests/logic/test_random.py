"""The engine against a brute-force reading, on random formulas and traces; and mutants of the engine, caught."""

import random
from collections import Counter

import pytest

from firesteel.logic.ltl import explain as explain_module
from firesteel.logic.ltl import monitor as engine
from firesteel.logic.ltl.formulas import postorder
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
    now = engine._progress(node.then, turn)
    first = engine._progress(node.first, turn)
    return engine._both((now, first if rest is None else engine._either((first, rest))))


def until_without_its_first_part(node, rest, turn):
    now = engine._progress(node.then, turn)
    return now if rest is None else engine._either((now, rest))


def always_that_stops_one_short(node, turn):
    rest = None if turn.flat or turn.index >= node.last - 1 else node
    return engine._UNFOLD[type(node.formula)](node.formula, rest, turn)


def consume_that_starts_now(node, turn):
    return engine._let(node, turn)


def once_that_forgets_too_late(cell, fresh, holds, bound, turn):
    return _witnesses(cell, fresh, holds, None if bound is None else bound + 1, turn)


def implication_of_an_open_premise_is_true(premise, then, asked, turn):
    return engine.TRUE if premise is not engine.TRUE else engine._progress(then, turn)


def absorption_under_the_wrong_value(parts, neutral):
    return _absorbed(parts, engine._OPPOSITE[neutral])


_witnesses, _absorbed = engine._witnesses, engine._absorbed


@pytest.mark.parametrize(
    "table, key, mutant",
    [
        ("_UNFOLD", engine.Release, strong_release),
        ("_UNFOLD", engine.Until, until_without_its_first_part),
        ("_STEP", engine._Running, always_that_stops_one_short),
        ("_STEP", engine.Consume, consume_that_starts_now),
        (None, "_witnesses", once_that_forgets_too_late),
        (None, "_promised", implication_of_an_open_premise_is_true),
        (None, "_absorbed", absorption_under_the_wrong_value),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_mutants_of_the_engine_are_caught(monkeypatch, table, key, mutant):
    if table is None:
        monkeypatch.setattr(engine, key, mutant)
    else:
        monkeypatch.setitem(getattr(engine, table), key, mutant)
    assert any(formula.evaluate(trace) is not oracle.judge(formula, trace) for formula, trace in pairs(4_000, seed=20))


def test_the_reader_of_explanations_is_checked_too(monkeypatch):
    monkeypatch.setattr(explain_module, "_until", lambda instants, first, then, open_: Verdict.TRUE)
    assert any(formula.explain(trace).verdict is not oracle.judge(formula, trace) for formula, trace in pairs(500, 20))
