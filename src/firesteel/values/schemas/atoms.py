"""Which Python values fit the types that hold no other types: numbers, text, times, and PySpark's own classes.

Each function makes the check of one type, for values that are not null.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.values.schemas.reasons import Why, got, unexpected
from firesteel.values.schemas.writer import type_ddl

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

WhyNot: TypeAlias = Callable[[Any], Why | None]
"""Why a value does not fit; None if it does."""

BITS = {"ByteType": 8, "ShortType": 16, "IntegerType": 32, "LongType": 64}


def int_range(kind: DataType) -> tuple[int, int] | None:
    """The least and the greatest value of a type of whole numbers; None for other types.

    >>> from pyspark.sql.types import ByteType
    >>> int_range(ByteType())
    (-128, 127)
    """
    bits = BITS.get(type(kind).__name__)
    return None if bits is None else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def typed(kind: DataType, *accepted: type, more: Callable[[Any], str | None] | None = None) -> WhyNot:
    """Values of exactly these classes, as PySpark refuses subclasses; `more` says why such a value does not fit."""

    def why_not(value: Any) -> Why | None:
        if type(value) not in accepted:
            return unexpected(kind, value)
        reason = None if more is None else more(value)
        return None if reason is None else ("", reason)

    return why_not


def whole(kind: DataType) -> WhyNot:
    """Whole numbers within the range of the type."""
    low, high = int_range(kind) or (0, 0)

    def why_not(value: Any) -> Why | None:
        if type(value) is int:
            if low <= value <= high:
                return None
            return "", f"{value} is out of range for {type_ddl(kind)} ({low} to {high})"
        return unexpected(kind, value)

    return why_not


def string(kind: DataType, length: int | None) -> WhyNot:
    """Text that UTF-8 can carry, up to a length where there is one."""

    def why_not(value: Any) -> Why | None:
        if type(value) is not str:
            return unexpected(kind, value)
        if length is not None and len(value) > length:
            return "", f"{got(value)} has {len(value)} characters, more than {type_ddl(kind)}"
        # Asking for ASCII first costs nothing, and answers for most strings.
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            return "", f"{got(value)} holds half of a surrogate pair, which UTF-8 cannot carry"
        return None

    return why_not


def float_exact(value: float) -> str | None:
    """Why a FLOAT, of 32 bits, does not hold a number exactly."""
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))  # the native "f" makes infinity of what is too large
    except OverflowError:
        return f"{value} is out of range for FLOAT"
    if single == value or value != value:
        return None
    return f"{value} is not exactly a FLOAT: the nearest is {single}; write that, or make the column DOUBLE"


def decimal_digits(kind: Any) -> Callable[[Decimal], str | None]:
    """Why a decimal does not fit the precision and the scale of the type."""

    def why_not(value: Decimal) -> str | None:
        if not value.is_finite():
            return f"{value} is not a number that {type_ddl(kind)} can hold"
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


def utc_years(value: datetime.datetime) -> str | None:
    """Why a moment cannot be told in UTC."""
    try:
        if value.tzinfo is not None:
            value.astimezone(datetime.UTC)
    except OverflowError:
        return f"{value} is outside the years 1 to 9999 in UTC"
    return None


def without_zone(kind: DataType) -> Callable[[Any], str | None]:
    """Why a moment or a time of day does not fit a type that has no zone."""

    def why_not(value: Any) -> str | None:
        if value.tzinfo is None:
            return None
        return f"{value} has a time zone, and {type_ddl(kind)} has none: write it with .replace(tzinfo=None)"

    return why_not


def time_digits(kind: Any) -> Callable[[datetime.time], str | None]:
    """Why a time of day does not fit the precision of the type, or has a zone."""
    zone = without_zone(kind)
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


def interval_fields(kind: Any) -> Callable[[datetime.timedelta], str | None]:
    """Why a duration does not fit the fields of a day-time interval."""
    unit = interval_unit(kind)

    def why_not(value: datetime.timedelta) -> str | None:
        microseconds = value // datetime.timedelta(microseconds=1)
        if not -(2**63) <= microseconds < 2**63:
            return f"{value} is out of range for {type_ddl(kind)} (about 106751991 days either way)"
        if microseconds % unit:
            return f"{value} is finer than {type_ddl(kind)}"
        return None

    return why_not


def of_class(kind: DataType, class_name: str, advice: str) -> WhyNot:
    """Values of one of PySpark's own classes, known by its name so that PySpark need not be imported."""

    def why_not(value: Any) -> Why | None:
        if type(value).__name__ == class_name:
            return None
        path, reason = unexpected(kind, value)
        return path, f"{reason}: {advice}"

    return why_not


def spatial(kind: Any, class_name: str) -> WhyNot:
    """Values of the class that have the type's SRID; their bytes are left to Spark."""
    named = of_class(kind, class_name, f"write {class_name}.fromWKB(wkb, {max(kind.srid, 0)})")

    def why_not(value: Any) -> Why | None:
        if (why := named(value)) is not None:
            return why
        if kind.srid not in (-1, value.srid):  # -1 stands for ANY
            return "", f"the SRID {value.srid} is not that of {type_ddl(kind)}"
        return None

    return why_not
