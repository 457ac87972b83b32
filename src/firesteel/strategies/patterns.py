"""Regular expressions over batches: `pattern("a b* (c | d)", a=..., b=...)`.

    pattern     = sequence, sequence | sequence, ...
    sequence    = repeated repeated ...
    repeated    = single, then any of: * + ? {n} {m,n} {m,}
    single      = name, or (pattern)

A name stands for a strategy of batches or of whole streams, which is drawn from anew each time. A stream is finite, so
a repetition without an upper end (`*`, `+`, `{m,}`) draws at most ten more than it asks for. Streams shrink to the
shortest one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from firesteel.errors import InvalidArgument, described
from firesteel.strategies.arguments import lifted, strategy_of
from firesteel.strategies.combinators import Batches, Streams, joined
from firesteel.strategies.records import schema_of
from firesteel.values.batches import common_schema, make_batch
from firesteel.values.streams import Stream, make_stream

# How many more parts a repetition without an upper end draws at most, beyond those that it asks for.
MORE = 10

_EXAMPLE = "such as 'a b* (c | d)'"


def pattern(expression: str, /, **parts: Batches | Streams) -> Streams:
    """Streams of a shape that is written as a regular expression, whose letters are batches or whole streams.

    Write names one after the other, `|` for a choice, `*`, `+`, `?`, `{n}` and `{m,n}` for repetition, and parentheses.
    `*`, `+` and `{m,}` repeat at most ten times more than they have to. Choices shrink to the first one, repetitions
    to the fewest; a pattern such as `a*` may draw a stream without batches.

    >>> from hypothesis import find
    >>> streams = pattern("a b* (c | d)", a=_letter("a"), b=_letter("b"), c=_letter("c"), d=_letter("d"))
    >>> find(streams, lambda stream: len(stream) > 3)
    Stream(None, [['a'], ['b'], ['b'], ['c']])

    >>> pattern("a (b | c", a=_letter("a"), b=_letter("b"), c=_letter("c"))
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: expression='a (b | c' (str) is not a pattern: at character 9 a name, '(', '|' or \
')' was expected, not the end:
      a (b | c
              ^
    """
    if not isinstance(expression, str):
        raise InvalidArgument(f"{described('expression', expression)} is not text: write a pattern, {_EXAMPLE}")
    tree = _Parser(expression).tree()
    given = {name: strategy_of(part, name, "a strategy of batches or streams") for name, part in parts.items()}
    _check_names(expression, tree, given)
    schema = common_schema(map(schema_of, given.values()))

    def stream(drawn: list[Stream]) -> Stream:
        whole = joined(drawn)
        # A stream without batches cannot tell its schema, and Spark needs one.
        return whole if whole.batches or schema is None else make_stream((), schema)

    return _strategy(tree, given).map(stream)


# --- what was written ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Name:
    """One of the strategies, and the character where it stands."""

    name: str
    place: int


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Choice:
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Repeat:
    part: Tree
    least: int
    most: int | None


Tree: TypeAlias = Name | Sequence | Choice | Repeat


def _names(tree: Tree) -> Iterator[Name]:
    match tree:
        case Name():
            yield tree
        case Repeat(part):
            yield from _names(part)
        case Sequence(parts) | Choice(parts):
            yield from chain.from_iterable(map(_names, parts))


def _check_names(text: str, tree: Tree, given: dict[str, SearchStrategy[Any]]) -> None:
    used = list(_names(tree))
    known = ", ".join(given) or "none"
    for found in used:
        if found.name not in given:
            raise InvalidArgument(
                f"{described('expression', text)} names {found.name!r} at character {found.place + 1}, which was not "
                f"given (given: {known}): write {found.name}=... after the expression, and put spaces between names"
                f"{_pointer(text, found.place)}"
            )
    names = {found.name for found in used}
    for name in given:
        if name not in names:
            raise InvalidArgument(
                f"{name}={given[name]!r} is not used in {described('expression', text)}: leave it out, or name it in "
                "the pattern"
            )


def _pointer(text: str, place: int) -> str:
    """The line of a text that holds a place, and an arrow to it below."""
    start = text.rfind("\n", 0, place) + 1
    line = text[start:].partition("\n")[0]
    before = "".join(char if char == "\t" else " " for char in line[: place - start])
    return f":\n  {line}\n  {before}^"


# --- how it is read ------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|(?P<mark>[|*+?(){},])|(?P<end>$))")


class _Parser:
    """Reads a pattern from left to right; one token is looked at before it is taken."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._after = 0
        self._advance()

    def _advance(self) -> None:
        found = _TOKEN.match(self._text, self._after)
        if found is None:
            place = len(self._text) - len(self._text[self._after :].lstrip())
            wrong = self._text[place]
            raise self._wrong(place, f"{wrong!r} means nothing: write names, | * + ? {{m,n}} and parentheses")
        self._kind = found.lastgroup or ""
        self._token = found[self._kind]
        self._place = found.start(self._kind)
        self._after = found.end()

    def _wrong(self, place: int, why: str) -> InvalidArgument:
        where = f"at character {place + 1} {why}{_pointer(self._text, place)}"
        return InvalidArgument(f"{described('expression', self._text)} is not a pattern: {where}")

    def _expected(self, what: str) -> InvalidArgument:
        got = "the end" if self._kind == "end" else repr(self._token)
        return self._wrong(self._place, f"{what} was expected, not {got}")

    def _takes(self, mark: str) -> bool:
        found = self._kind == "mark" and self._token == mark
        if found:
            self._advance()
        return found

    def tree(self) -> Tree:
        if self._kind == "end":
            raise InvalidArgument(f"{described('expression', self._text)} is empty: write a pattern, {_EXAMPLE}")
        tree = self._choice()
        if self._kind != "end":
            raise self._expected("a name, '(', '|' or the end")
        return tree

    def _choice(self) -> Tree:
        parts = [self._sequence()]
        while self._takes("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Tree:
        parts = [self._repeated()]
        while self._kind == "name" or self._token == "(":
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self) -> Tree:
        part = self._single()
        while True:
            if self._takes("*"):
                part = Repeat(part, 0, None)
            elif self._takes("+"):
                part = Repeat(part, 1, None)
            elif self._takes("?"):
                part = Repeat(part, 0, 1)
            elif self._takes("{"):
                part = self._counted(part)
            else:
                return part

    def _counted(self, part: Tree) -> Tree:
        """What comes after an opening brace."""
        place = self._place
        least = self._number()
        most: int | None = least
        if self._takes(","):
            most = self._number() if self._kind == "number" else None
            if self._kind != "mark" or self._token != "}":
                raise self._expected("'}'" if most is not None else "a number or '}'")
        elif self._kind != "mark" or self._token != "}":
            raise self._expected("',' or '}'")
        self._advance()
        if most is not None and most < least:
            raise self._wrong(place, f"{{{least},{most}}} counts backwards: write {{{most},{least}}}")
        return Repeat(part, least, most)

    def _number(self) -> int:
        if self._kind != "number":
            raise self._expected("a number")
        number = int(self._token)
        self._advance()
        return number

    def _single(self) -> Tree:
        if self._kind == "name":
            name = Name(self._token, self._place)
            self._advance()
            return name
        if not self._takes("("):
            raise self._expected("a name or '('")
        inside = self._choice()
        if not self._takes(")"):
            raise self._expected("a name, '(', '|' or ')'")
        return inside


# --- how it is drawn -----------------------------------------------------------------------------------------------


def _strategy(tree: Tree, given: dict[str, SearchStrategy[Any]]) -> SearchStrategy[list[Stream]]:
    """The streams that stand one after the other. Lists, because Hypothesis knows how to take elements out of one."""
    match tree:
        case Name(name):
            return given[name].map(lambda drawn: [lifted(drawn, "pattern")])
        case Sequence(parts):
            return st.tuples(*(_strategy(part, given) for part in parts)).map(_flat)
        case Choice(parts):
            return st.one_of(*(_strategy(part, given) for part in parts))
        case Repeat(part, least, most):
            largest = least + MORE if most is None else most
            return st.lists(_strategy(part, given), min_size=least, max_size=largest).map(_flat)


def _flat(parts: Iterable[list[Stream]]) -> list[Stream]:
    return list(chain.from_iterable(parts))


# For the examples above.
def _letter(letter: str) -> Batches:
    return st.just(make_batch((letter,), None))
