"""Windows of event time against brute force: membership by definition, for every window and record."""

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel import Batch, Instant, Stream, Trace
from firesteel.values.windows import session_window, sliding, tumbling
from tests.values.windowed import EPOCH, SCHEMA

SECOND = timedelta(seconds=1)
seconds = st.one_of(st.integers(-40, 40), st.integers(-4000, 4000).map(lambda n: n / 100))
lengths = st.integers(1, 12) | st.integers(1, 1200).map(lambda n: n / 100)


def near_1970(offset):
    return EPOCH + offset * SECOND


@st.composite
def cases(draw, spans=True):
    """Some input streams, and what a subject put out for them."""
    inputs = {}
    numbers = iter(range(1_000_000))
    for name in draw(st.sampled_from([["a"], ["a", "b"]])):
        rows = draw(st.lists(st.lists(seconds, max_size=4), max_size=4))
        edges = draw(st.none() | st.tuples(seconds, seconds).map(sorted)) if spans else None
        span = None if edges is None else (near_1970(edges[0]), near_1970(edges[1]))
        batches = [[(next(numbers), near_1970(offset)) for offset in batch] for batch in rows]
        inputs[name] = Stream(SCHEMA, batches, span=span)
    outputs = [
        Batch([(next(numbers), None if o is None else near_1970(o)) for o in batch], schema=SCHEMA)
        for batch in draw(st.lists(st.lists(st.none() | seconds, max_size=5), max_size=3))
    ]
    return inputs, Trace([Instant(index, {}, {"out": batch}) for index, batch in enumerate(outputs)])


def all_of(stream_):
    return [record for batch in stream_ for record in batch]


def agrees(cut, spans, inputs, run):
    """The cut trace is what the definition says, window by window, in the order in which the records came."""
    assert len(cut) == len(spans)
    came = {name: all_of(one) for name, one in inputs.items()}
    put_out = [record for now in run for record in now.output]
    for index, (now, (start, end)) in enumerate(zip(cut, spans, strict=True)):
        assert now.index == index and now.time == start
        for name, records in came.items():
            assert list(now[name]) == [r for r in records if start <= r["ts"] < end]
        if len(run):
            assert list(now.output) == [r for r in put_out if r["ts"] is not None and start <= r["ts"] < end]
    rest = [r for r in put_out if r["ts"] is None or not any(start <= r["ts"] < end for start, end in spans)]
    assert [r for batch in cut.outside.values() for r in batch] == rest and bool(cut.outside) == bool(rest)


def reach_of(inputs):
    """All moments that must lie in a window: of records, and the first and last of every span that is not empty."""
    found = [record["ts"] for one in inputs.values() for record in all_of(one)]
    for one in inputs.values():
        if one.span is not None and one.span[0] < one.span[1]:
            found += [one.span[0], one.span[1] - timedelta(microseconds=1)]
    return found


def aligned(inputs, size, every):
    """Every window that starts at a multiple of `every` and meets the reach, by trying them all."""
    found = reach_of(inputs)
    if not found:
        return []
    first, last = min(found), max(found)
    start = EPOCH - every * int(timedelta(seconds=60) / every + 2)
    spans = []
    while start <= EPOCH + 60 * SECOND:
        if start <= last and first < start + size:
            spans.append((start, start + size))
        start += every
    return spans


@pytest.mark.slow
@given(cases(), lengths)
def test_tumbling_against_the_definition(case, length):
    inputs, run = case
    size = length * SECOND
    cut = tumbling(size, on="ts").cut(run, inputs)
    spans = aligned(inputs, size, size)
    assert tumbling(size, on="ts").spans(inputs) == spans
    agrees(cut, spans, inputs, run)
    # Nothing is lost and nothing made up: every record is in one window, or outside.
    for name, one in inputs.items():
        assert Counter(r["id"] for now in cut for r in now[name]) == Counter(r["id"] for r in all_of(one))
    if len(cut) and len(run):
        seen = [r["id"] for now in cut for r in now.output] + [r["id"] for b in cut.outside.values() for r in b]
        assert Counter(seen) == Counter(r["id"] for now in run for r in now.output)


@pytest.mark.slow
@given(cases(), lengths, lengths)
def test_sliding_against_the_definition(case, length, step):
    inputs, run = case
    every, size = sorted((length * SECOND, step * SECOND))
    window = sliding(size, every=every, on="ts")
    spans = aligned(inputs, size, every)
    assert window.spans(inputs) == spans
    agrees(window.cut(run, inputs), spans, inputs, run)


@pytest.mark.slow
@given(cases(), lengths, st.integers(1, 5))
def test_a_record_lies_in_as_many_sliding_windows_as_fit_into_one(case, step, times):
    inputs, run = case
    every = step * SECOND
    cut = sliding(every * times, every=every, on="ts").cut(run, inputs)
    for name, one in inputs.items():
        counts = Counter(r["id"] for now in cut for r in now[name])
        assert counts == Counter({r["id"]: times for r in all_of(one)})


def merged(inputs, gap):
    """Sessions by joining any two that overlap, until none do."""
    spans = [(r["ts"], r["ts"] + gap) for one in inputs.values() for r in all_of(one)]
    while True:
        pair = next(((x, y) for i, x in enumerate(spans) for y in spans[i + 1 :] if x[0] < y[1] and y[0] < x[1]), None)
        if pair is None:
            return sorted(spans)
        x, y = pair
        spans.remove(x)
        spans.remove(y)
        spans.append((min(x[0], y[0]), max(x[1], y[1])))


@given(cases(), lengths)
def test_sessions_against_the_definition(case, length):
    inputs, run = case
    gap = length * SECOND
    window = session_window(gap, on="ts")
    spans = merged(inputs, gap)
    assert window.spans(inputs) == spans
    agrees(window.cut(run, inputs), spans, inputs, run)
