"""What can be changed in how Spark runs a case: a class for each kind of change, and a variant of several.

A class says everything about its kind: how it reads as evidence, what it does to the input, to Spark's settings, to
shuffles and to the query, and what it needs. So a new kind is one class here and one function in `firesteel.perturb`.
Nothing here knows Spark: `firesteel.spark.perturb` and the engines apply what a change says.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import ClassVar, Literal, Self, TypeAlias, get_args

from firesteel.names import counted
from firesteel.values.batches import Batch, make_batch, together
from firesteel.values.cases import Case
from firesteel.values.streams import Stream, make_stream

Order: TypeAlias = Literal["reversed"] | int
"""Another order: back to front, or shuffled by a seed."""
Cut: TypeAlias = Literal["one", "halved", "paired"]
"""Other micro-batches: all in one, every batch in two, every two in one."""
Piece: TypeAlias = tuple[int, int, int]
"""A part of a batch: the batch's index, the part's index, and the number of parts."""


class Need(Enum):
    """What a change cannot do without. An engine says which of these it does not have, and why."""

    SEVERAL_BATCHES = "several batches"
    SETTINGS_FOR_FRAMES = "settings that Spark reads for DataFrames"
    CHECKPOINT = "a checkpoint to start again from"
    COMMITS = "commits of batches"


@dataclass(frozen=True)
class Stop:
    """The query is stopped after a batch, and started again from its checkpoint."""

    batch: int
    committed: bool
    """If not, the batch is run again: as after a crash between its output and its commit."""


# --- one change --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One change to how Spark runs a case. A kind of change overrides what it does; the rest stays as it is."""

    name: ClassVar[str]
    """The function of `firesteel.perturb` that makes it."""
    needs: ClassVar[Need | None] = None
    regroups: ClassVar[bool] = False
    """Are there other batches? Then outputs cannot be compared batch by batch."""
    alone: ClassVar[bool] = False
    """Does a case need a query of its own? What happens to the query of a bulk run happens to all cases at once."""

    @classmethod
    def tried(cls, length: int, counts: Sequence[int]) -> list[Self]:
        """The few changes of this kind that are tried on a run of `length` batches, always the same ones.

        `counts` are the numbers that the user wrote, for kinds that take some.
        """
        raise NotImplementedError

    def applied(self, case: Case) -> Case:
        """The case as it is fed."""
        return case

    @property
    def settings(self) -> Mapping[str, str]:
        """Spark's settings."""
        return {}

    @property
    def shuffle_order(self) -> Order | None:
        """The order in which the outputs of map tasks arrive at every task that reads them."""
        return None

    @property
    def stop(self) -> Stop | None:
        """Where the query is stopped."""
        return None


@dataclass(frozen=True)
class _Counted(Change):
    count: int

    @classmethod
    def tried(cls, length: int, counts: Sequence[int]) -> list[Self]:
        return [cls(count) for count in counts]


@dataclass(frozen=True)
class _Ordered(Change):
    order: Order

    @classmethod
    def tried(cls, length: int, counts: Sequence[int]) -> list[Self]:
        return [cls("reversed"), cls(1), cls(2)]


class Partitions(_Counted):
    """Every input batch is cut into this many partitions, of consecutive rows."""

    name = "partitions"

    def __str__(self) -> str:
        return counted(self.count, "partition")

    def applied(self, case: Case) -> Case:
        return _with_each_batch(case, self._parted)

    def _parted(self, batch: Batch, index: int) -> Batch:
        sizes = tuple(end - start for start, end in pairwise(ends(len(batch), self.count)))
        return make_batch(batch.records, batch.schema, sizes)


class RowOrder(_Ordered):
    """The rows of every input batch are in another order; partitions keep their sizes."""

    name = "row_order"

    def __str__(self) -> str:
        return "rows reversed" if self.order == "reversed" else f"rows shuffled by seed {self.order}"

    def applied(self, case: Case) -> Case:
        return _with_each_batch(case, self._reordered)

    def _reordered(self, batch: Batch, index: int) -> Batch:
        records = [batch.records[place] for place in self.places(len(batch), index)]
        return make_batch(records, batch.schema, batch.partitions)

    def places(self, size: int, batch: int) -> list[int]:
        """The order of a batch's rows: the place that each had before.

        >>> RowOrder("reversed").places(3, batch=0)
        [2, 1, 0]
        """
        places = list(range(size))
        if self.order == "reversed":
            places.reverse()
        else:
            # Each batch has random numbers of its own: else all batches of one size would be changed in the same way.
            random.Random(f"{self.order} {batch}").shuffle(places)
        return places


@dataclass(frozen=True)
class BatchBoundaries(Change):
    """The same records, in the same order, are cut into other batches."""

    name: ClassVar[str] = "batch_boundaries"
    needs: ClassVar[Need] = Need.SEVERAL_BATCHES
    regroups: ClassVar[bool] = True

    cut: Cut

    @classmethod
    def tried(cls, length: int, counts: Sequence[int]) -> list[Self]:
        """Those that differ from each other, and from the batches that there are."""
        differs = {"one": length > 1, "halved": length > 0, "paired": length > 2}
        return [cls(cut) for cut in get_args(Cut) if differs[cut]]

    def __str__(self) -> str:
        words = {"one": "all in one batch", "halved": "every batch halved", "paired": "every two batches joined"}
        return words[self.cut]

    def applied(self, case: Case) -> Case:
        # All inputs are cut at the same batches: those of the largest one.
        sizes = [max(map(len, case.batches_at(index).values())) for index in range(case.length)]
        groups = self.pieces(sizes)
        return case.with_each(lambda stream: make_stream(_regrouped(stream, groups), stream.schema, stream.span))

    def pieces(self, sizes: Sequence[int]) -> list[list[Piece]]:
        """The new batches, made of batches of these sizes: the pieces of each.

        >>> BatchBoundaries("paired").pieces([1, 1, 1])
        [[(0, 0, 1), (1, 0, 1)], [(2, 0, 1)]]
        >>> BatchBoundaries("halved").pieces([5, 1])
        [[(0, 0, 2)], [(0, 1, 2)], [(1, 0, 1)]]
        """
        whole = [(batch, 0, 1) for batch in range(len(sizes))]
        match self.cut:
            case "one":
                return [whole] if whole else []
            case "paired":
                return [whole[batch : batch + 2] for batch in range(0, len(whole), 2)]
            case "halved":
                parts = [2 if size > 1 else 1 for size in sizes]
                return [[(batch, part, of)] for batch, of in enumerate(parts) for part in range(of)]


class ShufflePartitions(_Counted):
    """A shuffle that does not say otherwise has this many partitions."""

    name = "shuffle_partitions"
    needs = Need.SETTINGS_FOR_FRAMES

    def __str__(self) -> str:
        return counted(self.count, "shuffle partition")

    @property
    def settings(self) -> Mapping[str, str]:
        return {"spark.sql.shuffle.partitions": str(self.count)}


@dataclass(frozen=True)
class AdaptiveExecution(Change):
    """Spark may change plans while they run, or it may not."""

    name: ClassVar[str] = "adaptive_execution"
    needs: ClassVar[Need] = Need.SETTINGS_FOR_FRAMES

    on: bool

    @classmethod
    def tried(cls, length: int, counts: Sequence[int]) -> list[Self]:
        return [cls(True), cls(False)]

    def __str__(self) -> str:
        return f"adaptive execution {'on' if self.on else 'off'}"

    @property
    def settings(self) -> Mapping[str, str]:
        if not self.on:
            return {"spark.sql.adaptive.enabled": "false"}
        return {
            "spark.sql.adaptive.enabled": "true",
            # As on a cluster with data to spare: small partitions are joined, whatever the number of cores.
            "spark.sql.adaptive.coalescePartitions.enabled": "true",
            "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
        }


class ShuffleOrder(_Ordered):
    """The outputs of map tasks arrive in another order."""

    name = "shuffle_order"

    def __str__(self) -> str:
        return f"shuffle order {'reversed' if self.order == 'reversed' else f'of seed {self.order}'}"

    @property
    def shuffle_order(self) -> Order:
        return self.order


@dataclass(frozen=True)
class Restart(Change):
    """The query is stopped after a batch, and started again from its checkpoint."""

    name: ClassVar[str] = "restart"
    needs: ClassVar[Need] = Need.CHECKPOINT
    alone: ClassVar[bool] = True

    batch: int

    @classmethod
    def tried(cls, length: int, counts: Sequence[int]) -> list[Self]:
        # After the last batch there is nothing left that a restart could break.
        return [cls(batch) for batch in _distinct([(length - 1) // 2, 0, length - 2], length - 1)]

    def __str__(self) -> str:
        return f"restart after batch {self.batch}"

    @property
    def stop(self) -> Stop:
        return Stop(self.batch, committed=True)


@dataclass(frozen=True)
class ReplayedBatch(Change):
    """A batch is run again, as after a crash between its output and its commit."""

    name: ClassVar[str] = "replayed_batch"
    needs: ClassVar[Need] = Need.COMMITS
    alone: ClassVar[bool] = True

    batch: int

    @classmethod
    def tried(cls, length: int, counts: Sequence[int]) -> list[Self]:
        return [cls(batch) for batch in _distinct([length // 2, length - 1, 0], length)]

    def __str__(self) -> str:
        return f"batch {self.batch} replayed"

    @property
    def stop(self) -> Stop:
        return Stop(self.batch, committed=False)


# --- several changes at once -------------------------------------------------------------------------


@dataclass(frozen=True, init=False, repr=False)
class Variant:
    """All that is changed in one run.

    >>> variant = Variant(Partitions(7), ShuffleOrder(1))
    >>> variant
    Variant(Partitions(count=7), ShuffleOrder(order=1))
    >>> print(variant)
    7 partitions, shuffle order of seed 1
    >>> Variant(ShufflePartitions(5), ReplayedBatch(1)).settings
    {'spark.sql.shuffle.partitions': '5'}
    """

    changes: tuple[Change, ...]

    def __init__(self, *changes: Change) -> None:
        object.__setattr__(self, "changes", changes)

    def __repr__(self) -> str:
        return f"Variant({', '.join(map(repr, self.changes))})"

    def __str__(self) -> str:
        return ", ".join(map(str, self.changes)) or "nothing changed"

    @property
    def regroups(self) -> bool:
        """Are there other batches? Then outputs cannot be compared batch by batch."""
        return any(change.regroups for change in self.changes)

    @property
    def alone(self) -> bool:
        """Does a case need a query of its own?"""
        return any(change.alone for change in self.changes)

    def applied(self, case: Case) -> Case:
        """The case as it is fed: its records in another order, in other batches, in other partitions."""
        # Batches are cut first: the order of rows and the partitions are those of the batches that are fed.
        for change in sorted(self.changes, key=lambda change: not change.regroups):
            case = change.applied(case)
        return case

    @property
    def settings(self) -> dict[str, str]:
        """Spark's settings."""
        return {name: value for change in self.changes for name, value in change.settings.items()}

    @property
    def shuffle_order(self) -> Order | None:
        """The order in which the outputs of map tasks arrive; None leaves it to Spark."""
        return next((change.shuffle_order for change in self.changes if change.shuffle_order is not None), None)

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Where the query is stopped."""
        return tuple(change.stop for change in self.changes if change.stop is not None)


UNCHANGED = Variant()


# --- batches and parts -------------------------------------------------------------------------------


def ends(size: int, parts: int) -> list[int]:
    """Where parts of consecutive rows begin and end; their sizes differ by one row at the most.

    >>> ends(10, 4), ends(1, 3)
    ([0, 2, 5, 7, 10], [0, 0, 0, 1])
    """
    return [size * part // parts for part in range(parts + 1)]


def _with_each_batch(case: Case, change: Callable[[Batch, int], Batch]) -> Case:
    """The case with every batch changed; the function is told the batch's index."""

    def changed(stream: Stream) -> Stream:
        batches = (change(batch, index) for index, batch in enumerate(stream))
        return make_stream(batches, stream.schema, stream.span)

    return case.with_each(changed)


def _regrouped(stream: Stream, groups: Sequence[Sequence[Piece]]) -> Iterator[Batch]:
    for pieces in groups:
        parts = [make_batch((), stream.schema)]
        for index, part, of in pieces:
            if index < len(stream):
                cuts = ends(len(stream[index]), of)
                parts.append(stream[index] if of == 1 else stream[index][cuts[part] : cuts[part + 1]])
        yield together(parts)


def _distinct(numbers: Sequence[int], below: int) -> list[int]:
    return [number for number in dict.fromkeys(numbers) if 0 <= number < below]
