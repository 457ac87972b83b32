"""Makes the tree of a program from what lark reads, rule by rule."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, TypeAlias

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t

Found: TypeAlias = list[Any]

TYPES = {"double": "float", "char": "string"}
"""Other names of types."""

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_ESCAPED = re.compile(r"\\(.)")


def _given(children: Found) -> tuple[Any, ...]:
    """The children without the placeholders of what was left out."""
    return tuple(child for child in children if child is not None)


class Maker:
    """Makes the tree, rule by rule. Each method is named after its rule, and gets the children."""

    # Programs and declarations.

    def program(self, meta: Any, found: Found) -> t.Source:
        *items, body = found
        kinds: dict[str, list[Any]] = {"struct": [], "inputs": [], "outputs": [], "variables": [], "results": []}
        functions = tuple(item for item in items if isinstance(item, t.Function))
        definitions = tuple(item for item in items if isinstance(item, t.Define))
        for item in items:
            if not isinstance(item, t.Function | t.Define):
                kind, values = item
                kinds[kind].extend(values)
        structs, inputs, outputs, variables, results = map(tuple, kinds.values())
        return t.Source(
            structs, inputs, outputs + results, variables, functions, body, definitions, listed=bool(results)
        )

    def define(self, meta: Any, found: Found) -> t.Define:
        name, *parameters, _, body = _given(found)
        names = tuple(map(str, parameters))
        return t.Define(str(name), names, e.bound(body, frozenset(names)), line=meta.line)

    def results(self, meta: Any, found: Found) -> Any:
        return "results", list(map(str, found))

    def input_value(self, meta: Any, found: Found) -> Any:
        return "inputs", [_declared(*found)]

    def input_file(self, meta: Any, found: Found) -> Any:
        return "inputs", [replace(_declared(found[0], found[1]), file=_unquoted(str(found[2])))]

    def struct(self, meta: Any, found: Found) -> Any:
        return "struct", [t.Struct(str(found[0]), tuple(found[1:]))]

    def field(self, meta: Any, found: Found) -> t.Declared:
        return _declared(*found)

    def inputs(self, meta: Any, found: Found) -> Any:
        return "inputs", [_declared(found[0], each) for each in found[1:]]

    def outputs(self, meta: Any, found: Found) -> Any:
        return "outputs", list(map(str, found))

    def variables(self, meta: Any, found: Found) -> Any:
        return "variables", [_declared(found[0], each) for each in found[1:]]

    def function(self, meta: Any, found: Found) -> t.Function:
        name, *rest, body = _given(found)
        parameters = tuple(each for each in rest if isinstance(each, t.Parameter))
        variables = tuple(v for each in rest if not isinstance(each, t.Parameter) for v in each[1])
        return t.Function(str(name), parameters, variables, body, line=meta.line)

    def parameter(self, meta: Any, found: Found) -> t.Parameter:
        kept = [each for each in _given(found) if getattr(each, "type", "") != "STAR"]
        type_ = kept.pop(0) if isinstance(kept[0], t.Type) else None
        return t.Parameter(type_, str(kept[0]), array=len(kept) > 1)

    def type(self, meta: Any, found: Found) -> t.Type:
        word = found[0]
        if word.type == "TYPE":
            return t.Type(TYPES.get(str(word), str(word)))
        return t.Type(str(word), struct=True)

    def declarator(self, meta: Any, found: Found) -> Any:
        name, *sizes = (each for each in found if getattr(each, "type", "") != "STAR")
        return str(name), tuple(sizes), name.line

    # Statements.

    def empty(self, meta: Any, found: Found) -> t.Statement:
        return t.Empty()

    def skip(self, meta: Any, found: Found) -> t.Statement:
        return t.Skip()

    def len(self, meta: Any, found: Found) -> t.Statement:
        return t.Len(found[0], line=meta.line)

    def lbf(self, meta: Any, found: Found) -> t.Statement:
        return t.StateFrame(tuple(found), line=meta.line)

    def frame(self, meta: Any, found: Found) -> t.Statement:
        return t.Frame(tuple(found), line=meta.line)

    def await_(self, meta: Any, found: Found) -> t.Statement:
        return t.Await(found[0], line=meta.line)

    def if_(self, meta: Any, found: Found) -> t.Statement:
        test, then, otherwise = found
        return t.If(test, then, t.Empty() if otherwise is None else otherwise, line=meta.line)

    def while_(self, meta: Any, found: Found) -> t.Statement:
        return t.While(found[0], found[1], line=meta.line)

    def assign(self, meta: Any, found: Found) -> t.Statement:
        return t.Assign(found[0], found[1], line=meta.line)

    def assign_next(self, meta: Any, found: Found) -> t.Statement:
        return t.AssignNext(found[0], found[1], line=meta.line)

    def first(self, meta: Any, found: Found) -> Any:
        return found

    def declare(self, meta: Any, found: Found) -> t.Statement:
        return t.Declare(tuple(_declared(found[0], each, value) for each, value in found[1:]))

    def call(self, meta: Any, found: Found) -> t.Statement:
        name, *arguments = _given(found)
        return t.Call(str(name), tuple(arguments), line=meta.line)

    def do(self, meta: Any, found: Found) -> t.Statement:
        return t.Do(self.external(meta, found))

    def next(self, meta: Any, found: Found) -> t.Statement:
        return t.Next(*found)

    def always(self, meta: Any, found: Found) -> t.Statement:
        return t.Always(*found)

    def exist(self, meta: Any, found: Found) -> t.Statement:
        return t.Exist(tuple(map(str, found[:-1])), found[-1])

    def and_(self, meta: Any, found: Found) -> t.Statement:
        return t.And(tuple(found), line=meta.line)

    def or_(self, meta: Any, found: Found) -> t.Statement:
        return t.Or(tuple(found))

    def chop(self, meta: Any, found: Found) -> t.Statement:
        return t.Chop(tuple(found)) if len(found) > 1 else found[0]

    def par(self, meta: Any, found: Found) -> t.Statement:
        return t.Par(tuple(found))

    def projection(self, meta: Any, found: Found) -> t.Statement:
        return t.Prj(tuple(found[:-1]), found[-1])

    # Expressions.

    def number(self, meta: Any, found: Found) -> e.Expression:
        text = str(found[0])
        return e.Constant(int(text) if text.isdigit() else float(text))

    def string(self, meta: Any, found: Found) -> e.Expression:
        return e.Constant(_unquoted(str(found[0])))

    def true(self, meta: Any, found: Found) -> e.Expression:
        return e.Constant(True)

    def false(self, meta: Any, found: Found) -> e.Expression:
        return e.Constant(False)

    def null(self, meta: Any, found: Found) -> e.Expression:
        return e.Constant(None)

    def tuple(self, meta: Any, found: Found) -> e.Expression:
        return e.TupleOf(_given(found))

    def conditional(self, meta: Any, found: Found) -> e.Expression:
        test, then, otherwise = found
        return e.Conditional(test, then, otherwise, line=meta.line)

    def let(self, meta: Any, found: Found) -> e.Expression:
        name, _, value, body = found
        return e.Let(str(name), value, e.bound(body, frozenset([str(name)])))

    def clause(self, meta: Any, found: Found) -> e.Clause:
        names = [str(each) for each in found if getattr(each, "type", "") == "NAME"]
        source, *tests = found[len(names) :]
        return e.Clause(tuple(names), source, tuple(tests), line=meta.line)

    def comprehension(self, meta: Any, found: Found) -> e.Expression:
        body, *clauses = found
        made: list[e.Clause] = []
        # What a clause binds is bound in its own conditions, in the clauses after it, and in the body.
        known: frozenset[str] = frozenset()
        for each in clauses:
            source = e.bound(each.source, known)
            known |= frozenset(each.names)
            made.append(e.Clause(each.names, source, e.bound(each.tests, known), line=each.line))
        return e.Comprehension(e.bound(body, known), tuple(made))

    def variable(self, meta: Any, found: Found) -> e.Expression:
        return e.Variable(str(found[0]), line=meta.line)

    def index(self, meta: Any, found: Found) -> e.Expression:
        return e.Index(found[0], found[1], line=meta.line)

    def dot(self, meta: Any, found: Found) -> e.Expression:
        return e.Field(found[0], str(found[1]), line=meta.line)

    def method(self, meta: Any, found: Found) -> e.Expression:
        whole, name, *arguments = _given(found)
        return e.Apply(str(name), (whole, *arguments), line=meta.line)

    def apply(self, meta: Any, found: Found) -> e.Expression:
        name, *arguments = _given(found)
        return e.Apply(str(name), tuple(arguments), line=meta.line)

    def external(self, meta: Any, found: Found) -> e.External:
        name, *arguments = _given(found)
        return e.External(str(name), tuple(arguments), line=meta.line)

    def binary(self, meta: Any, found: Found) -> e.Expression:
        left, sign, right = found
        spelled = {"==": "="}.get(str(sign), "!=" if sign.type == "UNEQUAL" else str(sign))
        return e.Binary(spelled, left, right, line=meta.line)

    def negated(self, meta: Any, found: Found) -> e.Expression:
        return e.Unary("!", found[0], line=meta.line)

    def minus(self, meta: Any, found: Found) -> e.Expression:
        body = found[-1]
        if isinstance(body, e.Constant) and isinstance(body.value, int | float) and not isinstance(body.value, bool):
            return e.Constant(-body.value)
        return e.Unary("-", body, line=meta.line)

    def previous(self, meta: Any, found: Found) -> e.Expression:
        return e.Previous(found[0], line=meta.line)

    def following(self, meta: Any, found: Found) -> e.Expression:
        return e.Following(found[0], line=meta.line)

    def list(self, meta: Any, found: Found) -> e.Expression:
        return e.ListOf(tuple(each for each in _given(found) if getattr(each, "type", "") != "ARRAY"))

    def pair(self, meta: Any, found: Found) -> Any:
        return tuple(found)

    def map(self, meta: Any, found: Found) -> e.Expression:
        return e.MapOf(_given(found))

    def set(self, meta: Any, found: Found) -> Any:
        return str(found[0]), found[1]

    def structure(self, meta: Any, found: Found) -> e.Expression:
        name, *fields = _given(found)
        return e.StructOf(str(name), tuple(fields), line=meta.line)


# Rules that are named like words of Python.
for _word in ("if", "while", "await"):
    setattr(Maker, _word, getattr(Maker, f"{_word}_"))


def _declared(type_: t.Type, declarator: Any, value: e.Expression | None = None) -> t.Declared:
    name, sizes, line = declarator
    return t.Declared(type_, name, sizes, value, line=line)


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    return inner if "\\" not in inner else _ESCAPED.sub(lambda found: ESCAPES.get(found[1], found[1]), inner)
