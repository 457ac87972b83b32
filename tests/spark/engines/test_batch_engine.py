"""Batch jobs: one instant, DataFrames and RDDs, with the partitions that were drawn."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import Batch, InvalidArgument, Record, Stream, SubjectError
from firesteel import strategies as ss

NUMBERS = Batch([("a", 1), ("b", 2), ("a", 3)], schema="k STRING, n INT")


def run(stream, subject, **options):
    return fs.run(stream, subject, engine="batch", **options)


def test_a_frame_where_there_is_a_schema(spark):
    (instant,) = run(NUMBERS, lambda f: f.groupBy("k").agg(F.sum("n").alias("n")), spark=spark)
    assert instant.output == [("a", 4), ("b", 2)] and isinstance(instant.output[0], Record)
    assert instant.input == NUMBERS and instant.index == 0 and instant.time is None


def test_an_rdd_where_there_is_none(spark):
    (instant,) = run(Stream(None, [["a b", "b"]]), lambda lines: lines.flatMap(str.split).distinct(), spark=spark)
    assert instant.output == ["a", "b"]


def test_both_kinds_by_name_in_and_out(spark):
    def job(table, words):
        return {"n": table.where("n > 1").select("n"), "upper": words.map(str.upper), "rows": table.rdd}

    (instant,) = run({"table": NUMBERS, "words": Batch(["x"])}, job, spark=spark)
    assert (instant["n"], instant["upper"], instant["rows"]) == ([(2,), (3,)], ["X"], NUMBERS)


def test_types_are_exact(spark):
    at = datetime(1500, 1, 1, 12, tzinfo=UTC)
    batch = Batch([(at, b"x", (1, ["a", None]))], schema="at TIMESTAMP, b BINARY, s STRUCT<n: INT, l ARRAY<STRING>>")
    for placed in (batch, Batch(batch.records, schema=batch.schema, partitions=(0, 1))):
        assert run(placed, lambda f: f, spark=spark).output == batch


def test_a_shorter_input_is_empty(spark):
    streams = {"left": Stream("k INT", [[(1,)]]), "right": Stream("k INT", [])}
    assert run(streams, lambda left, right: left.union(right), spark=spark).output == [(1,)]
    assert len(run(Stream("k INT", []), lambda f: f, spark=spark)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("schema", [None, "n INT"])
def test_the_subject_sees_the_partitions_that_were_drawn(spark, schema):
    def placed(batch):
        glom = (lambda f: f.rdd.glom()) if schema else (lambda rdd: rdd.glom())
        return [len(part) for part in run(batch, glom, spark=spark).output.records]

    elements = st.integers(0, 9) if schema is None else ss.records(schema)

    @settings(max_examples=15, database=None)
    @given(ss.partitioned(ss.batches(elements, max_size=5), max_partitions=5))
    def check(batch):
        assert placed(batch) == list(batch.partitions)

    check()
    usual = spark.sparkContext.parallelize([(1,), (2,), (3,)]).glom().collect()
    assert placed(Batch([(1,), (2,), (3,)], schema=schema)) == [len(part) for part in usual]


def test_what_is_large_stays_in_spark(spark):
    numbers = Batch([(n,) for n in range(30)], schema="n INT")
    job = {"large": lambda f: f.where("n > 2"), "small": lambda f: f.where("n > 27")}
    (instant,) = run(numbers, lambda f: {name: part(f) for name, part in job.items()}, large=20, spark=spark)
    assert type(instant["large"]) is not Batch and instant["large"].df.count() == 27 == len(instant["large"])
    assert type(instant["small"]) is Batch and instant["small"] == [(28,), (29,)]


# --- errors ----------------------------------------------------------------------------------------


def raising(value):
    raise ValueError(f"no {value}")


@pytest.mark.parametrize(
    "subject, message",
    [
        (lambda rdd: None, r"returned value=None \(NoneType\): return a DataFrame or an RDD"),
        (lambda rdd: {}, "returned no output: return a DataFrame or an RDD"),
        (lambda rdd: {"x": [1]}, r"returned, as 'x', value=\[1\] \(list\)"),
        (lambda rdd: rdd.map(raising), "raised inside Spark: ValueError: no 1"),
        (lambda rdd: raising("job"), "raised ValueError when it was built: no job"),
        (lambda rdd: rdd.map(raising).collect(), "when it was built: ValueError: no 1"),
    ],
)
def test_a_subject_that_fails(spark, subject, message):
    with pytest.raises(SubjectError, match=message):
        run(Batch([1]), subject, spark=spark)


def test_a_streaming_frame(spark):
    with pytest.raises(SubjectError, match=r"returned a streaming DataFrame.*leave engine= out"):
        run(Batch([1]), lambda rdd: spark.readStream.format("rate").load(), spark=spark)


def test_a_job_that_hangs(spark):
    began = time.monotonic()
    with pytest.raises(SubjectError, match="the job took longer than 1 s"):
        run(Batch([1]), lambda rdd: rdd.map(lambda n: time.sleep(60)), seconds=1, spark=spark)
    assert run(Batch([1]), lambda rdd: rdd, spark=spark).output == [1]
    assert time.monotonic() - began < 20


def test_a_stream_of_several_batches(spark):
    with pytest.raises(InvalidArgument, match=r"the stream 'input' has 2 batches, and engine='batch' runs one"):
        run(Stream(None, [[1], [2]]), lambda rdd: rdd, spark=spark)


@pytest.mark.parametrize("option", [{"output_mode": "update"}, {"state": True}, {"batch_interval": "2 seconds"}])
def test_options_of_streams(spark, option):
    (name,) = option
    with pytest.raises(InvalidArgument, match=rf"{name}=.* does not go with engine='batch'.*leave it out"):
        run(NUMBERS, lambda f: f, spark=spark, **option)


def test_a_batch_is_no_stream_for_the_other_engines(spark):
    for engine in ("structured", "dstream"):
        with pytest.raises(InvalidArgument, match="is a batch, where a stream is meant"):
            fs.run(NUMBERS, lambda f: f, engine=engine, spark=spark)


# --- properties -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_strategy_of_batches_is_one_of_cases(spark):
    def at_least_3(frame):
        return frame.where("n >= 3")

    batches = ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 9)), max_size=3)
    report = fs.for_all(
        batches, at_least_3, fs.always(lambda now: now.output.every(lambda r: r.n >= 3), during=1), cases=20,
        examples=[Batch([(5,)], schema="n INT NOT NULL")], engine="batch", spark=spark,
    )  # fmt: skip
    assert report.cases == 21
    with pytest.raises(fs.Falsified) as failure:
        same = fs.always(lambda now: now.output.same_as(now.input), during=1)
        fs.for_all(batches, at_least_3, same, cases=20, engine="batch", spark=spark)
    text = str(failure.value)
    assert ", batch, Spark" in text
    assert "case = fs.Stream('n INT NOT NULL', [[(0,)]])" in text and "engine='batch'" in text


def test_a_dict_of_batches(spark):
    both = st.fixed_dictionaries({"left": ss.batches(st.integers(0, 3)), "right": ss.batches(st.integers(0, 3))})
    together = fs.now(lambda now: now.output.same_as(now["left"] + now["right"]))
    fs.for_all(both, lambda left, right: left.union(right), together, cases=10, engine="batch", spark=spark)
