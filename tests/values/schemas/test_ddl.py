"""Schemas read from DDL and written as DDL. No JVM is started."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as T

from firesteel.errors import InvalidArgument
from firesteel.values.schemas import parse, to_ddl, type_ddl

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
