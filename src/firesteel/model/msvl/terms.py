"""The expressions of MSVL: one frozen class for each. `tree` has the statements and declarations.

Lines are kept for messages, and do not count when trees are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias


def at_line() -> Any:
    """The field for the line where something is written."""
    return field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text, `true` or `false`."""

    value: int | float | str | bool


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Index:
    """`a[i]`: an element of a list, or the value of a key of a map."""

    whole: Expression
    index: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Field:
    """`s.f`: a field of a structure."""

    whole: Expression
    name: str
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Unary:
    """`-e` or `!b`."""

    sign: str
    body: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Binary:
    """Two expressions and what joins them: `+ - * / %`, `= != < <= > >=`, `AND OR`."""

    sign: str
    left: Expression
    right: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Previous:
    """The value in the state before."""

    body: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Following:
    """`next e`: the value in the next state."""

    body: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Apply:
    """A state function: `size(xs)`, which may also be written `xs.size()`. It takes no state."""

    function: str
    arguments: tuple[Expression, ...]
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class External:
    """`ext f(e, ...)`: a function that is supplied from outside."""

    function: str
    arguments: tuple[Expression, ...]
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[e, ...]`"""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    """`{k: v, ...}`"""

    items: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class StructOf:
    """`struct S {f: e, ...}`: a structure with all of its fields."""

    name: str
    fields: tuple[tuple[str, Expression], ...]
    line: int = at_line()


Expression: TypeAlias = (
    Constant
    | Variable
    | Index
    | Field
    | Unary
    | Binary
    | Previous
    | Following
    | Apply
    | External
    | ListOf
    | MapOf
    | StructOf
)
Location: TypeAlias = Variable | Index | Field
"""What can be assigned."""


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside one."""
    match expression:
        case Index(whole, index):
            return (whole, index)
        case Field(whole):
            return (whole,)
        case Unary(_, body) | Previous(body) | Following(body):
            return (body,)
        case Binary(_, left, right):
            return (left, right)
        case Apply(_, arguments) | External(_, arguments):
            return arguments
        case ListOf(items):
            return items
        case MapOf(items):
            return tuple(e for pair in items for e in pair)
        case StructOf(_, fields):
            return tuple(e for _, e in fields)
        case _:
            return ()


def parts_of(expression: Expression) -> Iterator[Expression]:
    """An expression and all that is inside it."""
    yield expression
    for operand in operands(expression):
        yield from parts_of(operand)


def root(location: Expression) -> Variable:
    """The variable that a location is a part of."""
    while isinstance(location, Index | Field):
        location = location.whole
    assert isinstance(location, Variable)
    return location
