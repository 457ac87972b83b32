"""From Spark's rows to records: with exact types, timestamps in UTC, and a name of its own for every column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from firesteel.values.batches import Batch, make_batch
from firesteel.values.records import Record
from firesteel.values.schemas.conform import conformer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

JAVA_TIME = {"spark.sql.datetime.java8API.enabled": "true"}
"""The setting for rows with java.time values: those of java.sql are in another calendar before 1582."""


class Reader:
    """Makes batches of the rows that Spark put out, all of one schema."""

    def __init__(self, spark: SparkSession, schema: StructType) -> None:
        self._spark = spark
        self.schema = with_unique_names(schema)
        self._rows_schema = spark._jsparkSession.parseDataType(schema.json())
        self._record = row_reader(self.schema)
        jvm: Any = spark._jvm
        self._as_java_list: Callable[[Any], Any] = jvm.scala.jdk.javaapi.CollectionConverters.asJava

    def batch(self, rows: Any) -> Batch:
        """A batch of a Scala sequence of rows."""
        if rows.isEmpty():
            return make_batch((), self.schema)
        return self.batch_of(self.frame(rows))

    def frame(self, rows: Any) -> DataFrame:
        """A DataFrame of a Scala sequence of rows."""
        from pyspark.sql import DataFrame

        made = self._spark._jsparkSession.createDataFrame(self._as_java_list(rows), self._rows_schema)
        return DataFrame(made, self._spark)

    def batch_of(self, frame: DataFrame) -> Batch:
        """A batch of all rows of a DataFrame, collected."""
        try:
            return make_batch([self._record(row) for row in frame.collect()], self.schema)
        except (ValueError, OverflowError):  # a moment that is in no year of Python's, in the process's time zone
            from firesteel.spark.frames import far

            return make_batch(far.records(frame, self.schema), self.schema)


def row_reader(schema: StructType) -> Callable[[Sequence[Any]], Record]:
    """A function that makes a record of a row that PySpark collected."""
    return conformer(schema, moment=from_local)


def with_unique_names(schema: StructType) -> StructType:
    """The schema with a number after every name that came before: a join may put out two columns of one name."""
    from pyspark.sql.types import StructField, StructType

    names = schema.fieldNames()
    if len(set(names)) == len(names):
        return schema
    made: set[str] = set()
    fields = []
    for field in schema.fields:
        numbered = (f"{field.name}_{number}" for number in count(2))
        name = field.name if field.name not in made else next(n for n in numbered if n not in made | set(names))
        made.add(name)
        fields.append(StructField(name, field.dataType, field.nullable, field.metadata))
    return StructType(fields)


def from_local(moment: datetime) -> datetime:
    """A collected timestamp in UTC: PySpark makes naive datetimes in the process's own zone, with the fold set."""
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError):
        # Python looks a day ahead and a day back, which may be in a year that it does not have. The calendar, and with
        # it the zone's rule, repeats itself after 400 years.
        years = 400 if moment.year < 5000 else -400
        shifted = moment.replace(year=moment.year + years).astimezone(UTC)
        return shifted.replace(year=shifted.year - years)
