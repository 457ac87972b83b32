"""Two collections of records as multisets: pair equals with equals, and see what is left over.

With tolerances "equal" makes no classes: 1.0 may equal 1.1, and 1.1 equal 1.2. Then as many records as possible are
paired (a maximum matching), so that no choice of a partner can make two equal collections look different.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from firesteel.values.equality import Equality, canonical, named


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


# --- with tolerances -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Placed:
    """A record with its place, and its first number, by which those that may be close are found."""

    number: float
    place: int
    record: Any


class _Number:
    """What stands in an outline for a number that may be close to another."""


def _outlined(record: Any, equal: Equality, typed: bool) -> tuple[Hashable, float]:
    """What close records share: all but their numbers. And the first of these, 0.0 if there is none."""
    columns = named(record) if equal.ignore else None
    if columns is not None:
        record = {name: value for name, value in columns.items() if name not in equal.ignore}
    numbers: list[Any] = []
    outline = _outline(record, numbers, float if typed else (float, int, Decimal))
    try:
        return outline, float(numbers[0]) if numbers else 0.0
    except OverflowError:  # a whole number that no float can hold equals no other
        return (outline, numbers[0]), 0.0


def _outline(value: Any, numbers: list[Any], kinds: Any) -> Hashable:
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, kinds) and not isinstance(value, bool):
        if not math.isfinite(value):  # close to itself alone
            return canonical(value)
        numbers.append(value)
        return _Number
    columns = named(value)
    if columns is not None:
        # Sorted, for the first number has to be the same column's on both sides.
        return (dict, *((name, _outline(columns[name], numbers, kinds)) for name in sorted(columns)))
    if isinstance(value, Mapping):
        return dict, frozenset(map(canonical, value))  # values are left to `equal`: keys may have no order
    if isinstance(value, (list, tuple)):
        return (list, *(_outline(item, numbers, kinds) for item in value))
    return canonical(value)


def _unpaired(lefts: list[_Placed], rights: list[_Placed], equal: Equality) -> tuple[list[int], list[int]]:
    """The places, on each side, of the records that a maximum matching leaves alone."""
    lefts.sort(key=lambda placed: placed.number)
    rights.sort(key=lambda placed: placed.number)
    numbers = [placed.number for placed in rights]

    def window(index: int) -> range:
        """The records on the right whose first number is close: `equal` then asks for the rest."""
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
    """A maximum matching: the partner on the right of everything on the left that has one."""
    partner_of_left: dict[int, int] = {}
    partner_of_right: dict[int, int] = {}
    # First, each takes the first that is free and close: almost always this is all. Then paths are looked for along
    # which partners can be changed; what a search without success has seen no later one needs to see again.
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
    """The free end, on the right, of a path of changes from a record on the left; None where there is none."""
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
    """The first that is free from `start` on; shortens the way for the next one."""
    end = start
    while free[end] != end:
        end = free[end]
    while free[start] != end:
        free[start], start = end, free[start]
    return end
