"""Perturbations: changes to how Spark runs a program that must not change what it means.

A perturbation is a named value, such as `partitions(1, 2, 7)`. It yields a few concrete `Variant`s, always the same
ones; each says exactly what is changed in one run, and reads as evidence: "7 partitions", "restart after batch 1".
What each kind of change does is in `firesteel.perturb.changes`. Nothing here knows Spark:
`firesteel.spark.perturb.perturbed` runs a case under a variant.
"""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.errors import InvalidArgument, described
from firesteel.perturb.changes import (
    NOTHING,
    AdaptiveExecution,
    BatchBoundaries,
    Change,
    Given,
    Partitions,
    ReplayedBatch,
    Restart,
    RowOrder,
    ShuffleOrder,
    ShufflePartitions,
)
from firesteel.perturb.changes import Order as Order
from firesteel.perturb.changes import Variant as Variant
from firesteel.values.dependence import Dependence, require_dependence

__all__ = [
    "Perturbation",
    "Variant",
    "adaptive_execution",
    "batch_boundaries",
    "partitions",
    "replayed_batch",
    "restart",
    "row_order",
    "shuffle_order",
    "shuffle_partitions",
]


@dataclass(frozen=True, repr=False)
class Perturbation:
    """A change that must not matter: made by the functions of this module, joined by `&` to apply two at once.

    >>> partitions(1, 2, 7)
    partitions(1, 2, 7)
    >>> both = partitions(4) & shuffle_order()
    >>> both
    partitions(4) & shuffle_order()
    >>> print(*both.variants(length=5), sep="; ")
    4 partitions, shuffle order reversed; 4 partitions, shuffle order of seed 1; 4 partitions, shuffle order of seed 2
    """

    calls: tuple[tuple[type[Change], Given], ...]
    """The kinds of change, each with what the user wrote for it."""

    def variants(self, length: int) -> tuple[Variant, ...]:
        """The few ways in which it changes a run of `length` batches, always the same ones; none where it cannot.

        >>> print(*restart().variants(length=5), sep="; ")
        restart after batch 2; restart after batch 0; restart after batch 3
        >>> restart().variants(length=1)
        ()
        """
        found = [kind.tried(length, given) for kind, given in self.calls]
        if not all(found):
            return ()
        # Not all pairs: the first of each kind together, then the second, until every change has had its turn.
        rounds = range(max(map(len, found)))
        return tuple(Variant(*(changes[turn % len(changes)] for changes in found)) for turn in rounds)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what it changes.

        >>> (partitions(4) & shuffle_order()).names
        ('partitions', 'shuffle_order')
        """
        return tuple(kind.name for kind, _ in self.calls)

    def __and__(self, other: Perturbation) -> Perturbation:
        if not isinstance(other, Perturbation):
            return NotImplemented
        twice = next((name for name in self.names if name in other.names), None)
        if twice is not None:
            raise InvalidArgument(
                f"{self!r} & {other!r} is not possible: one run has one {twice}; give both to under=[...] instead"
            )
        return Perturbation(self.calls + other.calls)

    def __repr__(self) -> str:
        return " & ".join(f"{kind.name}({given})" for kind, given in self.calls)


def partitions(*counts: int) -> Perturbation:
    """Every input batch is cut into this many partitions, of consecutive rows.

    Breaks what depends on a row's partition, or place in it: `spark_partition_id`, `monotonically_increasing_id`,
    functions of a whole partition.

    >>> print(*partitions(1, 2, 7).variants(length=3), sep="; ")
    1 partition; 2 partitions; 7 partitions
    """
    return _counting(Partitions, counts)


def row_order(*, keeping: Dependence | None = None) -> Perturbation:
    """The rows of every input batch come in another order; with several partitions, in others of them as well.

    Breaks what takes the first row, or any: `first`, `collect_list`, `dropDuplicates` that keeps other columns.

    >>> print(*row_order().variants(length=3), sep="; ")
    rows reversed; rows shuffled by seed 1; rows shuffled by seed 2

    `keeping` is the order that the source keeps, such as `fs.same_key("taxi")` for a topic of Kafka with that key. Rows
    that depend on each other stay in order then, and a program may rely on it.

    >>> import firesteel as fs
    >>> from firesteel.values.cases import Case
    >>> rides = Case(fs.Stream("taxi INT, at INT", [[(1, 1), (2, 2), (1, 3), (2, 4)]]))
    >>> row_order(keeping=fs.same_key("taxi")).variants(1)[0].applied(rides)["input"]
    Stream('taxi INT, at INT', [[(2, 2), (2, 4), (1, 1), (1, 3)]])
    """
    return _keeping(RowOrder, keeping)


def batch_boundaries(*, keeping: Dependence | None = None) -> Perturbation:
    """The same records, in the same order, come in other micro-batches: in one, or in smaller or larger ones.

    Breaks what knows only its batch: counts of a batch, functions that keep nothing from one batch to the next.
    A late record may be in time in another batch: give event time that is in order, or a watermark that waits.

    >>> print(*batch_boundaries().variants(length=3), sep="; ")
    all in one batch; every batch halved; every two batches joined

    These three keep the order of all records. `keeping` says that the source keeps only some of it: with
    `fs.same_key("taxi")` a record may come later than one of another taxi that was sent after it, as from partitions
    of Kafka that are read at different speeds. Then one more is tried: every second group of records that depend on
    each other comes one batch later. No record overtakes one that it depends on.

    >>> import firesteel as fs
    >>> from firesteel.values.cases import Case
    >>> rides = Case(fs.Stream("taxi INT", [[(1,), (2,)], [(1,), (2,)]]))
    >>> uneven = batch_boundaries(keeping=fs.same_key("taxi")).variants(length=2)[-1]
    >>> print(uneven)
    some records a batch later, keeping same_key('taxi')
    >>> uneven.applied(rides)["input"]
    Stream('taxi INT', [[(1,)], [(2,), (1,)], [(2,)]])
    """
    return _keeping(BatchBoundaries, keeping)


def shuffle_partitions(*counts: int) -> Perturbation:
    """Shuffles that do not say otherwise have this many partitions (`spark.sql.shuffle.partitions`).

    Breaks what is done for every partition after a shuffle.

    >>> print(*shuffle_partitions(1, 5).variants(length=3), sep="; ")
    1 shuffle partition; 5 shuffle partitions
    """
    return _counting(ShufflePartitions, counts)


def adaptive_execution() -> Perturbation:
    """Spark may change the plan while it runs, and join small partitions after a shuffle, or it may not.

    Spark leaves it out of streaming queries with state.

    >>> print(*adaptive_execution().variants(length=3), sep="; ")
    adaptive execution on; adaptive execution off
    """
    return Perturbation(((AdaptiveExecution, NOTHING),))


def shuffle_order(*, keeping: Dependence | None = None) -> Perturbation:
    """The outputs of map tasks arrive in another order, as they do on a cluster; Spark alone never shows it locally.

    Each output's own rows stay in order: where one task wrote them all, nothing changes. Breaks what relies on the
    order of rows after a shuffle.

    >>> print(*shuffle_order().variants(length=3), sep="; ")
    shuffle order reversed; shuffle order of seed 1; shuffle order of seed 2

    `keeping` is the order that the source keeps. A source keeps an order by reading the records that have it from one
    partition; a topic of Kafka has every key in one. So records of a batch that depend on each other, directly or
    through others, are moved into one partition of the input: the first shuffle leaves them in order, as it does on a
    cluster. Later shuffles promise nothing, there as here: after `repartition` by another column the order is lost.

    >>> import firesteel as fs
    >>> from firesteel.values.cases import Case
    >>> rides = fs.Batch([(1, 1), (2, 2), (1, 3)], schema="taxi INT, at INT", partitions=[2, 1])
    >>> kept = shuffle_order(keeping=fs.same_key("taxi")).variants(1)[0].applied(Case(fs.Stream(None, [rides])))
    >>> kept["input"][0].partitions, kept["input"][0].values("at")
    ((3, 0), [1, 2, 3])
    """
    return _keeping(ShuffleOrder, keeping)


def restart() -> Perturbation:
    """The query is stopped in the middle, and started anew from its checkpoint; the subject is called again.

    Breaks what keeps state in memory that is not Spark's.

    >>> print(*restart().variants(length=3), sep="; ")
    restart after batch 1; restart after batch 0
    """
    return Perturbation(((Restart, NOTHING),))


def replayed_batch() -> Perturbation:
    """A batch is run again, as after a crash between its output and its commit; its second output counts.

    Breaks what does not do the same thing twice: random values, the time of day, effects elsewhere.

    >>> print(*replayed_batch().variants(length=3), sep="; ")
    batch 1 replayed; batch 2 replayed; batch 0 replayed
    """
    return Perturbation(((ReplayedBatch, NOTHING),))


def _keeping(kind: type[Change], keeping: Dependence | None) -> Perturbation:
    return Perturbation(((kind, Given(keeping=None if keeping is None else require_dependence(keeping, "keeping"))),))


def _counting(kind: type[Change], counts: tuple[int, ...]) -> Perturbation:
    name = kind.name
    if not counts:
        raise InvalidArgument(f"{name}() changes nothing: write how many, such as {name}(1, 2, 7)")
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InvalidArgument(
                f"{described('counts', count)} of {name} is not a number of partitions: write whole numbers from 1, "
                f"such as {name}(1, 2, 7)"
            )
    return Perturbation(((kind, Given(tuple(dict.fromkeys(counts)))),))
