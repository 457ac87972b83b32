"""Reads the text of a program into a tree, with lark. The operators bind as they do in PPTL.

The grammar is here as text; `making` makes the classes of `tree` and `terms`. lark is imported when
the first program is read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.errors import MsvlSyntaxError
from firesteel.model.msvl.making import Maker

GRAMMAR = r"""
program: (struct | inputs | outputs | variables | define | function)* prj

struct: "struct" NAME "{" field ("and" field)* "}" ";"?
field: type declarator
inputs: "input" type declarator ("," declarator)* ";"
    | "input" type declarator "<==" expression ";" -> input_value
    | "input" type declarator "from" STRING ";" -> input_file
outputs: "output" NAME ("," NAME)* ";"
    | "output" "[" NAME ("," NAME)* "]" ";" -> results
define: "define" NAME "(" [NAME ("," NAME)*] ")" EQUAL expression ";"
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

?expression: disjunction
    | disjunction "?" expression ":" expression -> conditional
    | "let" NAME EQUAL expression "in" expression -> let
?disjunction: conjunction
    | disjunction OR conjunction -> binary
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
    | "null" -> null
    | NAME -> variable
    | NAME "(" [expression ("," expression)*] ")" -> apply
    | "ext" NAME "(" [expression ("," expression)*] ")" -> external
    | "(" expression ")"
    | "(" ")" -> tuple
    | "(" expression "," ")" -> tuple
    | "(" expression ("," expression)+ ")" -> tuple
    | "[" expression clause+ "]" -> comprehension
    | "[" [expression ("," expression)*] "]" -> list
    | ARRAY -> list
    | "{" [pair ("," pair)*] "}" -> map
    | "struct" NAME "{" [set ("," set)*] "}" -> structure
clause: "for" NAME ("," NAME)* "in" disjunction ("if" disjunction)*
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

WORDS = frozenset(
    {
        *("struct", "input", "output", "function", "prj", "or", "and", "next", "always", "exist", "empty", "skip"),
        *("len", "lbf", "frame", "await", "if", "then", "else", "while", "ext", "previous", "true", "false", "NOT"),
        *("let", "in", "for", "null", "define", "from"),
        *("OR", "AND", "int", "float", "double", "bool", "string", "char", "list", "map"),
    }
)
"""The words that are not names."""


def parse(text: str) -> t.Source:
    """The tree of a program.

    >>> parse("x := 1 ; skip").body
    Chop(parts=(AssignNext(to=Variable(name='x'), value=Constant(value=1)), Skip()))
    """
    source: t.Source = _read(text, "program")
    return source


def parse_expression(text: str) -> e.Expression:
    """The tree of an expression.

    >>> parse_expression("x > 3")
    Binary(sign='>', left=Variable(name='x'), right=Constant(value=3))
    """
    expression: e.Expression = _read(text, "expression")
    return expression


def _read(text: str, start: str) -> Any:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        parser, maker = _parser()
        return maker.transform(parser.parse(text, start=start))
    except UnexpectedCharacters as error:
        raise _wrong(text, f"{text[error.pos_in_stream or 0]!r} means nothing here", error.line, error.column) from None
    except UnexpectedToken as error:
        at_end = error.token.type == "$END"
        found = "the end of the text" if at_end else repr(str(error.token))
        lines = text.rstrip().split("\n")
        line, column = (len(lines), len(lines[-1]) + 1) if at_end else (error.line, error.column)
        expected = _expected(error)
        if error.token == "," and ")" in expected:
            expected += " (a list of statements stands before `prj`; inside a larger statement: ((P, Q) prj R))"
        raise _wrong(text, f"expected {expected}, found {found}", line, column) from None
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
    maker = Maker()
    return parser, Making()
