"""AMP Camp's hashtags on DStreams: examples 10 to 18 of the sscheck paper, with smaller streams.

Jobs that find the hashtags of tweets, count them in a sliding window, and tell the most popular one. The wrong ones
know one hashtag a tweet, have a window that is too short, never forget what left it, or name two tops where two tie.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from operator import add, sub
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

import firesteel as fs
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

Job = Callable[[Any], Any]
HASHTAG = re.compile(r"#\S+")


# --- the jobs -------------------------------------------------------------------------------------


def get_hashtags(tweets: Any) -> Any:
    return tweets.flatMap(str.split).filter(lambda word: word.startswith("#"))


def count_hashtags(window: int) -> Job:
    def job(tweets: Any) -> Any:
        return get_hashtags(tweets).map(lambda tag: (tag, 1)).reduceByKeyAndWindow(add, sub, window, 1)

    return job


def top_of(counts: Any) -> Any:
    return counts.transform(
        lambda rdd: rdd.context.parallelize([tag for tag, _ in rdd.takeOrdered(1, lambda p: -p[1])])
    )


def top_hashtag(window: int) -> Job:
    return lambda tweets: top_of(count_hashtags(window)(tweets))


# --- the tweets -----------------------------------------------------------------------------------

some_tags = st.text("abc", min_size=1, max_size=3).map("#".__add__)


def tweets(tag: str | SearchStrategy[str], low: int, high: int | None = None) -> SearchStrategy[fs.Batch]:
    """A batch of tweets with one hashtag each."""
    tags = st.just(tag) if isinstance(tag, str) else tag
    return ss.batches(tags.map("hello {}".format), min_size=low, max_size=high or low)


def hashtags_in(texts: Iterable[str]) -> list[str]:
    """Found in another way than the jobs do."""
    return [tag for text in texts for tag in HASHTAG.findall(text)]


def check(streams: Any, job: Any, formula: Any, *, cases: int = 3) -> None:
    fs.for_all(streams, job, formula, engine="dstream", batch_interval="1 second", cases=cases)


def falsified(streams: Any, job: Any, formula: Any, *, cases: int = 3) -> fs.Counterexample:
    with pytest.raises(fs.Falsified) as failure:
        check(streams, job, formula, cases=cases)
    found = failure.value.report.counterexample
    assert found is not None
    return found


# --- example 10: only the hashtags there are ------------------------------------------------------


KNOWN = ["#spark", "#scala", "#scalacheck"]
known_tags = ss.always(tweets(st.sampled_from(KNOWN), 2, 4), during=3)
only_known = fs.always(lambda now: now.output and now.output.every(KNOWN.__contains__), during=3)


def test_example_10_hashtags_are_those_of_the_tweets() -> None:
    check(known_tags, get_hashtags, only_known)


def test_words_that_are_no_hashtags_are_found() -> None:
    found = falsified(known_tags, lambda tweets: tweets.flatMap(str.split), only_known)
    assert len(found.trace) == 1 and "hello" in found.trace[0].output, "false in batch 0"


# --- example 11: against a reference implementation -----------------------------------------------

two_tags = st.lists(some_tags, min_size=1, max_size=2).map(" ".join)


def all_hashtags(now: fs.Instant) -> fs.Check:
    return now.output.same_as(hashtags_in(now.input))


def test_example_11_hashtags_are_all_of_the_tweets() -> None:
    check(ss.always(tweets(two_tags, 1, 4), during=3), get_hashtags, fs.always(all_hashtags, during=3))


def test_one_hashtag_a_tweet_is_found() -> None:
    def last_word(tweets: Any) -> Any:
        return tweets.map(lambda tweet: tweet.split()[-1])

    one_batch = ss.always(tweets(two_tags, 1, 4), during=1)
    found = falsified(one_batch, last_word, fs.now(all_hashtags), cases=10)
    assert found.trace[0].input == ["hello #a #a"], "false in batch 0: one tweet with two hashtags"


# --- example 12: counts rise, stay, and fall ------------------------------------------------------


def times(tag: str, counts: fs.Batch) -> int:
    """A count of zero may be there or not: Spark keeps a tag that left a window of five batches or more."""
    return sum(n for counted, n in counts if counted == tag)


def counted(tag: str, n: int) -> fs.Formula:
    return fs.now(lambda now: times(tag, now.output) == n, name=f"{tag} is counted {n} times")


spark_then_scala = ss.concat(ss.always(tweets("#spark", 2), during=6), ss.always(tweets("#scala", 1), during=4))
falls = counted("#spark", 4) & fs.next_(counted("#spark", 2)) & fs.next_(counted("#spark", 0), times=2)
rise_and_fall = (
    fs.eventually(fs.always(counted("#spark", 6), during=4), within=4)
    & fs.eventually(counted("#scala", 3), within=10)
    & fs.eventually(fs.until(counted("#spark", 6), falls, within=6), within=4)
)


def test_example_12_counts_rise_and_fall() -> None:
    check(spark_then_scala, count_hashtags(3), rise_and_fall, cases=1)


def test_a_window_that_is_too_short_is_found() -> None:
    found = falsified(spark_then_scala, count_hashtags(2), rise_and_fall, cases=1)
    assert len(found.trace) == 4, "false in batch 3: six #spark should have been there by then"
    assert [times("#spark", now.output) for now in found.trace] == [2, 4, 4, 4]


# --- example 13: no hashtag is missed -------------------------------------------------------------


def all_counted(now: fs.Instant) -> bool:
    return all(times(tag, now.output) > 0 for tag in hashtags_in(now.input))


always_some = ss.always(tweets(some_tags, 1, 4), during=5)
always_counted = fs.always(all_counted, during=5)


def test_example_13_hashtags_are_always_counted() -> None:
    check(always_some, count_hashtags(3), always_counted)


def test_a_window_that_moves_too_far_is_found() -> None:
    def every_other_batch(tweets: Any) -> Any:
        return get_hashtags(tweets).map(lambda tag: (tag, 1)).reduceByKeyAndWindow(add, sub, 4, 2)

    found = falsified(always_some, every_other_batch, always_counted)
    assert len(found.trace) == 1 and not found.trace[0].output, "false in batch 0, of which nothing is told"


# --- example 14: #spark is at the top until #scala is ---------------------------------------------

few_others = tweets("#scalacheck", 2)
spark_until_scala = ss.until(
    ss.overlay(tweets("#spark", 5), few_others), ss.overlay(tweets("#scala", 7), few_others), within=4
)


def top_is(tag: str) -> fs.Formula:
    return fs.now(lambda now: now.output.same_as([tag]), name=f"{tag} is the top")


spark_top_until_scala_top = fs.until(top_is("#spark"), top_is("#scala"))


def test_example_14_spark_is_top_until_scala_is() -> None:
    check(spark_until_scala, top_hashtag(1), spark_top_until_scala_top)


def test_the_least_popular_is_found() -> None:
    def bottom(tweets: Any) -> Any:
        return top_of(count_hashtags(1)(tweets).mapValues(lambda n: -n))

    found = falsified(spark_until_scala, bottom, spark_top_until_scala_top)
    assert len(found.trace) == 1 and found.trace[0].output == ["#scalacheck"], "false in batch 0"


# --- example 15: there is one top, no more and no less --------------------------------------------

a_few = ss.always(tweets(some_tags, 1, 3), during=2)
one_top = fs.always(lambda now: len(now.output) == 1, during=2)


def test_example_15_there_is_one_top() -> None:
    check(a_few, top_hashtag(2), one_top)


def test_two_tops_are_found() -> None:
    def all_with_the_greatest_count(tweets: Any) -> Any:
        def tops(rdd: Any) -> Any:
            most = max(rdd.values().collect(), default=0)
            return rdd.filter(lambda p: p[1] == most).keys()

        return count_hashtags(2)(tweets).transform(tops)

    found = falsified(a_few, all_with_the_greatest_count, one_top, cases=10)
    *before, last = found.trace
    assert sorted(Counter(last.output).values()) == [1, 1], "false where two hashtags have the same count"
    assert all(len(now.output) == 1 for now in before)


# --- example 16: counts go to zero ----------------------------------------------------------------

tweets_then_none = ss.concat(ss.always(tweets(st.sampled_from(["#a", "#b"]), 1, 3), during=3), ss.empty(during=3))


def go_to_zero(first: fs.Instant) -> fs.Formula:
    tags = set(hashtags_in(first.input))
    gone = fs.now(lambda now: not any(times(tag, now.output) for tag in tags), name="their_counts_are_zero")
    return fs.eventually(gone, within=4)


counts_go_to_zero = fs.always(fs.consume(go_to_zero), during=3)


def test_example_16_counts_go_to_zero() -> None:
    check(tweets_then_none, count_hashtags(2), counts_go_to_zero)


def test_counts_that_never_fall_are_found() -> None:
    def totals(tweets: Any) -> Any:
        ones = get_hashtags(tweets).map(lambda tag: (tag, 1))
        return ones.updateStateByKey(lambda new, old: sum(new) + (old or 0))

    found = falsified(tweets_then_none, totals, counts_go_to_zero)
    assert len(found.trace) == 5, "false in batch 4, the last in which the first batch's counts may reach zero"


def test_an_inverse_function_that_does_not_subtract_is_found() -> None:
    """With a window of five batches or more, Spark takes away what has left it, instead of counting it all again."""

    def job(tweets: Any) -> Any:
        return get_hashtags(tweets).map(lambda tag: (tag, 1)).reduceByKeyAndWindow(add, lambda a, b: a, 5, 1)

    one_tweet = ss.pattern("tweet none{6}", tweet=tweets("#spark", 1), none=ss.empty(during=1))
    found = falsified(one_tweet, job, fs.next_(counted("#spark", 0), times=5), cases=1)
    assert [times("#spark", now.output) for now in found.trace] == [1] * 6, "false in batch 5"


# --- example 17: a peak becomes the top -----------------------------------------------------------

PEAK = 6
noise = ss.always(tweets(st.sampled_from(["#a", "#b"]), 1, 2), during=5)
peak = ss.concat(
    ss.empty(during=2), st.sampled_from(["#c", "#d"]).flatmap(lambda t: tweets(t, PEAK)), ss.empty(during=2)
)


def peak_then_top(first: fs.Instant) -> fs.Formula:
    peaks = [tag for tag, n in Counter(hashtags_in(first.input)).items() if n >= PEAK]
    is_top = fs.now(lambda now: now.output.same_as(peaks), name="the_peak_is_the_top")
    return fs.implies(bool(peaks), fs.eventually(is_top, within=3))


a_peak_becomes_the_top = fs.always(fs.let(peak_then_top), during=8)
noise_and_peaks = ss.repeat(ss.overlay(noise, peak), times=2)


def test_example_17_a_peak_becomes_the_top() -> None:
    check(noise_and_peaks, top_hashtag(2), a_peak_becomes_the_top, cases=2)


def test_equal_tweets_taken_for_one_are_found() -> None:
    def job(tweets: Any) -> Any:
        return top_hashtag(2)(tweets.transform(lambda rdd: rdd.distinct()))

    found = falsified(noise_and_peaks, job, a_peak_becomes_the_top, cases=2)
    assert len(found.trace) == 5, "false in batch 4, the last in which the peak of batch 2 may be the top"


# --- example 18: the formula depends on a number that was drawn -----------------------------------

WINDOW = 3
prefixes = ss.always(tweets(st.sampled_from(["#a", "#b", "#c", "#d", "#e"]), 1), during=2)


@st.composite
def repeated(draw: st.DrawFn) -> fs.Case:
    """The same stream n times, each copy one batch after the one before."""
    n, stream = draw(st.integers(2, WINDOW)), draw(prefixes)
    return fs.Case(draw(ss.always(st.just(stream), during=n)), n=n)


@fs.let
def counted_as_often_as_repeated(first: fs.Instant) -> fs.Formula:
    n, tags = first.drawn.n, hashtags_in(first.input)
    often = fs.now(lambda now: all(times(tag, now.output) >= n for tag in tags), name=f"counted_{n}_times")
    return fs.next_(often, times=n - 1)


def test_example_18_counted_as_often_as_repeated() -> None:
    check(repeated(), count_hashtags(WINDOW), counted_as_often_as_repeated, cases=4)


def test_a_window_shorter_than_the_repetitions_is_found() -> None:
    found = falsified(repeated(), count_hashtags(WINDOW - 1), counted_as_often_as_repeated, cases=10)
    assert found.inputs.drawn.n == 3 and len(found.trace) == 3, "false in batch 2, with three repetitions"
