"""Windows of event time: what is refused."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from firesteel import InvalidArgument, Stream
from firesteel.values import schemas
from firesteel.values.windows import session_window, sliding, tumbling
from tests.values.windowed import DAY, SCHEMA, stream, trace


def says(*parts):
    return pytest.raises(InvalidArgument, match=".*".join(map(re.escape, parts)))


@pytest.mark.parametrize("on", [None, 3, ["ts"], {1: "ts"}, {"": "ts"}, {"input": 3}, {"input": ""}, "", {}], ids=repr)
def test_on_has_to_name_columns(on):
    for make in (lambda: tumbling("1 hour", on=on), lambda: sliding("1 hour", every="1 hour", on=on),
                 lambda: session_window("1 hour", on=on)):  # fmt: skip
        with says("on", "write the name of the event-time column, 'ts'"):
            make()


def test_durations_have_to_be_durations():
    with says("size='2 months' (str) is not a duration"):
        tumbling("2 months", on="ts")
    with says("size='0 seconds' (str) is not possible"):
        sliding("0 seconds", every="1 hour", on="ts")
    with says("every=5 (int) is not a duration"):
        sliding("1 hour", every=5, on="ts")
    with says("gap='-1 hour' (str) is not possible"):
        session_window("-1 hour", on="ts")


def test_windows_with_holes_between_them_are_refused():
    with says("every='2 hours' (str) is longer than size='1 hour' (str)", "write every='1 hour' or less"):
        sliding("1 hour", every="2 hours", on="ts")
    assert sliding("1 hour", every="60 minutes", on="ts") == tumbling("1 hour", on="ts")


def test_names_that_are_no_stream_are_refused():
    window = tumbling("1 hour", on={"input": "ts", "out": "at"})
    with says("names 'out', which is neither an input nor an output: the inputs are 'input', the outputs 'output'"):
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


@pytest.mark.slow
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
