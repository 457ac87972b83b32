"""Which Python values fit which Spark types, and which types PySpark can carry at all. Reading and writing schemas
is not here: see `firesteel.values.schemas.ddl`.

"Fits" means that PySpark carries the value exactly. createDataFrame is more lenient: it turns 1 into '1' for a STRING,
rounds 1.25 for a DECIMAL(3,1) and gives null for an interval out of range; none of these fits.

Types are told apart by the name of their class, because older PySparks lack some classes; so this module needs no
PySpark.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.values.records import freeze, shown
from firesteel.values.schemas.ddl import type_ddl

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

# Why a value does not fit: the path to the offending part (".address.zip", "[2]", or "" for the value itself), and
# the reason in words.
_Why: TypeAlias = "tuple[str, str]"
_Check: TypeAlias = Callable[[Any], "_Why | None"]

_BITS = {"ByteType": 8, "ShortType": 16, "IntegerType": 32, "LongType": 64}


def int_range(kind: DataType) -> tuple[int, int] | None:
    """The least and the greatest value of a type of whole numbers; None for other types.

    >>> from pyspark.sql.types import ByteType
    >>> int_range(ByteType())
    (-128, 127)
    """
    bits = _BITS.get(type(kind).__name__)
    return None if bits is None else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def misfit(value: Any, type: DataType, nullable: bool) -> str | None:
    """Why a value does not fit a type, with the path to the part that does not; None if it fits.

    >>> from firesteel.values.schemas import parse
    >>> users = parse("user BIGINT NOT NULL, tags ARRAY<STRING>")
    >>> misfit({"user": 15, "tags": ["a", None]}, users, False)
    >>> misfit({"user": "x", "tags": []}, users, False)
    "user: expected BIGINT, got 'x' (str)"
    >>> misfit((15, ["a", 3]), users, False)
    'tags[1]: expected STRING, got 3 (int)'
    """
    return _told(_check(type, nullable)(value))


def checker(schema: StructType) -> Callable[[Sequence[Any]], str | None]:
    """What `misfit` says, for many rows of one schema: takes a row's values, in the order of the columns.

    >>> from firesteel.values.schemas import parse
    >>> check = checker(parse("user BIGINT NOT NULL, n TINYINT"))
    >>> check((15, None))
    >>> check((15, 300))
    'n: 300 is out of range for TINYINT (-128 to 127)'
    """
    names = [field.name for field in schema.fields]
    checks = [_check(field.dataType, field.nullable) for field in schema.fields]

    def check(values: Sequence[Any]) -> str | None:
        if len(values) != len(checks):
            return _wrong_length(values, names)
        for name, column, value in zip(names, checks, values, strict=True):
            if (why := column(value)) is not None:
                return _told(_inside(f".{name}", why))
        return None

    return check


def _told(why: _Why | None) -> str | None:
    if why is None:
        return None
    path, reason = why
    return f"{path.removeprefix('.')}: {reason}" if path else reason


def _inside(step: str, why: _Why) -> _Why:
    return step + why[0], why[1]


def _got(value: Any) -> str:
    text = shown(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def _wrong_length(values: Sequence[Any], names: Sequence[str]) -> str:
    columns = f"column{'' if len(names) == 1 else 's'} ({', '.join(names)})"
    return f"{len(values)} value{'' if len(values) == 1 else 's'} for {len(names)} {columns}"


def _check(kind: DataType, nullable: bool, place: str = "the column is NOT NULL") -> _Check:
    why_not = _why_not(kind)
    null: _Why | None = None if nullable else ("", f"null, but {place}")

    def check(value: Any) -> _Why | None:
        return null if value is None else why_not(value)

    return check


def _why_not(kind: Any) -> _Check:
    """The check of values that are not null."""
    match type(kind).__name__:
        case "ByteType" | "ShortType" | "IntegerType" | "LongType":
            return _whole(kind)
        case "BooleanType":
            return _typed(kind, bool)
        case "StringType" | "CharType" | "VarcharType":
            return _string(kind, getattr(kind, "length", None))
        case "FloatType":
            return _typed(kind, float, more=_inexact)
        case "DoubleType":
            return _typed(kind, float)
        case "DecimalType":
            return _typed(kind, Decimal, more=_digits(kind))
        case "BinaryType":
            return _typed(kind, bytes, bytearray)
        case "DateType":
            return _typed(kind, datetime.date)
        case "TimestampType":
            return _typed(kind, datetime.datetime, more=_year)
        case "TimestampNTZType":
            return _typed(kind, datetime.datetime, more=_zone(kind))
        case "TimeType":
            return _typed(kind, datetime.time, more=_time(kind))
        case "DayTimeIntervalType":
            return _typed(kind, datetime.timedelta, more=_interval(kind))
        case "ArrayType":
            return _array(kind)
        case "MapType":
            return _map(kind)
        case "StructType":
            return _struct(kind)
        case "VariantType":
            return _named(kind, "VariantVal", "write VariantVal.parseJson('1')")
        case "GeometryType" | "GeographyType":
            return _spatial(kind, type(kind).__name__.removesuffix("Type"))
        case _:  # VOID holds nothing but null; the other types cannot be carried, so no value fits them
            return lambda value: ("", f"expected null, got {_got(value)}")


def _unexpected(kind: DataType, value: Any) -> _Why:
    text = type_ddl(kind)
    return "", f"expected {text if len(text) <= 60 else text[:57] + '...'}, got {_got(value)}{_advice(kind, value)}"


def _advice(kind: DataType, value: Any) -> str:
    """What to write instead of a near miss."""
    match type(kind).__name__, value:
        case "BooleanType", 0 | 1:
            return f": write {bool(value)}"
        case (("ByteType" | "ShortType" | "IntegerType" | "LongType"), bool()):
            return f": write {int(value)}"
        case (("FloatType" | "DoubleType"), int()) if not isinstance(value, bool):
            return f": write {value}.0"
        case "DecimalType", int() | float() if not isinstance(value, bool):
            return f": write Decimal('{value}')"
        case "DateType", datetime.datetime():
            return ": write its .date()"
        case (("TimestampType" | "TimestampNTZType"), datetime.date()):
            return f": write datetime({value.year}, {value.month}, {value.day})"
        case _:
            return ""


def _typed(kind: DataType, *accepted: type, more: Callable[[Any], str | None] | None = None) -> _Check:
    """Values of exactly these classes (PySpark takes no subclass of them), and `more` to say about these."""

    def why_not(value: Any) -> _Why | None:
        if type(value) not in accepted:
            return _unexpected(kind, value)
        reason = None if more is None else more(value)
        return None if reason is None else ("", reason)

    return why_not


def _whole(kind: DataType) -> _Check:
    low, high = int_range(kind) or (0, 0)

    def why_not(value: Any) -> _Why | None:
        if type(value) is int:
            if low <= value <= high:
                return None
            return "", f"{value} is out of range for {type_ddl(kind)} ({low} to {high})"
        return _unexpected(kind, value)

    return why_not


def _string(kind: DataType, length: int | None) -> _Check:
    def why_not(value: Any) -> _Why | None:
        if type(value) is not str:
            return _unexpected(kind, value)
        if length is not None and len(value) > length:
            return "", f"{_got(value)} has {len(value)} characters, more than {type_ddl(kind)}"
        # Asking for ASCII first costs nothing, and answers for most strings.
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            return "", f"{_got(value)} holds half of a surrogate pair, which UTF-8 cannot carry"
        return None

    return why_not


def _inexact(value: float) -> str | None:
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))  # the native "f" makes infinity of what is too large
    except OverflowError:
        return f"{value} is out of range for FLOAT"
    if single == value or value != value:
        return None
    return f"{value} is no FLOAT: the nearest is {single}; write that, or make the column DOUBLE"


def _digits(kind: Any) -> Callable[[Decimal], str | None]:
    def why_not(value: Decimal) -> str | None:
        if not value.is_finite():
            return f"{value} is no number that {type_ddl(kind)} can hold"
        _, digits, exponent = value.as_tuple()
        written = "".join(map(str, digits)).lstrip("0")
        kept = written.rstrip("0")
        if not kept:
            return None
        last = int(exponent) + len(written) - len(kept)  # the place of the last digit that is not 0
        if -last <= kind.scale and len(kept) + last <= kind.precision - kind.scale:
            return None
        return f"{value} has more digits than {type_ddl(kind)}"

    return why_not


def _year(value: datetime.datetime) -> str | None:
    try:
        if value.tzinfo is not None:
            value.astimezone(datetime.UTC)
    except OverflowError:
        return f"{value} is outside the years 1 to 9999 in UTC"
    return None


def _zone(kind: DataType) -> Callable[[Any], str | None]:
    def why_not(value: Any) -> str | None:
        if value.tzinfo is None:
            return None
        return f"{value} has a time zone, and {type_ddl(kind)} has none: write it with .replace(tzinfo=None)"

    return why_not


def _time(kind: Any) -> Callable[[datetime.time], str | None]:
    zone = _zone(kind)
    step = 10 ** max(0, 6 - kind.precision)

    def why_not(value: datetime.time) -> str | None:
        if value.microsecond % step:
            return f"{value} has more digits than {type_ddl(kind)}"
        return zone(value)

    return why_not


def interval_unit(kind: Any) -> int:
    """The microseconds in the last field of a day-time interval; the seconds have a fraction, so theirs is 1.

    >>> from pyspark.sql.types import DayTimeIntervalType
    >>> interval_unit(DayTimeIntervalType(0, 1)), interval_unit(DayTimeIntervalType())
    (3600000000, 1)
    """
    return (86_400_000_000, 3_600_000_000, 60_000_000, 1)[kind.endField]


def _interval(kind: Any) -> Callable[[datetime.timedelta], str | None]:
    unit = interval_unit(kind)

    def why_not(value: datetime.timedelta) -> str | None:
        microseconds = value // datetime.timedelta(microseconds=1)
        if not -(2**63) <= microseconds < 2**63:
            return f"{value} is out of range for {type_ddl(kind)} (about 106751991 days either way)"
        if microseconds % unit:
            return f"{value} is finer than {type_ddl(kind)}"
        return None

    return why_not


def _array(kind: Any) -> _Check:
    element = _check(kind.elementType, kind.containsNull, "this array holds no nulls")

    def why_not(value: Any) -> _Why | None:
        if type(value) not in (list, tuple):
            return _unexpected(kind, value)
        for index, item in enumerate(value):
            if (why := element(item)) is not None:
                return _inside(f"[{index}]", why)
        return None

    return why_not


def _map(kind: Any) -> _Check:
    check_key = _check(kind.keyType, False, "the key of a map never is")
    check_item = _check(kind.valueType, kind.valueContainsNull, "this map holds no nulls")

    def why_not(value: Any) -> _Why | None:
        if type(value) is not dict:
            return _unexpected(kind, value)
        for key, item in value.items():
            if (why := check_key(key)) is not None:
                return _inside(f"[key {shown(key)}]", why)
            if (why := check_item(item)) is not None:
                return _inside(f"[{shown(key)}]", why)
        if len({same_key(key) for key in value}) < len(value):
            return "", f"{_got(value)} has two keys that are one key for Spark"
        return None

    return why_not


def same_key(key: Any) -> Any:
    """A stand-in for the key of a map, equal for keys that Spark takes for one: all NaNs, a moment naive or in UTC.

    >>> same_key(float("nan")) == same_key(float("nan")), same_key(-0.0) == same_key(0.0)
    (True, True)
    """
    if isinstance(key, datetime.datetime) and key.tzinfo is None:
        return key.replace(tzinfo=datetime.UTC)
    return freeze(key)


def _struct(kind: Any) -> _Check:
    names = [field.name for field in kind.fields]
    row = [(f".{field.name}", _check(field.dataType, field.nullable)) for field in kind.fields]

    def why_not(value: Any) -> _Why | None:
        values: Sequence[Any]
        if isinstance(value, (list, tuple)):
            if len(value) != len(names):
                return "", _wrong_length(value, names)
            values = value
        else:
            columns = value if isinstance(value, Mapping) else getattr(value, "__dict__", None)
            if columns is None:
                return _unexpected(kind, value)
            if (why := _wrong_names(columns, names)) is not None:
                return why
            values = [columns[name] for name in names]
        for (step, check), item in zip(row, values, strict=True):
            if (why := check(item)) is not None:
                return _inside(step, why)
        return None

    return why_not


def _wrong_names(columns: Mapping[str, Any], names: list[str]) -> _Why | None:
    # PySpark reads a missing name as null and drops a name too many: a typing mistake would be lost data.
    for name in names:
        if name not in columns:
            return f".{name}", f"missing (there are {', '.join(map(str, columns)) or 'no names'}): write None for null"
    for name in columns:
        if name not in names:
            return f".{name}", f"no such column (there are {', '.join(names) or 'none'})"
    return None


def _named(kind: DataType, class_name: str, advice: str) -> _Check:
    """Values of one of PySpark's own classes, known by its name so that PySpark need not be imported."""

    def why_not(value: Any) -> _Why | None:
        if type(value).__name__ == class_name:
            return None
        path, reason = _unexpected(kind, value)
        return path, f"{reason}: {advice}"

    return why_not


def _spatial(kind: Any, class_name: str) -> _Check:
    """Whether a value is of the class and has the type's SRID; its bytes are for Spark to read."""
    named = _named(kind, class_name, f"write {class_name}.fromWKB(wkb, {max(kind.srid, 0)})")

    def why_not(value: Any) -> _Why | None:
        if (why := named(value)) is not None:
            return why
        if kind.srid not in (-1, value.srid):  # -1 stands for ANY
            return "", f"the SRID {value.srid} is not that of {type_ddl(kind)}"
        return None

    return why_not


def carried(type: DataType) -> str | None:
    """None where PySpark carries the type from Python to Spark and back, else a sentence why it does not.

    >>> from firesteel.values.schemas import parse
    >>> carried(parse("user BIGINT, at TIMESTAMP"))
    >>> carried(parse("age INTERVAL YEAR TO MONTH"))
    'age: INTERVAL YEAR TO MONTH cannot be sent to Spark from Python, nor collected: use INT, the number of months'
    """
    return _told(_not_carried(type, is_key=False))


# Measured with PySpark 4.3.0, createDataFrame and then collect, alone and nested in arrays, maps and structs:
# - Exact: BOOLEAN, all numbers (-0.0, NaN, infinities and subnormals too), STRING with or without a collation (NUL,
#   all planes of Unicode), BINARY, DATE (0001-01-01 to 9999-12-31, no gap in 1582), TIMESTAMP_NTZ, TIME and day-time
#   intervals. Spark does not enforce the digits of TIME(n) nor the fields of an interval; an interval out of range
#   becomes null without an error. TIME(7) to TIME(9) exist, but datetime.time has microseconds only.
# - TIMESTAMP: exact, but collect fails with "year 0 is out of range" for moments that are not within the years 1 to
#   9999 in the local time zone, and gives naive local times.
# - VOID: only null, yet toArrow fails for ARRAY<VOID>.
# - VARIANT, GEOMETRY, GEOGRAPHY: the same bytes come back, but toArrow fails where there is a null. VariantVal
#   has no ==, Geometry and Geography no hash. Spark checks WKB and SRID, for GEOGRAPHY also the bounds.
# - Keys of maps: Spark itself takes NaN for one key, but two structs with NaN for two, which Python's dict then merges;
#   keys that hold an array or a map are lists and dicts on the way back: collect fails with "unhashable type".
#   Keys that a collation calls equal stay two keys.
# - STRUCT<>: comes back as an empty Row.
# - CHAR and VARCHAR: createDataFrame fails with an internal error ("Logical plan should not have output of
#   char/varchar type"), unless spark.sql.preserveCharVarcharTypeInfo is set, and then no length is enforced.
# - Other intervals: neither createDataFrame nor collect nor Arrow, not even for nulls.
# - DECIMAL(0,0): parsed, but not even 0 fits.
def _not_carried(kind: Any, is_key: bool) -> _Why | None:
    name = type(kind).__name__
    if is_key and name in ("ArrayType", "MapType", "VariantType", "GeometryType", "GeographyType", "NullType"):
        return "", f"{type_ddl(kind)} cannot be in the key of a map in Python: use STRING, or an array of structs"
    match name:
        case "ArrayType":
            return _under(".element", _not_carried(kind.elementType, is_key))
        case "MapType":
            key = _under(".key", _not_carried(kind.keyType, True))
            return key or _under(".value", _not_carried(kind.valueType, is_key))
        case "StructType":
            found = (_under(f".{field.name}", _not_carried(field.dataType, is_key)) for field in kind.fields)
            return next(filter(None, found), None)
        case "CharType" | "VarcharType":
            return "", f"{type_ddl(kind)} cannot be the type of a DataFrame's column, only of a table's: use STRING"
        case "YearMonthIntervalType":
            return _no_way(kind, "use INT, the number of months")
        case "CalendarIntervalType":
            return _no_way(kind, "use INTERVAL DAY TO SECOND")
        case "DecimalType" if not (1 <= kind.precision <= 38 and 0 <= kind.scale <= kind.precision):
            return (
                "",
                f"{type_ddl(kind)} holds no number: use a precision of 1 to 38, and a scale of 0 to the precision",
            )
        case _ if name in _CARRIED:
            return None
        case _:
            return "", f"{kind!r} is none of Spark SQL's own types: use the type that it is stored as"


_CARRIED = frozenset(
    {*_BITS, "BooleanType", "FloatType", "DoubleType", "DecimalType", "StringType", "BinaryType", "DateType"}
    | {"TimestampType", "TimestampNTZType", "TimeType", "DayTimeIntervalType", "VariantType", "NullType"}
    | {"GeometryType", "GeographyType"}
)


def _under(step: str, why: _Why | None) -> _Why | None:
    return None if why is None else _inside(step, why)


def _no_way(kind: DataType, instead: str) -> _Why:
    return "", f"{type_ddl(kind)} cannot be sent to Spark from Python, nor collected: {instead}"
