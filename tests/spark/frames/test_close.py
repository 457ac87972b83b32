"""Frames compared with an equality: tolerances, ignored columns, and functions of the user."""

import math
import random
from collections import Counter
from decimal import Decimal

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import Falsified
from firesteel.equivalence.frames import compare
from firesteel.spark.engines.source import to_frame
from firesteel.spark.frames import close
from firesteel.values import schemas

NAN, INF = math.nan, math.inf


def _any_pairing(left, right, equal):
    """Can all rows be paired? By trying everything."""
    if not left:
        return not right
    return any(
        equal.equal(left[0], other) and _any_pairing(left[1:], right[:at] + right[at + 1 :], equal)
        for at, other in enumerate(right)
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 15])
def test_tolerances_against_brute_force(spark, count):
    choose = random.Random(4)
    equal, answers = fs.equality(abs_tol=0.15), Counter()
    values = [1.0, 1.1, 1.2, 1.3, -0.0, 0.1, NAN, INF, None]
    for _ in range(count):
        left = [
            fs.Record(k=choose.choice("ab"), x=choose.choice(values), m={"q": [choose.choice(values[:3])]})
            for _ in range(choose.randint(1, 4))
        ]
        right = [fs.Record(k=r.k, x=_nudged(r.x, choose), m={"q": [_nudged(r.m["q"][0], choose)]}) for r in left]
        choose.shuffle(right)
        if choose.random() < 0.3:
            right[0] = fs.Record(k=right[0].k, x=choose.choice(values), m=right[0].m)
        schema = schemas.parse("k STRING, x DOUBLE, m MAP<STRING, ARRAY<DOUBLE>>")
        found = compare(to_frame(spark, left, schema), to_frame(spark, right, schema), fs.unordered(), equal)
        expected = _any_pairing(left, right, equal)
        assert (found is None) == expected, (left, right, found)
        answers[expected] += 1
    assert answers[True] and answers[False], answers


def _nudged(value, choose):
    return value if value is None else value + choose.choice([0.0, 0.1, -0.1, 0.1, 0.2])


def test_ignored_columns_may_be_anything(spark):
    left = spark.sql("SELECT 1 AS n, current_timestamp() AS at")
    fs.assert_same(left, spark.sql("SELECT 'yesterday' AS at, 1 AS n"), equal=fs.equality(ignore=["at"]))
    fs.assert_same(left, spark.sql("SELECT 1 AS n"), equal=fs.equality(ignore=["at", "never"]))
    with pytest.raises(Falsified, match="1 row only left, 1 only right"):
        fs.assert_same(left, spark.sql("SELECT 2 AS n"), equal=fs.equality(ignore=["at"]))
    fs.assert_same(left, left.union(left).limit(1), equal=fs.equality(ignore=["at", "n"]))


@pytest.mark.slow
def test_a_function_decides(spark):
    left = spark.createDataFrame([("a",), ("B",), ("c",)], "w STRING")
    lower = fs.equality(by=lambda r: r.w.lower())
    fs.assert_same(left, left.selectExpr("upper(w) AS w"), equal=lower)
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, spark.createDataFrame([("A",), ("b",), ("b",)], "w STRING"), equal=lower)
    assert str(failure.value).splitlines()[-1].split() == ["w='c'", "w='b'"]
    with pytest.raises(fs.PredicateError, match="raised"):
        fs.assert_same(left, left.limit(2), equal=fs.equality(by=lambda r: r.nothing))


@pytest.mark.slow
def test_tolerances_by_place(spark):
    left = spark.createDataFrame([("a", 1.0), ("a", 2.0), ("b", 1.0)], "k STRING, x DOUBLE").coalesce(1)
    near = left.selectExpr("k", "x + 0.01 AS x")
    for dependence in (fs.ordered(), fs.same_key("k")):
        fs.assert_same(left, near, dependence=dependence, equal=fs.equality(abs_tol=0.1))
        with pytest.raises(Falsified, match="2 rows only left, 2 only right"):
            fs.assert_same(left, near.orderBy(F.desc("x"), "k"), dependence=dependence, equal=fs.equality(abs_tol=0.1))
    with pytest.raises(Falsified, match="3 rows only left, 3 only right"):
        fs.assert_same(left, near, dependence=fs.ordered(), equal=fs.equality(abs_tol=0.001))


def test_an_exact_equal_may_be_needed_by_another(spark):
    left, right = (spark.createDataFrame([(x,) for x in xs], "x DOUBLE") for xs in ([1.0, 0.92], [1.0, 1.08]))
    fs.assert_same(left, right, equal=fs.equality(abs_tol=0.1))


@pytest.mark.slow
def test_many_close_rows_are_compared_by_spark(spark, monkeypatch):
    monkeypatch.setattr(close, "ON_DRIVER", 3)
    left = spark.range(2000).selectExpr("id", "id / 7 AS x", "named_struct('y', array(float(id))) AS s")
    near = left.selectExpr("id", "x * (1 + 1e-12) AS x", "s").orderBy(F.desc("id"))
    near_enough = fs.equality(rel_tol=1e-9)
    fs.assert_same(left, near, equal=near_enough)
    fs.assert_same(left, near.orderBy("id"), equal=near_enough, dependence=fs.ordered())
    with pytest.raises(Falsified, match="1 row only left, 1 only right"):
        fs.assert_same(left, near.selectExpr("id", "if(id = 77, double('Infinity'), x) AS x", "s"), equal=near_enough)
    with pytest.raises(fs.Inconclusive, match="2000 rows only left and 2000 only right"):
        fs.assert_same(left, near.selectExpr("id", "x + 1 AS x", "s"), equal=near_enough)


def test_values_that_are_not_floats_are_never_close(spark):
    texts = ["SELECT 1 AS n, 1.00 AS d, date'2024-01-01' AS t", "SELECT 1 AS n, 1.01 AS d, date'2024-01-01' AS t"]
    with pytest.raises(Falsified, match=str(Decimal("1.01"))):
        fs.assert_same(*map(spark.sql, texts), equal=fs.equality(abs_tol=1))
