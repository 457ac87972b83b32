"""Records of two sides that are close, paired: as many as possible.

With tolerances there are no classes of equal records, so partners have to be chosen (a maximum matching). Records that
are exactly equal are paired first. Then each of the others takes a partner that is free. For those that are left, paths
are looked for along which partners can be swapped. On such a path nobody who had a partner loses it. So what is left
over in the end has no exact equal, unless all of these are needed.

Which records may be close is told by a few of their numbers: one by which the right side is sorted, and up to two by
which it is put into cells.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from firesteel.values.equality import Equality
from firesteel.values.records import canonical

# A few records tell which numbers tell records apart; and so few records need not be told apart.
_SAMPLE = 256
_FEW = 8
_AXES = 3


@dataclass(frozen=True)
class Placed:
    """A record with its place on its side, and its numbers: those of close records are close, one by one."""

    numbers: tuple[float, ...]
    place: int
    record: Any


def unpaired(lefts: Sequence[Placed], rights: Sequence[Placed], equal: Equality) -> tuple[list[int], list[int]]:
    """The places of the records that stay without a partner, on each side. All have the same number of numbers.

    >>> from firesteel.values.equality import equality
    >>> one, other = Placed((1.0,), 0, 1.0), Placed((0.95,), 0, 0.95)
    >>> unpaired([one], [other, Placed((1.0,), 1, 1.0)], equality(abs_tol=0.1))
    ([], [0])
    """
    if not lefts or not rights:
        return [placed.place for placed in lefts], [placed.place for placed in rights]
    near = _Near(lefts, rights, equal)
    pairs = _Pairs(near)
    pairs.take_equals(lefts, equal)
    pairs.take_free()
    while pairs.swap():
        pass
    taken = {near.rights[other].place for other in pairs.of_right}
    return (
        [placed.place for index, placed in enumerate(lefts) if index not in pairs.of_left],
        [placed.place for placed in rights if placed.place not in taken],
    )


# --- who may be close -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reach:
    """How far from a number the numbers can be that are close to it. A little more counts, as floats are rounded."""

    rel_tol: float
    abs_tol: float

    def up(self, number: float) -> float:
        """It never falls when the number grows: cells rely on that."""
        share = self.rel_tol / (1 - self.rel_tol) if number > 0 else self.rel_tol
        return math.nextafter(number + max(self.abs_tol, share * abs(number)) * (1 + 1e-9), math.inf)

    def down(self, number: float) -> float:
        return -self.up(-number)

    def cells(self, numbers: Sequence[float]) -> list[float]:
        """Where cells begin, so that a number is close only to numbers of its own cell and of those beside it."""
        begins: list[float] = []
        end = -math.inf
        for number in sorted(numbers):
            if number > end:
                begins.append(number)
                end = self.up(number)
        return begins


_Cell: TypeAlias = tuple[int, ...]


class _Near:
    """The records on the right, in an order in which those that may be close to a record stand together."""

    def __init__(self, lefts: Sequence[Placed], rights: Sequence[Placed], equal: Equality) -> None:
        self._lefts, self._equal = lefts, equal
        self._reach = _Reach(equal.rel_tol, equal.abs_tol)
        axes = _telling(lefts, rights, self._reach)
        self._main, self._others = axes[0] if axes else None, axes[1:]
        self._begins = {
            axis: self._reach.cells([placed.numbers[axis] for side in (lefts, rights) for placed in side])
            for axis in self._others
        }
        cells = sorted(((self._cell(placed), self._number(placed), at) for at, placed in enumerate(rights)))
        self.rights = [rights[at] for _, _, at in cells]
        self._numbers = [number for _, number, _ in cells]
        self._bounds: dict[_Cell, tuple[int, int]] = {}
        for at, (cell, _, _) in enumerate(cells):
            self._bounds[cell] = self._bounds.get(cell, (at,))[0], at + 1

    def _cell(self, placed: Placed) -> _Cell:
        return tuple(bisect_right(self._begins[axis], placed.numbers[axis]) - 1 for axis in self._others)

    def _number(self, placed: Placed) -> float:
        return 0.0 if self._main is None else placed.numbers[self._main]

    def lefts_in_order(self) -> list[int]:
        """The records on the left, by index, in the order of the number by which the right side is sorted."""
        return sorted(range(len(self._lefts)), key=lambda index: self._number(self._lefts[index]))

    def windows(self, index: int) -> Iterator[tuple[int, int]]:
        """Where those stand that may be close to a record on the left."""
        number = self._number(self._lefts[index])
        low, high = self._reach.down(number), self._reach.up(number)
        for cell in product(*((at - 1, at, at + 1) for at in self._cell(self._lefts[index]))):
            bounds = self._bounds.get(cell)
            if bounds is not None:
                start = bisect_left(self._numbers, low, *bounds)
                yield start, bisect_right(self._numbers, high, start, bounds[1])

    def close(self, index: int, other: int) -> bool:
        return self._equal.equal(self._lefts[index].record, self.rights[other].record)


def _telling(lefts: Sequence[Placed], rights: Sequence[Placed], reach: _Reach) -> tuple[int, ...]:
    """The numbers that tell records apart best, by their index: the first alone, the next beside it, and so on."""
    count = len(lefts[0].numbers)
    if count < 2 or min(len(lefts), len(rights)) <= _FEW:
        return tuple(range(count))[:1]
    both = [*lefts, *rights]
    sample = [both[at].numbers for at in range(0, len(both), -(-len(both) // _SAMPLE))]
    columns = []
    for axis in range(count):
        begins = reach.cells([numbers[axis] for numbers in sample])
        columns.append([bisect_right(begins, numbers[axis]) for numbers in sample])
    axes: list[int] = []
    parts: list[_Cell] = [() for _ in sample]
    while len(axes) < _AXES:
        told = [len(set(zip(parts, column, strict=True))) for column in columns]
        best = max(range(count), key=told.__getitem__)
        if told[best] == len(set(parts)):
            break
        axes.append(best)
        parts = [(*part, cell) for part, cell in zip(parts, columns[best], strict=True)]
    return tuple(axes) or (0,)


# --- who is paired with whom ----------------------------------------------------------------------


class _Pairs:
    """Partners, by index on the left and by index in the order of `_Near` on the right."""

    def __init__(self, near: _Near) -> None:
        self._near = near
        self.of_left: dict[int, int] = {}
        self.of_right: dict[int, int] = {}

    def _pair(self, index: int, other: int) -> None:
        self.of_left[index], self.of_right[other] = other, index

    def take_equals(self, lefts: Sequence[Placed], equal: Equality) -> None:
        """Everybody who has an exact equal takes it."""
        waiting: dict[Hashable, deque[int]] = {}
        for other, placed in enumerate(self._near.rights):
            waiting.setdefault(canonical(equal.compared(placed.record)), deque()).append(other)
        for index, placed in enumerate(lefts):
            equals = waiting.get(canonical(equal.compared(placed.record)))
            if equals:
                self._pair(index, equals.popleft())

    def take_free(self) -> None:
        """Everybody takes the first who is free and close, in the order of a number. Mostly that is enough."""
        free = _Rest(len(self._near.rights))
        for other in self.of_right:
            free.remove(other)
        for index in self._near.lefts_in_order():
            if index not in self.of_left:
                for other in self._close(index, free):
                    self._pair(index, other)
                    free.remove(other)
                    break

    def swap(self) -> bool:
        """Look for paths from those without a partner, all at once, so that nobody is looked at twice. Is any found?"""
        unseen = _Rest(len(self._near.rights))
        came_from: dict[int, int] = {}
        began = {index: index for index in self._near.lefts_in_order() if index not in self.of_left}
        waiting, done = deque(began), set[int]()
        while waiting:
            index = waiting.popleft()
            if began[index] in done:
                continue
            for other in self._close(index, unseen):
                unseen.remove(other)
                came_from[other] = index
                mover = self.of_right.get(other)
                if mover is None:
                    done.add(began[index])
                    self._move(other, came_from)
                    break
                began[mover] = began[index]
                waiting.append(mover)
        return bool(done)

    def _move(self, end: int, came_from: dict[int, int]) -> None:
        """Everybody on a path takes the next partner."""
        step: int | None = end
        while step is not None:
            mover = came_from[step]
            before = self.of_left.get(mover)
            self._pair(mover, step)
            step = before

    def _close(self, index: int, among: _Rest) -> Iterator[int]:
        """Those on the right, of the rest, that are close to one on the left."""
        close: Callable[[int, int], bool] = self._near.close
        for start, stop in self._near.windows(index):
            other = among.first(start)
            while other < stop:
                if close(index, other):
                    yield other
                other = among.first(other + 1)


class _Rest:
    """Numbers from 0 on, of which some are taken away. The first that is left is found without a walk."""

    def __init__(self, size: int) -> None:
        self._next = list(range(size + 1))

    def remove(self, number: int) -> None:
        self._next[number] = number + 1

    def first(self, start: int) -> int:
        """The first that is left from `start` on. The way there is shortened for the next search."""
        end = start
        while self._next[end] != end:
            end = self._next[end]
        while self._next[start] != end:
            self._next[start], start = end, self._next[start]
        return end
