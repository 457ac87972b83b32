"""Which types PySpark can send to Spark from Python and collect again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.values.schemas.atoms import BITS
from firesteel.values.schemas.reasons import Why, inside, told
from firesteel.values.schemas.writer import type_ddl

if TYPE_CHECKING:
    from pyspark.sql.types import DataType


def why_not_carried(type: DataType) -> str | None:
    """Why PySpark cannot carry a type from Python to Spark and back; None if it can.

    >>> from firesteel.values.schemas import parse
    >>> why_not_carried(parse("user BIGINT, at TIMESTAMP"))
    >>> why_not_carried(parse("age INTERVAL YEAR TO MONTH"))
    'age: INTERVAL YEAR TO MONTH cannot be sent to Spark from Python, nor collected: use INT, the number of months'
    """
    return told(_not_carried(type, is_key=False))


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
def _not_carried(kind: Any, is_key: bool) -> Why | None:
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
    {*BITS, "BooleanType", "FloatType", "DoubleType", "DecimalType", "StringType", "BinaryType", "DateType"}
    | {"TimestampType", "TimestampNTZType", "TimeType", "DayTimeIntervalType", "VariantType", "NullType"}
    | {"GeometryType", "GeographyType"}
)


def _under(step: str, why: Why | None) -> Why | None:
    return None if why is None else inside(step, why)


def _no_way(kind: DataType, instead: str) -> Why:
    return "", f"{type_ddl(kind)} cannot be sent to Spark from Python, nor collected: {instead}"
