"""Which Python values fit which Spark types.

"Fits" means that PySpark carries the value exactly. createDataFrame is more lenient: it turns 1 into '1' for a STRING,
rounds 1.25 for a DECIMAL(3,1) and gives null for an interval out of range; none of these fits.

Types are told apart by the names of their classes, because older PySparks lack some of these. So nothing here imports
PySpark.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from firesteel.values.records import freeze, shown
from firesteel.values.schemas.atoms import (
    WhyNot,
    decimal_digits,
    float_exact,
    interval_fields,
    of_class,
    spatial,
    string,
    time_digits,
    typed,
    utc_years,
    whole,
    without_zone,
)
from firesteel.values.schemas.reasons import Why, got, inside, told, unexpected

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


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
    return told(_check(type, nullable)(value))


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
                return told(inside(f".{name}", why))
        return None

    return check


def _wrong_length(values: Sequence[Any], names: Sequence[str]) -> str:
    columns = f"column{'' if len(names) == 1 else 's'} ({', '.join(names)})"
    return f"{len(values)} value{'' if len(values) == 1 else 's'} for {len(names)} {columns}"


def _check(kind: DataType, nullable: bool, place: str = "the column is NOT NULL") -> WhyNot:
    why_not = _why_not(kind)
    null: Why | None = None if nullable else ("", f"null, but {place}")

    def check(value: Any) -> Why | None:
        return null if value is None else why_not(value)

    return check


def _why_not(kind: Any) -> WhyNot:
    """The check of a type, for values that are not null."""
    match type(kind).__name__:
        case "ByteType" | "ShortType" | "IntegerType" | "LongType":
            return whole(kind)
        case "BooleanType":
            return typed(kind, bool)
        case "StringType" | "CharType" | "VarcharType":
            return string(kind, getattr(kind, "length", None))
        case "FloatType":
            return typed(kind, float, more=float_exact)
        case "DoubleType":
            return typed(kind, float)
        case "DecimalType":
            return typed(kind, Decimal, more=decimal_digits(kind))
        case "BinaryType":
            return typed(kind, bytes, bytearray)
        case "DateType":
            return typed(kind, datetime.date)
        case "TimestampType":
            return typed(kind, datetime.datetime, more=utc_years)
        case "TimestampNTZType":
            return typed(kind, datetime.datetime, more=without_zone(kind))
        case "TimeType":
            return typed(kind, datetime.time, more=time_digits(kind))
        case "DayTimeIntervalType":
            return typed(kind, datetime.timedelta, more=interval_fields(kind))
        case "ArrayType":
            return _array(kind)
        case "MapType":
            return _map(kind)
        case "StructType":
            return _struct(kind)
        case "VariantType":
            return of_class(kind, "VariantVal", "write VariantVal.parseJson('1')")
        case "GeometryType" | "GeographyType":
            return spatial(kind, type(kind).__name__.removesuffix("Type"))
        case _:  # VOID holds nothing but null; the other types cannot be carried, so no value fits them
            return lambda value: ("", f"expected null, got {got(value)}")


def _array(kind: Any) -> WhyNot:
    element = _check(kind.elementType, kind.containsNull, "this array holds no nulls")

    def why_not(value: Any) -> Why | None:
        if type(value) not in (list, tuple):
            return unexpected(kind, value)
        for index, item in enumerate(value):
            if (why := element(item)) is not None:
                return inside(f"[{index}]", why)
        return None

    return why_not


def _map(kind: Any) -> WhyNot:
    check_key = _check(kind.keyType, False, "the key of a map never is")
    check_item = _check(kind.valueType, kind.valueContainsNull, "this map holds no nulls")

    def why_not(value: Any) -> Why | None:
        if type(value) is not dict:
            return unexpected(kind, value)
        for key, item in value.items():
            if (why := check_key(key)) is not None:
                return inside(f"[key {shown(key)}]", why)
            if (why := check_item(item)) is not None:
                return inside(f"[{shown(key)}]", why)
        if len({same_key(key) for key in value}) < len(value):
            return "", f"{got(value)} has two keys that are one key for Spark"
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


def _struct(kind: Any) -> WhyNot:
    names = [field.name for field in kind.fields]
    row = [(f".{field.name}", _check(field.dataType, field.nullable)) for field in kind.fields]

    def why_not(value: Any) -> Why | None:
        values: Sequence[Any]
        if isinstance(value, (list, tuple)):
            if len(value) != len(names):
                return "", _wrong_length(value, names)
            values = value
        else:
            columns = value if isinstance(value, Mapping) else getattr(value, "__dict__", None)
            if columns is None:
                return unexpected(kind, value)
            if (why := _wrong_names(columns, names)) is not None:
                return why
            values = [columns[name] for name in names]
        for (step, check), item in zip(row, values, strict=True):
            if (why := check(item)) is not None:
                return inside(step, why)
        return None

    return why_not


def _wrong_names(columns: Mapping[str, Any], names: list[str]) -> Why | None:
    # PySpark reads a missing name as null and drops a name too many: a typing mistake would be lost data.
    for name in names:
        if name not in columns:
            return f".{name}", f"missing (there are {', '.join(map(str, columns)) or 'no names'}): write None for null"
    for name in columns:
        if name not in names:
            return f".{name}", f"no such column (there are {', '.join(names) or 'none'})"
    return None
