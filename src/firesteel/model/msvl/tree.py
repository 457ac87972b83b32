"""The statements and declarations of MSVL: one frozen class for each. `terms` has the expressions.

`grammar` reads text into a tree, `printing` writes it as text, `statements` and `expressions` compile it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from firesteel.model.msvl.terms import Expression, External, Location, at_line

# --- types and declarations --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Type:
    """`int`, `float`, `bool`, `string`, `list`, `map`, or a structure."""

    name: str
    struct: bool = False


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared name: `x`, `a[10]`, or with its first value `x <== 0`."""

    type: Type
    name: str
    sizes: tuple[Expression, ...] = ()
    value: Expression | None = None
    file: str = ""
    """Where the value of an input is, if it is in a file."""
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Define:
    """`define f(x) = e;`: a name for an expression. It takes no state."""

    name: str
    parameters: tuple[str, ...]
    body: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. One that is an array, `int a[]`, stands for the variable that is handed over."""

    type: Type | None
    name: str
    array: bool = False


@dataclass(frozen=True, slots=True)
class Struct:
    name: str
    fields: tuple[Declared, ...]


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    parameters: tuple[Parameter, ...]
    variables: tuple[Declared, ...]
    """Its own variables that are declared without a value."""
    body: Statement
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Source:
    """A whole program."""

    structs: tuple[Struct, ...]
    inputs: tuple[Declared, ...]
    outputs: tuple[str, ...]
    variables: tuple[Declared, ...]
    functions: tuple[Function, ...]
    body: Statement
    definitions: tuple[Define, ...] = ()
    listed: bool = False
    """Are the results a list, `output [a, b];`, and not a dict?"""


# --- statements --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Empty:
    """There is no next state."""


@dataclass(frozen=True, slots=True)
class Skip:
    """There is one more state."""


@dataclass(frozen=True, slots=True)
class Len:
    """There are so many more states."""

    number: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Assign:
    """`x <== e`: x has this value in this state. It says nothing about how long the interval is."""

    to: Location
    value: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class AssignNext:
    """`x := e`: x has this value in the next state, which is the last of the interval."""

    to: Location
    value: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Declare:
    """`int i <== 0, k <== 1`: variables of a function, or of the program, with their first values."""

    names: tuple[Declared, ...]


@dataclass(frozen=True, slots=True)
class StateFrame:
    """`lbf(x)`: in this state, x has the value that it had before, unless it is assigned."""

    locations: tuple[Location, ...]
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Frame:
    """`frame(x)`: the same, in every state of the interval but the first."""

    locations: tuple[Location, ...]
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Next:
    """There is a next state, and the body starts there."""

    body: Statement


@dataclass(frozen=True, slots=True)
class Always:
    """The body starts in every state."""

    body: Statement


@dataclass(frozen=True, slots=True)
class If:
    test: Expression
    then: Statement
    otherwise: Statement
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Exist:
    """Variables that are known in the body only."""

    names: tuple[str, ...]
    body: Statement


@dataclass(frozen=True, slots=True)
class Chop:
    """Each part starts in the state where the one before ends."""

    parts: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold, and all are equally long."""

    parts: tuple[Statement, ...]
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts holds."""

    parts: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Par:
    """All parts start together and run in lock-step; the shorter ones may end first."""

    parts: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class While:
    test: Expression
    body: Statement
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Await:
    """The interval ends in the first state where the test holds; what the test reads is framed."""

    test: Expression
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Prj:
    """The parts follow one another, and the whole holds on the states where they meet, and on all after them."""

    parts: tuple[Statement, ...]
    whole: Statement


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the program."""

    function: str
    arguments: tuple[Expression, ...]
    line: int = at_line()


@dataclass(frozen=True, slots=True)
class Do:
    """`ext f(e, ...)` as a statement: it is called in this state, and says nothing about the interval."""

    call: External


Statement: TypeAlias = (
    Empty
    | Skip
    | Len
    | Assign
    | AssignNext
    | Declare
    | StateFrame
    | Frame
    | Next
    | Always
    | If
    | Exist
    | Chop
    | And
    | Or
    | Par
    | While
    | Await
    | Prj
    | Call
    | Do
)


def inside(statement: Statement) -> tuple[Statement, ...]:
    """The statements directly inside one."""
    match statement:
        case Next(body) | Always(body) | Exist(_, body) | While(_, body):
            return (body,)
        case If(_, then, otherwise):
            return (then, otherwise)
        case Chop(parts) | And(parts) | Or(parts) | Par(parts):
            return parts
        case Prj(parts, whole):
            return (*parts, whole)
        case _:
            return ()


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """The expressions directly in a statement. Of what is assigned, the location itself."""
    match statement:
        case Len(number):
            return (number,)
        case Assign(to, value) | AssignNext(to, value):
            return (to, value)
        case Declare(names):
            return tuple(e for name in names for e in (*name.sizes, *((name.value,) if name.value is not None else ())))
        case StateFrame(locations) | Frame(locations):
            return locations
        case If(test) | While(test) | Await(test):
            return (test,)
        case Call(_, arguments):
            return arguments
        case Do(call):
            return (call,)
        case _:
            return ()


def statements_in(statement: Statement) -> Iterator[Statement]:
    """A statement and all that is inside it."""
    yield statement
    for part in inside(statement):
        yield from statements_in(part)
