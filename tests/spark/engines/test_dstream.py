"""DStreams on a clock that stands still: traces worked out by hand, errors in words, and nothing left behind."""

import datetime
import os
import tempfile
import threading
import time
import warnings
from datetime import UTC, timedelta

import pytest
from pyspark.sql import Row
from pyspark.streaming import StreamingContext

import firesteel as fs
from firesteel import Batch, InvalidArgument, Record, Stream, SubjectError
from firesteel.spark.engines import dstream
from firesteel.spark.engines.dstream import exercise
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.durations import START

WORDS = Stream(None, [["a b", "b"], [], ["a"]])


def run(stream, subject, **options):
    return fs.run(stream, subject, engine="dstream", **options)


def outputs(trace, name="output"):
    return [sorted(instant[name]) for instant in trace]


def add(a, b):
    return a + b


def subtract(a, b):
    return a - b


def ones(lines):
    return lines.flatMap(str.split).map(lambda word: (word, 1))


def test_stateless(spark):
    trace = run(WORDS, lambda lines: lines.flatMap(str.split), spark=spark)
    assert outputs(trace) == [["a", "b", "b"], [], ["a"]]
    assert [instant.input.records for instant in trace] == [("a b", "b"), (), ("a",)]
    assert [instant.index for instant in trace] == [0, 1, 2]
    assert trace[2].so_far.output == ["a", "b", "b", "a"]


def test_an_aggregation_of_every_batch_by_itself(spark):
    assert outputs(run(WORDS, lambda lines: ones(lines).reduceByKey(add), spark=spark)) == [
        [("a", 1), ("b", 2)],
        [],
        [("a", 1)],
    ]


def totals(lines):
    return ones(lines).updateStateByKey(lambda new, old: sum(new) + (old or 0))


def test_state_is_kept_and_comes_out_in_every_batch(spark):
    assert outputs(run(WORDS, totals, spark=spark)) == [
        [("a", 1), ("b", 2)],
        [("a", 1), ("b", 2)],
        [("a", 2), ("b", 2)],
    ]


@pytest.mark.slow  # PySpark runs a dozen stages with Python workers for every batch of it
def test_a_window_with_an_inverse_function(spark):
    """Five batches long, the least for which PySpark takes away what leaves: the key then stays, with 0.

    Every ten seconds of time, here in the fifth batch, Spark writes the RDD to the checkpoint.
    """
    stream = Stream(None, [["a"], ["a b"], [], [], [], ["b"], []])

    def counts(lines):
        return ones(lines).reduceByKeyAndWindow(add, subtract, 10, 2)

    assert outputs(run(stream, counts, batch_interval="2 seconds", spark=spark)) == [
        [("a", 1)],
        [("a", 2), ("b", 1)],
        [("a", 2), ("b", 1)],
        [("a", 2), ("b", 1)],
        [("a", 2), ("b", 1)],
        [("a", 1), ("b", 2)],
        [("a", 0), ("b", 1)],
    ]


@pytest.mark.slow
def test_an_output_that_slides_by_two_batches_is_empty_between(spark):
    trace = run(
        Stream(None, [["a"], ["b"], ["c"], ["d"]]),
        lambda lines: {"each": lines, "two": lines.window(2, 2)},
        spark=spark,
    )
    assert outputs(trace, "two") == [[], ["a", "b"], [], ["c", "d"]]
    assert outputs(trace, "each") == [["a"], ["b"], ["c"], ["d"]]


@pytest.mark.slow
def test_several_inputs_and_outputs(spark):
    left = Stream(None, [[(1, "l"), (2, "m")], [(1, "n")], [(1, "o")]])
    right = Stream(None, [[(1, "r")], [(2, "s")]])

    def job(left, right):
        return {"both": left.join(right), "any": left.union(right)}

    trace = run({"left": left, "right": right}, job, spark=spark)
    assert outputs(trace, "both") == [[(1, ("l", "r"))], [], []]
    assert outputs(trace, "any") == [[(1, "l"), (1, "r"), (2, "m")], [(1, "n"), (2, "s")], [(1, "o")]]
    assert trace[2]["right"] == [], "the shorter one is padded"


def test_batches_of_all_sizes_are_read_by_one_serializer(spark):
    """Spark has one for all RDDs of a DStream, and PySpark's own depends on the size of the first."""
    stream = Stream(None, [list(range(size)) for size in (0, 1, 3000, 2, 0, 7)])
    trace = run(stream, lambda numbers: numbers.map(lambda n: n), spark=spark)
    assert [list(i.output.records) for i in trace] == [list(range(size)) for size in (0, 1, 3000, 2, 0, 7)]


def test_records_of_a_schema_are_rows_and_rows_come_out_as_records(spark):
    at = datetime.datetime(2024, 1, 1, 12, tzinfo=UTC)
    stream = Stream("user INT, at TIMESTAMP, place STRUCT<x: INT>", [[(1, at, (7,))]])

    def job(rows):
        return {
            "types": rows.map(lambda row: type(row).__name__ + " " + type(row.place).__name__),
            "moved": rows.map(lambda row: Row(user=row.user + 1, at=row["at"] + timedelta(hours=1))),
            "pairs": rows.map(lambda row: (row.user, row.place)),
            "same": rows,
        }

    (instant,) = run(stream, job, spark=spark)
    assert instant["types"] == ["Row Row"]
    assert instant["moved"].records == (Record(user=2, at=at + timedelta(hours=1)),)
    assert instant["pairs"].records == ((1, Record(x=7)),) and type(instant["pairs"][0]) is tuple
    assert instant["same"] == instant.input and isinstance(instant["same"][0], Record)


@pytest.mark.parametrize("interval", [timedelta(seconds=1), timedelta(milliseconds=250), timedelta(minutes=7)])
def test_time(spark, interval):
    """The clock starts in 2000, and Spark's batches are at multiples of their interval."""

    def times(lines):
        return lines.transform(lambda at, rdd: rdd.context.parallelize([at.astimezone(UTC)]))

    trace = run(WORDS, times, batch_interval=interval, spark=spark)
    assert [i.output.records for i in trace] == [(i.time,) for i in trace]
    first = trace[0].time
    assert [i.time - first for i in trace] == [0 * interval, interval, 2 * interval]
    assert START <= first < START + interval and not (first - datetime.datetime(1970, 1, 1, tzinfo=UTC)) % interval


def test_windows_are_as_long_as_their_time(spark):
    trace = run(Stream(None, [["a"], ["b"], ["c"]]), lambda s: s.window(60), batch_interval="30 seconds", spark=spark)
    assert outputs(trace) == [["a"], ["a", "b"], ["b", "c"]]


def test_the_partitions_of_a_batch_are_those_of_its_rdd(spark):
    stream = Stream(None, [Batch([1, 2, 3], partitions=(0, 2, 1)), Batch([4], partitions=(1,)), Batch([5, 6, 7])])
    trace = run(stream, lambda numbers: numbers.glom(), spark=spark)
    assert [list(i.output.records) for i in trace[:2]] == [[[], [1, 2], [3]], [[4]]]
    usual = spark.sparkContext.parallelize([5, 6, 7]).glom().collect()
    assert list(trace[2].output.records) == usual


def test_a_case_ends_where_its_watcher_says(spark):
    seen = []

    def job(lines):
        lines.foreachRDD(lambda rdd: seen.append(rdd.collect()))
        return lines

    def stop_after_two(instant):
        return instant.index == 1

    trace = exercise(spark, Case({"input": WORDS}), job, Running(engine="dstream"), stop_after_two)
    assert len(trace) == 2 and seen == [["a b", "b"], []]


def test_a_stream_without_batches(spark):
    assert len(run(Stream(None, []), lambda lines: lines, spark=spark)) == 0


# --- errors ----------------------------------------------------------------------------------------


def is_active(spark):
    return spark._jvm.org.apache.spark.streaming.StreamingContext.getActive().isDefined()


def raising(word):
    raise ValueError(f"no {word}")


def fails(message, stream, subject, **options):
    with pytest.raises(SubjectError, match=message):
        run(stream, subject, **options)


AT_LAST = Stream(None, [["fine"], [], ["boom"]])


@pytest.mark.slow
def test_a_function_that_raises(spark):
    fails(
        r"raised inside Spark in batch 2: ValueError: no boom",
        AT_LAST,
        lambda lines: lines.map(lambda word: raising(word) if word == "boom" else word),
        spark=spark,
    )


def test_a_transformation_that_raises_when_its_rdd_is_made(spark):
    def refuse(at, rdd):
        return rdd if rdd.isEmpty() or rdd.first() == "fine" else raising(rdd.first())

    fails(r"raised inside Spark in batch 2: ValueError: no boom", AT_LAST, lambda s: s.transform(refuse), spark=spark)


@pytest.mark.slow
def test_an_output_operation_of_the_subject_that_raises(spark):
    def job(lines):
        lines.foreachRDD(lambda rdd: [raising(word) for word in rdd.collect() if word == "boom"])
        return lines.transform(lambda rdd: rdd.context.emptyRDD())  # collected in no time

    for _ in range(5):  # Spark tells of it a moment after the batch is done
        stream = Stream(None, [["fine"], ["boom"]])
        fails(r"raised inside Spark in batch 1: ValueError: no boom", stream, job, spark=spark)


def test_a_subject_that_raises_when_it_is_called(spark):
    fails(r"raised ValueError when it was built: no stream", WORDS, lambda lines: raising("stream"), spark=spark)


@pytest.mark.slow
def test_a_batch_that_hangs(spark):
    began = time.monotonic()
    fails(r"batch 0 took longer than 1 s", WORDS, lambda s: s.map(lambda w: time.sleep(60)), spark=spark, seconds=1)
    assert outputs(run(WORDS, lambda lines: lines, spark=spark)) == [["a b", "b"], [], ["a"]]
    assert time.monotonic() - began < 20


def test_a_transformation_that_hangs_on_the_driver(spark, monkeypatch):
    """Spark waits for it when the context is stopped; the runner does not."""
    monkeypatch.setattr(dstream, "STOP_SECONDS", 1)
    going_on = threading.Event()
    began = time.monotonic()
    try:
        fails(
            r"batch 0 took longer than 1 s",
            WORDS,
            lambda s: s.transform(lambda rdd: going_on.wait(60) and rdd),
            spark=spark,
            seconds=1,
        )
    finally:
        going_on.set()
    assert time.monotonic() - began < 15
    give_up = time.monotonic() + 20
    while is_active(spark):
        assert time.monotonic() < give_up, "it never stopped"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "subject, message",
    [
        (lambda lines: None, r"returned value=None \(NoneType\): return a DStream"),
        (lambda lines: lines.pprint(), r"returned value=None \(NoneType\): return a DStream"),
        (lambda lines: {"a": lines, "b": 1}, r"returned, as 'b', value=1 \(int\): return a DStream"),
        (lambda lines: {}, "returned no output: return a DStream"),
        (lambda lines: lines.context().start() or lines, r"start\(\) of the StreamingContext was called"),
        (lambda lines: lines.context().awaitTermination() or lines, r"awaitTermination\(\) of the StreamingContext"),
        (lambda lines: lines.context().stop() or lines, r"stop\(\) of the StreamingContext was called"),
        (lambda lines: lines.window(1.5), "must be multiple of the parent dstream's slide"),
    ],
)
def test_a_subject_that_is_none(spark, subject, message):
    fails(message, WORDS, subject, spark=spark)


def own_context(spark, *, start):
    def job(lines):
        context = StreamingContext(spark.sparkContext, 1)
        own = context.queueStream([spark.sparkContext.parallelize([1])])
        if start:
            own.foreachRDD(lambda rdd: None)
            context.start()
        return own if not start else lines

    return job


def test_a_subject_that_starts_a_context_of_its_own(spark):
    fails("starts a StreamingContext of its own", WORDS, own_context(spark, start=True), spark=spark)
    assert not is_active(spark), "it was stopped"


def test_a_stream_of_another_context(spark):
    fails("a DStream of another StreamingContext", WORDS, own_context(spark, start=False), spark=spark)


def test_a_context_that_is_running_already(spark):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        context = StreamingContext(spark.sparkContext, 3600)
    context.queueStream([spark.sparkContext.parallelize([1])]).foreachRDD(lambda rdd: None)
    context.start()
    try:
        with pytest.raises(InvalidArgument, match=r"a StreamingContext is running in this process.*stop it before"):
            run(WORDS, lambda lines: lines, spark=spark)
    finally:
        context.stop(stopSparkContext=False)


def test_records_that_cannot_be_sent(spark):
    with pytest.raises(InvalidArgument, match="cannot be sent to Spark"):
        run(Stream(None, [[threading.Lock()]]), lambda s: s, spark=spark)


@pytest.mark.parametrize(
    "option", [{"output_mode": "update"}, {"state": True}, {"over": fs.tumbling("1 hour", on="ts")}, {"close": False}]
)
def test_options_of_structured_streaming(spark, option):
    (name,) = option
    with pytest.raises(InvalidArgument, match=rf"{name}=.* does not go with engine='dstream'.*leave it out"):
        run(WORDS, lambda lines: lines, spark=spark, **option)


def test_an_engine_that_there_is_not(spark):
    with pytest.raises(InvalidArgument, match=r"engine='flink' \(str\) is not possible: write 'structured', 'dstream'"):
        fs.run(WORDS, lambda lines: lines, engine="flink", spark=spark)


# --- what is left ------------------------------------------------------------------------------------


def left_behind(spark):
    java = spark.sparkContext._jsc
    return {
        "settings": sorted(setting.toString() for setting in java.sc().conf().getAll()),
        "checkpoint folder": java.sc().checkpointDir().toString(),
        "kept": sorted(java.getPersistentRDDs()),
        "folders": {name for name in os.listdir(tempfile.gettempdir()) if name.startswith(f"firesteel-{os.getpid()}-")},
        "threads": {thread.name for thread in threading.enumerate() if "dstream" in thread.name},
        "active": is_active(spark),
    }


def test_nothing_is_left_behind(spark):
    before = left_behind(spark)
    run(WORDS[:2], totals, spark=spark)
    assert left_behind(spark) == before
    with pytest.raises(SubjectError):
        run(WORDS[:2], lambda lines: totals(lines).map(raising), spark=spark)
    assert left_behind(spark) == before


# --- properties ---------------------------------------------------------------------------------------


def test_a_report_says_what_was_run(spark):
    from hypothesis import strategies as st

    from firesteel import strategies as ss

    def forgetful(numbers):
        return numbers.filter(lambda n: n < 3)

    streams = ss.always(ss.batches(st.just(3), min_size=1, max_size=1), during=2)
    same = fs.always(lambda now: now.output.same_as(now.input), during=1)
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(streams, forgetful, same, cases=10, engine="dstream", batch_interval="2 seconds", spark=spark)
    text = str(failure.value)
    assert "forgetful" in text and ", dstream, Spark" in text and "one case at a time" not in text
    assert "case = fs.Stream(None, [[3], [3]])" in text
    kept = "".join(text.partition("Keep it as a test:")[2].split())
    assert "engine='dstream',batch_interval='2seconds'" in kept
    found = failure.value.report.counterexample
    with pytest.raises(fs.Falsified):
        fs.for_all(streams, forgetful, same, replay=found.replay, engine="dstream", spark=spark)
