"""Joins under watermarks on Spark, against traces worked out by hand.

All event times are minutes after midnight; tests/spark/engines/test_event_time.py says how watermarks move.
"""

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import Stream
from tests.spark.engines.event_time import (
    keyed,
    outputs,
    plain,
    sorted_rows,
    watermarks,
)


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
