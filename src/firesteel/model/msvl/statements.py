"""Compiled statements: nodes that can be started in a state. `compiling` makes them from the tree."""

from __future__ import annotations

from firesteel.model.msvl.expressions import Expr, Place
from firesteel.model.msvl.machine import NOBODY, Blocked, Machine
from firesteel.model.msvl.residuals import (
    ANYTHING,
    END,
    FREE,
    LAST,
    Begin,
    Framed,
    Longer,
    Outcome,
    Then,
    Waiting,
    Write,
    chopped,
    conjunction,
    joined,
    parallel,
)
from firesteel.model.msvl.scopes import Activation, Key, Kind, Name
from firesteel.model.msvl.types import Blank, Fits
from firesteel.model.msvl.values import UNSET

FEW = 50
"""How deep functions may call one another in one state."""


class Node:
    """A compiled statement."""

    nullable = False
    """May it end in the state where it starts?"""
    early: frozenset[Name] = frozenset()
    """What it may assign with `<==` in the state where it starts."""

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        raise NotImplementedError

    def first(self, activation: Activation) -> frozenset[Key]:
        """The variables of `early`."""
        if not self.early:
            return NOBODY
        found = [name.found(activation) for name in self.early if name.kind is Kind.GLOBAL or name.slot in activation]
        return frozenset(key for key in found if key is not None)

    def ends_early(self) -> bool:
        """What `nullable` is, given that of the nodes inside."""
        return True

    def assigns(self) -> frozenset[Name]:
        """What `early` is, given that of the nodes inside."""
        return frozenset()

    def settle(self) -> bool:
        """Work out both; true if one of them changed."""
        found = (self.ends_early(), self.assigns())
        changed = found != (self.nullable, self.early)
        self.nullable, self.early = found
        return changed


class EmptyNode(Node):
    def start(self, machine: Machine, activation: Activation) -> Outcome:
        return END


class Longish(Node):
    """It takes at least one step."""

    def ends_early(self) -> bool:
        return False


class SkipNode(Longish):
    def start(self, machine: Machine, activation: Activation) -> Outcome:
        return False, LAST


class LenNode(Node):
    def __init__(self, number: Expr, line: int) -> None:
        self.number, self.line = number, line

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        number = self.number(machine, activation)
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise machine.unusable(f"len({number!r}) is not a length: it needs a whole number from 0", self.line)
        if number == 0:
            return END
        return False, LAST if number == 1 else Longer(number - 1)


class AssignNode(Node):
    def __init__(self, to: Place, value: Expr, fits: Fits | None, line: int) -> None:
        self.to, self.value, self.fits, self.line = to, value, fits, line

    def assigns(self) -> frozenset[Name]:
        return frozenset([self.to.name])

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        value = self.value(machine, activation)
        if self.fits is not None:
            self.fits(machine, value, self.line)
        machine.write(*self.to.found(machine, activation), value, self.line)
        return FREE


class AssignNextNode(Longish):
    def __init__(self, to: Place, value: Expr, fits: Fits | None, line: int) -> None:
        self.to, self.value, self.fits, self.line = to, value, fits, line

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        value = self.value(machine, activation)
        if self.fits is not None:
            self.fits(machine, value, self.line)
        key, path = self.to.found(machine, activation)
        machine.coming.append((key, path, value, self.line))
        return False, LAST


class AheadNode(Longish):
    """`x := e` where e has `next` in it: it is evaluated in the next state, with what is known now."""

    def __init__(self, to: Place, known_now: tuple[Expr, ...], value: Expr, fits: Fits | None, line: int) -> None:
        self.to, self.known_now, self.value, self.fits, self.line = to, known_now, value, fits, line

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        key, path = self.to.found(machine, activation)
        now = {f"#{place}": each(machine, activation) for place, each in enumerate(self.known_now)}

        def do(later: Machine) -> None:
            value = self.value(later, {**activation, **now})
            if self.fits is not None:
                self.fits(later, value, self.line)
            later.write(key, path, value, self.line)

        return False, Write(key, do)


class StateFrameNode(Node):
    def __init__(self, places: tuple[Place, ...], line: int) -> None:
        self.places, self.line = places, line

    def assigns(self) -> frozenset[Name]:
        return frozenset(place.name for place in self.places)

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        for place in self.places:
            machine.keep_past(place.found(machine, activation)[0])
        return FREE


class FrameNode(Node):
    def __init__(self, places: tuple[Place, ...]) -> None:
        self.places = places

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        found = [place.found(machine, activation) for place in self.places]
        return True, Framed(frozenset((key, path) if path else key for key, path in found), ANYTHING)


class NextNode(Longish):
    def __init__(self, body: Node) -> None:
        self.body = body

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        return False, Begin(self.body, activation)


class AlwaysNode(Node):
    def __init__(self, body: Node) -> None:
        self.body = body

    def ends_early(self) -> bool:
        return self.body.nullable

    def assigns(self) -> frozenset[Name]:
        return self.body.early

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        ends, rest = self.body.start(machine, activation)
        return ends, None if rest is None else joined([rest, Begin(self, activation)], 0)


class IfNode(Node):
    def __init__(self, test: Expr, then: Node, otherwise: Node, line: int) -> None:
        self.test, self.then, self.otherwise, self.line = test, then, otherwise, line

    def ends_early(self) -> bool:
        return self.then.nullable or self.otherwise.nullable

    def assigns(self) -> frozenset[Name]:
        return self.then.early | self.otherwise.early

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        chosen = self.then if self.test.test(machine, activation, self.line) else self.otherwise
        return chosen.start(machine, activation)


class WhileNode(Node):
    def __init__(self, test: Expr, body: Node, line: int) -> None:
        self.test, self.body, self.line = test, body, line

    def assigns(self) -> frozenset[Name]:
        return self.body.early

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        if not self.test.test(machine, activation, self.line):
            return END
        _, rest = self.body.start(machine, activation)
        if rest is None:
            raise machine.no_model(
                f"the body of `while` in line {self.line} takes no time, so its condition can never become false"
            )
        return False, Then(rest, self, activation)


class AwaitNode(Node):
    def __init__(self, test: Expr, line: int) -> None:
        self.test, self.line = test, line

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        if self.test.test(machine, activation, self.line):
            return END
        keys = frozenset(key for name in self.test.names if (key := name.found(activation)) is not None)
        return False, Waiting(self.test, activation, keys, self.line)


class ChopNode(Node):
    def __init__(self, now: Node, then: Node) -> None:
        self.now, self.then = now, then

    def ends_early(self) -> bool:
        return self.now.nullable and self.then.nullable

    def assigns(self) -> frozenset[Name]:
        return self.now.early | self.then.early if self.now.nullable else self.now.early

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        return chopped(machine, self.now.start(machine, activation), self.then, activation)


class Many(Node):
    """Parts that start together."""

    def __init__(self, parts: tuple[Node, ...], line: int = 0) -> None:
        self.parts, self.line = parts, line

    def ends_early(self) -> bool:
        return all(part.nullable for part in self.parts)

    def assigns(self) -> frozenset[Name]:
        return NOBODY.union(*(part.early for part in self.parts))

    def started(self, machine: Machine, activation: Activation) -> list[Outcome]:
        if not machine.slow:
            return [part.start(machine, activation) for part in self.parts]
        return machine.together([lambda m, part=part: part.start(m, activation) for part in self.parts])  # type: ignore[misc]


class AndNode(Many):
    def start(self, machine: Machine, activation: Activation) -> Outcome:
        return conjunction(machine, self.started(machine, activation), self.line)


class ParNode(Many):
    def start(self, machine: Machine, activation: Activation) -> Outcome:
        return parallel(machine, self.started(machine, activation))


class OrNode(Many):
    def ends_early(self) -> bool:
        return any(part.nullable for part in self.parts)

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        return self.parts[machine.choose(len(self.parts))].start(machine, activation)


class Slot:
    """A variable that every activation has for itself."""

    __slots__ = ("blank", "label", "name")

    def __init__(self, name: Name, label: str, blank: Blank | None) -> None:
        self.name, self.label, self.blank = name, label, blank

    def key(self, machine: Machine, activation: Activation, serial: str) -> Key:
        return Key(f"{serial}{self.label}", UNSET if self.blank is None else self.blank(machine, activation))


def entered(machine: Machine, body: Node, slots: tuple[Slot, ...], activation: Activation) -> Outcome:
    """Start a body whose own variables are new."""
    early = {activation[slot.name.slot] for slot in slots if slot.name in body.early}
    if early:
        if not machine.slow:
            raise Blocked(set())
        machine.immediate |= early
    for slot in slots:
        machine.declare(activation[slot.name.slot])
    return body.start(machine, activation)


class ExistNode(Node):
    def __init__(self, body: Node, slots: tuple[Slot, ...]) -> None:
        self.body, self.slots = body, slots

    def ends_early(self) -> bool:
        return self.body.nullable

    def assigns(self) -> frozenset[Name]:
        return self.body.early - {slot.name for slot in self.slots}

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        made = machine.once(lambda: self._made(machine, activation))
        return entered(machine, self.body, self.slots, made)

    def _made(self, machine: Machine, activation: Activation) -> Activation:
        machine.serial += 1
        serial = f"exist#{machine.serial}."
        return {**activation, **{slot.name.slot: slot.key(machine, activation, serial) for slot in self.slots}}


class FunctionCode:
    """A compiled function. Its body is compiled after all functions are known."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.body: Node = EmptyNode()
        self.slots: tuple[Slot, ...] = ()
        self.aliases: dict[Name, int] = {}
        """The parameters that stand for a location, and their places."""


class CallNode(Node):
    def __init__(self, function: FunctionCode, arguments: tuple[tuple[str, Expr | Place], ...], line: int) -> None:
        self.function, self.arguments, self.line = function, arguments, line

    def ends_early(self) -> bool:
        return self.function.body.nullable

    def assigns(self) -> frozenset[Name]:
        found = {name for name in self.function.body.early if name.kind is Kind.GLOBAL}
        for name in self.function.body.early & self.function.aliases.keys():
            _, place = self.arguments[self.function.aliases[name]]
            assert isinstance(place, Place)
            found.add(place.name)
        return frozenset(found)

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        machine.depth += 1
        if machine.depth > FEW:
            raise machine.unusable(
                f"{self.function.name} is called {FEW} deep in one state: a function that calls itself has to take a "
                f"state first. Write next {self.function.name}(...)",
                self.line,
            )
        made = machine.once(lambda: self._made(machine, activation))
        outcome = entered(machine, self.function.body, self.function.slots, made)
        machine.depth -= 1
        return outcome

    def _made(self, machine: Machine, activation: Activation) -> Activation:
        made: Activation = {}
        for slot, argument in self.arguments:
            if isinstance(argument, Place):
                made[slot] = argument.found(machine, activation)
            else:
                made[slot] = argument(machine, activation)
        if self.function.slots:
            machine.serial += 1
            serial = f"{self.function.name}#{machine.serial}."
            for variable in self.function.slots:
                made[variable.name.slot] = variable.key(machine, made, serial)
        return made


class DoNode(Node):
    """`ext f(...)` as a statement."""

    def __init__(self, call: Expr) -> None:
        self.call = call

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        self.call(machine, activation)
        return FREE


class DeclareNode(Many):
    """First values of several variables."""

    def start(self, machine: Machine, activation: Activation) -> Outcome:
        self.started(machine, activation)
        return FREE
