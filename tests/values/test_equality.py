"""When two records are equal: against values written by hand, and keys against comparing, on random values."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.errors import InvalidArgument, PredicateError
from firesteel.values.equality import EXACT, equality
from firesteel.values.records import Record, canonical, freeze, same

NAN, INF = float("nan"), float("inf")


class Row(tuple):
    """As PySpark's: a tuple that may know its names."""

    __fields__ = ("a", "b")


@pytest.mark.parametrize(
    "left, right",
    [
        (NAN, float("nan")),
        (None, None),
        (INF, INF),
        (0.0, -0.0),
        (1, 1.0),
        (Decimal("1.0"), Decimal("1.00")),
        (Decimal("NaN"), Decimal("NaN")),
        ([1, [NAN]], [1, [NAN]]),
        ([1, 2], (1, 2)),
        ({"a": NAN}, {"a": float("nan")}),
        ({1: "x", NAN: "y"}, {float("nan"): "y", 1: "x"}),
        (Record(a=1, b=[Record(c=NAN)]), Record(a=1, b=[Record(c=NAN)])),
        (Record(a=1, b=2), Record(b=2, a=1)),
        (Record(a=1, b=2), {"b": 2, "a": 1}),
        (Record(a=1, b=2), Row((1, 2))),
        ({1, 2}, {2, 1}),
        (bytearray(b"x"), b"x"),
        (np.float64("nan"), NAN),
        (np.array([1, 2]), [1, 2]),
        (Record(a=np.array([1.0, NAN])), Record(a=np.array([1.0, NAN]))),
        (datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)),
        (Record(), {}),
    ],
)
def test_equal_values(left, right):
    for equal in (EXACT, equality(rel_tol=1e-9), equality(abs_tol=1e-9), equality(ignore=["zzz"])):
        assert equal.equal(left, right) and equal.equal(right, left)
    assert EXACT.key(left) == EXACT.key(right) and hash(EXACT.key(left)) == hash(EXACT.key(right))


@pytest.mark.parametrize(
    "left, right",
    [
        (NAN, None),
        (NAN, 0.0),
        (INF, -INF),
        (INF, 1.7e308),
        (None, 0),
        ("1", 1),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ({"a": 1}, {"a": 1, "b": None}),
        ({1: 2}, {2: 1}),
        (Record(a=1), Record(b=1)),
        (Record(a=1), (1,)),
        (Record(a=1), [("a", 1)]),
        ({1, 2}, [1, 2]),
        (date(2030, 1, 1), datetime(2030, 1, 1)),
        (1, 2),
        (10**400, 10**400 + 1),
        (10**400, 1.5),
    ],
)
def test_different_values(left, right):
    for equal in (EXACT, equality(rel_tol=1e-9), equality(abs_tol=1e-9), equality(ignore=["zzz"])):
        assert not equal.equal(left, right) and not equal.equal(right, left)
    assert EXACT.key(left) != EXACT.key(right)


def test_tolerances():
    close = equality(rel_tol=0.01)
    assert close.equal(100.0, 100.9) and not close.equal(100.0, 102.0) and close.equal(100, 100.9)
    assert not close.equal(100, 101), "whole numbers are compared exactly"
    assert not close.equal(Decimal("100"), Decimal("100.5")), "and so are decimals"
    assert close.equal({"a": [Record(x=100.0, y=NAN)]}, {"a": [Record(x=100.5, y=NAN)]})
    assert close.equal({1: 100.0}, {1: 100.5}) and not close.equal({1: 100.0}, {2: 100.5})
    assert equality(abs_tol=0.5).equal([1.0, (2.0,)], [1.4, (1.6,)])
    assert not equality(abs_tol=0.5).equal([1.0], [1.4, 1.4])
    assert close.equal(np.float64(100.0), 100.5) and close.equal(np.array([100.0]), np.array([100.5]))
    assert not close.equal(True, 1.001) and not close.equal("a", 1.0)
    assert not equality(abs_tol=1e300).equal(INF, 1.0)


def test_ignored_columns():
    ignoring = equality(ignore=["at"])
    assert ignoring.equal(Record(n=1, at=1), Record(n=1, at=2)) and ignoring.equal({"n": 1}, Record(at=5, n=1))
    assert not ignoring.equal(Record(n=1, at=1), Record(n=2, at=1))
    assert not ignoring.equal(Record(n=[Record(at=1)]), Record(n=[Record(at=2)])), "columns of the record itself only"
    assert equality(ignore=["b"]).equal(Row((1, 2)), Row((1, 3)))
    assert ignoring.key(Record(n=1, at=1)) == ignoring.key(Record(n=1, at=2)) != ignoring.key(Record(n=2, at=1))


def test_by():
    words = equality(by=lambda text: sorted(text.split()))
    assert words.equal("a b", "b a") and words.key("a b") == words.key("b a") and not words.equal("a", "b")
    assert equality(by=lambda r: r.x).equal(Record(x=NAN, y=1), Record(x=NAN, y=2))
    with pytest.raises(PredicateError, match=r"equality\(by=r.x\) raised AttributeError.* at Record\(y=1\)"):
        equality(by=lambda r: r.x).key(Record(y=1))


VALUES = st.recursive(
    st.none()
    | st.integers(-2, 2)
    | st.booleans()
    | st.sampled_from([0.0, 1.0, NAN, INF, -INF])
    | st.text("ab", max_size=1),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        | st.dictionaries(st.integers(0, 1), inner, max_size=2)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(Record)
    ),
    max_leaves=4,
)


def by_hand(left, right):
    """The definition, written down once more."""
    if isinstance(left, Record):
        left = vars(left)
    if isinstance(right, Record):
        right = vars(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(by_hand(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(by_hand, left, right))
    if isinstance(left, float) and isinstance(right, float) and left != left and right != right:
        return True
    return type(left) not in (dict, list) and type(right) not in (dict, list) and left == right


@settings(max_examples=400, deadline=None)
@given(VALUES, VALUES)
def test_three_ways_to_compare(left, right):
    expected = by_hand(left, right)
    assert EXACT.equal(left, right) == expected
    assert (canonical(left) == canonical(right)) == expected
    assert equality(abs_tol=1e-12).equal(left, right) == expected
    assert EXACT.equal(Record(x=left), Record(x=right)) == expected


KINDS = st.recursive(
    st.sampled_from(["int", "float", "decimal", "text", "moment", "interval", "bytes"]),
    lambda inner: (
        st.tuples(st.just("array"), inner)
        | st.tuples(st.just("map"), st.sampled_from(["int", "float", "text"]), inner)
        | st.tuples(st.just("struct"), inner, inner)
    ),
    max_leaves=4,
)


def values_of(kind):
    """Values that one column may hold: few, so that equal ones are drawn often."""
    match kind:
        case "int":
            return st.none() | st.integers(0, 1)
        case "float":
            return st.none() | st.sampled_from([0.0, -0.0, 1.0, NAN, INF, -INF])
        case "decimal":
            return st.sampled_from([Decimal("1"), Decimal("1.0"), Decimal("2"), Decimal("NaN")])
        case "text":
            return st.text("ab", max_size=1)
        case "moment":
            return st.sampled_from([datetime(2030, 1, 1), datetime(2030, 1, 1, tzinfo=UTC), date(2030, 1, 1)])
        case "interval":
            return st.sampled_from([timedelta(1), timedelta(hours=24), time(1), time(1, tzinfo=UTC)])
        case "bytes":
            return st.sampled_from([b"", b"x", bytearray(b"x")])
        case ("array", inner):
            return st.lists(values_of(inner), max_size=2) | st.tuples(values_of(inner))
        case ("map", key, inner):
            return st.dictionaries(values_of(key).filter(lambda it: it is not None), values_of(inner), max_size=2)
        case ("struct", first, second):
            return st.builds(lambda a, b: Record(a=a, b=b), values_of(first), values_of(second))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_records_of_one_schema_compare_alike_by_position_and_by_name(data):
    kind = data.draw(KINDS)
    left = data.draw(values_of(kind))
    right = pickle.loads(pickle.dumps(data.draw(values_of(kind))))  # no value is the very same object on both sides
    expected = same(left, right)
    assert same(right, left) == expected
    assert (freeze(left) == freeze(right)) == expected
    assert (canonical(left) == canonical(right)) == expected
    assert EXACT.equal_function(Record(x=left), Record(x=right)) == expected
    assert (Record(x=left) == Record(x=right)) == expected
    assert (hash(Record(x=left)) == hash(Record(x=right))) >= expected


def test_rows_compare_differently_by_position_and_by_name():
    swapped, bare = (Record(a=1, b=2), Record(b=2, a=1)), (Record(a=1), (1,))
    assert not same(*swapped) and EXACT.equal(*swapped)
    assert same(*bare) and not EXACT.equal(*bare)
    assert same({Record(a=1)}, {(1,)}) and not same({Record(a=NAN)}, {Record(b=float("nan"))})
    assert same({Record(a=NAN)}, {Record(a=float("nan"))})


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_a_value_equals_its_copy(value):
    again = pickle.loads(pickle.dumps(value))
    assert EXACT.equal(value, again) and hash(canonical(value)) == hash(canonical(again))
    assert pickle.loads(pickle.dumps(canonical(value))) == canonical(value)


def test_more_layouts_than_are_remembered():
    keys = {canonical({str(n): n}) for n in range(3_000)}
    assert len(keys) == 3_000 and canonical({"7": 7}) in keys


def test_repr():
    assert repr(equality()) == "equality()" and repr(equality(rel_tol=1e-9)) == "equality(rel_tol=1e-09)"
    assert repr(equality(abs_tol=1, ignore=("a", "b"))) == "equality(abs_tol=1.0, ignore=['a', 'b'])"
    assert repr(equality(by=len)) == "equality(by=len)"


@pytest.mark.parametrize(
    "arguments, expected",
    [
        ({"rel_tol": -1}, r"rel_tol=-1 \(int\) is not a tolerance: write a number from 0 on, as 1e-9"),
        ({"abs_tol": NAN}, r"abs_tol=nan \(float\) is not a tolerance"),
        ({"abs_tol": "small"}, r"abs_tol='small' \(str\) is not a tolerance"),
        ({"rel_tol": True}, r"rel_tol=True \(bool\) is not a tolerance"),
        ({"rel_tol": 1.0}, r"rel_tol=1.0 \(float\) would make all numbers equal"),
        ({"ignore": "at"}, r"ignore='at' \(str\) is not a list of columns: write ignore=\['at'\]"),
        ({"ignore": [1]}, r"ignore=\[1\] \(list\) is not a list of columns"),
        ({"by": "at"}, r"by='at' \(str\) is not a function: write by=lambda record"),
        ({"by": len, "ignore": ["at"]}, r"decides alone: leave rel_tol, abs_tol and ignore out"),
    ],
)
def test_bad_arguments(arguments, expected):
    with pytest.raises(InvalidArgument, match=expected):
        equality(**arguments)


def test_tolerances_have_no_key():
    with pytest.raises(InvalidArgument, match=r"equality\(abs_tol=0.1\) has no keys.*use .equal\(a, b\)"):
        equality(abs_tol=0.1).key(1)
