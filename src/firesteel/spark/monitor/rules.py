"""The streaming query of a temporal rule: a state for each key, called once a micro-batch in which it has data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from firesteel.evidence.monitoring import Next, Now, Said
from firesteel.spark.monitor.arguments import DELAY
from firesteel.spark.monitor.values import arrow_column, records_of, without_metadata
from firesteel.values.as_json import of_json, to_json
from firesteel.values.record_texts import record_reader, record_text
from firesteel.values.records import make_record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Step: TypeAlias = Callable[[str | None, Sequence[str], Now], Next]
Timeout: TypeAlias = Literal["NoTimeout", "ProcessingTimeTimeout", "EventTimeTimeout"]


def rule_query(frame: DataFrame, step: Step, key: Sequence[str], *, timeout: Timeout, delay: int | None) -> DataFrame:
    """A frame of what a rule says about each key. `delay` is that of the frame's watermark."""
    from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType, TimestampType

    schema = without_metadata(frame.schema)
    written = StructType(
        [
            StructField("key", StringType()),
            StructField("partition", IntegerType()),
            StructField("position", LongType()),
            StructField("record", StringType()),
            StructField("clock", TimestampType(), True, None if delay is None else {DELAY: delay}),
        ]
    )
    texts: Any = frame.mapInArrow(_Written(schema, tuple(key)), written)
    said = texts.groupBy("key").applyInPandasWithState(
        _Called(step, timeout), "key STRING, said STRING", "state STRING", "append", timeout
    )
    made: DataFrame = said.mapInArrow(_Rows(schema, tuple(key)), _output(schema, key))
    return made


def _output(schema: StructType, key: Sequence[str]) -> StructType:
    from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType, TimestampType

    return StructType(
        [
            *(schema[name] for name in key),
            StructField("kind", StringType()),
            StructField("instant", LongType()),
            StructField("decided", LongType()),
            StructField("time", TimestampType()),
            StructField("reason", StringType()),
            StructField("records", ArrayType(schema)),
            StructField("late", LongType()),
        ]
    )


@dataclass(frozen=True)
class _Written:
    """Before the shuffle: each row as text, with its key, its partition and its position there."""

    schema: StructType
    key: tuple[str, ...]

    def __call__(self, parts: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped]
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        position = 0
        for part in parts:
            found = list(records_of(part, self.schema))
            keys = [record_text(make_record({name: _key_part(record[name]) for name in self.key})) for record in found]
            count = len(found)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(keys, pa.string()),
                    pa.array([context.partitionId()] * count, pa.int32()),
                    pa.array(range(position, position + count), pa.int64()),
                    pa.array(map(record_text, found), pa.string()),
                    pa.nulls(count, pa.timestamp("us", "UTC")),
                ],
                names=["key", "partition", "position", "record", "clock"],
            )
            position += count


def _key_part(value: Any) -> Any:
    """A value as part of a key: 0.0 and -0.0 are the same one."""
    return value + 0.0 if isinstance(value, float) else value


@dataclass(frozen=True)
class _Called:
    """The stateful operator: one call for a key."""

    step: Step
    timeout: Timeout

    def __call__(self, key: tuple[str], frames: Iterable[Any], state: Any) -> Iterator[Any]:
        import pandas as pd

        timed_out = state.hasTimedOut
        rows: list[tuple[int, int, str]] = []
        for frame in () if timed_out else frames:
            rows.extend(zip(frame["partition"], frame["position"], frame["record"], strict=True))
        rows.sort()
        watermark = state.getCurrentWatermarkMs() if self.timeout == "EventTimeTimeout" else 0
        now = Now(watermark, state.getCurrentProcessingTimeMs(), timed_out)
        after = self.step(state.get[0] if state.exists else None, [text for _, _, text in rows], now)
        if after.state is not None:
            state.update((after.state,))
            if after.wake is not None and self.timeout == "EventTimeTimeout":
                state.setTimeoutTimestamp(max(after.wake, watermark))
            elif after.wake is not None:
                state.setTimeoutDuration(max(1, after.wake - now.clock))
        elif state.exists:
            state.remove()
        if after.said:
            yield pd.DataFrame({"key": key[0], "said": [_said_text(said) for said in after.said]})


def _said_text(said: Said) -> str:
    return json.dumps([to_json(value) for value in vars(said).values()])


@dataclass(frozen=True)
class _Rows:
    """Last: what was said as rows of Spark's types."""

    schema: StructType
    key: tuple[str, ...]

    def __call__(self, parts: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        output = _output(self.schema, self.key)
        read_key, read = record_reader(self.key), record_reader(self.schema.fieldNames())
        for part in parts:
            rows = []
            for key, text in zip(part.column("key").to_pylist(), part.column("said").to_pylist(), strict=True):
                said = Said(*map(of_json, json.loads(text)))
                records = [read(record) for record in said.records]
                facts = [said.kind, said.instant, said.decided, said.time, said.reason, records, said.late]
                rows.append([*read_key(key), *facts])
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(output.fields)
            arrays = [
                arrow_column(list(values), field.dataType) for values, field in zip(columns, output.fields, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=output.fieldNames())
