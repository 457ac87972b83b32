"""What the plan of a program says about event time, which decides on the cases that may run together."""

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from firesteel.spark.bulk.align import Watermark
from firesteel.spark.bulk.carry import carrying
from firesteel.spark.engines.source import PackedSource
from firesteel.spark.failures import CannotCarry

MINUTE = 60_000_000


@pytest.fixture
def facts(spark):
    """The facts about a program of one input, or of two if it has a second parameter."""
    inputs = {
        "input": PackedSource(spark, StructType.fromDDL("ts TIMESTAMP, k INT, n INT"), "__case0"),
        "other": PackedSource(spark, StructType.fromDDL("us TIMESTAMP, j INT, m INT"), "__case1"),
    }

    def found(subject, mode="append", number=1):
        sources = dict(list(inputs.items())[:number])
        return carrying(subject(*(source.shown for source in sources.values())), sources, mode)[1]

    return found


def marked(frame, delay="5 minutes"):
    return frame.withWatermark("ts", delay)


def counted(window, *keys):
    return lambda f: marked(f).groupBy(F.expr(window).alias("w"), *keys).count()


@pytest.mark.parametrize(
    "window, cell",
    [
        ("window(ts, '10 minutes')", 10 * MINUTE),
        ("window(ts, '20 minutes', '10 minutes')", 10 * MINUTE),
        ("window(ts, '1 hour', '1 hour', '-15 minutes')", 15 * MINUTE),
        ("session_window(ts, '10 minutes')", None),
        ("ts", None),
    ],
)
def test_windows_that_close_lie_on_a_grid(facts, window, cell):
    found = facts(counted(window, "k"))
    assert found.watermarks == (Watermark("input", "ts", 300_000),)
    assert (found.cells, found.cell) == ((cell,), cell and cell // 1000)
    assert not found.reacts and not found.by_batch


def test_without_a_watermark_and_in_complete_mode_nothing_is_compared(facts):
    assert facts(lambda f: f.groupBy(F.window("ts", "1 hour")).count(), "update").cells == ()
    assert facts(counted("window(ts, '1 hour')"), "complete").cells == ()


def test_a_window_by_another_name_lies_on_no_grid_that_is_known(facts):
    renamed = facts(lambda f: marked(f).select(F.window("ts", "1 hour").alias("w")).groupBy("w").count())
    assert renamed.cells == (None,)


def test_an_aggregation_of_an_aggregation_waits_for_it(facts):
    found = facts(lambda f: counted("window(ts, '10 minutes')")(f).groupBy(F.window("w", "1 hour")).count())
    assert found.cells == (10 * MINUTE, None) and found.reacts and not found.by_batch


@pytest.mark.parametrize(
    "result, by_batch",
    [("max(n)", False), ("count(n)", False), ("sum(n)", False),
     ("sum(CAST(n AS BIGINT))", True), ("sum(n / 3)", True), ("first(n)", True),
     ("min(k) + sum(n)", False), ("collect_list(n)", True)],
)  # fmt: skip
def test_results_that_depend_on_the_order_of_records(facts, result, by_batch):
    assert facts(lambda f: f.groupBy("k").agg(F.expr(result)), "update").by_batch is by_batch


@pytest.mark.parametrize(
    "subject",
    [
        lambda f: marked(f).dropDuplicates(["k", "ts"]),
        lambda f: marked(f).dropDuplicatesWithinWatermark(["k"]),
        lambda f: marked(f).withColumn("now", F.current_timestamp()),
    ],
    ids=["duplicates", "duplicates within the watermark", "the clock"],
)
def test_programs_that_react(facts, subject):
    found = facts(subject)
    assert found.reacts and found.by_batch


def test_a_join_has_the_watermarks_of_both_sides_and_does_not_see_null_keys(facts):
    def joined(left, right):
        right = right.withWatermark("us", "2 minutes")
        return marked(left).join(right, F.expr("k = j AND us BETWEEN ts AND ts + INTERVAL 1 HOUR"))

    found = facts(joined, number=2)
    assert {(each.input, each.column, each.delay) for each in found.watermarks} == {
        ("input", "ts", 300_000), ("other", "us", 120_000)
    }  # fmt: skip
    assert {name for each in found.watermarks for name in each.present} >= {"k", "j"}
    assert found.cells == (None,) and found.reacts


def test_an_event_time_by_another_name_is_that_of_the_input(facts):
    def renamed(f):
        return f.select(F.col("ts").alias("at"), "k").withColumnRenamed("at", "when").withWatermark("when", "5 minutes")

    found = facts(lambda f: renamed(f).groupBy(F.window("when", "10 minutes")).count())
    assert found.watermarks == (Watermark("input", "ts", 300_000),) and found.cells == (10 * MINUTE,)


def test_an_input_without_a_watermark_may_be_late_by_that_of_another(facts):
    """Nobody can say so beforehand: batches have to come as they do alone."""

    def united(left, right):
        both = marked(left).select("ts").union(right.select("us"))
        return both.groupBy(F.window("ts", "10 minutes")).count()

    found = facts(united, number=2)
    assert found.by_batch and found.reacts
    with_both = facts(lambda left, right: united(left, right.withWatermark("us", "5 minutes")), number=2)
    assert not with_both.by_batch and not with_both.reacts


@pytest.mark.parametrize(
    "subject, reason",
    [
        (lambda f: f.withColumn("at", F.expr("ts + INTERVAL 1 HOUR")).withWatermark("at", "1 minute"), "is computed"),
        (lambda f: marked(f.where("n > 0")), "it filters records before its watermark sees them"),
        (lambda f: marked(f.dropDuplicates(["k"])), "above a node that changes which records it sees: Deduplicate"),
        (lambda f: marked(f).where("n > 0"), "filters records before its watermark sees them"),
    ],
)
def test_watermarks_that_cannot_be_computed_from_the_input(facts, subject, reason):
    with pytest.raises(CannotCarry, match=reason):
        facts(subject)
