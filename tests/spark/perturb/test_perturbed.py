"""Perturbed runs on real Spark: right programs that nothing breaks, and how a variant is carried out."""

import datetime

import pytest
from pyspark.sql import functions as F

from firesteel import InvalidArgument, Stream
from firesteel.perturb.changes import (
    AdaptiveExecution,
    BatchBoundaries,
    Partitions,
    ReplayedBatch,
    Restart,
    RowOrder,
    ShuffleOrder,
    ShufflePartitions,
    Variant,
)
from firesteel.spark.perturb.perturbed import exercise_under
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from tests.spark.engines.test_processing_time import idle_for, keys
from tests.spark.perturb.programs import (
    APPEND,
    BATCH,
    COMPLETE,
    EVERYTHING_ELSE,
    NUMBERS,
    ONE_BATCH,
    ONE_BATCH_OF_ALL,
    ROWS,
    UPDATE,
    count_so_far,
    everything,
    in_order_of,
    in_order_of_right,
    plain,
    tables,
    under,
    where,
)

# --- innocents ---------------------------------------------------------------------------------------


def at(minute, second=0):
    return datetime.datetime(2024, 1, 1, 0, minute, second, tzinfo=datetime.UTC)


# In order of event time: where a record is late depends on the batches, and rightly so.
TIMED = Case(
    {
        "input": Stream(
            "t TIMESTAMP, k INT", [[(at(1), 1), (at(2), 2), (at(3), 1)], [(at(12), 1), (at(12), 1)], [(at(25), 2)]]
        )
    }
)
TWO = Case(
    {
        "left": Stream("t TIMESTAMP, k INT, a INT", [[(at(1), 1, 10), (at(2), 2, 20)], [(at(3), 3, 30)], []]),
        "right": Stream("u TIMESTAMP, k INT, b INT", [[(at(2), 1, 11)], [(at(3), 2, 21), (at(30), 4, 41)]]),
    }
)


def windows(frame):
    counted = frame.withWatermark("t", "5 minutes").groupBy(F.window("t", "10 minutes"), "k").count()
    return counted.select(F.col("window.start").alias("start"), "k", "count")


def deduplicated(frame):
    return frame.withWatermark("t", "5 minutes").dropDuplicates(["t", "k"])


def joined(left, right):
    left, right = left.withWatermark("t", "1 minute"), right.withWatermark("u", "1 minute")
    near = (left.k == right.k) & (F.expr("u BETWEEN t AND t + INTERVAL 5 MINUTES"))
    return left.join(right, near, "leftOuter").select(left.k, "a", "b")


def two_outputs(frame):
    return {"small": frame.select("n").where("n < 5"), "sums": frame.groupBy("k").agg(F.sum("n").alias("s"))}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case, subject, how, view",
    [
        (TIMED, windows, APPEND, everything),
        (TIMED, deduplicated, APPEND, everything),
        (TWO, joined, APPEND, everything),
        (NUMBERS, two_outputs, Running(output_mode={"small": "append", "sums": "update"}), tables),
        (NUMBERS, lambda f: f.groupBy("k").agg(F.min("n"), F.count("*")), COMPLETE, tables),
    ],
    ids=["windows", "deduplicated", "joined", "two outputs", "complete"],
)
def test_nothing_breaks_what_is_right(spark, case, subject, how, view):
    expected = view(plain(spark, case, subject, how))
    assert expected
    disturbed = Variant(Partitions(3), RowOrder(1), ShuffleOrder("reversed"), *EVERYTHING_ELSE)
    for variant in (ONE_BATCH_OF_ALL, disturbed):
        assert view(under(spark, case, subject, how, variant)) == expected, str(variant)


@pytest.mark.slow
def test_a_restarted_run_has_the_same_instants(spark):
    """Watermarks, late records and times too; the last windows come out though nothing is fed after the restart."""
    late = Case({"input": Stream("t TIMESTAMP, k INT", [[(at(1), 1)], [(at(30), 1)], [(at(2), 1)], []])})
    expected = plain(spark, late, windows, APPEND)
    assert [instant.dropped for instant in expected] == [0, 0, 1, 0]
    for variant in (Variant(Restart(2)), Variant(ReplayedBatch(1))):
        assert under(spark, late, windows, APPEND, variant) == expected, str(variant)


@pytest.mark.slow
def test_timeouts_of_processing_time_are_kept(spark):
    case, subject = Case({"input": keys("a", "b", "b", "", "")}), idle_for(2000)
    expected = plain(spark, case, subject, APPEND)
    assert len(expected.output) >= 3
    assert under(spark, case, subject, APPEND, Variant(Restart(1), ReplayedBatch(2))) == expected


@pytest.mark.slow
def test_the_state_is_read_after_a_restart(spark):
    how = Running(output_mode="update", state=True)
    expected = plain(spark, NUMBERS, count_so_far, how)
    for variant in (Variant(Restart(0)), Variant(ReplayedBatch(1))):
        assert [i.state for i in under(spark, NUMBERS, count_so_far, how, variant)] == [i.state for i in expected]


# --- how -----------------------------------------------------------------------------------------------


def test_rows_are_where_the_variant_says(spark):
    trace = under(spark, NUMBERS, where, APPEND, Variant(Partitions(2)))
    placed = [sorted(map(tuple, instant.output)) for instant in trace]
    assert placed == [[(1, 1), (2, 1), (4, 0), (7, 0), (9, 1)], [(3, 0), (5, 1), (8, 1)], [(0, 1), (6, 0)]]
    trace = under(spark, ONE_BATCH, where, BATCH, Variant(Partitions(5)))
    assert [tuple(r) for r in trace.output] == [(n, place // 2) for place, (_, n) in enumerate(ROWS)]


@pytest.mark.slow
def test_many_partitions_are_one_batch(spark):
    trace = under(spark, NUMBERS, count_so_far, COMPLETE, Variant(Partitions(7)))
    assert [instant.output.values("n") for instant in trace] == [[5], [8], [10]]
    trace = under(spark, TWO, joined, APPEND, Variant(Partitions(3)))
    assert trace == plain(spark, TWO, joined, APPEND)


def test_other_boundaries_are_other_instants(spark):
    trace = under(spark, NUMBERS, lambda f: f.select("n"), APPEND, Variant(BatchBoundaries("paired")))
    assert [instant.output.values("n") for instant in trace] == [[n for _, n in ROWS[:8]], [n for _, n in ROWS[8:]]]


@pytest.mark.slow
def test_the_watcher_ends_the_case(spark):
    seen = []
    for variant in (Variant(Restart(0)), Variant(ReplayedBatch(0))):
        trace = exercise_under(
            spark,
            NUMBERS,
            lambda f: f,
            APPEND,
            variant,
            lambda instant: seen.append(instant.index) or len(seen) % 2 == 0,
        )
        assert len(trace) == 2
    assert seen == [0, 1, 0, 1]


def test_the_session_is_as_it_was(spark):
    names = ("spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled")
    before = [spark.conf.get(name) for name in names]
    everywhere = Variant(ShufflePartitions(3), AdaptiveExecution(True), ShuffleOrder(2))
    for case, how in ((NUMBERS, UPDATE), (ONE_BATCH, BATCH)):
        assert tables(under(spark, case, count_so_far, how, everywhere)) == {("output", 0): (0, 10)}
    assert [spark.conf.get(name) for name in names] == before
    assert spark.sparkContext.getLocalProperty("firesteel.shuffle.order") is None
    assert tables(plain(spark, ONE_BATCH, in_order_of, BATCH)) == tables(
        plain(spark, ONE_BATCH, in_order_of_right, BATCH)
    )


# --- RDDs and DStreams ---------------------------------------------------------------------------------

ELEMENTS = Case({"input": Stream(None, [list(range(8))])})


def grouped(rdd):
    return rdd.map(lambda n: (n % 2, n)).groupByKey(2).mapValues(list)


def test_rdds(spark):
    def run(variant):
        return dict(under(spark, ELEMENTS, grouped, BATCH, variant).output)

    in_order = {0: [0, 2, 4, 6], 1: [1, 3, 5, 7]}
    assert dict(plain(spark, ELEMENTS, grouped, BATCH).output) == in_order
    assert run(Variant(Partitions(4))) == in_order
    assert run(Variant(RowOrder("reversed"))) == {0: [6, 4, 2, 0], 1: [7, 5, 3, 1]}
    # each task's own rows stay in order: 0 to 3, and 4 to 7
    assert run(Variant(Partitions(2), ShuffleOrder("reversed"))) == {0: [4, 6, 0, 2], 1: [5, 7, 1, 3]}
    assert run(Variant(Partitions(1), ShuffleOrder("reversed"))) == in_order


def test_what_rdds_have_not(spark):
    for variant in (Variant(ShufflePartitions(2)), Variant(AdaptiveExecution(True))):
        with pytest.raises(InvalidArgument, match=r"\w+\(\) is not possible for RDDs: it changes a setting"):
            under(spark, ELEMENTS, grouped, BATCH, variant)


@pytest.mark.slow
def test_dstreams(spark):
    how = Running(engine="dstream")
    case = Case({"input": Stream(None, [[1, 2, 3, 4], [5, 6]])})

    def subject(stream):
        return stream.map(lambda n: (0, n)).groupByKey(1).mapValues(list)

    def run(variant):
        return [[values for _, values in instant.output] for instant in under(spark, case, subject, how, variant)]

    assert run(Variant(Partitions(2))) == [[[1, 2, 3, 4]], [[5, 6]]]
    assert run(Variant(Partitions(2), ShuffleOrder("reversed"))) == [[[3, 4, 1, 2]], [[6, 5]]]
    assert run(Variant(RowOrder("reversed"))) == [[[4, 3, 2, 1]], [[6, 5]]]
    assert run(Variant(BatchBoundaries("one"))) == [[[1, 2, 3, 4, 5, 6]]]
    with pytest.raises(InvalidArgument, match="not possible with engine='dstream'"):
        run(Variant(Restart(0)))
