"""Many cases in one query against one at a time: FlinkCheck's safety property, windows of an hour with 50 records.

The subject and the property are those of the paper's section IV: the largest danger of each zone and hour, which must
never be Safe where all dangers are above 1.

Windows do not depend on the batches that their records come in, so a bulk run feeds all batches of such a case as one:
20 times fewer micro-batches, beside many cases in each. So the same is also measured without windows: the property
looks at batches then, and every batch stays one. That ratio is what sharing a query alone gives.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from run import Bound

import firesteel as fs
from firesteel import strategies as ss
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.structured import exercise
from firesteel.spark.running import Running
from firesteel.values.cases import Case

WINDOWS, RECORDS, ALONE = 20, 50, 4
INCIDENT = "zone INT NOT NULL, danger DOUBLE NOT NULL, ts TIMESTAMP NOT NULL"
HOURS = fs.tumbling("1 hour", on={"input": "ts", "output": "at"})
NEVER_SAFE = fs.always(lambda now: now.output.none(lambda r: r.level == "Safe"))


def harass_max(incidents: DataFrame) -> DataFrame:
    danger = F.col("danger")
    level = F.when(danger <= 1, "Safe").when(danger <= 5, "Warning").when(danger <= 8, "Danger").otherwise("Extreme")
    hours = incidents.withWatermark("ts", "0 seconds").groupBy("zone", F.window("ts", "1 hour"))
    largest = hours.agg(F.max("danger").alias("danger"))
    return largest.select("zone", level.alias("level"), F.window_time("window").alias("at"))


def incidents(windows: int, records: int, low: float = 1.1) -> st.SearchStrategy[fs.Stream]:
    incident = ss.records(INCIDENT, zone=st.integers(0, 9), danger=st.floats(low, 10.0))
    each = ss.batches(incident, min_size=records, max_size=records)
    return ss.timed(ss.always(each, during=windows), every="1 hour", column="ts")


def drawn(cases: int) -> list[Case]:
    made: list[Case] = []

    @settings(
        max_examples=cases, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(incidents(WINDOWS, RECORDS))
    def draw(stream: fs.Stream) -> None:
        made.append(Case({"input": stream}))

    draw()
    return made


def judged(traces: list[fs.Trace | None]) -> None:
    for trace in traces:
        assert trace is not None and NEVER_SAFE.evaluate(trace) is fs.Verdict.TRUE


def seconds(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def measure() -> Mapping[str, Bound]:
    spark = fs.session()
    windows, batches = Running(over=HOURS), Running()
    thousand = drawn(1000)
    hundred = thousand[:100]

    def alone(cases: list[Case], how: Running) -> Callable[[], None]:
        return lambda: judged([exercise(spark, case, harass_max, how, lambda instant: False) for case in cases])

    def together(cases: list[Case], how: Running) -> Callable[[], None]:
        return lambda: judged(exercise_together(spark, cases, harass_max, how))

    print("warming up ...", file=sys.stderr, flush=True)
    for how in (windows, batches):
        alone(hundred[:1], how)()
        together(hundred[:10], how)()
    found = [
        (
            seconds(alone(hundred[:ALONE], how)) / ALONE / WINDOWS,
            seconds(together(hundred, how)) / 100 / WINDOWS,
            seconds(together(thousand, how)) / 1000 / WINDOWS,
        )
        for how in (windows, batches)
    ]
    whole = seconds(
        lambda: fs.for_all(incidents(WINDOWS, RECORDS), harass_max, NEVER_SAFE, over=HOURS, cases=100) and None
    )
    print(f"{WINDOWS} windows of {RECORDS} records, milliseconds for a case and window, run and judged\n")
    print(f"{'':26}{'one at a time':>14}{'100 cases':>11}{'1,000 cases':>13}{'faster: 100':>13}{'1,000':>7}")
    for name, (one, bulk, more) in zip(("windows, fed as one batch", "batches stay batches"), found, strict=True):
        print(f"{name:26}{1000 * one:14.1f}{1000 * bulk:11.2f}{1000 * more:13.2f}", end="")
        print(f"{one / bulk:13.0f}{one / more:7.0f}")
    print(f"\nfs.for_all with 100 cases, over windows: {whole:.1f} s in all")
    (one, bulk, more), (one_kept, bulk_kept, more_kept) = found
    return {
        "faster_100": Bound(one / bulk, at_least=60),
        "faster_1000": Bound(one / more, at_least=200),
        "faster_100_batches_kept": Bound(one_kept / bulk_kept),
        "faster_1000_batches_kept": Bound(one_kept / more_kept),
        "seconds_in_all": Bound(whole, at_most=20),
    }
