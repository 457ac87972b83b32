"""`firesteel.strategies.values`: what is generated fits its type, holds the interesting values, and shrinks well."""

import datetime as dt
import math
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T

from firesteel.errors import InvalidArgument
from firesteel.strategies.values import values
from firesteel.values.records import Record
from firesteel.values.schemas import carried, misfit, parse, type_ddl

ATOMS = {  # and what each shrinks to
    "BOOLEAN": False,
    "TINYINT": 0,
    "SMALLINT": 0,
    "INT": 0,
    "BIGINT": 0,
    "FLOAT": 0.0,
    "DOUBLE": 0.0,
    "DECIMAL(1,1)": Decimal("0.0"),
    "DECIMAL(10,2)": Decimal("0.00"),
    "DECIMAL(38,0)": Decimal(0),
    "DECIMAL(38,38)": Decimal(0),
    "STRING": "",
    "STRING COLLATE UTF8_LCASE": "",
    "BINARY": b"",
    "DATE": dt.date(1970, 1, 1),
    "TIMESTAMP": dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    "TIMESTAMP_NTZ": dt.datetime(1970, 1, 1),
    "TIME": dt.time(0),
    "TIME(0)": dt.time(0),
    "TIME(9)": dt.time(0),
    "INTERVAL DAY TO SECOND": dt.timedelta(0),
    "INTERVAL DAY": dt.timedelta(0),
    "INTERVAL HOUR TO MINUTE": dt.timedelta(0),
}
NESTED = {
    "ARRAY<INT>": [],
    "ARRAY<ARRAY<DOUBLE>>": [],
    "MAP<DOUBLE, INT>": {},
    "MAP<BOOLEAN, DATE>": {},
    "MAP<STRING COLLATE UNICODE_CI, INT>": {},
    "MAP<STRUCT<x: FLOAT, y: STRING>, ARRAY<TIMESTAMP>>": {},
    "STRUCT<>": Record(),
    "STRUCT<a: INT, `b c`: STRUCT<d: STRING NOT NULL>>": Record({"a": 0, "b c": Record(d="")}),
    "STRUCT<a: VARIANT, b: VOID, c: GEOMETRY(0)>": None,
}
ODD = ["VOID", "VARIANT", "GEOMETRY(0)", "GEOMETRY(ANY)", "GEOGRAPHY(4326)", "GEOGRAPHY(ANY)"]

quick = settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def kind_of(text):
    return parse(f"c {text}").fields[0].dataType


def found(text, wanted, phases=tuple(Phase)):
    """The smallest value that is wanted; derandomized, so that a value that is rare would be missed every time."""
    search = settings(max_examples=3000, deadline=None, database=None, derandomize=True, phases=phases)
    return find(values(kind_of(text)), wanted, settings=search)


@pytest.mark.parametrize("text", [*ATOMS, *NESTED, *ODD])
@pytest.mark.parametrize("nullable", [True, False])
def test_values_fit_their_type(text, nullable):
    if text == "VOID" and not nullable:
        return
    kind = kind_of(text)
    strategy = values(kind, nullable)

    @quick
    @given(strategy)
    def fits(value):
        assert misfit(value, kind, nullable) is None

    fits()


@pytest.mark.slow
@pytest.mark.parametrize("text", [*ATOMS, *NESTED])
def test_values_shrink_to_the_simple_one(text):
    simplest = (ATOMS | NESTED)[text]
    if simplest is None:
        return
    value = found(text, lambda value: True)
    assert value == simplest
    assert type(value) is type(simplest)


@pytest.mark.parametrize("text", [*ATOMS, *NESTED, *ODD])
def test_nulls_where_nullable(text):
    assert found(text, lambda value: value is None, [Phase.generate]) is None


def equals(value):
    """Equal, of one type, and with the same sign of zero."""
    return lambda other: type(other) is type(value) and repr(other) == repr(value)


INTERESTING = {
    "BOOLEAN": [True],
    "TINYINT": [-128, 127, 1, -1],
    "SMALLINT": [-(2**15), 2**15 - 1],
    "INT": [-(2**31), 2**31 - 1],
    "BIGINT": [-(2**63), 2**63 - 1],
    "FLOAT": [math.nan, math.inf, -math.inf, -0.0, 3.4028234663852886e38, 2.0**-149, 2.0**-126],
    "DOUBLE": [math.nan, math.inf, -math.inf, -0.0, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308],
    "DECIMAL(5,2)": [Decimal("999.99"), Decimal("-999.99"), Decimal("0.01"), Decimal("1.00")],
    "DECIMAL(38,38)": [Decimal("0." + "9" * 38)],
    "STRING": ["", "x" * 10_000, "\0", "😀", "e\u0301", "'\"`\\", "a\nb\r\n\tc", "null"],
    "BINARY": [b"", b"x" * 10_000, bytes(range(256))],
    "DATE": [dt.date.min, dt.date.max, dt.date(1582, 10, 15), dt.date(1582, 10, 4), dt.date(2024, 2, 29)],
    "TIMESTAMP": [
        dt.datetime(1, 1, 4, tzinfo=dt.UTC),
        dt.datetime(9999, 12, 28, 23, 59, 59, 999999, tzinfo=dt.UTC),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=dt.UTC),
    ],
    "TIMESTAMP_NTZ": [dt.datetime(1582, 10, 15), dt.datetime(2021, 11, 7, 9, 30)],
    "TIME": [dt.time.max, dt.time(12), dt.time(0, 0, 0, 1)],
    "TIME(3)": [dt.time(23, 59, 59, 999000)],
    "INTERVAL DAY TO SECOND": [
        dt.timedelta(microseconds=2**63 - 1),
        dt.timedelta(microseconds=-(2**63)),
        dt.timedelta(1),
    ],
    "INTERVAL DAY": [dt.timedelta(106751991), dt.timedelta(-106751991), dt.timedelta(-1)],
    "ARRAY<INT>": [[], [None], [2**31 - 1]],
    "MAP<STRING, INT>": [{}, {"": None}],
}


@pytest.mark.parametrize(("text", "value"), [(text, value) for text, some in INTERESTING.items() for value in some])
def test_interesting_values_are_generated(text, value):
    assert repr(found(text, equals(value), [Phase.generate])) == repr(value)


def test_interesting_variants_and_shapes_are_generated():
    assert found("VARIANT", lambda v: v is not None and v.toPython() == {"a": [1, None, {"b": "é😀"}], "": False})
    assert found("VARIANT", lambda v: v is not None and v.toPython() == 0).toJson() == "0"
    assert found("GEOGRAPHY(4326)", lambda g: g is not None).getSrid() == 4326


def test_plain_values_are_generated_too():
    assert found("STRING", lambda s: s is not None and len(s) == 4 and s != "null") == "0000"
    assert found("DATE", lambda d: d is not None and d.year == 2020) == dt.date(2020, 1, 1)
    assert found("DATE", lambda d: d is not None and 1000 < d.year < 1500).year == 1499
    assert found("TIMESTAMP", lambda t: t is not None and t.microsecond not in (0, 1, 999999)).microsecond > 0
    assert found("DECIMAL(10,2)", lambda d: d is not None and d > 5) == Decimal("5.01")


@pytest.mark.parametrize("text", ["BIGINT", "STRING", "TIMESTAMP", "DOUBLE"])
def test_about_one_in_ten_is_null(text):
    seen = Counter()

    @settings(max_examples=300, deadline=None, database=None, derandomize=True, phases=[Phase.generate])
    @given(st.lists(values(kind_of(text)), min_size=10, max_size=10))
    def count(some):
        seen.update(value is None for value in some)

    count()
    assert 0.05 < seen[True] / seen.total() < 0.2


@quick
@given(values(kind_of("MAP<DOUBLE, INT>"), False), values(kind_of("MAP<STRUCT<x: FLOAT>, INT>"), False))
def test_nan_is_one_key(by_number, by_struct):
    assert sum(key != key for key in by_number) <= 1
    assert sum(key.x is not None and key.x != key.x for key in by_struct) <= 1


@quick
@given(values(kind_of("MAP<STRING COLLATE UNICODE_CI_AI, INT>"), False))
def test_keys_differ_under_every_collation(by_name):
    assert all(key.isascii() and key == key.lower() for key in by_name)


@quick
@given(values(kind_of("DECIMAL(10,2)"), False))
def test_decimals_have_their_scale(number):
    assert number.as_tuple().exponent == -2


def test_nan_keys_are_generated():
    assert found("MAP<DOUBLE, INT>", lambda m: m is not None and any(key != key for key in m))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CHAR(3)", "CHAR(3) cannot be the type of a DataFrame's column, only of a table's: use STRING"),
        ("STRUCT<a: ARRAY<INTERVAL YEAR>>", "cannot be generated: a.element: INTERVAL YEAR cannot be sent"),
        ("MAP<ARRAY<INT>, INT>", "key: ARRAY<INT> cannot be in the key of a map"),
        ("STRUCT<a: INT, a: INT>", "has two columns named 'a': rename one"),
        ("STRUCT<a: VOID NOT NULL>", "VOID holds only nulls: allow them"),
    ],
)
def test_types_that_are_refused(text, message):
    with pytest.raises(InvalidArgument) as error:
        values(kind_of(text))
    assert message in str(error.value)


@pytest.mark.parametrize("kind", [T.LongType, "BIGINT", int])
def test_what_is_not_a_type_is_refused(kind):
    with pytest.raises(InvalidArgument, match=r"is not a Spark type: write one of pyspark\.sql\.types"):
        values(kind)


@quick
@given(st.data())
def test_random_nests_fit(data):
    kinds = st.recursive(
        st.sampled_from([kind_of(text) for text in ATOMS]),
        lambda inner: (
            st.builds(T.ArrayType, inner, st.booleans())
            | st.builds(T.MapType, inner, inner, st.booleans())
            | st.lists(inner, max_size=3).map(
                lambda some: T.StructType([T.StructField(f"c{n}", kind, n % 2 == 0) for n, kind in enumerate(some)])
            )
        ),
        max_leaves=4,
    )
    kind = data.draw(kinds.filter(lambda kind: carried(kind) is None))
    assert misfit(data.draw(values(kind), label=type_ddl(kind)), kind, True) is None
