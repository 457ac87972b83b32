"""Windows of event time as instants, on Spark, against traces worked out by hand.

All event times are minutes after midnight; tests/spark/engines/test_event_time.py says how watermarks move.
"""

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from tests.spark.engines.event_time import (
    ON,
    counts,
    outputs,
    plain,
    rows,
    sessions,
    times,
    watermarks,
)

TUMBLING = times([1, 2], [14], [47], [48], span=(0, 80))


def test_tumbling_counts_batch_by_batch(spark):
    """Watermark after each batch: 2-5, 14-5 = 9 (window 0-10 stays open), 47-5 = 42 (closes 0-10 and 10-20), 43."""
    trace = fs.run(TUMBLING, counts(), spark=spark)
    assert outputs(trace) == [[], [], [(0, 2), (10, 1)], [(40, 2)]]
    assert watermarks(trace) == [None, -3, 9, 42]
    assert [instant.dropped for instant in trace] == [0, 0, 0, 0]


@pytest.mark.slow
def test_what_spark_drops_is_not_zero_in_windows(spark):
    """The record of minute 1 comes when the watermark is at 42. Spark drops it, and does not say of which window."""
    late = times([1, 2], [47], [1])
    in_windows = fs.run(late, counts(), over=fs.tumbling("10 minutes", on=ON), spark=spark)
    with pytest.raises(AttributeError, match="does not say in which windows"):
        _ = in_windows[0].dropped
    (whole,) = fs.run(late, counts(), over=fs.tumbling("1 hour", on=ON), spark=spark)
    assert whole.dropped == 1


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
    assert all(now.dropped == 0 for now in trace)
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
