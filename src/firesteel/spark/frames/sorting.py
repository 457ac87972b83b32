"""Is a large batch sorted? Executors look at its partitions one by one, and the driver at where partitions meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from firesteel.values.batches import key_of, sort_key
from firesteel.values.checks import Check, out_of_order
from firesteel.values.records import Record


@dataclass(frozen=True)
class Edges:
    """A partition up to its first record that is out of order."""

    partition: int
    first: Record
    last: Record
    count: int
    """How many records come before the one that is out of order."""
    broken: Record | None
    """The record that is out of order, if there is one."""


def edges(make: Callable[[Any], Record], columns: Sequence[str]) -> Callable[[int, Iterable[Any]], Iterator[Edges]]:
    """A function of a partition's number and rows that gives its edges, or nothing if it is empty."""

    def found(partition: int, rows: Iterable[Any]) -> Iterator[Edges]:
        first = last = None
        count = 0
        for record in map(make, rows):
            if first is None or last is None:
                first = record
            elif _falls(last, record, columns):
                yield Edges(partition, first, last, count, record)
                return
            last, count = record, count + 1
        if first is not None and last is not None:
            yield Edges(partition, first, last, count, None)

    return found


def check(partitions: Iterable[Edges], columns: Sequence[str]) -> Check:
    """Are the records of all partitions in order?"""
    before, index = None, 0
    for each in sorted(partitions, key=lambda each: each.partition):
        if before is not None and _falls(before, each.first, columns):
            return out_of_order(index, columns, (before, each.first))
        before, index = each.last, index + each.count
        if each.broken is not None:
            return out_of_order(index, columns, (each.last, each.broken))
    return Check(True)


def _falls(before: Record, after: Record, columns: Sequence[str]) -> bool:
    return bool(sort_key(key_of(after, columns)) < sort_key(key_of(before, columns)))
