"""AMP Camp's hashtags as an event-time job: the counts of the last three seconds, with one tick record per batch.

When tweets stop, their counts have to fall to zero. Nothing would tell the job that time goes on, so a tick (a record
without a hashtag) comes in every batch. The wrong jobs leave the ticks out before they reach the watermark, count
four seconds, or count all that ever came.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

SCHEMA = "tag STRING, ts TIMESTAMP NOT NULL"
SECOND = timedelta(seconds=1)


def counted(tweets: DataFrame, window: str) -> DataFrame:
    """Counts at the end of every window; of the ticks, which have no tag, the count is 0."""
    recent = tweets.withWatermark("ts", "0 seconds").groupBy(F.window("ts", window, "1 second"), "tag")
    return recent.agg(F.count("tag").alias("n")).select("tag", "n", F.col("window.end").alias("at"))


def counts(tweets: DataFrame) -> DataFrame:
    return counted(tweets, "3 seconds")


def counts_of_four_seconds(tweets: DataFrame) -> DataFrame:
    return counted(tweets, "4 seconds")


def counts_without_ticks(tweets: DataFrame) -> DataFrame:
    return counted(tweets.where("tag IS NOT NULL"), "3 seconds")


def totals(tweets: DataFrame) -> DataFrame:
    return tweets.groupBy("tag").agg(F.count("tag").alias("n"), F.max("ts").alias("at"))


def tweets(tags: SearchStrategy[str | None], low: int, high: int) -> SearchStrategy[fs.Batch]:
    return ss.batches(ss.records(SCHEMA, tag=tags), min_size=low, max_size=high)


def ticking(stream: SearchStrategy[fs.Stream], during: int) -> SearchStrategy[fs.Stream]:
    """The stream, a batch a second, with a tick in every batch."""
    ticks = ss.always(tweets(st.none(), 1, 1), during=during)
    return ss.timed(ss.overlay(stream, ticks), every="1 second", column="ts")


some = tweets(st.sampled_from(["#spark", "#scala"]), 1, 3)
busy_then_quiet = ticking(ss.concat(ss.always(some, during=3), ss.empty(during=5)), during=8)


# --- the whole specification: batch k tells the counts of the three seconds before it -------------


def of_the_last_three_seconds(now: fs.Instant) -> fs.Check:
    expected, instant = Counter[str | None](), now.previous
    for _ in range(3):
        for record in instant.input if instant else ():
            expected[record.tag] += record.tag is not None
        instant = instant and instant.previous
    return fs.Batch(now.output.values("tag", "n")).same_as(expected.items())


always_exact = fs.always(of_the_last_three_seconds, during=8)


def test_counts_are_those_of_three_seconds() -> None:
    fs.for_all(busy_then_quiet, counts, always_exact, close=False, cases=10)


def test_a_window_that_is_too_long_is_found() -> None:
    with pytest.raises(fs.Falsified, match="the property is false in batch 4"):
        fs.for_all(busy_then_quiet, counts_of_four_seconds, always_exact, close=False, cases=10)


def test_ticks_that_do_not_reach_the_watermark_are_found() -> None:
    with pytest.raises(fs.Falsified, match="the property is false in batch 1"):
        fs.for_all(busy_then_quiet, counts_without_ticks, always_exact, close=False, cases=10)


# --- example 12: counts rise, stay, and fall ------------------------------------------------------


def count_of(tag: str, now: fs.Instant) -> int | None:
    """How often the tag is in the window that this batch has closed; None if there is no window: it has no tick."""
    found = dict(now.output.values("tag", "n"))
    return found.get(tag, 0) if None in found else None


def times(tag: str, n: int) -> fs.Formula:
    return fs.now(lambda now: count_of(tag, now) == n, name=f"{tag} is counted {n} times")


spark_then_scala = ticking(
    ss.concat(
        ss.always(tweets(st.just("#spark"), 2, 2), during=6),
        ss.always(tweets(st.just("#scala"), 1, 1), during=5),
    ),
    during=11,
)
falls = times("#spark", 4) & fs.next_(times("#spark", 2)) & fs.next_(times("#spark", 0), times=2)
rise_and_fall = (
    fs.eventually(fs.always(times("#spark", 6), during=4), within=5)
    & fs.eventually(times("#scala", 3), within=11)
    & fs.eventually(fs.until(times("#spark", 6), falls, within=6), within=5)
)


def test_example_12_counts_rise_and_fall() -> None:
    fs.for_all(spark_then_scala, counts, rise_and_fall, close=False, cases=3)


# --- example 16: counts go to zero when tweets stop -----------------------------------------------


def go_to_zero(first: fs.Instant) -> fs.Formula:
    tags = {r.tag for r in first.input if r.tag is not None}
    gone = fs.now(lambda now: all(count_of(tag, now) == 0 for tag in tags), name="their_counts_are_zero")
    return fs.eventually(gone, within=6)


counts_go_to_zero = fs.always(fs.consume(go_to_zero), during=2)


def test_example_16_counts_go_to_zero() -> None:
    fs.for_all(busy_then_quiet, counts, counts_go_to_zero, close=False, cases=10)


def test_counts_that_never_fall_are_found() -> None:
    with pytest.raises(fs.Falsified, match="the property is false in batch 6"):
        fs.for_all(busy_then_quiet, totals, counts_go_to_zero, output_mode="complete", cases=5)
