"""Frames whose columns differ."""

import pytest

import firesteel as fs
from firesteel import Falsified


def test_schemas_that_differ_are_named(spark):
    left = spark.sql("SELECT 1 AS a, decimal(1.50) AS d, 'x' AS Name, struct(1 AS x) AS s, 1 AS same")
    right = spark.sql("SELECT 1L AS a, decimal(1.50) AS d, 'x' AS name, struct('y' AS x) AS s, 1 AS same")
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right)
    assert str(failure.value).splitlines() == [
        "the schemas differ",
        "",
        "  column 'a': INT left, BIGINT right",
        "  column 'Name': STRING left, missing right",
        "  column 's': STRUCT<x: INT NOT NULL> left, STRUCT<x: STRING NOT NULL> right",
        "  column 'name': missing left, STRING right",
    ]
    scales = [spark.sql(f"SELECT CAST(1.5 AS DECIMAL(10,{scale})) AS d") for scale in (2, 3)]
    with pytest.raises(Falsified, match=r"column 'd': DECIMAL\(10,2\) left, DECIMAL\(10,3\) right"):
        fs.assert_same(*scales)
    with pytest.raises(Falsified, match="column 's': STRING left, STRING COLLATE UTF8_LCASE right"):
        fs.assert_same(spark.sql("SELECT 'a' AS s"), spark.sql("SELECT 'a' COLLATE UTF8_LCASE AS s"))
    with pytest.raises(Falsified, match="column 'a_2': INT left, missing right"):
        fs.assert_same(spark.sql("SELECT 1 AS a, 1 AS a"), spark.sql("SELECT 1 AS a"))
