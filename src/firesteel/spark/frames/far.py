"""Rows that PySpark cannot collect, because of a moment: read by numbers, which have no time zone.

PySpark makes a moment a local time of this process. In Berlin the end of the year 9999 in UTC is in the year 10000,
which Python does not have. Such a moment is read here. One whose year in UTC is out of Python's reach is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firesteel.spark.engines.recorded import from_local
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.frames import forms
from firesteel.values.records import Record, make_record
from firesteel.values.schemas.conform import conformer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


def records(frame: DataFrame, schema: StructType) -> list[Record]:
    """The frame's rows as records of a schema, which has the same types and a name of its own for every column."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    by_number = [forms.has_moments(field.dataType) and not forms.is_lossy(field.dataType) for field in schema.fields]
    numbered = frame.toDF(*(f"i{index}" for index in range(len(schema.fields))))
    columns = [
        forms.form(F.col(f"i{index}"), field.dataType, field.dataType).alias(f"i{index}") if far else F.col(f"i{index}")
        for index, (field, far) in enumerate(zip(schema.fields, by_number, strict=True))
    ]
    read_far = [forms.reader([(field.name, field.dataType)]) for field in schema.fields]
    read_near = [conformer(StructType([field]), moment=from_local) for field in schema.fields]
    readers = [far if wanted else near for far, near, wanted in zip(read_far, read_near, by_number, strict=True)]

    def record(row: Sequence[Any]) -> Record:
        made: dict[str, Any] = {}
        for field, read, value in zip(schema.fields, readers, row, strict=True):
            made.update(read([value]).__dict__)
            _refuse(made[field.name], field.name, field.dataType)
        return make_record(made)

    return [record(row) for row in numbered.select(*columns).collect()]


def _refuse(value: Any, column: str, kind: DataType) -> None:
    for text in _texts(value, kind):
        raise SubjectFailure(
            f"the output's column {column!r} holds {text} (UTC), and Python has the years 1 to 9999 only: have the "
            f"subject put out an earlier or later moment there, or text: {column}.cast('string')"
        )


def _texts(value: Any, kind: DataType) -> Iterator[str]:
    """The moments in a value that are text, as Python cannot hold them."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match kind, value:
        case _, None:
            return
        case ArrayType(), list():
            for item in value:
                yield from _texts(item, kind.elementType)
        case MapType(), Mapping():
            for key, item in value.items():
                yield from _texts(key, kind.keyType)
                yield from _texts(item, kind.valueType)
        case StructType(), Record():
            for field in kind.fields:
                yield from _texts(value[field.name], field.dataType)
        case _, str() if forms.has_moments(kind):
            yield value
