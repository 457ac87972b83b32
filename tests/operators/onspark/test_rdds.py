"""Transformations of RDDs and DStreams on Spark: a fold that depends on partitions, beside one that does not."""

from __future__ import annotations

from typing import Any

import pytest

import firesteel as fs
from firesteel import operators


def without_the_first(pairs: Any) -> Any:
    return pairs.zipWithIndex().filter(lambda each: each[1] > 0).map(lambda each: each[0])


def summed(pairs: Any) -> Any:
    return pairs.reduceByKey(lambda a, b: a + b, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("no_shrinking")
@pytest.mark.parametrize("engine", ["rdd", "dstream"])
def test_plain_values_on_spark(spark: Any, engine: str) -> None:
    def on(function: Any) -> Any:
        whole = function if engine == "rdd" else lambda stream: stream.transform(function)
        return operators.transformation(whole, input="k STRING, n INT", key="k", engine=engine)

    options: dict[str, Any] = {"sample": [("a", 1), ("a", 2), ("b", 1)], "seconds": 25, "spark": spark}
    with pytest.raises(fs.Falsified):
        fs.holds(on(without_the_first), "order_independent", tests=6, **options)
    kept = fs.analyze(on(summed), "order_independent", tests=2, **options)["order_independent"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and kept.outputs and not kept.why


@pytest.mark.slow
@pytest.mark.usefixtures("no_shrinking")
def test_a_dstream_that_keeps_state(spark: Any) -> None:
    def counted(pairs: Any) -> Any:
        return pairs.updateStateByKey(lambda new, old: (old or 0) + len(new))

    def as_they_are(pairs: Any) -> Any:
        return pairs.map(lambda pair: pair)

    kind: dict[str, Any] = {"input": "k STRING, n INT", "key": "k", "engine": "dstream"}
    options: dict[str, Any] = {"sample": [("a", 1)], "seconds": 25, "spark": spark}
    with pytest.raises(fs.Falsified):
        fs.holds(operators.transformation(counted, **kind), "stateless", tests=2, **options)
    kept = fs.analyze(operators.transformation(as_they_are, **kind), "stateless", tests=2, **options)["stateless"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and kept.outputs and not kept.why
