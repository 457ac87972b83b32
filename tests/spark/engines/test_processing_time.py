"""Processing time on Spark, against traces worked out by hand: the clock, timeouts, timers and TTL; and bad options.

Batch k runs at k times the batch interval after START, and at no other time: nobody waits for a clock.
"""

import importlib.util
import time
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

import firesteel as fs
from firesteel import InvalidArgument, Stream, SubjectError

START = datetime(2000, 1, 1, tzinfo=UTC)


def after(**much):
    return START + timedelta(**much)


def since(moment, unit):
    """How many units after the start a moment is: a datetime, or milliseconds since 1970."""
    if not isinstance(moment, datetime):
        moment = datetime.fromtimestamp(moment / 1000, UTC)
    return (moment - START) / timedelta(**{unit: 1})


def rows(batch, unit="seconds"):
    return sorted(tuple(since(v, unit) if isinstance(v, datetime) else v for v in row) for row in batch)


def outputs(trace, unit="seconds"):
    return [rows(instant.output, unit) for instant in trace]


def keys(*batches):
    return Stream("k STRING", [[(key,) for key in batch] for batch in batches])


def keyed(*batches):
    """Keys and event times, in minutes after the start."""
    return Stream("k STRING, t TIMESTAMP", [[(k, after(minutes=t)) for k, t in batch] for batch in batches])


# --- the clock -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, [0, 1, 2]),
        ({"batch_interval": "1 hour 30 minutes"}, [0, 5400, 10800]),
        ({"batch_interval": timedelta(milliseconds=1500)}, [0, 1.5, 3]),
    ],
    ids=["default", "text", "timedelta"],
)
def test_the_time_of_a_batch(spark, options, expected):
    """Batch 1 is empty: its time passes all the same."""
    trace = fs.run(keys("a", "", "bc"), lambda f: f.select("k", F.current_timestamp()), spark=spark, **options)
    assert [since(instant.time, "seconds") for instant in trace] == expected
    assert outputs(trace) == [[("a", expected[0])], [], [("b", expected[2]), ("c", expected[2])]]


def test_a_filter_on_the_current_time(spark):
    """What is due by the time of its batch: 0, 1 and 2 seconds."""
    due = [
        [(after(seconds=0),), (after(seconds=1),)],
        [(after(seconds=1),), (after(seconds=2),)],
        [(after(seconds=2),)],
    ]
    trace = fs.run(Stream("due TIMESTAMP", due), lambda f: f.where("due <= current_timestamp()"), spark=spark)
    assert outputs(trace) == [[(0,)], [(1,)], [(2,)]]


@pytest.mark.slow
def test_windows_of_processing_time(spark):
    """A batch every 5 seconds: 1 and 2 records in 0-10, 1 and 1 in 10-20. Watermark after each batch: 0, 5, 10, 15.

    So 0-10 closes with batch 2, and 10-20 at the end of event time.
    """

    def per_window(frame):
        marked = frame.withColumn("now", F.current_timestamp()).withWatermark("now", "0 seconds")
        return marked.groupBy(F.window("now", "10 seconds")).count().select("window.start", "count")

    stream = keys("a", "bc", "d", "e")
    trace = fs.run(stream, per_window, batch_interval="5 seconds", spark=spark)
    assert outputs(trace) == [[], [], [(0, 3)], [(10, 2)]]
    assert [None if i.watermark is None else since(i.watermark, "seconds") for i in trace] == [None, 0, 5, 10]
    updates = fs.run(stream, per_window, batch_interval="5 seconds", output_mode="update", spark=spark)
    assert outputs(updates) == [[(0, 1)], [(0, 3)], [(10, 1)], [(10, 2)]]


# --- timeouts of applyInPandasWithState ------------------------------------------------------------------------------


def idle_for(milliseconds):
    """Says when a key was seen, and when it has not been seen for so long."""

    def told(key, frames, state):
        import pandas as pd

        now = pd.Timestamp(state.getCurrentProcessingTimeMs(), unit="ms")
        if state.hasTimedOut:
            state.remove()
            yield pd.DataFrame({"k": [key[0]], "what": ["idle"], "at": [now]})
        else:
            state.update((sum(map(len, frames)),))
            state.setTimeoutDuration(milliseconds)
            yield pd.DataFrame({"k": [key[0]], "what": ["seen"], "at": [now]})

    def subject(frame):
        return frame.groupBy("k").applyInPandasWithState(
            told, "k STRING, what STRING, at TIMESTAMP", "n INT", "append", GroupStateTimeout.ProcessingTimeTimeout
        )

    return subject


@pytest.mark.slow
def test_a_processing_time_timeout_fires_at_its_batch_and_nobody_waits(spark):
    """An hour, with a batch every 30 minutes. a is due at 60, but Spark wants it to be past: batch 3, at 90.

    b is seen at 30 and again at 60, which moves it on to 120: batch 5, at 150. Batches without input fire as well.
    """
    began = time.monotonic()
    trace = fs.run(keys("a", "b", "b", "", "", ""), idle_for(3_600_000), batch_interval="30 minutes", spark=spark)
    assert outputs(trace, "minutes") == [
        [("a", "seen", 0)],
        [("b", "seen", 30)],
        [("b", "seen", 60)],
        [("a", "idle", 90)],
        [],
        [("b", "idle", 150)],
    ]
    assert time.monotonic() - began < 600, "two and a half hours have passed, but not for us"


@pytest.mark.slow
def test_an_event_time_timeout_fires_when_the_watermark_is_past_it(spark):
    """a is due at 10+10 = 20. Watermark after each batch: 5, 20 (not past it), 21: fires with batch 2.

    b (at 35) and c (at 36) are due at the end of event time.
    """

    def told(key, frames, state):
        import pandas as pd

        if state.hasTimedOut:
            yield pd.DataFrame({"k": [key[0]], "n": state.get})
            state.remove()
        else:
            frame = pd.concat(frames)
            state.update((len(frame),))
            state.setTimeoutTimestamp(int(frame.t.max().timestamp() * 1000) + 600_000)

    def subject(frame):
        marked = frame.withWatermark("t", "5 minutes").groupBy("k")
        return marked.applyInPandasWithState(
            told, "k STRING, n INT", "n INT", "append", GroupStateTimeout.EventTimeTimeout
        )

    stream = keyed([("a", 9), ("a", 10)], [("b", 25)], [("c", 26)])
    trace = fs.run(stream, subject, state=True, spark=spark)
    assert outputs(trace) == [[], [], [("a", 2), ("b", 1), ("c", 1)]]
    assert [len(instant.state) for instant in trace] == [1, 2, 0]
    assert outputs(fs.run(stream, subject, close=False, spark=spark)) == [[], [], [("a", 2)]]


@pytest.mark.slow
def test_processing_time_beside_a_watermark(spark):
    """Duplicates are dropped by event time, silence is noticed by processing time: two stateful operators.

    Watermark after each batch: 5, 25, the same. In batch 2, 24 is late: it is dropped, and a stays silent. a was seen
    at 0 seconds, is due at 1 and past it at 2 (batch 2); b is seen at 1 and past 2 in batch 3.
    Spark runs no batches without data here, so the runner does: 10 is forgotten in the instant that moves the
    watermark past it.
    """

    def subject(frame):
        return idle_for(1000)(frame.withWatermark("t", "5 minutes").dropDuplicates(["k", "t"]))

    stream = keyed([("a", 10), ("a", 10)], [("b", 30)], [("a", 24)], [])
    trace = fs.run(stream, subject, state=True, spark=spark)
    assert outputs(trace) == [[("a", "seen", 0)], [("b", "seen", 1)], [("a", "idle", 2)], [("b", "idle", 3)]]
    assert [instant.dropped for instant in trace] == [0, 0, 1, 0]
    assert [i.watermark and since(i.watermark, "minutes") for i in trace] == [None, 5, 25, 25]
    known = [sorted(s.key.k for s in instant.state if "t" in s.key.__dict__) for instant in trace]
    assert known == [["a"], ["b"], ["b"], []]
    again = fs.run(stream, subject, state=True, spark=spark)
    assert again == trace, "the same run twice gives the same trace"


# --- timers and TTL of transformWithState ----------------------------------------------------------------------------


def timers_after(milliseconds, mode, *, in_pandas=True):
    """Registers a timer for every key that it sees, and says when it has expired: at the timer's own time."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Alarms(StatefulProcessor):
        def init(self, handle):
            self.handle = handle
            self.seen = handle.getValueState("seen", "n INT")

        def handleInputRows(self, key, rows, timerValues):
            import pandas as pd

            (known,) = self.seen.get() if self.seen.exists() else (0,)
            self.seen.update((known + 1,))
            if mode == "ProcessingTime":
                now = timerValues.getCurrentProcessingTimeInMs()
            elif in_pandas:
                now = int(max(frame.t.max() for frame in rows).timestamp() * 1000)
            else:
                now = int(max(row.t for row in rows).timestamp() * 1000)
            self.handle.registerTimer(now + milliseconds)
            yield from (
                [] if not in_pandas else [pd.DataFrame({"k": [], "due": []}).astype({"k": str, "due": "int64"})]
            )

        def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
            import pandas as pd
            from pyspark.sql import Row

            due = expiredTimerInfo.getExpiryTimeInMs()
            yield pd.DataFrame({"k": [key[0]], "due": [due]}) if in_pandas else Row(k=key[0], due=due)

        def close(self):
            pass

    def subject(frame):
        if mode == "EventTime":
            frame = frame.withWatermark("t", "5 minutes")
        grouped = frame.groupBy("k")
        run = grouped.transformWithStateInPandas if in_pandas else grouped.transformWithState
        return run(Alarms(), "k STRING, due BIGINT", "append", mode)

    return subject


def due(trace, unit):
    return [sorted((k, since(at, unit)) for k, at in instant.output) for instant in trace]


def timers(trace, unit):
    found = [[(s.key.k, since(s.expiration_timestamp_ms, unit)) for s in i.state if s.name == "timers"] for i in trace]
    return [sorted(timer) for timer in found]


@pytest.mark.slow
@pytest.mark.parametrize("in_pandas", [True, False], ids=["pandas", "rows"])
def test_processing_time_timers_fire_in_the_first_batch_that_has_reached_them(spark, in_pandas):
    """a at 0 seconds is due at 2: batch 2, which is at 2 seconds. b at 1 is due at 3, and at 2 once more for 4."""
    trace = fs.run(
        keys("a", "b", "b", "", ""), timers_after(2000, "ProcessingTime", in_pandas=in_pandas), state=True, spark=spark
    )
    assert due(trace, "seconds") == [[], [], [("a", 2)], [("b", 3)], [("b", 4)]]
    assert timers(trace, "seconds") == [[("a", 2)], [("a", 2), ("b", 3)], [("b", 3), ("b", 4)], [("b", 4)], []]
    values = [sorted((s.key.k, s.value.n) for s in i.state if s.name == "seen") for i in trace]
    assert values == [[("a", 1)], [("a", 1), ("b", 1)], *[[("a", 1), ("b", 2)]] * 3]


@pytest.mark.slow
def test_event_time_timers_fire_when_the_watermark_reaches_them_and_at_the_end(spark):
    """a is due at 10+10 = 20. Watermark after each batch: 5, 19, 20: fires with batch 2. b (34), c (35): at the end."""
    stream = keyed([("a", 10)], [("b", 24)], [("c", 25)])
    subject = timers_after(600_000, "EventTime")
    trace = fs.run(stream, subject, state=True, spark=spark)
    assert due(trace, "minutes") == [[], [], [("a", 20), ("b", 34), ("c", 35)]]
    assert timers(trace, "minutes") == [[("a", 20)], [("a", 20), ("b", 34)], []]
    without = fs.run(stream, subject, close=False, spark=spark)
    assert due(without, "minutes") == [[], [], [("a", 20)]]


@pytest.mark.slow
def test_time_to_live(spark):
    """2 seconds, with a batch a second. a is written at 0 and gone at 2; written again then, it is there at 3."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Seen(StatefulProcessor):
        def init(self, handle):
            self.seen = handle.getValueState("seen", "n INT", ttlDurationMs=2000)

        def handleInputRows(self, key, rows, timerValues):
            import pandas as pd

            known = self.seen.exists()
            if not known:
                self.seen.update((1,))
            yield pd.DataFrame({"k": [key[0]], "known": [known]})

        def close(self):
            pass

    def subject(frame):
        return frame.groupBy("k").transformWithStateInPandas(
            Seen(), "k STRING, known BOOLEAN", "append", "ProcessingTime"
        )

    trace = fs.run(keys("a", "a", "a", "a", ""), subject, state=True, spark=spark)
    assert outputs(trace) == [[("a", False)], [("a", True)], [("a", False)], [("a", True)], []]
    ends = [[(s.key.k, since(s.value.ttlExpirationMs, "seconds")) for s in i.state] for i in trace]
    assert ends == [[("a", 2)], [("a", 2)], [("a", 4)], [("a", 4)], []]


# --- options that are refused ----------------------------------------------------------------------------------------


TIMED = Stream("k INT, t TIMESTAMP", [[(1, START)]])
ON = {"input": "t", "output": "at"}


def untouched(frame):
    return frame


@pytest.mark.parametrize(
    "subject, options, message",
    [
        (untouched, {"state": True}, "state=True, but the subject keeps no state"),
        (untouched, {"state": True, "over": fs.tumbling("1 hour", on="t")}, "do not go together"),
        (untouched, {"batch_interval": "0 seconds"}, r"batch_interval='0 seconds' \(str\).*more than zero"),
        (untouched, {"batch_interval": "-1 second"}, r"batch_interval='-1 second' \(str\).*more than zero"),
        (untouched, {"batch_interval": timedelta(microseconds=1500)}, "write whole milliseconds"),
        (untouched, {"batch_interval": "soon"}, r"batch_interval='soon' \(str\) is not a duration: write a number"),
        (untouched, {"batch_interval": 5}, r"batch_interval=5 \(int\) is not a duration"),
        (untouched, {"over": "1 hour"}, r"over='1 hour' \(str\) is not a window: write fs\.tumbling"),
        (untouched, {"close": "no"}, r"close='no' \(str\) is not possible: write True or False"),
        (untouched, {"state": 1}, r"state=1 \(int\) is not possible: write True or False"),
        (untouched, {"over": fs.tumbling("1 hour", on=ON)}, "the output 'output' has no column 'at'.*write 't'"),
        (
            lambda f: f.selectExpr("CAST(t AS DATE) AS at"),
            {"over": fs.tumbling("1 hour", on=ON)},
            "the column 'at' of the output 'output' is DATE",
        ),
        (
            lambda f: f.withWatermark("t", "1 hour").groupBy(F.window("t", "1 hour").alias("at")).count(),
            {"over": fs.tumbling("1 hour", on=ON)},
            r"select its start, as in \.select\(F\.col\('at'\)\.start",
        ),
        (untouched, {"over": fs.tumbling("1 hour", on="ts")}, "the input 'input' has no column 'ts'.*write 't'"),
        (untouched, {"over": fs.tumbling("1 hour", on="k")}, "the column 'k' of the input 'input' is INT"),
        (untouched, {"over": fs.tumbling("1 hour", on={"input": "t"})}, "names no column of the output 'output'"),
        (untouched, {"over": fs.tumbling("1 hour", on={**ON, "out": "t"})}, "names 'out', which is neither an input"),
    ],
)
def test_one_clear_error_and_nothing_left_behind(spark, tmp_path, monkeypatch, subject, options, message):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(InvalidArgument, match=message) as caught:
        fs.run(TIMED, subject, spark=spark, **options)
    assert "\tat " not in str(caught.value), "no stack trace in the message"
    assert spark.streams.active == [] and list(tmp_path.glob("firesteel-*")) == []
    assert [table.name for table in spark.catalog.listTables()] == []


def test_transform_with_state_without_protobuf(spark, monkeypatch):
    """PySpark's workers would die without a word."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if "protobuf" in name else find(name, *a))
    with pytest.raises(SubjectError, match="needs the package protobuf: pip install protobuf"):
        fs.run(keys("a"), timers_after(2000, "ProcessingTime"), spark=spark)
    assert spark.streams.active == []


@pytest.mark.slow
def test_the_settings_of_the_session_are_as_before(spark):
    """transformWithState needs another state store, and timers no batches without data: for their query alone."""
    names = [
        "spark.sql.streaming.stateStore.providerClass",
        "spark.sql.streaming.noDataMicroBatches.enabled",
        "spark.sql.datetime.java8API.enabled",
    ]
    before = [spark.conf.get(name) for name in names]
    fs.run(keys("a"), timers_after(2000, "ProcessingTime"), spark=spark)
    assert [spark.conf.get(name) for name in names] == before
