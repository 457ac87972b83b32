"""Batches that stay in Spark because they are too large for the driver.

They answer the same questions as a `Batch`, with the same answers. Where a `Batch` loops over its records, a
`LargeBatch` runs a Spark job that brings back counts and a few offending records. A question that would bring all
records to the driver is refused, and the message says what to write instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, NoReturn

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.frames import Difference, Odd, Undecided
from firesteel.spark.engines.recorded import Reader, row_reader
from firesteel.spark.engines.source import to_frame
from firesteel.spark.frames import compare, fitting, sorting
from firesteel.spark.frames.asking import Asked, answers
from firesteel.spark.frames.columns import schema_difference
from firesteel.spark.frames.forms import form
from firesteel.spark.frames.shipping import ship
from firesteel.spark.frames.spans import between, choose_within, count_within
from firesteel.values.answers import reason_of
from firesteel.values.batches import Batch, common_schema, make_batch
from firesteel.values.checks import Check, answer_every, answer_none, difference, no_record_satisfies, not_unique
from firesteel.values.equality import Equality
from firesteel.values.event_time import Span
from firesteel.values.records import Record

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

REMEMBERED = 20
"""How many offending records come to the driver."""


def keep(frame: DataFrame) -> DataFrame:
    """A micro-batch's rows, computed once and kept on the executors, apart from the query that made them."""
    return frame.localCheckpoint(eager=True)


def large_batch(frames: Sequence[DataFrame], reader: Reader, most: int) -> Batch:
    """The rows of some frames as one batch, which is collected if there are no more than `most`."""
    if not frames:
        return Batch((), schema=reader.schema)
    frame = reduce(lambda left, right: left.union(right), frames).toDF(*reader.schema.fieldNames())
    batch = LargeBatch(frame, reader.schema, most)
    return reader.batch_of(frame) if len(batch) <= most else batch


class LargeBatch(Batch):
    """A batch whose records stay in Spark, in the DataFrame `df`."""

    # Batch has slots; the frame and what was counted live in a dict of their own.
    __slots__ = ("__dict__", "_frame", "_most")

    def __init__(self, frame: DataFrame, schema: StructType, most: int = 10_000) -> None:
        """A part of the batch with up to `most` records is small enough for the driver."""
        object.__setattr__(self, "_frame", frame)
        object.__setattr__(self, "_most", most)
        object.__setattr__(self, "schema", schema)

    if TYPE_CHECKING:
        _frame: DataFrame
        _most: int

    @property
    def df(self) -> DataFrame:
        return self._frame

    @property
    def stays_in_spark(self) -> bool:
        return True

    @property
    def partitions(self) -> tuple[int, ...] | None:
        return None

    @cached_property
    def _count(self) -> int:
        return self.df.count()

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<{len(self):,} records, {', '.join(self.df.columns)}, in Spark: see .df>"

    # --- questions ---

    def where(self, predicate: Callable[[Any], bool | Check]) -> Batch:
        def chosen(asked: Iterator[Asked]) -> Iterator[tuple[Any, ...]]:
            return (tuple(record) for record, answer in asked if answer)

        with answers(self.df, self._maker, predicate, chosen) as found:
            rows = self.df.sparkSession.createDataFrame(found, self.df.schema)
            part = LargeBatch(keep(rows), self._schema, self._most)
        if len(part) > self._most:
            return part
        return make_batch(map(self._maker, part.df.collect()), self._schema)

    def within(self, column: str, spans: Sequence[Span]) -> tuple[list[Batch], Batch]:
        counts, outside = self._counted(column, spans)
        kind = self._schema[column].dataType.typeName()
        parts = [make_batch((), self._schema) for _ in spans]
        small = [index for index, count in sorted(counts.items()) if count <= self._most]
        if small:  # one job collects all of them, and a record in several spans only once
            among = [spans[index] for index in small]
            collected = make_batch(self._mapped(choose_within(column, among, inside=True)).collect(), self._schema)
            for index, part in zip(small, collected.within(column, among)[0], strict=True):
                parts[index] = part
        for index in counts.keys() - small:
            parts[index] = self._part(self.df.where(between(_named(column), kind, spans[index])), counts[index])
        return parts, self._outside(column, spans, outside)

    def every(self, predicate: Callable[[Any], bool | Check]) -> Check:
        count, some, why = self._found(predicate, wanted=False)
        return answer_every(predicate, offending=some, count=count, total=len(self), why=why)

    def some(self, predicate: Callable[[Any], bool | Check]) -> Check:
        count, some, why = self._found(predicate)
        if count:
            return Check(True, "", some)
        return no_record_satisfies(predicate, records=self._few(), total=len(self), why=why)

    def none(self, predicate: Callable[[Any], bool | Check]) -> Check:
        count, some, _ = self._found(predicate)
        return answer_none(predicate, offending=some, count=count, total=len(self))

    def unique(self, *columns: str) -> Check:
        from pyspark.sql import functions as F

        records, keys = self._keyed(self._known(columns) or self.df.columns)
        counted = records.groupBy(*keys).agg(F.count("*").alias("times"), F.min("place").alias("first"))
        repeated = counted.where("times > 1")
        groups = repeated.count()
        if not groups:
            return Check(True)
        few = repeated.orderBy("first").limit(REMEMBERED).alias("few")
        same_key = [F.col(f"few.{key}").eqNullSafe(F.col(f"all.{key}")) for key in keys]
        found = records.alias("all").join(F.broadcast(few), same_key).orderBy("first", "place")
        rows = found.select("record", "times").take(REMEMBERED)
        offending = tuple(self._maker(row.record) for row in rows)
        return not_unique(columns, repeated=offending, times=rows[0].times, groups=groups)

    def sorted_by(self, *columns: str) -> Check:
        self._known(columns)
        ship(self.df.sparkSession)
        edges = self.df.rdd.mapPartitionsWithIndex(sorting.edges(self._maker, columns)).collect()
        return sorting.check(edges, columns)

    def same_as(self, other: Iterable[Any], *, equal: Equality | None = None) -> Check:
        if equal is None:
            return self._compared(other, both=True)
        frame, misfits = self._split(other)
        check = self._same_by(frame, equal)
        if not misfits:
            return check
        missing = difference(missing=misfits[:REMEMBERED], extra=(), counts=(len(misfits), 0))
        reasons = [missing.reason] if check else [missing.reason, check.reason]
        return Check(False, "; ".join(reasons), (*missing.records, *check.records))

    def same_set_as(self, other: Iterable[Any]) -> Check:
        return self._compared(other, both=True, distinct=True)

    def contains(self, other: Iterable[Any]) -> Check:
        return self._compared(other, both=False)

    def __contains__(self, record: object) -> bool:
        return bool(self.contains([record]))

    def __eq__(self, other: object) -> bool:
        return bool(self.same_as(other)) if isinstance(other, (Batch, list, tuple)) else NotImplemented

    def __hash__(self) -> int:
        return id(self)

    def __add__(self, other: Batch) -> Batch:
        return self.joined((self, other))

    def joined(self, parts: Sequence[Batch]) -> Batch:
        frames = [self._frame_of(part) for part in parts]
        schema = common_schema([part.schema for part in parts])
        return LargeBatch(reduce(lambda left, right: left.union(right), frames), schema or self._schema, self._most)

    def lifted(self, batch: Batch) -> Batch:
        if isinstance(batch, LargeBatch):
            return batch
        schema = batch.schema if batch.schema is not None else self._schema
        return LargeBatch(to_frame(self.df.sparkSession, batch.records, schema), schema, self._most)

    # --- what would bring everything to the driver ---

    def __iter__(self) -> Iterator[Any]:
        self._refuse("iterate over batch.where(...) once it is small, or use batch.df")

    def __getitem__(self, index: Any) -> Any:
        self._refuse("use batch.df")

    def values(self, column: str, *more: str) -> list[Any]:
        wanted = ", ".join(map(repr, (column, *more)))
        self._refuse(f"ask with some, none, every or contains, or use batch.df.select({wanted})")

    @property
    def records(self) -> tuple[Any, ...]:
        self._refuse("use batch.df")

    def __reduce__(self) -> tuple[Any, ...]:
        self._refuse("use batch.df")

    def _refuse(self, instead: str) -> NoReturn:
        raise TypeError(
            f"this batch has {len(self):,} records and stays in Spark: {instead}; "
            "or raise the number of records up to which a batch is collected (large=...)"
        )

    # --- jobs ---

    @property
    def _schema(self) -> StructType:
        assert self.schema is not None
        return self.schema

    @property
    def _maker(self) -> Callable[[Any], Record]:
        return row_reader(self._schema)

    def _mapped(self, function: Callable[[Iterator[Record]], Iterable[Any]]) -> Any:
        make = self._maker
        ship(self.df.sparkSession)
        return self.df.rdd.mapPartitions(lambda rows: function(map(make, rows)))

    def _counted(self, column: str, spans: Sequence[Span]) -> tuple[Counter[int], int]:
        """How many records lie in each span, by its index, and how many in none."""
        from pyspark.sql.types import StructType

        times = LargeBatch(self.df.select(_named(column)), StructType([self._schema[column]]))
        total, outside = Counter[int](), 0
        for counts, count in times._mapped(count_within(column, spans)).collect():
            total.update(counts)
            outside += count
        return total, outside

    def _outside(self, column: str, spans: Sequence[Span], count: int) -> Batch:
        if not count:
            return make_batch((), self._schema)
        chosen = self._mapped(choose_within(column, spans, inside=False))
        if count <= self._most:
            return make_batch(chosen.collect(), self._schema)
        return self._part(keep(self.df.sparkSession.createDataFrame(chosen.map(tuple), self.df.schema)), count)

    def _part(self, frame: DataFrame, count: int) -> Batch:
        """A part that stays in Spark, with its number of records, so that they are not counted again."""
        part = LargeBatch(frame, self._schema, self._most)
        part.__dict__["_count"] = count
        return part

    def _found(
        self, predicate: Callable[[Any], bool | Check], *, wanted: bool = True
    ) -> tuple[int, tuple[Record, ...], str]:
        """How many records satisfy a predicate (or do not, unless `wanted`); the first of them; and what the predicate
        says about the first one that does not satisfy it."""

        def partition(asked: Iterator[Asked]) -> Iterator[tuple[int, list[Record], str | None]]:
            count, some, why = 0, [], None
            for record, answer in asked:
                if why is None and not answer:
                    why = reason_of(answer)
                if bool(answer) is wanted:
                    count += 1
                    if count <= REMEMBERED:
                        some.append(record)
            yield count, some, why

        with answers(self.df, self._maker, predicate, partition) as made:
            found = made.collect()
        some = tuple(islice((record for _, records, _ in found for record in records), REMEMBERED))
        return sum(count for count, _, _ in found), some, next((why for *_, why in found if why is not None), "")

    def _few(self) -> tuple[Record, ...]:
        return tuple(map(self._maker, self.df.take(REMEMBERED)))

    def _known(self, columns: Sequence[str]) -> Sequence[str]:
        for column in columns:
            if column not in self.df.columns:  # Spark would take another case, or a field of a struct
                raise KeyError(f"no column {column!r}; the record has {', '.join(map(repr, self.df.columns))}")
        return columns

    def _keyed(self, columns: Sequence[str]) -> tuple[DataFrame, list[str]]:
        """Every record with its place and the forms of its values in some columns; and the names of these forms."""
        from pyspark.sql import functions as F

        keys = [f"key{number}" for number in range(len(columns))]
        kinds = [self.df.schema[column].dataType for column in columns]
        values = [
            form(_named(column), kind, kind).alias(key) for key, column, kind in zip(keys, columns, kinds, strict=True)
        ]
        record = F.struct(*map(_named, self.df.columns)).alias("record")
        return self.df.select(*values, record, F.monotonically_increasing_id().alias("place")), keys

    def _frame_of(self, other: Iterable[Any]) -> DataFrame:
        if isinstance(other, LargeBatch):
            return other.df
        schema = fitting.nullable(self._schema)
        return to_frame(self.df.sparkSession, Batch(other, schema=schema).records, schema)

    def _split(self, other: Iterable[Any]) -> tuple[DataFrame, tuple[Any, ...]]:
        """The records of `other` that can be compared with those here; and the rest, which no record here equals."""
        if isinstance(other, LargeBatch):
            return other.df, ()
        schema = fitting.nullable(self._schema)
        records, misfits = fitting.split(other, schema)
        return to_frame(self.df.sparkSession, records, schema), misfits

    def _compared(self, other: Iterable[Any], *, both: bool, distinct: bool = False) -> Check:
        if isinstance(other, LargeBatch) and other.df.columns != self.df.columns:
            return self._of_other_columns(other, both=both)
        frame, misfits = self._split(other)
        found = compare.surplus(self.df, frame, most=REMEMBERED, distinct=distinct, only_right=not both)
        return _told(found, misfits)

    def _same_by(self, other: DataFrame, equal: Equality) -> Check:
        """The answer of `same_as` with an equality, for records that stay in Spark."""
        columns = schema_difference(self.df.schema, other.schema, equal.ignore)
        if columns:
            lines = (f"column {c.name!r}: {c.left or 'missing'} here, {c.right or 'missing'} there" for c in columns)
            return Check(False, f"the columns differ: {'; '.join(lines)}")
        found = compare.difference(self.df, other, equal)
        if isinstance(found, Undecided):
            raise InvalidArgument(
                f"{described('equal', equal)} cannot be used here: {found.only_left:,} records here and "
                f"{found.only_right:,} there have no exact equal, which is more than the {found.most:,} that are "
                "compared on the driver. Round the columns in Spark first, with F.round, or compare part by part"
            )
        return Check(True) if found is None else _told(found)

    def _of_other_columns(self, other: LargeBatch, *, both: bool) -> Check:
        """Batches of different columns have no record in common."""
        extra = self._few() if both else ()
        counts = (len(other), len(self) if both else 0)
        check = difference(missing=other._few(), extra=extra, counts=counts)
        columns = f"{', '.join(self.df.columns)} here, {', '.join(other.df.columns)} there"
        return check if check else replace(check, reason=f"the columns differ: {columns}; {check.reason}")


def _named(column: str) -> Column:
    """A column by its name, which may hold dots and backticks."""
    from pyspark.sql import functions as F

    return F.col(f"`{column.replace('`', '``')}`")


def _told(found: Difference, misfits: Sequence[Any] = ()) -> Check:
    """What a comparison found: records only right are missing, as are those that could not be compared."""
    return difference(
        missing=(*misfits, *_repeated(found.right))[:REMEMBERED],
        extra=_repeated(found.left),
        counts=(len(misfits) + found.only_right, found.only_left),
    )


def _repeated(rows: Sequence[Odd]) -> tuple[Record, ...]:
    """The first of the records, each as often as it is over."""
    return tuple(islice((record for row in rows for record in repeat(row.record, row.times)), REMEMBERED))
