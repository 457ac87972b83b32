"""What the text of a formula is made of: its words and signs, and how tightly each operator binds.

`parser` reads text and `text` writes it; both go by the tables here.
"""

from __future__ import annotations

from firesteel.errors import InvalidArgument, described
from firesteel.logic.bounds import whole_number
from firesteel.logic.pptl.formulas import (
    Always,
    And,
    Chop,
    Eventually,
    Fin,
    Formula,
    Halt,
    Iff,
    Implies,
    Keep,
    Next,
    Not,
    Or,
    Par,
    Release,
    Until,
    WeakNext,
)

# How tightly an operator binds: the higher the tighter.
IFF, IMPLIES, PRJ, PAR, CHOP, OR, AND, UNTIL, PREFIX, POSTFIX, PRIMARY = range(11)

LEVELS = {
    "<->": IFF,
    "->": IMPLIES,
    "prj": PRJ,
    "||": PAR,
    ";": CHOP,
    "or": OR,
    "and": AND,
    "until": UNTIL,
    "release": UNTIL,
}
LEFT: dict[str, type[Iff] | type[Par]] = {"<->": Iff, "||": Par}
RIGHT: dict[str, type[Implies] | type[Chop] | type[Until] | type[Release]] = {
    "->": Implies,
    ";": Chop,
    "until": Until,
    "release": Release,
}
MANY: dict[str, type[And] | type[Or]] = {"and": And, "or": Or}
PREFIXES: dict[str, type[Not] | type[Next] | type[WeakNext] | type[Always] | type[Eventually]] = {
    "not": Not,
    "next": Next,
    "wnext": WeakNext,
    "[]": Always,
    "<>": Eventually,
}
CALLS: dict[str, type[Fin] | type[Keep] | type[Halt]] = {"fin": Fin, "keep": Keep, "halt": Halt}

SIGNS = ("<->", "->", "<>", "[]", "||", ";", "*", "^", "(", ")", "{", "}", ",")

KEYWORDS = frozenset(
    [sign for table in (LEVELS, PREFIXES, CALLS) for sign in table if sign.isalpha()]
    + ["empty", "more", "skip", "len", "while", "true", "false"]
)

LARGEST = 10_000
"""The largest number that `len(n)` and `P^n` take."""


def number_of(value: object, argument: str) -> int:
    """The number of `len(n)` or `P^n`."""
    number = whole_number(value, 0)
    if number is None or number > LARGEST:
        raise InvalidArgument(f"{described(argument, value)} is out of range: write a whole number from 0 to {LARGEST}")
    return number


def plain(name: str) -> bool:
    """May a name be written without quotes?"""
    return name.isidentifier() and name not in KEYWORDS


SPELLED: dict[type[Formula], str] = {
    kind: sign for table in (LEFT, RIGHT, MANY, PREFIXES, CALLS) for sign, kind in table.items()
}
"""How an operator is spelled, by its class."""
