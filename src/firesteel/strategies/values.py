"""Hypothesis strategies for the values of every Spark SQL type that PySpark can carry.

Records, batches and streams are made of these in the other modules of `firesteel.strategies`; what a type can hold is
said in `firesteel.values.schemas`.

Each strategy has a plain part that shrinks to a simple value, and the values that break pipelines: limits, NaN, the
calendar's switch, strings that are hard to quote. About one value in five is such a one, and one in ten is null.
"""

from __future__ import annotations

import json
import math
import string
import struct
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from firesteel.errors import InvalidArgument, described
from firesteel.values.records import Record
from firesteel.values.schemas import carried, type_ddl
from firesteel.values.schemas.atoms import int_range, interval_unit
from firesteel.values.schemas.fit import same_key

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_EPOCH = datetime(1970, 1, 1)
_LAST_DAY_OF_2099 = (date(2099, 12, 31) - _EPOCH.date()).days

# `collect` gives timestamps in the local zone and fails outside the years 1 to 9999. No zone is three days from UTC.
_FIRST_MOMENT = datetime(1, 1, 4)
_LAST_MOMENT = datetime(9999, 12, 28, 23, 59, 59, 999999)

_STRINGS = [
    "",
    " ",
    "x" * 10_000,
    "\0",
    "a\nb\r\n\tc",
    "'\"`\\",
    "😀",
    "👩‍👩‍👧",  # one glyph of five code points
    "e\u0301",  # é in two code points, and in one below
    "\u00e9",
    "İıßẞ",  # change length or identity with their case
    "\u202eabc",  # right to left
    "\ufeff",
    "null",
    "NaN",
    "0",
    "1e400",
    "2021-02-30",
    "a,b;c|d",
    "%_$1{}",
]
_BINARIES = [b"", b"\0", b"\xff", b"\xc3\x28", bytes(range(256)), b"x" * 10_000]
_DATES = [
    date(1970, 1, 1),
    date(1, 1, 1),
    date(9999, 12, 31),
    date(1582, 10, 4),  # the last day of the Julian calendar, and the first of the Gregorian
    date(1582, 10, 15),
    date(1582, 10, 10),  # between them: never was, but Spark's calendar has it
    date(1900, 2, 28),
    date(2000, 2, 29),
    date(2024, 2, 29),
    date(1969, 12, 31),
    date(2038, 1, 19),
]
_MOMENTS = [
    _EPOCH,
    _FIRST_MOMENT,
    _LAST_MOMENT,
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(1582, 10, 4, 23, 59, 59, 999999),
    datetime(1582, 10, 15),
    datetime(1883, 11, 18, 17, 0, 0),  # time zones begin in North America
    datetime(2000, 2, 29, 12, 0, 0, 1),
    datetime(2016, 12, 31, 23, 59, 59, 999999),  # a leap second follows
    datetime(2021, 3, 14, 10, 0, 0),  # clocks change in Los Angeles: forward, then back
    datetime(2021, 11, 7, 8, 59, 59, 999999),
    datetime(2021, 11, 7, 9, 30, 0),
    datetime(2038, 1, 19, 3, 14, 8),
]
_JSON = [
    "0",
    "null",
    "true",
    '""',
    "[]",
    "{}",
    "1.5",
    "-1e300",
    "9223372036854775807",
    "99999999999999999999999999999999999999",
    '{"a": [1, null, {"b": "é😀"}], "": false}',
    json.dumps("x" * 200),
]


def values(type: DataType, nullable: bool = True) -> SearchStrategy[Any]:
    """Values of a Spark type as Python holds them, the interesting ones among them; nulls where nullable.

    Structs are records, timestamps are aware and in UTC, decimals have exactly the scale of their type.

    >>> from hypothesis import find
    >>> from pyspark.sql.types import ByteType
    >>> find(values(ByteType()), lambda n: n == 101)
    101

    A type that PySpark cannot carry is refused:

    >>> from pyspark.sql.types import YearMonthIntervalType
    >>> values(YearMonthIntervalType())
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: type=YearMonthIntervalType(0, 1) (YearMonthIntervalType) cannot be generated: \
INTERVAL YEAR TO MONTH cannot be sent to Spark from Python, nor collected: use INT, the number of months
    """
    from pyspark.sql.types import DataType

    if not isinstance(type, DataType):
        raise InvalidArgument(
            f"{described('type', type)} is not a Spark type: write one of pyspark.sql.types, such as LongType(), "
            "or schemas.parse('user BIGINT') for a struct"
        )
    if (refusal := carried(type)) is not None:
        raise InvalidArgument(f"{described('type', type)} cannot be generated: {refusal}")
    return _values(type, nullable)


def _values(kind: Any, nullable: bool, is_key: bool = False) -> SearchStrategy[Any]:
    match kind.__class__.__name__:
        case "BooleanType":
            return st.sampled_from([False, True] * 5 + [None] if nullable else [False, True])
        case "NullType":
            return _nothing_but_null(kind, nullable)
        case "StringType" if is_key and kind.collation != "UTF8_BINARY":
            # A collation may take "a" and "A" for one key, and ignore many characters. It keeps these all apart.
            return st.text(string.ascii_lowercase + string.digits)
        case "ArrayType":
            return _mixed([(1, st.lists(_values(kind.elementType, kind.containsNull), max_size=8))], [], nullable)
        case "MapType":
            return _mixed([(1, _maps(kind))], [], nullable)
        case "StructType":
            return _mixed([(1, _records(kind, is_key))], [], nullable)
        case _:
            return _atoms(kind, nullable)


def _atoms(kind: Any, nullable: bool) -> SearchStrategy[Any]:
    match kind.__class__.__name__:
        case "StringType":
            return _mixed([(1, st.text(max_size=20))], _STRINGS, nullable)
        case "BinaryType":
            return _mixed([(1, st.binary(max_size=20))], _BINARIES, nullable)
        case "FloatType":
            return _mixed([(1, st.floats(width=32))], _floats("f"), nullable)
        case "DoubleType":
            return _mixed([(1, st.floats())], _floats("d"), nullable)
        case "DecimalType":
            return _decimals(kind.precision, kind.scale, nullable)
        case "DateType":
            return _dates(nullable)
        case "TimestampType":
            return _moments(nullable, in_utc=True)
        case "TimestampNTZType":
            return _moments(nullable, in_utc=False)
        case "TimeType":
            return _times(kind.precision, nullable)
        case "DayTimeIntervalType":
            return _intervals(interval_unit(kind), nullable)
        case "VariantType":
            return _variants(nullable)
        case "GeometryType" | "GeographyType":
            return _shapes(kind, nullable)
        case _:
            return _integers(kind, nullable)


def _mixed(
    plain: Sequence[tuple[int, SearchStrategy[Any]]], special: Sequence[Any], nullable: bool
) -> SearchStrategy[Any]:
    """The plain strategies by weight, the special values in one case of five, null in one of ten.

    `one_of` has no weights, so one choice picks the row of a table. Plain rows come first: shrinking goes there.
    """
    simplest = plain[0][1]
    unit = sum(weight for weight, _ in plain)
    table: list[SearchStrategy[Any]] = []
    for weight, strategy in plain:
        table += [strategy] * (14 * weight)
    if special:
        table += [st.sampled_from(special)] * (4 * unit)
    if nullable:
        # To Hypothesis fewer choices are simpler. So that null does not always win, it takes as many as a value.
        table += [simplest.map(lambda _: None)] * (2 * unit)
    if len(table) == 14 * unit and len(plain) == 1:
        return simplest
    return _from_table(table, st.integers(0, len(table) - 1))


@st.composite
def _from_table(draw: st.DrawFn, table: list[SearchStrategy[Any]], row: SearchStrategy[int]) -> Any:
    return draw(table[draw(row)])


def _nothing_but_null(kind: DataType, nullable: bool) -> SearchStrategy[None]:
    if not nullable:
        raise InvalidArgument(f"{described('nullable', nullable)}: {type_ddl(kind)} holds only nulls: allow them")
    return st.none()


def _integers(kind: DataType, nullable: bool) -> SearchStrategy[int | None]:
    low, high = int_range(kind) or (0, 0)
    special = [0, 1, -1, high, low, high - 1, low + 1]
    return _mixed([(1, st.integers(low, high))], special, nullable)


def _floats(width: str) -> list[float]:
    """The limits of a format: f is FLOAT, d is DOUBLE."""
    shape, whole = ("<I", 0x7F7FFFFF) if width == "f" else ("<Q", 0x7FEFFFFFFFFFFFFF)
    smallest_normal = 0x00800000 if width == "f" else 0x0010000000000000
    (greatest, normal, least) = (
        struct.unpack(f"<{width}", struct.pack(shape, bits))[0] for bits in (whole, smallest_normal, 1)
    )
    exact = 2.0**24 if width == "f" else 2.0**53  # from here on, not every whole number has a float
    return [0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, 0.5, greatest, -greatest, normal, least, -least, exact]


def _decimals(precision: int, scale: int, nullable: bool) -> SearchStrategy[Decimal | None]:
    def decimal(unscaled: int) -> Decimal:
        return Decimal(f"{unscaled}E-{scale}")  # from text, as arithmetic would round to 28 digits

    most = 10**precision - 1
    special = [0, 1, -1, most, -most, most // 2 + 1] + [10**scale] * (scale < precision)
    return _mixed([(1, st.integers(-most, most).map(decimal))], list(map(decimal, special)), nullable)


def _dates(nullable: bool) -> SearchStrategy[date | None]:
    zero = _EPOCH.toordinal()
    recent = st.integers(0, _LAST_DAY_OF_2099).map(lambda day: date.fromordinal(zero + day))
    ever = st.integers(1 - zero, date.max.toordinal() - zero).map(lambda day: date.fromordinal(zero + day))
    return _mixed([(3, recent), (1, ever)], _DATES, nullable)


def _moments(nullable: bool, in_utc: bool) -> SearchStrategy[datetime | None]:
    epoch = _EPOCH.replace(tzinfo=UTC) if in_utc else _EPOCH
    first, last = ((moment - _EPOCH) // timedelta(microseconds=1) for moment in (_FIRST_MOMENT, _LAST_MOMENT))
    recent = st.integers(0, _LAST_DAY_OF_2099 * 86_400).map(lambda seconds: epoch + timedelta(seconds=seconds))
    ever = st.integers(first, last).map(lambda micros: epoch + timedelta(microseconds=micros))
    special = [moment.replace(tzinfo=epoch.tzinfo) for moment in _MOMENTS]
    return _mixed([(3, recent), (1, ever)], special, nullable)


def _times(precision: int, nullable: bool) -> SearchStrategy[time | None]:
    step = 10 ** max(0, 6 - precision)  # Python's times end at microseconds, TIME(9) does not

    def at(steps: int) -> time:
        return (_EPOCH + timedelta(microseconds=steps * step)).time()

    last = 86_400_000_000 // step - 1
    special = [at(0), at(last), at(last // 2 + 1), at(last // 2), at(1)]
    return _mixed([(1, st.integers(0, last).map(at))], special, nullable)


def _intervals(unit: int, nullable: bool) -> SearchStrategy[timedelta | None]:
    def interval(units: int) -> timedelta:
        return timedelta(microseconds=units * unit)

    most = (2**63 - 1) // unit
    least = -(2**63 // unit)
    special = [interval(units) for units in (0, 1, -1, most, least, 86_400_000_000 // unit)]
    return _mixed([(1, st.integers(least, most).map(interval))], special, nullable)


def _variants(nullable: bool) -> SearchStrategy[Any]:
    from pyspark.sql.types import VariantVal

    plain = st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(max_size=20)).map(json.dumps)
    return _mixed([(1, plain.map(VariantVal.parseJson))], list(map(VariantVal.parseJson, _JSON)), nullable)


def _shapes(kind: Any, nullable: bool) -> SearchStrategy[Any]:
    """Points, as Well-Known Binary: enough to carry the type through a pipeline."""
    from pyspark.sql import types as spark

    on_earth = kind.__class__.__name__ == "GeographyType"
    make: Any = spark.Geography if on_earth else spark.Geometry
    srid = kind.srid if kind.srid >= 0 else 4326  # -1 stands for ANY

    def point(at: tuple[float, float]) -> Any:
        return make.fromWKB(struct.pack("<BIdd", 1, 1, *at), srid)

    across, up = (180.0, 90.0) if on_earth else (1e6, 1e6)
    plain = st.tuples(st.floats(-across, across), st.floats(-up, up)).map(point)
    special = [(0.0, 0.0), (across, 0.0), (-across, 0.0), (0.0, up), (0.0, -up)]
    return _mixed([(1, plain)], list(map(point, special)), nullable)


def _maps(kind: Any) -> SearchStrategy[dict[Any, Any]]:
    items = st.tuples(_values(kind.keyType, False, is_key=True), _values(kind.valueType, kind.valueContainsNull))
    return st.lists(items, max_size=8, unique_by=lambda item: same_key(item[0])).map(dict)


def _records(kind: Any, is_key: bool) -> SearchStrategy[Record]:
    names = [field.name for field in kind.fields]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidArgument(f"{described('type', kind)} has two columns named {twice!r}: rename one")
    fields = st.tuples(*(_values(field.dataType, field.nullable, is_key) for field in kind.fields))
    return fields.map(lambda row: Record(dict(zip(names, row, strict=True))))
