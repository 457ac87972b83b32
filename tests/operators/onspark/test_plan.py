"""What plans say about rows in update mode, and about watermarks."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F

from firesteel import operators
from firesteel.operators.onspark.plan import Replaces, plan_of

TIMED = "k STRING, n INT, ts TIMESTAMP"


def counted(frame: Any) -> Any:
    return frame.groupBy("k").count()


def in_windows(frame: Any) -> Any:
    return frame.groupBy("k", F.window("ts", "10 minutes")).count()


def from_start(frame: Any) -> Any:
    return in_windows(frame).where("count > 0").select(F.col("window.start").alias("since"), "count", "k")


def without_window(frame: Any) -> Any:
    return in_windows(frame).select("k", "count")


def by_remainder(frame: Any) -> Any:
    return frame.groupBy((F.col("n") % 5).alias("rest"), F.upper("k")).agg(F.max("n")).withColumnRenamed("rest", "r")


def of_everything(frame: Any) -> Any:
    return frame.groupBy().count()


def rounded_start(frame: Any) -> Any:
    return in_windows(frame).select("k", F.date_trunc("day", "window.start").alias("day"), "count")


def beside_others(frame: Any) -> Any:
    return counted(frame).union(frame.select("k", F.col("n").cast("long")))


def as_they_are(frame: Any) -> Any:
    return frame.where("n > 1").dropDuplicates(["k", "n"])


def with_state(frame: Any) -> Any:
    return frame.groupBy("k").applyInPandasWithState(print, "k STRING", "n INT", "update", "NoTimeout")


def marked(frame: Any) -> Any:
    return in_windows(frame.withWatermark("ts", "1 minute"))


@pytest.mark.parametrize(
    "function, replaces, groups",
    [
        (counted, Replaces.GROUP, ("k",)),
        (in_windows, Replaces.GROUP, ("k", "window")),
        (from_start, Replaces.GROUP, ("k", "since")),
        (by_remainder, Replaces.GROUP, ("r", "upper(k)")),
        (of_everything, Replaces.GROUP, ()),
        (marked, Replaces.GROUP, ("k", "window")),
        (without_window, Replaces.UNKNOWN, ()),
        (rounded_start, Replaces.UNKNOWN, ()),
        (beside_others, Replaces.UNKNOWN, ()),
        (as_they_are, Replaces.NONE, ()),
        (with_state, Replaces.KEY, ()),
    ],
)
def test_the_groups_of_a_plan(spark: Any, function: Any, replaces: Replaces, groups: tuple[str, ...]) -> None:
    plan = plan_of(spark, operators.transformation(function, input=TIMED, key="k", output_mode="update"))
    assert plan is not None
    output = plan.of(None)
    assert output is not None and (output.replaces, output.groups) == (replaces, groups)
    assert plan.watermark is (function is marked)


def test_several_outputs_have_a_plan_each(spark: Any) -> None:
    both = operators.transformation(lambda frame: {"a": counted(frame), "b": as_they_are(frame)}, input=TIMED, key="k")
    plan = plan_of(spark, both)
    assert plan is not None and plan.of(None) is None
    assert [each.replaces for each in plan.outputs.values()] == [Replaces.GROUP, Replaces.NONE]


def test_what_has_no_plan(spark: Any) -> None:
    """Jobs have none that matters here, and what cannot be built says so when it is run."""
    assert plan_of(spark, operators.transformation(counted, input=TIMED, engine="batch")) is None
    assert plan_of(spark, operators.transformation(lambda frame: frame.select("nowhere"), input=TIMED)) is None
