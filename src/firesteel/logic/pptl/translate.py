"""LTLss formulas as formulas of PPTL.

An LTLss formula has three values, and is inconclusive where it looks past the end of the trace. Its translation is true
of a complete trace exactly where the LTLss formula is true, so what was inconclusive is false here: a trace that is too
short never passes. Before the end, wherever LTLss is definite, both verdicts are the same.

Negations go inwards first. Then an operator needs to know one thing more of what is inside it: its value past the end
of the trace, which is true or not.
"""

from __future__ import annotations

from firesteel.errors import InvalidArgument, described
from firesteel.logic.ltl import formulas as ltl
from firesteel.logic.pptl import formulas as f
from firesteel.logic.pptl.formulas import Formula
from firesteel.logic.pptl.operators import and_, empty, false, or_, repeat, skip, true
from firesteel.logic.verdicts import Verdict


def of(formula: ltl.Formula) -> Formula:
    """An LTLss formula, without `let`, `consume` and the past, as a formula over the names of its predicates.

    >>> import firesteel as fs
    >>> from firesteel.logic import pptl
    >>> p, q = fs.now(lambda now: "p" in now, name="p"), fs.now(lambda now: "q" in now, name="q")
    >>> print(pptl.of(fs.always(fs.implies(p, fs.eventually(q)))))
    [] (not p or <> q)

    A bound needs its instants to be there: a trace that is too short is not true.

    >>> two = pptl.of(fs.always(p, during=2))
    >>> two.evaluate([{"p"}]), two.evaluate([{"p"}, {"p"}])
    (<Verdict.FALSE: -1>, <Verdict.TRUE: 1>)
    """
    if not isinstance(formula, ltl.Formula):
        raise InvalidArgument(f"{described('formula', formula)} is not an LTLss formula: write pptl.of(fs.always(...))")
    _refuse_namesakes(formula)
    return _of(formula, False)[0]


def _refuse_namesakes(formula: ltl.Formula) -> None:
    predicates: dict[str, ltl.Atom] = {}
    for part in ltl.postorder(formula):
        if isinstance(part, ltl.Atom) and predicates.setdefault(part.name, part) != part:
            raise InvalidArgument(
                f"two predicates have the name {part.name!r}, and PPTL knows propositions by their names only: name "
                "them with fs.now(predicate, name=...)"
            )


def _of(formula: ltl.Formula, negated: bool) -> tuple[Formula, bool]:
    """The formula, or its negation, and whether that is true past the end of the trace."""
    match formula:
        case ltl.Constant(verdict):
            holds = (verdict is Verdict.FALSE) if negated else (verdict is Verdict.TRUE)
            return (true if holds else false), holds
        case ltl.Atom():
            name = f.Name(formula.name)
            return (f.Not(name) if negated else name), False
        case ltl.Not(body):
            return _of(body, not negated)
        case ltl.And(parts) | ltl.Or(parts):
            made = [_of(part, negated) for part in parts]
            if isinstance(formula, ltl.And) is not negated:
                return and_(*(part for part, _ in made)), all(past for _, past in made)
            return or_(*(part for part, _ in made)), any(past for _, past in made)
        case ltl.Implies(premise, then):
            return _of(ltl.Or((ltl.Not(premise), then)), negated)
        case ltl.Next(body, times):
            return _later(*_of(body, negated), times)
        case ltl.Always(body, bound) | ltl.Eventually(body, bound):
            inner, past = _of(body, negated)
            if isinstance(formula, ltl.Always) is not negated:
                return _always(inner, past, bound)
            return _eventually(inner, past, bound)
        case ltl.Until(first, then, bound) | ltl.Release(first, then, bound):
            a, b = _of(first, negated), _of(then, negated)
            if isinstance(formula, ltl.Until) is not negated:
                return _until(*a, *b, bound)
            return _release(*a, *b, bound)
    raise InvalidArgument(
        f"{formula!r} has no translation into PPTL: `let` and `consume` make formulas from data, and operators on the "
        "past look back. The other operators of LTLss have one"
    )


def _steps(number: int) -> Formula:
    """An interval of at most this many steps."""
    return repeat(or_(empty, skip), number) if number else empty


def _later(body: Formula, past: bool, times: int) -> tuple[Formula, bool]:
    """The body so many instants on. Where these are not there, the body's value past the end counts."""
    there = f.Next(body) if times == 1 else f.Chop(f.Len(times), body)
    return (or_(there, _steps(times - 1)) if past else there), past


def _always(body: Formula, past: bool, bound: int | None) -> tuple[Formula, bool]:
    if bound is None:
        return f.Always(body), True
    if bound == 1:
        return body, past
    holds = f.Not(f.Chop(_steps(bound - 1), f.Not(body)))
    return (holds if past else and_(holds, f.Chop(f.Len(bound - 1), true))), past


def _eventually(body: Formula, past: bool, bound: int | None) -> tuple[Formula, bool]:
    if bound is None:
        return f.Eventually(body), False
    if bound == 1:
        return body, past
    found = f.Chop(_steps(bound - 1), body)
    return (or_(found, _steps(bound - 2)) if past else found), past


def _until(first: Formula, _: bool, then: Formula, past: bool, bound: int | None) -> tuple[Formula, bool]:
    """Where `then` comes first decides, so a bound on until is a bound on `then` coming at all."""
    if bound is None:
        return f.Until(first, then), False
    if bound == 1:
        return then, past
    found = and_(f.Until(first, then), f.Chop(_steps(bound - 1), then))
    if not past:
        return found, False
    return or_(found, and_(f.Always(first), _steps(bound - 2))), True


def _release(first: Formula, first_past: bool, then: Formula, past: bool, bound: int | None) -> tuple[Formula, bool]:
    if bound is None:
        return f.Release(first, then), True
    if bound == 1:
        return then, past
    all_along, _ = _always(then, past, bound)
    released, _ = _until(then, past, and_(first, then), first_past and past, bound)
    return or_(all_along, released), past
