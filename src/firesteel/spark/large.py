"""Batches that stay in Spark: too large for the driver, asked through Spark jobs with the same answers.

A question that a `Batch` answers with a loop, a `LargeBatch` answers with one job that brings back counts and a few
offending records. What would bring all records to the driver is refused, with what to write instead.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property, reduce
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from firesteel.checks import Check
from firesteel.errors import InvalidArgument
from firesteel.names import name_of
from firesteel.records import Record
from firesteel.schemas.conform import conformer
from firesteel.spark.recorded import Reader, from_local
from firesteel.spark.session import private_directory
from firesteel.spark.source import to_frame
from firesteel.streams import Batch, Span, common_schema, difference, key_of, keyed, make_batch, sort_key

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

REMEMBERED = 20
"""How many offending records come to the driver."""

CHUNK = 50_000
"""How many records an executor holds at a time where it sorts them into spans."""


def keep(frame: DataFrame) -> DataFrame:
    """A micro-batch's rows, computed once and kept on the executors, apart from the query that made them."""
    return frame.localCheckpoint(eager=True)


def large_batch(frames: Sequence[DataFrame], reader: Reader, most: int) -> Batch:
    """The rows of some frames as a batch: collected if there are at most `most`."""
    if not frames:
        return Batch((), schema=reader.schema)
    frame = reduce(lambda left, right: left.union(right), frames).toDF(*reader.schema.fieldNames())
    batch = LargeBatch(frame, reader.schema, most)
    return reader.batch_of(frame) if len(batch) <= most else batch


class LargeBatch(Batch):
    """A batch whose records stay in Spark; `df` is where they are."""

    # Batch has slots; the frame and what was counted live in a dict of their own.
    __slots__ = ("__dict__", "_frame", "_most")

    def __init__(self, frame: DataFrame, schema: StructType, most: int = 10_000) -> None:
        """`most` is the number of records up to which a part of it is small enough for the driver."""
        object.__setattr__(self, "_frame", frame)
        object.__setattr__(self, "_most", most)
        object.__setattr__(self, "schema", schema)

    if TYPE_CHECKING:
        _frame: DataFrame
        _most: int

    @property
    def df(self) -> DataFrame:
        return self._frame

    @cached_property
    def _count(self) -> int:
        return self.df.count()

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<{len(self):,} records, {', '.join(self.df.columns)}, in Spark: see .df>"

    # --- questions ---

    def where(self, predicate: Callable[[Any], bool]) -> Batch:
        with _by_value(predicate):
            found = self._mapped(lambda records: (tuple(record) for record in records if predicate(record)))
            rows = self.df.sparkSession.createDataFrame(found, self.df.schema)
            part = LargeBatch(keep(rows), self._schema, self._most)
        if len(part) > self._most:
            return part
        return make_batch(map(self._maker, part.df.collect()), self._schema)

    def within(self, column: str, spans: Sequence[Span]) -> tuple[list[Batch], Batch]:
        counts, outside = self._counted(column, spans)
        parts = [make_batch((), self._schema) for _ in spans]
        small = [index for index, count in sorted(counts.items()) if count <= self._most]
        if small:  # all of them in one job, each record once
            among = [spans[index] for index in small]
            collected = make_batch(self._chosen(column, among, inside=True).collect(), self._schema)
            for index, part in zip(small, collected.within(column, among)[0], strict=True):
                parts[index] = part
        for index in counts.keys() - small:
            parts[index] = self._part(self.df.where(self._between(column, spans[index])), counts[index])
        return parts, self._outside(column, spans, outside)

    def every(self, predicate: Callable[[Any], bool]) -> Check:
        count, some = self._found(lambda record: not predicate(record))
        if not count:
            return Check(True)
        verb = "does" if count == 1 else "do"
        return Check(False, f"{count} of {len(self)} records {verb} not satisfy {name_of(predicate)}", some)

    def some(self, predicate: Callable[[Any], bool]) -> Check:
        count, some = self._found(predicate)
        if count:
            return Check(True, "", some)
        return Check(False, f"none of {len(self)} records satisfies {name_of(predicate)}", self._few(self.df))

    def none(self, predicate: Callable[[Any], bool]) -> Check:
        count, some = self._found(predicate)
        if not count:
            return Check(True)
        verb = "satisfies" if count == 1 else "satisfy"
        return Check(False, f"{count} of {len(self)} records {verb} {name_of(predicate)}", some)

    def unique(self, *columns: str) -> Check:
        from pyspark.sql import functions as F

        by = list(columns) or self.df.columns
        repeated = self.df.groupBy(*by).agg(F.count(F.lit(1)).alias("__times")).where("__times > 1")
        first = repeated.orderBy(*by).first()
        if first is None:
            return Check(True)
        matching = [F.col(f"all.{name}").eqNullSafe(F.col(f"twice.{name}")) for name in by]
        offending = self._few(self.df.alias("all").join(repeated.alias("twice"), matching, "leftsemi").orderBy(*by))
        others = repeated.count() - 1
        more = f", and {others} more repeat" if others else ""
        return Check(False, f"{keyed(offending[0], columns)} comes {first['__times']} times{more}", offending)

    def sorted_by(self, *columns: str) -> Check:
        make = self._maker
        ship(self.df.sparkSession)

        def edges(number: int, rows: Iterable[Any]) -> Iterator[Any]:
            first = last = None
            for place, record in enumerate(map(make, rows)):
                if last is not None and sort_key(key_of(record, columns)) < sort_key(key_of(last, columns)):
                    yield number, first, record, (place, last, record)
                    return
                first, last = first if first is not None else record, record
            if last is not None:
                yield number, first, last, None

        before = None
        for _, first, last, broken in sorted(self.df.rdd.mapPartitionsWithIndex(edges).collect(), key=lambda e: e[0]):
            if before is not None and sort_key(key_of(first, columns)) < sort_key(key_of(before, columns)):
                broken = (0, before, first)
            if broken is not None:
                by = ", ".join(columns)
                return Check(False, f"a record comes before the one in front of it by {by}", tuple(broken[1:]))
            before = last
        return Check(True)

    def same_as(self, other: Iterable[Any]) -> Check:
        return self._compared(other, both=True)

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
        self._stays("iterate over batch.where(...) once it is small, or use batch.df")

    def __getitem__(self, index: Any) -> Any:
        self._stays("use batch.df")

    def values(self, column: str, *more: str) -> list[Any]:
        wanted = ", ".join(map(repr, (column, *more)))
        self._stays(f"ask with some, none, every or contains, or use batch.df.select({wanted})")

    @property
    def records(self) -> tuple[Any, ...]:  # type: ignore[override]
        self._stays("use batch.df")

    def __reduce__(self) -> tuple[Any, ...]:
        self._stays("use batch.df")

    def _stays(self, instead: str) -> NoReturn:
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
        return conformer(self._schema, moment=from_local)

    def _mapped(self, function: Callable[[Iterator[Record]], Iterable[Any]]) -> Any:
        make = self._maker
        ship(self.df.sparkSession)
        return self.df.rdd.mapPartitions(lambda rows: function(map(make, rows)))

    def _counted(self, column: str, spans: Sequence[Span]) -> tuple[Counter[int], int]:
        """How many records lie in each span, by its index, and how many in none."""
        from pyspark.sql.types import StructType

        def partition(records: Iterator[Record]) -> Iterator[tuple[Counter[int], int]]:
            for chunk in _chunks(records):
                parts, rest = chunk.within(column, spans)
                yield Counter({index: len(part) for index, part in enumerate(parts) if part}), len(rest)

        times = LargeBatch(self.df.select(_named(column)), StructType([self._schema[column]]))
        total, outside = Counter[int](), 0
        for counts, count in times._mapped(partition).collect():
            total.update(counts)
            outside += count
        return total, outside

    def _chosen(self, column: str, spans: Sequence[Span], *, inside: bool) -> Any:
        """The records that lie in some span, or those that lie in none, in their order."""

        def partition(records: Iterator[Record]) -> Iterator[Record]:
            for chunk in _chunks(records):
                _, rest = chunk.within(column, spans)
                apart = set(map(id, rest))
                yield from (record for record in chunk if (id(record) not in apart) == inside)

        return self._mapped(partition)

    def _outside(self, column: str, spans: Sequence[Span], count: int) -> Batch:
        if not count:
            return make_batch((), self._schema)
        chosen = self._chosen(column, spans, inside=False)
        if count <= self._most:
            return make_batch(chosen.collect(), self._schema)
        return self._part(keep(self.df.sparkSession.createDataFrame(chosen.map(tuple), self.df.schema)), count)

    def _part(self, frame: DataFrame, count: int) -> Batch:
        """A part that stays in Spark, of a number of records that is known: it need not be counted again."""
        part = LargeBatch(frame, self._schema, self._most)
        part.__dict__["_count"] = count
        return part

    def _between(self, column: str, span: Span) -> Column:
        start, end = (_moment(edge, self._schema[column].dataType.typeName()) for edge in span)
        return (_named(column) >= start) & (_named(column) < end)

    def _found(self, predicate: Callable[[Any], bool]) -> tuple[int, tuple[Record, ...]]:
        """How many records satisfy a predicate, and some of them."""

        def partition(records: Iterator[Record]) -> Iterator[tuple[int, list[Record]]]:
            count, some = 0, []
            for record in records:
                if predicate(record):
                    count += 1
                    if count <= REMEMBERED:
                        some.append(record)
            yield count, some

        with _by_value(predicate):
            found = self._mapped(partition).collect()
        return sum(count for count, _ in found), tuple(islice((r for _, some in found for r in some), REMEMBERED))

    def _few(self, frame: DataFrame) -> tuple[Record, ...]:
        return tuple(map(self._maker, frame.take(REMEMBERED)))

    def _frame_of(self, other: Iterable[Any]) -> DataFrame:
        if isinstance(other, LargeBatch):
            return other.df
        schema = _nullable(self._schema)  # a null where there is none here is a difference, not a mistake
        return to_frame(self.df.sparkSession, Batch(other, schema=schema).records, schema)

    def _compared(self, other: Iterable[Any], *, both: bool, distinct: bool = False) -> Check:
        if isinstance(other, LargeBatch) and other.df.columns != self.df.columns:
            columns = f"{', '.join(self.df.columns)} here, {', '.join(other.df.columns)} there"
            return Check(False, f"the columns differ: {columns}", ())
        try:
            mine, theirs = self.df, self._frame_of(other)
        except InvalidArgument as misfit:
            return Check(False, str(misfit), ())
        if distinct:
            mine, theirs = mine.distinct(), theirs.distinct()
        missing = theirs.exceptAll(mine)
        extra = mine.exceptAll(theirs) if both else None
        few_missing, few_extra = self._few(missing), self._few(extra) if extra is not None else ()
        return difference(
            missing=few_missing,
            extra=few_extra,
            counts=(
                missing.count() if len(few_missing) == REMEMBERED else len(few_missing),
                extra.count() if extra is not None and len(few_extra) == REMEMBERED else len(few_extra),
            ),
        )


def _chunks(records: Iterator[Record]) -> Iterator[Batch]:
    while chunk := tuple(islice(records, CHUNK)):
        yield make_batch(chunk, None)


def _named(column: str) -> Column:
    """A column by its name, which may hold dots and backticks."""
    from pyspark.sql import functions as F

    return F.col(f"`{column.replace('`', '``')}`")


def _moment(moment: datetime, kind: str) -> Column:
    """A moment as a literal of Spark that means the same in every time zone; PySpark's own does not."""
    from pyspark.sql import functions as F

    if kind == "timestamp_ntz":
        return F.lit(moment.astimezone(UTC).replace(tzinfo=None).isoformat()).cast(kind)
    return F.timestamp_micros(F.lit((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)))


def _nullable(schema: StructType) -> StructType:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(f.name, f.dataType, True, f.metadata) for f in schema.fields])


# --- what executors need -----------------------------------------------------------------------------


def ship(spark: SparkSession) -> None:
    """Give the executors of a cluster this package, which need not be installed there."""
    context = spark.sparkContext
    application = str(context.applicationId)
    if context._jsc.sc().isLocal() or application in _shipped:
        return
    _shipped.add(application)
    package = Path(__file__).parent.parent
    context.addPyFile(
        shutil.make_archive(str(private_directory() / "firesteel-package"), "zip", package.parent, package.name)
    )


_shipped: set[str] = set()


@contextmanager
def _by_value(function: Callable[..., Any]) -> Iterator[None]:
    """Send a function with its code: executors cannot import the test module that it stands in."""
    from pyspark import cloudpickle as untyped

    cloudpickle: Any = untyped
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is None or not getattr(module, "__file__", None) or "site-packages" in str(module.__file__):
        yield
        return
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)
