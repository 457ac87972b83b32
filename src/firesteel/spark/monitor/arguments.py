"""What a monitor was handed: streaming frames that it can follow, or why it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.spark.frames.columns import schema_difference
from firesteel.spark.monitor.values import quoted
from firesteel.spark.plans.reader import analysed
from firesteel.values.records import listed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DELAY = "spark.watermarkDelayMs"
"""Where Spark notes the watermark of a column: the delay in milliseconds."""


def require_streaming(name: str, frame: Any) -> None:
    """Refuse what is not a streaming DataFrame whose rows are final once they are out."""
    from pyspark.sql import DataFrame

    if type(frame).__module__.startswith("pyspark.sql.connect"):
        raise InvalidArgument(
            f"{name}=... is a DataFrame of Spark Connect, which gives no handle on the JVM: make it in a classic "
            "session, SparkSession.builder.master(...) without .remote(...)"
        )
    if not isinstance(frame, DataFrame):
        raise InvalidArgument(f"{described(name, frame)} is not a Spark DataFrame: write spark.readStream...")
    if not frame.isStreaming:
        raise InvalidArgument(
            f"{name}=... is not a streaming DataFrame: read it with spark.readStream, or compare two DataFrames that "
            "have an end with fs.assert_same"
        )
    repeated = sorted({column for column in frame.columns if frame.columns.count(column) > 1})
    if repeated:
        raise InvalidArgument(f"{name}=... has several columns of the name {repeated[0]!r}: rename them first")
    for node in analysed(frame).walk():
        if node.kind in ("Aggregate", "Distinct") and node.is_streaming:
            raise InvalidArgument(
                f"{name}=... holds an aggregation. Without a watermark its rows change later (update mode), and with "
                "one Spark allows no monitor after it: let the job write its output, and monitor what it wrote, as in "
                "spark.readStream.schema(...).parquet(folder)"
            )
        if node.arguments.get("outputMode") in ("Update", "Complete") and node.is_streaming:
            raise InvalidArgument(
                f"{name}=... holds a function with state in update mode, so its rows change later: write 'append' "
                "there, if they do not, or let the job write its output, and monitor what it wrote, as in "
                "spark.readStream.schema(...).parquet(folder)"
            )


def delay_of(name: str, frame: DataFrame, column: str) -> int:
    """The delay of a column's watermark, in milliseconds."""
    if column not in frame.columns:
        raise InvalidArgument(f"{name}=... has no column {column!r}: its columns are {listed(frame.columns)}")
    found = frame.schema[column].metadata.get(DELAY)
    if found is None:
        raise InvalidArgument(
            f"{name}=... has no watermark on {column!r}, so nothing says when all its rows have come: write "
            f"{name}.withWatermark({column!r}, '10 minutes')"
        )
    return int(found)


def columns_of(name: str, given: str | Sequence[str] | None, frame: DataFrame) -> tuple[str, ...]:
    """The names of columns that a frame has to have."""
    if given is None:
        return ()
    names = (given,) if isinstance(given, str) else tuple(given)
    for column in names:
        if not isinstance(column, str) or column not in frame.columns:
            raise InvalidArgument(
                f"{described(name, given)} names a column that is not there: the columns are {listed(frame.columns)}"
            )
    return names


def require_same_schema(left: DataFrame, right: DataFrame) -> None:
    """Refuse two frames whose rows could never be equal."""
    different = schema_difference(left.schema, right.schema)
    if different:
        said = "; ".join(
            f"{column.name}: {column.left or 'not there'} on the left, {column.right or 'not there'} on the right"
            for column in different
        )
        raise InvalidArgument(f"left and right have different columns: {said}. Select the same ones, with .cast(...)")
    for field in left.schema.fields:
        if field.name.startswith("_fs_"):
            raise InvalidArgument(f"the column {field.name!r} has a name that the monitor needs: rename it")
        other = right.schema[field.name].dataType
        if field.dataType.simpleString() != other.simpleString():
            raise InvalidArgument(
                f"the fields of {field.name!r} come in another order on the right: cast it there, "
                f".withColumn({field.name!r}, F.col({field.name!r}).cast({field.dataType.simpleString()!r}))"
            )


def resetting(resets: DataFrame, rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """The columns of a frame of resets that are needed; refuses one without them, or with other types."""
    require_streaming("resets", resets)
    for column in columns:
        wanted = rows.schema[column].dataType
        if column not in resets.columns or resets.schema[column].dataType != wanted:
            raise InvalidArgument(
                f"resets=... has no column {column!r} of the type {wanted.simpleString()}: a reset has "
                f"{listed(columns)}; its columns are {resets.schema.simpleString()}"
            )
    return resets.select(*map(quoted, columns))


def watermarked(name: str, frame: DataFrame, column: str, delay: str | None) -> tuple[DataFrame, int]:
    """The frame with a watermark on a column, and its delay in milliseconds; `delay` is for a frame without one."""
    if delay is not None and column in frame.columns and DELAY not in frame.schema[column].metadata:
        frame = frame.withWatermark(column, delay)
    return frame, delay_of(name, frame, column)
