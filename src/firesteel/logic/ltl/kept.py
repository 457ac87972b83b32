"""Open obligations as plain data, and back.

An obligation refers to formulas. Inside the rule a formula has a place: the numbers of the children on the way to it.
A formula that the function of a `let` or `consume` returned has a binding besides: the place of that `let`, and the
instant that it was called with. To read an obligation back, the function is called again with that instant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from firesteel.errors import InvalidArgument
from firesteel.logic.ltl.asking import body_formula
from firesteel.logic.ltl.fingerprint import shape
from firesteel.logic.ltl.formulas import Consume, Formula, Intervals, Let, children, postorder
from firesteel.logic.ltl.intervals import Stepping
from firesteel.logic.ltl.obligations import (
    Both,
    Either,
    Left,
    Negated,
    Promise,
    Running,
    Scope,
    Waiting,
    key_of,
)
from firesteel.logic.verdicts import Verdict

Place: TypeAlias = "list[int]"
"""The number of a binding, or -1 for the rule itself; then the numbers of children."""
Binding: TypeAlias = "tuple[Place, int, str]"
"""The place of a `let` or `consume`, the instant that it was called with, and the shape of what it returned."""

Bodies: TypeAlias = "dict[tuple[int, int], tuple[Formula, Formula]]"
"""As in `Memory.bodies`."""

_RULE = -1
_NOT_LASTING = 0  # an implication that is not counted: progression._PASSING


class Writer:
    """Writes what is left of one rule."""

    def __init__(self, rule: Formula, bodies: Bodies) -> None:
        self.bindings: list[Binding] = []
        self.used: Bodies = {}
        """What `let` and `consume` returned, as far as anything that was written refers to it."""
        self._bodies = bodies
        self._home = {id(inner): key for key, (_, made) in bodies.items() for inner in postorder(made)}
        self._places: dict[int, Place] = {}
        self._know(rule, [_RULE])

    def left(self, left: Left) -> Any:
        match left:
            case Verdict():
                return {"verdict": left.value}
            case Running():
                return {"running": [self._place(left.formula), left.last]}
            case Waiting():
                return {"waiting": [self._place(left.formula), left.start]}
            case Stepping():
                return {"stepping": [self._place(left.formula), left.place]}
            case Negated():
                return {"not": self.left(left.body)}
            case Both():
                return {"and": [self.left(part) for part in left.parts.values()]}
            case Either():
                return {"or": [self.left(part) for part in left.parts.values()]}
            case Promise():
                return {"implies": [self.left(left.premise), self.left(left.then)]}
            case Scope():
                cells = [self.cell(cell) for cell in left.cells]
                return {"scope": [self.left(left.left), [self._place(f) for f in left.past], cells]}
            case Formula():
                return {"formula": self._place(left)}
        raise AssertionError(f"cannot be kept: {type(left)}")

    def cell(self, cell: Any) -> Any:
        """What an operator on the past remembers: nothing yet, something open, or instants each with what is open."""
        if cell is None:
            return None
        if isinstance(cell, tuple):
            return [[start, self.left(left)] for start, left in cell]
        return self.left(cell)

    def _place(self, formula: Formula) -> Place:
        if id(formula) not in self._places:
            self._bind(self._home[id(formula)])
        return self._places[id(formula)]

    def _bind(self, key: tuple[int, int]) -> None:
        """Numbers the formulas that a `let` or `consume` returned."""
        node, made = self.used[key] = self._bodies[key]
        self.bindings.append((self._place(node), key[1], shape(made)))
        self._know(made, [len(self.bindings) - 1])

    def _know(self, formula: Formula, place: Place) -> None:
        self._places.setdefault(id(formula), place)
        for number, child in enumerate(children(formula)):
            self._know(child, [*place, number])


class Reader:
    """Reads back what a `Writer` wrote, for a rule that is the same."""

    def __init__(
        self, rule: Formula, bindings: Sequence[Sequence[Any]], instants: Mapping[int, Any], bodies: Bodies
    ) -> None:
        self._roots: dict[int, Formula] = {_RULE: rule}
        for number, (place, index, wanted) in enumerate(bindings):
            node = self._at(place)
            if not isinstance(node, Let | Consume):
                raise _changed()
            made = body_formula(node, instants[index], index)
            if shape(made) != wanted:
                raise InvalidArgument(
                    f"{node!r} returned another formula for the same instant than before: its function has to depend "
                    "on nothing but the instant, and must be the one that was there when the state was kept"
                )
            bodies[id(node), index] = (node, made)
            self._roots[number] = made

    def left(self, written: Mapping[str, Any]) -> Left:
        ((kind, inside),) = written.items()
        match kind:
            case "verdict":
                return Verdict(inside)
            case "running":
                return Running(self._at(inside[0]), inside[1])
            case "waiting":
                return Waiting(self._at(inside[0]), inside[1])
            case "stepping":
                formula = self._at(inside[0])
                if not isinstance(formula, Intervals):
                    raise _changed()
                return Stepping(formula, inside[1])
            case "not":
                return Negated(self.left(inside))
            case "and":
                return Both({key_of(part): part for part in map(self.left, inside)})
            case "or":
                return Either({key_of(part): part for part in map(self.left, inside)})
            case "implies":
                return Promise(self.left(inside[0]), self.left(inside[1]), _NOT_LASTING)
            case "scope":
                left, places, cells = inside
                return Scope(self.left(left), tuple(map(self._at, places)), tuple(map(self.cell, cells)))
            case _:
                return self._at(inside)

    def cell(self, written: Any) -> Any:
        if written is None:
            return None
        if isinstance(written, list):
            return tuple((start, self.left(left)) for start, left in written)
        return self.left(written)

    def _at(self, place: Place) -> Formula:
        root, *way = place
        formula = self._roots[root]
        for number in way:
            inside = children(formula)
            if number >= len(inside):
                raise _changed()
            formula = inside[number]
        return formula


def _changed() -> InvalidArgument:
    return InvalidArgument("this state was kept for another rule: begin with a new checkpoint, or give the old rule")
