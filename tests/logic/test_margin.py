"""How close a trace came to breaking a formula: the sign is the truth, and more of what is needed is closer."""

from collections import Counter

import pytest

import firesteel as fs
from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.margin import margin
from firesteel.logic.ltl.monitor import Monitor
from firesteel.logic.verdicts import Verdict
from tests.logic.test_random import pairs


def test_the_sign_is_the_verdict():
    seen = Counter()
    for formula, trace in pairs(12_000, seed=31):
        verdict, found = formula.evaluate(trace), margin(formula, trace)
        assert -1 <= found <= 1
        if verdict.definite:
            assert (found > 0) is (verdict is Verdict.TRUE) and found != 0, (formula, trace, found)
            seen[verdict] += 1
    assert min(seen.values()) > 2_000


def three():
    return fs.now(lambda now: now[0]), fs.now(lambda now: now[1]), fs.now(lambda now: now[2])


A, B, C = three()
BROKEN = fs.always(fs.implies(A & B & C, lambda now: now[3]), during=2)
PROMISE = fs.always(fs.implies(lambda n: n == 1, fs.eventually(lambda n: n == 0, within=3)), during=1)


@pytest.mark.parametrize(
    "formula, closer, further",
    [
        (BROKEN, [(1, 1, 0, 1), (0, 0, 0, 1)], [(1, 0, 0, 1), (0, 0, 1, 1)]),
        (BROKEN, [(0, 0, 0, 1), (0, 1, 0, 1)], [(0, 0, 0, 1), (0, 0, 0, 1)]),
        (BROKEN, [(1, 1, 1, 1), (0, 0, 0, 1)], [(1, 1, 0, 1), (1, 1, 0, 1)]),
        (BROKEN, [(1, 1, 0, 0), (0, 0, 0, 1)], [(1, 1, 0, 1), (0, 0, 0, 1)]),
        (PROMISE, [1, 1, 0], [1, 0, 0]),
        (PROMISE, [1, 0, 1], [1, 0, 0]),
        (fs.until(lambda n: n == 1, lambda n: n == 2, within=4), [1, 1, 1, 2], [1, 2, 1, 2]),
        (fs.historically(lambda n: n > 0) | fs.eventually(lambda n: n == 7, within=4), [1, 0, 0, 0], [1, 7, 0, 0]),
    ],
)
def test_what_lacks_less_is_closer(formula, closer, further):
    truth = [[bool(part) for part in now] if isinstance(now, tuple) else now for now in closer]
    other = [[bool(part) for part in now] if isinstance(now, tuple) else now for now in further]
    assert formula.evaluate(truth) is formula.evaluate(other) is Verdict.TRUE
    assert 0 < margin(formula, truth) < margin(formula, other)


def test_predicates_are_not_asked_twice_and_may_fail_where_nobody_asked_them():
    asked = Counter()

    def positive(n):
        asked[n] += 1
        return n > 0

    def fails(n):
        raise ValueError("not made for this")

    formula = fs.always(fs.implies(fs.now(lambda n: n < 0), fails) & fs.now(positive), during=3)
    memory = Memory()
    monitor = Monitor(formula, memory=memory)
    for n in (1, 2, 3):
        monitor.step(n)
    assert margin(formula, [1, 2, 3], memory) == 1.0
    assert set(asked.values()) == {1}


def test_a_trace_that_says_nothing_is_far():
    assert margin(fs.next_(lambda n: n > 0, times=5), [1]) == 1.0
