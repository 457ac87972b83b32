"""Compiles a program: what its names mean, what it needs from outside, and a node for every statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.binding import Definition
from firesteel.model.msvl.defining import define, refuse_twice
from firesteel.model.msvl.errors import MsvlError
from firesteel.model.msvl.expressions import Expr, Place, known
from firesteel.model.msvl.projection import PrjNode
from firesteel.model.msvl.scopes import Key, Kind, Name, Scope
from firesteel.model.msvl.statements import (
    AheadNode,
    AlwaysNode,
    AndNode,
    AssignNextNode,
    AssignNode,
    AwaitNode,
    CallNode,
    ChopNode,
    DeclareNode,
    DoNode,
    EmptyNode,
    ExistNode,
    FrameNode,
    FunctionCode,
    IfNode,
    LenNode,
    NextNode,
    Node,
    OrNode,
    ParNode,
    SkipNode,
    Slot,
    StateFrameNode,
    WhileNode,
)
from firesteel.model.msvl.types import Blank, blank, fitting


@dataclass(frozen=True)
class Code:
    """A compiled program."""

    body: Node
    variables: dict[str, Key]
    """The variables of the whole program."""
    inputs: tuple[str, ...]
    """The variables that need a value from outside."""
    constants: tuple[str, ...]
    """Those of them that the program does not assign: they stay as they are."""
    externals: tuple[str, ...]
    blanks: dict[str, Blank]
    """What arrays and structures are before they have values."""
    scope: Scope
    nodes: tuple[Node, ...]


def compiled(source: t.Source) -> Code:
    """Compile a program."""
    scope = _scope(source)
    names = scope.names
    define(source.definitions, scope)
    made = _Compiler()
    codes = {function.name: FunctionCode(function.name) for function in source.functions}
    made.codes = codes
    for function in source.functions:
        made.function(function, scope)
    body = made.node(source.body, scope)
    changing = True
    while changing:
        changing = sum(node.settle() for node in made.nodes) > 0
    inputs, constants = _needed(source)
    declared = {each.name: each for each in (*source.variables, *source.inputs, *_declared_in(source.body))}
    for output in source.outputs:
        if output not in names:
            raise MsvlError(f"output {output}: the program has no variable {output!r}")
    blanks = {name: made_ for name, each in declared.items() if (made_ := blank(each, scope)) is not None}
    return Code(
        body,
        {name: meant.key for name, meant in names.items() if meant.key is not None},
        inputs,
        constants,
        tuple(sorted({part.function for part in _all_expressions(source) if isinstance(part, e.External)})),
        blanks,
        scope,
        tuple(made.nodes),
    )


# --- what names mean ---


def _bodies(source: t.Source) -> Iterator[tuple[t.Statement, frozenset[str]]]:
    """The program's body and those of its functions, each with the names that are its own."""
    yield source.body, frozenset()
    for function in source.functions:
        own = {parameter.name for parameter in function.parameters}
        own |= {each.name for each in (*function.variables, *_declared_in(function.body))}
        yield function.body, frozenset(own)


def _declared_in(body: t.Statement) -> Iterator[t.Declared]:
    for statement in t.statements_in(body):
        if isinstance(statement, t.Declare):
            yield from statement.names


def _all_expressions(source: t.Source) -> Iterator[e.Expression]:
    declared = [*source.variables, *source.inputs, *(v for function in source.functions for v in function.variables)]
    yield from (size for each in declared for size in each.sizes)
    yield from (part for each in source.definitions for part in e.parts_of(each.body))
    for body, _ in _bodies(source):
        for statement in t.statements_in(body):
            for expression in t.expressions_of(statement):
                yield from e.parts_of(expression)


def _used(statement: t.Statement, own: frozenset[str]) -> Iterator[tuple[str, bool, bool]]:
    """The variables of the whole program in a statement: the name, whether it is read, and whether it is assigned."""
    match statement:
        case t.Exist(names, body):
            yield from _used(body, own | set(names))
            return
        case t.Assign(to, value) | t.AssignNext(to, value):
            yield from ((name, True, False) for name in _everything(value) if name not in own)
            yield from ((name, True, False) for name in _indexes(to) if name not in own)
            if (name := e.root(to).name) not in own:
                yield name, False, True
        case t.Declare(names):
            for each in names:
                inner = (*each.sizes, *((each.value,) if each.value is not None else ()))
                yield from ((name, True, False) for part in inner for name in _everything(part) if name not in own)
                if each.name not in own:
                    yield each.name, False, True
        case t.Frame(locations) | t.StateFrame(locations):
            for location in locations:
                yield from ((name, True, False) for name in _indexes(location) if name not in own)
                if (name := e.root(location).name) not in own:
                    yield name, False, False
        case t.Call(_, arguments):
            for argument in arguments:
                whole = isinstance(argument, e.Variable)
                yield from ((name, not whole, False) for name in _everything(argument) if name not in own)
        case _:
            for expression in t.expressions_of(statement):
                yield from ((name, True, False) for name in _everything(expression) if name not in own)
    for inner_statement in t.inside(statement):
        yield from _used(inner_statement, own)


def _everything(expression: e.Expression) -> Iterator[str]:
    return (part.name for part in e.parts_of(expression) if isinstance(part, e.Variable))


def _indexes(location: e.Expression) -> Iterator[str]:
    while isinstance(location, e.Index | e.Field):
        if isinstance(location, e.Index):
            yield from _everything(location.index)
        location = location.whole


def _needed(source: t.Source) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The inputs, and those of them that are never assigned."""
    used = [each for body, own in _bodies(source) for each in _used(body, own)]
    used += [(name, True, False) for each in source.definitions for name in _everything(each.body)]
    own = {each.name for each in source.variables}
    sizes = [name for each in (*source.variables, *source.inputs) for size in each.sizes for name in _everything(size)]
    assigned = {name for name, _, assigns in used if assigns} | own | _handed_over(source)
    declared = [each.name for each in source.inputs]
    free = sorted({name for name, read, _ in used if read} | set(sizes) | _handed(source) - assigned - own)
    inputs = tuple(dict.fromkeys([*declared, *(name for name in free if name not in assigned)]))
    return inputs, tuple(name for name in inputs if name not in assigned)


def _handed(source: t.Source) -> set[str]:
    """The variables that are handed to functions as they are."""
    return {
        argument.name
        for body, own in _bodies(source)
        for statement in t.statements_in(body)
        if isinstance(statement, t.Call)
        for argument in statement.arguments
        if isinstance(argument, e.Variable) and argument.name not in own
    }


def _handed_over(source: t.Source) -> set[str]:
    """The variables that a function may assign because they are handed over as arrays."""
    arrays = {function.name: [p.array for p in function.parameters] for function in source.functions}
    return {
        e.root(argument).name
        for body, _ in _bodies(source)
        for statement in t.statements_in(body)
        if isinstance(statement, t.Call)
        for argument, array in zip(statement.arguments, arrays.get(statement.function, ()), strict=False)
        if array and isinstance(argument, e.Variable | e.Index | e.Field)
    }


def _scope(source: t.Source) -> Scope:
    declared = {each.name: each for each in (*source.variables, *source.inputs, *_declared_in(source.body))}
    names = dict.fromkeys(name for body, own in _bodies(source) for name, _, _ in _used(body, own))
    names |= dict.fromkeys(name for each in declared.values() for size in each.sizes for name in _everything(size))
    names |= dict.fromkeys(name for each in source.definitions for name in _everything(each.body))
    names |= dict.fromkeys(declared)
    refuse_twice("struct", [struct.name for struct in source.structs])
    refuse_twice("function", [function.name for function in source.functions])
    refuse_twice("define", [each.name for each in source.definitions])
    return Scope(
        {name: Name(Kind.GLOBAL, name, Key(name), declared.get(name)) for name in names},
        {struct.name: struct for struct in source.structs},
        {function.name: function for function in source.functions},
        definitions={each.name: Definition(each.name, each.parameters, each.line) for each in source.definitions},
    )


# --- statements ---


class _Compiler:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.codes: dict[str, FunctionCode] = {}

    def function(self, function: t.Function, scope: Scope) -> None:
        """Compile the body of a function."""
        code = self.codes[function.name]
        own: dict[str, Name] = {}
        for place, parameter in enumerate(function.parameters):
            declared = None if parameter.type is None else t.Declared(parameter.type, parameter.name)
            kind = Kind.ALIAS if parameter.array else Kind.VALUE
            own[parameter.name] = Name(kind, parameter.name, None, None if parameter.array else declared)
            if parameter.array:
                code.aliases[own[parameter.name]] = place
        variables = {each.name: each for each in (*function.variables, *_declared_in(function.body))}
        for name, each in variables.items():
            if name in own:
                raise MsvlError(f"line {function.line}: {name} is a parameter of {function.name}, and declared again")
            own[name] = Name(Kind.LOCAL, name, None, each)
        inner = scope.within(own, function.name)
        code.slots = tuple(Slot(own[name], name, blank(each, inner)) for name, each in variables.items())
        code.body = self.node(function.body, inner)

    def node(self, statement: t.Statement, scope: Scope) -> Node:
        made = self._node(statement, scope)
        self.nodes.append(made)
        if isinstance(made, PrjNode):
            self.nodes += made.nodes()
        return made

    def _node(self, statement: t.Statement, scope: Scope) -> Node:
        def sub(part: t.Statement) -> Node:
            return self.node(part, scope)

        match statement:
            case t.Empty():
                return EmptyNode()
            case t.Skip():
                return SkipNode()
            case t.Len(number):
                return LenNode(_expr(number, scope), statement.line)
            case t.Assign(to, value):
                fits = fitting(to, scope)
                return AssignNode(_assigned(to, scope), _expr(value, scope), fits, statement.line)
            case t.AssignNext(to, value):
                return _assign_next(to, value, scope, statement.line)
            case t.Declare(names):
                first = [t.Assign(e.Variable(n.name, line=n.line), n.value, line=n.line) for n in names if n.value]
                return DeclareNode(tuple(map(sub, first)))
            case t.StateFrame(locations):
                return StateFrameNode(_whole_variables(locations, scope, statement.line), statement.line)
            case t.Frame(locations):
                return FrameNode(tuple(_assigned(each, scope) for each in locations))
            case t.Next(body):
                return NextNode(sub(body))
            case t.Always(body):
                return AlwaysNode(sub(body))
            case t.If(test, then, otherwise):
                return IfNode(_expr(test, scope), sub(then), sub(otherwise), statement.line)
            case t.While(test, body):
                return WhileNode(_expr(test, scope), sub(body), statement.line)
            case t.Await(test):
                return AwaitNode(_expr(test, scope), statement.line)
            case t.Exist(names, body):
                slots = {name: Name(Kind.LOCAL, f"{name}@{scope.deeper}") for name in names}
                inner = self.node(body, scope.within(slots))
                return ExistNode(inner, tuple(Slot(meant, name, None) for name, meant in slots.items()))
            case t.Chop(parts):
                *others, node = map(sub, parts)
                for each in reversed(others):
                    node = ChopNode(each, node)
                    self.nodes.append(node)
                return node
            case t.And(parts):
                return AndNode(tuple(map(sub, parts)), statement.line)
            case t.Or(parts):
                return OrNode(tuple(map(sub, parts)))
            case t.Par(parts):
                return ParNode(tuple(map(sub, parts)))
            case t.Prj(parts, whole):
                return PrjNode(tuple(map(sub, parts)), sub(whole))
            case t.Call():
                return self._call(statement, scope)
            case t.Do(call):
                return DoNode(_expr(call, scope))
        raise AssertionError(type(statement).__name__)

    def _call(self, call: t.Call, scope: Scope) -> Node:
        function = scope.functions.get(call.function)
        if function is None:
            there = ", ".join(sorted(scope.functions)) or "none"
            raise MsvlError(
                f"line {call.line}: there is no function {call.function!r}. The program defines {there}. For a "
                f"function from outside write ext {call.function}(...)"
            )
        if len(call.arguments) != len(function.parameters):
            raise MsvlError(
                f"line {call.line}: {function.name} takes {len(function.parameters)} arguments, and has "
                f"{len(call.arguments)}"
            )
        arguments: list[tuple[str, Expr | Place]] = []
        for parameter, argument in zip(function.parameters, call.arguments, strict=True):
            if not parameter.array:
                arguments.append((parameter.name, _expr(argument, scope)))
            elif isinstance(argument, e.Variable | e.Index | e.Field):
                arguments.append((parameter.name, _assigned(argument, scope)))
            else:
                raise MsvlError(
                    f"line {call.line}: {parameter.name}[] of {function.name} stands for a variable, so hand it one"
                )
        return CallNode(self.codes[function.name], tuple(arguments), call.line)


def _expr(tree: e.Expression, scope: Scope) -> Expr:
    for part in e.parts_of(tree):
        if isinstance(part, e.Variable):
            known(part, scope)
    return Expr(tree, scope)


def _assigned(location: e.Location, scope: Scope) -> Place:
    name = known(e.root(location), scope)
    if name.kind is Kind.VALUE:
        raise MsvlError(
            f"line {e.root(location).line}: {name.slot} is a parameter of {scope.where}, and parameters stay as they "
            "are: declare a variable for what changes"
        )
    return Place(location, scope)


def _whole_variables(locations: tuple[e.Location, ...], scope: Scope, line: int) -> tuple[Place, ...]:
    for location in locations:
        if not isinstance(location, e.Variable):
            raise MsvlError(f"line {line}: lbf takes whole variables: write lbf({e.root(location).name})")
    return tuple(_assigned(each, scope) for each in locations)


def _assign_next(to: e.Location, value: e.Expression, scope: Scope, line: int) -> Node:
    place, fits = _assigned(to, scope), fitting(to, scope)
    if not any(isinstance(part, e.Following) for part in e.parts_of(value)):
        return AssignNextNode(place, _expr(value, scope), fits, line)
    now: list[e.Expression] = []
    later = _later(value, now, line)
    known_now = tuple(_expr(each, scope) for each in now)
    inner = scope.within({f"#{number}": Name(Kind.VALUE, f"#{number}") for number in range(len(now))})
    return AheadNode(place, known_now, _expr(later, inner), fits, line)


def _later(tree: e.Expression, now: list[e.Expression], line: int) -> e.Expression:
    """The expression as it is evaluated in the next state; what is known now is put into `now`."""
    if not any(isinstance(part, e.Following) for part in e.parts_of(tree)):
        if isinstance(tree, e.Constant):
            return tree
        now.append(tree)
        return e.Variable(f"#{len(now) - 1}", line=line)
    match tree:
        case e.Following(body):
            if any(isinstance(part, e.Following | e.Previous) for part in e.parts_of(body)):
                raise MsvlError(f"line {line}: previous and next cannot be nested: only one state is looked ahead")
            return body
        case e.Unary(sign, body):
            return e.Unary(sign, _later(body, now, line), line=line)
        case e.Binary(sign, left, right):
            return e.Binary(sign, _later(left, now, line), _later(right, now, line), line=line)
        case e.Apply(function, arguments):
            return e.Apply(function, tuple(_later(each, now, line) for each in arguments), line=line)
        case _:
            raise MsvlError(f"line {line}: next stands inside {type(tree).__name__}, which cannot look ahead")
