"""The RDDs of DStreams' batches, written down as PySpark makes them.

Spark calls PySpark back for every batch, with the RDDs of a DStream, and gets the RDD of another. PySpark makes one
such function of several operations that follow each other. Each of these calls one method of the RDD that it is given,
so the results of these calls are the RDDs of the operations, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from firesteel.spark.capture.recording import Made, Node

WIDE = frozenset(
    {
        "reduceByKey",
        "combineByKey",
        "partitionBy",
        "groupByKey",
        "countByValue",
        "repartition",
        "cogroup",
        "join",
        "leftOuterJoin",
        "rightOuterJoin",
        "fullOuterJoin",
        "reduce",
        "count",
        "reduceByWindow",
        "countByWindow",
        "countByValueAndWindow",
        "groupByKeyAndWindow",
        "reduceByKeyAndWindow",
        "updateStateByKey",
    }
)
"""The operations of DStreams that move records between partitions, unless these are where they belong already."""


@dataclass
class Batch:
    """One time that Spark calls PySpark back, for one batch."""

    calls: tuple[int | None, ...]
    """The user's calls whose work it does."""
    inputs: list[Node] = field(default_factory=list)
    results: list[Node] = field(default_factory=list)
    """The RDDs that methods gave which PySpark called."""
    last: Node | None = None
    """The RDD that it gave to Spark."""
    busy: bool = False
    """Is such a method running?"""


class Batches:
    """All that Spark called back so far."""

    def __init__(self) -> None:
        self.all: list[Batch] = []
        self._chains: WeakKeyDictionary[Any, tuple[int | None, ...]] = WeakKeyDictionary()
        self._by_function: dict[int, tuple[Any, tuple[int | None, ...]]] = {}
        self._callbacks: WeakKeyDictionary[Any, tuple[int | None, ...]] = WeakKeyDictionary()

    def transformed(self, dstream: Any, previous: Any, call: int | None) -> None:
        """PySpark made a DStream that has a function of its own, or one together with those before it."""
        joined = dstream.prev is not previous
        chain = (*self._chains.get(previous, ()), call) if joined else (call,)
        self._chains[dstream] = chain
        self._by_function[id(dstream.func)] = (dstream.func, chain)

    def callback(self, made: Any, call: int | None) -> None:
        """PySpark made something for Spark to call back."""
        known = self._by_function.get(id(made.func))
        self._callbacks[made] = known[1] if known is not None else (call,)

    def begins(self, callback: Any) -> Batch:
        """Spark calls back."""
        batch = Batch(self._callbacks.get(callback, (None,)))
        self.all.append(batch)
        return batch


def nodes_of(batches: Batches, operations: list[Made], acted: Mapping[int, tuple[int, ...]]) -> dict[int, list[Node]]:
    """For each operation of DStreams the RDDs that it had. `acted` has the operations of output calls."""
    made = {one.call: one for one in operations if one.call is not None}
    found: dict[int, list[Node]] = {}
    for batch in batches.all:
        for operation, node in _told(batch, made, acted):
            found.setdefault(operation, []).append(node)
    return found


def _told(batch: Batch, made: Mapping[int, Made], acted: Mapping[int, tuple[int, ...]]) -> Iterator[tuple[int, Node]]:
    chain = [made.get(call) if call is not None else None for call in batch.calls]
    first, last = chain[0], chain[-1]
    call = batch.calls[0]
    parents = first.parents if first is not None else acted.get(call, ()) if call is not None else ()
    if len(parents) == len(batch.inputs):
        yield from zip(parents, batch.inputs, strict=True)
    elif parents and batch.inputs:
        yield parents[-1], batch.inputs[-1]  # before it comes the state of the last batch
    if last is not None and batch.last is not None:
        yield last.id, batch.last
    if len(batch.results) == len(chain):
        for one, node in zip(chain[:-1], batch.results, strict=False):
            if one is not None:
                yield one.id, node
