"""Records that a test compares a large batch with: which of them could be in it at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.values.records import Record, columns_of
from firesteel.values.schemas.conform import fitter

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_NUMBERS: Mapping[str, type] = {
    "boolean": bool,
    **dict.fromkeys(("byte", "short", "integer", "long", "tinyint", "smallint", "int", "bigint"), int),
    **dict.fromkeys(("float", "double"), float),
    "decimal": Decimal,
}


def split(records: Iterable[Any], schema: StructType) -> tuple[list[Record], tuple[Any, ...]]:
    """The records that fit a schema, as records of it; and the rest, which equal no record of the schema."""
    fit, names = fitter(schema), tuple(schema.fieldNames())
    fitting, others = [], []
    for record in records:
        if columns_of(record) not in (None, names):  # two records are equal only if their columns have one order
            others.append(record)
            continue
        try:
            fitting.append(fit(_with_numbers_of(schema, record), "record"))
        except InvalidArgument:
            others.append(record)
    return fitting, tuple(others)


def nullable(schema: StructType) -> StructType:
    """The schema with nulls allowed: a null that a test compares with is a difference, not a mistake."""
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(f.name, f.dataType, True, f.metadata) for f in schema.fields])


def _with_numbers_of(schema: StructType, record: Any) -> Any:
    """The record with its numbers as the columns hold them: 1 equals 1.0, but only 1.0 fits a DOUBLE."""
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
    except (ValueError, OverflowError):  # NaN and infinity are not whole numbers
        return value
    return made if made == value else value
