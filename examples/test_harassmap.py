"""HarassMap, the example of FlinkCheck's paper: how dangerous each zone was in each hour, from reports of incidents.

Streams are made by the half hour or hour, the job has windows of an hour, and the property looks at hours or quarters
of an hour. A zone in danger is never called safe (safety), and danger is shown in time (liveness). The paper's failing
property is here, and jobs that take the least danger for the greatest, or windows that are too long.
"""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

INCIDENT = "zone INT NOT NULL, danger DOUBLE NOT NULL, ts TIMESTAMP NOT NULL"
HOURS = fs.tumbling("1 hour", on={"input": "ts", "output": "at"})
QUARTERS = fs.tumbling("15 minutes", on={"input": "ts", "output": "at"})


def level(danger: Column) -> Column:
    return F.when(danger <= 1, "Safe").when(danger <= 5, "Warning").when(danger <= 8, "Danger").otherwise("Extreme")


def zones(incidents: DataFrame, window: str, danger: Column) -> DataFrame:
    per_zone = incidents.withWatermark("ts", "0 seconds").groupBy("zone", F.window("ts", window))
    return per_zone.agg(level(danger).alias("level")).select("zone", "level", F.window_time("window").alias("at"))


def harass_max(incidents: DataFrame) -> DataFrame:
    return zones(incidents, "1 hour", F.max("danger"))


def harass_min(incidents: DataFrame) -> DataFrame:
    return zones(incidents, "1 hour", F.min("danger"))


def harass_two_hours(incidents: DataFrame) -> DataFrame:
    return zones(incidents, "2 hours", F.max("danger"))


def incidents(dangers: SearchStrategy[float], size: int, during: int, every: str) -> SearchStrategy[fs.Stream]:
    incident = ss.records(INCIDENT, zone=st.integers(0, 1), danger=dangers)
    batch = ss.batches(incident, min_size=size, max_size=size)
    return ss.timed(ss.always(batch, during=during), every=every, column="ts")


# --- safety ---------------------------------------------------------------------------------------


def never_safe(now: fs.Instant) -> fs.Check:
    return now.output.none(lambda r: r.level == "Safe")


def test_high_danger_is_never_safe() -> None:
    dangerous = incidents(st.floats(1.1, 10.0), size=3, during=3, every="1 hour")
    fs.for_all(dangerous, harass_max, fs.always(never_safe, during=3), over=HOURS, cases=5)


def test_low_danger_is_found() -> None:
    """The property that fails in the paper: with incidents of hardly any danger, a zone may be safe."""
    harmless_too = incidents(st.sampled_from([9.0, 0.5]), size=1, during=1, every="1 hour")
    with pytest.raises(fs.Falsified, match="the property is false in window 0"):
        fs.for_all(harmless_too, harass_max, fs.always(never_safe), over=HOURS, cases=5)


mixed = incidents(st.sampled_from([0.5, 9.0]), size=2, during=1, every="1 hour")


def only_harmless_zones_are_safe(now: fs.Instant) -> bool:
    worst = {zone: max(r.danger for r in now.input if r.zone == zone) for zone in now.input.values("zone")}
    return all(worst[r.zone] <= 1 for r in now.output if r.level == "Safe")


def test_only_harmless_zones_are_safe() -> None:
    fs.for_all(mixed, harass_max, fs.always(only_harmless_zones_are_safe), over=HOURS, cases=5)


def test_the_least_danger_instead_of_the_greatest_is_found() -> None:
    with pytest.raises(fs.Falsified, match="the property is false in window 0") as failure:
        fs.for_all(mixed, harass_min, fs.always(only_harmless_zones_are_safe), over=HOURS, cases=200)
    found = failure.value.report.counterexample
    assert found is not None and sorted(found.trace[0].input.values("zone", "danger")) == [(0, 0.5), (0, 9.0)]


# --- liveness: great danger is shown as extreme within the hour -----------------------------------


@fs.let
def becomes_extreme(now: fs.Instant) -> fs.Formula:
    hot = {r.zone for r in now.input if r.danger > 8}
    shown = fs.now(lambda later: hot <= {r.zone for r in later.output if r.level == "Extreme"}, name="shown_as_extreme")
    return fs.implies(bool(hot), fs.eventually(shown, within=4))


two_hours = incidents(st.sampled_from([9.0, 4.5, 0.5]), size=1, during=4, every="30 minutes")


def test_high_danger_becomes_extreme() -> None:
    fs.for_all(two_hours, harass_max, fs.always(becomes_extreme, during=5), over=QUARTERS, cases=5)


def test_windows_that_are_too_long_are_found() -> None:
    """Eight quarters of an hour: what is hot in the first is due in one of the first four, and comes in the last."""
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(two_hours, harass_two_hours, fs.always(becomes_extreme, during=5), over=QUARTERS, cases=10)
    found = failure.value.report.counterexample
    assert found is not None and found.unit == "window"
    hot = next(now.index for now in found.trace if 9.0 in now.input.values("danger"))
    assert found.trace[-1].index == hot + 3
