"""What an instant is, against traces worked out by hand; and that nothing is left behind."""

import datetime
import importlib
import threading
import time

import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import InvalidArgument, Stream, SubjectError

NUMBERS = Stream("k STRING, n INT", [[("a", 1), ("b", 2)], [], [("a", 3)]])


def outputs(trace):
    return [sorted(map(tuple, instant.output)) for instant in trace]


def sums(frame):
    return frame.groupBy("k").agg(F.sum("n").alias("n"))


def test_append(spark):
    assert outputs(fs.run(NUMBERS, lambda f: f.where("n > 1"), spark=spark)) == [[("b", 2)], [], [("a", 3)]]


def test_update_gives_what_changed(spark):
    trace = fs.run(NUMBERS, sums, output_mode="update", spark=spark)
    assert outputs(trace) == [[("a", 1), ("b", 2)], [], [("a", 4)]]


def test_complete_gives_the_whole_table_also_for_an_empty_batch(spark):
    trace = fs.run(NUMBERS, sums, output_mode="complete", spark=spark)
    assert outputs(trace) == [[("a", 1), ("b", 2)], [("a", 1), ("b", 2)], [("a", 4), ("b", 2)]]


def test_an_instant_knows_its_input_and_index(spark):
    trace = fs.run(NUMBERS, lambda f: f, spark=spark)
    assert [instant.index for instant in trace] == [0, 1, 2]
    assert trace[2].input == [("a", 3)] and trace[1].input == []
    assert trace[2].so_far.output == [("a", 1), ("b", 2), ("a", 3)]


def at(minute):
    return datetime.datetime(2024, 1, 1, 0, minute, tzinfo=datetime.UTC)


@pytest.mark.slow
def test_extra_batches_without_data_belong_to_the_instant_that_caused_them(spark):
    """The window 0:00 to 0:10 closes when 0:25 moves the watermark: in Spark's own batch after batch 1."""
    stream = Stream("t TIMESTAMP", [[(at(1),), (at(2),)], [(at(25),)], [(at(26),)]])

    def counts(frame):
        windows = frame.withWatermark("t", "5 minutes").groupBy(F.window("t", "10 minutes"))
        return windows.count().select(F.col("window.start").alias("start"), "count")

    trace = fs.run(stream, counts, spark=spark)
    assert outputs(trace) == [[], [(at(0), 2)], [(at(20), 2)]], "the last window comes out when event time ends"
    assert outputs(fs.run(stream, counts, close=False, spark=spark)) == [[], [(at(0), 2)], []]
    # in force while the batch ran: none, then 0:02 - 5 minutes, then 0:25 - 5 minutes
    assert [instant.watermark for instant in trace] == [
        None,
        datetime.datetime(2023, 12, 31, 23, 57, tzinfo=datetime.UTC),
        at(20),
    ]


def test_late_records_are_counted(spark):
    stream = Stream("t TIMESTAMP", [[(at(30),)], [(at(1),), (at(31),)], []])
    trace = fs.run(stream, lambda f: f.withWatermark("t", "5 minutes").dropDuplicates(["t"]), spark=spark)
    assert outputs(trace) == [[(at(30),)], [(at(31),)], []]
    assert [instant.dropped for instant in trace] == [0, 1, 0]


def test_several_inputs_are_seen_in_the_same_micro_batch_and_shorter_ones_padded(spark):
    left, right = Stream("k INT, a INT", [[(1, 10)], [(2, 20)]]), Stream("k INT, b INT", [[(1, 11)]])

    def joined(left, right):
        return left.join(right, "k")

    trace = fs.run({"left": left, "right": right}, joined, spark=spark)
    assert outputs(trace) == [[(1, 10, 11)], []]
    assert trace[1]["right"] == [] and trace[1]["left"] == [(2, 20)]


def test_several_outputs(spark):
    stream = Stream("n INT, ok BOOLEAN", [[(1, True), (2, False)], [(3, False)]])

    def split(frame):
        return {"good": frame.where("ok"), "bad": frame.where("NOT ok").groupBy().count()}

    trace = fs.run(stream, split, output_mode={"bad": "complete"}, spark=spark)
    assert [(i["good"], i["bad"]) for i in trace] == [([(1, True)], [(1,)]), ([], [(2,)])]


def test_a_stream_static_join(spark):
    names = spark.createDataFrame([(1, "one")], "n INT, name STRING")
    trace = fs.run(Stream("n INT", [[(1,), (2,)]]), lambda f: f.join(names, "n", "left"), spark=spark)
    assert outputs(trace) == [[(1, "one"), (2, None)]] or set(map(tuple, trace[0].output)) == {(1, "one"), (2, None)}


# --- what is left behind, and what goes wrong -------------------------------------------------------------


def things(spark, tmp):
    tables = [table.name for table in spark.catalog.listTables()]
    threads = [t.name for t in threading.enumerate() if t.name.startswith("firesteel")]
    return (
        len(spark.streams.active),
        tables,
        threads,
        [p.name for p in tmp.iterdir() if p.name.startswith("firesteel-")],
    )


def inverts(frame):
    return frame.select(F.udf(lambda n: 1 // n, "int")("n"))


def hangs(frame):
    @F.udf("int")
    def slowly(n):
        import time

        time.sleep(120)
        return n

    return frame.select(slowly("n"))


def raises(frame):
    raise LookupError("no such table")


ONE = Stream("n INT", [[(1,)], [(0,)]])


@pytest.mark.parametrize(
    "subject, options, error, message, cause",
    [
        (lambda f: 5, {}, SubjectError, r"the subject 5 returned value=5 \(int\): return a DataFrame", None),
        (lambda f: None, {}, SubjectError, r"returned value=None \(NoneType\)", None),
        (lambda f: {}, {}, SubjectError, "returned no output", None),
        (lambda f: f.sparkSession.range(1), {}, SubjectError, "returned a batch DataFrame", None),
        (
            lambda f: f.sparkSession.newSession().range(1),
            {},
            SubjectError,
            "a DataFrame of another Spark session",
            None,
        ),
        (
            lambda f: f.groupBy("n").count(),
            {},
            InvalidArgument,
            r"output_mode='append' does not fit",
            "AnalysisException",
        ),
        (
            lambda f: f,
            {"output_mode": "complete"},
            InvalidArgument,
            r"output_mode='complete' does not fit",
            "AnalysisE",
        ),
        (lambda f: f, {"output_mode": "all"}, InvalidArgument, r"output_mode='all' \(str\) is not possible", None),
        (
            raises,
            {},
            SubjectError,
            "the subject raises raised LookupError when it was built: no such table",
            "LookupError",
        ),
        (lambda f: f.select("m"), {}, SubjectError, "AnalysisException when it was built: A column.*`m`", "AnalysisE"),
        (inverts, {}, SubjectError, "inside Spark in batch 1: ZeroDivisionError", "Streaming"),
        (hangs, {"seconds": 2}, SubjectError, "batch 0 took longer than 2 s", None),
        (
            lambda a, b: a,
            {},
            InvalidArgument,
            r"cannot take the streams 'input': missing a required argument: 'b'",
            None,
        ),
        (7, {}, InvalidArgument, r"subject=7 \(int\) is not a function of DataFrames", None),
    ],
)
def test_one_clear_error_and_nothing_left_behind(spark, tmp_path, monkeypatch, subject, options, error, message, cause):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = things(spark, tmp_path)
    with pytest.raises(error, match=message) as caught:
        fs.run(ONE, subject, spark=spark, **options)
    assert "\tat " not in str(caught.value), "no stack trace in the message"
    assert cause is None or cause in type(caught.value.__cause__).__name__
    give_up = time.monotonic() + 10  # a thread that waited for a query ends a moment after it
    while things(spark, tmp_path) != before and time.monotonic() < give_up:
        time.sleep(0.05)
    assert things(spark, tmp_path) == before
    assert outputs(fs.run(ONE, lambda f: f, spark=spark)) == [[(1,)], [(0,)]], "the session is as good as before"


def test_an_unknown_stream_name(spark):
    with pytest.raises(InvalidArgument, match=r"cannot take the streams 'adds', 'clicks'.*missing a required argument"):
        fs.run({"adds": ONE, "clicks": ONE}, lambda ads, clicks: ads, spark=spark)


def test_a_batch_or_a_list_where_a_stream_is_meant(spark):
    for wrong, message in [(ONE[0], "is a batch, where a stream is meant"), ([[1]], "is not a stream")]:
        with pytest.raises(InvalidArgument, match=message):
            fs.run(wrong, lambda f: f, spark=spark)
    with pytest.raises(InvalidArgument, match="has no schema, which Spark needs"):
        fs.run(Stream(None, [[1]]), lambda f: f, spark=spark)


@pytest.mark.slow
def test_a_function_that_workers_cannot_import(spark, tmp_path, monkeypatch):
    (tmp_path / "jobs_beside_the_test.py").write_text(
        "def plus(n):\n    return n + 1\n\n\ndef lacks(n):\n    import nowhere_at_all\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    jobs = importlib.import_module("jobs_beside_the_test")
    with pytest.raises(SubjectError) as failure:
        fs.run(ONE, lambda f: f.select(F.udf(jobs.plus, "int")("n")), spark=spark)
    assert "ModuleNotFoundError: No module named 'jobs_beside_the_test'. This process could" in str(failure.value)
    assert "cloudpickle.register_pickle_by_value(sys.modules[__name__])" in str(failure.value)
    assert "spark.sparkContext.addPyFile" in str(failure.value)

    cloudpickle.register_pickle_by_value(jobs)
    try:  # the way out that it names is one
        assert fs.run(ONE, lambda f: f.select(F.udf(jobs.plus, "int")("n")), spark=spark).output
        with pytest.raises(SubjectError, match="No module named 'nowhere_at_all'") as failure:
            fs.run(ONE, lambda f: f.select(F.udf(jobs.lacks, "int")("n")), spark=spark)
        assert "This process" not in str(failure.value), "nor can this process import it"
    finally:
        cloudpickle.unregister_pickle_by_value(jobs)


def test_unknown_options(spark):
    with pytest.raises(TypeError, match=r"fs\.run has no option 'mode'. It has engine, output_mode"):
        fs.run(ONE, lambda f: f, mode="append", spark=spark)


def test_the_users_own_views_stay(spark):
    spark.range(1).createOrReplaceTempView("mine")
    fs.run(ONE, lambda f: f, spark=spark)
    assert spark.catalog.tableExists("mine")


def test_runs_on_a_checkpoint_location_of_the_session(spark, tmp_path):
    spark.conf.set("spark.sql.streaming.checkpointLocation", str(tmp_path))
    try:
        assert len(fs.run(ONE, lambda f: f, spark=spark)) == 2
        assert list(tmp_path.iterdir()) == []
    finally:
        spark.conf.unset("spark.sql.streaming.checkpointLocation")
