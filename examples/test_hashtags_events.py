"""AMP Camp's hashtags as event-time jobs: examples 10 to 18 of the sscheck paper, with one tick record per batch.

The jobs count the hashtags of the last three seconds and tell the most popular one. When tweets stop, counts have to
fall to zero. Nothing would tell the job that time goes on, so a tick (a record without a hashtag) comes in every batch.
What batch k of the input holds is counted in batch k + 1 of the output, when its second is over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

SCHEMA = "text STRING NOT NULL, ts TIMESTAMP NOT NULL"
START = datetime(2030, 1, 1, tzinfo=UTC)
Job = Callable[..., DataFrame]


# --- the jobs -------------------------------------------------------------------------------------


def tags_and_ticks(tweets: DataFrame) -> DataFrame:
    """A row for every hashtag; of a text without one a row without a tag."""
    tags = F.filter(F.split("text", " "), lambda word: word.startswith("#"))
    return tweets.withWatermark("ts", "0 seconds").select(F.explode_outer(tags).alias("tag"), "ts")


def hashtags(tweets: DataFrame) -> DataFrame:
    return tags_and_ticks(tweets).where("tag IS NOT NULL").select("tag")


def counted(tags: DataFrame, seconds: int, every: int) -> DataFrame:
    """Counts at the end of every window; of the ticks, which have no tag, the count is 0."""
    recent = tags.groupBy(F.window("ts", f"{seconds} seconds", f"{every} seconds"), "tag")
    return recent.agg(F.count("tag").alias("n"))


def counts(seconds: int = 3, every: int = 1) -> Job:
    return lambda tweets: counted(tags_and_ticks(tweets), seconds, every).select("tag", "n")


def top_hashtag(top: str = "max(struct(n, tag)).tag") -> Job:
    """The most frequent of the last second; of several the last by name, as Spark would otherwise take any."""

    def job(tweets: DataFrame) -> DataFrame:
        return counted(tags_and_ticks(tweets), 1, 1).groupBy("window").agg(F.expr(top).alias("tag")).select("tag")

    return job


# --- the tweets -----------------------------------------------------------------------------------


def tweets(texts: str | SearchStrategy[str], low: int, high: int | None = None) -> SearchStrategy[fs.Batch]:
    texts = st.just(texts) if isinstance(texts, str) else texts
    return ss.batches(ss.records(SCHEMA, text=texts), min_size=low, max_size=high or low)


def ticking(stream: Any, during: int) -> SearchStrategy[fs.Stream]:
    """The stream, a batch a second, with a tick at the end of every second: so all cases have the same watermarks."""
    ends = [START + timedelta(seconds=second, microseconds=999_999) for second in range(during)]
    ticks = fs.Stream(SCHEMA, [[("tick", end)] for end in ends])
    return ss.overlay(ss.timed(stream, every="1 second", column="ts", start=START), st.just(ticks))


def tags_in(batch: fs.Batch) -> list[str]:
    """Found in another way than the jobs do."""
    return [tag for text in batch.values("text") for tag in re.findall(r"#\S+", text)]


def check(streams: Any, job: Any, formula: Any, *, cases: int = 8) -> None:
    fs.for_all(streams, job, formula, close=False, cases=cases)


def falsified(batch: int, streams: Any, job: Any, formula: Any, *, cases: int = 8, **options: Any) -> None:
    with pytest.raises(fs.Falsified, match=f"the property is false in batch {batch}") as failure:
        fs.for_all(streams, job, formula, cases=cases, **{"close": False, **options})
    found = failure.value.report.counterexample
    assert found is not None and len(found.trace) == batch + 1


some = tweets(st.sampled_from(["hello #spark", "hello #scala"]), 1, 3)
busy_then_quiet = ticking(ss.concat(ss.always(some, during=3), ss.empty(during=5)), during=8)


# --- examples 10 and 11: the hashtags of the tweets, no more and no less --------------------------

KNOWN = ["#spark", "#scala", "#scalacheck"]
known_tags = ticking(ss.always(tweets(st.sampled_from(KNOWN).map("hello {}".format), 2, 4), during=3), during=3)
two_tags = st.lists(st.text("abc", min_size=1, max_size=3).map("#".__add__), min_size=1, max_size=2)


def any_tags(during: int) -> SearchStrategy[fs.Stream]:
    return ticking(ss.always(tweets(two_tags.map(" ".join), 1, 4), during=during), during=during)


only_known = fs.always(lambda now: now.output and now.output.every(lambda r: r.tag in KNOWN), during=3)


def all_there(now: fs.Instant) -> fs.Check:
    return fs.Batch(now.output.values("tag")).same_as(tags_in(now.input))


def test_examples_10_and_11_hashtags_are_those_of_the_tweets() -> None:
    check(known_tags, hashtags, only_known)
    check(any_tags(during=3), hashtags, fs.always(all_there, during=3))


def test_words_that_are_no_hashtags_are_found() -> None:
    falsified(0, known_tags, lambda tweets: tweets.select(F.explode(F.split("text", " ")).alias("tag")), only_known)


def test_one_hashtag_a_tweet_is_found() -> None:
    def last_word(tweets: DataFrame) -> DataFrame:
        return tweets.select(F.element_at(F.split("text", " "), -1).alias("tag")).where("tag LIKE '#%'")

    falsified(0, any_tags(during=1), last_word, fs.now(all_there))


# --- the whole specification: batch k tells the counts of the three seconds before it -------------


def of_the_last_three_seconds(now: fs.Instant) -> fs.Check:
    expected, instant = Counter[str | None](), now.previous
    for _ in range(3):
        if instant:
            expected.update(tags_in(instant.input))
            expected[None] = 0  # the tick
            instant = instant.previous
    return fs.Batch(now.output.values("tag", "n")).same_as(expected.items())


always_exact = fs.always(of_the_last_three_seconds, during=8)


def test_counts_are_those_of_three_seconds() -> None:
    check(busy_then_quiet, counts(), always_exact)


def test_a_window_that_is_too_long_is_found() -> None:
    falsified(4, busy_then_quiet, counts(seconds=4), always_exact)


def test_ticks_that_do_not_reach_the_watermark_are_found() -> None:
    falsified(1, busy_then_quiet, lambda tweets: counts()(tweets.where("text LIKE '%#%'")), always_exact)


# --- example 12: counts rise, stay, and fall ------------------------------------------------------


def count_of(tag: str, now: fs.Instant) -> int | None:
    """How often the tag is in the window that this batch has closed; None if there is no window: it has no tick."""
    found = dict(now.output.values("tag", "n"))
    return found.get(tag, 0) if None in found else None


def times(tag: str, n: int) -> fs.Formula:
    return fs.now(lambda now: count_of(tag, now) == n, name=f"{tag} is counted {n} times")


spark_then_scala = ticking(
    ss.concat(ss.always(tweets("#spark", 2), during=6), ss.always(tweets("#scala", 1), during=5)), during=11
)
falls = times("#spark", 4) & fs.next_(times("#spark", 2)) & fs.next_(times("#spark", 0), times=2)
rise_and_fall = (
    fs.eventually(fs.always(times("#spark", 6), during=4), within=5)
    & fs.eventually(times("#scala", 3), within=11)
    & fs.eventually(fs.until(times("#spark", 6), falls, within=6), within=5)
)


def test_example_12_counts_rise_and_fall() -> None:
    check(spark_then_scala, counts(), rise_and_fall, cases=3)


def test_a_window_that_is_too_short_is_found() -> None:
    """Six #spark should have been there by batch 4, and remain."""
    falsified(4, spark_then_scala, counts(seconds=2), rise_and_fall, cases=3)


# --- example 13: no hashtag is missed -------------------------------------------------------------


def counted_next(first: fs.Instant) -> fs.Formula:
    tags = set(tags_in(first.input))
    return fs.now(lambda now: all(count_of(tag, now) for tag in tags), name="all_are_counted")


always_counted = fs.always(fs.consume(counted_next), during=5)


def test_example_13_hashtags_are_always_counted() -> None:
    check(busy_then_quiet, counts(), always_counted)


def test_a_window_that_moves_too_far_is_found() -> None:
    """By two seconds: of the first one it tells, of the next it does not."""
    falsified(2, busy_then_quiet, counts(every=2), always_counted)


# --- examples 14 and 15: the top is #spark until it is #scala; there is one, no more and no less --

others = tweets("#scalacheck", 2)
spark_until_scala = ticking(
    ss.until(ss.overlay(tweets("#spark", 5), others), ss.overlay(tweets("#scala", 7), others), within=4), during=6
)


def top_is(tag: str) -> fs.Formula:
    return fs.now(lambda now: now.output.same_as([(tag,)]), name=f"{tag} is the top")


# In batch 0 no second is over.
spark_top_until_scala_top = fs.next_(fs.until(top_is("#spark"), top_is("#scala"), within=5))


def one_top(during: int) -> fs.Formula:
    return fs.next_(fs.always(lambda now: len(now.output) == 1, during=during))


def test_examples_14_and_15_there_is_one_top() -> None:
    check(spark_until_scala, top_hashtag(), spark_top_until_scala_top)
    check(busy_then_quiet, top_hashtag(), one_top(during=7))


def test_the_least_popular_is_found() -> None:
    falsified(1, spark_until_scala, top_hashtag("min(struct(n, tag)).tag"), spark_top_until_scala_top)


def test_two_tops_are_found() -> None:
    def all_with_the_greatest_count(tweets: DataFrame) -> DataFrame:
        all_counts = top_hashtag("collect_list(struct(n, tag))")(tweets)
        return all_counts.selectExpr("inline(filter(tag, each -> each.n = array_max(tag).n))").select("tag")

    falsified(1, ticking(some, during=2), all_with_the_greatest_count, one_top(during=1), cases=100)


# --- example 16: counts go to zero when tweets stop -----------------------------------------------


def go_to_zero(first: fs.Instant) -> fs.Formula:
    tags = set(tags_in(first.input))
    gone = fs.now(lambda now: all(count_of(tag, now) == 0 for tag in tags), name="their_counts_are_zero")
    return fs.eventually(gone, within=6)


counts_go_to_zero = fs.always(fs.consume(go_to_zero), during=2)


def test_example_16_counts_go_to_zero() -> None:
    check(busy_then_quiet, counts(), counts_go_to_zero)


def test_counts_that_never_fall_are_found() -> None:
    def totals(tweets: DataFrame) -> DataFrame:
        return tags_and_ticks(tweets).groupBy("tag").agg(F.count("tag").alias("n"))

    falsified(6, busy_then_quiet, totals, counts_go_to_zero, output_mode="complete", close=True)


# --- example 17: a peak becomes the top -----------------------------------------------------------

PEAK = 6
noise = ss.always(tweets(st.sampled_from(["#x", "#y"]), 1, 2), during=5)
peak = ss.concat(
    ss.empty(during=2), st.sampled_from(["#c", "#d"]).flatmap(lambda tag: tweets(tag, PEAK)), ss.empty(during=2)
)
noise_and_peaks = ticking(ss.repeat(ss.overlay(noise, peak), times=2), during=10)


def peak_then_top(first: fs.Instant) -> fs.Formula:
    peaks = [tag for tag, n in Counter(tags_in(first.input)).items() if n >= PEAK]
    is_top = fs.now(lambda now: now.output.values("tag") == peaks, name="the_peak_is_the_top")
    return fs.implies(bool(peaks), fs.eventually(is_top, within=3))


a_peak_becomes_the_top = fs.always(fs.let(peak_then_top), during=8)


def test_example_17_a_peak_becomes_the_top() -> None:
    check(noise_and_peaks, top_hashtag(), a_peak_becomes_the_top)


def test_the_last_by_name_is_found() -> None:
    """The peak is in batch 2, and had to be the top by batch 4."""
    falsified(4, noise_and_peaks, top_hashtag("max(tag)"), a_peak_becomes_the_top)


# --- example 18: the formula depends on a number that was drawn -----------------------------------

prefixes = ss.always(tweets(st.sampled_from(["#a", "#b", "#c", "#d", "#e"]), 1), during=2)


@st.composite
def repeated(draw: st.DrawFn) -> fs.Case:
    """The same stream n times, each copy one batch after the one before."""
    n, stream = draw(st.integers(2, 3)), draw(prefixes)
    return fs.Case(draw(ticking(ss.always(st.just(stream), during=n), during=6)), n=n)


@fs.let
def counted_as_often_as_repeated(first: fs.Instant) -> fs.Formula:
    n, tags = first.drawn.n, tags_in(first.input)
    often = fs.now(lambda now: all((count_of(tag, now) or 0) >= n for tag in tags), name=f"counted_{n}_times")
    return fs.next_(often, times=n)


def test_example_18_counted_as_often_as_repeated() -> None:
    check(repeated(), counts(), counted_as_often_as_repeated)


def test_a_window_shorter_than_the_repetitions_is_found() -> None:
    """Batch 3 tells what three repetitions have brought."""
    falsified(3, repeated(), counts(seconds=2), counted_as_often_as_repeated)
