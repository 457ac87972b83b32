"""What can be changed in how Spark runs a case: a class for each kind of change, and a variant of several.

A class says everything about its kind: how it reads as evidence, what it does to the input, to Spark's settings, to
shuffles and to the query, and what it needs. So a new kind is one class here and one function in `firesteel.perturb`.
Nothing here knows Spark: `firesteel.spark.perturb` and the engines apply what a change says.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, TypeAlias, get_args

from firesteel.names import counted
from firesteel.perturb.change import NOTHING as NOTHING
from firesteel.perturb.change import Change as Change
from firesteel.perturb.change import Given as Given
from firesteel.perturb.change import Need as Need
from firesteel.perturb.change import Order as Order
from firesteel.perturb.change import Stop as Stop
from firesteel.perturb.feeding import Piece, ends, regrouped, uneven, unsplit, with_each_batch
from firesteel.values.batches import Batch, make_batch
from firesteel.values.cases import Case
from firesteel.values.dependence import Dependence
from firesteel.values.orders import Orders
from firesteel.values.streams import make_stream

Cut: TypeAlias = Literal["one", "halved", "paired"]
"""Other micro-batches: all in one, every batch in two, every two in one."""


@dataclass(frozen=True)
class _Counted(Change):
    count: int

    @classmethod
    def tried(cls, length: int, given: Given) -> Sequence[Change]:
        return [cls(count) for count in given.counts]


@dataclass(frozen=True)
class _Ordered(Change):
    order: Order
    keeping: Dependence | None = None
    """Records that depend on each other keep their order."""

    @classmethod
    def tried(cls, length: int, given: Given) -> Sequence[Change]:
        orders: list[Order] = ["reversed", 1, 2]
        return [cls(order, given.keeping) for order in orders]


class Partitions(_Counted):
    """Every input batch is cut into this many partitions, of consecutive rows."""

    name = "partitions"

    def __str__(self) -> str:
        return counted(self.count, "partition")

    def applied(self, case: Case) -> Case:
        return with_each_batch(case, self._parted)

    def _parted(self, batch: Batch, index: int) -> Batch:
        sizes = tuple(end - start for start, end in pairwise(ends(len(batch), self.count)))
        return make_batch(batch.records, batch.schema, sizes)


class RowOrder(_Ordered):
    """The rows of every input batch are in another order; partitions keep their sizes."""

    name = "row_order"

    def __str__(self) -> str:
        order = "rows reversed" if self.order == "reversed" else f"rows shuffled by seed {self.order}"
        return f"{order}{_kept(self.keeping)}"

    def applied(self, case: Case) -> Case:
        return with_each_batch(case, self._reordered)

    def _reordered(self, batch: Batch, index: int) -> Batch:
        if self.keeping is None:
            places = self.places(len(batch), index)
        else:
            orders = Orders(batch.records, self.keeping)
            places = orders.latest_first() if self.order == "reversed" else orders.shuffled((self.order, index))
        return make_batch([batch.records[place] for place in places], batch.schema, batch.partitions)

    def places(self, size: int, batch: int) -> list[int]:
        """The order of a batch's rows, where none has to be kept: the place that each had before.

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
    def tried(cls, length: int, given: Given) -> Sequence[Change]:
        """Those that differ from each other, and from the batches that there are."""
        differs = {"one": length > 1, "halved": length > 0, "paired": length > 2}
        uneven = [] if given.keeping is None or length == 0 else [UnevenPace(given.keeping)]
        return [*(cls(cut) for cut in get_args(Cut) if differs[cut]), *uneven]

    def __str__(self) -> str:
        words = {"one": "all in one batch", "halved": "every batch halved", "paired": "every two batches joined"}
        return words[self.cut]

    def applied(self, case: Case) -> Case:
        # All inputs are cut at the same batches: those of the largest one.
        sizes = [max(map(len, case.batches_at(index).values())) for index in range(case.length)]
        groups = self.pieces(sizes)
        return case.with_each(lambda stream: make_stream(regrouped(stream, groups), stream.schema, stream.span))

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


@dataclass(frozen=True)
class UnevenPace(Change):
    """Some records come a batch later than others, on which they do not depend."""

    name: ClassVar[str] = "batch_boundaries"
    needs: ClassVar[Need] = Need.SEVERAL_BATCHES
    regroups: ClassVar[bool] = True

    keeping: Dependence

    def __str__(self) -> str:
        return f"some records a batch later{_kept(self.keeping)}"

    def applied(self, case: Case) -> Case:
        return case.with_each(lambda stream: uneven(stream, self.keeping))


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
    def tried(cls, length: int, given: Given) -> Sequence[Change]:
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
    """The outputs of map tasks arrive in another order. Records that depend on each other come in one partition."""

    name = "shuffle_order"
    goes_by_partitions = True

    def __str__(self) -> str:
        order = "reversed" if self.order == "reversed" else f"of seed {self.order}"
        return f"shuffle order {order}{_kept(self.keeping)}"

    def applied(self, case: Case) -> Case:
        if self.keeping is None:
            return case
        keeping = self.keeping
        return with_each_batch(case, lambda batch, index: unsplit(batch, keeping))

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
    def tried(cls, length: int, given: Given) -> Sequence[Change]:
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
    def tried(cls, length: int, given: Given) -> Sequence[Change]:
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
    Variant(Partitions(count=7), ShuffleOrder(order=1, keeping=None))
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
        for change in sorted(self.changes, key=lambda change: (not change.regroups, change.goes_by_partitions)):
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


def _kept(keeping: Dependence | None) -> str:
    return "" if keeping is None else f", keeping {keeping!r}"


def _distinct(numbers: Sequence[int], below: int) -> list[int]:
    return [number for number in dict.fromkeys(numbers) if 0 <= number < below]
