"""Operators that fail on Spark: the property is answered with that, and the session stays usable."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import operators


def missing_table(frame: Any) -> Any:
    return frame.join(frame.sparkSession.table("nowhere_to_be_found"), "n")


def wrong_schema(frame: Any) -> Any:
    def text(rows: Any) -> Any:
        for each in rows:
            yield each.assign(n="not a number")

    return frame.mapInPandas(text, "n INT")


def dies(frame: Any) -> Any:
    return frame.select(F.udf(lambda n: os._exit(3), "int")("n").alias("n"))


def hangs(frame: Any) -> Any:
    return frame.select(F.udf(lambda n: time.sleep(60), "int")("n").alias("n"))


def raises_in_one_partition(frame: Any) -> Any:
    return frame.select(F.udf(lambda n: n // (n - 1), "int")("n").alias("n"))


GONE = ("crashed", "longer than")
"""What is said of a worker that died, sooner or later: Spark notices it, or starts another one."""


@pytest.mark.slow
def test_failures_are_answers(spark: Any) -> None:
    """Every property is answered, within the time, and Spark can be used afterwards."""
    said = {}
    for wrong in (missing_table, wrong_schema, dies, hangs):
        operator = operators.transformation(wrong, input="n INT", engine="batch")
        table = fs.analyze(operator, "one_to_one", "order_independent", tests=1, seconds=3, spark=spark)
        for finding in table.values():
            assert finding.verdict is fs.Verdict.INCONCLUSIVE and not finding.outputs and finding.why
        said[wrong.__name__] = table["order_independent"].why
    assert "nowhere_to_be_found" in said["missing_table"]
    assert "longer than" in said["hangs"]
    assert any(each in said["dies"] for each in GONE), said["dies"]
    assert "not a number" in said["wrong_schema"], said["wrong_schema"]
    with pytest.raises(fs.Vacuous, match="nowhere_to_be_found"):
        fs.holds(operators.transformation(missing_table, input="n INT"), "deterministic", tests=1, spark=spark)
    some = operators.transformation(raises_in_one_partition, input="n INT", engine="batch")
    options: dict[str, Any] = {"sample": [(0,), (1,), (2,)], "tests": 4, "seconds": 90, "spark": spark}
    table = fs.analyze(some, "one_to_one", "partition_independent", "total", **options)
    assert table["partition_independent"].verdict is fs.Verdict.INCONCLUSIVE
    assert table["total"].verdict is fs.Verdict.FALSE and "ZeroDivisionError" in table["total"].evidence
    assert any("ZeroDivisionError" in finding.trouble + finding.why for finding in table.values())
    assert spark.range(3).count() == 3


def raising_sink(frame: Any, batch_id: int) -> None:
    raise OSError(f"no room for {frame.count()} rows")


def raising_step(key: Any, frames: Any, state: Any) -> Any:
    raise KeyError(f"nothing is known of {key[0]}")


@pytest.mark.slow
def test_failures_of_streams_and_sinks_are_answers(spark: Any) -> None:
    """The same in micro-batches: a worker that dies or hangs, a sink and code with state that raise."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        raising = operators.state_function(raising_step, key="n", input="n INT", output="n INT", state="n INT")
        sink = operators.sink(raising_sink, input="n INT", read=lambda place: place, fresh=list)
        expected = [
            (operators.transformation(dies, input="n INT"), "one_to_one", GONE),
            (operators.transformation(hangs, input="n INT"), "one_to_one", ("longer than",)),
            (raising, "one_to_one", ("nothing is known of 1",)),
            (sink, "replay_safe", ("no room for",)),
        ]
        for operator, name, said in expected:
            finding = fs.analyze(operator, name, sample=[(1,)], tests=1, seconds=3, spark=spark)[name]
            assert finding.verdict is fs.Verdict.INCONCLUSIVE and not finding.outputs, operator
            assert any(each in finding.why for each in said), (operator, finding.why)
        assert spark.range(3).count() == 3
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def without_its_key(frame: Any) -> Any:
    return frame.groupBy("k").agg(F.count("n").alias("n")).select("n")


def with_its_key(frame: Any) -> Any:
    return frame.groupBy("k").agg(F.count("n").alias("n"))


@pytest.mark.slow
def test_an_output_without_the_key_does_not_pass_as_isolated(spark: Any) -> None:
    """Nobody can say whose its rows are, so a claim about keys would be true of anything."""
    options: dict[str, Any] = {"sample": [("a", 1), ("b", 2)], "tests": 6, "seconds": 20, "spark": spark}
    wrong, right = (
        operators.transformation(each, input="k STRING, n INT", key="k", engine="batch")
        for each in (without_its_key, with_its_key)
    )
    with pytest.raises(fs.Vacuous, match="lacks the column k"):
        fs.holds(wrong, "partition_isolated", **options)
    kept = fs.analyze(right, "partition_isolated", **options)["partition_isolated"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and not kept.why and kept.outputs
