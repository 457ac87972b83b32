"""Keys: the columns that a dependence goes by, and a record's values in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from firesteel.errors import InvalidArgument
from firesteel.values.dependence import Both, Dependence, Either, SameKey, value_of
from firesteel.values.equality import EXACT, Equality
from firesteel.values.records import brief, canonical

# Types of keys that need no canonical form.
_PLAIN = frozenset({int, str, bool, type(None), bytes})


def key_columns(dependence: Dependence) -> tuple[str, ...]:
    """All columns that a dependence takes for keys."""
    match dependence:
        case SameKey(columns):
            return columns
        case Both(a, b) | Either(a, b):
            return tuple(dict.fromkeys((*key_columns(a), *key_columns(b))))
        case _:
            return ()


def key_function(columns: tuple[str, ...], equality: Equality = EXACT) -> Callable[[Any], Hashable]:
    """A record's values in some columns, as something hashable.

    >>> key_function(("user",))({"user": 15, "n": 1})
    15
    """
    dependence = SameKey(columns)

    def one(record: Any) -> Hashable:
        try:
            value = record.__dict__[columns[0]]
        except (AttributeError, KeyError):
            value = value_of(record, columns[0], dependence)
        return value if type(value) in _PLAIN else canonical(value)

    def several(record: Any) -> Hashable:
        return tuple([canonical(value_of(record, column, dependence)) for column in columns])

    def certain(record: Any) -> Hashable:
        for column in columns:
            if isinstance(value_of(record, column, dependence), float):
                raise InvalidArgument(
                    f"{dependence!r} does not go with {equality!r}: {column!r} is a float in {brief(record)}, so "
                    "records that count as equal could have different keys. Take another key, or no tolerances"
                )
        return several(record)

    if not equality.exact:
        return certain
    return one if len(columns) == 1 else several
