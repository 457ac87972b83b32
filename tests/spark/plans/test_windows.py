"""The grid of windows, read from the arithmetic that Spark writes them as; anything else is on no grid."""

from dataclasses import replace

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from firesteel.spark.engines.source import MemorySource
from firesteel.spark.plans.reader import analysed
from firesteel.spark.plans.windows import grid_of

MINUTE = 60_000_000


@pytest.fixture
def events(spark):
    return MemorySource(spark, StructType.fromDDL("ts TIMESTAMP, local TIMESTAMP_NTZ, k INT")).df


def grids(frame):
    """The grids of everything that a program computes."""
    found = [grid_of(expression) for node in analysed(frame).walk() for expression in node.expressions]
    return {grid for grid in found if grid is not None}


@pytest.mark.parametrize(
    "window, minutes",
    [
        (("ts", "10 minutes"), 10),
        (("local", "10 minutes"), 10),
        (("ts", "1 hour", "1 hour", "15 minutes"), 15),
        (("ts", "1 hour", "1 hour", "-15 minutes"), 15),
        (("ts", "20 minutes", "10 minutes"), 10),
        (("ts", "25 minutes", "10 minutes"), 5),
        (("ts", "30 minutes", "20 minutes", "1 minute"), 1),
        (("ts", "1 week"), 7 * 24 * 60),
    ],
    ids=lambda value: ", ".join(value) if isinstance(value, tuple) else None,
)
def test_windows_lie_on_a_grid(events, window, minutes):
    marked = events.withWatermark("ts", "5 minutes")
    assert grids(marked.groupBy(F.window(*window), "k").count()) == {minutes * MINUTE}


def test_windows_of_windows(events):
    hours = events.groupBy(F.window("ts", "10 minutes")).count().groupBy(F.window("window", "1 hour")).count()
    assert grids(hours) == {10 * MINUTE, 60 * MINUTE}


def test_windows_in_sql(spark, events):
    events.createOrReplaceTempView("timed")
    try:
        assert grids(spark.sql("SELECT window(ts, '10 minutes') AS w, k FROM timed")) == {10 * MINUTE}
    finally:
        spark.catalog.dropTempView("timed")


@pytest.mark.parametrize(
    "column",
    ["session_window(ts, '10 minutes')", "date_trunc('hour', ts)",
     "named_struct('start', ts, 'end', ts + INTERVAL 10 MINUTES)"],
)  # fmt: skip
def test_other_times_lie_on_none(events, column):
    assert grids(events.groupBy(F.expr(column).alias("w")).count()) == set()


# --- another way of writing windows ----------------------------------------------------------------------------------


def changed(expression, change):
    """The expression with a change made everywhere in it."""
    return change(replace(expression, children=tuple(changed(child, change) for child in expression.children)))


@pytest.fixture
def tumbling(events):
    plan = analysed(events.groupBy(F.window("ts", "10 minutes")).count())
    (found,) = [each for node in plan.walk() for each in node.expressions if grid_of(each) is not None]
    return found


def test_what_is_changed_nowhere_is_still_known(tumbling):
    assert grid_of(changed(tumbling, lambda expression: expression)) == 10 * MINUTE


@pytest.mark.parametrize(
    "kind",
    ["CreateNamedStruct", "KnownNullable", "PreciseTimestampConversion", "Subtract", "Add", "CaseWhen", "LessThan",
     "Remainder", "Literal"],
)  # fmt: skip
def test_a_window_that_is_written_differently_is_refused(tumbling, kind):
    def renamed(expression):
        return replace(expression, kind="Another") if expression.kind == kind else expression

    assert grid_of(changed(tumbling, renamed)) is None


@pytest.mark.parametrize(
    "before, after",
    [("start", "begin"), (10 * MINUTE, None), (10 * MINUTE, 0), (10 * MINUTE, "10 minutes")],
)
def test_a_window_with_other_literals_is_refused(tumbling, before, after):
    def rewritten(expression):
        found = expression.arguments.get("value") == before and expression.kind == "Literal"
        return replace(expression, arguments={"value": after}) if found else expression

    assert grid_of(changed(tumbling, rewritten)) is None


def test_a_window_whose_parts_do_not_agree_is_refused(tumbling):
    def shifted(expression):
        if expression.kind != "Remainder":
            return expression
        time, step = expression.children
        return replace(expression, children=(time, replace(step, arguments={"value": 7 * MINUTE})))

    assert grid_of(changed(tumbling, shifted)) is None
