"""One stream becomes two, good orders and bad ones, and no order may be lost between them.

The wrong job forgets SQL's third truth value: where `ok` is null, neither `ok` nor `NOT ok` is true.
"""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame

import firesteel as fs
from firesteel import strategies as ss

orders = ss.always(ss.batches(ss.records("id INT NOT NULL, ok BOOLEAN"), max_size=5), during=4)


def split(orders: DataFrame) -> dict[str, DataFrame]:
    return {"good": orders.where("ok"), "bad": orders.where("ok IS NOT TRUE")}


def forgets_null(orders: DataFrame) -> dict[str, DataFrame]:
    return {"good": orders.where("ok"), "bad": orders.where("NOT ok")}


def nothing_is_lost(now: fs.Instant) -> fs.Check:
    return (now["good"] + now["bad"]).same_as(now["input"])


def test_nothing_is_lost_between_two_outputs() -> None:
    fs.for_all(orders, split, fs.always(nothing_is_lost), cases=20)


@pytest.mark.slow
def test_a_null_that_is_in_neither_output_is_found() -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(orders, forgets_null, fs.always(nothing_is_lost), cases=20)
    found = failure.value.report.counterexample
    assert found is not None and found.trace[-1].input.values("ok") == [None]
