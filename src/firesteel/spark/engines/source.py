"""Feeding a query in-process: Spark's MemoryStream, with the records' exact types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.spark.engines.control import changed
from firesteel.spark.engines.recorded import JAVA_TIME
from firesteel.spark.failures import root_cause
from firesteel.values.records import Record
from firesteel.values.schemas import carried, type_ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

    from firesteel.values.batches import Batch
    from firesteel.values.streams import Stream


class MemorySource:
    """One input of a query. `df` is what the subject gets; `feed` adds the batches of a stream one by one.

    The records cross to the JVM once, for the whole stream: each crossing costs as much as a micro-batch.
    """

    def __init__(self, spark: SparkSession, schema: StructType) -> None:
        refuse_what_is_not_carried(schema)
        self._spark = spark
        self._schema = schema
        self._stream = _memory_stream(spark, schema)
        self._batches: list[list[Any]] = []
        self._fed: list[Any] = []
        self._with_data = 0
        self.size = 0
        """How many records were loaded."""

    @cached_property
    def df(self) -> DataFrame:
        """What the subject gets. Packed records do without: not every type can be cast inside a struct."""
        from pyspark.sql import DataFrame

        return _of_types(DataFrame(self._stream.toDF(), self._spark), self._schema)

    def load(self, stream: Stream) -> None:
        """Bring a stream's records into the JVM, ready to be fed."""
        records = [record for batch in stream for record in batch.records]
        self._hold(_quick_frame(self._spark, records, self._schema), map(partition_sizes, stream))
        self.size = len(records)

    def _hold(self, rows: DataFrame, sizes: Iterable[Iterable[int]]) -> None:
        """Keep rows to be fed. `sizes` says how many of them are in every partition of every batch."""
        jvm: Any = self._spark._jvm
        to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
        held = rows._jdf.collectAsList()
        self._none = to_seq(held.subList(0, 0))
        self._batches = []
        start = 0
        for partitions in sizes:
            ends = list(accumulate(partitions, initial=start))
            self._batches.append([to_seq(held.subList(a, b)) for a, b in pairwise(ends)])
            start = ends[-1]

    def feed(self, index: int) -> None:
        """Add batch `index`, with its partitions; an empty one where the stream is shorter."""
        for rows in self._parts(index):  # what is added at once is one partition
            self._add(rows)
        self._with_data = len(self._fed)

    def feed_nothing(self) -> None:
        """Make Spark run a micro-batch without records."""
        self._add(self._none)

    def is_fed_at_once(self, index: int) -> bool:
        """Is a batch added in one step, so that Spark never sees a part of it?"""
        return len(self._parts(index)) == 1

    def anew(self, *, to_last_batch: bool) -> MemorySource:
        """A new source for a query that starts again, which finds in it all that was fed.

        With `to_last_batch`, what was fed after the last batch with data is left out.
        """
        made = MemorySource(self._spark, self._schema)
        made._batches, made._none, made.size = self._batches, self._none, self.size
        for rows in self._fed[: self._with_data] if to_last_batch else self._fed:
            made._add(rows)
        made._with_data = self._with_data
        return made

    def _parts(self, index: int) -> list[Any]:
        return self._batches[index] if index < len(self._batches) else [self._none]

    def _add(self, rows: Any) -> None:
        self._stream.addData(rows)
        self._fed.append(rows)


class PackedSource(MemorySource):
    """An input of many cases together. A row holds all records that a case has in a partition, and the case's number.

    That costs half: to Spark, a row that comes in is dearer than most operations. The subject gets `shown`, a frame of
    single records without the `column` of the number; `firesteel.spark.bulk.carry` puts the packed rows in its place.
    """

    def __init__(self, spark: SparkSession, schema: StructType, column: str) -> None:
        from pyspark.sql import DataFrame
        from pyspark.sql.types import ArrayType, IntegerType, StructField, StructType

        number = StructField(column, IntegerType(), False)
        records = StructField(f"{column}_records", ArrayType(schema, containsNull=False), False)
        super().__init__(spark, StructType([records, number]))
        self.packed: DataFrame = DataFrame(self._stream.toDF(), spark)
        wide = DataFrame(_memory_stream(spark, StructType([*schema.fields, number])).toDF(), spark)
        self.shown: DataFrame = _of_types(wide.drop(column), schema)
        self.column = column
        self._records = schema

    def load_all(self, streams: Sequence[Stream]) -> None:
        """Bring the streams of all cases into the JVM, batch by batch; partition k of all cases is one partition."""
        groups: list[tuple[int, Sequence[Record]]] = []
        sizes = []
        for index in range(max(map(len, streams))):
            parts = _parts_of([stream[index] if index < len(stream) else None for stream in streams])
            sizes.append([len(part) for part in parts])
            groups += [group for part in parts for group in part]
        self._hold(self.rows(groups), sizes)
        self.size = sum(len(records) for _, records in groups)

    def instance(self) -> Any:
        """The stream's plan in the JVM: a new one for every place where the input is read, as a join of an input with
        itself needs two."""
        return self.packed._jdf.queryExecution().analyzed().newInstance()

    def rows(self, groups: Sequence[tuple[int, Sequence[Record]]]) -> DataFrame:
        """Records with their numbers as packed rows, which are not fed."""
        if not groups or not all(_arrow_is_exact(field.dataType) for field in self._records.fields):
            rows = [([plain(record) for record in records], number) for number, records in groups]
            return self._spark.createDataFrame(rows, self._schema)
        import pyarrow as pa  # type: ignore[import-untyped]

        table = _arrow_table([record for _, records in groups for record in records], self._records)
        ends = list(accumulate((len(records) for _, records in groups), initial=0))
        kind = pa.list_(pa.field("element", pa.struct(table.schema), nullable=False))
        structs = pa.StructArray.from_arrays([column.chunk(0) for column in table.columns], fields=list(table.schema))
        lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), structs, type=kind)
        numbers = pa.array([number for number, _ in groups], pa.int32())
        return self._spark.createDataFrame(pa.table([lists, numbers], names=self._schema.names), self._schema)


def _parts_of(batches: Sequence[Batch | None]) -> list[list[tuple[int, Sequence[Record]]]]:
    """For each partition, the cases that have records in it: their numbers and these records."""
    parts: list[list[tuple[int, Sequence[Record]]]] = [[]]
    for number, batch in enumerate(batches):
        if batch is None:
            continue
        for part, (start, end) in enumerate(pairwise(accumulate(batch.partitions or (len(batch),), initial=0))):
            if part == len(parts):
                parts.append([])
            if start < end:
                parts[part].append((number, batch.records[start:end]))
    return parts


def _of_types(frame: DataFrame, schema: StructType) -> DataFrame:
    """The frame with the types of the schema: the encoder of rows forgets a string's collation."""
    from pyspark.sql import functions as F

    if frame.schema == schema:
        return frame
    return frame.select(
        *(
            F.col(f"`{field.name.replace('`', '``')}`").cast(field.dataType).alias(field.name)
            if made.dataType != field.dataType
            else F.col(f"`{field.name.replace('`', '``')}`")
            for made, field in zip(frame.schema.fields, schema.fields, strict=True)
        )
    )


def to_frame(spark: SparkSession, records: Sequence[Record], schema: StructType) -> DataFrame:
    """The records as a batch DataFrame."""
    return spark.createDataFrame([plain(record) for record in records], schema=schema)


def _quick_frame(spark: SparkSession, records: Sequence[Record], schema: StructType) -> DataFrame:
    """The same, by way of Arrow where that carries all types unchanged."""
    if records and all(_arrow_is_exact(field.dataType) for field in schema.fields):
        return spark.createDataFrame(_arrow_table(records, schema), schema)
    return to_frame(spark, records, schema)


def partition_sizes(batch: Batch) -> tuple[int, ...]:
    """How many records are in each partition of a batch: in one, where it does not say."""
    return batch.partitions or (len(batch),)


class BatchFrames:
    """Batches as batch DataFrames with the same partitions. The records of all of them cross to the JVM once."""

    def __init__(
        self,
        spark: SparkSession,
        batches: Iterable[Batch],
        schema: StructType,
        sizes: Callable[[Batch], tuple[int, ...]] = partition_sizes,
    ) -> None:
        refuse_what_is_not_carried(schema)
        batches = list(batches)
        records = [record for batch in batches for record in batch.records]
        self._spark: Any = spark.sparkContext._jsc
        self._schema = spark._jsparkSession.parseDataType(schema.json())
        with changed(spark, JAVA_TIME):
            self._rows = _quick_frame(spark, records, schema)._jdf.collectAsList()
        self._sizes = list(map(sizes, batches))

    def frame(self, index: int, session: SparkSession) -> DataFrame:
        """Batch `index`, in a session."""
        from pyspark.sql import DataFrame

        start = sum(map(sum, self._sizes[:index]))
        bounds = pairwise(accumulate(self._sizes[index], initial=start))
        parts = [self._spark.parallelize(self._rows.subList(first, last), 1) for first, last in bounds]
        rows = reduce(lambda one, other: one.union(other), parts)
        return DataFrame(session._jsparkSession.createDataFrame(rows, self._schema), session)


def frame_of(batch: Batch) -> DataFrame:
    """A batch's records as a DataFrame, in the active session."""
    from firesteel.spark.session.start import session

    if batch.schema is None:
        raise InvalidArgument(f"{batch!r} has no schema: write Batch(records, schema='user BIGINT') to get a DataFrame")
    return to_frame(session(), batch.records, batch.schema)


def plain(value: Any) -> Any:
    """Records as the tuples that PySpark takes for structs, at any depth."""
    match value:
        case Record():
            return tuple(map(plain, value))
        case list():
            return [plain(item) for item in value]
        case dict():
            return {plain(key): plain(item) for key, item in value.items()}
        case _:
            return value


def refuse_what_is_not_carried(schema: StructType) -> None:
    """Refuse a schema with a type that PySpark cannot send and collect."""
    for column in schema.fields:
        why = carried(column.dataType)
        if why is not None:
            raise InvalidArgument(f"column {column.name!r} of type {type_ddl(column.dataType)} cannot be fed: {why}")


@contextmanager
def schema_refusals(name: str) -> Iterator[None]:
    """Spark may refuse a schema that it can carry: one with a type that is switched off in the session."""
    from pyspark.errors import AnalysisException

    try:
        yield
    except AnalysisException as error:
        raise InvalidArgument(f"Spark does not take the schema of the stream {name!r}: {root_cause(error)}") from error


def _memory_stream(spark: SparkSession, schema: StructType) -> Any:
    from py4j.java_gateway import JavaClass  # type: ignore[import-untyped]

    jvm: Any = spark._jvm
    session = spark._jsparkSession
    encoder = jvm.org.apache.spark.sql.Encoders.row(session.parseDataType(schema.json()))
    package = jvm.org.apache.spark.sql.execution.streaming
    # It moved in 4.1; py4j answers a missing class with a package, which is truthy.
    if isinstance(package.runtime.MemoryStream, JavaClass):
        return package.runtime.MemoryStream.apply(encoder, session)
    return package.MemoryStream.apply(encoder, session.sqlContext())


# The types that Arrow carries unchanged, by Spark's name for them and pyarrow's.
_ARROW = {
    "boolean": "bool_", "byte": "int8", "short": "int16", "integer": "int32", "long": "int64", "float": "float32",
    "double": "float64", "string": "string", "binary": "binary", "date": "date32",
}  # fmt: skip


def _arrow_is_exact(kind: DataType) -> bool:
    return kind.typeName() in _ARROW or kind.typeName() == "timestamp"


def _arrow_type(kind: DataType) -> Any:
    import pyarrow as pa

    return pa.timestamp("us", tz="UTC") if kind.typeName() == "timestamp" else getattr(pa, _ARROW[kind.typeName()])()


def _arrow_table(records: Sequence[Record], schema: StructType) -> Any:
    """The records column by column: three times as fast as one by one."""
    import pyarrow as pa

    fields = [pa.field(field.name, _arrow_type(field.dataType), field.nullable) for field in schema.fields]
    columns = [[record.__dict__[name] for record in records] for name in schema.names]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.table(arrays, schema=pa.schema(fields))
