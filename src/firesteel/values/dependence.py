"""Dependences: which pairs of output records must keep their order. Values with structure, joined by `|` and `&`.

A dependence has to be symmetric, and to respect the equality: equal records depend on the same ones.
`check_dependence` looks for a pair that breaks this; `drawn` and `dot` make pictures of the order of some records.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from firesteel.errors import InvalidArgument, PredicateError, described
from firesteel.names import name_of
from firesteel.values.answers import as_bool, returned
from firesteel.values.records import Record, brief, canonical, named


class Dependence:
    """Which pairs of records must keep their order. Made by `ordered`, `unordered`, `same_key`, `barrier`, `depends`.

    `a | b`: what depends by one of them or both; `a & b`: by both.

    >>> taxis = same_key("taxi") | barrier(lambda ride: ride.day_ends)
    >>> taxis
    same_key('taxi') | barrier(ride.day_ends)
    >>> taxis.depends_on(Record(taxi=1, day_ends=False), Record(taxi=2, day_ends=False))
    False
    """

    def depends_on(self, first: Any, second: Any) -> bool:
        """Must these two records keep their order?"""
        raise NotImplementedError

    def __or__(self, other: Dependence) -> Dependence:
        return either(self, other) if isinstance(other, Dependence) else NotImplemented

    def __and__(self, other: Dependence) -> Dependence:
        return both(self, other) if isinstance(other, Dependence) else NotImplemented

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} is neither true nor false: join dependences with | and &, not with `or` and `and`")


@dataclass(frozen=True, repr=False)
class Ordered(Dependence):
    """Every record depends on every other: the order is the stream's."""

    def depends_on(self, first: Any, second: Any) -> bool:
        return True

    def __repr__(self) -> str:
        return "ordered()"


@dataclass(frozen=True, repr=False)
class Unordered(Dependence):
    """No record depends on another: the stream is a multiset."""

    def depends_on(self, first: Any, second: Any) -> bool:
        return False

    def __repr__(self) -> str:
        return "unordered()"


@dataclass(frozen=True, repr=False)
class SameKey(Dependence):
    """Records that agree in some columns depend on each other."""

    columns: tuple[str, ...]

    def depends_on(self, first: Any, second: Any) -> bool:
        return all(canonical(value_of(first, c, self)) == canonical(value_of(second, c, self)) for c in self.columns)

    def __repr__(self) -> str:
        return f"same_key({', '.join(map(repr, self.columns))})"


@dataclass(frozen=True, repr=False)
class Barrier(Dependence):
    """Records for which the predicate holds depend on every record; the others are independent of each other."""

    predicate: Callable[[Any], bool]

    def holds(self, record: Any) -> bool:
        """Is this record a barrier?"""
        try:
            answer = self.predicate(record)
        except Exception as error:
            raise PredicateError(f"{self!r} raised {error!r} at {brief(record)}") from error
        return answer if answer is True or answer is False else _truth(answer, self, record)

    def depends_on(self, first: Any, second: Any) -> bool:
        return self.holds(first) or self.holds(second)

    def __repr__(self) -> str:
        return f"barrier({name_of(self.predicate)})"


@dataclass(frozen=True, repr=False)
class Depends(Dependence):
    """What a function of the user says about two records."""

    function: Callable[[Any, Any], bool]

    def depends_on(self, first: Any, second: Any) -> bool:
        try:
            answer = self.function(first, second)
        except Exception as error:
            raise PredicateError(f"{self!r} raised {error!r} at {brief(first)} and {brief(second)}") from error
        return answer if answer is True or answer is False else _truth(answer, self, first, second)

    def __repr__(self) -> str:
        return f"depends({name_of(self.function)})"


@dataclass(frozen=True, repr=False)
class Either(Dependence):
    """What depends by one of two dependences, or by both."""

    a: Dependence
    b: Dependence

    def depends_on(self, first: Any, second: Any) -> bool:
        return self.a.depends_on(first, second) or self.b.depends_on(first, second)

    def __repr__(self) -> str:
        return f"{self.a!r} | {self.b!r}"


@dataclass(frozen=True, repr=False)
class Both(Dependence):
    """What depends by both of two dependences."""

    a: Dependence
    b: Dependence

    def depends_on(self, first: Any, second: Any) -> bool:
        return self.a.depends_on(first, second) and self.b.depends_on(first, second)

    def __repr__(self) -> str:
        return " & ".join(f"({part!r})" if isinstance(part, Either) else repr(part) for part in (self.a, self.b))


def ordered() -> Dependence:
    """The order of all records matters.

    >>> ordered().depends_on(1, 2)
    True
    """
    return Ordered()


def unordered() -> Dependence:
    """No order matters: what counts is which records there are, and how often.

    >>> unordered() | same_key("user")
    same_key('user')
    """
    return Unordered()


def same_key(column: str, *more: str) -> Dependence:
    """The order of records with the same values in these columns matters.

    >>> same_key("taxi").depends_on(Record(taxi=1, pos=0.0), {"taxi": 1, "pos": 2.0})
    True
    """
    for name in (column, *more):
        if not isinstance(name, str):
            raise InvalidArgument(f"{described('column', name)} is not a column: write a name, as same_key('user')")
    return SameKey(tuple(dict.fromkeys((column, *more))))


def barrier(predicate: Callable[[Any], bool]) -> Dependence:
    """Records for which `predicate` holds keep their place among all others; the others have no order between them.

    >>> end_of_day = barrier(lambda word: word == "END")
    >>> end_of_day.depends_on("a", "END"), end_of_day.depends_on("a", "b")
    (True, False)
    """
    if not callable(predicate):
        raise InvalidArgument(
            f"{described('predicate', predicate)} is not a function: write barrier(lambda record: ...), true of "
            "the records that keep their place among all others"
        )
    return Barrier(predicate)


def depends(function: Callable[[Any, Any], bool]) -> Dependence:
    """The order of two records matters where `function` says so. It has to say the same of (a, b) and of (b, a).

    >>> depends(lambda a, b: abs(a - b) < 2).depends_on(1, 2)
    True
    """
    if not callable(function):
        raise InvalidArgument(
            f"{described('function', function)} is not a function: write depends(lambda a, b: ...), true where the "
            "order of a and b matters"
        )
    return Depends(function)


def either(a: Dependence, b: Dependence) -> Dependence:
    """`a | b`, as simple as it can be said.

    >>> either(same_key("a"), same_key("a", "b")), either(ordered(), same_key("a"))
    (same_key('a'), ordered())
    """
    match a, b:
        case (Ordered(), _) | (_, Ordered()):
            return Ordered()
        case (Unordered(), kept) | (kept, Unordered()):
            return kept
        case SameKey(), SameKey() if set(a.columns) <= set(b.columns) or set(b.columns) <= set(a.columns):
            return min(a, b, key=lambda key: len(key.columns))
        case _:
            return a if a == b else Either(a, b)


def both(a: Dependence, b: Dependence) -> Dependence:
    """`a & b`, as simple as it can be said.

    >>> both(same_key("a"), same_key("b")), both(unordered(), same_key("a"))
    (same_key('a', 'b'), unordered())
    """
    match a, b:
        case (Unordered(), _) | (_, Unordered()):
            return Unordered()
        case (Ordered(), kept) | (kept, Ordered()):
            return kept
        case SameKey(), SameKey():
            return SameKey(tuple(dict.fromkeys((*a.columns, *b.columns))))
        case _:
            return a if a == b else Both(a, b)


def value_of(record: Any, column: str, asking: Dependence) -> Any:
    """A record's value in a column. If there is no such column, the error says which columns the record has."""
    columns = named(record)
    if columns is None and hasattr(record, "__dict__"):
        columns = vars(record)
    if columns is None:
        raise InvalidArgument(
            f"{asking!r} asks for the column {column!r}, and {described('record', record)} has no columns: give "
            f"records with names, as Record({column}=...) or {{{column!r}: ...}}"
        )
    if column not in columns:
        there = ", ".join(map(repr, columns)) or "none"
        raise InvalidArgument(
            f"{asking!r} asks for the column {column!r}: {brief(record)} does not have it; it has {there}"
        )
    return columns[column]


def _truth(answer: Any, asked: Dependence, *records: Any) -> bool:
    known = as_bool(answer)
    if known is not None:
        return known
    at = " and ".join(map(brief, records))
    raise PredicateError(f"{asked!r}, at {at}, {returned(answer, instead='True or False')}")


def require_dependence(value: Any, argument: str = "dependence") -> Dependence:
    """The value, if it is a dependence; else an error that says what to write."""
    if isinstance(value, Dependence):
        return value
    instead = "fs.depends(function)" if callable(value) and not isinstance(value, type) else "fs.same_key('user')"
    raise InvalidArgument(
        f"{described(argument, value)} is not a dependence: write {instead}, or fs.ordered(), fs.unordered(), ..."
    )


def as_records(records: Any, argument: str = "records") -> Sequence[Any]:
    """The records as a sequence; a single record or text is refused."""
    if isinstance(records, (str, bytes, Record, dict)) or not hasattr(records, "__iter__"):
        raise InvalidArgument(f"{described(argument, records)} is not a list of records: write [record, record]")
    return tuple(records)


def different(records: Sequence[Any]) -> list[Any]:
    """The records without repetitions, each where it came first."""
    found: dict[Hashable, Any] = {}
    for record in records:
        found.setdefault(canonical(record), record)
    return list(found.values())
