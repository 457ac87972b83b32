"""What may be stated of every case: a formula that can be true, and can be false."""

from __future__ import annotations

import math
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.logic.ltl.formulas import (
    Always,
    And,
    Constant,
    Eventually,
    Formula,
    FormulaLike,
    Historically,
    Implies,
    Intervals,
    Next,
    Not,
    Once,
    Or,
    Release,
    Since,
    Until,
    formula_of,
)
from firesteel.logic.ltl.lengths import shortest
from firesteel.logic.pptl.operators import not_
from firesteel.logic.pptl.questions import witness
from firesteel.logic.verdicts import Verdict
from firesteel.values.checks import Check

TRUE, FALSE = Verdict.TRUE, Verdict.FALSE


def stated(value: FormulaLike, argument: str = "formula") -> Formula:
    """The formula that a check is asked to hold to: a function alone has to hold at every instant.

    >>> stated(lambda x: x > 0)
    always(x > 0)
    >>> from firesteel import now
    >>> stated(now(lambda x: x > 0))  # of the first instant
    x > 0

    What can never be false, or never be true, says nothing of the subject:

    >>> stated(True)
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: formula=True (bool) is the same for every subject: write a function of the \
instant, or a formula such as fs.always(lambda now: ...)
    """
    given: Any = value
    if isinstance(given, (bool, Check, Constant)):
        raise InvalidArgument(
            f"{described(argument, given)} is the same for every subject: write a function of the instant, or a "
            "formula such as fs.always(lambda now: ...)"
        )
    formula = formula_of(value, argument)
    if not isinstance(given, Formula):
        return Always(formula, None)
    known = _constant(formula)
    if known is not None:
        raise InvalidArgument(
            f"{described(argument, formula)} is {known.name}, whatever the subject does: a constant inside it decides"
        )
    if _back_from_the_start(formula):
        raise InvalidArgument(
            f"{described(argument, formula)} can never be true: it looks back from the first instant, where there is "
            "no past. Write fs.next_(...) around it, or fs.once(...) in place of fs.previously(...)"
        )
    return formula


def _back_from_the_start(formula: Formula) -> bool:
    body = formula.body if isinstance(formula, Always) else formula
    return math.isinf(shortest(body).true)


def _constant(formula: Formula) -> Verdict | None:
    """The verdict on every trace that has an instant, where the constants in a formula say so much."""
    match formula:
        case Constant(verdict):
            return verdict
        case Not(body):
            known = _constant(body)
            return None if known is None else ~known
        case And(parts):
            each = [_constant(part) for part in parts]
            return FALSE if FALSE in each else TRUE if set(each) == {TRUE} else None
        case Or(parts):
            each = [_constant(part) for part in parts]
            return TRUE if TRUE in each else FALSE if set(each) == {FALSE} else None
        case Implies(premise, then):
            return _constant(Or((Not(premise), then)))
        case Next(body) | Always(body) | Eventually(body) | Once(body) | Historically(body):
            return _constant(body)
        case Until(_, then) | Release(_, then) | Since(_, then):
            return _constant(then)  # it would hold, or fail, at once
        case Intervals(formula=of_intervals):
            return FALSE if witness(of_intervals) is None else TRUE if witness(not_(of_intervals)) is None else None
        case _:
            return None


def refuse_undecidable(formula: Formula, argument: str = "formula") -> None:
    """Refuse a formula that no run can make true, as it looks past the end of every stream.

    >>> import firesteel as fs
    >>> refuse_undecidable(fs.always(fs.next_(lambda x: x > 0), during=3))
    >>> refuse_undecidable(fs.always(fs.next_(lambda x: x > 0)))
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: formula=always(next_(x > 0)) (Always) can never be true: it looks beyond the \
last instant of every stream. Give the outermost operator a bound, such as during=5, or pass on_inconclusive='pass'
    """
    if _always_open(formula):
        raise InvalidArgument(
            f"{described(argument, formula)} can never be true: it looks beyond the last instant of every stream. "
            "Give the outermost operator a bound, such as during=5, or pass on_inconclusive='pass'"
        )


def _always_open(formula: Formula) -> bool:
    """Is it not true of any trace that has an instant?"""
    match formula:
        case Always(body, None):
            # At the last instant, which may be the first, there is one instant left, and the body needs more.
            return min(shortest(body, True).true, shortest(body, False).true) > 1 or _always_open(body)
        case Always(body) | Eventually(body) | Next(body):
            return _always_open(body)
        case And(parts):
            return any(map(_always_open, parts))
        case Or(parts):
            return all(map(_always_open, parts))
        case _:
            return False
