"""Many cases in one query: a micro-batch costs almost the same for one case as for hundreds.

Every record carries the number of its case in a hidden column, which `firesteel.spark.carry` brings through the
subject's plan; what comes out is told apart by it. A bulk run screens: whoever asks runs a case that matters alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firesteel.records import make_record
from firesteel.spark.carry import CannotCarry, carrying
from firesteel.spark.control import changed
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.query import Query, Running
from firesteel.spark.source import MemorySource
from firesteel.spark.structured import Case, batch_at
from firesteel.spark.subject import Subject, outputs_of
from firesteel.streams import Batch, Instant, Stream, Trace, make_batch, make_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

MOST_RECORDS = 200_000
"""How many input records one bulk run takes; they are on the driver."""


def exercise_together(spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running) -> list[Trace]:
    """Run cases together and record their traces; `CannotCarry` says why that is not possible."""
    if how.state:
        raise CannotCarry("the state after every batch belongs to all cases together")
    if any(len(batch) > how.large for case in cases for stream in case.inputs.values() for batch in stream):
        raise CannotCarry("a batch is large enough for a run of its own")
    traces: list[Trace] = []
    for chunk in _chunks(cases):
        traces += _together(spark, chunk, subject, how)
    return traces


def _chunks(cases: Sequence[Case]) -> Iterator[list[Case]]:
    chunk: list[Case] = []
    records = 0
    for case in cases:
        size = sum(len(batch) for stream in case.inputs.values() for batch in stream)
        if chunk and records + size > MOST_RECORDS:
            yield chunk
            chunk, records = [], 0
        chunk.append(case)
        records += size
    if chunk:
        yield chunk


def _together(spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running) -> list[Trace]:
    recorded: list[list[Instant]] = [[] for _ in cases]
    column = _hidden(cases)
    length = max(case.length for case in cases)
    with ExitStack() as stack:
        stack.enter_context(changed(spark, {"spark.sql.datetime.java8API.enabled": "true"}))
        queries = _built(spark, cases, subject, how, column, stack)
        for query in queries:
            query.feed(0)
        for index in range(length):
            try:
                for query in queries:
                    query.settle(index, (), last=index + 1 == length)
            except SubjectFailure as failure:
                raise CannotCarry(f"one of the cases makes it fail ({failure})") from failure
            taken = [query.take() for query in queries]
            if index + 1 < length:
                for query in queries:
                    query.feed(index + 1)
            outputs = {
                q.name: _split(q.output(rows), column, len(cases)) for q, rows in zip(queries, taken, strict=True)
            }
            for number, (case, instants) in enumerate(zip(cases, recorded, strict=True)):
                if index < case.length:
                    instants.append(
                        Instant(
                            index,
                            {name: batch_at(stream, index) for name, stream in case.inputs.items()},
                            {name: parts[number] for name, parts in outputs.items()},
                            time=queries[0].time(index),
                            previous=instants[-1] if instants else None,
                        )
                    )
    return [Trace(instants) for instants in recorded]


def _built(
    spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running, column: str, stack: ExitStack
) -> list[Query]:
    # Each case is small; together they may not be, and are collected all the same.
    together = replace(how, large=2**62, seconds=how.seconds * 3)
    joined = {name: _joined(name, cases, column) for name in cases[0].inputs}
    queries: list[Query] = []
    names = [""]  # the outputs' names are known when the subject was called once
    while len(queries) < len(names):
        sources = {name: MemorySource(spark, _schema(stream)) for name, stream in joined.items()}
        for name, source in sources.items():
            source.load(joined[name])
        frames = outputs_of(spark, subject, {name: source.df.drop(column) for name, source in sources.items()})
        names = list(frames)
        name = names[len(queries)]
        mode = how.output_mode if isinstance(how.output_mode, str) else how.output_mode.get(name, "append")
        frame = carrying(frames[name], column)
        queries.append(Query(spark, name, frame, list(sources.values()), mode, together, kept=False))
        stack.enter_context(queries[-1].running(stack))
    return queries


def _hidden(cases: Sequence[Case]) -> str:
    """A name for the hidden column that no input has."""
    taken = {
        name.lower() for case in cases for s in case.inputs.values() if s.schema is not None for name in s.schema.names
    }
    column = "__case"
    while column in taken:
        column += "_"
    return column


def _joined(name: str, cases: Sequence[Case], column: str) -> Stream:
    """The streams of all cases of one input as one, with the number of its case in every record."""
    from pyspark.sql.types import IntegerType, StructField, StructType

    schemas = [case.inputs[name].schema for case in cases]
    schema = schemas[0]
    if schema is None or any(other != schema for other in schemas):
        raise CannotCarry(f"the cases have different schemas for {name!r}")
    wide = StructType([*schema.fields, StructField(column, IntegerType(), False)])
    length = max(len(case.inputs[name]) for case in cases)
    batches = [
        make_batch(
            (
                make_record({**record.__dict__, column: number})
                for number, case in enumerate(cases)
                for record in batch_at(case.inputs[name], index)
            ),
            wide,
        )
        for index in range(length)
    ]
    return make_stream(batches, wide)


def _schema(stream: Stream) -> StructType:
    assert stream.schema is not None
    return stream.schema


def _split(batch: Batch, column: str, cases: int) -> list[Batch]:
    """What came out, by case, without the hidden column."""
    from pyspark.sql.types import StructType

    assert batch.schema is not None
    hidden = batch.schema.names[-1]
    schema = StructType(batch.schema.fields[:-1])
    parts: list[list[Any]] = [[] for _ in range(cases)]
    for record in batch.records:
        values = dict(record.__dict__)
        parts[values.pop(hidden)].append(make_record(values))
    return [make_batch(part, schema) for part in parts]
