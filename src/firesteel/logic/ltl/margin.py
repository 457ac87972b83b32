"""How far a trace is from breaking a formula: a number from 1, as true as can be, down to -1.

Predicates only say yes or no, so what counts is the shape of the formula: several things have to come together to break
it, and the more of them did, the closer the trace came. A premise that holds is closer than one that does not; one that
holds in two of its three parts is closer than one that holds in none; a promise that was kept at the last moment is
closer than one that was kept at once. The sign is the truth, as far as the trace can tell; what lies beyond its end is
left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from firesteel.logic.ltl.asking import Memory, asked, body_formula
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
)
from firesteel.logic.ltl.intervals import after, distances_to
from firesteel.logic.verdicts import Verdict


def margin(formula: Formula, trace: Sequence[Any], memory: Memory | None = None) -> float:
    """How far a trace is from breaking a formula; 0 or less if it breaks it.

    >>> import firesteel as fs
    >>> kept = fs.always(fs.implies(lambda x: x > 0, fs.eventually(lambda x: x == 0, within=3)), during=1)
    >>> [round(margin(kept, trace), 2) for trace in ([0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1])]
    [1.0, 0.33, 0.17, -1.0]
    """
    found = _Margins(trace, memory or Memory()).of(formula, 0, 0)
    return 1.0 if found is None else found


class _Margins:
    """Margins of formulas at the instants of one trace. `start` is the first instant that operators on the past see."""

    def __init__(self, trace: Sequence[Any], memory: Memory) -> None:
        self._trace, self._memory = trace, memory
        # The formula is kept, so that no other can have its id.
        self._known: dict[tuple[int, int, int], tuple[Formula, float | None]] = {}

    def of(self, formula: Formula, at: int, start: int) -> float | None:
        """None where the trace is too short to say anything."""
        key = id(formula), at, start
        if key not in self._known:
            self._known[key] = formula, self._of(formula, at, start)
        return self._known[key][1]

    def _of(self, formula: Formula, at: int, start: int) -> float | None:
        match formula:
            case Constant(verdict):
                return float(verdict.value)
            case Atom():
                return self._asked(formula, at)
            case Not(body):
                return _opposite(self.of(body, at, start))
            case And(parts):
                return _all(self.of(part, at, start) for part in parts)
            case Or(parts):
                return _any(self.of(part, at, start) for part in parts)
            case Implies(premise, then):
                return _any([_opposite(self.of(premise, at, start)), self.of(then, at, start)])
            case Next(body, times):
                return self.of(body, at + times, start)
            case Always(body, bound):
                return _all(self.of(body, later, start) for later in self._ahead(at, bound))
            case Eventually(body, bound):
                return _any(self.of(body, later, start) for later in self._ahead(at, bound))
            case Until(first, then, bound):
                return self._until(first, then, self._ahead(at, bound), start)
            case Release(first, then, bound):
                return _opposite(self._until(Not(first), Not(then), self._ahead(at, bound), start))
            case Let() | Consume():
                made = self._body(formula, at)
                begin = at if isinstance(formula, Let) else at + 1
                return None if made is None else self.of(made, begin, begin)
            case Previously(body):
                return self.of(body, at - 1, start) if at > start else -1.0
            case Once(body, bound):
                return _any(self.of(body, before, start) for before in _back(at, start, bound))
            case Historically(body, bound):
                return _all(self.of(body, before, start) for before in _back(at, start, bound))
            case Since(holds, after, bound):
                return self._until(holds, after, _back(at, start, bound), start)
            case Intervals():
                return self._interval(formula, at)
            case _:
                raise TypeError(f"{formula!r} is not a formula that is known here")

    def _ahead(self, at: int, bound: int | None) -> range:
        return range(at, max(at, len(self._trace)) if bound is None else at + bound)

    def _until(self, first: Formula, then: Formula, instants: Iterable[int], start: int) -> float | None:
        """`then` at one of the instants, and `first` at all of those before it."""
        ways: list[float | None] = []
        before: float | None = 1.0
        for at in instants:
            ways.append(_all([before, self.of(then, at, start)]))
            before = _all([before, self.of(first, at, start)])
            if before is not None and before < 0:
                break
        return _any(ways)

    def _interval(self, formula: Intervals, at: int) -> float | None:
        """A trace is the closer, the fewer instants were missing until it had been false for good."""
        atoms = {atom.name: atom for atom in formula.predicates}
        whole, place, closest = formula.automaton, 0, 1.0
        distances = distances_to(whole, Verdict.FALSE)
        for index in range(at, len(self._trace)):
            answers = {name: self._asked(atom, index) for name, atom in atoms.items()}
            place = after(whole, place, lambda name: (answers[name] or -1.0) > 0)  # noqa: B023
            if whole.verdicts[place].definite:
                return 1.0 if whole.verdicts[place] is Verdict.TRUE else -1.0
            if place in distances:
                closest = min(closest, distances[place] / (distances[place] + 1))
        if at >= len(self._trace):
            return None
        return closest if whole.accepting[place] else -1.0

    def _asked(self, atom: Atom, at: int) -> float | None:
        if at >= len(self._trace):
            return None
        known = self._memory.answers.get((id(atom), at))
        if known is not None:
            return 1.0 if known[1] else -1.0
        with suppress(Exception):  # it was never asked about this instant, and may not be able to answer
            return 1.0 if asked(atom, self._trace[at], at) else -1.0
        return None

    def _body(self, formula: Let | Consume, at: int) -> Formula | None:
        if at >= len(self._trace):
            return None
        known = self._memory.bodies.get((id(formula), at))
        if known is not None:
            return known[1]
        with suppress(Exception):
            return body_formula(formula, self._trace[at], at)
        return None


def _back(at: int, start: int, bound: int | None) -> range:
    return range(at, max(start, at - bound + 1 if bound is not None else start) - 1, -1)


def _opposite(margin: float | None) -> float | None:
    return None if margin is None else -margin


def _all(margins: Iterable[float | None]) -> float | None:
    """If all are true, as true as the least of them; else minus the share of false ones."""
    return _opposite(_any(map(_opposite, margins)))


def _any(margins: Iterable[float | None]) -> float | None:
    """If all are false, as false as the closest of them; else the share of true ones."""
    all_of_them = list(margins)
    found = [margin for margin in all_of_them if margin is not None]
    true = [margin for margin in found if margin > 0]
    if not found:
        return None if all_of_them else -1.0
    return sum(true) / len(found) if true else max(found)
