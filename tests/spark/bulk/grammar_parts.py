"""What the grammar's programs are made of and fed with: Python functions, and cases whose watermarks mostly agree."""

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType

import firesteel as fs
from firesteel.values.cases import Case

SCHEMA = "ts TIMESTAMP, k INT, n INT, s STRING, x DOUBLE, xs ARRAY<INT>"

# --- functions ---


def doubled(n: Any) -> Any:
    return None if n is None else n * 2


TABLE = {0: "zero", 1: "one"}


def named(n: Any) -> Any:
    return TABLE.get(n, "many")


@F.pandas_udf(LongType())
def plus_one(n: pd.Series) -> pd.Series:
    return n.fillna(0).astype("int64") + 1


@F.pandas_udf(LongType())
def from_largest(n: pd.Series) -> pd.Series:
    return (n.fillna(0) - n.fillna(0).max()).astype("int64")


@F.pandas_udf(StringType())
def dtype_of(n: pd.Series) -> pd.Series:
    return n.astype(str)


def mapped(frames: Iterator[Any]) -> Iterator[Any]:
    for frame in frames:
        yield pd.DataFrame({"k": frame["k"], "place": range(len(frame))})


def of_group(key: Any, group: Any) -> Any:
    return pd.DataFrame({"k": [key[0]], "c": [len(group)], "seen": [",".join(map(str, group.iloc[:, -1]))]})


def with_state(key: Any, frames: Any, state: Any) -> Iterator[Any]:
    before = state.get[0] if state.exists else 0
    now = before + sum(len(frame) for frame in frames)
    state.update((now,))
    yield pd.DataFrame({"k": [key[0]], "c": [now]})


def remembering() -> Callable[[Any], Any]:
    seen: list[Any] = []
    return lambda n: seen.append(n) or len(seen)


# --- cases ---


def cases(rng: random.Random, inputs: Sequence[str], number: int = 3) -> list[Case]:
    """Cases of one length, whose latest event times are the same: so their watermarks are, mostly."""
    length = rng.choice([1, 2, 2])
    tops = sorted(rng.sample(range(5, 60, 5), length))
    return [Case({name: fs.Stream(SCHEMA, _batches(rng, tops)) for name in inputs}) for _ in range(number)]


def _batches(rng: random.Random, tops: Sequence[int]) -> list[list[tuple[Any, ...]]]:
    made, low = [], 0
    for top in tops:
        minutes = [top, *(rng.randint(low, top) for _ in range(rng.randint(0, 4)))]
        if rng.random() < 0.03:
            minutes = []
        made.append([_record(rng, minute) for minute in minutes])
        low = max(top - 4, 0)
    return made


def _record(rng: random.Random, minute: int) -> tuple[Any, ...]:
    at = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    some = rng.random() < 0.85
    return (
        at,
        rng.randint(0, 2) if rng.random() < 0.95 else None,
        rng.randint(-2, 9) if some else None,
        rng.choice(["a", "b", "ab", None]),
        rng.choice([0.1, 0.2, 0.3, 1e15, -1e15, None]),
        [rng.choice([1, 2, 3, None]) for _ in range(rng.randint(0, 3))] if rng.random() < 0.9 else None,
    )
