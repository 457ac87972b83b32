"""Ads and the clicks on them, within half an hour: a left outer join of two streams.

An ad without a click has to come out too, once no click can come any more. The wrong jobs are an inner join, which
loses such an ad, and one that waits for ten minutes only, and calls an ad unclicked that is clicked later.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

ad = ss.records("ad INT NOT NULL, shown TIMESTAMP NOT NULL", ad=st.integers(0, 1))
click = ss.records("click_ad INT NOT NULL, clicked TIMESTAMP NOT NULL", click_ad=st.integers(0, 1))


def every_ten_minutes(record: SearchStrategy[fs.Record], column: str) -> SearchStrategy[fs.Stream]:
    return ss.timed(ss.always(ss.batches(record, max_size=1), during=4), every="10 minutes", column=column)


inputs = st.fixed_dictionaries({"ads": every_ten_minutes(ad, "shown"), "clicks": every_ten_minutes(click, "clicked")})

# The ad is in the first batch, the click on it in one of the four.
one_ad, one_click = (ss.batches(record, min_size=1, max_size=1) for record in (ad, click))
one_ad_and_click = st.fixed_dictionaries(
    {
        "ads": ss.timed(ss.concat(one_ad, ss.empty(during=3)), every="10 minutes", column="shown"),
        "clicks": ss.timed(ss.eventually(one_click, within=4), every="10 minutes", column="clicked"),
    }
)


def joined(ads: DataFrame, clicks: DataFrame, how: str, minutes: int) -> DataFrame:
    ads, clicks = ads.withWatermark("shown", "5 minutes"), clicks.withWatermark("clicked", "5 minutes")
    in_time = f"ad = click_ad AND clicked BETWEEN shown AND shown + INTERVAL {minutes} MINUTES"
    return ads.join(clicks, F.expr(in_time), how)


def attributed(ads: DataFrame, clicks: DataFrame) -> DataFrame:
    return joined(ads, clicks, "leftOuter", 30)


def clicked_ads(ads: DataFrame, clicks: DataFrame) -> DataFrame:
    return joined(ads, clicks, "inner", 30)


def impatient(ads: DataFrame, clicks: DataFrame) -> DataFrame:
    return joined(ads, clicks, "leftOuter", 10)


@fs.let
def its_ads_come_out(now: fs.Instant) -> fs.Formula:
    ads = set(now["ads"].values("ad", "shown"))
    return fs.eventually(
        fs.now(lambda later: ads <= set(later.so_far.output.values("ad", "shown")), name="ads_are_out")
    )


def unclicked_ads_have_no_clicks(now: fs.Instant) -> bool:
    def clicks_of(row: fs.Record) -> fs.Batch:
        return now.so_far["clicks"].where(
            lambda c: c.click_ad == row.ad and row.shown <= c.clicked <= row.shown + timedelta(minutes=30)
        )

    return not any(clicks_of(row) for row in now.so_far.output if row.clicked is None)


def test_every_ad_comes_out() -> None:
    fs.for_all(inputs, attributed, fs.always(its_ads_come_out), cases=5)


def test_unclicked_ads_have_no_clicks() -> None:
    fs.for_all(inputs, attributed, fs.always(unclicked_ads_have_no_clicks, during=4), cases=5)


def test_an_inner_join_is_found() -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(inputs, clicked_ads, fs.always(its_ads_come_out), cases=10)
    found = failure.value.report.counterexample
    assert found is not None and len(found.trace) == 4, "false at the end, in batch 3: it has not come out"
    assert [len(batch) for batch in found.inputs["clicks"]] == [0] * 4
    assert sum(len(batch) for batch in found.inputs["ads"]) == 1, "one ad, without a click"


def test_a_join_that_does_not_wait_is_found() -> None:
    with pytest.raises(fs.Falsified, match="the property is false in batch 3") as failure:
        fs.for_all(one_ad_and_click, impatient, fs.always(unclicked_ads_have_no_clicks), cases=10)
    found = failure.value.report.counterexample
    assert found is not None
    (shown,), (clicked,) = found.trace[3].so_far["ads"], found.trace[3].so_far["clicks"]
    assert timedelta(minutes=10) < clicked.clicked - shown.shown <= timedelta(minutes=30)
