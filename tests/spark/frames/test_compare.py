"""What Spark says of two frames in which order does not matter, against brute force; and how little it collects."""

from collections import Counter

import pytest

import firesteel as fs
from firesteel import Falsified
from firesteel.equivalence.frames import compare
from firesteel.spark.frames.compare import SHOWN
from firesteel.values import schemas
from tests.spark.frames.brute_force import Pairs, by_hand, canon

GROUPS = [
    ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(38,18)", "DECIMAL(5,0)", "STRING"],
    ["BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "INTERVAL DAY TO SECOND", "TIME", "STRING COLLATE UTF8_LCASE",
     "VARIANT", "GEOMETRY(4326)", "GEOGRAPHY(4326)", "VOID"],
    ["ARRAY<DOUBLE>", "ARRAY<STRUCT<t: TIMESTAMP, s: STRING NOT NULL>>", "MAP<STRING, ARRAY<DOUBLE>>",
     "MAP<DOUBLE, STRUCT<x: FLOAT, d: DECIMAL(10,2)>>", "STRUCT<a: INT, b: STRUCT<c: BINARY, d: DATE>>",
     "ARRAY<MAP<INT, VARIANT>>", "STRUCT<>", "MAP<STRUCT<a: INT, b: STRING>, MAP<STRING, DOUBLE>>"],
]  # fmt: skip


def check(found, only_left, only_right):
    """What was found is what brute force says: how many rows, and which."""
    if not only_left and not only_right:
        assert found is None, found
        return
    assert (found.only_left, found.only_right) == (only_left.total(), only_right.total())
    for odd, only in ((found.left, only_left), (found.right, only_right)):
        assert len(odd) == min(SHOWN, len(only))
        assert all(only[("list", *map(canon, row.record))] == row.times for row in odd), (odd, only)


def compared_with_brute_force(pairs, count):
    answers = Counter()
    for _ in range(count):
        left, right = pairs.draw()
        frames = pairs.frames(left, right)
        only = by_hand(left, right)
        found = compare(*frames, fs.unordered(), None)
        if any("VARIANT" in ddl or "GEO" in ddl for ddl in map(schemas.type_ddl, [f.dataType for f in pairs.schema])):
            assert (found is None) == (not any(only)), (left, right, found)  # their text is shown, not the value
        else:
            check(found, *only)
        answers[found is None] += 1
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("types", range(len(GROUPS)))
def test_types_beside_each_other_against_brute_force(spark, types):
    answers = compared_with_brute_force(Pairs(spark, GROUPS[types], seed=types + 206, pool=12), 6)
    assert answers[False] >= 2 and answers[True], answers


@pytest.mark.slow
@pytest.mark.parametrize("ddl", [ddl for group in GROUPS for ddl in group if ddl not in ("VOID", "STRUCT<>")])
def test_each_type_alone_against_brute_force(spark, ddl):
    answers = compared_with_brute_force(Pairs(spark, [ddl], seed=1, pool=5), 5)
    assert answers[False] and answers[True], answers


def test_nothing_stays_behind(spark):
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    with pytest.raises(Falsified):
        fs.assert_same(spark.range(3), spark.range(4))
    fs.assert_same(spark.range(3), spark.range(3))
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


@pytest.mark.slow
def test_only_the_first_differences_come_to_the_driver(spark, monkeypatch):
    left = spark.range(200_000).selectExpr("id", "CAST(id AS STRING) AS text")
    right = left.where("id % 2 = 0").union(left.where("id % 2 = 1").selectExpr("id + 1000000 AS id", "text"))
    came = []

    def counting(name):
        original = getattr(type(left), name)

        def wrapper(frame, *args, **options):
            rows = list(original(frame, *args, **options))
            came.append(len(rows))
            return rows

        monkeypatch.setattr(type(left), name, wrapper)

    for name in ("collect", "toLocalIterator", "toPandas", "take", "head"):
        counting(name)
    fs.assert_same(left, left.repartition(7))
    equal_rows = sum(came)
    with pytest.raises(fs.Falsified, match=r"100,?000 rows only left"):
        fs.assert_same(left, right)
    assert 0 < equal_rows <= 10 and sum(came) <= 100, came
