"""The sum of each key, with a rule of what Spark has to do for it: what the tasks send to each other stays small.

`reduceByKey` adds up within each task before anything is sent. The wrong version gives the same result, so that a test
of the result passes; but it sends every single record. Spark's events show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from pyspark import RDD
from pyspark.sql import SparkSession

import firesteel as fs
from firesteel import rules

pytestmark = pytest.mark.slow

Sums = Callable[[RDD[tuple[int, int]]], RDD[tuple[int, int]]]
SMALL = rules.shuffle_at_most("10 KiB")


def added_up(pairs: RDD[tuple[int, int]]) -> RDD[tuple[int, int]]:
    return pairs.reduceByKey(lambda a, b: a + b, 2)


def all_sent(pairs: RDD[tuple[int, int]]) -> RDD[tuple[int, int]]:
    """The wrong version: it groups first, and adds up then."""
    return pairs.groupByKey(2).mapValues(sum)


def run(spark: SparkSession, sums: Sums) -> tuple[dict[int, int], Iterable[Mapping[str, Any]]]:
    numbers = [(n % 5, n * 7919 % 100_003) for n in range(20_000)]
    with fs.events(spark) as log:
        result = dict(sums(spark.sparkContext.parallelize(numbers, 4)).collect())
    return result, log


def test_only_sums_are_sent(spark: SparkSession) -> None:
    result, log = run(spark, added_up)
    assert len(result) == 5
    fs.verify(log, [SMALL, rules.PARENTS_BEFORE_CHILDREN, "[] not job_failed"])


def test_records_that_are_all_sent_are_found_out(spark: SparkSession) -> None:
    result, log = run(spark, all_sent)
    assert result == run(spark, added_up)[0]
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(log, SMALL)
    assert "made by groupByKey at" in str(failure.value)
