"""Late data on a deduplication: events are up to eight minutes out of order, and a few come half an hour late.

The job waits for ten minutes, so it may lose the late events, and only those. The wrong job does not wait: it loses
events that are merely out of order.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import strategies as st
from pyspark.sql import DataFrame

import firesteel as fs
from firesteel import strategies as ss

SCHEMA = "id INT NOT NULL, ts TIMESTAMP NOT NULL"
events = ss.timed(
    ss.always(ss.batches(ss.records(SCHEMA, id=st.integers(0, 3)), max_size=3), during=5),
    every="5 minutes",
    column="ts",
    out_of_order="8 minutes",
    late="30 minutes",
)


def at(minutes: int) -> datetime:
    return datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)


# Event 2 is five minutes out of order, event 3 half an hour late.
out_of_order = fs.Stream(SCHEMA, [[(0, at(30))], [(1, at(35))], [(2, at(30)), (3, at(5))]])


def dedup(events: DataFrame) -> DataFrame:
    return events.withWatermark("ts", "10 minutes").dropDuplicatesWithinWatermark(["id"])


def impatient(events: DataFrame) -> DataFrame:
    return events.withWatermark("ts", "0 minutes").dropDuplicatesWithinWatermark(["id"])


def late_events_are_dropped(now: fs.Instant) -> fs.Check:
    """Spark drops what is not after the watermark."""
    return now.output.every(lambda r: now.watermark is None or r.ts > now.watermark)


def events_out_of_order_are_not_lost(now: fs.Instant) -> bool:
    before = now.previous.so_far.input.values("ts") if now.previous else []
    in_time = {r.id for r in now.input if not before or r.ts > max(before) - timedelta(minutes=9)}
    return in_time <= set(now.so_far.output.values("id"))


def test_late_events_are_dropped_and_counted() -> None:
    trace = fs.run(out_of_order, dedup)
    assert [instant.output.values("id") for instant in trace] == [[0], [1], [2]]
    assert [instant.dropped for instant in trace] == [0, 0, 1]
    assert fs.always(late_events_are_dropped).evaluate(trace)


@pytest.mark.slow  # cases with late events run one at a time
def test_only_late_events_are_lost() -> None:
    waits = fs.always(late_events_are_dropped) & fs.always(events_out_of_order_are_not_lost)
    fs.for_all(events, dedup, waits, examples=[out_of_order], cases=10)


def test_a_job_that_does_not_wait_is_found() -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(events, impatient, fs.always(events_out_of_order_are_not_lost), examples=[out_of_order], cases=10)
    found = failure.value.report.counterexample
    assert found is not None and not found.trace[-1].output, "the last event is lost"
