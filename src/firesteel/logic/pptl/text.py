"""How formulas are printed: as text that `parse` reads, and as calls of the functions in `operators`."""

from __future__ import annotations

from firesteel.logic.pptl.formulas import (
    Always,
    And,
    Chop,
    Constant,
    Empty,
    Eventually,
    Fin,
    Formula,
    Halt,
    Iff,
    Implies,
    Keep,
    Len,
    More,
    Name,
    Next,
    Not,
    Or,
    Par,
    Prj,
    Release,
    Repeat,
    Skip,
    Star,
    Until,
    WeakNext,
    While,
)
from firesteel.logic.pptl.syntax import (
    IFF,
    LEVELS,
    POSTFIX,
    PREFIX,
    PRIMARY,
    PRJ,
    SPELLED,
    plain,
)


def text_of(formula: Formula) -> str:
    """The formula as text, with as few parentheses as possible.

    >>> from firesteel.logic import pptl
    >>> text_of(pptl.star(pptl.and_("p", pptl.next_("q"))))
    '(p and next q)*'
    """
    return _written(formula)[0]


def _written(formula: Formula) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match formula:
        case Constant(value):
            return ("true" if value else "false"), PRIMARY
        case Name(name):
            return _name(name), PRIMARY
        case Empty() | More() | Skip():
            return type(formula).__name__.lower(), PRIMARY
        case Len(number):
            return f"len({number})", PRIMARY
        case Fin(body) | Keep(body) | Halt(body):
            return f"{SPELLED[type(formula)]}({text_of(body)})", PRIMARY
        case While(test, body):
            return f"while {text_of(test)} {{{text_of(body)}}}", PRIMARY
        case Star(body):
            return f"{_at(body, POSTFIX)}*", POSTFIX
        case Repeat(body, times):
            return f"{_at(body, POSTFIX)}^{times}", POSTFIX
        case Not(body) | Next(body) | WeakNext(body) | Always(body) | Eventually(body):
            return f"{SPELLED[type(formula)]} {_at(body, PREFIX)}", PREFIX
        case And(parts) | Or(parts):
            sign = SPELLED[type(formula)]
            return f" {sign} ".join(_at(part, LEVELS[sign] + 1) for part in parts), LEVELS[sign]
        case Implies(first, then) | Chop(first, then) | Until(first, then) | Release(first, then):
            sign = SPELLED[type(formula)]
            return f"{_at(first, LEVELS[sign] + 1)} {sign} {_at(then, LEVELS[sign])}", LEVELS[sign]
        case Iff(first, then) | Par(first, then):
            sign = SPELLED[type(formula)]
            return f"{_at(first, LEVELS[sign])} {sign} {_at(then, LEVELS[sign] + 1)}", LEVELS[sign]
        case Prj(parts, whole):
            return f"({', '.join(_at(part, IFF) for part in parts)}) prj {_at(whole, PRJ)}", PRJ
    raise AssertionError(f"no text for {type(formula).__name__}")


def _at(formula: Formula, level: int) -> str:
    """The text as a part of a larger one that needs a formula that binds at least this tightly."""
    text, own = _written(formula)
    return text if own >= level else f"({text})"


def _name(name: str) -> str:
    if plain(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_FUNCTIONS: dict[type[Formula], str] = {
    Not: "not_",
    And: "and_",
    Or: "or_",
    Implies: "implies",
    Iff: "iff",
    Next: "next_",
    WeakNext: "weak_next",
    Always: "always",
    Eventually: "eventually",
    Until: "until",
    Release: "release",
    Chop: "chop",
    Star: "star",
    Par: "par",
    While: "while_",
    Fin: "fin",
    Keep: "keep",
    Halt: "halt",
}


def code_of(formula: Formula) -> str:
    """The formula as Python, with the functions in `pptl`.

    >>> from firesteel.logic import pptl
    >>> code_of(pptl.parse("p ; len(2)"))
    "pptl.chop(pptl.name('p'), pptl.len_(2))"
    """
    match formula:
        case Constant() | Empty() | More() | Skip():
            return f"pptl.{text_of(formula)}"
        case Name(name):
            return f"pptl.name({name!r})"
        case Len(number):
            return f"pptl.len_({number})"
        case Repeat(body, times):
            return f"pptl.repeat({code_of(body)}, {times})"
        case Prj(parts, whole):
            return f"pptl.prj([{', '.join(map(code_of, parts))}], {code_of(whole)})"
        case And(parts) | Or(parts):
            return f"pptl.{_FUNCTIONS[type(formula)]}({', '.join(map(code_of, parts))})"
        case Not(body) | Next(body) | WeakNext(body) | Always(body) | Eventually(body) | Star(body):
            return f"pptl.{_FUNCTIONS[type(formula)]}({code_of(body)})"
        case Fin(body) | Keep(body) | Halt(body):
            return f"pptl.{_FUNCTIONS[type(formula)]}({code_of(body)})"
        case Implies(first, then) | Iff(first, then) | Until(first, then) | Release(first, then):
            return f"pptl.{_FUNCTIONS[type(formula)]}({code_of(first)}, {code_of(then)})"
        case Chop(first, then) | Par(first, then) | While(first, then):
            return f"pptl.{_FUNCTIONS[type(formula)]}({code_of(first)}, {code_of(then)})"
    raise AssertionError(f"no code for {type(formula).__name__}")
