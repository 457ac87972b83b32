"""Compiles expressions: a tree becomes a function of the machine and the activation. Each is compiled once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from firesteel.model.msvl import terms as e
from firesteel.model.msvl.binding import Definition, comprehension, conditional, let, slot
from firesteel.model.msvl.composing import logical, made_list, made_map, made_struct, made_tuple, negated
from firesteel.model.msvl.errors import MsvlError
from firesteel.model.msvl.functions import FUNCTIONS, Misfit, compared, divided, minus, plus, remainder, times
from firesteel.model.msvl.machine import Machine
from firesteel.model.msvl.parts import Dot, part_of
from firesteel.model.msvl.scopes import Activation, Key, Kind, Name, Scope
from firesteel.model.msvl.values import UNSET, same

Evaluate: TypeAlias = Callable[[Machine, Activation], Any]

_JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "+": plus,
    "-": minus,
    "*": times,
    "/": divided,
    "%": remainder,
    "=": same,
    "!=": lambda a, b: not same(a, b),
    "<": compared("<", operator.lt),
    "<=": compared("<=", operator.le),
    ">": compared(">", operator.gt),
    ">=": compared(">=", operator.ge),
}


# The same for whole numbers, which need no look at what they are.
_QUICK: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Expr:
    """A compiled expression, and the variables whose present value it reads."""

    __slots__ = ("names", "value")

    def __init__(self, tree: e.Expression, scope: Scope) -> None:
        self.value = compiled(tree, scope)
        names = [scope.names[name] for name in reads(tree) if name in scope.names]
        for part in e.parts_of(tree):
            if isinstance(part, e.Apply) and part.function in scope.definitions:
                names += scope.definitions[part.function].names
        self.names = tuple(dict.fromkeys(names))

    def __call__(self, machine: Machine, activation: Activation) -> Any:
        if machine.slow:
            machine.ready(self.names, activation)
        return self.value(machine, activation)

    def test(self, machine: Machine, activation: Activation, line: int) -> bool:
        """The value of a condition."""
        if machine.slow:
            machine.ready(self.names, activation)
        value = self.value(machine, activation)
        if value is True or value is False:
            return value
        raise machine.unusable(f"a condition is {value!r}, which is neither true nor false", line)


def reads(tree: e.Expression) -> Iterator[str]:
    """The variables whose present value an expression reads."""
    match tree:
        case e.Previous() | e.Following():
            return
        case e.Variable(name):
            yield name
        case _:
            for operand in e.operands(tree):
                yield from reads(operand)


def compiled(tree: e.Expression, scope: Scope, *, before: bool = False) -> Evaluate:
    """The function that evaluates an expression; `before` in the state before."""

    def sub(part: e.Expression) -> Evaluate:
        return compiled(part, scope, before=before)

    match tree:
        case e.Constant(value):
            return lambda m, a: value
        case e.Variable() | e.Index() | e.Field():
            return _place(tree, scope, before)
        case e.Unary("!", body):
            return negated(sub(body), tree.line)
        case e.Unary(_, body):
            return _joined("-", minus, lambda m, a: 0, sub(body), tree.line)
        case e.Binary("AND" | "OR" as sign, left, right):
            return logical(sign == "OR", sub(left), sub(right), tree.line)
        case e.Binary(sign, left, right):
            return _joined(sign, _JOINED[sign], sub(left), sub(right), tree.line)
        case e.Previous(body):
            if before or any(isinstance(part, e.Previous | e.Following) for part in e.parts_of(body)):
                raise MsvlError(f"line {tree.line}: previous and next cannot be nested: only one state is looked back")
            return compiled(body, scope, before=True)
        case e.Following(body):
            return _following(body, scope, tree.line)
        case e.Apply(function, arguments):
            given = [sub(each) for each in arguments]
            if function in scope.definitions:
                return _defined(scope.definitions[function], given, tree.line)
            return _applied(function, given, tree.line)
        case e.External(function, arguments):
            return external(function, [sub(each) for each in arguments], tree.line)
        case e.ListOf(items):
            return made_list([sub(each) for each in items])
        case e.MapOf(items):
            return made_map([(sub(key), sub(value)) for key, value in items], tree)
        case e.StructOf(name, fields):
            return made_struct(name, {field: sub(value) for field, value in fields}, scope, tree.line)
        case e.TupleOf(items):
            return made_tuple([sub(each) for each in items])
        case e.Bound(bound):
            place = slot(bound)
            return lambda m, a: a[place]
        case e.Conditional(test, then, otherwise):
            return conditional(sub(test), sub(then), sub(otherwise), tree.line)
        case e.Let(bound, value, body):
            return let(bound, sub(value), sub(body))
        case e.Comprehension(body, clauses):
            each_clause = [(c.names, sub(c.source), [sub(test) for test in c.tests], c.line) for c in clauses]
            return comprehension(sub(body), each_clause)
    raise AssertionError(type(tree).__name__)


# --- variables and what is in them ---


def _place(tree: e.Location, scope: Scope, before: bool) -> Evaluate:
    """A variable, or a part of one."""
    whole: e.Expression = tree
    steps: list[Evaluate] = []
    while isinstance(whole, e.Index | e.Field):
        steps.append(
            compiled(whole.index, scope, before=before) if isinstance(whole, e.Index) else _constant(Dot(whole.name))
        )
        whole = whole.whole
    steps.reverse()
    if not isinstance(whole, e.Variable):
        return _within(compiled(whole, scope, before=before), steps, tree.line)
    name = known(whole, scope)
    read = _before(name, whole) if before else _now(name, whole)
    if not steps:
        return read
    if name.kind is Kind.VALUE or before:
        return _within(read, steps, tree.line)
    return _part(name, read, steps, tree)


def _constant(value: Any) -> Evaluate:
    return lambda m, a: value


def known(tree: e.Variable, scope: Scope) -> Name:
    """What a variable's name means."""
    name = scope.names.get(tree.name)
    if name is None:
        raise MsvlError(f"line {tree.line}: {tree.name!r} is not a variable of the program")
    return name


def _now(name: Name, tree: e.Variable) -> Evaluate:
    slot, line = name.slot, tree.line
    match name.kind:
        case Kind.VALUE:
            return lambda m, a: a[slot]
        case Kind.ALIAS:
            return lambda m, a: _stepped(m, m.read(a[slot][0], line), a[slot][1], line)
        case Kind.LOCAL:

            def local(m: Machine, a: Activation) -> Any:
                key = a[slot]
                if m.decided:
                    return m.read(key, line)
                try:
                    return m.values[key]
                except KeyError:
                    raise m.undefined(key, line) from None

            return local
    key = name.key
    assert key is not None

    def of_program(m: Machine, a: Activation) -> Any:
        if m.decided:
            return m.read(key, line)
        try:
            return m.values[key]
        except KeyError:
            raise m.undefined(key, line) from None

    return of_program


def _before(name: Name, tree: e.Variable) -> Evaluate:
    slot, line = name.slot, tree.line

    def read(m: Machine, a: Activation) -> Any:
        if name.kind is Kind.ALIAS:
            return _stepped(m, m.past(a[slot][0], line), a[slot][1], line)
        key = name.found(a)
        return a[slot] if key is None else m.past(key, line)

    return read


def _part(name: Name, read: Evaluate, steps: list[Evaluate], tree: e.Location) -> Evaluate:
    """A part of a variable in this state."""
    line = tree.line

    def part(m: Machine, a: Activation) -> Any:
        if not m.decided:
            return _stepped(m, read(m, a), [step(m, a) for step in steps], line)
        key = name.found(a)
        assert key is not None
        path = tuple(step(m, a) for step in steps)
        if name.kind is Kind.ALIAS:
            path = (*a[name.slot][1], *path)
        value = _stepped(m, m.values.get(key, UNSET), path, line)
        m.note(key, path, value)
        return value

    return part


def _within(whole: Evaluate, steps: list[Evaluate], line: int) -> Evaluate:
    return lambda m, a: _stepped(m, whole(m, a), [step(m, a) for step in steps], line)


def _stepped(m: Machine, value: Any, path: Iterable[Any], line: int) -> Any:
    try:
        value = part_of(value, path)
    except Misfit as misfit:
        raise m.unusable(str(misfit), line) from None
    if value is UNSET:
        raise m.undefined("a part of a variable", line)
    return value


class Place:
    """A location that is assigned or framed: which variable, and which part of it."""

    __slots__ = ("line", "name", "steps", "uses")

    def __init__(self, tree: e.Location, scope: Scope) -> None:
        root = e.root(tree)
        self.name, self.line = known(root, scope), root.line
        steps: list[Evaluate] = []
        whole: e.Expression = tree
        used: list[str] = []
        while isinstance(whole, e.Index | e.Field):
            if isinstance(whole, e.Index):
                steps.append(compiled(whole.index, scope))
                used += reads(whole.index)
            else:
                steps.append(_constant(Dot(whole.name)))
            whole = whole.whole
        self.steps = tuple(reversed(steps))
        self.uses = tuple(scope.names[name] for name in used)

    def found(self, machine: Machine, activation: Activation) -> tuple[Key, tuple[Any, ...]]:
        """The variable and the path to the part."""
        if machine.slow and self.uses:
            machine.ready(self.uses, activation)
        path = tuple([step(machine, activation) for step in self.steps]) if self.steps else ()
        if self.name.kind is Kind.ALIAS:
            key, front = activation[self.name.slot]
            return key, (*front, *path)
        return self.name.found(activation), path  # type: ignore[return-value]


# --- the rest ---


def _following(body: e.Expression, scope: Scope, line: int) -> Evaluate:
    """`next x`: what an assignment in this state gives x for the next one."""
    if not isinstance(body, e.Variable):
        raise MsvlError(
            f"line {line}: `next` stands before a variable here. The whole right side of := may have `next` before any "
            "expression"
        )
    name = known(body, scope)

    def value(m: Machine, a: Activation) -> Any:
        key = name.found(a)
        return a[name.slot] if key is None else m.following(key, line)

    return value


def _joined(sign: str, join: Callable[[Any, Any], Any], left: Evaluate, right: Evaluate, line: int) -> Evaluate:
    quick = _QUICK.get(sign)

    def value(m: Machine, a: Activation) -> Any:
        one, two = left(m, a), right(m, a)
        if quick is not None and type(one) is int and type(two) is int:
            return quick(one, two)
        try:
            return join(one, two)
        except Misfit as misfit:
            raise m.unusable(str(misfit), line) from None

    return value


def _applied(function: str, arguments: list[Evaluate], line: int) -> Evaluate:
    found = FUNCTIONS.get(function)
    if found is None:
        raise MsvlError(
            f"line {line}: {function!r} is not a state function: there are {', '.join(sorted(FUNCTIONS))}. For a "
            f"function from outside write ext {function}(...)"
        )
    apply, fewest, most = found
    if not fewest <= len(arguments) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise MsvlError(f"line {line}: {function} takes {wanted} arguments, and has {len(arguments)}")
    if len(arguments) == 2:
        return _joined(function, apply, arguments[0], arguments[1], line)

    if len(arguments) == 1:
        (only,) = arguments

        def of_one(m: Machine, a: Activation) -> Any:
            try:
                return apply(only(m, a))
            except Misfit as misfit:
                raise m.unusable(str(misfit), line) from None

        return of_one

    def value(m: Machine, a: Activation) -> Any:
        try:
            return apply(*[argument(m, a) for argument in arguments])
        except Misfit as misfit:
            raise m.unusable(str(misfit), line) from None

    return value


def external(function: str, arguments: list[Evaluate], line: int) -> Evaluate:
    """A call of a function from outside."""

    def value(m: Machine, a: Activation) -> Any:
        given = [argument(m, a) for argument in arguments]
        return m.once(lambda: m.outside(function, given, line))

    return value


def _defined(definition: Definition, arguments: list[Evaluate], line: int) -> Evaluate:
    if len(arguments) != len(definition.parameters):
        raise MsvlError(
            f"line {line}: {definition.name} takes {len(definition.parameters)} arguments, and has {len(arguments)}"
        )
    return definition.applied(arguments)
