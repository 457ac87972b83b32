"""`firesteel.values.schemas`: the DDL parser, the writer, type hints, and what fits which type. No JVM is started."""

import dataclasses
import datetime as dt
import typing
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as T

from firesteel.errors import InvalidArgument
from firesteel.values.records import Record
from firesteel.values.schemas import carried, checker, misfit, parse, to_ddl, type_ddl

UTC = dt.UTC
INTERVALS = {
    "INTERVAL YEAR": T.YearMonthIntervalType(0, 0),
    "INTERVAL MONTH": T.YearMonthIntervalType(1, 1),
    "INTERVAL YEAR TO MONTH": T.YearMonthIntervalType(0, 1),
    "INTERVAL DAY": T.DayTimeIntervalType(0, 0),
    "INTERVAL HOUR": T.DayTimeIntervalType(1, 1),
    "INTERVAL MINUTE": T.DayTimeIntervalType(2, 2),
    "INTERVAL SECOND": T.DayTimeIntervalType(3, 3),
    "INTERVAL DAY TO HOUR": T.DayTimeIntervalType(0, 1),
    "INTERVAL DAY TO MINUTE": T.DayTimeIntervalType(0, 2),
    "INTERVAL DAY TO SECOND": T.DayTimeIntervalType(0, 3),
    "INTERVAL HOUR TO MINUTE": T.DayTimeIntervalType(1, 2),
    "INTERVAL HOUR TO SECOND": T.DayTimeIntervalType(1, 3),
    "INTERVAL MINUTE TO SECOND": T.DayTimeIntervalType(2, 3),
}
CANONICAL = {
    "BOOLEAN": T.BooleanType(),
    "TINYINT": T.ByteType(),
    "SMALLINT": T.ShortType(),
    "INT": T.IntegerType(),
    "BIGINT": T.LongType(),
    "FLOAT": T.FloatType(),
    "DOUBLE": T.DoubleType(),
    "DECIMAL(10,0)": T.DecimalType(10, 0),
    "DECIMAL(38,38)": T.DecimalType(38, 38),
    "DATE": T.DateType(),
    "TIMESTAMP": T.TimestampType(),
    "TIMESTAMP_NTZ": T.TimestampNTZType(),
    "TIME": T.TimeType(6),
    "TIME(0)": T.TimeType(0),
    "TIME(9)": T.TimeType(9),
    "STRING": T.StringType(),
    "STRING COLLATE UNICODE_CI": T.StringType("UNICODE_CI"),
    "CHAR(3)": T.CharType(3),
    "VARCHAR(2147483647)": T.VarcharType(2**31 - 1),
    "BINARY": T.BinaryType(),
    "VOID": T.NullType(),
    "VARIANT": T.VariantType(),
    "INTERVAL": T.CalendarIntervalType(),
    **INTERVALS,
    "GEOMETRY(0)": T.GeometryType(0),
    "GEOMETRY(ANY)": T.GeometryType("ANY"),
    "GEOGRAPHY(4326)": T.GeographyType(4326),
    "ARRAY<INT>": T.ArrayType(T.IntegerType()),
    "MAP<STRING, ARRAY<ARRAY<INT>>>": T.MapType(T.StringType(), T.ArrayType(T.ArrayType(T.IntegerType()))),
    "STRUCT<>": T.StructType([]),
    "STRUCT<a: STRUCT<>, `b c`: DATE NOT NULL>": T.StructType(
        [T.StructField("a", T.StructType([])), T.StructField("b c", T.DateType(), False)]
    ),
}
SYNONYMS = {
    "BYTE": T.ByteType(),
    "SHORT": T.ShortType(),
    "INTEGER": T.IntegerType(),
    "LONG": T.LongType(),
    "REAL": T.FloatType(),
    "DECIMAL": T.DecimalType(10, 0),
    "DEC": T.DecimalType(10, 0),
    "DEC(5)": T.DecimalType(5, 0),
    "NUMERIC ( 05 , 2 )": T.DecimalType(5, 2),
    "TIMESTAMP_LTZ": T.TimestampType(),
    "TIMESTAMP(6)": T.TimestampType(),
    "TIMESTAMP WITH LOCAL TIME ZONE": T.TimestampType(),
    "TIMESTAMP WITHOUT TIME ZONE": T.TimestampNTZType(),
    "TIMESTAMP_NTZ(6)": T.TimestampNTZType(),
    "TIME(3) WITHOUT TIME ZONE": T.TimeType(3),
    "CHARACTER(3)": T.CharType(3),
    "VARCHAR(3) COLLATE UNICODE": T.VarcharType(3),
    "STRING COLLATE UTF8_BINARY": T.StringType(),
    "STRING COLLATE utf8_lcase_rtrim": T.StringType("UTF8_LCASE_RTRIM"),
    "STRING COLLATE `unicode`": T.StringType("UNICODE"),
    "STRING COLLATE UNICODE_CS_AS": T.StringType("UNICODE"),
    "STRING COLLATE DE_rtrim_ai_ci": T.StringType("de_CI_AI_RTRIM"),
    "STRING COLLATE SR_CYRL_srb": T.StringType("sr_Cyrl_SRB"),
    "GEOGRAPHY(any)": T.GeographyType("ANY"),
    "ARRAY <INT>": T.ArrayType(T.IntegerType()),
    "STRUCT<a INT>": T.StructType([T.StructField("a", T.IntegerType())]),
}


def only(text):
    (field,) = parse(text).fields
    return field


@pytest.mark.parametrize("text", [*CANONICAL, *SYNONYMS])
@pytest.mark.parametrize("case", [str, str.lower, str.upper])
def test_every_type_is_read(text, case):
    kind = (CANONICAL | SYNONYMS)[text]
    if isinstance(kind, T.StructType) and case is not str:
        return  # the names of fields keep their case
    assert only(f"c {case(text)}") == T.StructField("c", kind)
    assert only(f"c:{case(text)} NOT NULL") == T.StructField("c", kind, False)
    assert only(f"c ARRAY<{case(text)}>").dataType == T.ArrayType(kind)


@pytest.mark.parametrize("text", CANONICAL)
def test_every_type_is_written(text):
    assert type_ddl(CANONICAL[text]) == text


def test_every_type_of_pyspark_is_covered():
    atoms = {kind for kind in vars(T).values() if isinstance(kind, type) and issubclass(kind, T.DataType)}
    abstract = {"DataType", "AtomicType", "NumericType", "IntegralType", "FractionalType", "DatetimeType"}
    abstract |= {"AnyTimeType", "AnsiIntervalType", "SpatialType", "UserDefinedType", "StructField"}
    assert {kind.__name__ for kind in atoms} - abstract == {type(kind).__name__ for kind in CANONICAL.values()}


def test_none_and_a_struct_pass():
    schema = T.StructType([T.StructField("a", T.LongType())])
    assert parse(None) is None
    assert parse(schema) is schema


@pytest.mark.parametrize(
    ("text", "name"),
    [("`a b` INT", "a b"), ("`a``b` INT", "a`b"), ("`` INT", ""), ("`é`: INT", "é"), ("1a INT", "1a"), ("_ INT", "_")]
    + [
        (f"{word} INT", word)
        for word in ("select", "not", "null", "comment", "interval", "array", "struct", "int", "COLLATE")
    ],
)
def test_names(text, name):
    assert only(text) == T.StructField(name, T.IntegerType())


@pytest.mark.parametrize(
    ("literal", "comment"),
    [
        ("'x'", "x"),
        ('"x"', "x"),
        ("''", ""),
        ("'it''s'", "it's"),
        ("'it\\'s'", "it's"),
        ('"a""b"', 'a"b'),
        ("'a' 'b' \"c\"", "abc"),
        (r"r'\n'", r"\n"),
        (r"'\n\t\0\Z\%\_\q\\'", "\n\t\0\x1a\\%\\_q\\"),
        (r"'\u0041\U0001F600\101\u12\377'", "A😀Au12377"),
        ("'a\nb'", "a\nb"),
    ],
)
def test_comments(literal, comment):
    assert only(f"a INT NOT NULL COMMENT {literal}") == T.StructField("a", T.IntegerType(), False, {"comment": comment})
    assert parse(to_ddl(parse(f"a INT COMMENT {literal}"))) == parse(f"a INT COMMENT {literal}")


@pytest.mark.parametrize(
    "text", ["a INT, b DATE", "a INT--x\n,b DATE", "a/* /* */ */INT,b DATE", " a:INT\n,\tb: DATE "]
)
def test_blanks_and_remarks(text):
    assert to_ddl(parse(text)) == "a INT, b DATE"


@pytest.mark.parametrize("text", ["STRUCT<a: INT>", " struct<a INT> ", "a INT"])
def test_a_whole_struct(text):
    assert to_ddl(parse(text)) == "a INT"


@pytest.mark.parametrize("text", ["", "  ", "struct<>"])
def test_no_columns(text):
    assert parse(text) == T.StructType([])


ERRORS = [
    ("a BIGNIT", "expected a type at line 1, column 3, found 'BIGNIT'; did you mean BIGINT?\n  a BIGNIT\n    ^"),
    ("a TEXT", "did you mean STRING?"),
    ("a BOOL", "did you mean BOOLEAN?"),
    ("a zzz", "found 'zzz'\n"),
    ("a", "expected a type at line 1, column 2, found the end"),
    ("INT", "if INT is the type, write 'value INT'"),
    ("ARRAY<INT>", "expected a type at line 1, column 6, found '<'"),
    ("a INT,", "expected a column name at line 1, column 7, found the end"),
    ("a INT,\n b ITN", "at line 2, column 4, found 'ITN'; did you mean INT?\n   b ITN\n     ^"),
    ("a INT b INT", "expected a comma or the end at line 1, column 7, found 'b'"),
    ("a INT NULL", "expected a comma or the end"),
    ("a INT NOT", "expected NULL after NOT"),
    ("a INT COMMENT x", "expected a text in quotes after COMMENT"),
    ("a INT COMMENT 'x' NOT NULL", "expected a comma or the end"),
    ("a INT COMMENT 'x", "expected a closing ' for the one at line 1, column 15"),
    ("`a INT", "expected a closing ` for the one at line 1, column 1"),
    ("a-b INT", "expected no '-' (names with it go in backquotes)"),
    ("é INT", "expected no 'é' (names with it go in backquotes)"),
    ("1 INT", "expected a column name at line 1, column 1, found '1'; other names than"),
    ("1e5 INT", "expected a column name"),
    ("1L INT", "expected a column name"),
    ("a `INT`", "expected a type"),
    ("a INT /* x", "expected */, the end of the comment that starts at line 1, column 7"),
    ("a DECIMAL(39)", "expected the precision, a whole number up to 38 at line 1, column 11, found '39'"),
    ("a DECIMAL(5,6)", "expected the scale, a whole number up to 5"),
    ("a DECIMAL(5", "expected ) after precision and scale"),
    ("a DECIMAL()", "expected the precision"),
    ("a INT(5)", "expected a comma or the end"),
    ("a CHAR", "expected ( and the length"),
    ("a CHAR(2147483648)", "expected the length"),
    ("a STRING COLLATE nonsense", "expected a collation such as UTF8_LCASE, UNICODE_CI or de_CI_AI"),
    ("a STRING COLLATE UNICODE_CI_CS", "expected a collation"),
    ("a STRING COLLATE UTF8_BINARY_CI", "expected a collation"),
    ("a TIME(10)", "expected the digits of a second, a whole number up to 9"),
    ("a TIME WITHOUT ZONE", "expected TIME ZONE after WITHOUT"),
    (
        "a TIMESTAMP(9)",
        "expected 6, the only precision of a timestamp that PySpark knows at line 1, column 13, found '9'",
    ),
    ("a TIMESTAMP WITH TIME ZONE", "expected LOCAL TIME ZONE after WITH"),
    ("a TIMESTAMP_NTZ WITHOUT TIME ZONE", "expected a comma or the end"),
    ("a INTERVAL DAY TO YEAR", "expected a field finer than DAY after TO (HOUR, MINUTE, SECOND)"),
    ("a INTERVAL SECOND TO DAY", "(there is none)"),
    ("a INTERVAL DAYS", "expected a comma or the end"),
    ("a ARRAY", "expected < and the type of the elements"),
    ("a ARRAY<>", "expected a type at line 1, column 9, found '>'"),
    ("a ARRAY<INT NOT NULL>", "expected > after the type of the elements"),
    ("a MAP<INT>", "expected , and the type of the values"),
    ("a MAP<INT,INT", "expected > after the type of the values"),
    ("a STRUCT", "expected < and the fields"),
    ("a STRUCT<b: INT", "expected > or a comma after the field"),
    ("a ARRAY<INT>>", "expected a comma or the end"),
    ("a GEOMETRY", "expected ( and the SRID, or ANY"),
    ("a GEOGRAPHY(0)", "expected an SRID that Spark knows for GEOGRAPHY, such as 4326, or ANY"),
    ("a GEOMETRY(0", "expected ) after the SRID"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_mistakes_are_explained(text, message):
    with pytest.raises(InvalidArgument) as error:
        parse(text)
    assert message in str(error.value)
    assert str(error.value).startswith(f"schema={text!r} (str) is not DDL: ")


def test_a_long_line_shows_what_is_around_the_mistake():
    with pytest.raises(InvalidArgument) as error:
        parse(", ".join(f"c{n} INT" for n in range(100)) + ", x ITN, " + ", ".join(f"d{n} INT" for n in range(100)))
    _, line, caret = str(error.value).split("\n")
    assert len(line) <= 110
    assert line[caret.index("^") :].startswith("ITN")


@pytest.mark.parametrize("schema", [3, T.LongType(), ["a INT"]])
def test_other_schemas_are_refused(schema):
    with pytest.raises(InvalidArgument, match="is not a schema: write DDL text such as"):
        parse(schema)


NAMES = st.text(max_size=5) | st.sampled_from(["a", "b", "select", "x`y", "1", "a b"])


def structs(kinds, bare=False):
    metadata = st.none() if bare else st.none() | st.text(max_size=8).map(lambda text: {"comment": text})
    return st.lists(st.builds(T.StructField, NAMES, kinds, st.booleans(), metadata), max_size=4).map(T.StructType)


TYPES = st.recursive(
    st.sampled_from([kind for kind in CANONICAL.values() if not isinstance(kind, T.StructType)])
    | st.integers(0, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: T.DecimalType(p, s))),
    lambda kinds: kinds.map(T.ArrayType) | st.builds(T.MapType, kinds, kinds) | structs(kinds),
    max_leaves=8,
)


@given(structs(TYPES))
def test_what_is_written_is_read_back(schema):
    assert parse(to_ddl(schema)) == schema
    assert parse(f"STRUCT<{to_ddl(schema)}>") == schema


def test_what_ddl_cannot_say_is_left_out():
    schema = T.StructType(
        [
            T.StructField("a", T.ArrayType(T.LongType(), False), metadata={"x": 1}),
            T.StructField("m", T.MapType(T.LongType(), T.LongType(), False)),
        ]
    )
    assert to_ddl(schema) == "a ARRAY<BIGINT>, m MAP<BIGINT, BIGINT>"


class Unknown(T.UserDefinedType):
    pass


def test_a_type_without_a_name_is_refused():
    with pytest.raises(InvalidArgument, match="has no name in DDL: use the type that it is stored as"):
        type_ddl(Unknown())


@dataclasses.dataclass
class Address:
    zip: str
    since: dt.date | None
    kind: typing.ClassVar[str] = "home"
    _: dataclasses.KW_ONLY
    floor: typing.Optional[int] = None  # noqa: UP045


class Everything(typing.NamedTuple):
    a: bool
    b: int
    c: float
    d: str
    e: bytes
    f: dt.date
    g: dt.datetime
    h: dt.time
    i: dt.timedelta
    j: Decimal
    k: list[int | None]
    l: dict[str, list[str]]  # noqa: E741
    m: Address
    n: Address | None


class Order(typing.TypedDict):
    id: int
    note: typing.NotRequired[str | None]


class Plain:
    x: "list[Order]"


class Itself:
    next: "Itself | None"


class Empty:
    pass


def test_type_hints():
    schema = parse(Everything)
    assert to_ddl(schema) == (
        "a BOOLEAN NOT NULL, b BIGINT NOT NULL, c DOUBLE NOT NULL, d STRING NOT NULL, e BINARY NOT NULL, "
        "f DATE NOT NULL, g TIMESTAMP NOT NULL, h TIME NOT NULL, i INTERVAL DAY TO SECOND NOT NULL, "
        "j DECIMAL(38,18) NOT NULL, k ARRAY<BIGINT> NOT NULL, l MAP<STRING, ARRAY<STRING>> NOT NULL, "
        "m STRUCT<zip: STRING NOT NULL, since: DATE, floor: BIGINT> NOT NULL, "
        "n STRUCT<zip: STRING NOT NULL, since: DATE, floor: BIGINT>"
    )
    assert schema["k"].dataType.containsNull
    assert not schema["l"].dataType.valueContainsNull
    assert to_ddl(parse(Order)) == "id BIGINT NOT NULL, note STRING"
    assert to_ddl(parse(Plain)) == "x ARRAY<STRUCT<id: BIGINT NOT NULL, note: STRING>> NOT NULL"


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Empty, "has no type hints"),
        (int, "has no type hints"),
        (Itself, "Itself.next: Itself holds itself"),
        (
            type("A", (), {"__annotations__": {"x": int | str}}),
            "A.x: no Spark type for the hint int | str: use Decimal",
        ),
        (type("A", (), {"__annotations__": {"x": list}}), "A.x: no Spark type for the hint"),
        (type("A", (), {"__annotations__": {"x": list[object]}}), "A.x[]: no Spark type for the hint"),
        (type("A", (), {"__annotations__": {"x": dict[str | None, int]}}), "A.x: the keys of a map are never null"),
        (type("A", (), {"__annotations__": {"x": "Nowhere"}}), "A: a type hint cannot be read (name 'Nowhere'"),
    ],
)
def test_hints_without_a_type(cls, message):
    with pytest.raises(InvalidArgument) as error:
        parse(cls)
    assert message in str(error.value)


def test_a_pyspark_without_time(monkeypatch):
    monkeypatch.delattr(T, "TimeType")
    with pytest.raises(InvalidArgument, match=r"Everything\.h: this PySpark has no TimeType"):
        parse(Everything)


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
    ("FLOAT", 0.1, "0.1 is no FLOAT: the nearest is 0.10000000149011612; write that, or make the column DOUBLE"),
    ("FLOAT", 1e300, "1e+300 is out of range for FLOAT"),
    ("DECIMAL(3,1)", Decimal("1.23456"), "1.23456 has more digits than DECIMAL(3,1)"),
    ("DECIMAL(3,1)", Decimal("100"), "100 has more digits than DECIMAL(3,1)"),
    ("DECIMAL(3,1)", Decimal("NaN"), "NaN is no number that DECIMAL(3,1) can hold"),
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


REFUSED = [
    ("INTERVAL YEAR", "use INT, the number of months"),
    ("INTERVAL", "INTERVAL cannot be sent to Spark from Python, nor collected: use INTERVAL DAY TO SECOND"),
    ("CHAR(3)", "CHAR(3) cannot be the type of a DataFrame's column, only of a table's: use STRING"),
    ("VARCHAR(3)", "use STRING"),
    ("DECIMAL(0,0)", "use a precision of 1 to 38"),
    ("MAP<ARRAY<INT>, INT>", "key: ARRAY<INT> cannot be in the key of a map"),
    ("MAP<STRUCT<a: MAP<INT, INT>>, INT>", "key.a: MAP<INT, INT> cannot be in the key of a map"),
    ("MAP<VARIANT, INT>", "key: VARIANT cannot be"),
    ("MAP<GEOMETRY(0), INT>", "key: GEOMETRY(0) cannot be"),
    ("MAP<VOID, INT>", "key: VOID cannot be"),
    ("STRUCT<a: ARRAY<MAP<INT, INTERVAL MONTH>>>", "a.element.value: INTERVAL MONTH cannot be"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_types_that_cannot_be_carried(text, message):
    assert message in carried(only(f"c {text}").dataType)


def test_foreign_types_cannot_be_carried():
    assert "is none of Spark SQL's own types" in carried(Unknown())


@pytest.mark.parametrize("text", [text for text, _ in FITTING if not text.startswith("VARCHAR")])
def test_types_that_can_be_carried(text):
    assert carried(parse(f"c {text}")) is None
