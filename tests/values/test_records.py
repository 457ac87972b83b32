"""Record: columns before methods, equality with tuples, dicts and Rows, hashing, NaN, reprs that evaluate."""

import copy
import datetime
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel import Record
from firesteel.values.records import freeze, same, shown

NAN = float("nan")


def test_a_column_wins_over_every_method():
    record = Record(count=1, index=2, keys=3, values=4, __len__=5)
    assert (record.count, record.index, record.keys, record.values) == (1, 2, 3, 4)
    assert len(record) == 5


def test_equality():
    record = Record(user=15, honest=False)
    assert record == (15, False) and record == (15, False)
    assert record == {"honest": False, "user": 15}
    assert record == Record(user=15, honest=False)
    assert record != Record(a=15, b=False)
    assert record != Record(honest=False, user=15), "another order of columns is another row"
    assert record != (15,) and record != (15, True) and record != {"user": 15}
    assert record != 15 and record != "x"


def test_equality_with_sparks_row():
    from pyspark.sql import Row

    assert Record(a=1, b=2) == Row(a=1, b=2)
    assert Record(a=1, b=2) != Row(x=1, y=2)
    assert Record(a=1, b=Record(c=2)) == Row(a=1, b=Row(c=2))


def test_nan_equals_nan_also_inside():
    assert Record(x=NAN) == Record(x=float("nan"))
    assert Record(x=[NAN, {"k": NAN}]) == ([float("nan"), {"k": float("nan")}],)
    assert hash(Record(x=NAN)) == hash(Record(x=float("nan")))
    assert Record(x=NAN) != Record(x=1.0) and Record(x=1.0) != Record(x=float("inf"))


def test_hash_agrees_with_a_tuple():
    assert hash(Record(a=1, b="x")) == hash((1, "x"))
    assert {Record(user=15), Record(user=15)} == {(15,)}
    assert len({Record(a=[1], b={"k": 1}), Record(a=[1], b={"k": 1})}) == 1


def test_a_record_cannot_be_changed():
    record = Record(a=1)
    with pytest.raises(AttributeError, match="cannot be changed"):
        record.a = 2
    with pytest.raises(AttributeError, match="cannot be changed"):
        del record.a
    assert record.a == 1


def test_a_missing_column_is_named_with_those_there_are():
    with pytest.raises(AttributeError, match="no column 'usr'; the record has 'user'"):
        _ = Record(user=1).usr
    with pytest.raises(KeyError, match="no column 'usr'"):
        _ = Record(user=1)["usr"]
    with pytest.raises(TypeError, match="columns by name"):
        Record(1, 2)


def test_by_position_and_iteration():
    record = Record(a=1, b=2)
    assert record[0] == 1 and list(record) == [1, 2] and 2 in record


def test_copies_and_pickles():
    record = Record(a=1, b=[Record(c=2)])
    assert copy.copy(record) == copy.deepcopy(record) == pickle.loads(pickle.dumps(record)) == record


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals(allow_nan=False)
    | st.datetimes() | st.datetimes(timezones=st.just(datetime.UTC)) | st.dates(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    | st.dictionaries(st.text(min_size=1), inner, max_size=3).map(Record),
    max_leaves=6,
)  # fmt: skip
NAMES = {"Record": Record, "Decimal": Decimal, "datetime": datetime}


@given(values)
def test_same_is_reflexive_and_freeze_follows_it(value):
    other = pickle.loads(pickle.dumps(value))
    assert same(value, other)
    assert freeze(value) == freeze(other) and hash(freeze(value)) == hash(freeze(other))


@given(values, values)
def test_what_is_the_same_freezes_alike(left, right):
    if same(left, right) and {type(left), type(right)} != {dict, Record}:
        assert freeze(left) == freeze(right)


@given(values)
def test_what_is_shown_evaluates(value):
    assert same(eval(shown(value), NAMES), value)


@given(st.dictionaries(st.text(), values))
def test_the_repr_of_a_record_evaluates(columns):
    record = Record(columns)
    assert eval(repr(record), NAMES) == record
