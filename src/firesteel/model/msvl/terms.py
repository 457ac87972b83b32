"""The expressions of MSVL: one frozen class for each. `tree` has the statements and declarations.

Lines are kept for messages, and do not count when trees are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeAlias


def at_line() -> Any:
    """The field for the line where something is written."""
    return field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text, `true`, `false` or `null`."""

    value: int | float | str | bool | None


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


@dataclass(frozen=True, slots=True)
class TupleOf:
    """`(e, ...)`, with `(e,)` for a tuple of one."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A name that `let`, a comprehension or a definition has bound. `bound` makes it of a variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Conditional:
    """`b ? e : f`"""

    test: Expression
    then: Expression
    otherwise: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Let:
    """`let x = e in f`"""

    name: str
    value: Expression
    body: Expression


@dataclass(frozen=True, slots=True)
class Clause:
    """`for x in xs if b`: several names take a record of the list apart."""

    names: tuple[str, ...]
    source: Expression
    tests: tuple[Expression, ...] = ()
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`[e for x in xs if b]`"""

    body: Expression
    clauses: tuple[Clause, ...]


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
    | TupleOf
    | Bound
    | Conditional
    | Let
    | Comprehension
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
        case ListOf(items) | TupleOf(items):
            return items
        case Conditional(test, then, otherwise):
            return (test, then, otherwise)
        case Let(_, value, body):
            return (value, body)
        case Comprehension(body, clauses):
            return (body, *(part for clause in clauses for part in (clause.source, *clause.tests)))
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


def bound(tree: Any, names: frozenset[str]) -> Any:
    """A tree in which these names are bound: they are variables of the expression, not of the program.

    >>> bound(Binary("+", Variable("x"), Variable("y")), frozenset({"x"}))
    Binary(sign='+', left=Bound(name='x'), right=Variable(name='y'))
    """
    if isinstance(tree, Variable):
        return Bound(tree.name) if tree.name in names else tree
    if isinstance(tree, tuple):
        return tuple(bound(each, names) for each in tree)
    if not is_dataclass(tree):
        return tree
    changes = {each.name: bound(getattr(tree, each.name), names) for each in fields(tree)}
    return replace(tree, **changes)  # type: ignore[type-var]


def root(location: Expression) -> Variable:
    """The variable that a location is a part of."""
    while isinstance(location, Index | Field):
        location = location.whole
    assert isinstance(location, Variable)
    return location
