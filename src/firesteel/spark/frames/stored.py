"""Frames with columns of user-defined types, such as the vectors of `pyspark.ml`, by the types they are stored as.

Spark does not group by a user-defined type, nor sort by it. A stored value has the same bytes under both types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

K = TypeVar("K", bound="DataType")


def stored(frame: DataFrame) -> DataFrame:
    """The frame with stored types in place of user-defined ones; the same frame if it has none."""
    from pyspark.sql import DataFrame

    schema = storage(frame.schema)
    if schema == frame.schema:
        return frame
    spark = frame.sparkSession
    rows = frame._jdf.queryExecution().toRdd()
    made = spark._jsparkSession.internalCreateDataFrame(rows, spark._jsparkSession.parseDataType(schema.json()), False)
    return DataFrame(made, spark)


def storage(kind: K) -> K:
    """A type with stored types in place of user-defined ones, at any depth."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType, UserDefinedType

    found: DataType
    match kind:
        case UserDefinedType():
            found = storage(kind.sqlType())
        case ArrayType():
            found = ArrayType(storage(kind.elementType), kind.containsNull)
        case MapType():
            found = MapType(storage(kind.keyType), storage(kind.valueType), kind.valueContainsNull)
        case StructType():
            found = StructType(
                [StructField(field.name, storage(field.dataType), field.nullable, field.metadata) for field in kind]
            )
        case _:
            found = kind
    return found  # type: ignore[return-value]
