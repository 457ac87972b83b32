"""Windows of event time: where they lie, what each holds, what lies outside, and what is refused."""

import pickle
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from firesteel import Batch, Instant, InvalidArgument, Record, Stream, Trace
from firesteel.values import schemas
from firesteel.values.durations import duration
from firesteel.values.windows import Window, session_window, sliding, tumbling

DAY = datetime(2030, 1, 1, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCHEMA = "id INT NOT NULL, ts TIMESTAMP"
OUT = "id INT NOT NULL, at TIMESTAMP"
ON = {"input": "ts", "output": "at"}


def at(clock, day=DAY):
    """A moment of the day: at("9:15")."""
    hour, minute, *second = clock.split(":")
    return day + timedelta(hours=int(hour), minutes=int(minute), seconds=float(second[0]) if second else 0)


def stream(*batches, span=None):
    """Input with one record for each clock, whose id says where it came: 0, 1, 2, ..."""
    ids = iter(range(1000))
    return Stream(SCHEMA, [[(next(ids), at(clock)) for clock in batch] for batch in batches], span=span)


def trace(*batches, inputs=None):
    """A run that put out one record for each clock (None for a null event time)."""
    ids = iter(range(1000))
    rows = [[(next(ids), None if clock is None else at(clock)) for clock in batch] for batch in batches]
    return Trace([Instant(i, inputs or {}, {"output": Batch(row, schema=OUT)}) for i, row in enumerate(rows)])


def clocks(spans):
    return [f"{start:%H:%M}-{end:%H:%M}" for start, end in spans]


def ids(instants, name):
    return [instant[name].values("id") for instant in instants]


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
    assert all(now.time.tzinfo is UTC and now.watermark is None and now.dropped == 0 for now in cut)
    assert len(cut[0].so_far.output) == 1 and len(cut[2].so_far.output) == 2
    assert Trace(list(cut)) == cut and cut[1].previous is cut[0] and cut[0].previous is None


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


# --- what is refused ---


def says(*parts):
    return pytest.raises(InvalidArgument, match=".*".join(map(re.escape, parts)))


@pytest.mark.parametrize("on", [None, 3, ["ts"], {1: "ts"}, {"": "ts"}, {"input": 3}, {"input": ""}, "", {}], ids=repr)
def test_on_has_to_name_columns(on):
    for make in (lambda: tumbling("1 hour", on=on), lambda: sliding("1 hour", every="1 hour", on=on),
                 lambda: session_window("1 hour", on=on)):  # fmt: skip
        with says("on", "write the name of the event-time column, 'ts'"):
            make()


def test_durations_have_to_be_durations():
    with says("size='2 months' (str) is no duration"):
        tumbling("2 months", on="ts")
    with says("size='0 seconds' (str) is not possible"):
        sliding("0 seconds", every="1 hour", on="ts")
    with says("every=5 (int) is no duration"):
        sliding("1 hour", every=5, on="ts")
    with says("gap='-1 hour' (str) is not possible"):
        session_window("-1 hour", on="ts")


def test_windows_with_holes_between_them_are_refused():
    with says("every='2 hours' (str) is longer than size='1 hour' (str)", "write every='1 hour' or less"):
        sliding("1 hour", every="2 hours", on="ts")
    assert sliding("1 hour", every="60 minutes", on="ts") == tumbling("1 hour", on="ts")


def test_names_that_are_no_stream_are_refused():
    window = tumbling("1 hour", on={"input": "ts", "out": "at"})
    with says("names 'out', which is no input or output: the inputs are 'input', the outputs 'output'"):
        window.check_names(["input"], ["output"])
    window.check_names(["input", "more"], ["out"])
    tumbling("1 hour", on="ts").check_names([], [])


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP NOT NULL"])
def test_timestamps_are_event_times(kind):
    for window in (tumbling("1 hour", on="ts"), session_window("1 hour", on={"x": "ts"})):
        window.check_input("x", schemas.parse(f"id INT, ts {kind}"))
        window.check_output("x", schemas.parse(f"id INT, ts {kind}"))


@pytest.mark.parametrize("kind", ["DATE", "BIGINT", "STRING", "ARRAY<TIMESTAMP>"])
def test_other_types_are_no_event_times(kind):
    window = tumbling("1 hour", on="ts")
    with says(f"on='ts' (str): the column 'ts' of the input 'x' is {kind}, and event time has to be TIMESTAMP or "
              "TIMESTAMP_NTZ: make it a TIMESTAMP in the schema"):  # fmt: skip
        window.check_input("x", schemas.parse(f"ts {kind}"))
    with says(f"the output 'x' is {kind}", ".withColumn('ts', F.col('ts').cast('timestamp'))"):
        window.check_output("x", schemas.parse(f"ts {kind}"))


def test_the_window_that_spark_puts_out_is_no_event_time_but_its_start_is():
    schema = schemas.parse("window STRUCT<start: TIMESTAMP, end: TIMESTAMP>, n INT")
    with says("'window' of the output 'output' is STRUCT<", "select its start, as in .select(F.col('window').start"):
        tumbling("1 hour", on="window").check_output("output", schema)
    with says(
        "has no column 'window.start'; its columns are 'window', 'n'", "select 'window.start' as a column of its own"
    ):
        tumbling("1 hour", on="window.start").check_output("output", schema)


def test_a_missing_column_is_refused_and_those_there_are_listed():
    schema = schemas.parse("id INT, at TIMESTAMP")
    for check in (tumbling("1 hour", on="ts").check_input, tumbling("1 hour", on="ts").check_output):
        with says("on='ts' (str): the ", "has no column 'ts'; its columns are 'id', 'at'; write 'at'"):
            check("x", schema)
    with says("has no column 'ts'; its columns are 'id'; add a TIMESTAMP"):
        tumbling("1 hour", on="ts").check_output("x", schemas.parse("id INT"))


def test_every_stream_has_to_be_named():
    window = tumbling("1 hour", on={"input": "ts"})
    with says("on={'input': 'ts'} (dict) names no column of the output 'output': its columns are 'id', 'at'; "
              "write 'at', as in on={'input': 'ts', 'output': 'at'}"):  # fmt: skip
        window.check_output("output", schemas.parse("id INT, at TIMESTAMP"))
    with says("names no column of the input 'other'", "its columns are 'id'; add a TIMESTAMP"):
        window.check_input("other", schemas.parse("id INT"))
    with says("names no column of the input 'other'", "write 'ts', as in on={'input': 'ts', 'other': 'ts'}"):
        window.spans({"other": stream(["9:00"])})
    with says("names no column of the output 'output': write one"):
        window.cut(trace(["9:00"]), {"input": stream(["9:00"])})


def test_an_input_without_schema_is_refused():
    with says("the input 'x' has no schema", "write Stream('ts TIMESTAMP NOT NULL', [...])"):
        tumbling("1 hour", on="ts").check_input("x", None)


@pytest.mark.parametrize("window", [tumbling("1 hour", on="ts"), session_window("1 hour", on="ts")], ids=repr)
@pytest.mark.parametrize("rest", [[], [(8, DAY)]], ids=["alone", "among others"])
def test_input_without_event_time_is_refused(window, rest):
    inputs = {"clicks": Stream(SCHEMA, [rest, [], [(7, None)], rest])}
    with says("the input 'clicks' has a record whose event time, 'ts', is null", "Record(id=7, ts=None)", "make the "
              "column NOT NULL", "ss.timed"):  # fmt: skip
        window.spans(inputs)


def test_too_many_windows_are_refused_and_not_made():
    far = {"input": Stream(SCHEMA, [[(0, DAY), (1, datetime(1, 1, 1, tzinfo=UTC)), (2, datetime(9999, 12, 31))]])}
    with says("tumbling('1 microsecond', on='ts') cuts the input into 315,537,811,200,000,001 windows, "
              "from 0001-01-01 00:00:00+00:00 to 9999-12-31 00:00:00+00:00", "closer together (ss.timed)"):  # fmt: skip
        tumbling("1 microsecond", on="ts").spans(far)


def test_a_hundred_thousand_windows_are_possible_and_no_more():
    window, slid = tumbling("1 second", on="ts"), sliding("2 seconds", every="1 second", on="ts")
    most = {"input": stream(span=(DAY, DAY + timedelta(seconds=100_000)))}
    assert len(window.spans(most)) == 100_000
    with says("100,001 windows, from 2030-01-01 00:00:00+00:00 to "):
        slid.spans(most)
    with says("100,001 windows"):
        window.spans({"input": stream(span=(DAY, DAY + timedelta(seconds=100_000, microseconds=1)))})
    apart = [[(0, DAY + timedelta(seconds=index)) for index in range(100_001)]]
    assert len(session_window("1 second", on="ts").spans({"i": Stream(SCHEMA, [apart[0][1:]])})) == 100_000
    with says("session_window('1 second', on='ts') cuts the input into 100,001 windows"):
        session_window("1 second", on="ts").spans({"i": Stream(SCHEMA, apart)})


FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
TOO_FAR = [
    (tumbling("7 days", on="ts"), FIRST),
    (tumbling("7 days", on="ts"), LAST),
    (sliding("7 days", every="3 days", on="ts"), FIRST),
    (sliding("7 days", every="3 days", on="ts"), LAST),
    (session_window("2 days", on="ts"), LAST),
]


@pytest.mark.parametrize("window, moment", TOO_FAR, ids=repr)
def test_windows_that_python_has_no_moments_for_are_refused(window, moment):
    with says("begin before the year 1 or end after the year 9999", f"from {moment.isoformat(sep=' ')}", "ss.timed"):
        window.spans({"input": Stream(SCHEMA, [[(0, moment)]])})


# --- against brute force: membership by definition, for every window and record ---

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


@given(cases(), lengths, lengths)
def test_sliding_against_the_definition(case, length, step):
    inputs, run = case
    every, size = sorted((length * SECOND, step * SECOND))
    window = sliding(size, every=every, on="ts")
    spans = aligned(inputs, size, every)
    assert window.spans(inputs) == spans
    agrees(window.cut(run, inputs), spans, inputs, run)


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


@given(st.timedeltas(timedelta(microseconds=1), timedelta(days=10**6)))
def test_any_duration_reads_as_it_is_written(length):
    window = tumbling(length, on="ts")
    assert eval(repr(window)) == window and duration(window.size, "size") == length
    assume(length > timedelta(microseconds=1))
    slid = sliding(length, every=length - timedelta(microseconds=1), on="ts")
    assert eval(repr(slid)) == slid != window
