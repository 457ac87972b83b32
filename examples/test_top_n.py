"""The five pages that are clicked most, from a log: what Spark runs for it, as operations, jobs and stages.

It is the case study of the paper on S2M, a tool that reads the graph from a picture of Spark's user interface. Here the
running program is seen itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import firesteel as fs

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession


def top_n(spark: SparkSession, path: Path) -> list[tuple[str, int]]:
    lines = spark.sparkContext.textFile(str(path), 5)
    urls = lines.filter(lambda x: len(x.split(" ")) > 10).map(lambda x: (x.split(" ")[10], 1))
    return urls.reduceByKey(lambda a, b: a + b).sortBy(lambda p: p[1], ascending=False).take(5)


def sorted_twice(spark: SparkSession, path: Path) -> list[tuple[str, int]]:
    """Somebody sorts before the sums as well. The result is the same, and costs a shuffle more."""
    lines = spark.sparkContext.textFile(str(path), 5)
    urls = lines.filter(lambda x: len(x.split(" ")) > 10).map(lambda x: (x.split(" ")[10], 1))
    by_name: RDD[tuple[str, int]] = urls.sortByKey()
    return by_name.reduceByKey(lambda a, b: a + b).sortBy(lambda p: p[1], ascending=False).take(5)


def clicks(folder: Path) -> Path:
    path = folder / "clicks.txt"
    path.write_text("".join(f"0 1 2 3 4 5 6 7 8 9 url{number % 7}\n" for number in range(50)))
    return path


@pytest.mark.slow
def test_two_shuffles(spark: SparkSession, tmp_path: Path) -> None:
    with fs.capture(spark) as dag:
        top_n(spark, clicks(tmp_path))
    assert [one.name for one in dag.operations if one.wide] == ["reduceByKey", "sortBy"]
    assert dag.differences == ()
    dag.draw(tmp_path / "dag.svg")


@pytest.mark.slow
def test_one_shuffle_too_many(spark: SparkSession, tmp_path: Path) -> None:
    with fs.capture(spark) as dag:
        sorted_twice(spark, clicks(tmp_path))
    assert [one.name for one in dag.operations if one.wide] == ["sortByKey", "reduceByKey", "sortBy"]
