"""Batches that stay in Spark: too large for the driver, asked through Spark jobs with the same answers.

A question that a `Batch` answers with a loop, a `LargeBatch` answers with one job that brings back counts and a few
offending records. What would bring all records to the driver is refused, with what to write instead.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cached_property, reduce
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from firesteel.errors import InvalidArgument
from firesteel.names import name_of
from firesteel.spark.engines.recorded import Reader, from_local
from firesteel.spark.engines.source import to_frame
from firesteel.spark.session.start import private_directory
from firesteel.values.checks import Check
from firesteel.values.equality import Equality
from firesteel.values.records import Record, columns_of
from firesteel.values.schemas.conform import conformer
from firesteel.values.streams import (
    Batch,
    Span,
    common_schema,
    difference,
    fitter,
    key_of,
    keyed,
    make_batch,
    out_of_order,
    sort_key,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

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
    def stays_in_spark(self) -> bool:
        return True

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
        count, some = self._found(predicate, wanted=False)
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

        records, keys = self._keyed(self.df, self._known(columns) or self.df.columns)
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
        more = f", and {groups - 1} more repeat" if groups > 1 else ""
        return Check(False, f"{keyed(offending[0], columns)} comes {rows[0].times} times{more}", offending)

    def sorted_by(self, *columns: str) -> Check:
        make = self._maker
        self._known(columns)
        ship(self.df.sparkSession)

        def edges(number: int, rows: Iterable[Any]) -> Iterator[Any]:
            """Of a partition its first record, its last one, and how many it has: up to a record out of order."""
            first = last = None
            count = 0
            for record in map(make, rows):
                if last is not None and sort_key(key_of(record, columns)) < sort_key(key_of(last, columns)):
                    yield number, first, last, count, record
                    return
                first, last, count = first if count else record, record, count + 1
            if count:
                yield number, first, last, count, None

        before, index = None, 0
        for _, first, last, count, broken in sorted(
            self.df.rdd.mapPartitionsWithIndex(edges).collect(), key=lambda edge: edge[0]
        ):
            if before is not None and sort_key(key_of(first, columns)) < sort_key(key_of(before, columns)):
                return out_of_order(index, columns, (before, first))
            before, index = last, index + count
            if broken is not None:
                return out_of_order(index, columns, (last, broken))
        return Check(True)

    def same_as(self, other: Iterable[Any], *, equal: Equality | None = None) -> Check:
        if equal is None:
            return self._compared(other, both=True)
        from firesteel.spark.frames import same

        frame, others = self._fitting(other)
        check = same.check(self.df, frame, equal)
        if not others:
            return check
        misfits = difference(missing=others[:REMEMBERED], extra=(), counts=(len(others), 0))
        reasons = [misfits.reason] if check else [misfits.reason, check.reason]
        return Check(False, "; ".join(reasons), (*misfits.records, *check.records))

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

    def _found(self, predicate: Callable[[Any], bool], *, wanted: bool = True) -> tuple[int, tuple[Record, ...]]:
        """How many records satisfy a predicate, or do not, and some of them."""

        def partition(records: Iterator[Record]) -> Iterator[tuple[int, list[Record]]]:
            count, some = 0, []
            for record in records:
                if bool(predicate(record)) is wanted:
                    count += 1
                    if count <= REMEMBERED:
                        some.append(record)
            yield count, some

        with _by_value(predicate):
            found = self._mapped(partition).collect()
        return sum(count for count, _ in found), tuple(islice((r for _, some in found for r in some), REMEMBERED))

    def _few(self, frame: DataFrame) -> tuple[Record, ...]:
        return tuple(map(self._maker, frame.take(REMEMBERED)))

    def _known(self, columns: Sequence[str]) -> Sequence[str]:
        for column in columns:
            if column not in self.df.columns:  # Spark would take another case, or a field of a struct
                raise KeyError(f"no column {column!r}; the record has {', '.join(map(repr, self.df.columns))}")
        return columns

    def _keyed(self, frame: DataFrame, columns: Sequence[str]) -> tuple[DataFrame, list[str]]:
        """Each record with its place, beside columns to tell it from others by; and the names of these."""
        from pyspark.sql import functions as F

        keys = [f"key{number}" for number in range(len(columns))]
        values = [
            comparable(_named(column), frame.schema[column].dataType).alias(key)
            for key, column in zip(keys, columns, strict=True)
        ]
        record = F.struct(*map(_named, frame.columns)).alias("record")
        return frame.select(*values, record, F.monotonically_increasing_id().alias("place")), keys

    def _frame_of(self, other: Iterable[Any]) -> DataFrame:
        if isinstance(other, LargeBatch):
            return other.df
        schema = _nullable(self._schema)  # a null where there is none here is a difference, not a mistake
        return to_frame(self.df.sparkSession, Batch(other, schema=schema).records, schema)

    def _fitting(self, other: Iterable[Any]) -> tuple[DataFrame, tuple[Any, ...]]:
        """The records of `other` that can be compared with those here; and the rest, which no record here equals."""
        if isinstance(other, LargeBatch):
            return other.df, ()
        schema = _nullable(self._schema)
        fit, names = fitter(schema), tuple(schema.fieldNames())
        fitting, others = [], []
        for record in other:
            if columns_of(record) not in (None, names):  # as of any two records: order matters
                others.append(record)
                continue
            try:
                fitting.append(fit(_with_numbers_of(schema, record), "record"))
            except InvalidArgument:
                others.append(record)
        return to_frame(self.df.sparkSession, fitting, schema), tuple(others)

    def _compared(self, other: Iterable[Any], *, both: bool, distinct: bool = False) -> Check:
        from pyspark.sql import functions as F

        if isinstance(other, LargeBatch) and other.df.columns != self.df.columns:
            return self._of_other_columns(other, both=both)
        frame, others = self._fitting(other)
        (mine, keys), (theirs, _) = self._keyed(self.df, self.df.columns), self._keyed(frame, self.df.columns)
        all_of_both = mine.withColumn("here", F.lit(True)).unionByName(theirs.withColumn("here", F.lit(False)))
        here, there = F.count_if("here"), F.count_if(~F.col("here"))
        over = F.least(here, F.lit(1)) - F.least(there, F.lit(1)) if distinct else here - there
        # Extra records in the order in which they are here, missing ones in that of the other batch.
        place = F.coalesce(F.min(F.when(F.col("here"), F.col("place"))), F.min("place"))
        # To keep a record of each group costs Spark a sort, and mostly the keys are the record.
        record = F.min_by("record", "place") if _is_hard(self._schema) else F.struct(*keys)
        tallied = all_of_both.groupBy(*keys).agg(over.alias("over"), place.alias("place"), record.alias("record"))
        missing, extra = tallied.where("over < 0"), tallied.where("over > 0")
        signs = F.sum(F.greatest(-F.col("over"), F.lit(0))), F.sum(F.greatest("over", F.lit(0)))
        totals = tallied.agg(*signs).first()
        many, more = (total or 0 for total in totals or (0, 0))
        return difference(
            missing=(*others, *(self._repeated(missing) if many else ()))[:REMEMBERED],
            extra=self._repeated(extra) if more and both else (),
            counts=(len(others) + many, more),
        )

    def _repeated(self, tallied: DataFrame) -> tuple[Record, ...]:
        """Some of the records that are over, each as often as it is."""
        rows = tallied.orderBy("place").select("record", "over").take(REMEMBERED)
        each = (record for row in rows for record in repeat(self._maker(row.record), abs(row.over)))
        return tuple(islice(each, REMEMBERED))

    def _of_other_columns(self, other: LargeBatch, *, both: bool) -> Check:
        """No record here equals one of other columns."""
        extra = self._few(self.df) if both else ()
        counts = (len(other), len(self) if both else 0)
        check = difference(missing=other._few(other.df), extra=extra, counts=counts)
        columns = f"{', '.join(self.df.columns)} here, {', '.join(other.df.columns)} there"
        return check if check else replace(check, reason=f"the columns differ: {columns}; {check.reason}")


def _chunks(records: Iterator[Record]) -> Iterator[Batch]:
    while chunk := tuple(islice(records, CHUNK)):
        yield make_batch(chunk, None)


def _named(column: str) -> Column:
    """A column by its name, which may hold dots and backticks."""
    from pyspark.sql import functions as F

    return F.col(f"`{column.replace('`', '``')}`")


def comparable(column: Column, kind: DataType) -> Column:
    """A column by whose values Spark can group records: it cannot by every type, nor are equal maps in one order."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    match kind:
        case VariantType():
            return F.struct(F.schema_of_variant(column), F.to_json(column))
        case MapType(keyType=key, valueType=value):
            entry = StructType().add("key", key).add("value", value)
            return F.array_sort(F.transform(F.map_entries(column), lambda each: comparable(each, entry)))
        case ArrayType(elementType=element) if _is_hard(element):
            return F.transform(column, lambda each: comparable(each, element))
        case StructType() if _is_hard(kind):
            fields = (comparable(column.getField(f.name), f.dataType).alias(f.name) for f in kind.fields)
            return F.when(column.isNotNull(), F.struct(*fields))
        case _:
            return column


def _is_hard(kind: DataType) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

    match kind:
        case VariantType() | MapType():
            return True
        case ArrayType(elementType=element):
            return _is_hard(element)
        case StructType():
            return any(_is_hard(field.dataType) for field in kind.fields)
        case _:
            return False


def _with_numbers_of(schema: StructType, record: Any) -> Any:
    """A record with the numbers that its columns hold: 1 is 1.0, as on the driver, but a DOUBLE holds only the one."""
    names = schema.fieldNames()
    match record:
        case Mapping() if set(record) == set(names):
            values = [record[name] for name in names]
        case Record() | list() | tuple() if len(record) == len(names):
            values = list(record)
        case _:
            return record
    return [_number(value, field.dataType.typeName()) for value, field in zip(values, schema.fields, strict=True)]


def _number(value: Any, kind: str) -> Any:
    make = _NUMBERS.get(kind)
    if make is None or type(value) is make or not isinstance(value, int | float | Decimal):
        return value
    try:
        made = make(value)
    except (ValueError, OverflowError):  # there is no such whole number as NaN
        return value
    return made if made == value else value


_NUMBERS: Mapping[str, type] = {
    "boolean": bool,
    **dict.fromkeys(("byte", "short", "integer", "long", "tinyint", "smallint", "int", "bigint"), int),
    **dict.fromkeys(("float", "double"), float),
    "decimal": Decimal,
}


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
    package = Path(__file__).parents[2]
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
    if (
        module is None
        or not getattr(module, "__file__", None)
        or "site-packages" in str(module.__file__)
        or module.__name__ in cloudpickle.list_registry_pickle_by_value()  # by the user, who wants it to stay so
    ):
        yield
        return
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)
