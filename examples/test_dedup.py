"""Deduplication: each id comes out once, and none is lost.

Spark has to forget ids at some time, or its state would grow for ever. The wrong jobs forget after ten minutes, where
an id may come back after half an hour, or take events for different that differ in their time alone.
"""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from pyspark.sql import DataFrame

import firesteel as fs
from firesteel import strategies as ss

event = ss.records("id INT NOT NULL, ts TIMESTAMP NOT NULL", id=st.integers(0, 2))
# One event in ten minutes, or two.
events = ss.timed(ss.always(ss.batches(event, min_size=1, max_size=2), during=4), every="10 minutes", column="ts")


def dedup(events: DataFrame) -> DataFrame:
    return events.withWatermark("ts", "1 hour").dropDuplicatesWithinWatermark(["id"])


def forgets_too_soon(events: DataFrame) -> DataFrame:
    return events.withWatermark("ts", "10 minutes").dropDuplicatesWithinWatermark(["id"])


def by_id_and_time(events: DataFrame) -> DataFrame:
    return events.withWatermark("ts", "1 hour").dropDuplicates(["id", "ts"])


def each_id_once(now: fs.Instant) -> fs.Check:
    return now.so_far.output.unique("id")


def no_id_is_lost(now: fs.Instant) -> bool:
    return set(now.so_far.output.values("id")) == set(now.so_far.input.values("id"))


@pytest.mark.slow
def test_each_id_comes_out_once_and_none_is_lost() -> None:
    once = fs.always(each_id_once, during=4) & fs.always(no_id_is_lost, during=4)
    fs.for_all(events, dedup, once, cases=10)


@pytest.mark.slow
def test_ids_forgotten_too_soon_are_found() -> None:
    """The id of batch 0 is forgotten when the watermark has passed the ten minutes after it: with batch 2."""
    with pytest.raises(fs.Falsified, match="the property is false in batch 3") as failure:
        fs.for_all(events, forgets_too_soon, fs.always(each_id_once, during=4), cases=10)
    found = failure.value.report.counterexample
    assert found is not None and set(found.trace[3].input.values("id")) & set(found.trace[0].output.values("id"))


@pytest.mark.slow
def test_times_taken_for_a_part_of_the_id_are_found() -> None:
    two = ss.timed(ss.always(ss.batches(event, min_size=1, max_size=1), during=2), every="10 minutes", column="ts")
    with pytest.raises(fs.Falsified, match="the property is false in batch 1"):
        fs.for_all(two, by_id_and_time, fs.always(each_id_once, during=2), cases=10)
