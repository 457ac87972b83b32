"""Event time on Spark, against traces worked out by hand: windows, late records, watermarks, joins, and the end.

All event times are minutes after midnight. A watermark is the largest event time so far less the delay; it moves after
a batch, and Spark then runs a batch without data, which belongs to the instant that moved it. A window closes when the
watermark reaches its end. After the last batch event time ends: "end" in the comments below.
"""

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

import firesteel as fs
from firesteel import Stream
from firesteel.spark.engines.control import Traits, settings_for
from firesteel.spark.engines.source import MemorySource

DAY = datetime(2024, 1, 1, tzinfo=UTC)
ON = {"input": "t", "output": "at"}


def at(minutes):
    return DAY + timedelta(minutes=minutes)


def plain(value):
    """Moments as minutes after midnight, all else as it is."""
    return (value - DAY) / timedelta(minutes=1) if isinstance(value, datetime) else value


def rows(batch):
    return sorted((tuple(map(plain, row)) for row in batch), key=lambda row: [(v is None, v) for v in row])


def sorted_rows(*parts):
    return rows(row for part in parts for row in part)


def outputs(trace):
    return [rows(instant.output) for instant in trace]


def watermarks(trace):
    return [plain(instant.watermark) for instant in trace]


def times(*batches, span=None):
    """A stream of event times."""
    span = None if span is None else tuple(map(at, span))
    return Stream("t TIMESTAMP", [[(at(minute),) for minute in batch] for batch in batches], span=span)


def keyed(*batches):
    """A stream of keys and event times."""
    return Stream("k INT, t TIMESTAMP", [[(k, at(minute)) for k, minute in batch] for batch in batches])


def counts(delay="5 minutes", size="10 minutes", *slide):
    """Counts records in windows; `at` is the window's start."""

    def subject(frame):
        windows = frame.withWatermark("t", delay).groupBy(F.window("t", size, *slide))
        return windows.count().select(F.col("window.start").alias("at"), "count")

    return subject


def sessions(frame):
    """Counts records in sessions; Spark wants one more key, which is the same for all."""
    marked = frame.withWatermark("t", "5 minutes").groupBy(
        F.expr("t > DATE'1970-01-01'"), F.session_window("t", "10 minutes")
    )
    return marked.count().select(F.col("session_window.start").alias("at"), "count")


# --- the property's windows ------------------------------------------------------------------------------------------


TUMBLING = times([1, 2], [14], [47], [48], span=(0, 80))


def test_tumbling_counts_batch_by_batch(spark):
    """Watermark after each batch: 2-5, 14-5 = 9 (window 0-10 stays open), 47-5 = 42 (closes 0-10 and 10-20), 43."""
    trace = fs.run(TUMBLING, counts(), spark=spark)
    assert outputs(trace) == [[], [], [(0, 2), (10, 1)], [(40, 2)]]
    assert watermarks(trace) == [None, -3, 9, 42]
    assert [instant.dropped for instant in trace] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "over, taken, given",
    [
        # The job's own: 0-10, 10-20, ... 70-80, of which 20-40 and 50-80 are empty.
        (
            fs.tumbling("10 minutes", on=ON),
            [[1, 2], [14], [], [], [47, 48], [], [], []],
            [[(0, 2)], [(10, 1)], [], [], [(40, 2)], [], [], []],
        ),
        # Half of it: the counts stand at the start of the job's windows, where not all input does.
        (
            fs.tumbling("5 minutes", on=ON),
            [[1, 2], [], [14], [], [], [], [], [], [], [47, 48], [], [], [], [], [], []],
            [[(0, 2)], [], [(10, 1)], [], [], [], [], [], [(40, 2)], [], [], [], [], [], [], []],
        ),
        # Three of them: 0-30, 30-60, 60-90, the last for the sake of the span's last 20 minutes.
        (fs.tumbling("30 minutes", on=ON), [[1, 2, 14], [47, 48], []], [[(0, 2), (10, 1)], [(40, 2)], []]),
        # Sessions are made of input alone: 1-12, 14-24, 47-58. The counts at 0 and 40 lie in none, that at 10 in 1-12.
        (fs.session_window("10 minutes", on=ON), [[1, 2], [14], [47, 48]], [[(10, 1)], [], []]),
    ],
    ids=["same", "smaller", "larger", "session"],
)
def test_a_tumbling_job_in_windows(spark, over, taken, given):
    trace = fs.run(TUMBLING, counts(), over=over, spark=spark)
    assert [[minute for (minute,) in rows(instant.input)] for instant in trace] == taken
    assert outputs(trace) == given
    lost = {name: rows(batch) for name, batch in trace.outside.items()}
    assert lost == ({"output": [(0, 2), (40, 2)]} if "session" in repr(over) else {})


@pytest.mark.parametrize(
    "over, given, outside",
    [
        # Every moment lies in two of these windows; so does the start of the job's: s and s-10.
        (
            fs.sliding("20 minutes", every="10 minutes", on=ON),
            [[(-10, 1), (0, 2)], [(0, 2), (10, 1)], [(10, 1)], [(30, 1)], [(30, 1), (40, 1)], [(40, 1)], [], []],
            [],
        ),
        # The job's first window begins before the first moment of input.
        (
            fs.tumbling("10 minutes", on=ON),
            [[(0, 2)], [(10, 1)], [], [(30, 1)], [(40, 1)], [], []],
            [(-10, 1)],
        ),
        (
            fs.sliding("40 minutes", every="20 minutes", on=ON),
            [[(-10, 1), (0, 2), (10, 1)], [(0, 2), (10, 1), (30, 1)], [(30, 1), (40, 1)], [(40, 1)], []],
            [],
        ),
    ],
    ids=["same", "smaller", "larger"],
)
def test_a_sliding_job_in_windows(spark, over, given, outside):
    """1 lies in -10-10 and 0-20, 14 in 0-20 and 10-30, 47 in 30-50 and 40-60; the span is 0-70."""
    trace = fs.run(
        times([1], [14], [47], span=(0, 70)), counts("5 minutes", "20 minutes", "10 minutes"), over=over, spark=spark
    )
    assert outputs(trace) == given
    assert rows(trace.outside.get("output", [])) == outside


SESSIONS = times([1, 4], [30, 45], [50], span=(0, 70))


def test_session_counts_batch_by_batch(spark):
    """1 and 4 are 1-14; 30 is 30-40; 45 is 45-55, and 45-60 with 50. Batch 1 moves the watermark to 45-5 = 40."""
    assert outputs(fs.run(SESSIONS, sessions, spark=spark)) == [[], [(1, 2), (30, 1)], [(45, 2)]]


@pytest.mark.parametrize(
    "over, given",
    [
        (fs.session_window("10 minutes", on=ON), [[(1, 2)], [(30, 1)], [(45, 2)]]),
        # 4 comes 3 minutes after 1: no longer the same session. 1-4, 4-7, 30-33, 45-48, 50-53.
        (fs.session_window("3 minutes", on=ON), [[(1, 2)], [], [(30, 1)], [(45, 2)], []]),
        # 30 comes 26 minutes after 4, 45 only 15 after 30: 1-24, 30-70.
        (fs.session_window("20 minutes", on=ON), [[(1, 2)], [(30, 1), (45, 2)]]),
        (fs.tumbling("10 minutes", on=ON), [[(1, 2)], [], [], [(30, 1)], [(45, 2)], [], []]),
    ],
    ids=["same", "smaller", "larger", "tumbling"],
)
def test_a_session_job_in_windows(spark, over, given):
    trace = fs.run(SESSIONS, sessions, over=over, spark=spark)
    assert outputs(trace) == given and trace.outside == {}


def test_output_that_never_came_is_empty_in_windows_that_are_all_there(spark):
    trace = fs.run(
        TUMBLING,
        lambda f: f.withWatermark("t", "5 minutes").where("t < DATE'2000-01-01'"),
        over=fs.tumbling("10 minutes", on="t"),
        spark=spark,
    )
    assert outputs(trace) == [[]] * 8
    assert [len(instant.input) for instant in trace] == [2, 1, 0, 0, 2, 0, 0, 0]
    assert [plain(instant.time) for instant in trace] == [0, 10, 20, 30, 40, 50, 60, 70]


def test_output_outside_of_the_input_is_kept_apart(spark):
    """Five hours later: no input there, so no window. With delay -10 minutes, some of it: 1, 2 and 14 to -9, -8, 4."""

    def shifted(minutes):
        return lambda f: f.select((F.col("t") + F.make_dt_interval(mins=F.lit(minutes))).alias("at"))

    trace = fs.run(TUMBLING, shifted(300), over=fs.tumbling("10 minutes", on=ON), spark=spark)
    assert outputs(trace) == [[]] * 8 and rows(trace.outside["output"]) == [(301,), (302,), (314,), (347,), (348,)]
    trace = fs.run(TUMBLING, shifted(-10), over=fs.tumbling("10 minutes", on=ON), spark=spark)
    assert outputs(trace) == [[(4,)], [], [], [(37,), (38,)], [], [], [], []]
    assert rows(trace.outside["output"]) == [(-9,), (-8,)]


def test_windows_that_did_not_come_out_without_the_end_are_missing(spark):
    trace = fs.run(TUMBLING, counts(), over=fs.tumbling("10 minutes", on=ON), close=False, spark=spark)
    assert outputs(trace) == [[(0, 2)], [(10, 1)], [], [], [], [], [], []]


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


# --- joins -----------------------------------------------------------------------------------------------------------


def within_ten_minutes(how):
    """Every a with the b of the same key that come up to 10 minutes later."""

    def joined(a, b):
        a = a.withWatermark("t", "5 minutes").alias("a")
        b = b.withWatermark("t", "5 minutes").alias("b")
        return a.join(b, F.expr("a.k = b.k AND b.t BETWEEN a.t AND a.t + INTERVAL 10 MINUTES"), how)

    return joined


OUTER = {
    "a": keyed([(1, 10), (2, 12)], [(3, 40)], [(4, 60), (5, 62)]),
    "b": keyed([(1, 15)], [(9, 40)], [(4, 61), (8, 63)]),
}
MATCHES = [[(1, 10, 1, 15)], [], [(4, 60, 4, 61)]]
LEFT = [[], [(2, 12, None, None)], [(3, 40, None, None)]], [(5, 62, None, None)]
RIGHT = [[], [], [(None, None, 9, 40)]], [(None, None, 8, 63)]


@pytest.mark.parametrize("how, sides", [("left", [LEFT]), ("right", [RIGHT]), ("full", [LEFT, RIGHT])])
def test_outer_rows_come_when_the_watermark_passes_them(spark, how, sides):
    """Smallest watermark after each batch: min(7, 10), min(35, 35), min(57, 58).

    Left: (2, 12) waits for b until 22, passed at 35, batch 1; (3, 40) until 50, passed at 57, batch 2; (5, 62) until
    the end. Right: (9, 40) waits for a until 40, passed at 57, batch 2; (8, 63) until the end.
    """
    moved = [sorted_rows(MATCHES[i], *(side[0][i] for side in sides)) for i in range(3)]
    ended = [*moved[:2], sorted_rows(moved[2], *(side[1] for side in sides))]
    if how == "full":
        assert outputs(fs.run(OUTER, within_ten_minutes(how), close=False, spark=spark)) == moved
    trace = fs.run(OUTER, within_ten_minutes(how), spark=spark)
    assert outputs(trace) == ended
    assert watermarks(trace) == [None, 7, 35]


def test_the_state_of_a_join_is_that_of_both_sides(spark):
    """a is kept until 10 minutes after it, b until it: after batch 1 (35), neither of batch 0; at the end nothing."""
    trace = fs.run(OUTER, within_ten_minutes("inner"), state=True, spark=spark)
    kept = [sorted((state.name, state.value.k, plain(state.value.t)) for state in instant.state) for instant in trace]
    assert kept == [[("left", 1, 10), ("left", 2, 12), ("right", 1, 15)], [("left", 3, 40), ("right", 9, 40)], []]


def test_every_match_comes_at_its_own_instant(spark):
    """Batch i has key i on both sides, and key i-1 of b again: it meets a's of the batch before."""
    a = Stream("k INT, a INT", [[(i, i)] for i in range(10)])
    b = Stream("k INT, b INT", [[(i, i), (i - 1, -i)] for i in range(10)])
    trace = fs.run({"a": a, "b": b}, lambda a, b: a.join(b, "k"), spark=spark)
    assert outputs(trace) == [[(0, 0, 0)], *([(i - 1, i - 1, -i), (i, i, i)] for i in range(1, 10))]


def test_no_batch_of_several_inputs_is_split(spark):
    """A count without keys changes, in update mode, once in every micro-batch: two rows would be two micro-batches."""
    streams = {name: Stream("n INT", [[(1,)]] * 10) for name in ("a", "b", "c")}
    trace = fs.run(streams, lambda a, b, c: a.union(b).union(c).groupBy().count(), output_mode="update", spark=spark)
    assert outputs(trace) == [[(3 * (i + 1),)] for i in range(10)]


def test_a_join_that_keeps_everything_judges_lateness_by_the_watermark_before(spark):
    """Watermark 30-5 = 25 after batch 0. Late is what was late before the batch began, by the micro-batch before it.

    Where Spark runs a batch without data, as everywhere above, that makes no difference. It runs none for a join that
    never forgets: 20 is not late yet in batch 1, though the watermark is 25 then, and only late in batch 2.
    """

    def joined(a, b):
        b = b.withColumnsRenamed({"k": "k2", "t": "t2"})
        return a.withWatermark("t", "5 minutes").join(b.withWatermark("t2", "5 minutes"), F.expr("k = k2"))

    a, b = keyed([(1, 30)], [(2, 20)], [(3, 20)]), keyed([(1, 30)], [(2, 31)], [(3, 31)])
    trace = fs.run({"a": a, "b": b}, joined, spark=spark)
    assert outputs(trace) == [[(1, 30, 1, 30)], [(2, 20, 2, 31)], []]
    assert watermarks(trace) == [None, 25, 25] and [instant.dropped for instant in trace] == [0, 0, 1]


def test_the_state_of_a_join_in_one_store(spark):
    """From version 3 on a join keeps both sides in one RocksDB store, "default"."""
    spark.conf.set("spark.sql.streaming.join.stateFormatVersion", "3")
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    (only,) = fs.run(
        {"a": keyed([(1, 10)]), "b": keyed([(2, 10)])},
        within_ten_minutes("inner"),
        state=True,
        close=False,
        spark=spark,
    )
    assert sorted((state.name, state.value.k) for state in only.state) == [("left", 1), ("right", 2)]


def test_a_static_join_under_a_watermark(spark):
    """Watermark 30-5 = 25 after batch 1: one(0-10) comes, with 1 and 2; key 9 has no name."""
    names = spark.createDataFrame([(1, "one"), (2, "two")], "k INT, name STRING")

    def named(frame):
        joined = frame.withWatermark("t", "5 minutes").join(names, "k")
        windows = joined.groupBy(F.window("t", "10 minutes"), "name").count()
        return windows.select("name", F.col("window.start").alias("at"), "count")

    trace = fs.run(keyed([(1, 1), (1, 2), (9, 3)], [(2, 30)], [(2, 31), (2, 3)]), named, spark=spark)
    assert outputs(trace) == [[], [("one", 0, 2)], [("two", 30, 2)]]
    assert [instant.dropped for instant in trace] == [0, 0, 1]


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
