"""Event time: what `ss.timed` refuses."""

from datetime import date, datetime

import pytest
from hypothesis import find
from hypothesis import strategies as st

from firesteel import Batch, InvalidArgument, Record, Stream
from firesteel import strategies as ss
from firesteel.strategies.records import schema_of
from firesteel.values.durations import START
from tests.strategies.timed import SOME, event, five_minutes

BATCHES = ss.batches(event)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: five_minutes([[1]]), "stream=[[1]] (list) is not a strategy"),
        (lambda: five_minutes(Stream(None, [])), "is not a strategy: write a strategy of streams"),
        (
            lambda: ss.timed(BATCHES, every="1 hour", column="tz"),
            "column='tz' (str) names no column: the records have id, ts",
        ),
        (
            lambda: ss.timed(BATCHES, every="1 hour", column="id"),
            "column='id' (str) is not a timestamp, but INT: name a column of type TIMESTAMP or TIMESTAMP_NTZ",
        ),
        (lambda: ss.timed(BATCHES, every="1 hour", column=1), "column=1 (int) is not the name of a column"),
        (lambda: ss.timed(SOME, every="soon", column="ts"), "every='soon' (str) is not a duration"),
        (lambda: ss.timed(SOME, every="0 seconds", column="ts"), "every='0 seconds' (str) is not possible"),
        (lambda: ss.timed(SOME, every=5, column="ts"), "every=5 (int) is not a duration"),
        (lambda: five_minutes(out_of_order="-1 minute"), "out_of_order='-1 minute' (str) is not possible"),
        (lambda: five_minutes(out_of_order="2 months"), "months and years have no fixed length"),
        (lambda: five_minutes(late="0 seconds"), "late='0 seconds' (str) is not possible"),
        (lambda: five_minutes(close_after="-1 hour"), "close_after='-1 hour' (str) is not possible"),
        (
            lambda: five_minutes(late="8 minutes", out_of_order="480 seconds"),
            "late='8 minutes' (str) is not more than out_of_order='480 seconds' (str)",
        ),
        (lambda: five_minutes(start="2030-01-01"), "start='2030-01-01' (str) is not a moment: write a datetime"),
        (lambda: five_minutes(start=date(2030, 1, 1)), "start=datetime.date(2030, 1, 1) (date) is not a moment"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert message in str(error.value)


OTHERS = ss.batches(ss.records("a INT"))


@pytest.mark.parametrize(
    "stream",
    [
        ss.always(OTHERS, during=2),
        ss.eventually(OTHERS, within=2),
        ss.next_(OTHERS),
        ss.until(ss.empty(during=1), OTHERS, within=2),
        ss.release(OTHERS, OTHERS, during=2),
        ss.concat(ss.empty(during=1), ss.always(OTHERS, during=2)),
        ss.overlay(OTHERS, OTHERS),
        ss.repeat(OTHERS, times=2),
        ss.then(OTHERS, lambda stream: OTHERS),
        ss.any_of(ss.always(OTHERS, during=1), ss.always(OTHERS, during=2)),
        ss.partitioned(OTHERS),
        ss.replay([(1,), (2,)], every=1, schema="a INT"),
    ],
    ids=["always", "eventually", "next_", "until", "release", "concat", "overlay", "repeat", "then", "any_of",
         "partitioned", "replay"],
)  # fmt: skip
def test_a_wrong_column_is_refused_where_it_is_written(stream):
    with pytest.raises(InvalidArgument, match=r"column='ts' \(str\) names no column: the records have a"):
        five_minutes(stream)


def test_what_goes_through_timed_keeps_its_schema():
    with pytest.raises(InvalidArgument, match=r"column='at' \(str\) names no column: the records have id, ts"):
        ss.timed(ss.always(five_minutes(), during=1), every="1 hour", column="at")


def test_two_schemas_in_one_stream_are_refused_where_they_are_written():
    with pytest.raises(InvalidArgument, match="records of two schemas cannot stand in one stream"):
        ss.concat(ss.always(OTHERS, during=2), ss.always(BATCHES, during=2))
    with pytest.raises(InvalidArgument, match=r"schema='b INT' \(str\) does not fit the elements"):
        ss.batches(ss.records("a INT"), schema="b INT")


def test_streams_of_one_schema_or_another_are_allowed():
    """Each case has one of them."""
    either = ss.any_of(ss.always(OTHERS, during=1), ss.always(BATCHES, during=1))
    assert schema_of(ss.always(either, during=1)) is None


@pytest.mark.parametrize(
    "strategy, message",
    [
        (five_minutes(event), "ss.timed drew the record Record(id=0"),
        (five_minutes(ss.batches(st.integers(), min_size=1)), "ss.timed drew element=0 (int), which is not a record"),
        (
            five_minutes(st.just(Batch([{"ts": START}]))),
            "which is not a record: make records with ss.records('..., ts TIME",
        ),
        (five_minutes(st.just(Batch([Record(a=1, b=2)]))), "column='ts' (str) names no column: the records have a, b"),
        (five_minutes(st.just(Batch([Record(ts=5)]))), "is not a timestamp: it holds value=5 (int)"),
        (five_minutes(st.just(Stream("a INT", [[], []]))), "names no column: the records have a"),
        (five_minutes(st.just(Stream("ts DATE", [[]]))), "column='ts' (str) is not a timestamp, but DATE"),
        (five_minutes(start=datetime(9999, 12, 31, 23, 59)), "the stream reaches beyond the year 9999"),
    ],
)
def test_bad_draws(strategy, message):
    with pytest.raises(InvalidArgument) as error:
        find(strategy, lambda value: True)
    assert message in str(error.value)
