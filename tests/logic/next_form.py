"""The paper's next form, as it is defined: explicit (definition 2.2), lazy (2.3) and letter simplification (2.4).

Corrected where the paper contradicts itself: release is weak, so at its last instant only `then` has to hold.
The monitor does the same in one step, and faster. It is tested against this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from firesteel.errors import InvalidArgument
from firesteel.logic.ltl.asking import body_formula
from firesteel.logic.ltl.formulas import (
    FALSE,
    PAST,
    TRUE,
    Always,
    And,
    Atom,
    Constant,
    Consume,
    Eventually,
    Formula,
    Implies,
    Let,
    Next,
    Not,
    Or,
    Release,
    Until,
)
from firesteel.logic.verdicts import Verdict

UNKNOWN: Formula = Constant(Verdict.INCONCLUSIVE)
END = object()
"""The empty letter: at the end of the trace, what is left of a formula is judged without an instant."""


def explicit_next_form(formula: Formula) -> Formula:
    """The formula with every temporal operator written out as `next_`: large, and only where all bounds are known.

    >>> import firesteel as fs
    >>> explicit_next_form(fs.eventually(fs.now(bool, name="p"), within=3))
    p or next_(p) or next_(p, times=2)
    """
    match formula:
        case Constant() | Atom():
            return formula
        case Not(body):
            return Not(explicit_next_form(body))
        case And(parts):
            return And(tuple(map(explicit_next_form, parts)))
        case Or(parts):
            return Or(tuple(map(explicit_next_form, parts)))
        case Implies(premise, then):
            return Implies(explicit_next_form(premise), explicit_next_form(then))
        case Next(body, times):
            return _later(explicit_next_form(body), times)
        case Let():
            return Let(lambda instant: explicit_next_form(body_formula(formula, instant, 0)))
        case Consume():
            return Consume(lambda instant: explicit_next_form(body_formula(formula, instant, 0)))
        case Always(bound=None) | Eventually(bound=None) | Until(bound=None) | Release(bound=None):
            raise InvalidArgument(f"{formula!r} has no explicit next form: it depends on the length of the trace")
        case Always(body, int(bound)):
            return _and(_at_each(explicit_next_form(body), bound))
        case Eventually(body, int(bound)):
            return _or(_at_each(explicit_next_form(body), bound))
        case Until(first, then, int(bound)):
            firsts, thens = (_at_each(explicit_next_form(part), bound) for part in (first, then))
            return _or([_and([*firsts[:k], thens[k]]) for k in range(bound)])
        case Release(first, then, int(bound)):
            firsts, thens = (_at_each(explicit_next_form(part), bound) for part in (first, then))
            return _or([_and(thens), *(_and([*thens[: k + 1], firsts[k]]) for k in range(bound))])
    raise _no_next_form(formula)


def lazy_next_form(formula: Formula) -> Formula:
    """The formula with the current instant split from the rest: only what this instant needs is written out.

    >>> import firesteel as fs
    >>> lazy_next_form(fs.always(fs.now(bool, name="p"), during=3))
    p and next_(always(p, during=2))
    """
    match formula:
        case Constant() | Atom() | Next() | Let() | Consume():
            return formula
        case Not(body):
            return Not(lazy_next_form(body))
        case And(parts):
            return And(tuple(map(lazy_next_form, parts)))
        case Or(parts):
            return Or(tuple(map(lazy_next_form, parts)))
        case Implies(premise, then):
            return Implies(lazy_next_form(premise), lazy_next_form(then))
        case Always(body, 1) | Eventually(body, 1) | Until(_, body, 1) | Release(_, body, 1):
            return lazy_next_form(body)
        case Always(body, bound):
            return _and([lazy_next_form(body), Next(Always(body, _less(bound)))])
        case Eventually(body, bound):
            return _or([lazy_next_form(body), Next(Eventually(body, _less(bound)))])
        case Until(first, then, bound):
            rest = Next(Until(first, then, _less(bound)))
            return _or([lazy_next_form(then), _and([lazy_next_form(first), rest])])
        case Release(first, then, bound):
            rest = Next(Release(first, then, _less(bound)))
            now = lazy_next_form(then)
            return _or([_and([lazy_next_form(first), now]), _and([now, rest])])
    raise _no_next_form(formula)


def simplify(formula: Formula, letter: Any) -> Formula:
    """What is left of a formula in lazy next form when it has seen a letter, or `END`.

    >>> import firesteel as fs
    >>> simplify(lazy_next_form(fs.always(lambda x: x > 0, during=3)), 7)
    always(x > 0, during=2)
    >>> simplify(fs.next_(fs.TRUE), END)
    TRUE
    """
    match formula:
        case Constant():
            return formula
        case Atom() | Let() | Consume() if letter is END:
            return UNKNOWN
        case Atom(predicate):
            return TRUE if predicate(letter) else FALSE
        case Not(body):
            return _not(simplify(body, letter))
        case And(parts):
            return _and([simplify(part, letter) for part in parts])
        case Or(parts):
            return _or([simplify(part, letter) for part in parts])
        case Implies(premise, then):
            held = simplify(premise, letter)
            return TRUE if held == FALSE else _or([_not(held), simplify(then, letter)])
        case Next(body, times) if letter is not END:
            return body if times == 1 else Next(body, times - 1)
        case Next(body):
            return simplify(body, END)
        case Let():
            return simplify(lazy_next_form(body_formula(formula, letter, 0)), letter)
        case Consume():
            return body_formula(formula, letter, 0)
        case Always(bound=None) | Release(bound=None) if letter is END:
            return TRUE
        case Eventually(bound=None) | Until(bound=None) if letter is END:
            return FALSE
        case Always(body) | Eventually(body) | Until(_, body) | Release(_, body) if letter is END:
            return simplify(body, END)  # all instants after the end look alike
        case _:
            return simplify(lazy_next_form(formula), letter)


def judge(formula: Formula, trace: Iterable[Any]) -> Verdict:
    """The verdict on a finite trace by the paper's procedure: next form and simplification, letter by letter.

    >>> import firesteel as fs
    >>> judge(fs.always(lambda x: x > 0, during=3), [1, 2])
    <Verdict.INCONCLUSIVE: 0>
    """
    for letter in trace:
        formula = simplify(lazy_next_form(formula), letter)
    match simplify(formula, END):
        case Constant(verdict):
            return verdict
        case left:
            raise AssertionError(f"the empty letter left {left!r}")


def _at_each(formula: Formula, bound: int) -> list[Formula]:
    return [_later(formula, k) for k in range(bound)]


def _later(formula: Formula, times: int) -> Formula:
    if times == 0:
        return formula
    return Next(formula.body, formula.times + times) if isinstance(formula, Next) else Next(formula, times)


def _less(bound: int | None) -> int | None:
    return None if bound is None else bound - 1


def _and(parts: list[Formula]) -> Formula:
    return _join(parts, And, neutral=TRUE, absorbing=FALSE)


def _or(parts: list[Formula]) -> Formula:
    return _join(parts, Or, neutral=FALSE, absorbing=TRUE)


def _join(parts: list[Formula], joint: type[And] | type[Or], *, neutral: Formula, absorbing: Formula) -> Formula:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, joint) else (part,))]
    if absorbing in flat:
        return absorbing
    rest = tuple(dict.fromkeys(part for part in flat if part != neutral))
    if not rest:
        return neutral
    return rest[0] if len(rest) == 1 else joint(rest)


def _not(formula: Formula) -> Formula:
    return Constant(~formula.verdict) if isinstance(formula, Constant) else Not(formula)


def _no_next_form(formula: Formula) -> Exception:
    if isinstance(formula, PAST):
        return InvalidArgument(f"{formula!r} looks back: operators on the past have no next form")
    return AssertionError(f"no rule for {type(formula).__name__}")
