"""Planted bugs in DStream programs and batch jobs: windows, state, partitions. Each is found; its look-alike passes."""

from collections import Counter

import pytest
from hypothesis import strategies as st

import firesteel as fs
from firesteel import strategies as ss
from tests.quality.planted import caught, false_at, records_in

pytestmark = pytest.mark.slow

letters = ss.batches(st.sampled_from("ab"), max_size=2)
streams = ss.concat(ss.batches(st.sampled_from("ab"), min_size=1, max_size=2), ss.always(letters, during=3))


def passes(spark, cases_of, subject, property_, *, cases=5, **options):
    fs.for_all(cases_of, subject, property_, cases=cases, spark=spark, **options)


def ones(letters):
    return letters.map(lambda letter: (letter, 1))


def recent(instant, batches):
    """What came in the last few batches, counted."""
    found = Counter()
    for _ in range(batches):
        if instant is not None:
            found.update(instant.input)
            instant = instant.previous
    return found


# --- a window that is one batch too short ------------------------------------------------------------


def counts(seconds):
    def job(letters):
        return ones(letters).reduceByKeyAndWindow(lambda a, b: a + b, None, seconds, 1)

    return job


def counts_of_three_batches(now):
    return now.output.same_as(recent(now, 3).items())


def test_a_window_that_is_one_batch_too_short(spark):
    found = caught(spark, streams, counts(2), fs.always(counts_of_three_batches, during=4), cases=10, engine="dstream")
    assert false_at(found) == [2] and records_in(found) == 1, "one letter, gone in the third batch"


def test_a_window_of_the_right_length(spark):
    passes(spark, streams, counts(3), fs.always(counts_of_three_batches, during=4), engine="dstream")


# --- state that is forgotten -------------------------------------------------------------------------


def totals(forgets):
    """How often each letter came; the wrong one starts again after a batch without it."""

    def update(new, old):
        if not new and forgets:
            return None
        return sum(new) + (old or 0)

    return lambda letters: ones(letters).updateStateByKey(update)


def counts_of_all(now):
    return now.output.same_as(recent(now, now.index + 1).items())


def test_state_that_is_forgotten(spark):
    found = caught(spark, streams, totals(True), fs.always(counts_of_all, during=4), cases=10, engine="dstream")
    assert false_at(found) == [1] and records_in(found) == 1, "one letter, and a batch without it"


def test_state_that_is_kept(spark):
    passes(spark, streams, totals(False), fs.always(counts_of_all, during=4), engine="dstream")


# --- partitions that are taken for the whole ------------------------------------------------------------

placed = ss.partitioned(ss.batches(st.sampled_from("abc"), min_size=1, max_size=5))


def distinct_in_each_partition(letters):
    return letters.mapPartitions(set)


def distinct(letters):
    return letters.distinct()


def every_letter_once(now):
    return now.output.same_as(set(now.input))


def test_a_function_of_partitions_taken_for_one_of_the_whole(spark):
    found = caught(spark, placed, distinct_in_each_partition, every_letter_once, engine="batch")
    (batch,) = found.inputs["input"]
    assert batch == ["a", "a"] and batch.partitions == (1, 1), "the same letter in two partitions"
    with pytest.raises(
        fs.Falsified, match=r"case = fs\.Stream\(None, \[fs\.Batch\(\['a', 'a'\], partitions=\(1, 1\)\)\]\)"
    ):
        fs.for_all(
            placed, distinct_in_each_partition, every_letter_once, replay=found.replay, engine="batch", spark=spark
        )


def test_a_function_of_the_whole(spark):
    passes(spark, placed, distinct, every_letter_once, cases=30, engine="batch")


def test_on_a_dstream_too(spark):
    stream = ss.always(placed, during=2)
    found = caught(
        spark, stream, distinct_in_each_partition, fs.always(every_letter_once, during=2), cases=10, engine="dstream"
    )
    (at,) = false_at(found)
    assert sorted(found.trace[at].input) == ["a", "a"] and found.trace[at].input.partitions == (1, 1)
