"""What changes do to the records of a case before it is fed: other batches, other orders, other partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from firesteel.values.batches import Batch, make_batch, together
from firesteel.values.cases import Case
from firesteel.values.dependence import Dependence
from firesteel.values.orders import Orders
from firesteel.values.streams import Stream, make_stream

Piece: TypeAlias = tuple[int, int, int]
"""A part of a batch: the batch's index, the part's index, and the number of parts."""


def ends(size: int, parts: int) -> list[int]:
    """Where parts of consecutive rows begin and end; their sizes differ by one row at the most.

    >>> ends(10, 4), ends(1, 3)
    ([0, 2, 5, 7, 10], [0, 0, 0, 1])
    """
    return [size * part // parts for part in range(parts + 1)]


def with_each_batch(case: Case, change: Callable[[Batch, int], Batch]) -> Case:
    """The case with every batch changed; the function is told the batch's index."""

    def changed(stream: Stream) -> Stream:
        batches = (change(batch, index) for index, batch in enumerate(stream))
        return make_stream(batches, stream.schema, stream.span)

    return case.with_each(changed)


def regrouped(stream: Stream, groups: Sequence[Sequence[Piece]]) -> Iterator[Batch]:
    """The stream's records in other batches, each made of pieces of the batches that there are."""
    for pieces in groups:
        parts = [make_batch((), stream.schema)]
        for index, part, of in pieces:
            if index < len(stream):
                cuts = ends(len(stream[index]), of)
                parts.append(stream[index] if of == 1 else stream[index][cuts[part] : cuts[part + 1]])
        yield together(parts)


def uneven(stream: Stream, keeping: Dependence) -> Stream:
    """Every second group of records that depend on each other comes one batch later, after what came by then."""
    records = [record for batch in stream for record in batch.records]
    groups = Orders(records, keeping).groups()
    late = {place for group in groups[1::2] for place in group}
    if not late:
        return stream
    batches: list[list[Any]] = [[] for _ in range(len(stream) + 1)]
    place = 0
    for index, batch in enumerate(stream):
        for record in batch.records:
            batches[index + (place in late)].append(record)
            place += 1
    return make_stream((make_batch(batch, stream.schema) for batch in batches), stream.schema, stream.span)


def unsplit(batch: Batch, keeping: Dependence) -> Batch:
    """The batch with all records that depend on each other in one partition: where the first of them is."""
    if batch.partitions is None or len(batch.partitions) < 2:
        return batch
    partition_of = [number for number, size in enumerate(batch.partitions) for _ in range(size)]
    for group in Orders(batch.records, keeping).groups():
        for place in group:
            partition_of[place] = partition_of[group[0]]
    places = sorted(range(len(batch)), key=lambda place: partition_of[place])
    sizes = Counter(partition_of)
    return make_batch(
        [batch.records[place] for place in places],
        batch.schema,
        tuple(sizes[number] for number in range(len(batch.partitions))),
    )
