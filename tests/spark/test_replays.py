"""Records of a captured program that are had again."""

from __future__ import annotations

from typing import Any

import pytest

import firesteel as fs
from firesteel.spark.replays import Replays


def jobs(spark: Any) -> int:
    """How many jobs Spark has run so far."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


@pytest.mark.slow
def test_samples_that_are_announced_take_one_job(spark: Any) -> None:
    context = spark.sparkContext
    with fs.capture(spark) as dag:
        sums = context.parallelize(range(100), 2).map(lambda n: (n % 30, n)).reduceByKey(lambda a, b: a + b, 2)
        words = context.parallelize(["a"] * 40, 4).map(lambda word: (word, 1.5))
        late = context.parallelize([1, 2, 3, 4, 5, 6], 2).filter(lambda n: n > 3)
        wrong = context.parallelize([0], 1).map(lambda n: 1 // n)
        assert sums.count() == 30 and words.count() == 40 and late.count() == 3
    by_name = {name: [each.id for each in dag.operations if each.name == name] for name in ("map", "filter")}
    (pairs, words_id, wrong_id), (late_id,) = by_name["map"], by_name["filter"]
    (sums_id,) = (each.id for each in dag.operations if each.name == "reduceByKey")
    assert wrong.context is context
    replays = Replays(spark, dag.program, 60)
    replays.coming({pairs, sums_id, words_id})
    before = jobs(spark)
    assert replays.sample(pairs) == [(n, n) for n in range(20)]
    assert replays.sample(words_id) == [("a", 1.5)] * 10, "those of the first partition are enough"
    assert set(replays.sample(sums_id)) <= {(n, sum(range(n, 100, 30))) for n in range(30)}
    assert len(replays.sample(sums_id)) == 15
    assert jobs(spark) == before + 3, "two of them read the sources"
    # Where the first partition has too few, or a function fails, each is looked at by itself.
    replays = Replays(spark, dag.program, 60)
    replays.coming({late_id, wrong_id, words_id})
    assert (replays.sample(wrong_id), replays.sample(late_id)) == ([], [4, 5, 6])
    assert replays.sample(words_id) == [("a", 1.5)] * 20
    assert Replays(spark, dag.program, 1e-9).sample(words_id) == [], "the time is up"
