"""Decision diagrams: functions from states to values that look only at the names that matter.

A diagram is a leaf with a value, or asks whether a name holds and goes on with one of two diagrams. Names are asked in
alphabetical order, no name is asked whose answer changes nothing, and equal diagrams are one object. So a formula with
many names, of which few matter at a time, has small diagrams where a table over all sets of names would not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeAlias

from firesteel.logic.pptl.limits import Budget


class Leaf:
    """The same value for every state."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Ask:
    """Goes on with `yes` if the name holds, else with `no`."""

    __slots__ = ("name", "no", "yes")

    def __init__(self, name: str, no: Diagram, yes: Diagram) -> None:
        self.name, self.no, self.yes = name, no, yes


Diagram: TypeAlias = Leaf | Ask

VOID = object()
"""The value for states that cannot be."""
_POSSIBLE = "possible"


class Diagrams:
    """Makes diagrams, each once."""

    def __init__(self, budget: Budget) -> None:
        self._leaves: dict[Hashable, Leaf] = {}
        self._asks: dict[tuple[str, int, int], Ask] = {}
        self._budget = budget
        self.void = self.leaf(VOID)

    def leaf(self, value: Hashable) -> Leaf:
        leaf = self._leaves.get(value)
        if leaf is None:
            leaf = self._leaves[value] = Leaf(value)
        return leaf

    def ask(self, name: str, no: Diagram, yes: Diagram) -> Diagram:
        if no is yes:
            return no
        key = (name, id(no), id(yes))
        made = self._asks.get(key)
        if made is None:
            self._budget.spend()
            made = self._asks[key] = Ask(name, no, yes)
        return made

    def joined(self, join: Callable[..., Hashable], diagrams: tuple[Diagram, ...]) -> Diagram:
        """The diagram whose values are joined from those of several; void where one of them is."""
        known: dict[tuple[Diagram, ...], Diagram] = {}

        def of(parts: tuple[Diagram, ...]) -> Diagram:
            found = known.get(parts)
            if found is None:
                found = known[parts] = made(parts)
            return found

        def made(parts: tuple[Diagram, ...]) -> Diagram:
            self._budget.spend(1 + len(parts) // 8)
            if self.void in parts:
                return self.void
            names = [part.name for part in parts if type(part) is Ask]
            if not names:
                return self.leaf(join(*(part.value for part in parts if type(part) is Leaf)))
            name = min(names)
            no = tuple(part.no if type(part) is Ask and part.name == name else part for part in parts)
            yes = tuple(part.yes if type(part) is Ask and part.name == name else part for part in parts)
            return self.ask(name, of(no), of(yes))

        return of(diagrams)

    def mapped(self, change: Callable[[Any], Hashable], diagram: Diagram, known: dict[Diagram, Diagram]) -> Diagram:
        """The diagram with other values; `known` remembers what was made with the same `change`."""
        found = known.get(diagram)
        if found is None:
            if type(diagram) is Ask:
                no, yes = self.mapped(change, diagram.no, known), self.mapped(change, diagram.yes, known)
                found = self.ask(diagram.name, no, yes)
            elif diagram is self.void:
                found = diagram
            else:
                found = self.leaf(change(diagram.value))  # type: ignore[union-attr]
            known[diagram] = found
        return found

    def at_most_one(self, names: tuple[str, ...]) -> Diagram:
        """Void where two of the names hold, something else elsewhere."""
        none: Diagram = self.leaf(_POSSIBLE)
        one = none
        for name in sorted(names, reverse=True):
            # For this name and those after it: `none` if no name before held, `one` if one did.
            none, one = self.ask(name, none, one), self.ask(name, one, self.void)
        return none


def value_at(diagram: Diagram, state: frozenset[str]) -> Any:
    """The value for a state, given as the names that hold in it."""
    while type(diagram) is Ask:
        diagram = diagram.yes if diagram.name in state else diagram.no
    return diagram.value  # type: ignore[union-attr]


def parts_of(diagram: Diagram) -> Iterator[Diagram]:
    """The diagram and all diagrams in it, each once; what follows from `no` comes before what follows from `yes`."""
    seen: set[Diagram] = set()
    todo = [diagram]
    while todo:
        part = todo.pop()
        if part not in seen:
            seen.add(part)
            yield part
            if type(part) is Ask:
                todo += [part.yes, part.no]


def values_of(diagram: Diagram) -> list[Any]:
    """The values of all states that can be, in the order in which questions lead to them."""
    return [part.value for part in parts_of(diagram) if type(part) is Leaf and part.value is not VOID]


def names_in(diagram: Diagram) -> set[str]:
    """The names that it asks for."""
    return {part.name for part in parts_of(diagram) if type(part) is Ask}


def same(first: Diagram, second: Diagram, known: set[tuple[Diagram, Diagram]]) -> bool:
    """Do two diagrams say the same, though different makers made them? `known` has pairs that do."""
    if first is second or (first, second) in known:
        return True
    match first, second:
        case Leaf(), Leaf():
            alike: bool = first.value == second.value
        case Ask(), Ask():
            alike = first.name == second.name
            alike = alike and same(first.no, second.no, known) and same(first.yes, second.yes, known)
        case _:
            alike = False
    if alike:
        known.add((first, second))
    return alike


def fewest_names(diagram: Diagram) -> dict[Any, tuple[str, ...]]:
    """For every value a state with as few names as possible that leads to it; of several, the first in the alphabet."""
    known: dict[Diagram, dict[Any, tuple[str, ...]]] = {}

    def of(part: Diagram) -> dict[Any, tuple[str, ...]]:
        found = known.get(part)
        if found is None:
            if type(part) is Ask:
                found = dict(of(part.no))
                for value, names in of(part.yes).items():
                    more = (part.name, *names)
                    if value not in found or (len(more), more) < (len(found[value]), found[value]):
                        found[value] = more
            else:
                found = {} if part.value is VOID else {part.value: ()}  # type: ignore[union-attr]
            known[part] = found
        return found

    return of(diagram)


def paths_of(diagram: Diagram) -> Iterator[tuple[tuple[tuple[str, bool], ...], Any]]:
    """Every way through the diagram: the names that were asked, with their answers, and the value.

    Ways on which fewer names hold come earlier at each question.
    """
    stack: list[tuple[Diagram, tuple[tuple[str, bool], ...]]] = [(diagram, ())]
    while stack:
        part, asked = stack.pop()
        if type(part) is Ask:
            stack.append((part.yes, (*asked, (part.name, True))))
            stack.append((part.no, (*asked, (part.name, False))))
        elif part.value is not VOID:  # type: ignore[union-attr]
            yield asked, part.value  # type: ignore[union-attr]
