"""The rows of two DataFrames, counted together: those of the left frame count 1, those of the right one -1.

Values are brought into their forms first (`firesteel.spark.frames.forms`). Rows of the same forms are then added up,
and where the sum is not zero the frames differ. Only a few of these rows come to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.evidence.frames import Odd
from firesteel.spark.frames import forms
from firesteel.spark.frames.columns import Pair, by_name
from firesteel.spark.frames.stored import stored
from firesteel.values.records import Record
from firesteel.values.schemas.conform import conformer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# One core counts a million rows faster in several small hash tables than in one large table. If the session asks for
# more partitions than this, it gets them.
_PARTITIONS = 8

COUNT = "count"
_PLACE, _ORIGINAL = "place", "original"


@dataclass(frozen=True)
class Places:
    """A row's place matters: among the rows with the same values in `key`, or in the frame if `key` is empty."""

    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class Arrival:
    """A row's place does not matter, but rows that differ are shown in the order in which they come.

    Rows of the left frame come as they do there, even if the right frame has more of them.
    """


Order: TypeAlias = Places | Arrival | None
"""What the order of rows means. None: nothing, and rows that differ are shown in the order of their values."""


@dataclass(frozen=True)
class Rows:
    """Rows in their forms, each with a count: above zero for rows of the left frame, below zero for the right one's."""

    frame: DataFrame
    pairs: tuple[Pair, ...]
    order: Order = None

    @property
    def names(self) -> list[str]:
        """The names of the columns that hold values."""
        return _names(self.pairs)

    @property
    def keys(self) -> list[str]:
        """The columns in which rows differ."""
        return [*self.names, _PLACE] if isinstance(self.order, Places) else self.names

    @property
    def _shown_by(self) -> list[str]:
        return self.names if self.order is None else [_PLACE, *self.names]

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many rows there are of the left frame, and how many of the right one."""
        from pyspark.sql import functions as F

        count = F.col(COUNT)
        found = self.frame.agg(
            F.sum(F.greatest(count, F.lit(0))).alias("left"), F.sum(F.greatest(-count, F.lit(0))).alias("right")
        ).collect()[0]
        return found["left"] or 0, found["right"] or 0

    def first(self, most: int) -> tuple[tuple[Odd, ...], tuple[Odd, ...]]:
        """The first rows of each side, at most `most` different ones."""
        from pyspark.sql import functions as F

        sides = [
            self.frame.where(of_side).orderBy(*self._shown_by).limit(most)
            for of_side in (F.col(COUNT) > 0, F.col(COUNT) < 0)
        ]
        return self._read(sides[0].unionAll(sides[1]))

    def all(self, *, in_order: bool = False) -> tuple[tuple[Odd, ...], tuple[Odd, ...]]:
        """All rows of each side."""
        return self._read(self.frame.orderBy(*self._shown_by) if in_order else self.frame)

    def _read(self, frame: DataFrame) -> tuple[tuple[Odd, ...], tuple[Odd, ...]]:
        record = _reader(self.pairs, original=_ORIGINAL in frame.columns)
        sides: tuple[list[Odd], list[Odd]] = ([], [])
        for row in forms.collected(frame):
            place = row[_PLACE] if isinstance(self.order, Places) else None
            sides[row[COUNT] < 0].append(Odd(record(row), abs(row[COUNT]), place))
        return tuple(sides[0]), tuple(sides[1])

    def uneven(self, *, distinct: bool = False, only_right: bool = False) -> Rows:
        """The rows that one frame has more often than the other, each once, counted by how many more there are.

        `distinct` looks only at whether a frame has a row, not how often. `only_right` leaves out those of the left.
        """
        from pyspark.sql import functions as F

        count = F.col(COUNT)
        more = F.greatest(F.max(count), F.lit(0)) + F.least(F.min(count), F.lit(0)) if distinct else F.sum(count)
        columns = [more.alias(COUNT)]
        if isinstance(self.order, Arrival):
            here = F.min(F.when(count > 0, F.col(_PLACE)))
            columns.append(F.coalesce(here, F.min(_PLACE)).alias(_PLACE))
        if _ORIGINAL in self.frame.columns:
            columns.append(F.min_by(_ORIGINAL, _PLACE).alias(_ORIGINAL))
        found = self._beside().groupBy(*self.keys).agg(*columns)
        return replace(self, frame=found.where(count < 0 if only_right else count != 0))

    def _beside(self) -> DataFrame:
        # Rows are brought together before they are counted. Most come once on each side, so counting them before the
        # shuffle would build a table of them all and save nothing.
        few = int(self.frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 0) < _PARTITIONS
        return self.frame.repartition(_PARTITIONS, *self.keys) if few else self.frame.repartition(*self.keys)

    @contextmanager
    def cached(self) -> Iterator[Rows]:
        """The same rows for several jobs: the rows that one job shows are those that another one counted."""
        kept = self.frame.persist()
        try:
            yield replace(self, frame=kept)
        finally:
            kept.unpersist()


def together(left: DataFrame, right: DataFrame, pairs: tuple[Pair, ...], order: Order) -> Rows:
    """The rows of both frames."""
    from pyspark.sql import functions as F

    sides = [_side(left, 0, pairs, order), _side(right, 1, pairs, order)]
    counted = [side.withColumn(COUNT, F.lit(count)) for side, count in zip(sides, (1, -1), strict=True)]
    return Rows(counted[0].unionAll(counted[1]), pairs, order)


def records(frame: DataFrame) -> Iterator[Record]:
    """A frame's rows, in order; the driver holds a partition at a time."""
    frame = stored(frame)
    pairs = by_name(frame.schema, frame.schema)
    return map(_reader(pairs), _side(frame, 0, pairs, None).toLocalIterator(prefetchPartitions=True))


def _names(pairs: Sequence[Pair]) -> list[str]:
    return [f"c{index}" for index in range(len(pairs))] or ["nothing"]


def _reader(pairs: Sequence[Pair], *, original: bool = False) -> Callable[[Any], Record]:
    from pyspark.sql.types import StructField, StructType

    if not original:
        return forms.reader([(pair.name, pair.kind) for pair in pairs])
    read = conformer(StructType([StructField(pair.name, pair.kind) for pair in pairs]), moment=forms.moment)
    return lambda row: read(row[_ORIGINAL])


def _side(frame: DataFrame, side: int, pairs: Sequence[Pair], order: Order) -> DataFrame:
    """One frame in its forms, with columns by number, and beside them what the order asks for."""
    from pyspark.sql import functions as F

    numbered = frame.toDF(*(f"i{index}" for index in range(len(frame.columns))))
    columns = [
        forms.form(F.col(f"i{pair.index[side]}"), pair.kinds[side], pair.layouts[side]).alias(name)
        for name, pair in zip(_names(pairs), pairs, strict=False)
    ] or [F.lit(0).alias("nothing")]
    match order:
        case None:
            return numbered.select(*columns)
        case Places(key):
            names = {pair.name: name for name, pair in zip(_names(pairs), pairs, strict=False)}
            return _with_places(numbered.select(*columns), [names[name] for name in key])
        case Arrival():
            columns.append(F.monotonically_increasing_id().alias(_PLACE))
            if any(forms.is_lossy(pair.kinds[side]) for pair in pairs):
                # To keep a row of each group costs Spark a sort, so this is done only where forms do not lead back.
                columns.append(F.struct(*(f"i{pair.index[side]}" for pair in pairs)).alias(_ORIGINAL))
            return numbered.select(*columns)


def _with_places(frame: DataFrame, key: Sequence[str]) -> DataFrame:
    """The frame with the place of every row: among the rows of the same key, or in the frame if there is no key."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    order = F.monotonically_increasing_id()
    if key:
        ordered = frame.withColumn("order", order)
        among = Window.partitionBy(*key).orderBy("order")
        return ordered.withColumn(_PLACE, F.row_number().over(among).cast("long") - 1).drop("order")
    # Two jobs have to see the same partitions.
    kept = frame.localCheckpoint(eager=False)
    sizes = {row[0]: row[1] for row in kept.groupBy(F.spark_partition_id()).count().collect()}
    starts = [0]
    for number in range(max(sizes, default=0)):
        starts.append(starts[-1] + sizes.get(number, 0))
    within = order.bitwiseAND(F.lit((1 << 33) - 1))
    start = F.element_at(F.array(*map(F.lit, starts)), F.spark_partition_id() + 1).cast("long")
    return kept.withColumn(_PLACE, within + start)
