"""Pollution alerts, an example of FlinkCheck: sensors whose average of the hour is above the limit.

The wrong jobs take the average of all sensors together, so that clean ones hide a polluted one, or leave out the low
readings before the average is taken, so that one peak is enough for an alert.
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

READING = "sensor INT NOT NULL, level INT NOT NULL, ts TIMESTAMP NOT NULL"
LIMIT = 50
HOURS = fs.tumbling("1 hour", on={"input": "ts", "output": "at"})


def alerts(readings: DataFrame) -> DataFrame:
    hours = readings.withWatermark("ts", "0 seconds").groupBy("sensor", F.window("ts", "1 hour"))
    high = hours.agg(F.avg("level").alias("level")).where(f"level > {LIMIT}")
    return high.select("sensor", F.window_time("window").alias("at"))


def alerts_of_all_together(readings: DataFrame) -> DataFrame:
    hours = readings.withWatermark("ts", "0 seconds").groupBy(F.window("ts", "1 hour"))
    high = hours.agg(F.avg("level").alias("level"), F.max_by("sensor", "level").alias("sensor"))
    return high.where(f"level > {LIMIT}").select("sensor", F.window_time("window").alias("at"))


def alerts_of_high_readings(readings: DataFrame) -> DataFrame:
    return alerts(readings.where(f"level > {LIMIT}"))


def readings(sensor: int | SearchStrategy[int], low: int, high: int, size: int = 1) -> ss.Batches:
    sensors = st.just(sensor) if isinstance(sensor, int) else sensor
    reading = ss.records(READING, sensor=sensors, level=st.integers(low, high))
    return ss.batches(reading, min_size=size, max_size=size)


# --- alerts are right: those sensors, and no others -----------------------------------------------


def the_polluted_sensors(now: fs.Instant) -> fs.Check:
    levels: dict[int, list[int]] = {}
    for r in now.input:
        levels.setdefault(r.sensor, []).append(r.level)
    polluted = {sensor for sensor, found in levels.items() if sum(found) > LIMIT * len(found)}
    return fs.Batch(now.output.values("sensor")).same_as(polluted)


two_hours = ss.timed(ss.always(readings(st.integers(1, 2), 0, 100, size=3), during=2), every="1 hour", column="ts")


def test_alerts_are_for_the_polluted_sensors() -> None:
    fs.for_all(two_hours, alerts, fs.always(the_polluted_sensors, during=2), over=HOURS, cases=10)


def test_one_peak_that_is_enough_is_found() -> None:
    one_hour = ss.timed(ss.always(readings(1, 0, 100, size=2), during=1), every="1 hour", column="ts")
    with pytest.raises(fs.Falsified, match="the property is false in window 0") as failure:
        fs.for_all(one_hour, alerts_of_high_readings, fs.always(the_polluted_sensors), over=HOURS, cases=20)
    found = failure.value.report.counterexample
    assert found is not None and sorted(found.trace[0].input.values("level")) == [0, LIMIT + 1]


# --- alerts come in time: none while the air is clean, one in the hour in which it is not ---------


def only_clean(batch: fs.Batch) -> fs.Check:
    return batch.every(lambda r: r.level <= LIMIT)


def sensor_2_in_smog(batch: fs.Batch) -> fs.Check:
    return batch.some(lambda r: r.sensor == 2 and r.level > 90)


# Streams are made from a formula, and what comes out is judged by one like it.
clean_air = ss.holding(only_clean, batches=readings(1, 0, 20, size=2))
smog = ss.holding(sensor_2_in_smog, batches=ss.overlay(readings(1, 0, 20, size=2), readings(2, 91, 100)))
clean_until_smog = ss.timed(ss.from_formula(fs.until(clean_air, smog, within=3)), every="1 hour", column="ts")


def no_alert(now: fs.Instant) -> bool:
    return not now.output


def alert_for_sensor_2(now: fs.Instant) -> bool:
    return now.output.values("sensor") == [2]


quiet_until_alert = fs.until(no_alert, alert_for_sensor_2)


def test_no_alert_until_there_is_smog() -> None:
    fs.for_all(clean_until_smog, alerts, quiet_until_alert, over=HOURS, cases=10)


def test_clean_sensors_that_hide_a_polluted_one_are_found() -> None:
    with pytest.raises(fs.Falsified, match="the property is false in window 0"):
        fs.for_all(clean_until_smog, alerts_of_all_together, quiet_until_alert, over=HOURS, cases=5)
