"""Taxi drivers' tips, an example of FlinkCheck: the sum of every driver and hour, and the driver with the most.

The wrong jobs take two equal tips for one, name every driver instead of the best, or look at the largest tip instead
of the sum.
"""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

RIDE = "driver INT NOT NULL, tip INT NOT NULL, ts TIMESTAMP NOT NULL"
HOURS = fs.tumbling("1 hour", on={"input": "ts", "output": "at"})


def sums(rides: DataFrame) -> DataFrame:
    return rides.groupBy("driver", F.window("ts", "1 hour")).agg(F.sum("tip").alias("tips"))


def best(tips: DataFrame) -> DataFrame:
    """The greatest of every hour."""
    hours = tips.groupBy(F.window("window", "1 hour")).agg(F.max(F.struct("tips", "driver")).alias("best"))
    return hours.select("best.driver", "best.tips", F.window_time("window").alias("at"))


def hourly_tips(rides: DataFrame) -> DataFrame:
    tips = sums(rides.withWatermark("ts", "0 seconds"))
    return tips.select("driver", "tips", F.window_time("window").alias("at"))


def hourly_best(rides: DataFrame) -> DataFrame:
    return best(sums(rides.withWatermark("ts", "0 seconds")))


def rides(driver: int | SearchStrategy[int], tip: int | SearchStrategy[int], low: int, high: int) -> ss.Batches:
    drivers = st.just(driver) if isinstance(driver, int) else driver
    tips = st.just(tip) if isinstance(tip, int) else tip
    return ss.batches(ss.records(RIDE, driver=drivers, tip=tips), min_size=low, max_size=high)


def hourly(stream: SearchStrategy[fs.Stream]) -> SearchStrategy[fs.Stream]:
    return ss.timed(stream, every="1 hour", column="ts")


# --- one driver: sums by hour ---------------------------------------------------------------------

one_driver = hourly(ss.always(rides(1, st.integers(1, 9), 1, 1), during=3))


def the_sum_of_the_hour(now: fs.Instant) -> bool:
    return now.output.values("driver", "tips") == [(1, sum(now.input.values("tip")))]


def test_sums_by_hour() -> None:
    several = hourly(ss.always(rides(1, st.integers(1, 9), 1, 3), during=3))
    fs.for_all(several, hourly_tips, fs.always(the_sum_of_the_hour, during=3), over=HOURS, cases=5)


def test_equal_tips_taken_for_duplicates_are_found() -> None:
    def without_duplicates(rides: DataFrame) -> DataFrame:
        return hourly_tips(rides.dropDuplicates(["driver", "tip"]))

    with pytest.raises(fs.Falsified, match=r"the property is false in window [12]") as failure:
        fs.for_all(one_driver, without_duplicates, fs.always(the_sum_of_the_hour, during=3), over=HOURS, cases=10)
    found = failure.value.report.counterexample
    assert found is not None
    *before, last = [now.input.values("tip") for now in found.trace]
    assert last in before, "a tip that had come before"


# --- exactly one maximum --------------------------------------------------------------------------

two_drivers = hourly(ss.always(rides(st.integers(1, 2), st.integers(1, 9), 1, 3), during=2))


def one_best(now: fs.Instant) -> bool:
    return len(now.output) == 1


def test_exactly_one_maximum() -> None:
    fs.for_all(two_drivers, hourly_best, fs.always(one_best, during=2), over=HOURS, cases=5)


def test_every_driver_instead_of_the_best_is_found() -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(two_drivers, hourly_tips, fs.always(one_best, during=2), over=HOURS, cases=10)
    found = failure.value.report.counterexample
    assert found is not None
    *before, last = [set(now.input.values("driver")) for now in found.trace]
    assert last == {1, 2} and {1, 2} not in before, "false in the first hour in which both drove"


# --- driver 1 until driver 2 ----------------------------------------------------------------------

# Driver 1 has the largest tip, but once driver 2 has more in all.
first_leads = ss.overlay(rides(1, 5, 1, 1), rides(2, 3, 1, 1))
second_leads = ss.overlay(rides(1, 5, 1, 1), rides(2, 3, 2, 2))
overtaken = hourly(ss.until(first_leads, second_leads, within=3))


def best_is(driver: int) -> fs.Formula:
    return fs.now(lambda now: now.output.values("driver") == [driver], name=f"driver_{driver}_is_best")


def test_driver_1_until_driver_2() -> None:
    fs.for_all(overtaken, hourly_best, fs.until(best_is(1), best_is(2)), over=HOURS, cases=5)


def test_the_largest_tip_instead_of_the_sum_is_found() -> None:
    def largest_tip(rides: DataFrame) -> DataFrame:
        tips = rides.withWatermark("ts", "0 seconds").groupBy("driver", F.window("ts", "1 hour"))
        return best(tips.agg(F.max("tip").alias("tips")))

    with pytest.raises(fs.Falsified, match="the property is false in window 0"):
        fs.for_all(overtaken, largest_tip, fs.until(best_is(1), best_is(2)), over=HOURS, cases=5)
