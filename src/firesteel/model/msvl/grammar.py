"""Reads the text of a program into a tree, with lark. The operators bind as they do in PPTL.

The grammar is here as text; `_Maker` makes the classes of `tree` and `terms` while lark reads. lark is imported when
the first program is read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.errors import MsvlSyntaxError

GRAMMAR = r"""
program: (struct | inputs | outputs | variables | function)* prj

struct: "struct" NAME "{" field ("and" field)* "}" ";"?
field: type declarator
inputs: "input" type declarator ("," declarator)* ";"
outputs: "output" NAME ("," NAME)* ";"
variables: type declarator ("," declarator)* ";"
function: "function" NAME "(" [parameter ("," parameter)*] ")" "{" variables* prj "}" ";"?
parameter: type? "*"* NAME ARRAY?
type: TYPE | "struct" NAME
declarator: "*"* NAME ("[" expression "]")*

?prj: par
    | par "prj" prj -> projection
    | "(" prj ("," prj)+ ")" "prj" prj -> projection
?par: chop ("||" chop)*
?chop: or_ (";" or_)* ";"?
?or_: and_ ("or" and_)*
?and_: prefixed ("and" prefixed)*
?prefixed: "next" prefixed -> next
    | "always" prefixed -> always
    | "exist" NAME ("," NAME)* ":" prefixed -> exist
    | statement
?statement: "empty" -> empty
    | "skip" -> skip
    | "len" "(" expression ")" -> len
    | "lbf" "(" location ("," location)* ")" -> lbf
    | "frame" "(" location ("," location)* ")" -> frame
    | "await" "(" expression ")" -> await
    | "if" expression "then" "{" prj "}" ["else" "{" prj "}"] -> if
    | "while" expression "{" prj "}" -> while
    | location "<==" expression -> assign
    | location (":=" | ":==") expression -> assign_next
    | type first ("," first)* -> declare
    | NAME "(" [expression ("," expression)*] ")" -> call
    | "ext" NAME "(" [expression ("," expression)*] ")" -> do
    | "(" prj ")"
    | "{" prj "}"
first: declarator "<==" expression
?location: NAME -> variable
    | location "[" expression "]" -> index
    | location "." NAME -> dot

?expression: conjunction
    | expression OR conjunction -> binary
?conjunction: negation
    | conjunction AND negation -> binary
?negation: ("!" | "NOT") negation -> negated
    | comparison
?comparison: sum
    | sum (EQUAL | UNEQUAL | LESS) sum -> binary
?sum: product
    | sum (PLUS | MINUS) product -> binary
?product: unary
    | product (STAR | SLASH) unary -> binary
?unary: "-" unary -> minus
    | "previous" unary -> previous
    | "next" unary -> following
    | postfix
?postfix: atom
    | postfix "[" expression "]" -> index
    | postfix "." NAME -> dot
    | postfix "." NAME "(" [expression ("," expression)*] ")" -> method
?atom: NUMBER -> number
    | STRING -> string
    | "true" -> true
    | "false" -> false
    | NAME -> variable
    | NAME "(" [expression ("," expression)*] ")" -> apply
    | "ext" NAME "(" [expression ("," expression)*] ")" -> external
    | "(" expression ")"
    | "[" [expression ("," expression)*] "]" -> list
    | ARRAY -> list
    | "{" [pair ("," pair)*] "}" -> map
    | "struct" NAME "{" [set ("," set)*] "}" -> structure
pair: expression ":" expression
set: NAME ":" expression

TYPE.2: /(int|float|double|bool|string|char|list|map)\b/
OR: "OR"
AND: "AND"
EQUAL: "==" | "="
UNEQUAL.2: /!\s*=/
LESS: "<=" | ">=" | "<" | ">"
PLUS: "+"
MINUS: "-"
STAR: "*"
SLASH: "/" | "%"
ARRAY: /\[\s*\]/
NUMBER: /\d+(\.\d+)?([eE][+-]?\d+)?/
STRING: /"(\\.|[^"\\\n])*"/
NAME: /[^\W\d]\w*/
COMMENT: /\/\/[^\n]*/ | /\/\*(.|\n)*?\*\//
%ignore /\s+/
%ignore COMMENT
"""

TYPES = {"double": "float", "char": "string"}
"""Other names of types."""

ESCAPES = {"n": "\n", "t": "\t"}

WORDS = frozenset(
    "program struct input output function prj or and next always exist empty skip len lbf frame await if then else "
    "while ext previous true false NOT OR AND int float double bool string char list map".split()
) - {"program"}
"""The words that are not names."""


def parse(text: str) -> t.Source:
    """The tree of a program.

    >>> parse("x := 1 ; skip").body
    Chop(parts=(AssignNext(to=Variable(name='x'), value=Constant(value=1)), Skip()))
    """
    return _read(text, "program")


def parse_expression(text: str) -> e.Expression:
    """The tree of an expression.

    >>> parse_expression("x > 3")
    Binary(sign='>', left=Variable(name='x'), right=Constant(value=3))
    """
    return _read(text, "expression")


def _read(text: str, start: str) -> Any:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        parser, maker = _parser()
        return maker.transform(parser.parse(text, start=start))
    except UnexpectedCharacters as error:
        raise _wrong(text, f"{text[error.pos_in_stream]!r} means nothing here", error.line, error.column) from None
    except UnexpectedToken as error:
        at_end = error.token.type == "$END"
        found = "the end of the text" if at_end else repr(str(error.token))
        lines = text.rstrip().split("\n")
        line, column = (len(lines), len(lines[-1]) + 1) if at_end else (error.line, error.column)
        raise _wrong(text, f"expected {_expected(error)}, found {found}", line, column) from None
    except RecursionError:
        raise MsvlSyntaxError("the program is nested too deep: put parts of it into functions", 1, 1) from None


def _wrong(text: str, complaint: str, line: int, column: int) -> MsvlSyntaxError:
    shown = (text.split("\n") or [""])[line - 1]
    start = max(0, column - 60)
    pointer = " " * (column - 1 - start)
    where = f"in line {line}, column {column}:\n    {shown[start : start + 100]}\n    {pointer}^"
    return MsvlSyntaxError(f"{complaint}, {where}", line, column)


_NAMED = {"NAME": "a name", "NUMBER": "a number", "TYPE": "a type", "ARRAY": "'[]'", "$END": "the end of the text"}
_SIGNS = {"SLASH": "'/'", "LESS": "'<'", "EQUAL": "'='", "UNEQUAL": "'!='", "__ANON_0": "'||'"}


def _expected(error: Any) -> str:
    """What could have stood there, in words."""
    accepted = set(error.accepts or error.expected)
    if "SKIP" in accepted:
        return "a statement"
    if "NUMBER" in accepted:
        return "an expression"
    patterns = {terminal.name: terminal.pattern for terminal in _parser()[0].terminals}
    # An operator may stand after every expression, so it says little: what closes or goes on is what was forgotten.
    operators = {"OR", "AND", "EQUAL", "UNEQUAL", "LESS", "PLUS", "MINUS", "STAR", "SLASH", "DOT", "LSQB", "ARRAY"}
    telling = (accepted - operators) or accepted
    words = sorted(_NAMED.get(name) or _SIGNS.get(name) or repr(patterns[name].value) for name in telling)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


@lru_cache(maxsize=1)
def _parser() -> tuple[Any, Any]:
    from lark import Lark
    from lark.visitors import Transformer_NonRecursive

    class Making(Transformer_NonRecursive):  # type: ignore[type-arg]
        def __default__(self, data: str, children: list[Any], meta: Any) -> Any:
            return getattr(maker, str(data))(meta, children)

    parser = Lark(
        GRAMMAR,
        parser="lalr",
        lexer="basic",
        start=["program", "expression"],
        propagate_positions=True,
        maybe_placeholders=True,
    )
    maker = _Maker()
    return parser, Making()


def _given(children: list[Any]) -> tuple[Any, ...]:
    """The children without the placeholders of what was left out."""
    return tuple(child for child in children if child is not None)


class _Maker:
    """Makes the tree, rule by rule. Each method is named after its rule, and gets the children."""

    # Programs and declarations.

    def program(self, meta: Any, found: list[Any]) -> t.Source:
        *items, body = found
        kinds: dict[str, list[Any]] = {"struct": [], "inputs": [], "outputs": [], "variables": []}
        functions = [item for item in items if isinstance(item, t.Function)]
        for item in items:
            if not isinstance(item, t.Function):
                kind, values = item
                kinds[kind].extend(values)
        structs, inputs, outputs, variables = map(tuple, kinds.values())
        return t.Source(structs, inputs, outputs, variables, tuple(functions), body)

    def struct(self, meta: Any, found: list[Any]) -> Any:
        return "struct", [t.Struct(str(found[0]), tuple(found[1:]))]

    def field(self, meta: Any, found: list[Any]) -> t.Declared:
        return _declared(*found)

    def inputs(self, meta: Any, found: list[Any]) -> Any:
        return "inputs", [_declared(found[0], each) for each in found[1:]]

    def outputs(self, meta: Any, found: list[Any]) -> Any:
        return "outputs", list(map(str, found))

    def variables(self, meta: Any, found: list[Any]) -> Any:
        return "variables", [_declared(found[0], each) for each in found[1:]]

    def function(self, meta: Any, found: list[Any]) -> t.Function:
        name, *rest, body = _given(found)
        parameters = tuple(each for each in rest if isinstance(each, t.Parameter))
        variables = tuple(v for each in rest if not isinstance(each, t.Parameter) for v in each[1])
        return t.Function(str(name), parameters, variables, body, line=meta.line)

    def parameter(self, meta: Any, found: list[Any]) -> t.Parameter:
        kept = [each for each in _given(found) if getattr(each, "type", "") != "STAR"]
        type_ = kept.pop(0) if isinstance(kept[0], t.Type) else None
        return t.Parameter(type_, str(kept[0]), array=len(kept) > 1)

    def type(self, meta: Any, found: list[Any]) -> t.Type:
        word = found[0]
        if word.type == "TYPE":
            return t.Type(TYPES.get(str(word), str(word)))
        return t.Type(str(word), struct=True)

    def declarator(self, meta: Any, found: list[Any]) -> Any:
        name, *sizes = (each for each in found if getattr(each, "type", "") != "STAR")
        return str(name), tuple(sizes), name.line

    # Statements.

    def empty(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Empty()

    def skip(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Skip()

    def len(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Len(found[0], line=meta.line)

    def lbf(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.StateFrame(tuple(found), line=meta.line)

    def frame(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Frame(tuple(found), line=meta.line)

    def await_(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Await(found[0], line=meta.line)

    def if_(self, meta: Any, found: list[Any]) -> t.Statement:
        test, then, otherwise = found
        return t.If(test, then, t.Empty() if otherwise is None else otherwise, line=meta.line)

    def while_(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.While(*found, line=meta.line)

    def assign(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Assign(*found, line=meta.line)

    def assign_next(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.AssignNext(*found, line=meta.line)

    def first(self, meta: Any, found: list[Any]) -> Any:
        return found

    def declare(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Declare(tuple(_declared(found[0], each, value) for each, value in found[1:]))

    def call(self, meta: Any, found: list[Any]) -> t.Statement:
        name, *arguments = _given(found)
        return t.Call(str(name), tuple(arguments), line=meta.line)

    def do(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Do(self.external(meta, found))

    def next(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Next(*found)

    def always(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Always(*found)

    def exist(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Exist(tuple(map(str, found[:-1])), found[-1])

    def and_(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.And(tuple(found), line=meta.line)

    def or_(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Or(tuple(found))

    def chop(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Chop(tuple(found)) if len(found) > 1 else found[0]

    def par(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Par(tuple(found))

    def projection(self, meta: Any, found: list[Any]) -> t.Statement:
        return t.Prj(tuple(found[:-1]), found[-1])

    # Expressions.

    def number(self, meta: Any, found: list[Any]) -> e.Expression:
        text = str(found[0])
        return e.Constant(int(text) if text.isdigit() else float(text))

    def string(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Constant(_unquoted(str(found[0])))

    def true(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Constant(True)

    def false(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Constant(False)

    def variable(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Variable(str(found[0]), line=meta.line)

    def index(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Index(*found, line=meta.line)

    def dot(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Field(found[0], str(found[1]), line=meta.line)

    def method(self, meta: Any, found: list[Any]) -> e.Expression:
        whole, name, *arguments = _given(found)
        return e.Apply(str(name), (whole, *arguments), line=meta.line)

    def apply(self, meta: Any, found: list[Any]) -> e.Expression:
        name, *arguments = _given(found)
        return e.Apply(str(name), tuple(arguments), line=meta.line)

    def external(self, meta: Any, found: list[Any]) -> e.External:
        name, *arguments = _given(found)
        return e.External(str(name), tuple(arguments), line=meta.line)

    def binary(self, meta: Any, found: list[Any]) -> e.Expression:
        left, sign, right = found
        spelled = {"==": "="}.get(str(sign), "!=" if sign.type == "UNEQUAL" else str(sign))
        return e.Binary(spelled, left, right, line=meta.line)

    def negated(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Unary("!", found[0], line=meta.line)

    def minus(self, meta: Any, found: list[Any]) -> e.Expression:
        body = found[-1]
        if isinstance(body, e.Constant) and type(body.value) in (int, float):
            return e.Constant(-body.value)
        return e.Unary("-", body, line=meta.line)

    def previous(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Previous(found[0], line=meta.line)

    def following(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.Following(found[0], line=meta.line)

    def list(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.ListOf(tuple(each for each in _given(found) if getattr(each, "type", "") != "ARRAY"))

    def pair(self, meta: Any, found: list[Any]) -> Any:
        return tuple(found)

    def map(self, meta: Any, found: list[Any]) -> e.Expression:
        return e.MapOf(_given(found))

    def set(self, meta: Any, found: list[Any]) -> Any:
        return str(found[0]), found[1]

    def structure(self, meta: Any, found: list[Any]) -> e.Expression:
        name, *fields = _given(found)
        return e.StructOf(str(name), tuple(fields), line=meta.line)


# Rules that are named like words of Python.
for _word in ("if", "while", "await"):
    setattr(_Maker, _word, getattr(_Maker, f"{_word}_"))


def _declared(type_: t.Type, declarator: Any, value: e.Expression | None = None) -> t.Declared:
    name, sizes, line = declarator
    return t.Declared(type_, name, sizes, value, line=line)


def _unquoted(text: str) -> str:
    made, characters = "", iter(text[1:-1])
    for character in characters:
        made += ESCAPES.get(escaped := next(characters), escaped) if character == "\\" else character
    return made
