"""Writes a tree as text that `grammar` reads back to the same tree."""

from __future__ import annotations

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t

# How tightly a statement binds, as in PPTL: the higher the tighter.
PRJ, PAR, CHOP, OR, AND, PREFIX, PRIMARY = range(7)
_JOINED = {t.Par: ("||", PAR), t.Chop: (";", CHOP), t.Or: ("or", OR), t.And: ("and", AND)}

_BINARY = {
    "OR": 1,
    "AND": 2,
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">="), 4),
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "%": 6,
}
_WHOLE, _DISJUNCTION, _NOT, _COMPARED, _UNARY, _POSTFIX, _ATOM = 0, 1, 3, 4, 7, 8, 9


def text_of(source: t.Source) -> str:
    """The program as text."""
    lines = [f"struct {s.name} {{{' and '.join(map(_declared, s.fields))}}};" for s in source.structs]
    lines += map(_input, source.inputs)
    outputs = ", ".join(source.outputs)
    lines += [f"output {f'[{outputs}]' if source.listed else outputs};"] if outputs else []
    lines += [f"{_declared(each)};" for each in source.variables]
    lines += map(_definition, source.definitions)
    lines += map(_function, source.functions)
    return "\n".join([*lines, statement_text(source.body)])


def _input(declared: t.Declared) -> str:
    value = "" if declared.value is None else f" <== {expression_text(declared.value)}"
    file = f" from {_constant(declared.file)[0]}" if declared.file else ""
    return f"input {_declared(declared)}{value}{file};"


def _definition(definition: t.Define) -> str:
    return f"define {definition.name}({', '.join(definition.parameters)}) = {expression_text(definition.body)};"


def _function(function: t.Function) -> str:
    head = f"function {function.name}({', '.join(map(_parameter, function.parameters))}) {{"
    own = [f"  {_declared(each)};" for each in function.variables]
    return "\n".join([head, *own, f"  {statement_text(function.body)}", "}"])


def _parameter(parameter: t.Parameter) -> str:
    type_ = "" if parameter.type is None else f"{_type(parameter.type)} "
    return f"{type_}{parameter.name}{'[]' if parameter.array else ''}"


def _type(type_: t.Type) -> str:
    return f"struct {type_.name}" if type_.struct else type_.name


def _declarator(declared: t.Declared) -> str:
    return declared.name + "".join(f"[{expression_text(size)}]" for size in declared.sizes)


def _declared(declared: t.Declared) -> str:
    return f"{_type(declared.type)} {_declarator(declared)}"


def statement_text(statement: t.Statement) -> str:
    """A statement as text, with as few parentheses as possible."""
    return _statement(statement)[0]


def _statement(statement: t.Statement) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match statement:
        case t.Empty() | t.Skip():
            return type(statement).__name__.lower(), PRIMARY
        case t.Len(number):
            return f"len({expression_text(number)})", PRIMARY
        case t.Assign(to, value):
            return f"{expression_text(to)} <== {expression_text(value)}", PRIMARY
        case t.AssignNext(to, value):
            return f"{expression_text(to)} := {expression_text(value)}", PRIMARY
        case t.Declare(names):
            each = [f"{_declarator(n)} <== {expression_text(n.value)}" for n in names if n.value is not None]
            return f"{_type(names[0].type)} {', '.join(each)}", PRIMARY
        case t.StateFrame(locations) | t.Frame(locations):
            word = "frame" if isinstance(statement, t.Frame) else "lbf"
            return f"{word}({', '.join(map(expression_text, locations))})", PRIMARY
        case t.Await(test):
            return f"await({expression_text(test)})", PRIMARY
        case t.If(test, then, otherwise):
            body = f"{{{statement_text(then)}}} else {{{statement_text(otherwise)}}}"
            return f"if {expression_text(test)} then {body}", PRIMARY
        case t.While(test, body):
            return f"while {expression_text(test)} {{{statement_text(body)}}}", PRIMARY
        case t.Call(name, arguments):
            return f"{name}({', '.join(map(expression_text, arguments))})", PRIMARY
        case t.Do(call):
            return expression_text(call), PRIMARY
        case t.Next(body) | t.Always(body):
            return f"{type(statement).__name__.lower()} {_at(body, PREFIX)}", PREFIX
        case t.Exist(names, body):
            return f"exist {', '.join(names)}: {_at(body, PREFIX)}", PREFIX
        case t.And(parts) | t.Or(parts) | t.Chop(parts) | t.Par(parts):
            sign, level = _JOINED[type(statement)]
            return (" ; " if sign == ";" else f" {sign} ").join(_at(part, level + 1) for part in parts), level
        case t.Prj(parts, whole):
            return f"({', '.join(map(_in_list, parts))}) prj {_at(whole, PRJ)}", PRJ
    raise AssertionError(type(statement).__name__)


def _at(statement: t.Statement, level: int) -> str:
    """The text as a part of a larger statement that needs one that binds at least this tightly."""
    text, own = _statement(statement)
    return text if own >= level else f"({text})"


def _in_list(statement: t.Statement) -> str:
    """A part of a projection. The comma of a declaration would be read as the list's."""
    declares = any(isinstance(part, t.Declare) for part in t.statements_in(statement))
    return f"({statement_text(statement)})" if declares else statement_text(statement)


# --- expressions ---


def expression_text(expression: e.Expression) -> str:
    """An expression as text, with as few parentheses as possible."""
    return _expression(expression)[0]


def _expression(tree: e.Expression) -> tuple[str, int]:
    match tree:
        case e.Constant(value):
            return _constant(value)
        case e.Variable(name) | e.Bound(name):
            return name, _ATOM
        case e.TupleOf(items):
            return f"({', '.join(map(expression_text, items))}{',' if len(items) == 1 else ''})", _ATOM
        case e.Conditional(test, then, otherwise):
            ways = f"{expression_text(then)} : {expression_text(otherwise)}"
            return f"{_in(test, _DISJUNCTION)} ? {ways}", _WHOLE
        case e.Let(name, value, body):
            return f"let {name} = {expression_text(value)} in {expression_text(body)}", _WHOLE
        case e.Comprehension(body, clauses):
            return f"[{expression_text(body)} {' '.join(map(_clause, clauses))}]", _ATOM
        case e.Index(whole, index):
            return f"{_in(whole, _POSTFIX)}[{expression_text(index)}]", _POSTFIX
        case e.Field(whole, name):
            return f"{_in(whole, _POSTFIX)}.{name}", _POSTFIX
        case e.Unary("!", body):
            return f"!{_in(body, _NOT)}", _NOT
        case e.Unary(_, body):
            # A minus before a number is a part of the number.
            number = isinstance(body, e.Constant) and type(body.value) in (int, float)
            return f"-({expression_text(body)})" if number else f"-{_in(body, _UNARY)}", _UNARY
        case e.Previous(body):
            return f"previous {_in(body, _UNARY)}", _UNARY
        case e.Following(body):
            return f"next {_in(body, _UNARY)}", _UNARY
        case e.Binary(sign, left, right):
            level = _BINARY[sign]
            loose = level + 1 if level == _COMPARED else level
            return f"{_in(left, loose)} {sign} {_in(right, level + 1)}", level
        case e.Apply(function, arguments) | e.External(function, arguments):
            word = "ext " if isinstance(tree, e.External) else ""
            return f"{word}{function}({', '.join(map(expression_text, arguments))})", _ATOM
        case e.ListOf(items):
            return f"[{', '.join(map(expression_text, items))}]", _ATOM
        case e.MapOf(items):
            return f"{{{', '.join(f'{expression_text(k)}: {expression_text(v)}' for k, v in items)}}}", _ATOM
        case e.StructOf(name, fields):
            return f"struct {name} {{{', '.join(f'{f}: {expression_text(v)}' for f, v in fields)}}}", _ATOM
    raise AssertionError(type(tree).__name__)


def _clause(clause: e.Clause) -> str:
    tests = "".join(f" if {_in(test, _DISJUNCTION)}" for test in clause.tests)
    return f"for {', '.join(clause.names)} in {_in(clause.source, _DISJUNCTION)}{tests}"


def _in(tree: e.Expression, level: int) -> str:
    text, own = _expression(tree)
    return text if own >= level else f"({text})"


def _constant(value: int | float | str | bool | None) -> tuple[str, int]:
    if value is None:
        return "null", _ATOM
    if isinstance(value, bool):
        return ("true" if value else "false"), _ATOM
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        escaped = escaped.replace("\r", "\\r").replace("\0", "\\0")
        return f'"{escaped}"', _ATOM
    return repr(value), _ATOM if value >= 0 else _UNARY
