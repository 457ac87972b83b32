"""How `fs.assert_same` tells the user that two frames differ."""

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import Falsified, Record
from firesteel.evidence.frames import ColumnTypes, Difference, Odd, Undecided
from firesteel.report.frames import told


def test_the_first_differences_stand_side_by_side(spark):
    rows = [(n, f"word {n}", float(n)) for n in range(20)]
    left = spark.createDataFrame([*rows, rows[7], rows[7]], "n INT, w STRING, x DOUBLE")
    right = left.distinct().where("n < 18").selectExpr("n", "w", "if(n % 10 = 4, double('NaN'), x) AS x")
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right)
    assert str(failure.value).splitlines() == [
        "the frames differ: 6 rows only left, 2 only right",
        "",
        "  left                               right",
        "  n=4  w='word 4'  x=4.0             n=4  w='word 4'  x=float('nan')",
        "  n=7  w='word 7'  x=7.0  (2 times)  -",
        "  n=14  w='word 14'  x=14.0          n=14  w='word 14'  x=float('nan')",
        "  n=18  w='word 18'  x=18.0          -",
        "  n=19  w='word 19'  x=19.0          -",
    ]
    assert failure.value.report.verdict is fs.Verdict.FALSE


def test_at_most_ten_lines_and_the_rest_counted(spark):
    with pytest.raises(Falsified) as failure:
        fs.assert_same(spark.range(0, 1000), spark.range(500, 1600))
    lines = str(failure.value).splitlines()
    assert lines[0] == "the frames differ: 500 rows only left, 600 only right"
    assert lines[3:5] == ["  id=0  id=1000", "  id=1  id=1001"]
    assert len(lines) == 3 + 10 + 1 and lines[-1] == "  (and 490 more only left, 590 more only right)"


def test_the_place_is_shown_where_order_matters(spark):
    left = spark.createDataFrame([("a", 1), ("b", 1), ("a", 2), ("b", 2)], "k STRING, n INT").coalesce(1)
    right = spark.createDataFrame([("a", 1), ("a", 2), ("b", 2), ("b", 1)], "k STRING, n INT").coalesce(1)
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right, dependence=fs.ordered())
    assert [line.split() for line in str(failure.value).splitlines()[2:]] == [
        ["row", "left", "right"],
        ["1", "k='b'", "n=1", "k='a'", "n=2"],
        ["2", "k='a'", "n=2", "k='b'", "n=2"],
        ["3", "k='b'", "n=2", "k='b'", "n=1"],
    ]
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right, dependence=fs.same_key("k"))
    assert [line.split() for line in str(failure.value).splitlines()[3:]] == [
        ["0", "k='b'", "n=1", "k='b'", "n=2"],
        ["1", "k='b'", "n=2", "k='b'", "n=1"],
    ]


def test_wide_rows_keep_what_differs(spark):
    wide = spark.range(1).select(*(F.lit(f"value of column {n}").alias(f"column_{n}") for n in range(30)))
    other = wide.withColumn("column_17", F.lit("another"))
    with pytest.raises(Falsified) as failure:
        fs.assert_same(wide, other)
    *_, line = str(failure.value).splitlines()
    assert "column_17='value of column 17'" in line and "column_17='another'" in line and len(line) < 180


def test_each_finding_has_its_text():
    close = fs.equality(abs_tol=0.1)
    assert told(Undecided(1, 2, close, 100_000)) == (
        "1 row only left and 2 only right have no exact equal: that is more than the 100,000 that are compared on the "
        "driver with equality(abs_tol=0.1). Round the columns in Spark first, with F.round, or compare the frames part "
        "by part"
    )
    columns = ColumnTypes("a", "INT", "BIGINT"), ColumnTypes("b", None, "STRING")
    assert told(Difference(schema=columns)).splitlines()[2:] == [
        "  column 'a': INT left, BIGINT right",
        "  column 'b': missing left, STRING right",
    ]
    found = Difference(1, 0, (Odd(Record(x=1.0)),), reason="x=1.0 is left over", exact_first=close)
    assert told(found).split("\n\n") == [
        "the frames differ: 1 row only left, 0 only right",
        "x=1.0 is left over",
        "  left   right\n  x=1.0  -",
        "equality(abs_tol=0.1): rows that are exactly equal were paired first, then those that are close",
    ]
