"""Windows of event time: where they lie, what each holds, and what lies outside."""

import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from firesteel import Batch, Instant, Record, Stream, Trace
from firesteel.values import schemas
from firesteel.values.durations import duration
from firesteel.values.windows import Window, session_window, sliding, tumbling
from tests.values.windowed import DAY, EPOCH, ON, OUT, SCHEMA, at, clocks, ids, stream, trace

# --- worked by hand ---


def test_tumbling_windows_lie_side_by_side_and_empty_ones_are_there():
    inputs = {"input": stream(["9:20", "9:00"], ["9:14:59.999999", "10:00"])}
    window = tumbling("15 minutes", on=ON)
    assert clocks(window.spans(inputs)) == ["09:00-09:15", "09:15-09:30", "09:30-09:45", "09:45-10:00", "10:00-10:15"]
    cut = window.cut(trace(["9:00"], ["9:00", "9:45"]), inputs)
    assert ids(cut, "input") == [[1, 2], [0], [], [], [3]]
    assert ids(cut, "output") == [[0, 1], [], [], [2], []]
    assert cut.outside == {}


def test_an_instant_of_a_window_says_when_it_starts_and_knows_those_before_it():
    cut = tumbling("1 hour", on=ON).cut(trace(["9:10"], ["10:10"]), {"input": stream(["9:30", "11:30"])})
    assert [now.index for now in cut] == [0, 1, 2]
    assert [now.time for now in cut] == [at("9:00"), at("10:00"), at("11:00")]
    assert all(now.time.tzinfo is UTC and now.is_window and now.dropped == 0 for now in cut)
    assert len(cut[0].so_far.output) == 1 and len(cut[2].so_far.output) == 2
    assert Trace(list(cut)) == cut and cut[1].previous is cut[0] and cut[0].previous is None


def test_what_was_dropped_is_known_of_a_window_if_there_is_one_only():
    run = Trace([replace(now, recorded_dropped=now.index) for now in trace(["9:10"], ["9:20"], ["9:30"])])
    inputs = {"input": stream(["9:10"], ["9:20"], ["9:30"])}
    (whole,) = tumbling("1 hour", on=ON).cut(run, inputs)
    assert whole.dropped == whole.so_far.dropped == 3
    first, second = tumbling("20 minutes", on=ON).cut(run, inputs)
    for now in (first, second, second.so_far):
        with pytest.raises(AttributeError, match=r"does not say in which windows.*Leave out over= to see now\.dropped"):
            _ = now.dropped
    assert pickle.loads(pickle.dumps(second)) == second != replace(second, recorded_dropped=0)


def test_a_window_has_no_watermark():
    run = Trace([replace(now, recorded_watermark=at("9:00")) for now in trace(["9:10"])])
    (window,) = tumbling("1 hour", on=ON).cut(run, {"input": stream(["9:10"])})
    assert run[0].watermark == at("9:00")
    with pytest.raises(AttributeError, match=r"each batch has a watermark of its own\. Leave out over="):
        _ = window.watermark


def test_batches_of_windows_keep_their_schema_where_they_are_empty():
    inputs = {"input": stream(["9:00"], ["11:00"])}
    cut = tumbling("1 hour", on=ON).cut(trace([], ["9:00"]), inputs)
    for now in cut:
        assert now.input.schema == schemas.parse(SCHEMA) and now.output.schema == schemas.parse(OUT)
    lone = Stream(SCHEMA, [], span=(at("9:00"), at("10:00")))
    (only,) = tumbling("1 hour", on=ON).cut(trace(), {"input": lone})
    assert only.input.schema == schemas.parse(SCHEMA) and only.outputs == {}


def test_sliding_windows_overlap_and_those_that_hold_a_moment_are_there():
    inputs = {"input": stream(["9:20"], ["10:15", "9:30"])}
    window = sliding("30 minutes", every="15 minutes", on=ON)
    expected = "09:00-09:30 09:15-09:45 09:30-10:00 09:45-10:15 10:00-10:30 10:15-10:45"
    assert clocks(window.spans(inputs)) == expected.split()
    cut = window.cut(trace(["9:05", "10:40", "9:40"], ["8:59", "10:45"]), inputs)
    assert ids(cut, "input") == [[0], [0, 2], [2], [], [1], [1]]
    assert ids(cut, "output") == [[0], [2], [2], [], [], [1]]
    assert cut.outside["output"].values("id") == [3, 4]


def test_sliding_windows_need_not_fit_into_each_other():
    spans = sliding("25 minutes", every="10 minutes", on="ts").spans({"input": stream(["9:05"])})
    assert clocks(spans) == ["08:50-09:15", "09:00-09:25"]
    spans = sliding("25 minutes", every="10 minutes", on="ts").spans({"input": stream(["9:04"])})
    assert clocks(spans) == ["08:40-09:05", "08:50-09:15", "09:00-09:25"]


def test_sessions_join_what_comes_less_than_the_gap_apart():
    inputs = {"input": stream(["9:30", "9:04"], ["9:00", "9:14"])}
    window = session_window("10 minutes", on=ON)
    # 9:04 + 10 minutes is 9:14: what comes then begins a session of its own.
    assert clocks(window.spans(inputs)) == ["09:00-09:14", "09:14-09:24", "09:30-09:40"]
    cut = window.cut(trace(["9:13", "9:25"], ["9:14", "9:40"]), inputs)
    assert ids(cut, "input") == [[1, 2], [3], [0]]
    assert ids(cut, "output") == [[0], [2], []]
    assert cut.outside["output"].values("id") == [1, 3]


def test_sessions_are_of_all_inputs_together_and_no_span_makes_one():
    span = (at("0:00"), at("23:00"))
    inputs = {"one": stream(["9:00"], span=span), "two": stream(["9:09"], ["9:18", "12:00"])}
    assert clocks(session_window("10 minutes", on="ts").spans(inputs)) == ["09:00-09:28", "12:00-12:10"]
    assert session_window("10 minutes", on="ts").spans({"one": stream(span=span)}) == []


def test_records_at_one_moment_are_one_session():
    assert clocks(session_window("1 minute", on="ts").spans({"i": stream(["9:00", "9:00"], ["9:00"])})) == [
        "09:00-09:01"
    ]


def test_output_that_never_came_is_an_empty_batch_in_every_window():
    cut = tumbling("1 hour", on=ON).cut(trace([], [], []), {"input": stream(["9:00"], [], ["10:00"])})
    assert ids(cut, "output") == [[], []] and cut.outside == {}


def test_output_before_and_after_all_windows_or_without_event_time_is_outside():
    cut = tumbling("1 hour", on=ON).cut(
        trace(["8:59:59.999999", None], ["9:00"], ["10:00"]), {"input": stream(["9:30"])}
    )
    assert ids(cut, "output") == [[2]]
    assert cut.outside["output"].values("id") == [0, 1, 3]
    assert cut.outside["output"].schema == schemas.parse(OUT)


def test_without_windows_all_output_is_outside():
    cut = tumbling("1 hour", on=ON).cut(trace(["9:00"]), {"input": stream([], [])})
    assert len(cut) == 0 and cut.outside["output"].values("id") == [0]
    assert tumbling("1 hour", on=ON).cut(trace([]), {"input": stream()}).outside == {}


def test_windows_before_1970_are_aligned_as_those_after_it():
    before = EPOCH - timedelta(minutes=20)
    early = Stream(SCHEMA, [[(0, before), (1, EPOCH - timedelta(microseconds=1)), (2, EPOCH)]])
    assert tumbling("15 minutes", on="ts").spans({"input": early}) == [
        (EPOCH - timedelta(minutes=30), EPOCH - timedelta(minutes=15)),
        (EPOCH - timedelta(minutes=15), EPOCH),
        (EPOCH, EPOCH + timedelta(minutes=15)),
    ]
    cut = tumbling("15 minutes", on="ts").cut(Trace([]), {"input": early})
    assert ids(cut, "input") == [[0], [1], [2]]


def test_windows_are_aligned_to_1970_however_long_they_are():
    (span,) = tumbling("1 week", on="ts").spans({"input": stream(["9:00"])})
    assert span == (datetime(2029, 12, 27, tzinfo=UTC), datetime(2030, 1, 3, tzinfo=UTC))  # 1970 began on a Thursday


def test_moments_without_a_zone_are_taken_to_be_in_utc():
    nine, ten, eleven = (datetime(2030, 1, 1, hour) for hour in (9, 10, 11))
    inputs = {"input": Stream("id INT, ts TIMESTAMP_NTZ", [[(0, eleven), (1, nine)]])}
    output = Batch([(0, ten), (1, eleven), (2, None)], schema="id INT, at TIMESTAMP_NTZ")
    cut = tumbling("1 hour", on=ON).cut(Trace([Instant(0, {}, {"output": output})]), inputs)
    assert [now.time for now in cut] == [at("9:00"), at("10:00"), at("11:00")]
    assert ids(cut, "input") == [[1], [], [0]] and ids(cut, "output") == [[], [0], [1]]
    assert cut.outside["output"].values("id") == [2]
    assert clocks(session_window("30 minutes", on="ts").spans(inputs)) == ["09:00-09:30", "11:00-11:30"]


def test_records_need_no_schema_to_be_cut():
    inputs = {"input": Stream(None, [[{"ts": at("9:00")}, {"ts": at("10:00")}]])}
    output = Batch([Record(at=at("9:30")), Record(at=datetime(2030, 1, 1, 10, 30))])
    cut = tumbling("1 hour", on=ON).cut(Trace([Instant(0, {}, {"output": output})]), inputs)
    assert [len(now.input) for now in cut] == [1, 1] and [len(now.output) for now in cut] == [1, 1]


def test_several_inputs_and_outputs_have_columns_of_their_own():
    rides = Stream(
        "id INT, start.of TIMESTAMP".replace("start.of", "`start.of`"), [[(0, at("9:00"))], [(1, at("10:30"))]]
    )
    fares = Stream("id INT, paid TIMESTAMP_NTZ", [[(0, datetime(2030, 1, 1, 12))]])
    good = Batch([(0, at("9:59")), (1, at("12:00"))], schema="id INT, a TIMESTAMP")
    bad = Batch([(0, at("8:00"))], schema="id INT, b TIMESTAMP")
    none = Batch([], schema="id INT, c TIMESTAMP")
    window = tumbling("1 hour", on={"rides": "start.of", "fares": "paid", "good": "a", "bad": "b", "none": "c"})
    run = Trace([Instant(0, {}, {"good": good, "bad": bad, "none": none})])
    cut = window.cut(run, {"rides": rides, "fares": fares})
    assert ids(cut, "rides") == [[0], [1], [], []] and ids(cut, "fares") == [[], [], [], [0]]
    assert ids(cut, "good") == [[0], [], [], [1]] and ids(cut, "bad") == ids(cut, "none") == [[]] * 4
    assert {name: batch.values("id") for name, batch in cut.outside.items()} == {"bad": [0]}


def test_a_span_reaches_further_than_the_records_on_both_sides():
    inputs = {"input": stream(["10:10"], span=(at("9:00"), at("12:00")))}
    assert clocks(tumbling("1 hour", on="ts").spans(inputs)) == ["09:00-10:00", "10:00-11:00", "11:00-12:00"]
    inputs["other"] = stream(["8:00"], span=(at("9:30"), at("12:00:00.000001")))
    assert clocks(tumbling("1 hour", on="ts").spans(inputs))[::4] == ["08:00-09:00", "12:00-13:00"]


def test_records_reach_further_than_a_span():
    inputs = {"input": stream(["8:10", "11:00"], span=(at("9:00"), at("10:00")))}
    assert clocks(tumbling("1 hour", on="ts").spans(inputs)) == [
        "08:00-09:00", "09:00-10:00", "10:00-11:00", "11:00-12:00"
    ]  # fmt: skip


def test_a_span_without_records_has_windows_and_an_empty_one_has_none():
    window = tumbling("1 hour", on="ts")
    assert clocks(window.spans({"input": stream(span=(at("9:00"), at("11:00")))})) == ["09:00-10:00", "10:00-11:00"]
    assert window.spans({"input": stream(span=(at("9:00"), at("9:00")))}) == []
    assert window.spans({"input": stream([], [])}) == [] and window.spans({}) == []
    slid = sliding("1 hour", every="30 minutes", on="ts")
    assert clocks(slid.spans({"input": stream(span=(at("9:00"), at("9:30")))})) == ["08:30-09:30", "09:00-10:00"]


def test_a_window_larger_than_the_stream_holds_all_of_it():
    inputs = {"input": stream(["9:00", "12:00"], ["10:00"])}
    (only,) = tumbling("1 day", on=ON).cut(trace(["0:00", "23:59"]), inputs)
    assert only.input.values("id") == [0, 1, 2] and only.output.values("id") == [0, 1] and only.time == DAY


# --- values ---

WINDOWS = [
    tumbling("15 minutes", on={"input": "ts", "output": "at"}),
    sliding("1 hour 30 minutes", every="500 milliseconds", on="ts"),
    session_window(timedelta(days=1), on="a column"),
]


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_windows_are_values(window):
    assert isinstance(window, Window)
    assert eval(repr(window)) == window == pickle.loads(pickle.dumps(window))
    assert hash(eval(repr(window))) == hash(window) and WINDOWS.count(window) == 1
    with pytest.raises(AttributeError):
        window.on = "other"


def test_the_mapping_is_the_windows_own():
    on = {"input": "ts"}
    window = tumbling("1 hour", on=on)
    on["output"] = "at"
    assert repr(window) == "tumbling('1 hour', on={'input': 'ts'})"
    assert window == tumbling(timedelta(hours=1), on={"input": "ts"}) != tumbling("1 hour", on="ts")
    assert repr(WINDOWS[1]) == "sliding('90 minutes', every='500 milliseconds', on='ts')"


@given(st.timedeltas(timedelta(microseconds=1), timedelta(days=10**6)))
def test_windows_of_any_length_read_as_they_are_written(length):
    window = tumbling(length, on="ts")
    assert eval(repr(window)) == window and duration(window.size, "size") == length
    assume(length > timedelta(microseconds=1))
    slid = sliding(length, every=length - timedelta(microseconds=1), on="ts")
    assert eval(repr(slid)) == slid != window
