"""Equivalence by its definition, over all bijections. Shares no code with firesteel.

Two finite sequences are equivalent if some bijection between them maps every element to an equal one and keeps the
logical order both ways. Two prefixes are refuted if no continuation of both makes them equivalent. It is enough to try,
as continuation of each, the subsequences of the other: if f is a bijection for any continuation, then the elements that
it pairs among the prefixes are closed downwards, and each of the others is independent of all others on the other
side; so each prefix followed by the other's unpaired elements, in their order, is equivalent too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

Relation = Callable[[Any, Any], bool]


def precedes(sequence: Sequence[Any], dependent: Relation) -> list[list[bool]]:
    """precedes[i][j]: does element i come before element j logically? The transitive closure, as defined."""
    size = len(sequence)
    before = [[i < j and dependent(sequence[i], sequence[j]) for j in range(size)] for i in range(size)]
    for k in range(size):
        for i in range(size):
            for j in range(size):
                before[i][j] = before[i][j] or (before[i][k] and before[k][j])
    return before


def bijections(left: Sequence[Any], right: Sequence[Any], equal: Relation) -> Iterator[list[int]]:
    """All bijections that map equal to equal."""

    def extend(chosen: list[int]) -> Iterator[list[int]]:
        if len(chosen) == len(left):
            yield chosen
            return
        for j in range(len(right)):
            if j not in chosen and equal(left[len(chosen)], right[j]):
                yield from extend([*chosen, j])

    if len(left) == len(right):
        yield from extend([])


def equivalent(left: Sequence[Any], right: Sequence[Any], equal: Relation, dependent: Relation) -> bool:
    if len(left) != len(right):
        return False
    before_left, before_right = precedes(left, dependent), precedes(right, dependent)
    size = range(len(left))
    return any(
        all(before_left[i][j] == before_right[f[i]][f[j]] for i in size for j in size)
        for f in bijections(left, right, equal)
    )


def subsequences(sequence: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    for size in range(len(sequence) + 1):
        for places in combinations(range(len(sequence)), size):
            yield tuple(sequence[place] for place in places)


def refuted(left: Sequence[Any], right: Sequence[Any], equal: Relation, dependent: Relation) -> bool:
    """Can no continuation of both make them equivalent?"""
    return not any(
        equivalent([*left, *more_left], [*right, *more_right], equal, dependent)
        for more_left in subsequences(right)
        for more_right in subsequences(left)
        if len(left) + len(more_left) == len(right) + len(more_right)
    )
