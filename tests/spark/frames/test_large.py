"""Batches that stay in Spark give the same answers as those on the driver."""

import hypothesis
import pytest

import firesteel as fs
from firesteel import Batch, Record, Stream
from firesteel.spark.frames import close
from firesteel.spark.frames.large import LargeBatch, keep
from firesteel.values.batches import together

SCHEMA = "k STRING, x DOUBLE"
NAN = float("nan")
ROWS = [Record(k=k, x=x) for k, x in [("a", 1.0), ("b", NAN), ("b", NAN), (None, None), ("c", -1.0)]]


@pytest.fixture(scope="module")
def small():
    return Batch(ROWS, schema=SCHEMA)


@pytest.fixture(scope="module")
def large(spark, small):
    return LargeBatch(keep(small.df.coalesce(1)), small.schema)


def records(check):
    return Batch(check.records)


QUESTIONS = {
    "every": lambda b: b.every(lambda r: r.k != "b"),
    "every holds": lambda b: b.every(lambda r: r.k != "z"),
    "some": lambda b: b.some(lambda r: r.k == "b"),
    "some fails": lambda b: b.some(lambda r: r.k == "z"),
    "none": lambda b: b.none(lambda r: r.x == -1.0),
    "none holds": lambda b: b.none(lambda r: r.k == "z"),
    "unique": lambda b: b.unique(),
    "unique by": lambda b: b.unique("k"),
    "same": lambda b: b.same_as(list(reversed(ROWS))),
    "same fails": lambda b: b.same_as([*ROWS[1:], Record(k="z", x=0.0)]),
    "same counts": lambda b: b.same_as(ROWS + ROWS[1:2]),
    "same set": lambda b: b.same_set_as(ROWS + ROWS),
    "same set fails": lambda b: b.same_set_as(ROWS[:2]),
    "contains": lambda b: b.contains(ROWS[1:3]),
    "contains fails": lambda b: b.contains([Record(k="b", x=NAN)] * 3),
    "sorted": lambda b: b.sorted_by("k"),
}


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_the_same_answers(small, large, question):
    mine, theirs = QUESTIONS[question](small), QUESTIONS[question](large)
    assert bool(mine) == bool(theirs)
    assert records(mine) == records(theirs)
    if question != "sorted":
        assert mine.reason == theirs.reason


@pytest.mark.slow
def test_batches_compare_and_join_across_sizes(small, large):
    assert large == small and small == large and large == ROWS and large != ROWS[1:]
    assert len(large) == 5 and bool(large)
    both = large + small
    assert isinstance(both, LargeBatch) and len(both) == 10
    assert len(together([small, large])) == 10
    assert ("a", 1.0) in large and ("z", 1.0) not in large


def test_what_would_bring_all_to_the_driver_is_refused(large):
    for ask in (list, lambda b: b[0], lambda b: b.values("k"), lambda b: b.records):
        with pytest.raises(TypeError, match=r"this batch has 5 records and stays in Spark: .*large="):
            ask(large)


def is_b(record):
    return record.k == "b"


def test_a_function_of_the_test_module_can_be_asked(large):
    assert large.some(is_b) and len(large.where(is_b)) == 2


def test_sorting_across_partitions(spark):
    rows = spark.range(100, numPartitions=4).selectExpr("CAST(id AS DOUBLE) x")
    assert LargeBatch(rows, rows.schema).sorted_by("x")
    turned = rows.repartition(2).sortWithinPartitions("x")
    check = LargeBatch(keep(turned), rows.schema).sorted_by("x")
    assert not check and check.records[0].x > check.records[1].x


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["append", "update", "complete"])
def test_a_run_that_keeps_its_batches_is_the_same_run(spark, mode):
    stream = Stream("k STRING, n INT", [[("a", 1), ("b", 2), ("c", 3)], [], [("a", 3)]])

    def job(frame):
        return frame if mode == "append" else frame.groupBy("k").sum("n")

    driver = fs.run(stream, job, output_mode=mode, spark=spark)
    kept = fs.run(stream, job, output_mode=mode, spark=spark, large=0)
    for one, other in zip(driver, kept, strict=True):
        assert other.output == one.output
    assert isinstance(kept[0].output, LargeBatch) and type(kept[1].output) is (
        LargeBatch if mode == "complete" else Batch
    )


def test_output_that_turns_out_to_be_large_stays_in_spark(spark):
    stream = Stream("n INT", [[(3,)], [(5000,)]])
    trace = fs.run(stream, lambda f: f.selectExpr("explode(sequence(1, n)) AS m"), spark=spark, large=1000)
    assert type(trace[0].output) is Batch or len(trace[0].output) == 3
    assert isinstance(trace[1].output, LargeBatch) and len(trace[1].output) == 5000
    assert trace[1].output.every(lambda r: r.m >= 1)
    assert trace[1].so_far.output.none(lambda r: r.m > 5000)


@pytest.mark.slow
def test_a_driver_batch_can_be_asked_about_a_large_one(spark, small, large):
    assert small.contains(large) and small.same_as(large) and small.same_set_as(large)
    assert not Batch(ROWS[1:], schema=SCHEMA).contains(large)
    assert Batch(ROWS[1:], schema=SCHEMA).same_as(large).reason == "1 missing: Record(k='a', x=1.0)"


def test_other_columns_and_records_that_do_not_fit_are_differences(spark, large):
    renamed = LargeBatch(large.df.toDF("k", "y"), large.df.toDF("k", "y").schema)
    assert not large.same_as(renamed) and "the columns differ" in large.same_as(renamed).reason
    assert not large.same_as([(1, "x")]) and not large.contains([Record(other=1)])
    strict = LargeBatch(spark.createDataFrame([(1,)], "n INT NOT NULL"), Batch([], schema="n INT NOT NULL").schema)
    assert not strict.contains([(None,)])


def test_a_part_that_is_small_comes_to_the_driver(large):
    part = large.where(lambda r: r.k == "b")
    assert type(part) is Batch and [r.k for r in part] == ["b", "b"]


@pytest.mark.slow
def test_a_variant_that_offends_is_shown_as_a_value(spark):
    texts = [(1, '{"a": 1, "b": [null]}'), (1, '{"b": [null], "a": 1}'), (2, "3")]
    frame = spark.createDataFrame(texts, "n INT, v STRING").selectExpr("n", "map(n, parse_json(v)) AS v").coalesce(1)
    batch = LargeBatch(keep(frame), frame.schema)
    rest = LargeBatch(keep(frame.where("n = 1")), frame.schema)
    assert batch.same_as(batch) and batch.contains(rest) and batch.same_set_as(LargeBatch(frame.limit(3), frame.schema))
    missing = rest.contains(batch)
    assert [(r.n, r.v[2].toPython()) for r in missing.records] == [(2, 3)]
    assert batch.unique().reason.endswith("comes 2 times") and len(batch.unique("v").records) == 2


def test_strings_that_only_a_collation_calls_equal_are_different(spark):
    frame = spark.sql("SELECT s COLLATE UTF8_LCASE AS s FROM VALUES ('a'), ('A') AS t(s)")
    batch = LargeBatch(keep(frame), frame.schema)
    assert batch.unique() and not batch.contains([("a",), ("a",)])


def test_an_equality_that_would_bring_too_much_to_the_driver_is_refused(spark, monkeypatch):
    monkeypatch.setattr(close, "ON_DRIVER", 3)
    frame = spark.range(4).selectExpr("id / 7 AS x")
    batch, other = (LargeBatch(each, frame.schema) for each in (frame, frame.selectExpr("x + 1 AS x")))
    with pytest.raises(
        fs.InvalidArgument, match=r"equal=equality\(abs_tol=0.1\).* 4 records here and 4 there .* more than the 3 that"
    ):
        batch.same_as(other, equal=fs.equality(abs_tol=0.1))


def test_a_comparison_leaves_nothing_in_the_cache(spark, large):
    before = set(spark.sparkContext._jsc.getPersistentRDDs())
    assert large.same_as(ROWS) and not large.contains([("z", 0.0)])
    # What other tests kept may go meanwhile; nothing new may stay.
    assert set(spark.sparkContext._jsc.getPersistentRDDs()) <= before


def forgot(record):
    record.k == "a"  # noqa: B015


def has_a_key(record):
    if record.k is None:
        raise AssertionError("no key")
    return True


def noisy(record):
    hypothesis.event("asked")
    return record.k is not None


@pytest.mark.parametrize("question", ["every", "some", "none", "where"])
def test_what_is_not_an_answer_is_refused_by_executors_too(small, large, question):
    messages = []
    for batch in (small, large):
        with pytest.raises(fs.PredicateError, match=r"the predicate forgot, at .*, returned None") as refused:
            getattr(batch, question)(forgot)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


@pytest.mark.slow
def test_a_failed_assertion_means_no_on_executors_too(small, large):
    assert large.every(has_a_key) == small.every(has_a_key)
    assert large.every(has_a_key).reason.endswith("has_a_key: no key")
    nothing = Batch([ROWS[3]], schema=SCHEMA)
    assert LargeBatch(nothing.df, nothing.schema).some(has_a_key) == nothing.some(has_a_key)
    assert large.where(has_a_key) == small.where(noisy) == large.where(noisy)
