"""Two collections of records as multisets: pair equals with equals, and see what is left over.

`minus` goes by the equality of records (`==`), `left_over` by an `Equality`. With tolerances there are no classes of
equal records: 1.0 may equal 1.1, and 1.1 equal 1.2. Then as many records as possible are paired (a maximum matching),
so that the choice of partners cannot make two equal collections look different.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from firesteel.values.equality import Equality
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
    groups: dict[Hashable, tuple[list[_Placed], list[_Placed]]] = {}
    for side, records in enumerate((left, right)):
        for place, record in enumerate(records):
            outline, number = _outlined(record, equal, typed)
            groups.setdefault(outline, ([], []))[side].append(_Placed(number, place, record))
    for lefts, rights in groups.values():
        for found, odd in zip(alone, _unpaired(lefts, rights, equal), strict=True):
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


@dataclass(frozen=True)
class _Placed:
    """A record with its place in its collection, and its first number: records that are close have close ones."""

    number: float
    place: int
    record: Any


class _Number:
    """What an outline holds in place of a number that may be close to another."""


def _outlined(record: Any, equal: Equality, typed: bool) -> tuple[Hashable, float]:
    """The outline of a record, which close records share: everything but its numbers. And the first of its numbers, or
    0.0 if it has none."""
    numbers: list[Any] = []
    outline = _outline(equal.compared(record), numbers, float if typed else (float, int, Decimal))
    try:
        return outline, float(numbers[0]) if numbers else 0.0
    except OverflowError:  # a whole number too large for a float is close to no other
        return (outline, numbers[0]), 0.0


def _outline(value: Any, numbers: list[Any], kinds: Any) -> Hashable:
    if is_numpy(value):
        value = value.tolist()
    if isinstance(value, kinds) and not isinstance(value, bool):
        if not math.isfinite(value):  # infinity and NaN are close only to themselves
            return canonical(value)
        numbers.append(value)
        return _Number
    columns = named(value)
    if columns is not None:
        # Sorted, so that the first number is that of the same column on both sides.
        return (dict, *((name, _outline(columns[name], numbers, kinds)) for name in sorted(columns)))
    if isinstance(value, Mapping):
        return dict, frozenset(map(canonical, value))  # the values are left to `equal`, as keys may have no order
    if isinstance(value, (list, tuple)):
        return (list, *(_outline(item, numbers, kinds) for item in value))
    return canonical(value)


def _unpaired(lefts: list[_Placed], rights: list[_Placed], equal: Equality) -> tuple[list[int], list[int]]:
    """The places of the records that stay without a partner in a maximum matching, on each side."""
    lefts.sort(key=lambda placed: placed.number)
    rights.sort(key=lambda placed: placed.number)
    numbers = [placed.number for placed in rights]

    def window(index: int) -> range:
        """The records on the right whose first number is close enough: only these are asked about the rest."""
        number = lefts[index].number
        reach = max(equal.abs_tol, equal.rel_tol * abs(number) / (1 - equal.rel_tol)) * (1 + 1e-9)
        return range(bisect_left(numbers, number - reach), bisect_right(numbers, number + reach))

    def close(index: int, other: int) -> bool:
        return equal.equal(lefts[index].record, rights[other].record)

    partners = _matching(len(lefts), len(rights), window, close)
    taken = set(partners.values())
    return (
        [placed.place for index, placed in enumerate(lefts) if index not in partners],
        [placed.place for index, placed in enumerate(rights) if index not in taken],
    )


def _matching(
    lefts: int, rights: int, window: Callable[[int], range], close: Callable[[int, int], bool]
) -> dict[int, int]:
    """A maximum matching: for each on the left that has a partner, its partner on the right."""
    partner_of_left: dict[int, int] = {}
    partner_of_right: dict[int, int] = {}
    # First, each takes the first partner that is free and close. Mostly that is enough. For those that are left, a path
    # is looked for along which partners can be swapped. What a search has seen in vain, later ones need not see.
    free = list(range(rights + 1))
    for index in range(lefts):
        reach = window(index)
        other = _next_free(free, reach.start)
        while other < reach.stop and not close(index, other):
            other = _next_free(free, other + 1)
        if other < reach.stop:
            partner_of_left[index], partner_of_right[other] = other, index
            free[other] = other + 1
    exhausted: set[int] = set()
    for index in range(lefts):
        if index in partner_of_left:
            continue
        came_from: dict[int, int] = {}
        end = _path(index, window, close, partner_of_right, came_from, exhausted)
        if end is None:
            exhausted |= came_from.keys()
            continue
        step: int | None = end
        while step is not None:
            mover = came_from[step]
            before = partner_of_left.get(mover)
            partner_of_left[mover], partner_of_right[step] = step, mover
            step = before
    return partner_of_left


def _path(
    start: int,
    window: Callable[[int], range],
    close: Callable[[int, int], bool],
    partner_of_right: Mapping[int, int],
    came_from: dict[int, int],
    exhausted: set[int],
) -> int | None:
    """A free place on the right that a record on the left can reach by swapping partners; None where there is none."""
    waiting = deque([start])
    while waiting:
        index = waiting.popleft()
        for other in window(index):
            if other in came_from or other in exhausted or not close(index, other):
                continue
            came_from[other] = index
            if other not in partner_of_right:
                return other
            waiting.append(partner_of_right[other])
    return None


def _next_free(free: list[int], start: int) -> int:
    """The first free place from `start` on. The way there is shortened for the next search."""
    end = start
    while free[end] != end:
        end = free[end]
    while free[start] != end:
        free[start], start = end, free[start]
    return end
