"""Taxis: the positions of each have to stay in order. DiffStream's first case study, as it can go wrong in Spark.

The job keeps two columns and sends the rows of each taxi to one partition, where they are worked on in order. Which of
the two comes first seems not to matter, and to Spark it does not: it makes one plan of both. The mistake that loses the
order in Spark is to spread rows over tasks before they are brought together by key, "to use all cores": then the rows
of a taxi come from several map tasks, and these arrive in any order. On one machine Spark always reads them in the
order of the tasks, so no example test shows it; `perturb.shuffle_order()` does.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from pyspark import RDD
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import perturb
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

ride = ss.records("taxi INT NOT NULL, pos INT NOT NULL, meta STRING", taxi=st.integers(0, 3), pos=st.integers(0, 99))
rides = ss.always(ss.batches(ride, max_size=8), during=3)
SHUFFLED = [perturb.shuffle_order()]
PER_TAXI = fs.same_key("taxi")


def key_then_project(rides: DataFrame) -> DataFrame:
    return rides.repartition(4, "taxi").select("taxi", (F.col("pos") * 10).alias("metres"))


def project_then_key(rides: DataFrame) -> DataFrame:
    return rides.select("taxi", (F.col("pos") * 10).alias("metres")).repartition(4, "taxi")


def spread_then_key(rides: DataFrame) -> DataFrame:
    return rides.repartition(4).select("taxi", (F.col("pos") * 10).alias("metres")).repartition(4, "taxi")


def test_to_spark_both_orders_are_one() -> None:
    fs.equivalent(rides, key_then_project, project_then_key, dependence=PER_TAXI, under=SHUFFLED, cases=30)


def test_rows_that_are_spread_first_lose_their_order() -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.equivalent(rides, key_then_project, spread_then_key, dependence=PER_TAXI, under=SHUFFLED, cases=50)
    found = failure.value.report.counterexample
    assert found is not None and "on which it depends: same_key('taxi')" in found.reason
    assert len({record.taxi for batch in found.inputs["input"] for record in batch if len(batch) > 1}) == 1
    twice = [len(set(batch.values("taxi"))) < len(batch) for batch in found.inputs["input"]]
    assert len(found.trace) == twice.index(True) + 1, "false in the first batch with two rides of a taxi"
    # The rows are all there: who does not care for order has no bug.
    fs.equivalent(rides, key_then_project, spread_then_key, under=SHUFFLED, cases=30)


def test_the_same_with_rdds() -> None:
    """As in the paper: pairs, and a partitioner. PySpark moves pairs by tens, so there have to be some."""
    pair = st.tuples(st.integers(0, 3), st.integers(0, 99))
    pairs = ss.partitioned(ss.batches(pair, min_size=25, max_size=32), max_partitions=1)

    def keyed(rides: RDD[Any]) -> RDD[Any]:
        return rides.partitionBy(4)

    def spread(rides: RDD[Any]) -> RDD[Any]:
        return rides.repartition(4).partitionBy(4)

    same_taxi = fs.depends(lambda a, b: a[0] == b[0])
    options: Any = {"dependence": same_taxi, "under": SHUFFLED, "engine": "batch", "cases": 8}
    fs.stable(pairs, keyed, **options)
    with pytest.raises(fs.Falsified):
        fs.equivalent(pairs, keyed, spread, **options, settings=settings(phases=[Phase.generate]))
