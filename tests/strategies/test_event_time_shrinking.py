"""Event time: everything shrinks to the tidy stream, and streams may be large."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from firesteel import Stream
from firesteel import strategies as ss
from firesteel.values.durations import START
from tests.strategies.timed import (
    HOUR,
    LATE,
    MINUTE,
    SCHEMA,
    SOME,
    after_start,
    drawn,
    event,
    five_minutes,
    fixed,
    flat,
    simplest,
    slices,
)

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
