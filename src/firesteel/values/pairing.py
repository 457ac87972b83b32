"""Two collections of records as multisets: pair equals with equals, and see what is left over.

`minus` goes by the equality of records (`==`), `left_over` by an `Equality`. With tolerances there are no classes of
equal records: 1.0 may equal 1.1, and 1.1 equal 1.2. Then as many records as possible are paired
(`firesteel.values.matching`), so that the choice of partners cannot make two equal collections look different.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from firesteel.values.equality import Equality
from firesteel.values.matching import Placed, unpaired
from firesteel.values.records import canonical, columns_of, freeze, is_numpy, make_record, named, same

# --- by the equality of records -------------------------------------------------------------------


def same_multiset(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """The same records on both sides, each as often?"""
    return len(left) == len(right) and not minus(left, right)


def minus(left: Sequence[Any], right: Sequence[Any]) -> tuple[Any, ...]:
    """The records of `left` that are left over when each record of `right` has taken one of its equals away.

    >>> minus([1, 1, 2], [2, 1])
    (1,)
    """
    waiting: dict[Hashable, list[Any]] = {}
    for record in _as_records(right, like=left):
        waiting.setdefault(freeze(record), []).append(record)
    over = []
    for record in _as_records(left, like=right):
        equals = waiting.get(freeze(record), [])  # of equal values: their columns may have other names
        taken = next((index for index, equal in enumerate(equals) if same(equal, record)), None)
        if taken is None:
            over.append(record)
        else:
            del equals[taken]
    return tuple(over)


def _as_records(records: Sequence[Any], *, like: Sequence[Any]) -> Iterator[Any]:
    """The records, with dicts as records of the other side's columns: a dict has no order of its own."""
    names = next((columns for record in like if (columns := columns_of(record)) is not None), ())
    for record in records:
        if isinstance(record, Mapping) and set(record) == set(names):
            yield make_record({name: record[name] for name in names})
        else:
            yield record


def distinct(records: Iterable[Any]) -> tuple[Any, ...]:
    """The records without repetitions."""
    return tuple({(freeze(record), columns_of(record)): record for record in records}.values())


# --- by an Equality -------------------------------------------------------------------------------


def left_over(
    left: Sequence[Any], right: Sequence[Any], equal: Equality, *, typed: bool = False
) -> tuple[list[Any], list[Any]]:
    """The records of each side that stay alone when as many as possible are paired with an equal one.

    `typed` says that a number is of the same type on both sides, as in columns of Spark: then only floats are close.

    >>> from firesteel.values.equality import equality
    >>> left_over([1.0, 1.1, 5.0], [1.05, 0.95, 7.0], equality(abs_tol=0.11))
    ([5.0], [7.0])
    >>> left_over(["a", "A", "b"], ["a"], equality(by=str.lower))
    (['A', 'b'], [])
    """
    if equal.exact:
        return _without_keys_of(left, right, equal), _without_keys_of(right, left, equal)
    alone: tuple[list[int], list[int]] = ([], [])
    groups: dict[Hashable, tuple[list[Placed], list[Placed]]] = {}
    for side, records in enumerate((left, right)):
        for place, record in enumerate(records):
            outline, numbers = _outlined(record, equal, typed)
            groups.setdefault(outline, ([], []))[side].append(Placed(numbers, place, record))
    for lefts, rights in groups.values():
        for found, odd in zip(alone, unpaired(lefts, rights, equal), strict=True):
            found.extend(odd)
    return [left[place] for place in sorted(alone[0])], [right[place] for place in sorted(alone[1])]


def _without_keys_of(records: Sequence[Any], others: Sequence[Any], equal: Equality) -> list[Any]:
    key = equal.key_function
    waiting: dict[Hashable, int] = {}
    for other in others:
        its = key(other)
        waiting[its] = waiting.get(its, 0) + 1
    alone = []
    for record in records:
        its = key(record)
        if waiting.get(its):
            waiting[its] -= 1
        else:
            alone.append(record)
    return alone


def with_names(records: Sequence[Any], *, like: Sequence[Any]) -> list[Any]:
    """The records, with plain tuples as records of the other side's columns: a tuple has no names of its own."""
    names = next((columns for record in like if (columns := columns_of(record)) is not None), None)
    return [
        make_record(dict(zip(names, record, strict=True)))
        if names is not None and type(record) is tuple and len(record) == len(names)
        else record
        for record in records
    ]


# --- with tolerances -----------------------------------------------------------------------------


class _Number:
    """What an outline holds in place of a number that may be close to another."""


def _outlined(record: Any, equal: Equality, typed: bool) -> tuple[Hashable, tuple[float, ...]]:
    """The outline of a record, which close records share: everything but its numbers. And its numbers."""
    numbers: list[float] = []
    outline = _outline(equal.compared(record), numbers, float if typed else (float, int, Decimal))
    return outline, tuple(numbers)


def _outline(value: Any, numbers: list[float], kinds: Any) -> Hashable:
    if is_numpy(value):
        value = value.tolist()
    if isinstance(value, kinds) and not isinstance(value, bool):
        number = _as_float(value)
        if not math.isfinite(number):  # infinity and NaN are close only to themselves
            return canonical(value)
        numbers.append(number)
        return _Number
    columns = named(value)
    if columns is not None:
        # Sorted, so that numbers of the same column stand at the same place on both sides.
        return (dict, *((name, _outline(columns[name], numbers, kinds)) for name in sorted(columns)))
    if isinstance(value, Mapping) and all(type(key) is int for key in value):
        return (dict, *((key, _outline(value[key], numbers, kinds)) for key in sorted(value)))
    if isinstance(value, Mapping):
        return dict, frozenset(map(canonical, value))  # the values are left to `equal`, as keys may have no order
    if isinstance(value, (list, tuple)):
        return (list, *(_outline(item, numbers, kinds) for item in value))
    return canonical(value)


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # a whole number too large for a float is close to no other
        return math.inf
