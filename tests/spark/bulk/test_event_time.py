"""What the plan of a program says about event time, which decides on the cases that may run together."""

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from firesteel.spark.bulk.align import Watermark
from firesteel.spark.bulk.carry import carrying
from firesteel.spark.bulk.seen import seen_by_watermarks
from firesteel.spark.bulk.shared import SharedQueries
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.exercise import exercise_apart
from firesteel.spark.engines.source import PackedSource
from firesteel.spark.failures import CannotCarry
from firesteel.spark.running import Running
from tests.spark.bulk.zoo_cases import at, one

MINUTE = 60_000_000


@pytest.fixture
def facts(spark):
    """The facts about a program of one input, or of two if it has a second parameter."""
    inputs = {
        "input": PackedSource(spark, StructType.fromDDL("ts TIMESTAMP, k INT, n INT"), "__case0"),
        "other": PackedSource(spark, StructType.fromDDL("us TIMESTAMP, j INT, m INT"), "__case1"),
    }

    def found(subject, mode="append", number=1, schema=None):
        sources = dict(list(inputs.items())[:number])
        if schema is not None:
            sources = {"input": PackedSource(spark, StructType.fromDDL(schema), "__case0")}
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
        (lambda f: marked(f.dropDuplicates(["k"])), "above a node that changes which records it sees: Deduplicate"),
        (lambda f: marked(marked(f).select("ts", "k")), "one watermark above another"),
        (lambda f: marked(f.where("ts < current_timestamp()")), "reads the clock"),
        (lambda f: marked(f).where(F.udf(lambda n: True, "boolean")("n")), "below its watermark: .*EvalPython"),
        (lambda f: marked(f.where("n IN (SELECT id FROM range(3))")), "below its watermark"),
    ],
    ids=["duplicates", "two", "the clock", "a function", "a subquery"],
)
def test_watermarks_that_cannot_be_computed_beforehand(facts, subject, reason):
    with pytest.raises(CannotCarry, match=reason):
        facts(subject)


# --- what a watermark sees ---

MANY = "ts TIMESTAMP, k INT, n INT, xs ARRAY<INT>"


def counted_by_ten(frame):
    return frame.groupBy(F.window("ts", "10 minutes"), "k").count()


def twice(frame):
    """One watermark in two places, of which each leaves out other records."""
    f = marked(frame)
    return counted_by_ten(f.where("n > 0").union(f.where("n < 0")))


SEEN = {
    "filtered before": lambda f: counted_by_ten(marked(f.where("n > 0"))),
    "filtered after": lambda f: counted_by_ten(marked(f).where("n > 0")),
    "filtered by its key": lambda f: counted_by_ten(marked(f)).where("k = 1"),
    "computed": lambda f: counted_by_ten(marked(f.withColumn("ts", F.expr("ts + make_interval(0, 0, 0, 0, 0, n)")))),
    "computed of another": lambda f: counted_by_ten(
        marked(f.withColumn("ts", F.expr("make_timestamp(2024, 1, 2, 3, minute(ts), 0)")))
    ),
    "exploded": lambda f: counted_by_ten(marked(f.withColumn("n", F.explode("xs"))).where("n > 1")),
    "in two places": twice,
    "never": lambda f: counted_by_ten(marked(f.where("false"))),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_a_watermark_sees_is_told_by_spark(facts, name):
    found = facts(SEEN[name], schema=MANY)
    assert {(each.input, each.column) for each in found.watermarks} == {("input", None)}
    assert all(each.below is not None for each in found.watermarks)


def times_of(index):
    """Records at 5, 25 and 45 minutes. Those that a filter leaves out come later, in some cases."""
    later = [(at(55), 1, 0, [1]), (at(58), 2, -3, [])][: index % 3]
    return [
        [(at(5), 1, 3, [2, 1]), (at(4), 2, 2, [3]), *later],
        [(at(25), 1, 3, [2]), (at(22), 0, 1, None)],
        [(at(45), 1, 3, [2]), (None, 1, 3, [2]), (at(41), 2, -1, [5])],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SEEN if name != "never"])
def test_cases_are_put_together_by_what_their_watermarks_see(spark, name):
    cases, how = one(MANY, *map(times_of, range(3))), Running(close=name in ("filtered before", "computed"))
    together = exercise_together(spark, cases, SEEN[name], how, also_single=True)
    latest = max(number for number, trace in enumerate(together) if trace is not None)
    assert [together[latest]] == exercise_apart(spark, [cases[latest]], SEEN[name], how)


def test_a_watermark_in_two_places_sees_what_gets_to_either(spark, facts):
    found = facts(twice, schema=MANY)
    (edges,) = {
        *map(tuple, seen_by_watermarks(spark, one(MANY, times_of(2)), [found], {"input": "__case0"})[0].values())
    }
    assert edges == tuple(
        (int(at(first).timestamp() * 1000), int(at(last).timestamp() * 1000))
        for first, last in ((4, 58), (22, 25), (41, 45))
    )


def test_records_that_a_filter_leaves_out_do_not_keep_cases_apart(spark):
    """Their latest records differ, but the watermark sees neither."""
    cases = one(MANY, *map(times_of, range(3)))
    shared = SharedQueries(spark, cases, SEEN["filtered after"], Running())
    assert shared.groups(also_single=False) == [[0, 1, 2]]
    assert SharedQueries(spark, cases, lambda f: counted_by_ten(marked(f)), Running()).groups(False) == []


# --- late records ---


def with_late(index):
    """The third batch has a record behind the watermark."""
    return [[(at(5), 1, index)], [(at(45), 1, index)], [(at(4), index % 2, index), (at(50), 2, index)]]


@pytest.mark.parametrize(
    "subject",
    [
        lambda f: counted_by_ten(marked(f)),
        lambda f: marked(f).dropDuplicates(["ts", "k"]),
        lambda f: marked(f).dropDuplicatesWithinWatermark(["k"]),
    ],
)
def test_late_records_share_a_query_where_nobody_asks_how_many_are_dropped(spark, subject):
    cases = one("ts TIMESTAMP, k INT, n INT", *map(with_late, range(4)))
    with pytest.raises(CannotCarry, match="late in every case"):
        exercise_together(spark, cases, subject, Running())
    together = exercise_together(spark, cases, subject, Running(), late=True)
    alone = exercise_apart(spark, cases, subject, Running())
    assert all(trace[2].dropped for trace in alone)
    assert [[now.outputs for now in trace] for trace in together] == [[now.outputs for now in trace] for trace in alone]
    assert [now.recorded_dropped for now in together[0]] == [0, 0, None]
