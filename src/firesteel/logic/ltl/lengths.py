"""How long a trace a formula needs, found from the formula alone.

`required_length` is sufficient (definition 2.5 of the paper, with predicates judged on the current instant),
`shortest_true` is necessary: below it the verdict cannot be true, whatever the trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from firesteel.logic.ltl.formulas import (
    Always,
    And,
    Atom,
    Constant,
    Consume,
    Eventually,
    Formula,
    Historically,
    Implies,
    Intervals,
    Let,
    Next,
    Not,
    Once,
    Or,
    Previously,
    Release,
    Since,
    Until,
    children,
    postorder,
)
from firesteel.logic.ltl.intervals import decided_after
from firesteel.logic.pptl.operators import not_
from firesteel.logic.pptl.questions import witness
from firesteel.logic.verdicts import Verdict


def required_length(formula: Formula) -> int | None:
    """A length from which every trace gets a definite verdict; None if there is none, or if it depends on data."""
    match formula:
        case Constant(verdict):
            return 0 if verdict.definite else None
        case Atom():
            return 1
        case Let() | Consume():
            return None  # what the function will return cannot be known
        case Next(body, times):
            return _plus(required_length(body), times)
        case Always(bound=bound) | Eventually(bound=bound) | Until(bound=bound) | Release(bound=bound):
            if bound is None:
                return None if _left_open(formula) else 0
            return _plus(_longest(formula), bound - 1)
        case Previously(body):
            return _plus(required_length(body), -1)
        case Intervals(automaton=automaton):
            return decided_after(automaton)
        case _:
            return _longest(formula)


def shortest_true(formula: Formula) -> int:
    """No trace shorter than this makes the formula true. It is 0 for a formula that no trace makes true."""
    true = shortest(formula).true
    return 0 if math.isinf(true) else int(true)


def open_at_the_end(formula: Formula, returned: Iterable[Formula] = ()) -> bool:
    """Is there an operator without a bound in the formula that is never sure about the last instant of a trace?

    These are `always`, `eventually`, `until` and `release` without a bound, around something that looks ahead. The end
    of the trace closes such an operator, but what it says of the last instant is still open then. A bound helps.
    Operators on the past are not among them: they look back at instants that are all there.

    What a function inside `let` or `consume` returns is not known before a run. Inside an operator without a bound the
    function counts as looking ahead, though it may not; operators in what it returns are seen only if that is given:
    `returned` has the formulas that were made in a run, which are the values of `Memory.bodies`.

    >>> import firesteel as fs
    >>> open_at_the_end(fs.always(fs.next_(lambda x: x))), open_at_the_end(fs.always(lambda x: x))
    (True, False)
    """
    return any(_left_open(part) for whole in (formula, *returned) for part in postorder(whole))


def _left_open(formula: Formula) -> bool:
    """Is this an operator without a bound whose body looks ahead, or might?"""
    match formula:
        case Always(bound=None) | Eventually(bound=None) | Until(bound=None) | Release(bound=None):
            longest = _longest(formula)
            return longest is None or longest > 1
        case _:
            return False


def _longest(formula: Formula) -> int | None:
    longest = 0
    for child in children(formula):
        length = required_length(child)
        if length is None:
            return None
        longest = max(longest, length)
    return longest


def _plus(length: int | None, more: int) -> int | None:
    return None if length is None else max(0, length + more)


class Shortest(NamedTuple):
    """The fewest instants, counted from the current one, that could make a formula true, and false."""

    true: float
    false: float


def shortest(formula: Formula, first: bool = True) -> Shortest:
    """The fewest instants that could make a formula true, and false; infinitely many where none could.

    `first` says that this is the trace's first instant, where there is no past.

    >>> import firesteel as fs
    >>> shortest(fs.previously(lambda x: x))
    Shortest(true=inf, false=0)
    """
    match formula:
        case Constant(verdict):
            return Shortest(
                0 if verdict is Verdict.TRUE else math.inf,
                0 if verdict is Verdict.FALSE else math.inf,
            )
        case Atom() | Let() | Consume():
            return Shortest(1, 1)
        case Not(body):
            return _swapped(shortest(body, first))
        case And(parts):
            each = [shortest(part, first) for part in parts]
            return Shortest(max(s.true for s in each), min(s.false for s in each))
        case Or(parts):
            each = [shortest(part, first) for part in parts]
            return Shortest(min(s.true for s in each), max(s.false for s in each))
        case Implies(premise, then):
            return shortest(Or((Not(premise), then)), first)
        case Next(body, times):
            body_shortest = shortest(body, False)
            return Shortest(_later(body_shortest.true, times), _later(body_shortest.false, times))
        case Always(body, bound):
            now, later = shortest(body, first), shortest(body, False)
            if bound == 1:
                return now
            false = min(now.false, later.false)
            if bound is None:
                return Shortest(0, max(1, false))
            return Shortest(max(now.true, _later(later.true, bound - 1)), false)
        case Eventually(body, bound):
            return _swapped(shortest(Always(Not(body), bound), first))
        case Until(before, then, bound):
            return _until(before, then, bound, first)
        case Release(before, then, bound):
            return _swapped(_until(Not(before), Not(then), bound, first))
        case Previously(body):
            if first:
                return Shortest(math.inf, 0)
            then_shortest = shortest(body, False)
            return Shortest(max(0, then_shortest.true - 1), 0)
        case Once(body) | Since(_, body):
            now = shortest(body, first)
            return now if first else Shortest(0, now.false)
        case Historically(body):
            now = shortest(body, first)
            return now if first else Shortest(now.true, 0)
        case Intervals(formula=formula_of_intervals):
            word, against = witness(formula_of_intervals), witness(not_(formula_of_intervals))
            return Shortest(math.inf if word is None else len(word), math.inf if against is None else len(against))
    raise AssertionError(f"no rule for {type(formula).__name__}")


def _until(before: Formula, then: Formula, bound: int | None, first: bool) -> Shortest:
    before_now, before_later = shortest(before, first), shortest(before, False)
    then_now, then_later = shortest(then, first), shortest(then, False)
    if bound == 1:
        return then_now
    true = min(then_now.true, max(before_now.true, then_later.true))
    if bound is None:
        return Shortest(max(1, true), 0)
    broken_at_once = max(before_now.false, then_now.false)
    broken_later = max(before_later.false, then_now.false, then_later.false)
    never_then = max(then_now.false, _later(then_later.false, bound - 1))
    return Shortest(true, min(broken_at_once, broken_later, never_then))


def _later(instants: float, by: int) -> float:
    """What needs no instant needs none later either: `next_(TRUE)` holds on the empty trace."""
    return instants + by if instants > 0 else instants


def _swapped(shortest: Shortest) -> Shortest:
    return Shortest(shortest.false, shortest.true)
