"""A recording, replayed: payments of one morning, in the order in which they arrived.

Payment p03 came twice (somebody pressed the button again), and p09, of 10:55, came after one of 11:40. The job adds up
the payments of every hour. The wrong ones count p03 twice, or have closed the hour when p09 arrives. firesteel replays
the recording and parts of it, so what it shows are the few records that matter.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

PAYMENTS = Path(__file__).parent / "recordings" / "payments.csv"
SCHEMA = "id STRING NOT NULL, customer STRING NOT NULL, cents INT NOT NULL, ts TIMESTAMP NOT NULL"
HOURS = fs.tumbling("1 hour", on={"input": "ts", "output": "at"})

payments = ss.replay(PAYMENTS, every=4, schema=SCHEMA)  # four in a batch, in the order in which they arrived


def per_hour(payments: DataFrame) -> DataFrame:
    hours = payments.groupBy(F.window("ts", "1 hour")).agg(F.sum("cents").alias("cents"))
    return hours.select("cents", F.window_time("window").alias("at"))


def turnover(payments: DataFrame) -> DataFrame:
    return per_hour(payments.withWatermark("ts", "1 hour").dropDuplicates(["id", "ts"]))


def counts_twice(payments: DataFrame) -> DataFrame:
    return per_hour(payments.withWatermark("ts", "1 hour"))


def closes_too_soon(payments: DataFrame) -> DataFrame:
    return per_hour(payments.withWatermark("ts", "5 minutes").dropDuplicates(["id", "ts"]))


def every_payment_once(hour: fs.Instant) -> bool:
    paid = {r.id: r.cents for r in hour.input}
    return hour.output.values("cents") == ([sum(paid.values())] if paid else [])


def test_every_payment_counts_once() -> None:
    fs.for_all(payments, turnover, fs.always(every_payment_once), over=HOURS, cases=5)


def test_a_payment_that_counts_twice_is_found() -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(payments, counts_twice, fs.always(every_payment_once), over=HOURS, cases=5)
    found = failure.value.report.counterexample
    assert found is not None
    assert found.trace[-1].input.values("id") == ["p03", "p03"], "false in the hour of the double payment"


def test_an_hour_that_is_closed_too_soon_is_found() -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(payments, closes_too_soon, fs.always(every_payment_once), over=HOURS, cases=5)
    found = failure.value.report.counterexample
    assert found is not None
    assert "p09" in found.trace[-1].input.values("id"), "false in the hour of the late payment"
