"""The functions that make formulas. Each takes formulas, texts of formulas, or True and False."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from firesteel.errors import InvalidArgument, described
from firesteel.logic.pptl.formulas import (
    Always,
    And,
    Chop,
    Constant,
    Empty,
    Eventually,
    Fin,
    Formula,
    FormulaLike,
    Halt,
    Iff,
    Implies,
    Keep,
    Len,
    More,
    Name,
    Next,
    Not,
    Or,
    Par,
    Prj,
    Release,
    Repeat,
    Skip,
    Star,
    Until,
    WeakNext,
    While,
)
from firesteel.logic.pptl.parser import parse
from firesteel.logic.pptl.syntax import number_of

true: Formula = Constant(True)
"""Holds on every interval."""
false: Formula = Constant(False)
"""Holds on no interval."""
empty: Formula = Empty()
"""There is one state."""
more: Formula = More()
"""There are at least two states."""
skip: Formula = Skip()
"""There are two states."""


def name(name: str) -> Formula:
    """The proposition of this name holds in the first state.

    >>> from firesteel.logic import pptl
    >>> str(pptl.name("request")), str(pptl.name("Pay invoice"))
    ('request', '"Pay invoice"')
    """
    if not isinstance(name, str) or not name:
        raise InvalidArgument(f"{described('name', name)} is not a name: write a text of at least one character")
    return Name(name)


def not_(formula: FormulaLike) -> Formula:
    """The formula does not hold.

    >>> from firesteel.logic import pptl
    >>> str(pptl.not_("p ; q"))
    'not (p ; q)'
    """
    return Not(formula_of(formula))


def and_(*formulas: FormulaLike) -> Formula:
    """All of the formulas hold on the interval.

    >>> from firesteel.logic import pptl
    >>> str(pptl.and_("p", "q or r", "skip"))
    'p and (q or r) and skip'
    """
    parts = _several(formulas)
    return parts[0] if len(parts) == 1 else And(parts)


def or_(*formulas: FormulaLike) -> Formula:
    """One of the formulas holds on the interval.

    >>> from firesteel.logic import pptl
    >>> str(pptl.or_("p", "q"))
    'p or q'
    """
    parts = _several(formulas)
    return parts[0] if len(parts) == 1 else Or(parts)


def implies(premise: FormulaLike, then: FormulaLike) -> Formula:
    """Where the premise holds, `then` does.

    >>> from firesteel.logic import pptl
    >>> str(pptl.implies("p", "<> q"))
    'p -> <> q'
    """
    return Implies(formula_of(premise, "premise"), formula_of(then, "then"))


def iff(first: FormulaLike, then: FormulaLike) -> Formula:
    """Both hold, or neither.

    >>> from firesteel.logic import pptl
    >>> str(pptl.iff("empty", "p"))
    'empty <-> p'
    """
    return Iff(formula_of(first, "first"), formula_of(then, "then"))


def next_(formula: FormulaLike) -> Formula:
    """There is a next state, and the formula holds from there on.

    >>> from firesteel.logic import pptl
    >>> pptl.next_("p").evaluate([set(), {"p"}]), pptl.next_("true").evaluate([set()])
    (<Verdict.TRUE: 1>, <Verdict.FALSE: -1>)
    """
    return Next(formula_of(formula))


def weak_next(formula: FormulaLike) -> Formula:
    """If there is a next state, the formula holds from there on.

    >>> from firesteel.logic import pptl
    >>> pptl.weak_next("p").evaluate([set()])
    <Verdict.TRUE: 1>
    """
    return WeakNext(formula_of(formula))


def always(formula: FormulaLike) -> Formula:
    """The formula holds from every state on.

    >>> from firesteel.logic import pptl
    >>> str(pptl.always("p -> <> q"))
    '[] (p -> <> q)'
    """
    return Always(formula_of(formula))


def eventually(formula: FormulaLike) -> Formula:
    """The formula holds from some state on.

    >>> from firesteel.logic import pptl
    >>> str(pptl.eventually("p"))
    '<> p'
    """
    return Eventually(formula_of(formula))


def until(first: FormulaLike, then: FormulaLike) -> Formula:
    """`then` holds from some state on, and `first` from every state before that one.

    >>> from firesteel.logic import pptl
    >>> pptl.until("p", "q").evaluate([{"p"}, {"p"}, {"q"}])
    <Verdict.TRUE: 1>
    """
    return Until(formula_of(first, "first"), formula_of(then, "then"))


def release(first: FormulaLike, then: FormulaLike) -> Formula:
    """`then` holds from every state on, up to and including one from which `first` holds too, if there is one.

    >>> from firesteel.logic import pptl
    >>> pptl.release("p", "q").evaluate([{"q"}, {"p", "q"}, set()])
    <Verdict.TRUE: 1>
    """
    return Release(formula_of(first, "first"), formula_of(then, "then"))


def chop(*formulas: FormulaLike) -> Formula:
    """The formulas hold one after another: each starts in the state where the one before it ends.

    >>> from firesteel.logic import pptl
    >>> str(pptl.chop("quiet*", "alarm", "true"))
    'quiet* ; alarm ; true'
    """
    *before, last = _several(formulas)
    return reduce(lambda then, first: Chop(first, then), reversed(before), last)


def star(formula: FormulaLike) -> Formula:
    """The formula holds any number of times, one after another. A single state satisfies it.

    >>> from firesteel.logic import pptl
    >>> pptl.star("p and skip").evaluate([{"p"}, {"p"}, set()])
    <Verdict.TRUE: 1>
    """
    return Star(formula_of(formula))


def repeat(formula: FormulaLike, times: int) -> Formula:
    """The formula holds this many times, one after another.

    >>> from firesteel.logic import pptl
    >>> str(pptl.repeat("p and skip", 3))
    '(p and skip)^3'
    """
    return Repeat(formula_of(formula), number_of(times, "times"))


def prj(parts: Iterable[FormulaLike], whole: FormulaLike) -> Formula:
    """The parts hold one after another, and the whole holds on the states where they meet, and on all after them.

    >>> from firesteel.logic import pptl
    >>> every_second = pptl.prj(["len(2)", "len(2)"], "len(2) and [] p")
    >>> print(every_second)
    (len(2), len(2)) prj len(2) and [] p
    >>> every_second.evaluate([{"p"}, set(), {"p"}, set(), {"p"}])
    <Verdict.TRUE: 1>

    Where the parts fill the interval, the whole may end at an earlier meeting point: say with `len(n)` if it must not.
    """
    if isinstance(parts, (Formula, str)) or not isinstance(parts, Iterable):
        raise InvalidArgument(f'{described("parts", parts)} is not a list of formulas: write pptl.prj(["p", "q"], "r")')
    return Prj(_several(tuple(parts)), formula_of(whole, "whole"))


def par(*formulas: FormulaLike) -> Formula:
    """The formulas start together; one of them takes the whole interval, the others may end earlier.

    >>> from firesteel.logic import pptl
    >>> pptl.par("len(1)", "len(3)").evaluate([set()] * 4)
    <Verdict.TRUE: 1>
    """
    return reduce(Par, _several(formulas))


def len_(number: int) -> Formula:
    """The interval has this length: one state more than this number.

    >>> from firesteel.logic import pptl
    >>> pptl.len_(1).evaluate([set(), set()])
    <Verdict.TRUE: 1>
    """
    return Len(number_of(number, "number"))


def while_(test: FormulaLike, body: FormulaLike) -> Formula:
    """The body is repeated as long as the test holds where it starts; at the end the test does not hold.

    >>> from firesteel.logic import pptl
    >>> loop = pptl.while_("busy", "skip")
    >>> loop.evaluate([{"busy"}, {"busy"}, set()]), loop.evaluate([{"busy"}, {"busy"}])
    (<Verdict.TRUE: 1>, <Verdict.FALSE: -1>)
    """
    return While(formula_of(test, "test"), formula_of(body, "body"))


def fin(formula: FormulaLike) -> Formula:
    """The formula holds in the last state.

    >>> from firesteel.logic import pptl
    >>> pptl.fin("p").evaluate([set(), {"p"}])
    <Verdict.TRUE: 1>
    """
    return Fin(formula_of(formula))


def keep(formula: FormulaLike) -> Formula:
    """The formula holds from every state on but the last.

    >>> from firesteel.logic import pptl
    >>> pptl.keep("p").evaluate([{"p"}, set()])
    <Verdict.TRUE: 1>
    """
    return Keep(formula_of(formula))


def halt(formula: FormulaLike) -> Formula:
    """The formula holds in the last state, and in none before it.

    >>> from firesteel.logic import pptl
    >>> pptl.halt("p").evaluate([set(), {"p"}]), pptl.halt("p").evaluate([{"p"}, {"p"}])
    (<Verdict.TRUE: 1>, <Verdict.FALSE: -1>)
    """
    return Halt(formula_of(formula))


def formula_of(value: FormulaLike, argument: str = "formula") -> Formula:
    """A formula from whatever the functions take."""
    match value:
        case Formula():
            return value
        case bool():
            return true if value else false
        case str():
            return parse(value)
    raise InvalidArgument(
        f'{described(argument, value)} is not a formula: write a formula, a text such as "p until q", or True or False'
    )


def _several(formulas: tuple[FormulaLike, ...]) -> tuple[Formula, ...]:
    if not formulas:
        raise InvalidArgument("at least one formula is needed, and there is none")
    return tuple(formula_of(formula, f"formula {number}") for number, formula in enumerate(formulas, 1))
