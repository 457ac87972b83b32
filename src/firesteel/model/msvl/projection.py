"""Projection: parts that follow one another, and a whole that takes a step where they meet.

For the whole, the state before is the one where parts met last. So what it assigns with `:=` comes where parts meet
next, and what it frames keeps the value from where they met last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firesteel.model.msvl.machine import Coming, Machine, Residual
from firesteel.model.msvl.residuals import Outcome, Then
from firesteel.model.msvl.scopes import Activation, Key, Name
from firesteel.model.msvl.statements import ChopNode, Node


class Projected:
    """What is left of the whole, which goes on where parts meet."""

    __slots__ = ("coming", "first", "rest", "values")

    def __init__(self, rest: Residual, coming: Coming) -> None:
        self.rest, self.coming = rest, coming
        self.values: Mapping[Key, Any] = {}
        framed = (each[0] if type(each) is tuple else each for frame in rest.frames for each in frame)
        self.first = rest.first.union((key for key, _, _, _ in coming), framed)

    def at_end(self, values: dict[Key, Any]) -> None:
        """The state is made: these are the values where the parts met."""
        self.values = dict(values)

    def step(self, machine: Machine) -> Outcome:
        for frame in self.rest.frames:
            for each in frame:
                if type(each) is tuple:
                    raise machine.unusable("a frame of a part of a variable cannot stand in the whole of `prj`", 0)
                if each in self.values:
                    machine.keep(each, self.values[each])
        for write in self.coming:
            machine.write(*write)
        return self.rest.step(machine)


Whole = tuple[bool, Projected | None]
"""May the whole end here, and what is left of it?"""


def _looking_back(machine: Machine, past: Mapping[Key, Any] | None, step: Callable[[Machine], Outcome]) -> Whole:
    """A step of the whole: it looks back to where parts met last, and assigns for where they meet next."""
    outer = machine.coming, machine.projected, machine.no_past
    machine.coming, machine.projected, machine.no_past = [], past, past is None
    try:
        ends, rest = step(machine)
        if rest is None:
            return ends, None
        left = Projected(rest, machine.coming)
    finally:
        machine.coming, machine.projected, machine.no_past = outer
    machine.at_end.append(left.at_end)
    return ends, left


class PrjNode(Node):
    def __init__(self, parts: tuple[Node, ...], whole: Node) -> None:
        self.parts, self.whole = parts, whole
        self.after = tuple(_in_sequence(parts[place + 1 :]) for place in range(len(parts)))

    def nodes(self) -> list[Node]:
        """The sequences of later parts."""
        found: list[Node] = []
        for node in self.after:
            while isinstance(node, ChopNode):
                found.insert(0, node)
                node = node.then
        return found

    def ends_early(self) -> bool:
        return self.whole.nullable and all(part.nullable for part in self.parts)

    def assigns(self) -> frozenset[Name]:
        found = self.whole.early
        for part in self.parts:
            found |= part.early
            if not part.nullable:
                break
        return found

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        def step(machine: Machine) -> Whole:
            return _looking_back(machine, None, lambda m: self.whole.start(m, activation))

        return self.met(machine, activation, 0, step)

    def met(self, machine: Machine, activation: Activation, place: int, whole: Callable[[Machine], Whole]) -> Outcome:
        """Parts meet here: the whole takes a step, and the part at this place starts."""

        def part(machine: Machine) -> tuple[int, Residual | None]:
            for number in range(place, len(self.parts)):
                ends, rest = self.parts[number].start(machine, activation)
                if rest is not None and not (ends and machine.choose(2) == 0):
                    return number, rest
            return len(self.parts), None

        outcomes: list[Any] = machine.together([whole, part])
        (ends, left), (number, rest) = outcomes
        if rest is None:  # all parts are over, and the whole goes on by itself
            if left is None:
                return ends, None
            machine.coming += left.coming
            return ends, left.rest
        if left is not None and not (ends and machine.choose(2) == 1):
            return False, Meeting(self, activation, number + 1, rest, left)
        if not ends:
            return False, None
        after = self.after[number]
        return False, rest if after is None else Then(rest, after, activation)


def _in_sequence(parts: tuple[Node, ...]) -> Node | None:
    if not parts:
        return None
    first, *others = parts
    then = _in_sequence(tuple(others))
    return first if then is None else ChopNode(first, then)


class Meeting:
    """A part of a projection that goes on, the later parts, and the whole that waits for them to meet."""

    __slots__ = ("activation", "first", "frames", "node", "now", "nullable", "place", "whole")

    def __init__(self, node: PrjNode, activation: Activation, place: int, now: Residual, whole: Projected) -> None:
        self.node, self.activation, self.place, self.now, self.whole = node, activation, place, now, whole
        self.frames, self.nullable = now.frames, now.nullable
        first = now.first
        if now.nullable:
            first = first | whole.first
            for part in node.parts[place:]:
                first |= part.first(activation)
        self.first = first

    def step(self, machine: Machine) -> Outcome:
        ends, rest = self.now.step(machine)
        if ends and (rest is None or machine.choose(2) == 0):
            past = self.whole.values

            def whole(machine: Machine) -> Whole:
                return _looking_back(machine, past, self.whole.step)

            return self.node.met(machine, self.activation, self.place, whole)
        if rest is None:
            return False, None
        return False, Meeting(self.node, self.activation, self.place, rest, self.whole)
