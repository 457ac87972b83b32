"""Findings that two runs on the captured data show, and what is asked of a running session."""

import random
import threading

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel.evidence.lint import Unclean
from firesteel.linting import evidence_against, evidence_of_luck
from firesteel.model.lint.flows import Untested
from tests.model.lint.programs import wrong_watermarks


def numbers(spark):
    return spark.sparkContext.parallelize([(0, n) for n in range(6)], 3)


def listed(spark):
    return numbers(spark).groupByKey(1).mapValues(list).collect()


def taken(spark):
    return numbers(spark).map(lambda p: (p[1], 0)).reduceByKey(max, 1).first()


def subtracted(spark):
    return numbers(spark).mapValues(lambda n: n * n).reduceByKey(lambda a, b: a - b, 1).collect()


def joined_texts(spark):
    texts = spark.sparkContext.parallelize([(0, "a"), (0, "b"), (0, "c")], 3)
    return texts.reduceByKey(lambda a, b: a + b, 1).collect()


def drawn(spark):
    return numbers(spark).mapValues(lambda n: n + random.random()).collect()


def frames(spark):
    rows = spark.createDataFrame([(1, n) for n in range(6)], "k INT, n INT").repartition(3)
    return rows.groupBy("k").agg(F.collect_list("n").alias("ns")).collect()


def no_ties(spark):
    return numbers(spark).map(lambda p: (p[1], p[1] * 2)).sortBy(lambda p: p[1]).take(2)


PROGRAMS = [listed, taken, subtracted, joined_texts, drawn, frames, no_ties]


@pytest.fixture(scope="module")
def found(spark):
    earlier = numbers(spark)
    with fs.capture(spark) as dag:
        for program in PROGRAMS:
            program(spark)
        earlier.groupByKey().first()
    findings = dag.lint(seconds=60)
    return {one.where.function: one for one in findings}, dag


@pytest.mark.slow
@pytest.mark.parametrize(
    "program, rule, first, then",
    [
        (listed, "group-in-order", "[0, 1, 2, 3, 4, 5]", "[4, 5, 2, 3, 0, 1]"),
        (taken, "take-without-order", "(0, 0)", "(4, 0)"),
        (subtracted, "reducer-not-commutative", "(0, 13)", "(0, -3)"),  # of 0-1, 4-9 and 16-25
        (joined_texts, "reducer-not-commutative", "(0, 'abc')", "(0, 'cba')"),
        (drawn, "luck-in-function", "", ""),
        (frames, "order-sensitive-aggregate", "ns=[", "ns=["),
    ],
    ids=lambda given: getattr(given, "__name__", None),
)
def test_both_results_are_shown(found, program, rule, first, then):
    one = found[0][program.__name__]
    assert one.rule == rule
    left, _, right = one.confirmed.partition(" and ")
    assert one.confirmed.startswith("two runs") and first in left and then in right


@pytest.mark.slow
def test_what_the_data_does_not_show_is_not_confirmed(found):
    assert found[0]["no_ties"].rule == "ties-after-sort" and found[0]["no_ties"].confirmed == ""


@pytest.mark.slow
def test_what_was_there_before_the_block_cannot_be_run_again(found):
    assert found[0]["found"].rule == "take-without-order" and found[0]["found"].confirmed == ""


@pytest.mark.slow
def test_what_spark_believes(found):
    one = found[0]["listed"]
    assert one.spark_level.name == "UNORDERED" and one.level.name == "INDETERMINATE"
    levels = found[1].levels
    assert levels[one.operation].level is one.level and levels[one.operation].reasons


class Noise:
    def __init__(self, scale):
        self.scale = scale

    def value(self):
        return random.random() * self.scale


LOUD, QUIET = Noise(1), Noise(0)


def test_functions_that_reading_does_not_say_enough_about():
    assert evidence_of_luck(lambda n: n + LOUD.value(), [1, 2]).startswith("f(")
    assert evidence_of_luck(lambda n: n + QUIET.value(), [1, 2]) is None
    lock = threading.Lock()
    assert evidence_of_luck(lambda n: (n, lock.locked()), [1, 2]) is None, "it cannot be sent"


@pytest.mark.slow
def test_methods_of_objects_are_found_out_by_calling_them(spark):
    with fs.capture(spark) as dag:
        numbers(spark).mapValues(lambda n: n + LOUD.value()).collect()
        numbers(spark).mapValues(lambda n: n + QUIET.value()).collect()
    (one,) = dag.lint(seconds=60)
    assert one.rule == "luck-in-function" and "gives something else when it is called again" in one.message
    assert "LOUD" in one.message and dag.lint(confirm=False) == []


@pytest.mark.slow
def test_a_policy_that_is_set_is_on_purpose(spark):
    policy = "spark.sql.streaming.multipleWatermarkPolicy"
    with fs.capture(spark) as dag:
        wrong_watermarks(spark)
    assert [one.rule for one in dag.lint(confirm=False)] == ["two-watermarks"]
    spark.conf.set(policy, "max")
    try:
        assert dag.lint(confirm=False) == []
    finally:
        spark.conf.unset(policy)


@pytest.mark.slow
def test_assert_clean_confirms_if_it_may(spark):
    with pytest.raises(Unclean) as failure:
        fs.assert_clean(listed, spark=spark, confirm=False)
    assert [one.confirmed for one in failure.value.findings] == [""]
    with pytest.raises(Unclean, match="two runs") as failure:
        fs.assert_clean(listed, spark=spark, seconds=60)
    assert "[4, 5, 2, 3, 0, 1]" in failure.value.findings[0].confirmed


def test_reducers_that_cannot_be_tested():
    lock = threading.Lock()

    def locked(a, b):
        with lock:
            return a

    with pytest.raises(Untested, match="pickle"):
        evidence_against(locked, [1, 2])
    assert evidence_against(lambda a, b: 2 * a + b, [1, 1]) is not None


@pytest.mark.slow
def test_assert_clean(spark):
    def clean(spark):
        return spark.range(9).groupBy("id").count().orderBy("id").first()

    def tied(spark):
        return spark.range(9).withColumn("k", F.lit(1)).orderBy("k").first()

    assert fs.assert_clean(clean, spark=spark) is None
    with pytest.raises(Unclean, match="ties-after-sort") as failure:
        fs.assert_clean(tied, spark=spark)
    assert [one.rule for one in failure.value.findings] == ["ties-after-sort"]
    fs.assert_clean(tied, spark=spark, warnings=False)
    fs.assert_clean(tied, spark=spark, ignore=["ties-after-sort"])
    with pytest.raises(fs.InvalidArgument, match="is not a function"):
        fs.assert_clean(3)
    with pytest.raises(fs.InvalidArgument, match="seconds=0"):
        fs.assert_clean(clean, seconds=0)
    with pytest.raises(ZeroDivisionError):
        fs.assert_clean(lambda spark: 1 / 0, spark=spark)
