"""The Python functions that programs call."""

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import LongType, StringType

# --- of single values, without type hints, from which PySpark would guess ---


def doubled(n):
    return None if n is None else n * 2


TABLE = {0: "zero", 1: "one"}


def named(n):
    return TABLE.get(n, "many")


def remembering() -> Callable[[Any], Any]:
    seen: list[Any] = []
    return lambda n: seen.append(n) or len(seen)


# --- of whole columns ---


@F.pandas_udf(LongType())
def plus_one(n: pd.Series) -> pd.Series:
    return n.fillna(0).astype("int64") + 1


@F.pandas_udf(LongType())
def from_largest(n: pd.Series) -> pd.Series:
    return (n.fillna(0) - n.fillna(0).max()).astype("int64")


@F.pandas_udf(StringType())
def dtype_of(n: pd.Series) -> pd.Series:
    return n.astype(str)


@F.pandas_udf(LongType())
def running(parts: Iterator[pd.Series]) -> Iterator[pd.Series]:
    for n in parts:
        yield n.fillna(0).astype("int64").cumsum()


@F.arrow_udf(LongType())
def arrow_total(n: pa.Array) -> pa.Array:
    return pa.array([pc.sum(n).as_py()] * len(n), pa.int64())


@F.arrow_udf(LongType())
def arrow_running(parts: Iterator[pa.Array]) -> Iterator[pa.Array]:
    for n in parts:
        yield pc.cumulative_sum(pc.fill_null(n, 0)).cast(pa.int64())


@F.pandas_udf(LongType())
def of_struct(p: pd.DataFrame) -> pd.Series:
    return (p["a"] - p["b"].max()).fillna(0).astype("int64")


# --- of partitions and groups ---


def mapped(frames: Iterator[Any]) -> Iterator[Any]:
    for frame in frames:
        yield pd.DataFrame({"k": frame["k"], "place": range(len(frame))})


def mapped_arrow(batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        k = batch.column(batch.schema.get_field_index("k"))
        yield pa.RecordBatch.from_arrays([k, pa.array(range(len(k)), pa.int32())], names=["k", "place"])


def of_group(key: Any, group: Any) -> Any:
    return pd.DataFrame({"k": [key[0]], "c": [len(group)], "seen": [",".join(map(str, group.iloc[:, -1]))]})


def of_arrow_group(key: Any, group: Any) -> Any:
    seen = ",".join(map(str, group.column(group.num_columns - 1).to_pylist()))
    return pa.table({"k": pa.array([key[0].as_py()], pa.int32()), "c": pa.array([group.num_rows], pa.int32()),
                     "seen": pa.array([seen])})  # fmt: skip


# --- with state ---


def with_state(key: Any, frames: Any, state: Any) -> Iterator[Any]:
    before = state.get[0] if state.exists else 0
    now = before + sum(len(frame) for frame in frames)
    state.update((now,))
    yield pd.DataFrame({"k": [key[0]], "c": [now]})


def timing_out(key: Any, frames: Any, state: Any) -> Iterator[Any]:
    """Ends a session seven minutes of event time after the watermark when it was last seen."""
    if state.hasTimedOut:
        yield pd.DataFrame({"k": [key[0]], "c": [-state.get[0]]})
        state.remove()
        return
    now = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
    state.update((now,))
    state.setTimeoutTimestamp(max(state.getCurrentWatermarkMs(), 1_704_067_200_000) + 420_000)
    yield pd.DataFrame({"k": [key[0]], "c": [now]})


class Counting(StatefulProcessor):
    """Counts the records of a key."""

    def init(self, handle: Any) -> None:
        self._count = handle.getValueState("count", "c BIGINT")

    def handleInputRows(self, key: Any, rows: Any, timer_values: Any) -> Iterator[Any]:
        before = self._count.get()[0] if self._count.exists() else 0
        now = before + sum(1 for _ in rows)
        self._count.update((now,))
        yield Row(k=key[0], c=now)

    def close(self) -> None:
        pass


class Alarm(Counting):
    """Also puts out a key when the watermark is past ten minutes."""

    def init(self, handle: Any) -> None:
        super().init(handle)
        self._handle = handle

    def handleInputRows(self, key: Any, rows: Any, timer_values: Any) -> Iterator[Any]:
        yield from super().handleInputRows(key, rows, timer_values)
        self._handle.registerTimer(max(timer_values.getCurrentWatermarkInMs(), 1_704_067_200_000) + 600_000)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:
        yield Row(k=key[0], c=-1)
