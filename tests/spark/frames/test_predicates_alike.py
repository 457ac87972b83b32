"""The ready predicates on batches of the driver and on DataFrames: the same truth, and as good a message."""

import re
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from pyspark import cloudpickle

from firesteel import Batch, Record
from firesteel import strategies as ss
from firesteel.spark.frames.large import REMEMBERED, LargeBatch, keep
from firesteel.spark.frames.shipping import by_value
from firesteel.values.equality import Equality

NAN = float("nan")
SCHEMA = "k STRING, x DOUBLE, m MAP<STRING, INT>, `a.b` STRUCT<n: INT, xs: ARRAY<DOUBLE>>"
RECORDS = ss.records(
    SCHEMA,
    k=st.sampled_from(["a", "b", None]),
    x=st.sampled_from([0.0, -0.0, NAN, None]),
    m=st.sampled_from([None, {}, {"p": 1, "q": 2}, {"q": 2, "p": 1}]),
    **{"a.b": st.sampled_from([None, {"n": 1, "xs": [NAN, 0.0]}, {"n": None, "xs": [NAN, -0.0]}])},
)


def is_a(record):
    return record.k == "a"


def counts_down(record):
    return is_a(record) or record.x is not None


QUESTIONS = {
    "every": lambda b, other: b.every(counts_down),
    "every, a lambda": lambda b, other: b.every(lambda r: r.m != {"p": 1, "q": 2}),
    "some": lambda b, other: b.some(is_a),
    "none": lambda b, other: b.none(counts_down),
    "unique": lambda b, other: b.unique(),
    "unique by k": lambda b, other: b.unique("k"),
    "unique by m": lambda b, other: b.unique("m", "a.b"),
    "sorted": lambda b, other: b.sorted_by("k", "x"),
    "same": lambda b, other: b.same_as(other),
    "same set": lambda b, other: b.same_set_as(other),
    "contains": lambda b, other: b.contains(other),
}


def in_spark(batch, cuts):
    """The batch as a DataFrame of several partitions."""
    frame = Batch((), schema=batch.schema).df
    for start, end in zip((0, *cuts), (*cuts, len(batch)), strict=True):
        frame = frame.union(batch[start:end].df.coalesce(1))
    return LargeBatch(keep(frame), batch.schema)


def shape_of(reason):
    """A reason less the records that it shows, which are some of those that offend: which ones is open.

    Of equals any may be shown: maps have no order, and zero two signs.
    """
    reason = reason.replace("{'q': 2, 'p': 1}", "{'p': 1, 'q': 2}").replace("-0.0", "0.0")
    return re.sub(r"(missing|too many): (?:(?!; \d).)*", r"\1", reason)


def alike(mine, theirs, question):
    assert bool(mine) == bool(theirs), question
    assert shape_of(mine.reason) == shape_of(theirs.reason), question
    if len(mine.records) <= REMEMBERED:
        assert Batch(mine.records) == Batch(theirs.records), question
    shown = theirs.reason.partition("missing: ")[2] or theirs.reason.partition("too many: ")[2]
    assert bool(shown) == (question in ("same", "same set", "contains") and not theirs)


@pytest.mark.slow
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],  # to shrink would take minutes
    suppress_health_check=list(HealthCheck),
)
@given(
    batch=ss.batches(RECORDS, min_size=1, max_size=8),
    cuts=st.tuples(st.integers(0, 3), st.integers(3, 8)),
    other=st.one_of(ss.batches(RECORDS, max_size=3), st.none()),
)
@example(
    batch=Batch([("a", 0.0, {"p": 1, "q": 2}, None), ("a", -0.0, {"q": 2, "p": 1}, None)], schema=SCHEMA),
    cuts=(1, 2),
    other=None,
)
def test_alike_on_random_batches(spark, batch, cuts, other):
    large = in_spark(batch, [min(cut, len(batch)) for cut in cuts])
    other = batch[::-1] if other is None else other
    for question, ask in QUESTIONS.items():
        alike(ask(batch, other), ask(large, other), question)


@pytest.mark.slow
def test_more_records_than_are_remembered(spark):
    rows = [Record(n=n % 40) for n in range(100)]
    small = Batch(rows, schema="n INT")
    large = in_spark(small, (30, 60))
    for ask in (
        lambda b: b.unique("n"),
        lambda b: b.every(lambda r: r.n < 0),
        lambda b: b.same_as(rows[50:] + [(n,) for n in range(50, 99)]),
        lambda b: b.same_set_as([(1000,)]),
        lambda b: b.contains([(7,)] * 30),
        lambda b: b.sorted_by("n"),
    ):
        mine, theirs = ask(small), ask(large)
        assert not mine and shape_of(mine.reason) == shape_of(theirs.reason)
        assert 0 < len(theirs.records) <= 2 * REMEMBERED
        assert not Counter(theirs.records) - Counter(mine.records), "offending ones all of them"


@pytest.mark.slow
def test_what_is_compared_need_not_be_a_record_of_the_schema(spark):
    small = Batch([("a", 1.0, 2, Decimal("1.5"))], schema="k STRING, x DOUBLE, n INT, d DECIMAL(5,2)")
    large = in_spark(small, ())
    record = Record(k="a", x=1.0, n=2, d=Decimal("1.50"))
    others = {
        "numbers of other types": [("a", 1, 2.0, 1.5)],
        "numbers that differ": [("a", 1, 2.5, 1.5)],
        "not a number": [("a", 1, NAN, 1.5)],
        "a dict": [dict(reversed(record.__dict__.items()))],
        "another order of columns": [Record(dict(reversed(record.__dict__.items())))],
        "other columns": [Record(k="a", x=1.0), record],
        "no record": ["a", 5, None, record, [1, 2]],
        "too large": [("a", 1.0, 2**40, Decimal("1.5"))],
        "nothing": [],
    }
    for name, other in others.items():
        mine, theirs = small.same_as(other), large.same_as(other)
        assert bool(mine) == bool(theirs), name
        assert mine.reason.replace("1.50", "1.5") == theirs.reason.replace("1.50", "1.5"), name
        assert Batch(mine.records) == Batch(theirs.records), name
    for other in ([("a", 1.000001, 2, Decimal("1.5"))], [("a", 1.1, 2, Decimal("1.5"))], ["no record"]):
        close = Equality(abs_tol=0.001)
        mine, theirs = small.same_as(other, equal=close), large.same_as(other, equal=close)
        assert bool(mine) == bool(theirs) and shape_of(mine.reason) == shape_of(theirs.reason)
        assert len(mine.records) == len(theirs.records)
    renamed = LargeBatch(large.df.toDF("k", "x", "n", "e"), large.df.toDF("k", "x", "n", "e").schema)
    assert not large.same_as(renamed) and len(large.same_as(renamed).records) == 2
    assert not large.contains(renamed) and "1 missing: Record(k='a'" in large.contains(renamed).reason
    assert large.contains(LargeBatch(renamed.df.where("false"), renamed.schema)), "nothing is contained in everything"


def test_columns_that_are_not_there(spark):
    small = Batch([("a", 1)], schema="k STRING, s INT")
    for batch in (small, in_spark(small, ())):
        for ask in (lambda b, c: b.unique(c), lambda b, c: b.sorted_by(c)):
            for column in ("z", "K", "k.z"):
                with pytest.raises(KeyError, match=f"no column '{column}'; the record has 'k', 's'"):
                    ask(batch, column)


def test_what_the_user_registered_stays_registered():
    import sys

    module = sys.modules[__name__]
    with by_value(is_a):
        assert __name__ in cloudpickle.list_registry_pickle_by_value()
    assert __name__ not in cloudpickle.list_registry_pickle_by_value()
    cloudpickle.register_pickle_by_value(module)
    try:
        with by_value(is_a):
            pass
        assert __name__ in cloudpickle.list_registry_pickle_by_value()
    finally:
        cloudpickle.unregister_pickle_by_value(module)
