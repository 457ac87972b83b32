"""Replay lines: a case as text, and back."""

import base64
import json
import math
import pickle
import zlib
from datetime import UTC, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import ClassVar
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql import types as T

from firesteel import Batch, Case, InvalidArgument, Record, Stream, surroundings
from firesteel.runs import replay
from firesteel.runs.replay import decoded, encoded, kept
from firesteel.strategies.values import values
from firesteel.values import lines
from firesteel.values.as_json import of_json, to_json
from firesteel.values.schemas import carried

LEAVES = [
    T.BooleanType(), T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType(), T.FloatType(), T.DoubleType(),
    T.DecimalType(38, 18), T.DecimalType(5, 0), T.StringType(), T.StringType("UNICODE_CI"), T.BinaryType(),
    T.DateType(), T.TimestampType(), T.TimestampNTZType(), T.TimeType(), T.TimeType(0), T.DayTimeIntervalType(),
    T.DayTimeIntervalType(0, 1), T.VariantType(), T.GeometryType(4326), T.GeographyType(4326), T.NullType(),
]  # fmt: skip
KINDS = st.recursive(
    st.sampled_from(LEAVES[:-1]),  # VOID does not fit where nulls are not allowed
    lambda inner: (
        st.builds(T.ArrayType, inner, st.booleans())
        | st.builds(T.MapType, inner, inner, st.booleans())
        | st.lists(st.builds(T.StructField, st.sampled_from("abc"), inner), max_size=3, unique_by=lambda f: f.name).map(
            T.StructType
        )
    ),
    max_leaves=4,
)  # fmt: skip


def exact(value):
    """What tells a value from every other one: its type, the sign of zero, digits of decimals, order in maps."""
    match value:
        case float():
            return "float", "nan" if math.isnan(value) else (value, math.copysign(1, value))
        case Decimal():
            return "decimal", value.as_tuple()
        case datetime() | time():
            return type(value), value.replace(tzinfo=None), str(value.tzinfo), value.fold
        case Record():
            return "record", [(name, exact(item)) for name, item in value.__dict__.items()]
        case Row():
            return "row", getattr(value, "__fields__", None), [exact(item) for item in tuple(value)]
        case list() | tuple():
            return type(value), [exact(item) for item in value]
        case dict():
            return "map", [(exact(key), exact(item)) for key, item in value.items()]
        case set() | frozenset():
            return type(value), sorted(map(repr, map(exact, value)))
        case T.VariantVal() | T.Geometry() | T.Geography():
            return type(value), vars(value)
        case _:
            return type(value), value


def same_case(left, right):
    def whole(case):
        return [
            (name, stream.schema, stream.span, [(b.schema, b.partitions, exact(list(b.records))) for b in stream])
            for name, stream in case.inputs.items()
        ], exact(case.drawn)

    return whole(left) == whole(right)


@settings(max_examples=50)
@given(st.data())
def test_every_value_of_every_type_comes_back_exactly(data):
    kind = data.draw(KINDS.filter(lambda kind: carried(kind) is None))
    schema = T.StructType([T.StructField("a", kind), T.StructField("b c", T.LongType(), False)])
    row = st.tuples(values(kind), st.integers(0, 9))
    stream = Stream(schema, data.draw(st.lists(st.lists(row, max_size=3), max_size=3)))
    case = Case({"x": stream, "y": Stream("n INT", [])}, least=data.draw(st.integers()))
    assert same_case(decoded(encoded(case)), case)


@pytest.mark.parametrize("kind", LEAVES, ids=lambda kind: kind.simpleString())
def test_every_special_value_of_a_type_comes_back(kind):
    @settings(max_examples=40)
    @given(values(kind))
    def comes_back(value):
        assert exact(of_json(json.loads(json.dumps(to_json(value), allow_nan=False)))) == exact(value)

    comes_back()


PLAIN = [
    (1, "a", (2.5, None)), [1, [(2,)]], {"a": {(1, 2): b"\xff"}}, {3, "x"}, frozenset({1.5}), bytearray(b"x"), 2j,
    Row(a=1, b=(2,)), Row(1, 2), Record({"a b": 1}), 10**5_000, -(10**5_000), -0.0, math.nan, -math.inf, "\ud800",
    Decimal("NaN"), Decimal("-0E+3"), True, 1, 1.0, 1e300, timedelta(-1, 5, 7), {math.nan: 1, None: 2},
    datetime(2030, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1), datetime(2030, 1, 1, fold=1),
    datetime(2030, 1, 1, 9, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    time(9, 30, tzinfo=UTC), time(1, fold=1), Record(at=datetime(1, 1, 1), inner=Record(x=[(1,)])),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: type(value).__name__)
def test_elements_of_dstreams_and_drawn_values_come_back(value):
    case = Case(Stream(None, [[value, 1], []]))
    assert same_case(decoded(encoded(case)), case)
    again = of_json(json.loads(json.dumps(to_json(value), allow_nan=False)))
    assert exact(again) == exact(value)


def test_partitions_spans_and_schemas_of_batches_come_back():
    span = (datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC))
    array = T.StructType([T.StructField("a", T.ArrayType(T.LongType(), False), metadata={"type": "udt?"})])
    for stream in (
        Stream("n INT", [Batch([(1,), (2,)], partitions=(0, 2)), [(3,)]], span=span),
        Stream(None, [Batch([(1,)], schema="n INT"), ["x"]]),
        Stream(array, [[([1, 2],)]]),
    ):
        assert same_case(decoded(encoded(Case(stream))), Case(stream))


def test_a_short_line_is_readable_and_a_long_one_is_short():
    line = encoded(Case(Stream("n INT", [[(1,)]])))
    assert line == 'fs1:{"input":{"schema":"n INT","batches":[[[1]]]}}'
    many = encoded(Case(Stream("n INT", [[(1,)] * 10_000])))
    assert len(many) < 200 and decoded(many)["input"][0].values("n") == [1] * 10_000


class Odd:
    """A class of the user's."""


def test_a_value_that_is_not_data_is_named():
    for case in (Case(Stream(None, [[Odd()]])), Case(Stream(None, [[(1, [Odd()])]]))):
        with pytest.raises(InvalidArgument, match=r"has no replay line: value=<.*Odd object.*\(Odd\) cannot be writ"):
            encoded(case)
        again = replay.reproduction(case, 1)
        assert (again.line, again.file) == ("", None) and "cannot be written as JSON" in again.why_no_line


@pytest.mark.parametrize(
    "line, message",
    [
        ("eNprYJmqyQABGj2inEmZJQB2Nge3", "printed by an earlier version of firesteel.*run the test again"),
        ("fs7:{}", "printed by another version of firesteel.*run the test again"),
        ("nonsense", "is not a replay line: copy it whole"),
        ("fs1:{}", "is not a replay line: copy it whole"),
        ("fs1:" + base64.urlsafe_b64encode(zlib.compress(b"{}")).decode()[:-6], "is not a replay line"),
        ('fs1:{"input":{"schema":"n INT","batches":[[["x"]]]}}', "is not a replay line"),
        ('fs1:{"input":{"schema":null,"batches":[[{"eval":"1"}]]}}', "is not a replay line"),
        ("fs1:" + "[" * 100_000, "is not a replay line"),
        (7, r"replay=7 \(int\) is not a replay line"),
        (".firesteel/replay-none.txt", "is a file that does not exist: run the failing test again"),
    ],
)
def test_refused(line, message):
    with pytest.raises(InvalidArgument, match=message):
        decoded(line)


class Evil(T.UserDefinedType):
    made: ClassVar[list[str]] = []

    def __init__(self):
        Evil.made.append("made")

    def __reduce__(self):
        return (Evil, ())

    @classmethod
    def sqlType(cls):
        return T.LongType()


def test_nothing_of_a_line_is_called(monkeypatch):
    """Neither pickles, nor classes that a schema names."""
    pickled = base64.urlsafe_b64encode(zlib.compress(pickle.dumps(Evil()))).decode()
    udt = {"type": "udt", "pyClass": f"{__name__}.Evil", "sqlType": "long", "serializedClass": ""}
    schema = {"type": "struct", "fields": [{"name": "a", "type": udt, "nullable": True, "metadata": {}}]}
    Evil.made.clear()
    for line in (pickled, "fs1:" + pickled, "fs1:" + json.dumps({"input": {"schema": schema, "batches": []}})):
        with pytest.raises(InvalidArgument):
            decoded(line)
    assert Evil.made == []


def test_a_small_line_that_stands_for_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 10_000)
    large = b'{"input":{"schema":"n INT","batches":[]}' + b" " * 10_000_000 + b"}"
    bomb = "fs1:" + base64.urlsafe_b64encode(zlib.compress(large)).decode()
    with pytest.raises(InvalidArgument, match="is not a replay line"):
        decoded(bomb)
    with pytest.raises(InvalidArgument, match="too large, with 4"):
        encoded(Case(Stream("n INT", [[(1,)] * 10_000])))


def test_a_long_line_goes_to_a_file_named_by_what_it_holds(tmp_path):
    case = Case(Stream("s STRING", [[(f"{n * 7919}",)] for n in range(300)]))
    line = encoded(case)
    with surroundings.rooted_at(tmp_path):
        file = kept(line)
        assert file == kept(line) and file.parts[0] == ".firesteel" and len(list(tmp_path.rglob("replay-*"))) == 1
        assert same_case(decoded(str(file)), case) and same_case(decoded(tmp_path / file), case)
        assert kept(encoded(Case(Stream("n INT", [[(1,)]])))) is None
        (tmp_path / ".firesteel" / file.name).unlink()
        (tmp_path / ".firesteel").rmdir()
        (tmp_path / ".firesteel").write_text("in the way")
        assert kept(line) is None
