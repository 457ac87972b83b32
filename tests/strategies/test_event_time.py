"""Event time: where `ss.timed` puts records, and what its options do."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel import Batch, Record, Stream
from firesteel import strategies as ss
from firesteel.values.durations import START
from tests.strategies.timed import (
    HOUR,
    LATE,
    MICROSECOND,
    MINUTE,
    SCHEMA,
    SOME,
    after_start,
    drawn,
    event,
    five_minutes,
    fixed,
    flat,
    possible,
    simplest,
    slices,
    times,
)

# --- a tidy stream ---------------------------------------------------------------------------------------------


@given(five_minutes())
def test_records_are_spread_over_the_window_of_their_batch(stream):
    for moment, low, high in slices(stream, 5 * MINUTE):
        # A slice's start is rounded down to whole seconds.
        assert low - timedelta(seconds=1) < moment < high


@given(five_minutes())
def test_times_ascend_and_are_all_different(stream):
    assert all(earlier < later for earlier, later in pairwise(flat(stream)))


@given(
    st.sampled_from(["3 microseconds", "7 milliseconds", "1 second", "90.5 seconds", "1 minute", "400 days"]),
    st.integers(1, 40),
    st.data(),
)
def test_times_differ_as_long_as_there_is_room(every, size, data):
    stream = data.draw(ss.timed(fixed(size, during=2), every=every, column="ts"))
    start, end = stream.span
    moments = flat(stream)
    assert start <= min(moments) and max(moments) < end
    assert all(moment < start + (end - start) / 2 for moment in times(stream)[0])
    assert moments == sorted(moments)
    assert len(set(moments)) == min(2 * size, (end - start) // MICROSECOND)


@pytest.mark.parametrize(
    "every, size, unit",
    [
        ("1 hour", 3, timedelta(seconds=1)),
        ("1 minute", 60, timedelta(seconds=1)),
        ("1 minute", 61, timedelta(milliseconds=1)),
        ("59 seconds", 3, timedelta(milliseconds=1)),
        ("400 days", 3, timedelta(seconds=1)),
    ],
)
def test_times_are_in_readable_units_but_for_the_last_moment(every, size, unit):
    for stream in drawn(ss.timed(fixed(size), every=every, column="ts"), examples=20):
        last = stream.span[1] - MICROSECOND
        assert all((moment - START) % unit == timedelta(0) or moment == last for moment in flat(stream))
        assert len(set(flat(stream))) == size


def test_the_last_microsecond_of_a_window_is_met_but_not_always():
    hits = [
        flat(stream)[-1] == START + HOUR - MICROSECOND
        for stream in drawn(ss.timed(fixed(2), every="1 hour", column="ts"))
    ]
    assert 0.02 < sum(hits) / len(hits) < 0.4


def test_times_vary_from_example_to_example():
    firsts = {flat(stream)[0] for stream in drawn(ss.timed(fixed(1), every="1 hour", column="ts"))}
    # Hypothesis repeats parts of its examples.
    assert len(firsts) > 30 and START in firsts and max(firsts) > START + HOUR * 0.9


@given(five_minutes())
def test_the_span_covers_every_window_whether_or_not_there_are_records(stream):
    assert stream.span == (START, START + 30 * MINUTE)


@given(five_minutes())
def test_only_the_column_changes(stream):
    assert stream.schema.fieldNames() == ["id", "ts"]
    for batch in stream:
        assert batch.schema is stream.schema and Batch(batch.records, schema=SCHEMA) == batch
        assert all(list(vars(record)) == ["id", "ts"] and 0 <= record.id <= 3 for record in batch)


def test_nothing_is_left_of_what_was_drawn_in_the_column():
    ancient = ss.records(SCHEMA, ts=st.just(datetime(1900, 1, 1, tzinfo=UTC)))
    for stream in drawn(five_minutes(fixed(3, elements=ancient)), examples=10):
        assert min(flat(stream)) >= START


# --- where it starts, and what it holds --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start",
    [
        datetime(2030, 1, 1, 10, tzinfo=UTC),
        datetime(2030, 1, 1, 10),
        datetime(2030, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))),
    ],
    ids=["utc", "naive counts as utc", "another zone"],
)
def test_the_start_is_a_moment_in_utc(start):
    stream = simplest(five_minutes(fixed(1), start=start))
    ten = datetime(2030, 1, 1, 10, tzinfo=UTC)
    assert flat(stream) == [ten] and stream.span == (ten, ten + 5 * MINUTE)
    assert stream[0][0].ts.tzinfo is UTC and stream.span[0].tzinfo is UTC
    assert "tzinfo=datetime.timezone.utc" in repr(stream)


def test_a_timestamp_of_pandas_is_a_start():
    pandas = pytest.importorskip("pandas")
    stream = simplest(five_minutes(fixed(1), start=pandas.Timestamp("2030-01-01")))
    assert type(stream[0][0].ts) is datetime and stream[0][0].ts == datetime(2030, 1, 1, tzinfo=UTC)


def test_a_column_without_zone_holds_naive_times():
    local = ss.records("ts TIMESTAMP_NTZ NOT NULL")
    stream = simplest(five_minutes(fixed(1, during=2, elements=local), close_after="1 hour"))
    assert flat(stream) == [datetime(2000, 1, 1), datetime(2000, 1, 1, 0, 5), datetime(2000, 1, 1, 1, 10)]
    assert stream.span[0] == START, "a span is in UTC always"


@pytest.mark.parametrize("value, naive", [(START, False), (None, False), (datetime(1990, 1, 1), True)])
def test_records_without_a_schema_are_timed_as_their_column_is(value, naive):
    streams = st.just(Stream(None, [[Record(n=1, ts=value)], [Record(n=2, ts=value)]]))
    stream = simplest(five_minutes(streams))
    expected = [START, START + 5 * MINUTE]
    assert flat(stream) == [moment.replace(tzinfo=None) if naive else moment for moment in expected]
    assert stream.schema is None and [record.n for batch in stream for record in batch] == [1, 2]


def test_a_batch_without_a_schema_takes_on_that_of_its_stream():
    by_hand = Stream(None, [Batch(schema=SCHEMA), [(1, START)]])
    stream = simplest(five_minutes(st.just(by_hand)))
    assert stream[1] == [Record(id=1, ts=START + 5 * MINUTE)] and stream[1].schema == stream.schema


# --- out of order ------------------------------------------------------------------------------------------------

DISORDER = five_minutes(out_of_order="8 minutes")


@given(DISORDER)
def test_disorder_stays_in_its_bound(stream):
    for moment, low, high in slices(stream, 5 * MINUTE):
        assert max(START, low - timedelta(minutes=8, seconds=1)) <= moment < high


def test_disorder_happens_to_some_records():
    behind = [
        low - moment
        for stream in drawn(DISORDER)
        for moment, low, _ in slices(stream, 5 * MINUTE)
        if low > START + HOUR / 6
    ]
    moved = [by for by in behind if by >= timedelta(seconds=1)]
    assert 0.15 < len(moved) / len(behind) < 0.6
    assert len(set(moved)) > 30


@pytest.mark.parametrize("late", [None, timedelta(microseconds=9)])
def test_every_way_back_is_gone_up_to_the_bound_and_none_beyond(late):
    # In windows of a microsecond there is one place, so the way back can be told exactly.
    ticks = ss.timed(fixed(1, during=20), every="1 microsecond", column="ts", out_of_order="5 microseconds", late=late)
    back = {START + MICROSECOND * k - moment for s in drawn(ticks, 100) for k, moment in enumerate(flat(s))}
    assert back == {MICROSECOND * by for by in range(6 if late is None else 10)}


def test_records_may_change_places_with_those_of_other_batches_and_of_their_own():
    assert possible(
        DISORDER, lambda s: flat(s) != sorted(flat(s)) and all(batch == sorted(batch) for batch in times(s))
    )
    assert possible(
        five_minutes(fixed(3, during=2), out_of_order="2 minutes"), lambda s: times(s)[0] != sorted(times(s)[0])
    )


def test_no_disorder_is_a_bound_too():
    for stream in drawn(five_minutes(out_of_order="0 seconds"), examples=30):
        assert flat(stream) == sorted(flat(stream))


# --- late --------------------------------------------------------------------------------------------------------


@given(LATE)
def test_late_records_are_never_later_than_asked_for(stream):
    for moment, low, high in slices(stream, 5 * MINUTE):
        assert max(START, low - timedelta(minutes=30, seconds=1)) <= moment < high


def test_a_few_records_are_late():
    with_room = [
        low - moment
        for stream in drawn(LATE)
        for moment, low, _ in slices(stream, 5 * MINUTE)
        if low > START + HOUR / 2
    ]
    late = [by for by in with_room if by > timedelta(minutes=8)]
    assert 0.05 < len(late) / len(with_room) < 0.25
    assert max(late) > 29 * MINUTE and min(late) < 10 * MINUTE
    assert any(timedelta(seconds=1) < by <= 8 * MINUTE for by in with_room), "others are only out of order"


def test_late_records_are_later_than_those_out_of_order():
    ticks = ss.timed(
        fixed(1, during=20),
        every="1 microsecond",
        column="ts",
        out_of_order="8 microseconds",
        late="9 microseconds",
    )
    with_room = [
        START + MICROSECOND * k - moment for s in drawn(ticks, 100) for k, moment in enumerate(flat(s)) if k >= 9
    ]
    assert with_room.count(9 * MICROSECOND) / len(with_room) > 0.08


def test_late_alone_leaves_the_others_in_order():
    assert possible(five_minutes(late="30 minutes"), lambda s: flat(s) != sorted(flat(s)))
    streams = drawn(five_minutes(late="30 minutes"), examples=100)
    late = [moment < low - timedelta(seconds=1) for s in streams for moment, low, _ in slices(s, 5 * MINUTE)]
    assert 0 < sum(late) / len(late) < 0.3


def test_late_records_lie_behind_a_watermark_of_less():
    def dropped(stream):
        """Records behind a watermark of 10 minutes, as Spark moves it on: after each batch."""
        newest, behind = START, []
        for batch in times(stream):
            behind += [moment for moment in batch if moment < newest - 10 * MINUTE]
            newest = max([newest, *batch])
        return behind

    with_some = sum(bool(dropped(stream)) for stream in drawn(LATE, examples=100))
    assert with_some > 30
    assert not any(dropped(stream) for stream in drawn(DISORDER, examples=100)), "bounded disorder loses none"


def test_nothing_lies_before_the_start():
    one = five_minutes(fixed(3, during=2), out_of_order="1 hour", late="2 days")
    assert min(moment for stream in drawn(one) for moment in flat(stream)) == START
    assert possible(one, lambda s: times(s)[1][0] == START)


# --- close_after -------------------------------------------------------------------------------------------------


@given(five_minutes(close_after="1 hour"))
def test_the_last_record_again_closes_the_windows(stream):
    assert len(stream) == 7
    records = [record for batch in stream[:6] for record in batch]
    closing = START + 30 * MINUTE + HOUR
    assert stream[6] == ([Record(id=records[-1].id, ts=closing)] if records else [])
    assert stream.span == (START, closing + HOUR + MICROSECOND), "and an hour after it"
    assert stream[6].schema is stream.schema


def test_without_records_there_is_none_to_close_with():
    assert simplest(five_minutes(ss.empty(during=2), close_after="1 hour")) == [[], [], []]
    assert simplest(five_minutes(st.just(Stream(SCHEMA, [])), close_after="1 hour")) == [[]]


def test_closing_right_at_the_end():
    stream = simplest(five_minutes(fixed(1), close_after=timedelta(0)))
    assert after_start(stream) == [[0], [300]]


# --- combined ----------------------------------------------------------------------------------------------------


def test_phases_with_their_own_pace_follow_each_other():
    slow = five_minutes(fixed(1, during=2))
    quick = ss.timed(fixed(2), every="10 seconds", column="ts", start=START + 10 * MINUTE)
    stream = simplest(ss.concat(slow, quick))
    assert after_start(stream) == [[0], [300], [600, 605]]
    assert stream.span == (START, START + timedelta(minutes=10, seconds=10))


def test_bursts_and_gaps_are_timed_with_everything_around():
    big, few = ss.batches(event, min_size=30, max_size=30), ss.batches(event, min_size=1, max_size=2)
    bursts = five_minutes(ss.concat(ss.always(big, during=1), ss.empty(during=3), ss.until(few, few, within=3)))
    stream = simplest(bursts)
    assert after_start(stream) == [list(range(0, 300, 10)), [], [], [], [1200]]


@given(five_minutes(ss.batches(event, min_size=1, max_size=3)), ss.timed(five_minutes(), every="1 hour", column="ts"))
def test_a_batch_or_a_timed_stream_can_be_timed(one, again):
    assert len(one) == 1 and one.span == (START, START + 5 * MINUTE)
    assert again.span == (START, START + 6 * HOUR)
    assert all(START + k * HOUR <= moment < START + (k + 1) * HOUR for k, b in enumerate(times(again)) for moment in b)


def test_one_object_drawn_many_times_is_many_records():
    same = five_minutes(fixed(3, elements=st.just(Record(id=1, ts=START))))
    assert possible(same, lambda s: flat(s)[0] == START and flat(s)[1] > START + timedelta(seconds=110))


@given(five_minutes(SOME.map(lambda s: Stream(SCHEMA, [[(r.id + 10, r.ts) for r in batch] for batch in s]))))
def test_mapped_streams_are_timed(stream):
    assert flat(stream) == sorted(set(flat(stream))) and all(r.id >= 10 for batch in stream for r in batch)


def test_two_columns_are_timed_one_after_the_other():
    both = ss.records("made TIMESTAMP NOT NULL, ts TIMESTAMP NOT NULL")
    stream = simplest(
        ss.timed(five_minutes(fixed(1, during=2, elements=both)), every="1 hour", column="made"), lambda s: True
    )
    assert [batch[0] for batch in stream] == [(START, START), (START + HOUR, START + 5 * MINUTE)]
