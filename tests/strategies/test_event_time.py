"""Event time: where `ss.timed` puts records, what its options do, and that everything shrinks to the tidy stream."""

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, find, given, seed, settings
from hypothesis import strategies as st

from firesteel import Batch, InvalidArgument, Record, Stream
from firesteel import strategies as ss
from firesteel.values.durations import START

SCHEMA = "id INT NOT NULL, ts TIMESTAMP NOT NULL"
event = ss.records(SCHEMA, id=st.integers(0, 3))
SOME = ss.always(ss.batches(event, max_size=5), during=6)
MINUTE, HOUR, MICROSECOND = timedelta(minutes=1), timedelta(hours=1), timedelta(microseconds=1)


def fixed(size, during=1, elements=event):
    return ss.always(ss.batches(elements, min_size=size, max_size=size), during=during)


def five_minutes(stream=SOME, **options):
    return ss.timed(stream, every="5 minutes", column="ts", **options)


def times(stream):
    return [[record.ts for record in batch] for batch in stream]


def flat(stream):
    return [moment for batch in times(stream) for moment in batch]


def after_start(stream, start=START):
    """The times of a stream, in seconds after the start."""
    return [[(moment - start).total_seconds() for moment in batch] for batch in times(stream)]


def slices(stream, every):
    """Each record with the slice of the window that it has without disorder: (time, from, up to)."""
    for index, batch in enumerate(stream):
        for place, record in enumerate(batch):
            low, high = (START + every * index + every * at / len(batch) for at in (place, place + 1))
            yield record.ts, low, high


def drawn(strategy, examples=200):
    """Some examples, without shrinking."""
    found = []

    @seed(0)
    @settings(
        max_examples=examples, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )  # fmt: skip
    @given(strategy)
    def draw(stream):
        found.append(stream)

    draw()
    return found


def simplest(strategy, predicate=lambda stream: True, phases=(Phase.generate, Phase.shrink)):
    quick = settings(
        max_examples=2_000, database=None, phases=phases, suppress_health_check=list(HealthCheck), deadline=None
    )
    return find(strategy, predicate, settings=quick, random=Random(0))


def possible(strategy, predicate):
    """Is there such a stream? Without the time that it takes to shrink it."""
    return simplest(strategy, predicate, phases=[Phase.generate]) is not None


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

LATE = five_minutes(ss.always(ss.batches(event, max_size=5), during=12), out_of_order="8 minutes", late="30 minutes")


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


# --- shrinking ---------------------------------------------------------------------------------------------------


MESSY = {"out_of_order": "8 minutes", "late": "30 minutes", "close_after": "1 hour"}


@pytest.mark.parametrize("options", [{}, MESSY], ids=["tidy", "messy"])
@pytest.mark.parametrize(
    "stream, predicate, expected",
    [
        (fixed(1, during=3), lambda s: True, [[0], [300], [600]]),
        (fixed(3, during=2), lambda s: True, [[0, 100, 200], [300, 400, 500]]),
        (SOME, lambda s: len(s[2]) > 1, [[], [], [600, 750], [], [], []]),
        (SOME, lambda s: any(r.id == 2 for r in s[4]), [[], [], [], [], [1200], []]),
        (fixed(7), lambda s: s[0][0].id > 1, [[0, 42, 85, 128, 171, 214, 257]]),
    ],
)
def test_times_shrink_to_the_start_of_their_slice(options, stream, predicate, expected):
    found = simplest(five_minutes(stream, **options), predicate)
    assert after_start(found)[: len(expected)] == expected


def test_other_records_shrink_away_and_leave_the_one_that_matters_where_it_is():
    last = simplest(five_minutes(), lambda s: any(moment.microsecond == 999_999 for moment in flat(s)))
    assert [len(batch) for batch in last] == [0, 0, 0, 0, 0, 1]
    second = simplest(five_minutes(), lambda s: any(r.id == 2 and r.ts.second >= 7 for r in s[3]))
    assert after_start(second) == [[], [], [], [907], [], []] and second[3][0].id == 2


def test_a_record_shrinks_to_the_shortest_way_back():
    two = five_minutes(fixed(1, during=2), out_of_order="8 minutes")
    first, second = flat(simplest(two, lambda s: flat(s)[1] < flat(s)[0]))
    assert first - second <= timedelta(seconds=1)  # a microsecond less where the first is at the very end of its window
    assert after_start(simplest(two, lambda s: flat(s)[1] < START + 4 * MINUTE)) == [[0], [239]]
    late = five_minutes(fixed(1, during=8), **MESSY)
    found = simplest(late, lambda s: flat(s)[7] < START + 25 * MINUTE)
    *others, (late,), closing = after_start(found)
    assert others == [[0], [300], [600], [900], [1200], [1500], [1800]] and closing == [6000]
    assert 1490 <= late < 1500, "the shortest but for a few seconds"


def test_a_late_record_is_found_among_few():
    found = simplest(LATE, lambda s: any(late < newest - 10 * MINUTE for newest, late in pairwise(flat(s))))
    assert sum(map(len, found)) <= 7, "the late record and the batch that it is late for"


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


# --- large streams -----------------------------------------------------------------------------------------------

LARGE = five_minutes(fixed(350, during=20), out_of_order="8 minutes", late="30 minutes", close_after="1 hour")


@settings(max_examples=10)
@given(LARGE)
def test_twenty_batches_of_350_are_timed(stream):
    assert [len(batch) for batch in stream] == [350] * 20 + [1]
    for moment, low, high in slices(stream[:20], 5 * MINUTE):
        assert max(START, low - timedelta(minutes=30, seconds=1)) <= moment < high


def test_large_streams_are_varied_and_messy():
    messy = [stream for stream in drawn(LARGE, examples=10) if flat(stream) != sorted(flat(stream))]
    assert len(messy) >= 5
    assert len({tuple(flat(stream)) for stream in messy}) > len(messy) / 2
    # A batch's own place in the stream is lost in a part of it: the thirteenth is an hour after the start.
    back = [low + HOUR - moment for stream in messy for moment, low, _ in slices(stream[12:20], 5 * MINUTE)]
    assert 0.1 < sum(by > 8 * MINUTE for by in back) / len(back) < 0.25
    assert max(back) <= timedelta(minutes=30, seconds=1)


def test_large_streams_shrink_to_tidy_ones():
    stream = simplest(LARGE)
    tidy = [START + 5 * MINUTE * k + timedelta(milliseconds=i * 300_000 // 350) for k in range(20) for i in range(350)]
    assert flat(stream)[:-1] == tidy


@settings(max_examples=10, database=None, phases=[Phase.generate])
@given(five_minutes(ss.always(ss.batches(event, min_size=5, max_size=12), during=40), **MESSY))
def test_many_small_batches_fit_into_one_example(stream):
    assert len(stream) == 41 and all(5 <= len(batch) <= 12 for batch in stream[:40])


@settings(max_examples=10, database=None, phases=[Phase.generate])
@given(five_minutes(st.just(Stream(SCHEMA, [[(n % 4, START)] * 200 for n in range(20)])), **MESSY))
def test_streams_by_hand_may_be_large(stream):
    assert sum(map(len, stream)) == 4001


# --- bad input ---------------------------------------------------------------------------------------------------

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
        (lambda: ss.timed(SOME, every="soon", column="ts"), "every='soon' (str) is no duration"),
        (lambda: ss.timed(SOME, every="0 seconds", column="ts"), "every='0 seconds' (str) is not possible"),
        (lambda: ss.timed(SOME, every=5, column="ts"), "every=5 (int) is no duration"),
        (lambda: five_minutes(out_of_order="-1 minute"), "out_of_order='-1 minute' (str) is not possible"),
        (lambda: five_minutes(out_of_order="2 months"), "months and years are of no fixed length"),
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
        (five_minutes(ss.always(ss.batches(ss.records("a INT")), during=2)), "names no column: the records have a"),
        (five_minutes(st.just(Stream("a INT", [[], []]))), "names no column: the records have a"),
        (five_minutes(st.just(Stream("ts DATE", [[]]))), "column='ts' (str) is not a timestamp, but DATE"),
        (five_minutes(start=datetime(9999, 12, 31, 23, 59)), "the stream reaches beyond the year 9999"),
    ],
)
def test_bad_draws(strategy, message):
    with pytest.raises(InvalidArgument) as error:
        find(strategy, lambda value: True)
    assert message in str(error.value)
