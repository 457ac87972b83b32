"""How a formula is unfolded so that streams can be drawn from it: what makes it true, and whether anything can.

A conjunction demands all of its parts; a disjunction demands one of them. `eventually` and `until` have a way to be
true for every instant of their bound. An implication is taken as its consequent, or, if that can never be true, as the
negation of its premise. A formula of PPTL has a way for every edge of its automaton from which it can still be true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from firesteel.logic import pptl
from firesteel.logic.ltl.formulas import (
    FALSE,
    TRUE,
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    Formula,
    Implies,
    Intervals,
    Next,
    Not,
    Or,
    Release,
    Until,
)
from firesteel.logic.pptl.automata import Automaton
from firesteel.logic.pptl.diagrams import paths_of, values_of
from firesteel.logic.verdicts import Verdict

# How many steps the search for a contradiction takes before it gives up. The draws find out the rest.
_STEPS = 20_000


def positive_form(formula: Formula, negated: bool = False) -> Formula:
    """The formula with negations at its predicates only, and without the parts that cannot be true."""
    match formula:
        case Constant(verdict):
            return TRUE if verdict is (Verdict.FALSE if negated else Verdict.TRUE) else FALSE
        case Not(body):
            return positive_form(body, not negated)
        case And(parts) | Or(parts):
            positive = tuple(positive_form(part, negated) for part in parts)
            return _all(positive) if isinstance(formula, And) is not negated else _any(positive)
        case Implies(premise, then):
            if negated:
                return _all((positive_form(premise), positive_form(then, True)))
            consequent = positive_form(then)
            return positive_form(premise, True) if contradictory(consequent) else consequent
        case Next(body, times):
            inner = positive_form(body, negated)
            return FALSE if inner == FALSE else Next(inner, times)
        case Always(body, bound) | Eventually(body, bound):
            inner = positive_form(body, negated)
            if inner == FALSE:
                return FALSE
            return Always(inner, bound) if isinstance(formula, Always) is not negated else Eventually(inner, bound)
        case Until(first, then, bound) | Release(first, then, bound):
            before, last = positive_form(first, negated), positive_form(then, negated)
            if last == FALSE:
                return FALSE
            if isinstance(formula, Until) is not negated:
                return last if before == FALSE else Until(before, last, bound)
            return Always(last, bound) if before == FALSE else Release(before, last, bound)
        case Intervals():
            return walk_of(formula, negated)
        case _:
            return Not(formula) if negated else formula


def _all(parts: tuple[Formula, ...]) -> Formula:
    return FALSE if FALSE in parts else And(parts)


def _any(parts: tuple[Formula, ...]) -> Formula:
    possible = tuple(part for part in parts if part != FALSE)
    return Or(possible) if possible else FALSE


Demand: TypeAlias = tuple[int, Formula]
"""How many instants on, and what has to hold there."""


class Ways(NamedTuple):
    """The ways to make a formula true: how many there are, and what each demands."""

    number: int
    demands: Callable[[int], Iterable[Demand]]


def ways_of(formula: Formula) -> Ways | None:
    """The ways to unfold a positive formula; None for a formula about its own instant alone."""
    match formula:
        case And(parts):
            return Ways(1, lambda way: ((0, part) for part in parts))
        case Or(parts):
            return Ways(len(parts), lambda way: [(0, parts[way])])
        case Next(body, times):
            return Ways(1, lambda way: [(times, body)])
        case Always(body, int(bound)):
            return Ways(1, lambda way: ((at, body) for at in range(bound)))
        case Eventually(body, int(bound)):
            return Ways(bound, lambda way: [(way, body)])
        case Until(first, then, int(bound)):
            return Ways(bound, lambda way: [*((at, first) for at in range(way)), (way, then)])
        case Release(first, then, int(bound)):
            # It is released at one of the instants; in the last way, never.
            return Ways(
                bound + 1,
                lambda way: [
                    *((at, then) for at in range(min(way + 1, bound))),
                    *([(way, first)] if way < bound else []),
                ],
            )
        case Walk():
            return formula.ways
        case _:
            return None


@dataclass(frozen=True, repr=False)
class Walk(Formula):
    """A walk through the automaton of a formula of PPTL, to a state where the stream may end.

    Every way takes one of the edges: its predicates are demanded of this instant, and the rest of the walk of the next.
    """

    predicates: tuple[Atom, ...]
    automaton: Automaton = field(compare=False)
    steps: Mapping[int, int] = field(compare=False)
    """For every state from which the walk can end, how many instants that takes at least, counted from the next one."""
    place: int
    left: int
    """How many instants the walk may still take."""

    def __repr__(self) -> str:
        return "a formula of PPTL"

    @property
    def ways(self) -> Ways:
        atoms = {atom.name: atom for atom in self.predicates}
        found: list[tuple[int, list[Demand]]] = []
        for asked, to in paths_of(self.automaton.rows[self.place]):
            now: list[Demand] = [(0, atoms[name] if holds else Not(atoms[name])) for name, holds in asked]
            if self.automaton.accepting[to]:
                found.append((0, now))
            if self.steps.get(to, self.left) < self.left and self.automaton.verdicts[to] is not Verdict.TRUE:
                rest = Walk(self.predicates, self.automaton, self.steps, to, self.left - 1)
                found.append((self.steps[to], [*now, (1, rest)]))
        found.sort(key=lambda way: way[0])
        return Ways(len(found), lambda way: found[way][1])


# A walk takes up to this many instants more than it has to.
_LONGER = 8


def walk_of(formula: Intervals, negated: bool) -> Formula:
    """The walks that make a formula of PPTL true, or false; FALSE where there are none."""
    whole = pptl.automaton(pptl.not_(formula.formula)) if negated else formula.automaton
    steps: dict[int, int] = {}
    todo = [place for place, row in enumerate(whole.rows) if any(whole.accepting[to] for to in values_of(row))]
    for place in todo:
        steps[place] = 1
    for reached in todo:
        for place, row in enumerate(whole.rows):
            if place not in steps and reached in values_of(row):
                steps[place] = steps[reached] + 1
                todo.append(place)
    return Walk(formula.predicates, whole, steps, 0, steps[0] + _LONGER) if 0 in steps else FALSE


def contradictory(positive: Formula) -> bool:
    """Does every way to unfold the formula demand that a predicate both holds and does not hold at some instant?

    A plain search, for as long as it is cheap. It cannot know what functions return, nor how predicates are related;
    the draws find that out.
    """
    # What is still to be unfolded, which way to take first, and what is known of the predicates on the way there.
    branches: list[tuple[_Todo | None, int, dict[tuple[int, int], bool]]] = [((0, positive, None), 0, {})]
    for _ in range(_STEPS):
        if not branches:
            return True
        todo, way, known = branches.pop()
        if todo is None:
            return False
        at, formula, rest = todo
        ways = ways_of(formula)
        if ways is None:
            if _agrees(formula, at, known):
                branches.append((rest, 0, known))
            continue
        if way + 1 < ways.number:
            branches.append((todo, way + 1, dict(known)))
        for later, part in ways.demands(way):
            rest = (at + later, part, rest)
        branches.append((rest, 0, known))
    return False


_Todo: TypeAlias = "tuple[int, Formula, _Todo | None]"


def _agrees(formula: Formula, at: int, known: dict[tuple[int, int], bool]) -> bool:
    """Notes what a formula of one instant says about its predicate; False where the opposite is known."""
    match formula:
        case Atom(predicate):
            return known.setdefault((at, id(predicate)), True)
        case Constant():
            return formula == TRUE
        case Not(Atom(predicate)):
            return not known.setdefault((at, id(predicate)), False)
        case _:
            return True
