"""Cases for the programs, whose watermarks mostly agree."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import firesteel as fs
from firesteel.values.batches import make_batch
from firesteel.values.cases import Case
from firesteel.values.streams import make_stream

SCHEMA = "ts TIMESTAMP, k INT, n INT, s STRING, x DOUBLE, xs ARRAY<INT>"


def cases(rng: random.Random, inputs: Sequence[str], number: int = 3) -> list[Case]:
    """Cases of one length, whose latest event times are the same: so their watermarks are, mostly."""
    length = rng.choice([1, 2, 2])
    tops = sorted(rng.sample(range(5, 60, 5), length))
    parts = rng.choice([1, 1, 2])
    return [Case({name: _stream(rng, tops, parts) for name in inputs}) for _ in range(number)]


def _stream(rng: random.Random, tops: Sequence[int], parts: int) -> fs.Stream:
    """A stream; where it has several partitions, all of its batches have."""
    made = fs.Stream(SCHEMA, _batches(rng, tops))
    if parts == 1:
        return made
    cut = [make_batch(batch.records, made.schema, _sizes(rng, len(batch))) for batch in made]
    return make_stream(cut, made.schema)


def _sizes(rng: random.Random, records: int) -> tuple[int, ...]:
    first = rng.randint(0, records)
    return (first, records - first)


def _batches(rng: random.Random, tops: Sequence[int]) -> list[list[tuple[Any, ...]]]:
    made, low = [], 0
    for top in tops:
        minutes = [top, *(rng.randint(low, top) for _ in range(rng.randint(0, 4)))]
        if rng.random() < 0.03:
            minutes = []
        made.append([_record(rng, minute, certain=not index) for index, minute in enumerate(minutes)])
        low = max(top - 4, 0)
    return made


def _record(rng: random.Random, minute: int, *, certain: bool) -> tuple[Any, ...]:
    """A record. The one that moves the watermark gets through most filters, so that it does so in every case."""
    at = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    if certain and rng.random() < 0.7:
        return (at, 1, 5, "a", 0.5, [1, 2])
    some = rng.random() < 0.85
    return (
        at,
        rng.randint(0, 2) if rng.random() < 0.95 else None,
        rng.randint(-2, 9) if some else None,
        rng.choice(["a", "b", "ab", None]),
        rng.choice([0.1, 0.2, 0.3, 1e15, -1e15, None]),
        [rng.choice([1, 2, 3, None]) for _ in range(rng.randint(0, 3))] if rng.random() < 0.9 else None,
    )
