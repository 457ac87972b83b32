"""The tree of a logical plan: plain values that decisions rest on, each with a handle to the object in the JVM.

A `Node` is an operator, such as a Join. An `Expression` is what an operator computes: an Alias, a Literal, a call of a
function, or an attribute, which is a column of some operator's output and known by its id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from firesteel.spark.failures import SubjectFailure

_T = TypeVar("_T")
_DELAY = "spark.watermarkDelayMs"

Argument: TypeAlias = "Node | Expression | tuple[Argument, ...] | str | int | bool | None"
"""An argument of a constructor in Catalyst. A Scala object, such as a kind of join or a time mode, is given by the name
of its class: "LeftOuter", "EventTime"."""


class Handles:
    """The objects in the JVM behind one tree. Each is fetched when it is first asked for."""

    def __init__(self, reading: Any) -> None:
        self._reading = reading
        self._fetched: dict[int, Any] = {}

    def at(self, place: int) -> Any:
        """The object behind the node or expression in one place of the tree."""
        if place not in self._fetched:
            self._fetched[place] = self._reading.handle(place)
        return self._fetched[place]


@dataclass(frozen=True)
class Expression:
    """An expression of Catalyst."""

    kind: str
    """Its class, such as "Alias", "AttributeReference", "PythonUDF"."""
    children: tuple[Expression, ...]
    id: int | None
    """The id of a named expression: an attribute refers by it to where its values come from."""
    name: str | None
    data_type: str | None
    """As in SQL: "bigint", "array<int>". None where it is not known yet."""
    nullable: bool
    metadata: Mapping[str, Any] = field(hash=False)
    arguments: Mapping[str, Argument] = field(hash=False, repr=False)
    """The arguments that it was made of, by name, as far as they are data or trees."""
    _handles: Handles = field(compare=False, repr=False)
    _place: int = field(compare=False, repr=False)

    @property
    def handle(self) -> Any:
        """The object in the JVM."""
        return self._handles.at(self._place)

    @property
    def value(self) -> Argument:
        """The value of a literal: a null, a whole number, a boolean or a text; KeyError for all other values."""
        return self.arguments["value"]

    @property
    def is_event_time(self) -> bool:
        """Is this a column with a watermark?"""
        return self.id is not None and _DELAY in self.metadata

    @property
    def delay(self) -> int:
        """How far the watermark of this column stays behind its latest value, in milliseconds."""
        return int(self.metadata[_DELAY])

    @property
    def plans(self) -> tuple[Node, ...]:
        """The plan of a subquery."""
        return tuple(part for value in self.arguments.values() for part in _flat(value) if isinstance(part, Node))

    def walk(self) -> Iterator[Expression]:
        """This expression and all below it."""
        return _walk(self, lambda expression: expression.children)


@dataclass(frozen=True)
class Node:
    """An operator of a logical plan."""

    kind: str
    """Its class, such as "Project", "Join", "EventTimeWatermark"."""
    children: tuple[Node, ...]
    output: tuple[Expression, ...]
    """The attributes of the records that come out of it."""
    arguments: Mapping[str, Argument] = field(hash=False, repr=False)
    """The arguments that it was made of, by name, as far as they are data or trees."""
    is_streaming: bool
    _handles: Handles = field(compare=False, repr=False)
    _place: int = field(compare=False, repr=False)

    @property
    def handle(self) -> Any:
        """The object in the JVM."""
        return self._handles.at(self._place)

    @property
    def ids(self) -> list[int | None]:
        """The ids of its output."""
        return [attribute.id for attribute in self.output]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions that it computes."""
        return tuple(part for value in self.arguments.values() for part in _flat(value) if isinstance(part, Expression))

    @property
    def subqueries(self) -> tuple[Node, ...]:
        """The plans of the subqueries in its expressions."""
        return tuple(plan for top in self.expressions for expression in top.walk() for plan in expression.plans)

    def argument(self, name: str) -> Argument:
        """One of its arguments; SubjectFailure where it has none of that name, as another version of Spark may."""
        if name not in self.arguments:
            raise SubjectFailure(f"{self.kind} has no {name} that firesteel can read in this version of Spark")
        return self.arguments[name]

    def expressions_of(self, name: str) -> tuple[Expression, ...]:
        """The expressions in one of its arguments."""
        return tuple(part for part in _flat(self.argument(name)) if isinstance(part, Expression))

    def walk(self) -> Iterator[Node]:
        """This node and all below it, with the plans of subqueries. A plan that is used twice comes once."""
        return _walk(self, lambda node: (*node.children, *node.subqueries))


def _flat(argument: Argument) -> Iterator[Argument]:
    if isinstance(argument, tuple):
        for each in argument:
            yield from _flat(each)
    else:
        yield argument


def _walk(root: _T, below: Callable[[_T], tuple[_T, ...]]) -> Iterator[_T]:
    """Everything below a root, each once; without recursion, as expressions may be deep."""
    waiting, seen = [root], {id(root)}
    while waiting:
        tree = waiting.pop()
        yield tree
        for child in reversed(below(tree)):
            if id(child) not in seen:
                seen.add(id(child))
                waiting.append(child)
