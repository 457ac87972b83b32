"""Perturbations: changes to how Spark runs a program that must not change what it means.

A perturbation is a named value, such as `partitions(1, 2, 7)`. It yields a few concrete `Variant`s, always the same
ones; each says exactly what is changed in one run, and reads as evidence: "7 partitions", "restart after batch 1".
Nothing here knows Spark: `firesteel.spark.perturb.perturbed` runs a case under a variant.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, Literal, TypeAlias, get_args

from firesteel.errors import InvalidArgument, described
from firesteel.names import counted

Order: TypeAlias = Literal["reversed"] | int
"""Another order: back to front, or shuffled by a seed."""
Cuts: TypeAlias = Literal["one", "halved", "paired"]
"""Other micro-batches: all in one, every batch in two, every two in one."""
Piece: TypeAlias = tuple[int, int, int]
"""Of which batch, which part of how many."""


@dataclass(frozen=True, repr=False)
class Variant:
    """What is changed in one run; a field that is None is left as it is.

    >>> variant = Variant(partitions=7, shuffle_order=1)
    >>> variant
    Variant(partitions=7, shuffle_order=1)
    >>> print(variant)
    7 partitions, shuffle order of seed 1
    """

    partitions: int | None = None
    """The number of partitions that every input batch is cut into, of consecutive rows."""
    row_order: Order | None = None
    """The order of the rows of every input batch; partitions keep their sizes."""
    batch_boundaries: Cuts | None = None
    """Where the same records, in the same order, are cut into batches."""
    shuffle_partitions: int | None = None
    """Spark's setting: the number of partitions after a shuffle that does not say."""
    adaptive_execution: bool | None = None
    """Spark's setting: are plans changed while they run?"""
    shuffle_order: Order | None = None
    """The order in which the outputs of map tasks arrive at every task that reads them."""
    restart: int | None = None
    """The query is stopped after this batch, and started anew from its checkpoint."""
    replayed_batch: int | None = None
    """This batch is run again, as after a crash between its output and its commit."""

    @property
    def changes(self) -> dict[str, Any]:
        """What is changed, by the name of the perturbation.

        >>> Variant(restart=1).changes
        {'restart': 1}
        """
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in found.items() if value is not None}

    def __repr__(self) -> str:
        return f"Variant({', '.join(f'{name}={value!r}' for name, value in self.changes.items())})"

    def __str__(self) -> str:
        return ", ".join(_WORDS[name](value) for name, value in self.changes.items()) or "nothing changed"

    def __and__(self, other: Variant) -> Variant:
        if not isinstance(other, Variant):
            return NotImplemented
        return Variant(**self.changes, **other.changes)

    def rows(self, size: int, batch: int) -> Sequence[int]:
        """The order that the rows of a batch are put in: their places before.

        >>> Variant(row_order="reversed").rows(3, batch=0), Variant().rows(3, batch=0)
        ([2, 1, 0], [0, 1, 2])
        """
        places = list(range(size))
        match self.row_order:
            case "reversed":
                places.reverse()
            case int(seed):
                # A batch's own numbers: else all batches of one size were changed in the same way.
                random.Random(f"{seed} {batch}").shuffle(places)
            case None:
                pass
        return places

    def batches(self, sizes: Sequence[int]) -> list[list[Piece]]:
        """The batches that are made of those that there are: the pieces of each.

        `sizes` are those of the largest input: all inputs are cut at the same batches.

        >>> Variant(batch_boundaries="paired").batches([1, 1, 1])
        [[(0, 0, 1), (1, 0, 1)], [(2, 0, 1)]]
        >>> Variant(batch_boundaries="halved").batches([5, 1])
        [[(0, 0, 2)], [(0, 1, 2)], [(1, 0, 1)]]
        """
        whole = [(batch, 0, 1) for batch in range(len(sizes))]
        match self.batch_boundaries:
            case "one":
                return [whole] if whole else []
            case "paired":
                return [whole[batch : batch + 2] for batch in range(0, len(whole), 2)]
            case "halved":
                parts = [2 if size > 1 else 1 for size in sizes]
                return [[(batch, part, of)] for batch, of in enumerate(parts) for part in range(of)]
            case None:
                return [[piece] for piece in whole]


def ends(size: int, parts: int) -> list[int]:
    """Where so many parts of consecutive rows begin and end, each as large as the next, but for one row.

    >>> ends(10, 4), ends(1, 3)
    ([0, 2, 5, 7, 10], [0, 0, 0, 1])
    """
    return [size * part // parts for part in range(parts + 1)]


_WORDS: dict[str, Callable[[Any], str]] = {
    "partitions": lambda count: counted(count, "partition"),
    "row_order": lambda order: "rows reversed" if order == "reversed" else f"rows shuffled by seed {order}",
    "batch_boundaries": {
        "one": "all in one batch",
        "halved": "every batch halved",
        "paired": "every two batches joined",
    }.__getitem__,
    "shuffle_partitions": lambda count: counted(count, "shuffle partition"),
    "adaptive_execution": lambda on: f"adaptive execution {'on' if on else 'off'}",
    "shuffle_order": lambda order: f"shuffle order {'reversed' if order == 'reversed' else f'of seed {order}'}",
    "restart": lambda batch: f"restart after batch {batch}",
    "replayed_batch": lambda batch: f"batch {batch} replayed",
}


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

    calls: tuple[tuple[str, tuple[int, ...]], ...]
    """The functions that made it, with their arguments."""

    def variants(self, length: int) -> tuple[Variant, ...]:
        """The few ways in which it changes a run of so many batches, always the same ones; none where it cannot.

        >>> print(*restart().variants(length=5), sep="; ")
        restart after batch 2; restart after batch 0; restart after batch 3
        >>> restart().variants(length=1)
        ()
        """
        found = [_VARIANTS[name](counts, length) for name, counts in self.calls]
        if not all(found):
            return ()
        # Not all pairs: the first of the one with the first of the other, until each was there.
        rounds = range(max(map(len, found)))
        return tuple(reduce(Variant.__and__, (part[turn % len(part)] for part in found)) for turn in rounds)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what it changes.

        >>> (partitions(4) & shuffle_order()).names
        ('partitions', 'shuffle_order')
        """
        return tuple(name for name, _ in self.calls)

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
        return " & ".join(f"{name}({', '.join(map(str, counts))})" for name, counts in self.calls)


def partitions(*counts: int) -> Perturbation:
    """Every input batch is cut into so many partitions, of consecutive rows.

    Breaks what depends on a row's partition, or place in it: `spark_partition_id`, `monotonically_increasing_id`,
    functions of a whole partition.

    >>> print(*partitions(1, 2, 7).variants(length=3), sep="; ")
    1 partition; 2 partitions; 7 partitions
    """
    return _counting("partitions", counts)


def row_order() -> Perturbation:
    """The rows of every input batch come in another order; with several partitions, in others of them as well.

    Breaks what takes the first row, or any: `first`, `collect_list`, `dropDuplicates` that keeps other columns.

    >>> print(*row_order().variants(length=3), sep="; ")
    rows reversed; rows shuffled by seed 1; rows shuffled by seed 2
    """
    return Perturbation((("row_order", ()),))


def batch_boundaries() -> Perturbation:
    """The same records, in the same order, come in other micro-batches: in one, or in smaller or larger ones.

    Breaks what knows only its batch: counts of a batch, functions that keep nothing from one batch to the next.
    A late record may be in time in another batch: give event time that is in order, or a watermark that waits.

    >>> print(*batch_boundaries().variants(length=3), sep="; ")
    all in one batch; every batch halved; every two batches joined
    """
    return Perturbation((("batch_boundaries", ()),))


def shuffle_partitions(*counts: int) -> Perturbation:
    """Shuffles that do not say otherwise have so many partitions (`spark.sql.shuffle.partitions`).

    Breaks what is done for every partition after a shuffle.

    >>> print(*shuffle_partitions(1, 5).variants(length=3), sep="; ")
    1 shuffle partition; 5 shuffle partitions
    """
    return _counting("shuffle_partitions", counts)


def adaptive_execution() -> Perturbation:
    """Spark may change the plan while it runs, and join small partitions after a shuffle, or it may not.

    Spark leaves it out of streaming queries with state.

    >>> print(*adaptive_execution().variants(length=3), sep="; ")
    adaptive execution on; adaptive execution off
    """
    return Perturbation((("adaptive_execution", ()),))


def shuffle_order() -> Perturbation:
    """The outputs of map tasks arrive in another order, as they do on a cluster; Spark alone never shows it locally.

    Each output's own rows stay in order: where one task wrote them all, nothing changes. Breaks what relies on the
    order of rows after a shuffle.

    >>> print(*shuffle_order().variants(length=3), sep="; ")
    shuffle order reversed; shuffle order of seed 1; shuffle order of seed 2
    """
    return Perturbation((("shuffle_order", ()),))


def restart() -> Perturbation:
    """The query is stopped in the middle, and started anew from its checkpoint; the subject is called again.

    Breaks what keeps state in memory that is not Spark's.

    >>> print(*restart().variants(length=3), sep="; ")
    restart after batch 1; restart after batch 0
    """
    return Perturbation((("restart", ()),))


def replayed_batch() -> Perturbation:
    """A batch is run again, as after a crash between its output and its commit; its second output counts.

    Breaks what does not do the same thing twice: random values, the time of day, effects elsewhere.

    >>> print(*replayed_batch().variants(length=3), sep="; ")
    batch 1 replayed; batch 2 replayed; batch 0 replayed
    """
    return Perturbation((("replayed_batch", ()),))


def _counting(name: str, counts: tuple[int, ...]) -> Perturbation:
    if not counts:
        raise InvalidArgument(f"{name}() changes nothing: write how many, such as {name}(1, 2, 7)")
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InvalidArgument(
                f"{described('counts', count)} of {name} is no number of partitions: write whole numbers from 1, "
                f"such as {name}(1, 2, 7)"
            )
    return Perturbation(((name, tuple(dict.fromkeys(counts))),))


def _cuts(length: int) -> list[Cuts]:
    """Those that differ from each other and from what there is."""
    return [cut for cut in get_args(Cuts) if {"one": length > 1, "halved": length > 0, "paired": length > 2}[cut]]


def _orders() -> list[Order]:
    return ["reversed", 1, 2]


def _distinct(numbers: Sequence[int], below: int) -> list[int]:
    return [number for number in dict.fromkeys(numbers) if 0 <= number < below]


_VARIANTS: dict[str, Callable[[tuple[int, ...], int], list[Variant]]] = {
    "partitions": lambda counts, length: [Variant(partitions=count) for count in counts],
    "row_order": lambda counts, length: [Variant(row_order=order) for order in _orders()],
    "batch_boundaries": lambda counts, length: [Variant(batch_boundaries=cut) for cut in _cuts(length)],
    "shuffle_partitions": lambda counts, length: [Variant(shuffle_partitions=count) for count in counts],
    "adaptive_execution": lambda counts, length: [Variant(adaptive_execution=on) for on in (True, False)],
    "shuffle_order": lambda counts, length: [Variant(shuffle_order=order) for order in _orders()],
    # After the last batch there is nothing left that a restart could break.
    "restart": lambda counts, length: [
        Variant(restart=batch) for batch in _distinct([(length - 1) // 2, 0, length - 2], length - 1)
    ],
    "replayed_batch": lambda counts, length: [
        Variant(replayed_batch=batch) for batch in _distinct([length // 2, length - 1, 0], length)
    ],
}
