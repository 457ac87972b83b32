"""What it costs to cut a trace into windows of event time, against a plain pass that computes each record's windows."""

from __future__ import annotations

import random
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from run import Bound

import firesteel as fs
from firesteel.values import schemas
from firesteel.values.batches import make_batch
from firesteel.values.records import make_record
from firesteel.values.streams import make_stream
from firesteel.values.windows import Window, session_window, sliding, tumbling

RECORDS, BATCHES, WINDOWS, ROUNDS = 500_000, 100, 1_000, 3
EPOCH, START = datetime(1970, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
SIZE, STEP, GAP = timedelta(minutes=15), timedelta(minutes=7, seconds=30), timedelta(minutes=3)
SCHEMA = schemas.parse("id BIGINT NOT NULL, ts TIMESTAMP NOT NULL")


def cpu(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def batches(seed: int) -> list[fs.Batch]:
    """Batches that follow each other in event time, each without order. Nothing comes in the last third of a window,
    so that sessions end there."""
    rng = random.Random(seed)
    each, seconds = RECORDS // BATCHES, SIZE.total_seconds()

    def moment(batch: int) -> datetime:
        window = batch * WINDOWS // BATCHES + rng.randrange(WINDOWS // BATCHES)
        return START + window * SIZE + timedelta(seconds=rng.random() * seconds * 2 / 3)

    return [
        make_batch((make_record({"id": n, "ts": moment(batch)}) for n in range(each)), SCHEMA)
        for batch in range(BATCHES)
    ]


def one_window(records: list[Any]) -> object:
    return [(record["ts"] - EPOCH) // SIZE for record in records]


def both_windows(records: list[Any]) -> object:
    return [((last := (record["ts"] - EPOCH) // STEP) - 1, last) for record in records]


def its_session(taken: list[Any], records: list[Any]) -> object:
    """Sessions are of all input, so a plain pass has to put the input in order, and then look up each record."""
    starts: list[datetime] = []
    end = EPOCH
    for at in sorted(record["ts"] for record in taken):
        if at >= end:
            starts.append(at)
        end = at + GAP
    return [bisect_right(starts, record["ts"]) for record in records]


def measure() -> Mapping[str, Bound]:
    taken, given = batches(0), batches(1)
    inputs = {"input": make_stream(taken, SCHEMA)}
    trace = fs.Trace(
        fs.Instant(index, {"input": one}, {"output": other})
        for index, (one, other) in enumerate(zip(taken, given, strict=True))
    )
    every_input = [record for batch in taken for record in batch]
    records = every_input + [record for batch in given for record in batch]
    kinds: dict[str, tuple[Window, Callable[[], object], int]] = {
        "tumbling": (tumbling(SIZE, on="ts"), lambda: one_window(records), WINDOWS),
        "sliding": (sliding(SIZE, every=STEP, on="ts"), lambda: both_windows(records), 2 * WINDOWS + 1),
        "session": (session_window(GAP, on="ts"), lambda: its_session(every_input, records), WINDOWS),
    }
    bounds = {}
    print(f"{len(records):,} records in {BATCHES} batches, CPU seconds, best of {ROUNDS}\n")
    print(f"{'':>10}{'windows':>9}{'plain pass':>12}{'firesteel':>11}{'ratio':>8}")
    for name, (window, plain, expected) in kinds.items():
        cut = window.cut(trace, inputs)
        seen = sum(len(now.input) + len(now.output) for now in cut) + sum(map(len, cut.outside.values()))
        assert seen == len(records) * (2 if name == "sliding" else 1), "no record is lost"
        assert len(cut) == expected, "all windows are there"
        pass_ = min(cpu(plain) for _ in range(ROUNDS))
        ours = min(cpu(lambda window=window: window.cut(trace, inputs)) for _ in range(ROUNDS))  # type: ignore[misc]
        print(f"{name:>10}{len(cut):9,}{pass_:12.3f}{ours:11.3f}{ours / pass_:8.2f}")
        bounds[name] = Bound(ours / pass_, at_most=3)
    return bounds
