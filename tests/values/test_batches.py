"""Batch: comparing, asking questions, and the schemas that it keeps to."""

import datetime
import itertools
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import firesteel as fs
from firesteel import Batch, Check, InvalidArgument, Record, Stream
from firesteel.values.batches import together

NAN = float("nan")
SCHEMA = "user BIGINT NOT NULL, honest BOOLEAN"


def test_equality_is_that_of_multisets():
    assert Batch([1, 2, 2]) == Batch([2, 1, 2]) == [2, 2, 1]
    assert Batch([1, 2]) != Batch([1, 2, 2]) and Batch([1, 1, 2]) != Batch([1, 2, 2])
    assert Batch([NAN]) == Batch([float("nan")])
    assert hash(Batch([1, 2])) == hash(Batch([2, 1]))


def test_records_keep_their_order():
    assert Batch([3, 1, 2]).records == (3, 1, 2)
    assert Batch([3, 1, 2])[1:] == Batch([1, 2]) and Batch([3, 1, 2])[0] == 3


def test_records_of_other_columns_are_other_records():
    assert Batch([Record(a=1)]) != Batch([Record(b=1)])
    assert Batch([Record(a=1), (2,)]) == Batch([(1,), Record(a=2)])


def test_records_compare_with_dicts_in_any_order_of_columns():
    batch = Batch([(1, True), (2, None)], schema=SCHEMA)
    assert batch == [{"honest": None, "user": 2}, {"honest": True, "user": 1}]
    assert batch.contains([{"honest": True, "user": 1}])
    assert not batch.contains([{"honest": True, "usr": 1}])
    assert batch.same_set_as([{"honest": None, "user": 2}, {"honest": True, "user": 1}])


def test_same_as_with_an_equality():
    close = fs.equality(abs_tol=0.15, ignore=["at"])
    batch = Batch([Record(n=1, x=1.0, at=1), Record(n=1, x=1.1, at=2), Record(n=2, x=math.nan, at=3)])
    assert batch.same_as([(1, 1.2, 7), (2, math.nan, 8), (1, 0.9, 9)], equal=close), "plain tuples take the names"
    assert batch.same_as([{"x": 1.2, "n": 1}, {"x": 1.0, "n": 1}, {"n": 2, "x": math.nan}], equal=close)
    check = batch.same_as(
        [Record(n=1, x=1.2, at=0), Record(n=1, x=1.3, at=0), Record(n=3, x=math.nan, at=0)], equal=close
    )
    assert not check and check.reason.startswith("2 missing: ") and check.records == (
        Record(n=1, x=1.3, at=0), Record(n=3, x=math.nan, at=0), Record(n=1, x=1.0, at=1), Record(n=2, x=math.nan, at=3)
    )  # fmt: skip
    assert Batch(["Fire", "steel"]).same_as(["STEEL", "fire"], equal=fs.equality(by=str.lower))
    assert Batch(["a", "A", "b"]).same_as(["a"], equal=fs.equality(by=str.lower)).records == ("A", "b")
    assert Batch([1, 1]).same_as([1.0], equal=fs.equality(abs_tol=0.1)).records == (1,)
    with pytest.raises(InvalidArgument, match=r"equal=0\.1 \(float\) is not an equality"):
        batch.same_as(batch, equal=0.1)


numbers = st.lists(st.sampled_from([0.0, -0.0, 0.5, 0.9, 1.0, 1.4, 2, math.nan, math.inf, None]), max_size=5)


@given(numbers, numbers, st.sampled_from([{"abs_tol": 0.5}, {"rel_tol": 0.5}, {"abs_tol": 0.1, "rel_tol": 0.3}]))
def test_same_as_pairs_as_many_as_can_be(left, right, tolerance):
    close = fs.equality(**tolerance)
    most = _most_pairs(left, right, close)
    check = Batch(left).same_as(right, equal=close)
    assert bool(check) == (most == len(left) == len(right))
    assert len(check.records) == len(left) + len(right) - 2 * most


def _most_pairs(left, right, close):
    if not left:
        return 0
    rest = left[1:]
    with_first = (
        1 + _most_pairs(rest, right[:i] + right[i + 1 :], close) for i, r in enumerate(right) if close.equal(left[0], r)
    )
    return max(_most_pairs(rest, right, close), *with_first, 0)


small = st.lists(st.integers(0, 3), max_size=6)


@given(small, small)
def test_comparisons_against_counting(left, right):
    a, b = Counter(left), Counter(right)
    assert (Batch(left) == Batch(right)) == (a == b)
    assert bool(Batch(left).same_as(right)) == (a == b)
    assert bool(Batch(left).same_set_as(right)) == (set(left) == set(right))
    assert bool(Batch(left).contains(right)) == (b <= a)
    if a != b:
        assert Counter(Batch(left).same_as(right).records) == (a - b) + (b - a)
    assert Counter(Batch(left).contains(right).records) == b - a
    assert Counter((Batch(left) + Batch(right)).records) == a + b


@given(small)
def test_questions_against_plain_loops(items):
    batch = Batch(items)
    assert bool(batch.every(lambda n: n > 1)) == all(n > 1 for n in items)
    assert bool(batch.some(lambda n: n > 1)) == any(n > 1 for n in items)
    assert bool(batch.none(lambda n: n > 1)) == (not any(n > 1 for n in items))
    assert bool(batch.unique()) == (len(set(items)) == len(items))
    assert list(batch.every(lambda n: n > 1).records) == [n for n in items if n <= 1]
    assert list(batch.none(lambda n: n > 1).records) == [n for n in items if n > 1]
    assert list(batch.where(lambda n: n > 1)) == [n for n in items if n > 1]
    records = Batch([Record(n=n) for n in items])
    assert bool(records.sorted_by("n")) == (items == sorted(items))


def test_sorting_puts_null_first_and_nan_last():
    column = [None, float("-inf"), 0.0, float("inf"), NAN]
    for left, right in itertools.product(range(5), repeat=2):
        pair = Batch([Record(x=column[left]), Record(x=column[right])])
        assert bool(pair.sorted_by("x")) == (left <= right)


def test_reasons_read_well():
    batch = Batch([Record(id=1, n=0), Record(id=1, n=1), Record(id=2, n=2)])
    assert batch.every(lambda r: r.n > 0).reason == "1 of 3 records does not satisfy r.n > 0"
    assert batch.every(lambda r: r.n > 1).reason == "2 of 3 records do not satisfy r.n > 1"
    assert batch.none(lambda r: r.n > 1).reason == "1 of 3 records satisfies r.n > 1"
    assert batch.some(lambda r: r.n > 5).reason == "none of 3 records satisfies r.n > 5"
    assert batch.unique("id").reason == "id=1 comes 2 times"
    assert batch.sorted_by("n").reason == ""
    assert Batch([2, 1]).same_as([1, 3]).reason == "1 missing: 3; 1 too many: 2"


def test_a_check_is_a_bool_in_every_boolean_context():
    assert Check(True) and not Check(False)
    assert (Check(False) or Check(True)) and not (Check(True) and Check(False))


def test_a_schema_makes_records_of_tuples_dicts_rows_and_records():
    from pyspark.sql import Row

    given_ = [(1, True), {"honest": True, "user": 1}, Row(user=1, honest=True), Record(honest=True, user=1), [1, True]]
    batch = Batch(given_, schema=SCHEMA)
    assert set(batch.records) == {Record(user=1, honest=True)}
    assert all(isinstance(record, Record) for record in batch)


def test_timestamps_become_aware_and_utc():
    tokyo = datetime.timezone(datetime.timedelta(hours=9))
    batch = Batch(
        [(datetime.datetime(2030, 1, 1),), (datetime.datetime(2030, 1, 1, 9, tzinfo=tokyo),)], schema="t TIMESTAMP"
    )
    assert batch.values("t") == [datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)] * 2
    assert all(moment.tzinfo is datetime.UTC for moment in batch.values("t"))
    nested = Batch([([(datetime.datetime(2030, 1, 1),)],)], schema="a ARRAY<STRUCT<t: TIMESTAMP>>")
    assert nested[0].a[0].t.tzinfo is datetime.UTC


@pytest.mark.parametrize(
    "record, why",
    [
        (("x", True), "user: expected BIGINT, got 'x' (str)"),
        ((None, True), "user: null, but the column is NOT NULL"),
        ((1,), "it has to have 2 columns, user, honest"),
        ({"user": 1}, "it has to have 2 columns, user, honest"),
        (Record(usr=1, honest=True), "it has to have 2 columns, user, honest"),
        ((2**63, True), "out of range for BIGINT"),
    ],
)
def test_a_record_that_does_not_fit_its_schema(record, why):
    with pytest.raises(InvalidArgument) as error:
        Batch([(1, None), record], schema=SCHEMA)
    assert str(error.value).startswith("records[1]=")
    assert f"({type(record).__name__}) does not fit the schema: " in str(error.value)
    assert why in str(error.value)
    with pytest.raises(InvalidArgument, match=r"batches\[2\]\[0\]="):
        Stream(SCHEMA, [[], [], [record]])


class Elsewhere(Batch):
    """A batch as one that stays in Spark is: asked, and never iterated over."""

    stays_in_spark = True
    partitions = None

    def __init__(self, *records):
        object.__setattr__(self, "schema", None)
        object.__setattr__(self, "held", records)

    __slots__ = ("held",)

    @property
    def records(self):
        raise TypeError("these records stay where they are")

    def joined(self, parts):
        return Elsewhere(*(record for part in parts for record in getattr(part, "held", None) or part.records))

    def lifted(self, batch):
        return Elsewhere(*batch.records)

    def same_as(self, other, *, equal=None):
        theirs = other.held if isinstance(other, Elsewhere) else other.records
        return Check(sorted(self.held) == sorted(theirs), f"equal={equal}")

    def same_set_as(self, other):
        return Check(set(self.held) == set(other.held))

    def contains(self, other):
        return Check(set(self.held) >= set(other.held))


def test_a_batch_that_stays_elsewhere_is_asked_and_not_read():
    here, there = Batch([1, 2, 2]), Elsewhere(2, 1, 2)
    assert not here.stays_in_spark and there.stays_in_spark
    assert here == there and there == here and here != Elsewhere(1)
    assert (
        here.same_as(there)
        and here.same_as(there, equal=fs.equality(abs_tol=1)).reason == "equal=equality(abs_tol=1.0)"
    )
    assert here.same_set_as(Elsewhere(1, 2)) and here.contains(Elsewhere(1)) and not here.contains(Elsewhere(3))
    for joined in (here + there, together([here, there]), together([Batch(), here, there])):
        assert isinstance(joined, Elsewhere) and sorted(joined.held) == [1, 1, 2, 2, 2, 2]
