"""required_length and shortest_true against exhaustive search over short traces of a small alphabet."""

import itertools
import random

import pytest

import firesteel as fs
from firesteel import Verdict
from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.formulas import children
from firesteel.logic.ltl.lengths import open_at_the_end, shortest
from firesteel.logic.ltl.monitor import Monitor
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
        if bits > 3 or shortest(independent, first=True).true > 4:
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


LOOKS_AHEAD = [
    fs.always(fs.next_(bool)),
    fs.eventually(fs.next_(fs.now(lambda x: x == 9))),
    fs.until(bool, fs.next_(fs.now(lambda x: x == 9))),
    fs.release(fs.now(lambda x: x == 9), fs.next_(bool)),
    fs.always(fs.always(bool, during=2)),
    fs.next_(fs.always(fs.always(bool, during=3)), times=2),
    ~fs.always(fs.next_(bool)),
    fs.always(bool) & fs.always(fs.implies(bool, fs.next_(bool))),
    fs.always(fs.historically(fs.next_(bool))),
    fs.always(fs.consume(lambda x: fs.now(bool))),
]
CLOSES = [
    fs.always(bool),
    fs.eventually(fs.always(bool)),
    fs.until(fs.once(bool), bool),
    fs.always(fs.next_(fs.TRUE)),
    fs.always(fs.next_(bool), during=3),
    fs.always(fs.historically(bool)),
    fs.always(fs.previously(fs.next_(bool))),
]


@pytest.mark.parametrize("formula", LOOKS_AHEAD, ids=repr)
def test_an_operator_without_a_bound_that_looks_ahead_is_open_at_the_end(formula):
    assert open_at_the_end(formula)
    for length in range(3, LONGEST):
        assert oracle.judge(formula, [1] * length) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("formula", CLOSES, ids=repr)
def test_what_does_not_look_past_the_end_is_not_open_there(formula):
    assert not open_at_the_end(formula)
    assert formula.required_length is not None


def test_without_functions_every_other_formula_has_a_length():
    without = 0
    for formula in formulas(2_000, seed=4, operators=OPERATORS, bodies=False):
        assert open_at_the_end(formula) is (formula.required_length is None), formula
        without += formula.required_length is None
    assert without > 50


def test_what_a_function_returns_is_known_from_a_run():
    formula = fs.next_(fs.let(lambda x: fs.always(fs.next_(bool))))
    assert formula.required_length is None and not open_at_the_end(formula)
    memory = Memory()
    monitor = Monitor(formula, memory=memory)
    for instant in (1, 1, 1):
        monitor.step(instant)
    assert not monitor.finish().definite
    assert open_at_the_end(formula, [made for _, made in memory.bodies.values()])


def test_a_function_inside_an_operator_without_a_bound_might_look_ahead():
    assert open_at_the_end(fs.always(fs.let(lambda x: fs.now(bool))))
    assert not open_at_the_end(fs.always(fs.let(lambda x: fs.next_(bool)), during=3))
