"""HarassMap, the example of FlinkCheck's paper: the generator, the job and the property have windows of their own.

What the paper checks holds or fails as it says there; and a wrong program in the place of the paper's is caught.
"""

import pytest
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss
from tests.quality.planted import caught, false_at, records_in

pytestmark = pytest.mark.slow

CASES = 5
INCIDENT = "zone INT NOT NULL, danger DOUBLE NOT NULL, ts TIMESTAMP NOT NULL"
EVENT_TIME = {"input": "ts", "output": "at"}
HOURS = fs.tumbling("1 hour", on=EVENT_TIME)
QUARTERS = fs.tumbling("15 minutes", on=EVENT_TIME)


def harass(danger=F.max, hours="1 hour", safe=1, where="true"):
    """The paper's program; each argument is a way to get it wrong."""

    def job(incidents):
        d = F.col("danger")
        level = F.when(d <= safe, "Safe").when(d <= 5, "Warning").when(d <= 8, "Danger").otherwise("Extreme")
        zones = incidents.withWatermark("ts", "0 seconds").where(where).groupBy("zone", F.window("ts", hours))
        return zones.agg(danger("danger").alias("danger")).select(
            "zone", level.alias("level"), F.window_time("window").alias("at")
        )

    return job


harass_max = harass()


def tenths(low, high):
    return st.integers(round(low * 10), round(high * 10)).map(lambda n: n / 10)


def incidents(dangers, *, size, during, every):
    """Incidents of two zones."""
    incident = ss.records(INCIDENT, zone=st.integers(0, 1), danger=dangers)
    batch = ss.batches(incident, min_size=size[0], max_size=size[1])
    return ss.timed(ss.always(batch, during=during), every=every, column="ts")


# --- safety: high danger is never safe ------------------------------------------------------------------------------

dangerous = incidents(tenths(1.1, 10.0), size=(1, 4), during=2, every="1 hour")
harmless_too = incidents(tenths(0.5, 10.0), size=(1, 4), during=2, every="1 hour")
never_safe = fs.always(lambda now: now.output.none(lambda r: r.level == "Safe"), during=2)


def worst(batch):
    """The greatest danger of every zone."""
    found = {}
    for r in batch:
        found[r.zone] = max(r.danger, found.get(r.zone, r.danger))
    return found


def first_window(found, holds):
    return next(now.index for now in found.trace if holds(now.input))


def test_high_danger_is_never_safe(spark):
    fs.for_all(dangerous, harass_max, never_safe, over=HOURS, cases=CASES, spark=spark)


def test_low_danger_is_found(spark):
    found = caught(spark, harmless_too, harass_max, never_safe, over=HOURS, cases=CASES)
    expected = first_window(found, lambda batch: min(worst(batch).values()) <= 1)
    assert false_at(found) == [expected] and found.unit == "window"
    assert records_in(found) == 2, "one incident an hour"


def test_wrong_boundary_is_found(spark):
    found = caught(spark, dangerous, harass(safe=2), never_safe, over=HOURS)
    expected = first_window(found, lambda batch: min(worst(batch).values()) <= 2)
    assert false_at(found) == [expected] and records_in(found) == 2


one_hour = incidents(st.sampled_from([0.5, 9.0]), size=(2, 2), during=1, every="1 hour")


def only_harmless_zones_are_safe(now):
    return now.output.none(lambda r: r.level == "Safe" and worst(now.input)[r.zone] > 1)


def test_least_danger_instead_of_greatest_is_found(spark):
    found = caught(spark, one_hour, harass(danger=F.min), fs.always(only_harmless_zones_are_safe), over=HOURS)
    assert false_at(found) == [0]
    assert sorted((r.zone, r.danger) for r in found.trace[0].input) == [(0, 0.5), (0, 9.0)]


def test_greatest_danger(spark):
    fs.for_all(one_hour, harass_max, fs.always(only_harmless_zones_are_safe), over=HOURS, cases=CASES, spark=spark)


# --- liveness: high danger becomes Extreme within the hour -----------------------------------------------------------

two_hours = incidents(st.sampled_from([9.0, 0.5, 4.5]), size=(1, 1), during=4, every="30 minutes")


def promise(now):
    hot = {r.zone for r in now.input if r.danger > 8}
    shown = fs.now(lambda later: hot <= {r.zone for r in later.output if r.level == "Extreme"}, name="shown_as_extreme")
    return fs.implies(bool(hot), fs.eventually(shown, within=4))


becomes_extreme = fs.always(fs.let(promise), during=5)


def test_high_danger_becomes_extreme(spark):
    fs.for_all(two_hours, harass_max, becomes_extreme, over=QUARTERS, cases=CASES, spark=spark)


def test_windows_of_two_hours_are_too_late(spark):
    found = caught(spark, two_hours, harass(hours="2 hours"), becomes_extreme, over=QUARTERS)
    first = next(now.index for now in found.trace if 9.0 in now.input.values("danger"))
    assert false_at(found) == [first, first + 1, first + 2, first + 3], "Extreme comes in window 7"
    assert records_in(found) == 4, "one incident in each half hour"


def test_forgotten_half_hours_are_found(spark):
    found = caught(spark, two_hours, harass(where="minute(ts) < 30"), becomes_extreme, over=QUARTERS)
    start, *_ = instants = false_at(found)
    hot = [r for r in found.trace[start].input if r.danger == 9.0]
    assert instants == list(range(start, start + 4)) and all(r.ts.minute >= 30 for r in hot) and hot
    assert records_in(found) == 4
