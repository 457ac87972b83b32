"""What is left to do after a state: the residuals of statements, and how `and` and `||` join them.

A step answers like the derivative of PPTL: may the interval end in this state, and what is left if it goes on?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from firesteel.model.msvl.machine import NOBODY, Machine, Residual
from firesteel.model.msvl.scopes import Activation, Key

Outcome: TypeAlias = tuple[bool, Residual | None]
END: Outcome = (True, None)
"""The interval ends here."""


class Node(Protocol):
    """A compiled statement."""

    nullable: bool
    """May it end in the state where it starts?"""

    def start(self, machine: Machine, activation: Activation) -> Outcome: ...

    def first(self, activation: Activation) -> frozenset[Key]:
        """What it may assign with `<==` in the state where it starts."""


class Last:
    """`empty`, one state later."""

    __slots__ = ()
    frames: tuple[frozenset[Any], ...] = ()
    first: frozenset[Key] = NOBODY
    nullable = True

    def step(self, machine: Machine) -> Outcome:
        return END


class Anything:
    """`true`: nothing is asked of the rest."""

    __slots__ = ()
    frames: tuple[frozenset[Any], ...] = ()
    first: frozenset[Key] = NOBODY
    nullable = True

    def step(self, machine: Machine) -> Outcome:
        return True, self


LAST, ANYTHING = Last(), Anything()
FREE: Outcome = (True, ANYTHING)
"""Nothing is said about the length of the interval."""


class Longer:
    """So many more states."""

    __slots__ = ("number",)
    frames: tuple[frozenset[Any], ...] = ()
    first: frozenset[Key] = NOBODY
    nullable = False

    def __init__(self, number: int) -> None:
        self.number = number

    def step(self, machine: Machine) -> Outcome:
        return False, LAST if self.number == 1 else Longer(self.number - 1)


class Begin:
    """A statement that starts in the next state."""

    __slots__ = ("activation", "first", "frames", "node", "nullable")

    def __init__(self, node: Node, activation: Activation, frames: tuple[frozenset[Any], ...] = ()) -> None:
        self.node, self.activation, self.frames = node, activation, frames
        self.first, self.nullable = node.first(activation), node.nullable

    def step(self, machine: Machine) -> Outcome:
        return self.node.start(machine, self.activation)


class Write:
    """Assign in the next state, which is the last: what `:=` does whose right side looks ahead."""

    __slots__ = ("do", "first")
    frames: tuple[frozenset[Any], ...] = ()
    nullable = True

    def __init__(self, key: Key, do: Callable[[Machine], None]) -> None:
        self.do, self.first = do, frozenset([key])

    def step(self, machine: Machine) -> Outcome:
        self.do(machine)
        return END


class Test(Protocol):
    """A compiled condition."""

    def test(self, machine: Machine, activation: Activation, line: int) -> bool: ...


class Waiting:
    """`await`, in the states after the first. Its test is asked where something that it reads was assigned."""

    __slots__ = ("activation", "condition", "frames", "keys", "line")
    first: frozenset[Key] = NOBODY
    nullable = True

    def __init__(self, condition: Test, activation: Activation, keys: frozenset[Key], line: int) -> None:
        self.condition, self.activation, self.keys, self.line = condition, activation, keys, line
        self.frames: tuple[frozenset[Any], ...] = (keys,)

    def step(self, machine: Machine) -> Outcome:
        if not machine.slow and self.keys.isdisjoint(machine.before):
            return False, self
        return END if self.condition.test(machine, self.activation, self.line) else (False, self)


class Framed:
    """Something that is left, with frames around it."""

    __slots__ = ("first", "frames", "keys", "nullable", "rest")

    def __init__(self, keys: frozenset[Any], rest: Residual) -> None:
        self.keys, self.rest = keys, rest
        self.frames = (keys, *rest.frames)
        self.first, self.nullable = rest.first, rest.nullable

    def step(self, machine: Machine) -> Outcome:
        ends, rest = self.rest.step(machine)
        if rest is None:
            return ends, None
        return ends, self if rest is self.rest else Framed(self.keys, rest)


class Then:
    """Something that is left, and what comes after it."""

    __slots__ = ("activation", "first", "frames", "now", "nullable", "then")

    def __init__(self, now: Residual, then: Node, activation: Activation) -> None:
        self.now, self.then, self.activation = now, then, activation
        self.frames = now.frames
        if now.nullable:
            after = then.first(activation)
            self.first = now.first | after if after else now.first
            self.nullable = then.nullable
        else:
            self.first, self.nullable = now.first, False

    def step(self, machine: Machine) -> Outcome:
        return chopped(machine, self.now.step(machine), self.then, self.activation)


def chopped(machine: Machine, outcome: Outcome, then: Node, activation: Activation) -> Outcome:
    """What follows the first part of a sequence: where that may end or go on, it is a choice."""
    ends, rest = outcome
    if ends and (rest is None or machine.choose(2) == 0):
        return then.start(machine, activation)
    if rest is None:
        return False, None
    return False, Then(rest, then, activation)


class Both:
    """Several things that are left, all equally long."""

    __slots__ = ("first", "frames", "line", "nullable", "parts")

    def __init__(self, parts: tuple[Residual, ...], line: int) -> None:
        self.parts, self.line = parts, line
        self.frames = tuple(each for part in parts for each in part.frames)
        self.first = _all_first(parts)
        self.nullable = all(part.nullable for part in parts)

    def step(self, machine: Machine) -> Outcome:
        return conjunction(machine, machine.together([part.step for part in self.parts]), self.line)


def _all_first(parts: Sequence[Residual]) -> frozenset[Key]:
    found = [part.first for part in parts if part.first]
    return NOBODY.union(*found) if found else NOBODY


def conjunction(machine: Machine, outcomes: Sequence[Outcome], line: int) -> Outcome:
    """What `and` makes of its parts: all end here, or all go on."""
    ends, goes_on = True, True
    for may_end, rest in outcomes:
        ends = ends and may_end
        goes_on = goes_on and rest is not None
    if goes_on:
        return ends, joined([rest for _, rest in outcomes if rest is not None], line)
    if not ends:
        raise machine.no_model(
            f"of the parts that `and` joins in line {line}, {_numbers(outcomes, False)} ends here and "
            f"{_numbers(outcomes, True)} goes on: they have to be equally long"
        )
    return END


def _numbers(outcomes: Sequence[Outcome], going_on: bool) -> str:
    places = [
        str(place)
        for place, (may_end, rest) in enumerate(outcomes, 1)
        if (rest is not None and not may_end if going_on else rest is None)
    ]
    return f"part {places[0]}" if places else "none"


def joined(parts: list[Residual], line: int) -> Residual:
    """Several residuals as one: what says nothing is left out, and frames are put around the rest."""
    keys: list[frozenset[Any]] = []
    rests: list[Residual] = []
    for part in parts:
        while type(part) is Framed:
            keys.append(part.keys)
            part = part.rest
        if part is not ANYTHING and not (part is LAST and LAST in rests):
            rests.append(part)
    if not rests:
        rest: Residual = ANYTHING
    else:
        rest = rests[0] if len(rests) == 1 else Both(tuple(rests), line)
    for key in keys:
        rest = Framed(key, rest)
    return rest


class Beside:
    """Several things that run in parallel; the shorter ones may end first."""

    __slots__ = ("first", "frames", "nullable", "parts")

    def __init__(self, parts: tuple[Residual, ...]) -> None:
        self.parts = parts
        frames: tuple[frozenset[Any], ...] = ()
        nullable = True
        for part in parts:
            if part.frames:
                frames += part.frames
            nullable = nullable and part.nullable
        self.frames, self.nullable = frames, nullable
        self.first = _all_first(parts)

    def step(self, machine: Machine) -> Outcome:
        if machine.slow:
            return parallel(machine, machine.together([part.step for part in self.parts]))
        return parallel(machine, [part.step(machine) for part in self.parts])


def parallel(machine: Machine, outcomes: Sequence[Outcome]) -> Outcome:
    """What `||` makes of its parts: those that are not over go on."""
    ends = True
    rests: list[Residual] = []
    for may_end, rest in outcomes:
        if not may_end:
            ends = False
            if rest is None:
                return False, None
        if rest is not None and not (may_end and rest is not ANYTHING and machine.choose(2) == 0):
            rests.append(rest)
    if not rests:
        return ends, None
    return ends, rests[0] if len(rests) == 1 else Beside(tuple(rests))
