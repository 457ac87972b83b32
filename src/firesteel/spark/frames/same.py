"""Do two DataFrames hold the same rows? Spark answers: no more than a few rows come to the driver.

Every column is brought into a form in which equal values are equal to Spark (maps as sorted entries, structs with their
fields in the left frame's order, types that Spark cannot group as text). Then the rows of both sides are counted
together, those of the right below zero, and what does not come out at zero is different. Where order matters, a row's
place, in the frame or among the rows of its key, is one more column.

NaN equals NaN, null equals null and -0.0 equals 0.0, at any depth: Spark groups so, and `values.equality` agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.names import counted
from firesteel.spark.engines.recorded import from_local, with_unique_names
from firesteel.values.checks import Check
from firesteel.values.equality import Equality, canonical
from firesteel.values.pairing import left_over
from firesteel.values.records import Record, make_record
from firesteel.values.schemas import type_ddl
from firesteel.values.streams import difference as told_apart

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

SHOWN = 10
"""How many differing rows of each side come to the driver, where Spark can decide alone."""

ON_DRIVER = 100_000
"""How many rows without an exact equal, of both sides together, are compared on the driver with tolerances or `by=`."""

# A million rows are counted faster in several small tables than in two large ones, one for each core. Where the session
# has more partitions, they are Spark's to choose.
_PARTITIONS = 8

_COUNT, _PLACE = "count", "place"
_Convert: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True)
class Odd:
    """A row of one side, as often as the other side lacks it."""

    record: Record
    times: int = 1
    place: int | None = None
    """From 0, in the frame or among the rows of its key; None where order does not matter."""


@dataclass(frozen=True)
class Difference:
    """How two frames differ: rows that are only in one of them. All of them are counted, the first are kept."""

    only_left: int = 0
    only_right: int = 0
    left: tuple[Odd, ...] = ()
    right: tuple[Odd, ...] = ()
    key: tuple[str, ...] | None = None
    """The columns whose values tell which rows keep their order; none where all do, None where no order matters."""
    schema: tuple[str, ...] = ()
    """How the schemas differ, in lines; then no rows were compared."""
    reason: str = ""
    """What a matcher said, where one compared the rows."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Undecided:
    """Too many rows have no exact equal for the driver to compare them."""

    only_left: int
    only_right: int
    equal: Equality

    @property
    def reason(self) -> str:
        return (
            f"{counted(self.only_left, 'row')} only left and {self.only_right} only right have no exact equal: that is "
            f"more than the {ON_DRIVER:,} that are compared on the driver with {self.equal!r}. "
            "Round the columns in Spark first, with F.round, or compare the frames part by part"
        )


@dataclass(frozen=True)
class Places:
    """A row's place matters: among the rows with the same values in `key`, or in the frame."""

    key: tuple[str, ...] = ()


def require_frames(left: Any, right: Any) -> None:
    """Refuse what cannot be compared in one Spark job."""
    for name, frame in (("left", left), ("right", right)):
        _require_frame(name, frame)
    if not left._jdf.sparkSession().equals(right._jdf.sparkSession()):
        raise InvalidArgument(
            "left and right belong to different Spark sessions, and no job can read both: make them in one session, "
            "or write one of them to a file and read it in the other's"
        )


def _require_frame(name: str, frame: Any) -> None:
    from pyspark.sql import DataFrame

    module = type(frame).__module__
    if module.startswith("pyspark.sql.connect"):
        raise InvalidArgument(
            f"{name}=... is a DataFrame of Spark Connect, which gives no handle on the JVM: make it in a classic "
            "session, SparkSession.builder.master(...) without .remote(...)"
        )
    if not isinstance(frame, DataFrame):
        instead = f"{name}.to_spark()" if module.startswith("pyspark.pandas") else "spark.createDataFrame(...)"
        raise InvalidArgument(f"{described(name, frame)} is no Spark DataFrame: write {instead}")
    if frame.isStreaming:
        raise InvalidArgument(
            f"{name}=... is a streaming DataFrame, which has no end: run it with fs.run(stream, subject) and compare "
            "its batches (batch.same_as(...), or batch.df here)"
        )


@contextmanager
def blaming(left: DataFrame, right: DataFrame) -> Iterator[None]:
    """Spark's own error, with a note that says which frame it came from."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        broken = [name for name, frame in (("left", left), ("right", right)) if _raises(frame)]
        if broken:
            error.add_note(f"fs.assert_same: Spark could not compute {' and '.join(broken)}")
        else:
            error.add_note("fs.assert_same: left and right can each be computed alone; comparing them failed")
        raise


def _raises(frame: DataFrame) -> bool:
    try:
        frame.write.format("noop").mode("overwrite").save()
    except Exception:
        return True
    return False


# --- which columns -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column of both frames: its index and its type on each side. The left one's type says how values are read."""

    name: str
    index: tuple[int, int]
    kinds: tuple[DataType, DataType]


def schema_difference(left: StructType, right: StructType, ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """How two schemas differ, in lines. The order of columns does not count, nor whether nulls may be in them.

    >>> from firesteel.values import schemas
    >>> schema_difference(schemas.parse("a INT, b STRING, c INT"), schemas.parse("c INT, a BIGINT"))
    ("column 'a': INT left, BIGINT right", "column 'b': STRING left, missing right")
    """
    mine, theirs = _kinds(left, ignore), _kinds(right, ignore)
    lines = []
    for name in (*mine, *(name for name in theirs if name not in mine)):
        said = [type_ddl(kinds[name]) if name in kinds else None for kinds in (mine, theirs)]
        if None not in said and _agree(mine[name], theirs[name]):
            continue
        lines.append(f"column {name!r}: {said[0] or 'missing'} left, {said[1] or 'missing'} right")
    return tuple(lines)


def _kinds(schema: StructType, ignore: Sequence[str]) -> dict[str, DataType]:
    unique = with_unique_names(schema)
    return {
        field.name: field.dataType
        for field, given in zip(unique.fields, schema.fields, strict=True)
        if given.name not in ignore
    }


def _columns(left: StructType, right: StructType, ignore: Sequence[str]) -> tuple[_Column, ...]:
    mine, theirs = _kinds(left, ignore), _kinds(right, ignore)
    places = [with_unique_names(schema).fieldNames().index for schema in (left, right)]
    return tuple(_Column(name, (places[0](name), places[1](name)), (kind, theirs[name])) for name, kind in mine.items())


def _agree(left: DataType, right: DataType) -> bool:
    """The same type, whatever may be null in it, and in whatever order the fields of its structs come."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match left, right:
        case ArrayType(), ArrayType():
            return _agree(left.elementType, right.elementType)
        case MapType(), MapType():
            return _agree(left.keyType, right.keyType) and _agree(left.valueType, right.valueType)
        case StructType(), StructType():
            mine, theirs = _kinds(left, ()), _kinds(right, ())
            return mine.keys() == theirs.keys() and all(_agree(kind, theirs[name]) for name, kind in mine.items())
        case _:
            return left == right


# --- the form of a value that Spark can compare --------------------------------------------------

# Spark cannot group these, or PySpark not collect them; by the names of their classes, which older versions lack.
_AS_TEXT = ("CalendarIntervalType", "YearMonthIntervalType")
_SPATIAL = ("GeometryType", "GeographyType")


def _is_plain(kind: DataType) -> bool:
    """Spark groups values of this type as they are."""
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    match kind:
        case ArrayType():
            return _is_plain(kind.elementType)
        case StructType():
            names = {name.lower() for name in kind.fieldNames()}  # fields are asked for by name, in any case
            return len(names) == len(kind.fields) and all(_is_plain(field.dataType) for field in kind.fields)
        case StringType():
            return kind == StringType()  # strings that a collation calls equal are different here
        case MapType():
            return False
        case _:
            return type(kind).__name__ not in (*_AS_TEXT, *_SPATIAL, "VariantType")


def _same_layout(own: DataType, goal: DataType) -> bool:
    from pyspark.sql.types import ArrayType, StructType

    match own, goal:
        case ArrayType(), ArrayType():
            return _same_layout(own.elementType, goal.elementType)
        case StructType(), StructType():
            return own.fieldNames() == goal.fieldNames() and all(
                _same_layout(mine.dataType, other.dataType) for mine, other in zip(own.fields, goal.fields, strict=True)
            )
        case _:
            return True


def _form(column: Column, own: DataType, goal: DataType) -> Column:
    """The value of a column of type `own` in the form that stands for all its equals, laid out as `goal`."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    if _is_plain(own) and _same_layout(own, goal):
        return column
    match own, goal:
        case ArrayType(), ArrayType():
            return F.transform(column, lambda item: _form(item, own.elementType, goal.elementType))
        case MapType(), MapType():
            return F.sort_array(
                F.transform(
                    F.map_entries(column),
                    lambda entry: F.struct(
                        _form(entry["key"], own.keyType, goal.keyType).alias("key"),
                        _form(entry["value"], own.valueType, goal.valueType).alias("value"),
                    ),
                )
            )
        case StructType(), StructType():
            return _struct_form(column, own, goal)
        case StringType(), _:
            return F.collate(column, "UTF8_BINARY")
        case _:
            return _text_form(column, own)


def _text_form(column: Column, own: DataType) -> Column:
    from pyspark.sql import functions as F

    match type(own).__name__:
        case "VariantType":
            # By what it means, not by its bytes: the same object can be written in several ways.
            text = F.concat(F.to_json(column), F.lit(" ("), F.call_function("schema_of_variant", column), F.lit(")"))
            return F.when(column.isNotNull(), text)
        case name if name in _SPATIAL:
            shape = F.hex(F.call_function("st_asbinary", column))
            text = F.concat(shape, F.lit(" (SRID "), F.call_function("st_srid", column).cast("string"), F.lit(")"))
            return F.when(column.isNotNull(), text)
        case _:
            return column.cast("string")


def _struct_form(column: Column, own: StructType, goal: StructType) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructField, StructType

    # By number: names may be given twice, or differ in their case alone. A cast goes by position.
    numbered = StructType([StructField(f"f{index}", field.dataType) for index, field in enumerate(own.fields)])
    places = {name: index for index, name in enumerate(_kinds(own, ()))}
    cast = column.cast(numbered)
    fields = [
        _form(cast.getField(f"f{places[name]}"), own.fields[places[name]].dataType, kind).alias(field)
        for (name, kind), field in zip(_kinds(goal, ()).items(), _field_names(goal), strict=True)
    ]
    return F.when(column.isNotNull(), F.struct(*fields))


def _field_names(goal: StructType) -> list[str]:
    """What a struct's fields are called in its form."""
    return goal.fieldNames() if _is_plain(goal) else [f"f{index}" for index in range(len(goal.fields))]


# --- and back: from that form to a record --------------------------------------------------------


def _back(kind: DataType) -> _Convert | None:
    """From what is collected of a form to the value; None where it is the value."""
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType, TimestampType

    match kind:
        case TimestampType():
            return _moment_back
        case BinaryType():
            return bytes
        case ArrayType(elementType=inner):
            return _list_back(_back(inner))
        case MapType(keyType=key, valueType=value):
            return _map_back(_back(key), _back(value))
        case StructType():
            return _record_back(list(_kinds(kind, ()).items()))
        case _:
            return None


def _moment_back(moment: Any) -> Any:
    return from_local(moment) if isinstance(moment, datetime) else moment  # else text: see _collected


def _item_back(change: _Convert | None, item: Any) -> Any:
    return item if item is None or change is None else change(item)


def _list_back(change: _Convert | None) -> _Convert:
    return lambda items: [_item_back(change, item) for item in items]


def _map_back(key: _Convert | None, value: _Convert | None) -> _Convert:
    return lambda entries: {_hashable(_item_back(key, entry[0])): _item_back(value, entry[1]) for entry in entries}


def _hashable(key: Any) -> Any:
    return tuple(map(_hashable, key)) if isinstance(key, list) else key


def _record_back(kinds: Sequence[tuple[str, DataType]]) -> Callable[[Sequence[Any]], Record]:
    changes = [(name, _back(kind)) for name, kind in kinds]

    def record(values: Sequence[Any]) -> Record:
        return make_record(
            {name: _item_back(change, item) for (name, change), item in zip(changes, values, strict=False)}
        )

    return record


# --- the rows that differ ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rows:
    """Rows in comparable form, each with a count: above zero in the left frame, below in the right."""

    frame: DataFrame
    columns: tuple[_Column, ...]
    placed: bool

    @property
    def names(self) -> list[str]:
        return _names(self.columns)

    @property
    def keys(self) -> list[str]:
        """The columns in which two rows are told apart."""
        return [*self.names, *self._place]

    @property
    def order(self) -> list[str]:
        """The order in which rows are shown."""
        return [*self._place, *self.names]

    @property
    def _place(self) -> list[str]:
        return [_PLACE] if self.placed else []

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many rows of the left, and of the right."""
        from pyspark.sql import functions as F

        count = F.col(_COUNT)
        found = self.frame.agg(
            F.sum(F.greatest(count, F.lit(0))).alias("left"), F.sum(F.greatest(-count, F.lit(0))).alias("right")
        ).collect()[0]
        return found["left"] or 0, found["right"] or 0

    def first(self) -> tuple[tuple[Odd, ...], tuple[Odd, ...]]:
        """The first rows of each side, in the order of places and then of values."""
        from pyspark.sql import functions as F

        sides = [
            self.frame.where(of_side).orderBy(*self.order).limit(SHOWN)
            for of_side in (F.col(_COUNT) > 0, F.col(_COUNT) < 0)
        ]
        return self.read(sides[0].unionAll(sides[1]))

    def read(self, frame: DataFrame | None = None) -> tuple[tuple[Odd, ...], tuple[Odd, ...]]:
        """All rows of each side."""
        back = _record_back([(column.name, column.kinds[0]) for column in self.columns])
        sides: tuple[list[Odd], list[Odd]] = ([], [])
        for row in _collected(self.frame if frame is None else frame):
            place = row[_PLACE] if self.placed else None
            count = row[_COUNT]
            sides[count < 0].append(Odd(back(row), abs(count), place))
        return tuple(sides[0]), tuple(sides[1])


def _names(columns: Sequence[_Column]) -> list[str]:
    return [f"c{index}" for index in range(len(columns))] or ["nothing"]


def _collected(frame: DataFrame) -> list[Any]:
    from pyspark.sql import functions as F

    try:
        return frame.collect()
    except (ValueError, OverflowError):
        # Moments that Python cannot hold: years outside 1 to 9999. Their text says enough.
        return frame.select(
            *(F.col(field.name).cast(_times_as_text(field.dataType)).alias(field.name) for field in frame.schema.fields)
        ).collect()


def _times_as_text(kind: DataType) -> DataType:
    from pyspark.sql.types import ArrayType, StringType, StructField, StructType

    match kind:
        case ArrayType():
            return ArrayType(_times_as_text(kind.elementType))
        case StructType():
            return StructType([StructField(field.name, _times_as_text(field.dataType)) for field in kind.fields])
        case _:
            times = ("TimestampType", "TimestampNTZType", "DateType", "DayTimeIntervalType")
            return StringType() if type(kind).__name__ in times else kind


def _side(frame: DataFrame, side: int, columns: Sequence[_Column]) -> DataFrame:
    """One frame in comparable form, its columns by number."""
    from pyspark.sql import functions as F

    numbered = frame.toDF(*(f"i{index}" for index in range(len(frame.columns))))
    forms = [
        _form(F.col(f"i{column.index[side]}"), column.kinds[side], column.kinds[0]).alias(name)
        for name, column in zip(_names(columns), columns, strict=False)
    ]
    return numbered.select(*forms or [F.lit(0).alias("nothing")])


def records(frame: DataFrame) -> Iterator[Record]:
    """A frame's rows, in order, a partition at a time on the driver."""
    columns = _columns(frame.schema, frame.schema, ())
    back = _record_back([(column.name, column.kinds[0]) for column in columns])
    return map(back, _side(frame, 0, columns).toLocalIterator(prefetchPartitions=True))


def _with_places(frame: DataFrame, key: Sequence[str]) -> DataFrame:
    """The frame with the place of every row: among the rows of the same key, or, without one, in the frame."""
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


def _together(left: DataFrame, right: DataFrame) -> DataFrame:
    """The rows of both frames, those of the right with a count below zero."""
    from pyspark.sql import functions as F

    return left.withColumn(_COUNT, F.lit(1)).unionAll(right.withColumn(_COUNT, F.lit(-1)))


def _uneven(both: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The rows that do not come as often in the one frame as in the other."""
    from pyspark.sql import functions as F

    # Rows are brought together before they are counted: most come once on each side, so that counting them on the way
    # there would cost a table of them all, and save nothing.
    few = int(both.sparkSession.conf.get("spark.sql.shuffle.partitions") or 0) < _PARTITIONS
    beside = both.repartition(_PARTITIONS, *keys) if few else both.repartition(*keys)
    return beside.groupBy(*keys).agg(F.sum(_COUNT).alias(_COUNT)).where(f"{_COUNT} != 0")


# --- the answer ----------------------------------------------------------------------------------


def difference(
    left: DataFrame, right: DataFrame, equal: Equality, places: Places | None = None
) -> Difference | Undecided | None:
    """How the rows of two frames with columns of the same types differ; None where they do not."""
    columns = _columns(left.schema, right.schema, equal.ignore)
    sides = [_side(left, 0, columns), _side(right, 1, columns)]
    key: list[str] = []
    if places is not None:
        numbers = {column.name: name for name, column in zip(_names(columns), columns, strict=False)}
        key = [numbers[name] for name in places.key]
        sides = [_with_places(side, key) for side in sides]
    both = _Rows(_together(*sides), columns, places is not None)
    with _cached(_uneven(both.frame, both.keys)) as frame:
        uneven = replace(both, frame=frame)
        if uneven.counts == (0, 0):
            return None
        if equal.exact and equal.by is None:
            return _told(uneven.counts, uneven.first(), places)
        return _judged(uneven, both, equal, places, key)


def check(batch: DataFrame, other: DataFrame, equal: Equality) -> Check:
    """What `Batch.same_as(other, equal=...)` answers of records that stay in Spark."""
    columns = schema_difference(batch.schema, other.schema, equal.ignore)
    if columns:
        here = [line.replace(" left", " here").replace(" right", " there") for line in columns]
        return Check(False, f"the columns differ: {'; '.join(here)}")
    found = difference(batch, other, equal)
    if isinstance(found, Undecided):
        raise InvalidArgument(f"{described('equal', equal)} cannot be used here: {found.reason}")
    if found is None:
        return Check(True)
    missing, extra = ([row.record for row in side for _ in range(row.times)] for side in (found.right, found.left))
    return told_apart(missing=missing, extra=extra, counts=(found.only_right, found.only_left))


@contextmanager
def _cached(frame: DataFrame) -> Iterator[DataFrame]:
    # A second job asks for the first rows that differ. It must see those that were counted, and not count again.
    kept = frame.persist()
    try:
        yield kept
    finally:
        kept.unpersist()


def _told(
    counts: tuple[int, int],
    odd: tuple[Sequence[Odd], Sequence[Odd]],
    places: Places | None,
    notes: tuple[str, ...] = (),
) -> Difference:
    key = None if places is None else places.key
    return Difference(*counts, tuple(odd[0][:SHOWN]), tuple(odd[1][:SHOWN]), key, notes=notes)


# --- tolerances, and functions of the user -------------------------------------------------------


def _judged(
    uneven: _Rows, both: _Rows, equal: Equality, places: Places | None, key: Sequence[str]
) -> Difference | Undecided | None:
    """What is left of the rows without an exact equal when the equality has had its say."""
    with ExitStack() as stack:
        apart = None if equal.exact else _without_close(uneven, equal, key)
        if apart is not None:
            uneven = replace(uneven, frame=stack.enter_context(_cached(apart)))
        if uneven.counts == (0, 0):
            return None
        if sum(uneven.counts) > ON_DRIVER:
            return Undecided(*uneven.counts, equal)
        odd = uneven.read(uneven.frame.orderBy(*uneven.order))
    if places is not None:
        return _judged_by_place(odd, equal, places)
    alone = _alone(odd, equal)
    notes: tuple[str, ...] = ()
    if any(alone) and not equal.exact:
        # Closeness makes no classes: the exact equal of a row may be the only one that is close to another row.
        if both.frame.limit(ON_DRIVER + 1).count() <= ON_DRIVER:
            alone = _alone(both.read(), equal)
        else:
            notes = (f"{equal!r}: rows that are exactly equal were paired first, then those that are close",)
    if not any(alone):
        return None
    counts = (sum(row.times for row in alone[0]), sum(row.times for row in alone[1]))
    return _told(counts, alone, None, notes)


def _alone(odd: tuple[Sequence[Odd], Sequence[Odd]], equal: Equality) -> tuple[list[Odd], list[Odd]]:
    """The rows that find no equal."""
    left, right = ([row.record for row in side for _ in range(row.times)] for side in odd)
    over = left_over(left, right, equal, typed=True)
    return [Odd(record) for record in over[0]], [Odd(record) for record in over[1]]


def _judged_by_place(odd: tuple[Sequence[Odd], Sequence[Odd]], equal: Equality, places: Places) -> Difference | None:
    """Rows at the same place are compared with each other, and with no other row."""
    left, right = ({_where(row, places): row for row in side} for side in odd)
    at = [where for where in left if where in right and equal.equal(left[where].record, right[where].record)]
    for where in at:
        del left[where], right[where]
    if not left and not right:
        return None
    rest = tuple(sorted(side.values(), key=lambda row: row.place or 0) for side in (left, right))
    return _told((len(left), len(right)), (rest[0], rest[1]), places)


def _where(row: Odd, places: Places) -> Hashable:
    return row.place, tuple(canonical(row.record[name]) for name in places.key)


def _without_close(rows: _Rows, equal: Equality, key: Sequence[str]) -> DataFrame | None:
    """The rows without those that are alone with one of the other side, and close to it.

    Alone: no other row has the same place and the same values in all columns without floats. None where there is
    neither a place nor such a column.
    """
    from pyspark.sql import functions as F

    floats = {
        name: column.kinds[0]
        for name, column in zip(rows.names, rows.columns, strict=False)
        if _has_floats(column.kinds[0]) and name not in key
    }
    firm = [name for name in rows.keys if name not in floats]
    if not floats or not firm:
        return None
    count, values = F.col(_COUNT), F.struct(*floats)
    groups = rows.frame.groupBy(*firm).agg(
        F.sum(F.greatest(count, F.lit(0))).alias("left"),
        F.sum(F.greatest(-count, F.lit(0))).alias("right"),
        F.first(F.when(count > 0, values), ignorenulls=True).alias("one"),
        F.first(F.when(count < 0, values), ignorenulls=True).alias("other"),
    )
    close = [_close(F.col("one")[name], F.col("other")[name], kind, equal) for name, kind in floats.items()]
    pairs = (F.col("left") == 1) & (F.col("right") == 1) & reduce(lambda a, b: a & b, close)
    settled = groups.where(F.coalesce(pairs, F.lit(False))).select(*(F.col(name).alias(f"{name}_") for name in firm))
    same = [F.col(name).eqNullSafe(F.col(f"{name}_")) for name in firm]
    return rows.frame.join(settled, same, "left_anti")


def _has_floats(kind: DataType) -> bool:
    """Are there floats in values of this type that a tolerance applies to? Not in the keys of maps."""
    from pyspark.sql.types import ArrayType, DoubleType, FloatType, MapType, StructType

    match kind:
        case FloatType() | DoubleType():
            return True
        case ArrayType():
            return _has_floats(kind.elementType)
        case MapType():
            return _has_floats(kind.valueType)
        case StructType():
            return any(_has_floats(field.dataType) for field in kind.fields)
        case _:
            return False


def _close(one: Column, other: Column, kind: DataType, equal: Equality) -> Column:
    """What `Equality.equal` says of two values, as an expression of Spark over their forms."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, DoubleType, FloatType, MapType, StructType

    same = one.eqNullSafe(other)
    if not _has_floats(kind):
        return same
    match kind:
        case FloatType() | DoubleType():
            a, b = one.cast("double"), other.cast("double")
            largest = F.greatest(F.abs(a), F.abs(b))
            reach = F.greatest(largest * F.lit(equal.rel_tol), F.lit(equal.abs_tol))
            near = (largest < F.lit(float("inf"))) & (F.abs(a - b) <= reach)
        case ArrayType():
            near = _all_close(one, other, lambda a, b: _close(a, b, kind.elementType, equal))
        case MapType():
            near = _all_close(
                one,
                other,
                lambda a, b: a["key"].eqNullSafe(b["key"]) & _close(a["value"], b["value"], kind.valueType, equal),
            )
        case StructType():
            return _structs_close(one, other, kind, equal)
        case _:
            near = same
    return F.coalesce(same | near, F.lit(False))


def _all_close(one: Column, other: Column, close: Callable[[Column, Column], Column]) -> Column:
    from pyspark.sql import functions as F

    return (F.size(one) == F.size(other)) & F.forall(F.zip_with(one, other, close), lambda answer: answer)


def _structs_close(one: Column, other: Column, kind: StructType, equal: Equality) -> Column:
    from pyspark.sql import functions as F

    fields = [
        _close(one.getField(name), other.getField(name), field.dataType, equal)
        for name, field in zip(_field_names(kind), kind.fields, strict=True)
    ]
    both = one.isNotNull() & other.isNotNull() & reduce(lambda x, y: x & y, fields)
    return F.coalesce((one.isNull() & other.isNull()) | both, F.lit(False))
