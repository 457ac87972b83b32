"""Event time on Spark, against traces worked out by hand: late records, watermarks, deduplication, and the end.

All event times are minutes after midnight. A watermark is the largest event time so far less the delay; it moves after
a batch, and Spark then runs a batch without data, which belongs to the instant that moved it. A window closes when the
watermark reaches its end. After the last batch event time ends: "end" in the comments below.
"""

from datetime import UTC, datetime

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

import firesteel as fs
from firesteel import Stream
from firesteel.spark.engines.control import Traits, settings_for
from firesteel.spark.engines.source import MemorySource
from tests.spark.engines.event_time import (
    counts,
    keyed,
    outputs,
    plain,
    rows,
    sorted_rows,
    times,
    watermarks,
)

# --- late records ----------------------------------------------------------------------------------------------------


LATE = times([30], [24, 25, 26], [27, 24])


def test_late_records_of_a_deduplication(spark):
    """Watermark 30-5 = 25 for batches 1 and 2: 24 (before) and 25 (at) are late, 26 and 27 (after) are not."""
    trace = fs.run(LATE, lambda f: f.withWatermark("t", "5 minutes").dropDuplicates(["t"]), spark=spark)
    assert outputs(trace) == [[(30,)], [(26,)], [(27,)]]
    assert [instant.dropped for instant in trace] == [0, 2, 1]
    assert watermarks(trace) == [None, 25, 25]


def test_nothing_is_late_without_state(spark):
    """A watermark alone drops nothing, however late."""
    trace = fs.run(LATE, lambda f: f.withWatermark("t", "5 minutes"), spark=spark)
    assert outputs(trace) == [[(30,)], [(24,), (25,), (26,)], [(24,), (27,)]]
    assert [instant.dropped for instant in trace] == [0, 0, 0] and watermarks(trace) == [None, 25, 25]


def test_late_records_of_an_aggregation_are_those_of_a_closed_window(spark):
    """Watermark 35-5 = 30 for batches 1 and 2, which is the end of window 20-30.

    Batch 1: 19 and 29 are late: their windows ended at 20 and 30. 30 is at the watermark, but its window 30-40 is open.
    Batch 2: Spark counts after it has combined what one task read: 11 and 12 (one window) make one, 25 another.
    """
    trace = fs.run(times([35], [19, 29, 30], [11, 12, 25, 31]), counts(), spark=spark)
    assert outputs(trace) == [[], [], [(30, 3)]]
    assert [instant.dropped for instant in trace] == [0, 2, 2]
    assert watermarks(trace) == [None, 30, 30]


def test_a_window_closes_when_the_watermark_reaches_its_end(spark):
    """Watermark after each batch: 9 and 10. Window 0-10 closes at 10, and 9 is late from then on."""
    trace = fs.run(times([14], [9, 15], [9]), counts(), close=False, spark=spark)
    assert outputs(trace) == [[], [(0, 1)], []]
    assert watermarks(trace) == [None, 9, 10] and [instant.dropped for instant in trace] == [0, 0, 1]


@pytest.mark.parametrize("mode, given", [("update", [[(0, 1)], [(0, 2)], [(30, 1)], []]), ("complete", None)])
def test_update_and_complete_mode(spark, mode, given):
    """Batch 2 moves the watermark to 25: 3 in batch 3 is late. But not in complete mode, which keeps every window.

    The end adds nothing to either: update mode puts out what changes, not what closes.
    """
    trace = fs.run(times([1], [2], [30], [3]), counts(), output_mode=mode, state=True, spark=spark)
    assert outputs(trace) == (given or [[(0, 1)], [(0, 2)], [(0, 2), (30, 1)], [(0, 3), (30, 1)]])
    assert [instant.dropped for instant in trace] == [0, 0, 0, 0 if mode == "complete" else 1]
    # window 0-10 goes when the watermark passes it, 30-40 at the end
    assert [len(instant.state) for instant in trace] == ([1, 1, 2, 2] if mode == "complete" else [1, 1, 1, 0])


@pytest.mark.slow
def test_one_aggregation_after_another(spark):
    """Counts per 10 minutes, and per 30 minutes how many of these there were. Watermark after each batch: -3, 7, 35.

    Batch 2 closes 0-10 and 10-20, and 0-30 with them; the rest comes at the end.
    """

    def twice(frame):
        first = frame.withWatermark("t", "5 minutes").groupBy(F.window("t", "10 minutes")).count()
        second = first.groupBy(F.window(F.window_time("window"), "30 minutes"))
        return second.agg(F.count("*"), F.sum("count")).select(
            F.col("window.start").alias("at"), "count(1)", "sum(count)"
        )

    stream = times([1, 2], [12], [40], [41, 51])
    assert outputs(fs.run(stream, twice, spark=spark)) == [[], [], [(0, 2, 3)], [(30, 2, 3)]]
    assert outputs(fs.run(stream, twice, close=False, spark=spark)) == [[], [], [(0, 2, 3)], []]


# --- several watermarks ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy, given, watermark",
    [("min", [[], [], [(30, 2)]], [None, 10, 10]), ("max", [[], [(30, 2)], [(40, 1)]], [None, 25, 40])],
)
def test_two_watermarks_in_one_query(spark, policy, given, watermark):
    """a has a delay of 5, b of 20. Their watermarks after each batch:

    a: 30-5 = 25, 45-5 = 40, 60-5 = 55; b: 30-20 = 10, the same (no data), 62-20 = 42.
    Smallest: 10, 10, 42, so 30-40 closes with batch 2. Largest: 25, 40, 55, so 30-40 closes with batch 1 and 40-50
    with batch 2.
    """
    spark.conf.set("spark.sql.streaming.multipleWatermarkPolicy", policy)

    def both(a, b):
        marked = a.withWatermark("t", "5 minutes").union(b.withWatermark("t", "20 minutes"))
        return marked.groupBy(F.window("t", "10 minutes")).count().select(F.col("window.start").alias("at"), "count")

    streams = {"a": times([30], [45], [60]), "b": times([30], [], [62])}
    trace = fs.run(streams, both, close=False, spark=spark)
    assert outputs(trace) == given
    assert watermarks(trace) == watermark
    ended = [*given[:2], sorted_rows(given[2], [(40, 1)] if policy == "min" else [], [(60, 2)])]
    assert outputs(fs.run(streams, both, spark=spark)) == ended


def test_an_input_that_says_nothing_holds_the_watermark_back_until_the_end(spark):
    def both(a, b):
        marked = a.withWatermark("t", "5 minutes").union(b.withWatermark("t", "5 minutes"))
        return marked.groupBy(F.window("t", "10 minutes")).count().select(F.col("window.start").alias("at"), "count")

    trace = fs.run({"a": times([30], [60], [90]), "b": times([])}, both, spark=spark)
    assert outputs(trace) == [[], [], [(30, 1), (60, 1), (90, 1)]]
    assert watermarks(trace) == [None, None, None]


def test_outputs_with_watermarks_of_their_own(spark):
    """fast has a delay of 1, slow of 11: 29 and 19 after batch 0, 39 and 29 after batch 1.

    15 in batch 1 (window 10-20) is late for fast alone, and so is 25 in batch 2 (20-30). slow closes 10-20 with batch
    1; all else comes at the end. The instant's watermark is the smaller one.
    """

    def two(frame):
        return {"fast": counts("1 minute")(frame), "slow": counts("11 minutes")(frame)}

    trace = fs.run(times([30], [15, 40], [25]), two, spark=spark)
    assert [rows(instant["fast"]) for instant in trace] == [[], [], [(30, 1), (40, 1)]]
    assert [rows(instant["slow"]) for instant in trace] == [[], [(10, 1)], [(20, 1), (30, 1), (40, 1)]]
    assert watermarks(trace) == [None, 19, 29]
    assert [instant.dropped for instant in trace] == [0, 1, 1]


def test_inputs_of_different_lengths(spark):
    """The shorter one is padded with empty batches, and event time ends after the longer one.

    Matches need the same key and nothing else, so nothing is evicted.
    """

    def joined(a, b):
        b = b.withColumnsRenamed({"k": "k2", "t": "t2"})
        return a.withWatermark("t", "5 minutes").join(b.withWatermark("t2", "5 minutes"), F.expr("k = k2"))

    trace = fs.run(
        {"a": keyed([(1, 1)], [(2, 2)], [(3, 30)]), "b": keyed([(1, 1), (2, 5), (3, 5)])}, joined, spark=spark
    )
    assert outputs(trace) == [[(1, 1, 1, 1)], [(2, 2, 2, 5)], [(3, 30, 3, 5)]]
    assert [len(instant["b"]) for instant in trace] == [3, 0, 0]


# --- deduplication, and the state it keeps ---------------------------------------------------------------------------


REPEATED = keyed([(1, 10)], [(1, 12)], [(2, 30)], [(1, 31)])


def keys(trace):
    return [sorted(state.key.k for state in instant.state) for instant in trace]


@pytest.mark.parametrize(
    "subject, given, kept",
    [
        # Without a watermark a key is kept for ever.
        (
            lambda f: f.dropDuplicates(["k"]),
            [[(1, 10)], [], [(2, 30)], []],
            [[1], [1], [1, 2], [1, 2]],
        ),
        # With one too, where the key does not hold the event time.
        (
            lambda f: f.withWatermark("t", "5 minutes").dropDuplicates(["k"]),
            [[(1, 10)], [], [(2, 30)], []],
            [[1], [1], [1, 2], [1, 2]],
        ),
        # Where it does, a key goes once the watermark reaches it: 10 and 12 at 25, the rest at the end.
        (
            lambda f: f.withWatermark("t", "5 minutes").dropDuplicates(["k", "t"]),
            [[(1, 10)], [(1, 12)], [(2, 30)], [(1, 31)]],
            [[1], [1, 1], [2], []],
        ),
        # Key 1 is kept until 10+5 = 15, which the watermark passes with batch 2 (25): 31 is no repetition then.
        (
            lambda f: f.withWatermark("t", "5 minutes").dropDuplicatesWithinWatermark(["k"]),
            [[(1, 10)], [], [(2, 30)], [(1, 31)]],
            [[1], [1], [2], []],
        ),
    ],
    ids=["no watermark", "key only", "key and time", "within watermark"],
)
def test_deduplication_and_its_state(spark, subject, given, kept):
    trace = fs.run(REPEATED, subject, state=True, spark=spark)
    assert outputs(trace) == given
    assert keys(trace) == kept


# --- the end of event time -------------------------------------------------------------------------------------------


def test_nothing_is_fed_to_end_event_time(spark):
    stream = times([1, 2], [], [30], [])
    trace = fs.run(stream, lambda f: f.withWatermark("t", "5 minutes"), spark=spark)
    assert [instant.output for instant in trace] == list(stream)
    assert [instant.input for instant in trace] == list(stream)
    # counted in every way: none of the totals knows of more than 3 records
    totals = fs.run(
        stream, lambda f: f.withWatermark("t", "0 seconds").groupBy().count(), output_mode="update", spark=spark
    )
    assert totals.output[-1] == (3,) and max(totals.output.values("count")) == 3


@pytest.mark.slow
def test_the_state_of_the_last_instant_is_that_after_the_end(spark):
    stream = times([1], [30])

    def starts(trace):
        return [[plain(state.key.window.start) for state in instant.state] for instant in trace]

    assert starts(fs.run(stream, counts(), state=True, spark=spark)) == [[0], []]
    assert starts(fs.run(stream, counts(), state=True, close=False, spark=spark)) == [[0], [30]]


def test_event_time_that_never_began_has_no_end(spark):
    assert outputs(fs.run(times([], []), counts(), spark=spark)) == [[], []]


@pytest.mark.parametrize("delay", ["0 seconds", "5 minutes"])
def test_the_end_of_event_time_that_began_with_1970(spark, delay):
    """The watermark is 0 or below, in milliseconds; 0 is what Spark has before any. The window ends all the same."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    trace = fs.run(Stream("t TIMESTAMP", [[(epoch,)]]), counts(delay), spark=spark)
    assert trace[0].output == [(epoch, 1)]


def test_the_end_where_the_session_runs_no_batches_without_data(spark):
    """Every watermark then acts one batch later, and the end must too: 0-10 comes with batch 2, the rest at the end."""
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    trace = fs.run(times([1], [30], [31]), counts(), spark=spark)
    assert outputs(trace) == [[], [], [(0, 1), (30, 2)]]


@pytest.mark.slow
def test_the_end_comes_once_for_every_output(spark):
    """One output in append mode, one in update mode, one without event time: each gets its own."""

    def three(frame):
        return {"closed": counts()(frame), "open": counts()(frame), "all": frame}

    trace = fs.run(times([1], [2]), three, output_mode={"open": "update"}, spark=spark)
    assert [rows(instant["closed"]) for instant in trace] == [[], [(0, 2)]]
    assert [rows(instant["open"]) for instant in trace] == [[(0, 1)], [(0, 2)]]
    assert [rows(instant["all"]) for instant in trace] == [[(1,)], [(2,)]]


def test_few_records_under_a_watermark_run_without_generated_code(spark):
    """And the session's settings are what they were; without a watermark, or with many records, so are the query's."""
    names = ("spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")

    def settings(frame, records):
        with settings_for(spark, Traits(frame), records):
            return [spark.conf.get(name) for name in names]

    plain = MemorySource(spark, StructType.fromDDL("ts TIMESTAMP")).df
    before = [spark.conf.get(name) for name in names]
    assert settings(plain.withWatermark("ts", "1 minute"), 10) == ["false", "NO_CODEGEN"] != before
    assert settings(plain, 10) == settings(plain.withWatermark("ts", "1 minute"), 10_001) == before
    assert [spark.conf.get(name) for name in names] == before
