"""Batches as RDDs, and what RDDs hold as batches.

Outside DataFrames an element is any Python value. A record goes in as a `pyspark.sql.Row`, which is a tuple with names,
and a row comes out as a record; everything else stays what it is. Timestamps are aware, in UTC, both ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.spark.failures import root_cause
from firesteel.values.batches import Batch, make_batch
from firesteel.values.records import Record, columns_of, make_record

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext


def rdd_of(context: SparkContext, batch: Batch) -> RDD[Any]:
    """A batch's records as an RDD with the batch's partitions, or with as many as Spark chooses."""
    from pyspark import RDD

    jvm: Any = context._jvm
    java: Any = context._jsc
    parts = _parts(batch, context.defaultParallelism)
    # As `SparkContext.parallelize` does, but one element for the JVM is a whole partition: then the partitions are
    # exactly these, and every RDD is read back by the same serializer, as a DStream has one for all of its RDDs.
    try:
        made = context._serialize_to_jvm(
            parts,
            context._unbatched_serializer,
            lambda file: jvm.PythonRDD.readRDDFromFile(java, file, len(parts)),
            lambda: jvm.PythonParallelizeServer(java.sc(), len(parts)),
        )
    except Exception as error:
        raise InvalidArgument(f"{batch!r:.200} cannot be sent to Spark: {root_cause(error)}") from error
    return RDD(made, context, context.serializer)


def _parts(batch: Batch, usual: int) -> list[list[Any]]:
    elements = [as_row(record) for record in batch.records]
    return [elements[start:end] for start, end in pairwise(accumulate(sizes_of(batch, usual), initial=0))]


def sizes_of(batch: Batch, usual: int) -> tuple[int, ...]:
    """How many records are in each partition of a batch; where it does not say, in as many as are usual."""
    if batch.partitions is not None:
        return batch.partitions
    ends = [len(batch) * number // usual for number in range(usual + 1)]
    return tuple(end - start for start, end in pairwise(ends))


def batch_of(elements: Iterable[Any]) -> Batch:
    """What an RDD held, as a batch."""
    return make_batch(map(as_record, elements), None)


def as_row(value: Any) -> Any:
    """Records as rows, at any depth.

    >>> as_row((1, Record(user=15, tags=["a"])))
    (1, Row(user=15, tags=['a']))
    """
    match value:
        case Record():
            from pyspark.sql import Row

            return Row(*value.__dict__)(*map(as_row, value)) if len(value) else Row()
        case list() | tuple() if type(value) in (list, tuple):
            return type(value)(map(as_row, value))
        case dict() if type(value) is dict:
            return {as_row(key): as_row(item) for key, item in value.items()}
        case _:
            return value


def as_record(value: Any) -> Any:
    """Rows as records, at any depth.

    >>> from pyspark.sql import Row
    >>> as_record(("a", Row(user=15))), as_record((1, 2)), as_record(Row(1, 2))
    (('a', Record(user=15)), (1, 2), (1, 2))
    """
    match value:
        case tuple() if (names := columns_of(value)) is not None and _from_spark(value):
            return make_record(dict(zip(names, map(as_record, value), strict=True)))
        case tuple() if _from_spark(value):
            return tuple(map(as_record, value))
        case list() | tuple() if type(value) in (list, tuple):
            return type(value)(map(as_record, value))
        case dict() if type(value) is dict:
            return {as_record(key): as_record(item) for key, item in value.items()}
        case _:
            return value


def _from_spark(value: Sequence[Any]) -> bool:
    from pyspark.sql import Row

    return isinstance(value, Row)
