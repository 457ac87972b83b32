"""Derivatives, automata, text and monitors against brute force, on random formulas and traces; and mutants, caught."""

import pickle
import random
from collections import Counter

import pytest

from firesteel.logic import pptl
from firesteel.logic.pptl import automata, derivative, minimise
from firesteel.logic.pptl.derivative import Answer
from firesteel.logic.pptl.formulas import Prj, postorder
from firesteel.logic.pptl.terms import Kind, Terms
from firesteel.logic.verdicts import Verdict
from tests.logic.pptl import oracle
from tests.logic.pptl.random_formulas import OPERATORS, random_formula, random_trace

FORMULAS, TRACES = 2_400, 9
LETTERS = oracle.subsets("pq")


def formulas(count, seed, deepest=3, names="pq"):
    rng = random.Random(seed)
    return [random_formula(rng, rng.choice([1, 2, 2, deepest]), names) for _ in range(count)]


def compare(count, traces, seed, deepest=3, most=3):
    """The first pairs of formula and trace on which the readings do not agree, and what was tried."""
    rng = random.Random(seed)
    wrong, operators, truths = [], Counter(), Counter()
    for formula in formulas(count, seed, deepest):
        whole = formula.automaton()
        text = pptl.parse(str(formula))
        kinds = {type(part).__name__.lower() for part in postorder(formula)}
        kinds |= {f"prj {len(part.parts)}" for part in postorder(formula) if isinstance(part, Prj)}
        for _ in range(traces):
            trace = random_trace(rng)
            expected = oracle.holds(formula, trace)
            operators.update(kinds)
            truths[expected] += 1
            readings = [
                bool(formula.evaluate(trace, names=["p", "q"])),
                bool(text.evaluate([{"p": "p" in now, "q": "q" in now} for now in trace], names=["p", "q"])),
                whole.accepting[whole.run(trace)],
            ]
            if readings != [expected] * 3:
                wrong.append((formula, trace, expected, readings))
                if len(wrong) == most:
                    return wrong, operators, truths
    return wrong, operators, truths


@pytest.mark.slow
def test_every_reading_agrees_with_brute_force():
    wrong, operators, truths = compare(FORMULAS, TRACES, seed=18)
    assert not wrong
    assert truths.total() >= 20_000
    assert min(truths.values()) >= 0.25 * truths.total(), truths
    few = {name: operators[name] for name in (*OPERATORS, "prj 1", "prj 2", "prj 3") if operators[name] < 500}
    assert not few


@pytest.mark.sweep
def test_every_reading_agrees_with_brute_force_for_long(sweep_seed):
    wrong, _, truths = compare(10_000, 20, seed=1800 + sweep_seed, deepest=4)
    assert not wrong
    print(f"\n{truths.total():,} pairs agree")


def test_print_then_parse_is_the_identity():
    for formula in formulas(4_000, seed=19, deepest=5):
        assert pptl.parse(str(formula)) == formula
        assert eval(repr(formula), {"pptl": pptl}) == formula
    for formula in formulas(300, seed=19):
        assert pickle.loads(pickle.dumps(formula)) == formula


@pytest.mark.slow
def test_a_monitor_is_as_early_as_can_be_and_never_wrong():
    """With n states in the automaton, continuations of up to n states show all there is to know."""
    rng = random.Random(20)
    early = Counter()
    for formula in formulas(300, seed=20, names="p"):
        size = len(formula.automaton())
        if size > 5:
            continue
        monitor = formula.monitor(names=["p"])
        trace = [frozenset("p") if rng.random() < 0.5 else frozenset() for _ in range(3)]
        for length in range(len(trace) + 1):
            expected = oracle.verdict(formula, trace[:length], oracle.subsets("p"), size)
            wanted = {True: Verdict.TRUE, False: Verdict.FALSE, None: Verdict.INCONCLUSIVE}[expected]
            assert monitor.verdict is wanted, (formula, trace[:length])
            early[wanted, length] += 1
            if length < len(trace):
                assert monitor.step(trace[length]) is monitor.verdict
        assert bool(monitor.finish()) == oracle.holds(formula, trace)
    assert min(early[verdict, length] for verdict in Verdict for length in range(4)) >= 5, early


def test_a_definite_verdict_never_changes():
    rng = random.Random(21)
    for formula in formulas(400, seed=21):
        monitor, before = formula.monitor(names=["p", "q"]), Verdict.INCONCLUSIVE
        for _ in range(8):
            now = monitor.step({name for name in "pq" if rng.random() < 0.5})
            assert not before.definite or now is before, formula
            before = now
        assert not before.definite or monitor.finish() is before


def test_automata_are_minimal_and_every_state_is_reached():
    """Minimised once more, over a table of all letters."""
    for formula in formulas(600, seed=22):
        whole = formula.automaton()
        table = [[whole.after(state, letter) for letter in LETTERS] for state in range(len(whole))]
        assert {0}.union(*table) == set(range(len(whole)))
        block = list(whole.accepting)
        while True:
            signatures = [(block[state], *(block[to] for to in row)) for state, row in enumerate(table)]
            numbers = {signature: number for number, signature in enumerate(dict.fromkeys(signatures))}
            if len(numbers) == len(set(block)):
                break
            block = [numbers[signature] for signature in signatures]
        assert len(set(block)) == len(whole), formula


def test_equal_automata_and_equivalence():
    rng = random.Random(23)
    small = formulas(300, seed=23, deepest=2)
    same = 0
    for first in small:
        second = rng.choice(small)
        words = [random_trace(rng, 5) for _ in range(30)]
        equivalent = pptl.equivalent(first, second)
        assert equivalent == (first.automaton() == second.automaton())
        differ = [word for word in words if oracle.holds(first, word) != oracle.holds(second, word)]
        assert not (equivalent and differ), (first, second, differ)
        if not equivalent:
            word = pptl.witness(pptl.not_(pptl.iff(first, second)))
            assert oracle.holds(first, word) != oracle.holds(second, word)
        same += equivalent
    assert 10 < same < 290


def test_witnesses_are_the_shortest():
    for formula in formulas(300, seed=24):
        word = pptl.witness(formula)
        shorter = 3 if word is None else min(len(word) - 1, 3)
        if word is not None:
            assert oracle.holds(formula, word), (formula, word)
        if shorter:
            assert oracle.verdict(formula, (), LETTERS, shorter) is False, (formula, word)


def test_what_is_open_is_what_the_rest_has_to_satisfy():
    rng = random.Random(25)
    for formula in formulas(300, seed=25):
        trace, rest = random_trace(rng, 3), random_trace(rng, 3)
        explanation = formula.explain(trace, names=["p", "q"])
        assert bool(explanation.verdict) == oracle.holds(formula, trace)
        for step in explanation.steps:
            assert step.ends == oracle.holds(formula, trace[: step.index + 1])
            whole = [*trace[: step.index + 1], *rest]
            assert oracle.holds(step.open, rest) == oracle.holds(formula, whole), (formula, step)
        for part in explanation.failed:
            start = explanation.prefix - 1
            if explanation.open_before(start) == pptl.false and start:
                start -= 1  # the trace had to end before its last state
            before = explanation.open_before(start)
            assert pptl.equivalent(pptl.and_(part, before), before), "it was open"
            tail = trace[start : explanation.prefix]
            assert not oracle.holds(part, tail if explanation.ended else [*tail, *rest])


# --- mutants ---------------------------------------------------------------------------------------------------------


def chop_that_leaves_no_shared_state(term, terms, first, then):
    return (first, then), lambda a, b: Answer(
        False, terms.either((terms.chop(a.rest, then), then if a.ends else terms.false))
    )


def chop_that_never_splits_now(term, terms, first, then):
    return (first, then), lambda a, b: Answer(a.ends and b.ends, terms.chop(a.rest, then))


def star_that_needs_a_round(term, terms, body):
    return (body,), lambda a: Answer(a.ends, terms.chop(a.rest, term))


def next_that_may_be_missing(term, terms, body):
    return (), lambda: Answer(True, body)


def until_that_forgets_its_first_part(term, terms, first, then):
    return (first, then), lambda a, b: Answer(b.ends, terms.either((b.rest, term)))


def release_that_needs_to_be_released(term, terms, first, then):
    return (first, then), lambda a, b: Answer(a.ends and b.ends, terms.both((b.rest, terms.either((a.rest, term)))))


def projection_that_reads_a_state_twice(term, terms, parts, whole):
    needed, joined = _projection(term, terms, parts, whole)
    return needed, lambda a, now, after: joined(a, Answer(now.ends, whole), after)


def projection_whose_whole_never_ends_first(term, terms, parts, whole):
    needed, joined = _projection(term, terms, parts, whole)
    return needed, lambda a, now, after: joined(a, Answer(False, now.rest), after)


def projection_without_parts_of_one_state(term, terms, parts, whole):
    needed, joined = _projection(term, terms, parts, whole)
    return needed, lambda a, now, after: joined(Answer(False, a.rest), now, after)


def repetition_without_parts_of_one_state(term, terms, body, times):
    return (body,), lambda a: Answer(a.ends, terms.chop(a.rest, terms.power(body, times - 1)))


def length_that_may_be_shorter(term, terms, number):
    return (), lambda: Answer(True, terms.length(number - 1))


def always_that_looks_once(term, terms, body):
    return (body,), lambda a: a


_projection = derivative._projection


@pytest.mark.parametrize(
    "kind, mutant",
    [
        (Kind.CHOP, chop_that_leaves_no_shared_state),
        (Kind.CHOP, chop_that_never_splits_now),
        (Kind.STAR, star_that_needs_a_round),
        (Kind.NEXT, next_that_may_be_missing),
        (Kind.UNTIL, until_that_forgets_its_first_part),
        (Kind.RELEASE, release_that_needs_to_be_released),
        (Kind.PRJ, projection_that_reads_a_state_twice),
        (Kind.PRJ, projection_whose_whole_never_ends_first),
        (Kind.PRJ, projection_without_parts_of_one_state),
        (Kind.POWER, repetition_without_parts_of_one_state),
        (Kind.LEN, length_that_may_be_shorter),
        (Kind.ALWAYS, always_that_looks_once),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_mutants_of_the_derivative_are_caught(monkeypatch, kind, mutant):
    monkeypatch.setitem(derivative._RULES, kind, mutant)
    assert _caught()


def chop_that_swallows_what_follows(terms, first, then):
    return first if first.kind is Kind.STAR else _chop(terms, first, then)


def negation_that_leaves_weak_next(terms, term):
    return terms.next(terms.negation(term.args[0])) if term.kind is Kind.NEXT else _negation(terms, term)


_chop, _negation = Terms.chop, Terms.negation


@pytest.mark.parametrize(
    "name, mutant", [("chop", chop_that_swallows_what_follows), ("negation", negation_that_leaves_weak_next)]
)
def test_mutants_of_the_terms_are_caught(monkeypatch, name, mutant):
    monkeypatch.setattr(Terms, name, mutant)
    assert _caught()


def test_a_minimisation_that_merges_too_much_is_caught(monkeypatch):
    monkeypatch.setattr(minimise, "_blocks", lambda rows, accepting, diagrams: [int(ends) for ends in accepting])
    assert _caught()


def _caught():
    automata._built.cache_clear()
    try:
        return bool(compare(800, 4, seed=18, most=1)[0])
    finally:
        automata._built.cache_clear()
