"""Which values fit which type, and why others do not."""

import datetime as dt
from decimal import Decimal

import pytest
from pyspark.sql import types as T

from firesteel.values.records import Record
from firesteel.values.schemas import checker, misfit, parse
from tests.values.schemas.test_ddl import only

UTC = dt.UTC
NAN = float("nan")
VARIANT = T.VariantVal.parseJson('{"a": 1}')
FITTING = [
    ("BOOLEAN", [True, False]),
    ("TINYINT", [-128, 127]),
    ("SMALLINT", [-(2**15), 2**15 - 1]),
    ("INT", [-(2**31), 2**31 - 1]),
    ("BIGINT", [-(2**63), 2**63 - 1]),
    ("FLOAT", [0.5, -0.0, NAN, float("inf"), float("-inf"), 3.4028234663852886e38, 2.0**-149]),
    ("DOUBLE", [0.1, 5e-324, NAN]),
    ("DECIMAL(3,1)", [Decimal("99.9"), Decimal(-1), Decimal("1.50"), Decimal("0E+9"), Decimal("0E-9"), Decimal("1E1")]),
    ("DECIMAL(38,0)", [Decimal(10**38 - 1)]),
    ("STRING", ["", "é\0😀"]),
    ("STRING COLLATE UNICODE", ["a"]),
    ("VARCHAR(2)", ["ab"]),
    ("BINARY", [b"", bytearray(b"a")]),
    ("DATE", [dt.date(1, 1, 1)]),
    ("TIMESTAMP", [dt.datetime(2000, 1, 1), dt.datetime(2000, 1, 1, tzinfo=UTC)]),
    ("TIMESTAMP_NTZ", [dt.datetime.max]),
    ("TIME(3)", [dt.time(1, 2, 3, 4000)]),
    ("TIME(9)", [dt.time.max]),
    ("INTERVAL DAY TO SECOND", [dt.timedelta(microseconds=-(2**63)), dt.timedelta(microseconds=1)]),
    ("INTERVAL HOUR", [dt.timedelta(days=3)]),
    ("VARIANT", [VARIANT]),
    ("GEOMETRY(0)", [T.Geometry(b"", 0)]),
    ("GEOGRAPHY(ANY)", [T.Geography(b"", 4326)]),
    ("ARRAY<INT>", [[], [1, None], (1,)]),
    ("MAP<DOUBLE, INT>", [{}, {NAN: 1, 0.0: None}]),
    ("STRUCT<>", [{}, (), Record()]),
    ("STRUCT<a: INT, b: STRING>", [(1, "x"), [None, None], {"b": "x", "a": 1}, Record(a=1, b=None), T.Row(a=1, b="")]),
]


@pytest.mark.parametrize(("text", "values"), FITTING)
def test_what_fits(text, values):
    kind = only(f"c {text}").dataType
    for value in values:
        assert misfit(value, kind, False) is None
        assert checker(parse(f"n INT, c {text}"))((1, value)) is None
        assert misfit([value], T.ArrayType(kind), True) is None
    assert misfit(None, kind, True) is None
    assert misfit(None, kind, False) == "null, but the column is NOT NULL"


MISFITS = [
    ("BOOLEAN", 1, "expected BOOLEAN, got 1 (int): write True"),
    ("BIGINT", "x", "expected BIGINT, got 'x' (str)"),
    ("BIGINT", True, "expected BIGINT, got True (bool): write 1"),
    ("BIGINT", 1.0, "expected BIGINT, got 1.0 (float)"),
    ("TINYINT", 300, "300 is out of range for TINYINT (-128 to 127)"),
    ("BIGINT", 2**63, f"{2**63} is out of range for BIGINT ({-(2**63)} to {2**63 - 1})"),
    ("DOUBLE", 1, "expected DOUBLE, got 1 (int): write 1.0"),
    (
        "FLOAT",
        0.1,
        "0.1 is not exactly a FLOAT: the nearest is 0.10000000149011612; write that, or make the column DOUBLE",
    ),
    ("FLOAT", 1e300, "1e+300 is out of range for FLOAT"),
    ("DECIMAL(3,1)", Decimal("1.23456"), "1.23456 has more digits than DECIMAL(3,1)"),
    ("DECIMAL(3,1)", Decimal("100"), "100 has more digits than DECIMAL(3,1)"),
    ("DECIMAL(3,1)", Decimal("NaN"), "NaN is not a number that DECIMAL(3,1) can hold"),
    ("DECIMAL(3,1)", 1, "expected DECIMAL(3,1), got 1 (int): write Decimal('1')"),
    ("STRING", 3, "expected STRING, got 3 (int)"),
    ("STRING", "é\ud800", "'é\\ud800' (str) holds half of a surrogate pair, which UTF-8 cannot carry"),
    ("CHAR(2)", "abc", "'abc' (str) has 3 characters, more than CHAR(2)"),
    ("BINARY", "x" * 100, f"expected BINARY, got '{'x' * 56}... (str)"),
    (
        "DATE",
        dt.datetime(2000, 1, 1),
        "expected DATE, got datetime.datetime(2000, 1, 1, 0, 0) (datetime): write its .date()",
    ),
    ("TIMESTAMP", dt.date(2000, 1, 2), "got datetime.date(2000, 1, 2) (date): write datetime(2000, 1, 2)"),
    (
        "TIMESTAMP",
        dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-1))),
        "outside the years 1 to 9999 in UTC",
    ),
    (
        "TIMESTAMP_NTZ",
        dt.datetime(2000, 1, 1, tzinfo=UTC),
        "has a time zone, and TIMESTAMP_NTZ has none: write it with",
    ),
    ("TIME", dt.time(1, tzinfo=UTC), "01:00:00+00:00 has a time zone, and TIME has none"),
    ("TIME(3)", dt.time(1, 2, 3, 4), "01:02:03.000004 has more digits than TIME(3)"),
    ("INTERVAL DAY TO SECOND", dt.timedelta.max, "is out of range for INTERVAL DAY TO SECOND"),
    ("INTERVAL DAY", dt.timedelta(hours=1), "1:00:00 is finer than INTERVAL DAY"),
    ("VOID", 1, "expected null, got 1 (int)"),
    ("INTERVAL YEAR", 1, "expected null, got 1 (int)"),
    ("VARIANT", 1, "expected VARIANT, got 1 (int): write VariantVal.parseJson('1')"),
    ("GEOMETRY(0)", b"", "expected GEOMETRY(0), got b'' (bytes): write Geometry.fromWKB(wkb, 0)"),
    ("GEOMETRY(0)", T.Geometry(b"", 4326), "the SRID 4326 is not that of GEOMETRY(0)"),
    ("ARRAY<INT>", "ab", "expected ARRAY<INT>, got 'ab' (str)"),
    ("ARRAY<INT>", [1, 2, "x"], "[2]: expected INT, got 'x' (str)"),
    ("MAP<INT, INT>", {None: 1}, "[key None]: null, but the key of a map never is"),
    ("MAP<TINYINT, INT>", {300: 1}, "[key 300]: 300 is out of range for TINYINT"),
    ("MAP<STRING, INT>", {"a": "x"}, "['a']: expected INT, got 'x' (str)"),
    ("MAP<STRING, INT>", [], "expected MAP<STRING, INT>, got [] (list)"),
    ("MAP<DOUBLE, INT>", {NAN: 1, -NAN: 2}, "has two keys that are one key for Spark"),
    (
        "MAP<TIMESTAMP, INT>",
        {dt.datetime(2000, 1, 1): 1, dt.datetime(2000, 1, 1, tzinfo=UTC): 2},
        "has two keys that are one key for Spark",
    ),
    ("STRUCT<a: INT, b: INT>", (1,), "1 value for 2 columns (a, b)"),
    ("STRUCT<a: INT>", {"b": 1}, "a: missing (there are b): write None for null"),
    ("STRUCT<a: INT>", Record(a=1, c=2), "c: no such column (there are a)"),
    ("STRUCT<a: INT>", 5, "expected STRUCT<a: INT>, got 5 (int)"),
    ("STRUCT<a: STRUCT<zip: INT NOT NULL>>", ((None,),), "a.zip: null, but the column is NOT NULL"),
    (
        "STRUCT<a: ARRAY<MAP<STRING, STRUCT<b: INT>>>>",
        {"a": [{"k": {"b": ""}}]},
        "a[0]['k'].b: expected INT, got '' (str)",
    ),
]


@pytest.mark.parametrize(("text", "value", "message"), MISFITS)
def test_what_does_not_fit(text, value, message):
    said = misfit(value, only(f"c {text}").dataType, True)
    assert message in said
    in_row = checker(parse(f"n INT, c {text}"))((1, value))
    assert in_row.startswith("c")
    assert in_row.endswith(said)


def test_nulls_inside():
    assert misfit([None], T.ArrayType(T.LongType(), False), True) == "[0]: null, but this array holds no nulls"
    assert (
        misfit({1: None}, T.MapType(T.LongType(), T.LongType(), False), True)
        == "[1]: null, but this map holds no nulls"
    )


def test_a_row_of_the_wrong_length():
    check = checker(parse("a INT, b INT"))
    assert check((1, 2, 3)) == "3 values for 2 columns (a, b)"
    assert check(()) == "0 values for 2 columns (a, b)"


def test_long_types_are_cut_in_messages():
    kind = T.StructType([T.StructField("c" * 99, T.LongType())])
    assert misfit(1, kind, True) == f"expected STRUCT<{'c' * 50}..., got 1 (int)"
