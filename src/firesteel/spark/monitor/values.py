"""Rows as values of firesteel's, from Arrow and back, inside Spark's Python workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from firesteel.values.records import Record, as_mapping
from firesteel.values.schemas.conform import conformer

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

BATCH = "streaming.sql.batchId"


def records_of(table: Any, schema: StructType) -> Iterator[Record]:
    """The rows of an Arrow table, or of a part of one, as records."""
    conform = conformer(schema)
    columns = [table.column(name).to_pylist(maps_as_pydicts="strict") for name in schema.fieldNames()]
    if not columns:
        return iter([])
    return map(conform, zip(*columns, strict=True))


def arrow_type(kind: DataType) -> Any:
    """Arrow's type for one of Spark's."""
    from pyspark.sql.pandas.types import to_arrow_type

    return to_arrow_type(kind, timezone="UTC")


def arrow_column(values: list[Any], kind: DataType) -> Any:
    """An Arrow array of values of firesteel's."""
    import pyarrow as pa  # type: ignore[import-untyped]

    return pa.array([_plain(value) for value in values], type=arrow_type(kind))


def _plain(value: Any) -> Any:
    """A value as Arrow takes it."""
    match value:
        case Record():
            return {name: _plain(item) for name, item in as_mapping(value).items()}
        case Mapping():
            return [(_plain(key), _plain(item)) for key, item in value.items()]  # a map
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value


def without_metadata(schema: StructType) -> StructType:
    """The schema with nothing but names and types: a watermark must not come along, and nulls are allowed."""
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(field.name, field.dataType) for field in schema.fields])


def quoted(name: str) -> str:
    """A column's name as Spark reads it, whatever it holds.

    >>> quoted("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"
