"""Why a value does not fit a type, or a type cannot be carried: a reason, and the path to the part that it is about."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.values.records import shown
from firesteel.values.schemas.writer import type_ddl

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Why: TypeAlias = tuple[str, str]
"""The path to the offending part (".address.zip", "[2]", or "" for the whole), and the reason in words."""


def told(why: Why | None) -> str | None:
    """A reason as a user reads it, after its path."""
    if why is None:
        return None
    path, reason = why
    return f"{path.removeprefix('.')}: {reason}" if path else reason


def inside(step: str, why: Why) -> Why:
    """A reason about a part, as one about the whole that holds the part one step further down."""
    return step + why[0], why[1]


def got(value: Any) -> str:
    """A value and its class, as a reason names them."""
    text = shown(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def unexpected(kind: DataType, value: Any) -> Why:
    """A value is not of a type's class."""
    text = type_ddl(kind)
    return "", f"expected {text if len(text) <= 60 else text[:57] + '...'}, got {got(value)}{_advice(kind, value)}"


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
