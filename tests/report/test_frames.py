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


def differing(left, right):
    """The lines below the title for rows that are only left and only right."""
    lefts, rights = ([Odd(row) for row in (rows if isinstance(rows, list) else [rows])] for rows in (left, right))
    return told(Difference(len(lefts), len(rights), tuple(lefts), tuple(rights))).splitlines()[2:]


def test_a_wide_column_does_not_hide_the_id():
    def row(last, **more):
        return Record(nested=[Record(a=n, b=f"value {n}") for n in (*range(20), last)], id=7, **more)

    for more in ({}, {"z": "q" * 100}):
        _, line = differing(row(1, **more), row(2, **more))
        assert line.count("id=7") == 2 and "b='value 1')]" in line and "b='value 2')]" in line and len(line) < 180
    _, line = differing(row(1), [])
    assert line.startswith("  nested=[Record(a=0, b='va") and line.endswith("...  id=7  -")
    many = [Record({f"c{n}": f"{side} {n}" for n in range(40)}, id=7) for side in ("left", "right")]
    _, line = differing(*many)
    assert line.count("id=7") == 2 and "c0='left 0'" in line and len(line) < 300


def test_texts_that_differ_late_are_shown_where_they_differ():
    long = "word " * 100
    _, line, _, spot = differing(Record(n=1, t=long + "left"), Record(n=1, t=long + "right"))
    assert "n=1  t=...word word word left'" in line and "word right'" in line and len(line) < 140
    assert spot == "  n=1, t: equal for 500 characters, then 'l' left, 'r' right"
    nested = [Record(n=1, s=Record(m={"k": [long + end]})) for end in ("", "x")]
    assert differing(*nested)[-1] == "  n=1, s.m['k'][0]: equal for 500 characters, then the end left, 'x' right"


def test_texts_that_look_the_same_are_told_apart():
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    spot = differing(Record(n=1, w=composed), Record(n=1, w=decomposed))[-1]
    told_apart = "then '\u00e9' (U+00E9) left, 'e\u0301' (U+0065 U+0301) right"
    assert spot == f"  n=1, w: equal for 3 characters, {told_apart}"
    spot = differing(Record(w="\u0410BC"), Record(w="ABC"))[-1]
    assert spot == "  w: equal for 0 characters, then '\u0410' (U+0410) left, 'A' right"
    # Short texts that do not look alike need no more words.
    assert len(differing(Record(w="Z\u00fcrich"), Record(w="Bern"))) == 2
    assert len(differing(Record(n=1, w="left"), Record(n=1, w="lost"))) == 2
    assert len(differing(Record(w="\u00e9t\u00e9"), Record(w="ao\u00fbt"))) == 2


def test_of_many_texts_the_first_are_told_apart():
    left, right = ([Record(n=n, w=f"{n}{accent}") for n in range(8)] for accent in ("\u00e9", "e\u0301"))
    lines = differing(left, right)
    assert sum("equal for" in line for line in lines) == 5 and lines[-1] == "  (and 3 more)"


def test_with_a_tolerance_the_row_without_an_equal_is_named(spark):
    left, right = (spark.createDataFrame([(x,) for x in rows], "x DOUBLE") for rows in ([1.0], [0.95, 1.0]))
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right, equal=fs.equality(abs_tol=0.1))
    assert str(failure.value).splitlines()[-1].split() == ["-", "x=0.95"]
