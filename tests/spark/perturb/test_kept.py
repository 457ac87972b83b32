"""Programs for a source that keeps an order: right ones that nothing breaks which the source allows, and wrong ones."""

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import perturb
from firesteel.values.cases import Case
from tests.spark.perturb.programs import APPEND, BATCH, everything, plain, under

KEY = fs.same_key("k")
ROWS = [(0, 4), (1, 7), (0, 2), (1, 1), (0, 9), (2, 3), (1, 5), (2, 8), (0, 6), (2, 0)]
ONE = Case(fs.Stream("k INT NOT NULL, n INT NOT NULL", [ROWS]))
SHARED = Case(
    fs.Stream("k INT NOT NULL, day INT NOT NULL, n INT NOT NULL", [[(0, 1, 4), (1, 1, 7)], [(1, 2, 1), (0, 2, 9)]])
)


def last_of_every_key(frame):
    """Right for a source that keeps the order of every key, and for no weaker one."""
    return frame.groupBy("k").agg(F.last("n").alias("n"))


def last_of_all(frame):
    """Wrong: takes the last row of all, which belongs to any key."""
    return frame.agg(F.last("n").alias("n"))


def first_of_every_key(frame):
    return frame.dropDuplicates(["k"])


def first_of_every_day(frame):
    """Wrong: the first row of a day belongs to any key."""
    return frame.dropDuplicates(["day"])


def breaks(spark, subject, case, how, *perturbations):
    """Which of the perturbations change what comes out, by any of their variants."""
    expected = everything(plain(spark, case, subject, how))
    assert expected
    return [
        any(everything(under(spark, case, subject, how, v)) != expected for v in each.variants(case.length))
        for each in perturbations
    ]


def test_rows(spark):
    loose, kept = perturb.row_order(), perturb.row_order(keeping=KEY)
    assert breaks(spark, last_of_every_key, ONE, BATCH, loose, kept) == [True, False]
    assert breaks(spark, last_of_all, ONE, BATCH, kept) == [True]


def test_shuffles(spark):
    """A key is read from one partition, so the first shuffle keeps its order; one by another column does not."""
    cut = perturb.partitions(3)
    loose, kept = cut & perturb.shuffle_order(), cut & perturb.shuffle_order(keeping=KEY)
    assert breaks(spark, last_of_every_key, ONE, BATCH, loose, kept) == [True, False]
    assert breaks(spark, last_of_all, ONE, BATCH, kept) == [True]
    spread = lambda frame: last_of_every_key(frame.repartition(4, "n"))  # noqa: E731
    assert breaks(spark, spread, ONE, BATCH, kept) == [True], "Spark promises no order after that, to any source"


@pytest.mark.slow
def test_batches(spark):
    """Keys that are read at different speeds: a record comes after one of another key that was sent later."""
    loose, kept = perturb.batch_boundaries(), perturb.batch_boundaries(keeping=KEY)
    assert breaks(spark, first_of_every_day, SHARED, APPEND, loose, kept) == [False, True]
    assert breaks(spark, first_of_every_key, SHARED, APPEND, kept) == [False]
