"""The streaming query that compares two streams: rows go in packs of Arrow's bytes, one for each group and part."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.evidence.monitoring import Compared, Now, Place
from firesteel.spark.monitor.arguments import DELAY
from firesteel.spark.monitor.values import BATCH, arrow_column, arrow_type, quoted, records_of, without_metadata
from firesteel.values.as_json import of_json, to_json
from firesteel.values.record_texts import record_reader
from firesteel.values.records import Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Step: TypeAlias = Callable[[Sequence[Any] | None, Any, Now, Any], tuple[Any, list[Compared], int | None]]
"""A function of the state, a table of new rows, the time, and a table of keys to reset; gives the state, what it says,
and when to call again."""
Placed: TypeAlias = Callable[[Any, int, int, Now], Any]
"""A function that notes in a table the side, partition and time that its rows came with."""

_GROUP, _POSITION, _MARK = "_fs_group", "_fs_position", "_fs_mark"
Mark: TypeAlias = Callable[[Record], bool]
"""Is a row a barrier?"""
_RESETS = 2
"""The side of rows that say which keys are reset."""
_STATE = "counts STRING, waiting BINARY, quarantine BINARY"


def pairs_query(
    left: DataFrame,
    right: DataFrame,
    step: Step,
    placed: Placed,
    schema: StructType,
    columns: Sequence[str],
    groups: int,
    *,
    delay: int | None,
    resets: DataFrame | None = None,
    is_mark: Mark | None = None,
) -> DataFrame:
    """A frame of how two frames differ. `columns` are what rows are spread by; `schema` is that of both frames."""
    sides = [(left, _Packed(schema, 0, is_mark)), (right, _Packed(schema, 1, is_mark))]
    if resets is not None:
        sides.append((resets, _Packed(without_metadata(resets.schema), _RESETS)))
    packed = [_packed(frame, pack, columns, groups, delay) for frame, pack in sides]
    timeout = "NoTimeout" if delay is None else "EventTimeTimeout"
    both: Any = reduce(lambda some, more: some.unionAll(more), packed)
    said = both.groupBy("group").applyInPandasWithState(
        _Called(step, placed, by_event_time=delay is not None), "moment BIGINT, said STRING", _STATE, "append", timeout
    )
    made: DataFrame = said.mapInArrow(_Rows(schema), _output(schema))
    return made


def _packed(frame: DataFrame, pack: _Packed, columns: Sequence[str], groups: int, delay: int | None) -> DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType, IntegerType, LongType, StructField, StructType, TimestampType

    group = F.pmod(F.xxhash64(*map(quoted, columns)), F.lit(groups)).cast("int") if columns else F.lit(0)
    written = StructType(
        [
            StructField("group", IntegerType()),
            StructField("side", IntegerType()),
            StructField("partition", IntegerType()),
            StructField("first", LongType()),
            StructField("rows", BinaryType()),
            StructField("clock", TimestampType(), True, None if delay is None else {DELAY: delay}),
        ]
    )
    chosen: Any = frame.select(*map(quoted, pack.schema.fieldNames()), group.alias(_GROUP))
    made: DataFrame = chosen.mapInArrow(pack, written)
    return made


def _output(schema: StructType) -> StructType:
    from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType, TimestampType

    place = StructType([StructField(name, LongType()) for name in ("batch", "partition", "position")])
    kinds = {
        "id": StringType(),
        "kind": StringType(),
        "key": StringType(),
        "side": StringType(),
        "left": schema,
        "left_place": place,
        "right": schema,
        "right_place": place,
        "reason": StringType(),
        "time": TimestampType(),
        "unmatched": LongType(),
        "matched": LongType(),
        "quarantined": LongType(),
        "lag": DoubleType(),
    }
    return StructType([StructField(name, kind) for name, kind in kinds.items()])


@dataclass(frozen=True)
class _Packed:
    """Before the shuffle: the rows of a part of a partition, sorted by group, each group as bytes."""

    schema: StructType
    side: int
    is_mark: Mark | None = None
    """Asked about every row, if there is one: here, where rows are still spread over tasks."""

    def __call__(self, parts: Iterable[Any]) -> Iterator[Any]:
        import numpy as np
        import pyarrow as pa  # type: ignore[import-untyped]
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        partition, position = context.partitionId(), 0
        kinds = [arrow_type(field.dataType) for field in self.schema.fields]
        names = [*self.schema.fieldNames(), _POSITION, *([_MARK] if self.is_mark else [])]
        for part in parts:
            groups = part.column(_GROUP).to_numpy()
            positions = np.arange(position, position + part.num_rows)
            arrays = [_as(part.column(at), kind) for at, kind in enumerate(kinds)]
            arrays.append(pa.array(positions))
            if self.is_mark:
                arrays.append(pa.array(map(self.is_mark, records_of(part, self.schema)), pa.bool_()))
            table = pa.RecordBatch.from_arrays(arrays, names=names)
            order = np.argsort(groups, kind="stable")
            found, starts = np.unique(groups[order], return_index=True)
            if len(found) > 1:
                table = table.take(pa.array(order))
            ends = [*starts[1:], part.num_rows]
            packs = [_bytes(table.slice(start, end - start)) for start, end in zip(starts, ends, strict=True)]
            count = len(found)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(found, pa.int32()),
                    pa.array([self.side] * count, pa.int32()),
                    pa.array([partition] * count, pa.int32()),
                    pa.array([position] * count, pa.int64()),
                    pa.array(packs, pa.binary()),
                    pa.nulls(count, pa.timestamp("us", "UTC")),
                ],
                names=["group", "side", "partition", "first", "rows", "clock"],
            )
            position += part.num_rows


def _as(column: Any, kind: Any) -> Any:
    return column if column.type == kind else column.cast(kind)


def _bytes(batch: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


@dataclass(frozen=True)
class _Called:
    """The stateful operator: one call for a group."""

    step: Step
    placed: Placed
    by_event_time: bool

    def __call__(self, key: tuple[Any], frames: Iterable[Any], state: Any) -> Iterator[Any]:
        import pandas as pd
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        watermark = state.getCurrentWatermarkMs() if self.by_event_time else 0
        batch = int(context.getLocalProperty(BATCH) or -1)
        now = Now(watermark, state.getCurrentProcessingTimeMs(), state.hasTimedOut, batch, int(key[0]))
        packs: list[tuple[int, int, int, bytes]] = []
        for frame in () if now.timed_out else frames:
            packs.extend(zip(*(frame[name] for name in ("side", "partition", "first", "rows")), strict=True))
        packs.sort(key=lambda pack: pack[:3])  # the left before the right, and each in its order
        tables, resets = [], []
        for side, partition, _, rows in packs:
            table = pa.ipc.open_stream(pa.py_buffer(rows)).read_all()
            if side == _RESETS:
                resets.append(table)
            else:
                tables.append(self.placed(table, int(side), int(partition), now))
        kept, said, wake = self.step(state.get if state.exists else None, _one(tables), now, _one(resets))
        state.update(kept)
        if wake is not None:
            state.setTimeoutTimestamp(max(wake, watermark))
        if said:
            yield pd.DataFrame({"moment": now.clock, "said": [_text(each) for each in said]})


def _one(tables: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables(tables) if tables else None


def _text(said: Compared) -> str:
    facts = dict(vars(said))
    for side in ("left", "right"):
        if facts[side] is not None:
            place, record = facts[side]
            facts[side] = (place.batch, place.partition, place.position, record)
    return json.dumps([to_json(value) for value in facts.values()])


def _read(text: str) -> Compared:
    said = Compared(*map(of_json, json.loads(text)))
    sides: dict[str, Any] = {}
    for side in ("left", "right"):
        found: Any = getattr(said, side)
        sides[side] = None if found is None else (Place(*found[:3]), found[3])
    return Compared(**{**vars(said), **sides})


@dataclass(frozen=True)
class _Rows:
    """Last: what was said as rows of Spark's types."""

    schema: StructType

    def __call__(self, parts: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        output, read = _output(self.schema), record_reader(self.schema.fieldNames())
        for part in parts:
            rows = []
            for time, text in zip(part.column("moment").to_pylist(), part.column("said").to_pylist(), strict=True):
                said = _read(text)
                facts: dict[str, Any] = {**vars(said), "time": time * 1000, "lag": said.lag / 1000}
                for side in ("left", "right"):
                    place, record = facts[side] or (None, None)
                    facts[side] = None if record is None else read(record)
                    facts[f"{side}_place"] = None if place is None else Record(vars(place))
                rows.append(facts)
            arrays = [arrow_column([row[field.name] for row in rows], field.dataType) for field in output.fields]
            yield pa.RecordBatch.from_arrays(arrays, names=output.fieldNames())
