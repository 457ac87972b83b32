"""Frames whose order matters: the place of every row, against brute force."""

from collections import Counter

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import Falsified
from firesteel.equivalence.frames import compare
from tests.spark.frames.brute_force import Pairs, canon, rewritten


@pytest.mark.parametrize("dependence", [fs.ordered(), fs.same_key("c0")])
@pytest.mark.parametrize("count", [4, pytest.param(12, marks=pytest.mark.slow)])
def test_order_against_brute_force(spark, dependence, count):
    pairs = Pairs(spark, ["DOUBLE", "STRING"], seed=2, pool=3)
    answers = Counter()
    for _ in range(count):
        left = [pairs.row() for _ in range(pairs.random.randint(0, 6))]
        right = [[rewritten(value) for value in row] for row in left]
        if pairs.random.random() < 0.6 and len(left) > 1:
            at = pairs.random.randrange(len(left) - 1)
            right[at : at + 2] = reversed(right[at : at + 2])
        keyed = dependence == fs.same_key("c0")
        expected = _sequences(left, keyed) == _sequences(right, keyed)
        # One after another: the order of a frame is that of its partitions.
        parts = [spark.createDataFrame(part, pairs.schema) for part in (right[:3], right[3:])]
        found = compare(pairs.frame(left).coalesce(1), parts[0].coalesce(1).union(parts[1]), dependence, None)
        assert (found is None) == expected, (left, right, found)
        answers[expected] += 1
    assert answers[True] and answers[False], answers


def _sequences(rows, keyed):
    found = {}
    for row in rows:
        found.setdefault(canon(row[0]) if keyed else None, []).append(canon(row))
    return found


@pytest.mark.slow
def test_a_frame_that_is_sorted_is_compared_in_that_order(spark):
    numbers = spark.range(50, numPartitions=3).withColumn("key", F.col("id") % 3)
    falling = numbers.orderBy(F.desc("id"))
    fs.assert_same(falling, numbers.repartition(4).orderBy(F.desc("id")), dependence=fs.ordered())
    fs.assert_same(falling, falling.orderBy("key", F.desc("id")), dependence=fs.same_key("key"))
    for dependence in (fs.ordered(), fs.same_key("key")):
        with pytest.raises(Falsified):
            fs.assert_same(falling, numbers.orderBy("id"), dependence=dependence)


def test_other_dependences_ask_a_matcher(spark):
    rows = [("a", 1, False), ("b", 1, False), ("-", 0, True), ("a", 2, False)]
    left = spark.createDataFrame(rows, "k STRING, n INT, ends BOOLEAN").coalesce(1)
    swapped = spark.createDataFrame([rows[1], rows[0], *rows[2:]], left.schema).coalesce(1)
    days = fs.barrier(lambda r: r.ends)
    fs.assert_same(left, swapped, dependence=days)
    late = spark.createDataFrame([rows[0], rows[2], rows[1], rows[3]], left.schema).coalesce(1)
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, late, dependence=days | fs.same_key("k"))
    assert "came before an equal of" in str(failure.value) and "k='b'" in str(failure.value)
    with pytest.raises(Falsified, match="is left over"):
        fs.assert_same(left, swapped.where("n < 2"), dependence=days)
