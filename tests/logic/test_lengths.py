"""required_length and shortest_true against exhaustive search over short traces of a small alphabet."""

import itertools
import random

import pytest

import firesteel as fs
from firesteel import Verdict
from firesteel.logic.ltl.formulas import children
from firesteel.logic.ltl.lengths import _shortest
from tests.logic import oracle
from tests.logic.random_formulas import FUTURE, OPERATORS, random_formula

LONGEST = 6


def traces(length, alphabet=(0, 1, 2)):
    return itertools.product(alphabet, repeat=length)


def formulas(count, seed, **options):
    rng = random.Random(seed)
    for _ in range(count):
        yield random_formula(rng, rng.choice([1, 2, 2, 3]), **options)


def test_every_trace_of_the_required_length_is_decided():
    tried = 0
    for formula in formulas(600, seed=1, operators=OPERATORS, bodies=False):
        length = formula.required_length
        if length is None or length > LONGEST:
            continue
        tried += 1
        for more in range(2):
            for trace in itertools.islice(traces(length + more), 250):
                assert oracle.judge(formula, trace).definite, (formula, trace)
    assert tried > 250


def test_no_shorter_trace_is_true():
    refused = 0
    for formula in formulas(1_500, seed=2):
        for length in range(min(formula.shortest_true, LONGEST)):
            refused += 1
            for trace in traces(length):
                assert oracle.judge(formula, trace) is not Verdict.TRUE, (formula, trace)
    assert refused > 800


def test_the_shortest_length_is_reached_where_predicates_are_independent():
    """Each predicate looks at a bit of its own, so that no two can contradict each other."""
    reached = 0
    for formula in formulas(800, seed=3, operators=FUTURE, unbounded=False, bodies=False):
        independent, bits = _read_once(formula, 0)
        if bits > 3 or _shortest(independent, first=True).true > 4:
            continue
        length = independent.shortest_true
        found = any(oracle.judge(independent, trace) is Verdict.TRUE for trace in traces(length, range(2**bits)))
        assert found, (independent, length)
        reached += 1
    assert reached > 200


def _read_once(formula, bits):
    """The formula with a fresh predicate at every place, and how many it has now."""
    if type(formula).__name__ == "Atom":
        return fs.now(lambda x, bit=bits: bool(x >> bit & 1), name=f"bit {bits}"), bits + 1
    made = []
    for child in children(formula):
        new, bits = _read_once(child, bits)
        made.append(new)
    return _with_children(formula, made), bits


def _with_children(formula, made):
    match type(formula).__name__:
        case "Constant":
            return formula
        case "And" | "Or":
            return type(formula)(tuple(made))
        case "Implies" | "Not":
            return type(formula)(*made)
        case "Next":
            return type(formula)(*made, formula.times)
        case _:
            return type(formula)(*made, formula.bound)


@pytest.mark.parametrize(
    "formula, required, shortest",
    [
        (fs.TRUE, 0, 0),
        (fs.FALSE, 0, 0),
        (fs.now(bool), 1, 1),
        (fs.next_(bool, times=3), 4, 4),
        (fs.next_(fs.TRUE), 1, 0),
        (fs.always(bool, during=5), 5, 5),
        (fs.eventually(bool, within=5), 5, 1),
        (fs.until(bool, bool, within=5), 5, 1),
        (fs.release(bool, bool, during=5), 5, 1),
        (fs.always(bool), 0, 0),
        (fs.eventually(bool), 0, 1),
        (fs.always(fs.next_(bool)), None, 0),
        (fs.let(lambda x: True), None, 1),
        (fs.consume(lambda x: True), None, 1),
        (~fs.eventually(bool, within=4), 4, 4),
        (fs.previously(bool), 0, 0),
        (fs.once(bool), 1, 1),
        (fs.next_(fs.once(bool)), 2, 0),
    ],
)
def test_known_lengths(formula, required, shortest):
    assert formula.required_length == required
    assert formula.shortest_true == shortest
