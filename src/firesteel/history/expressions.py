"""The small language of field comparisons: ``Event == "SparkListenerTaskEnd" and `Task Info`.Attempt > 2``.

A text is parsed into the classes here and never evaluated as Python. A path names a field of an event, or a measure
(`stage.skew`). A comparison with a field that the event does not have is false, whatever the comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeAlias

from firesteel.errors import InvalidArgument, PredicateError, described
from firesteel.history.table import MEASURES

Measures: TypeAlias = Mapping[str, float]
_ABSENT = object()


class ExpressionError(InvalidArgument):
    """The text of an expression that cannot be read; `position` counts characters from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position

    def __reduce__(self) -> tuple[type[ExpressionError], tuple[str, int]]:
        return type(self), (str(self), self.position)


@dataclass(frozen=True)
class Path:
    """A field, and the fields that it stands in; or a measure."""

    names: tuple[str, ...]

    @property
    def measure(self) -> str | None:
        name = ".".join(self.names)
        return name if name in MEASURES else None

    def of(self, event: Mapping[str, Any], measures: Measures) -> Any:
        """The value; `_ABSENT` where there is none."""
        name = self.measure
        if name is not None:
            return measures.get(name, _ABSENT)
        value: Any = event
        for place, part in enumerate(self.names):
            if not isinstance(value, Mapping):
                return _ABSENT
            if part not in value:  # Spark's properties have names with dots
                return value.get(".".join(self.names[place:]), _ABSENT)
            value = value[part]
        return value

    def __str__(self) -> str:
        return ".".join(name if name.isidentifier() else f"`{name}`" for name in self.names)


@dataclass(frozen=True)
class Compare:
    path: Path
    sign: str
    value: Any


@dataclass(frozen=True)
class Exists:
    """The event has the field, and it is not null."""

    path: Path


@dataclass(frozen=True)
class Not:
    body: Expression


@dataclass(frozen=True)
class And:
    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Expression, ...]


Expression: TypeAlias = Compare | Exists | Not | And | Or

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "==": eq,
    "!=": ne,
    "<=": le,
    ">=": ge,
    "<": lt,
    ">": gt,
    "contains": lambda value, part: part in value,
}


def holds(expression: Expression, event: Mapping[str, Any], measures: Measures) -> bool:
    """Does it hold for an event?

    >>> holds(parse('n > 2 and not exists error'), {"n": 3}, {})
    True
    """
    match expression:
        case Compare(path, sign, wanted):
            return _compared(path, sign, path.of(event, measures), wanted)
        case Exists(path):
            found = path.of(event, measures)
            return found is not _ABSENT and found is not None
        case Not(body):
            return not holds(body, event, measures)
        case And(parts):
            return all(holds(part, event, measures) for part in parts)
        case Or(parts):
            return any(holds(part, event, measures) for part in parts)


def _compared(path: Path, sign: str, value: Any, wanted: Any) -> bool:
    if value is _ABSENT:
        return False
    if sign in ("==", "!=") and (value is None or type(value) is bool or wanted is None or type(wanted) is bool):
        return (value is wanted) is (sign == "==")
    try:
        return bool(_SIGNS[sign](value, wanted))
    except TypeError:
        raise PredicateError(
            f"{described(str(path), value)} cannot be compared with {wanted!r} ({type(wanted).__name__}) by {sign}"
        ) from None


def events_of(expression: Expression) -> frozenset[str] | None:
    """The names of the only events for which it can hold; None where it may hold for any.

    >>> sorted(events_of(parse('Event == "A" and n > 2 or Event == "B"')))
    ['A', 'B']
    """
    match expression:
        case Compare(Path(("Event",)), "==", str() as name):
            return frozenset({name})
        case Compare(path) | Exists(path) if path.measure is not None:
            return frozenset({MEASURES[path.measure].event})
        case And(parts):
            known = [found for part in parts if (found := events_of(part)) is not None]
            return frozenset.intersection(*known) if known else None
        case Or(parts):
            all_known = [events_of(part) for part in parts]
            named = [found for found in all_known if found is not None]
            return frozenset().union(*named) if len(named) == len(all_known) else None
        case _:
            return None


def measures_of(expression: Expression) -> frozenset[str]:
    """The measures that it names.

    >>> sorted(measures_of(parse("stage.skew > 2 and `Stage Info`.x == 1")))
    ['stage.skew']
    """
    return frozenset(path.measure for path in _paths(expression) if path.measure is not None)


def fields_of(expression: Expression) -> frozenset[Path]:
    """The fields of events that it names."""
    return frozenset(path for path in _paths(expression) if path.measure is None)


def _paths(expression: Expression) -> frozenset[Path]:
    match expression:
        case Compare(path) | Exists(path):
            return frozenset({path})
        case Not(body):
            return _paths(body)
        case And(parts) | Or(parts):
            return frozenset().union(*map(_paths, parts))


# --- reading the text ---

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
          |(?P<text>"[^"]*"|'[^']*')
          |(?P<name>`[^`]+`|[^\W\d][\w$]*)
          |(?P<sign>==|!=|<=|>=|<|>|=|\(|\)|\.))""",
    re.VERBOSE,
)
_WORDS = {"true": True, "false": False, "null": None}
_USAGE = 'write a comparison such as `Task Info`.Attempt > 2 or Event == "SparkListenerTaskEnd"'


def parse(text: Any) -> Expression:
    """The expression that a text says.

    >>> parse("a.b >= 2")
    Compare(path=Path(names=('a', 'b')), sign='>=', value=2)
    >>> parse("a >")
    Traceback (most recent call last):
        ...
    firesteel.history.expressions.ExpressionError: expected a number, a text, true, false or null, found the end \
of the text, at position 3:
        a >
           ^
    """
    if not isinstance(text, str):
        raise InvalidArgument(f"{described('expression', text)} is not a text: {_USAGE}")
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._next = text, 0
        self._tokens: list[tuple[str, str, int]] = []
        at = 0
        while text[at:].strip():
            found = _TOKEN.match(text, at)
            if found is None or found.lastgroup is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                raise self._error(f"{text[at]!r} means nothing here: {_USAGE}", at)
            self._tokens.append((found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)))
            at = found.end()
        self._tokens.append(("end", "", len(text)))

    def whole(self) -> Expression:
        found = self._or()
        if self._kind != "end":
            raise self._expected("`and`, `or` or the end of the text")
        return found

    def _or(self) -> Expression:
        parts = [self._and()]
        while self._accept("or"):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _and(self) -> Expression:
        parts = [self._not()]
        while self._accept("and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _not(self) -> Expression:
        if self._next > 200:
            raise self._error("the expression is too long", self._tokens[self._next][2])
        if self._accept("not"):
            return Not(self._not())
        if self._accept("("):
            inner = self._or()
            if not self._accept(")"):
                raise self._expected("`)`")
            return inner
        if self._accept("exists"):
            return Exists(self._path())
        return self._comparison()

    def _comparison(self) -> Expression:
        path = self._path()
        _, sign, _ = self._tokens[self._next]
        if sign == "=":
            raise self._error("write == to compare", self._tokens[self._next][2])
        if sign not in _SIGNS:
            raise self._expected(f"one of {' '.join(_SIGNS)}")
        self._next += 1
        return Compare(path, sign, self._value())

    def _path(self) -> Path:
        names = [self._name()]
        while self._accept("."):
            names.append(self._name())
        return Path(tuple(names))

    def _name(self) -> str:
        kind, text, _ = self._tokens[self._next]
        if kind != "name" or text in _WORDS:
            raise self._expected(
                "the name of a field (with other characters than letters, digits and _: in backquotes)"
            )
        self._next += 1
        return text.strip("`")

    def _value(self) -> Any:
        kind, text, _ = self._tokens[self._next]
        if kind == "text":
            value: Any = text[1:-1]
        elif kind == "number":
            value = float(text) if any(sign in text for sign in ".eE") else int(text)
        elif text in _WORDS:
            value = _WORDS[text]
        else:
            raise self._expected("a number, a text, true, false or null")
        self._next += 1
        return value

    @property
    def _kind(self) -> str:
        return self._tokens[self._next][0]

    def _accept(self, word: str) -> bool:
        kind, text, _ = self._tokens[self._next]
        if kind in ("name", "sign") and text == word:
            self._next += 1
            return True
        return False

    def _expected(self, what: str) -> ExpressionError:
        kind, text, at = self._tokens[self._next]
        return self._error(f"expected {what}, found {'the end of the text' if kind == 'end' else repr(text)}", at)

    def _error(self, message: str, at: int) -> ExpressionError:
        return ExpressionError(f"{message}, at position {at}:\n    {self._text}\n    {' ' * at}^", at)
