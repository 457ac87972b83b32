"""What every case of the zoo gets in a bulk run is what it gets alone, or the run is refused with a reason.

The traces have to be equal as a whole: inputs, outputs (as multisets), times, watermarks and dropped records.
"""

import pytest
from pyspark.sql import functions as F

from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.exercise import exercise_apart
from firesteel.spark.engines.structured import exercise
from firesteel.spark.failures import CannotCarry, SubjectFailure
from firesteel.spark.running import Running
from tests.spark.bulk.zoo import TRAPS, ZOO
from tests.spark.bulk.zoo_cases import ALIGNED, KEYED, one, two
from tests.spark.bulk.zoo_subjects import names, session


@pytest.mark.parametrize(
    "subject, cases, how, reason",
    [
        (lambda f: names(f).join(f, "k", "left"), KEYED, {}, "keeps every record of a static table in an outer join"),
        (lambda f: f.select("k").union(names(f).select("k")), KEYED, {}, "unites a stream with a batch"),
        (lambda f: f, [*one("k INT", [[(1,)]]), *one("k BIGINT", [[(1,)]])], {}, "different schemas for 'input'"),
        (lambda f: f, KEYED, {"state": True}, "the state after every batch belongs to all cases together"),
        (lambda f: f, KEYED, {"large": 1}, "a batch is large enough for a run of its own"),
        (lambda f: names(f), KEYED, {}, "which no stream flows through"),
    ],
    ids=["static outer", "union with a batch", "schemas", "state", "large", "no stream"],
)
def test_why_cases_cannot_run_together(spark, subject, cases, how, reason):
    with pytest.raises((CannotCarry, SubjectFailure), match=reason):
        exercise_together(spark, cases, subject, Running(**how))


ENDS = two("a INT", "b INT", ([[(1,)]], [[(2,)]]), ([[(3,)]], [[(2,)]]))


def in_sessions(*keys):
    return lambda f: f.withWatermark("ts", "5 minutes").groupBy(session(), *keys).count()


@pytest.mark.parametrize(
    "subject, mode, cases, reason",
    [
        (lambda left, right: left.join(right, F.expr("a < b")), "append", ENDS, "joins streams without an equality"),
        (in_sessions(), "append", ALIGNED, "a session window without a key"),
        (lambda f: in_sessions(F.lit(1))(f), "complete", ALIGNED, "a session window without a key"),
        (lambda f: f.dropDuplicates([]), "append", ALIGNED, "without a column to tell them by"),
        (lambda f: f.dropDuplicatesWithinWatermark(["k"]), "append", ALIGNED, "without watermark"),
        (lambda f: f.groupBy("k").agg(F.count_distinct("n")), "update", ALIGNED, "Distinct aggregations"),
    ],
    ids=["join", "sessions", "sessions and a constant", "no keys", "no watermark", "distinct"],
)
def test_what_spark_refuses_alone_is_refused_together(spark, subject, mode, cases, reason):
    """The hidden column would be the equality, the key or the column that the subject lacks."""
    how = Running(output_mode=mode)
    with pytest.raises((CannotCarry, SubjectFailure), match=reason):
        exercise_together(spark, cases, subject, how)
    with pytest.raises(SubjectFailure):
        exercise(spark, cases[0], subject, how, lambda now: False)


@pytest.mark.slow
def test_a_session_with_a_key_that_spark_does_not_leave_out_runs_together(spark):
    def subject(f):
        return in_sessions("one")(f.withColumn("one", F.lit(1)))

    alone = exercise_apart(spark, ALIGNED[:2], subject, Running())
    assert exercise_together(spark, ALIGNED[:2], subject, Running()) == alone


@pytest.mark.slow
def test_an_input_that_is_joined_with_itself(spark):
    def subject(f):
        return f.alias("a").join(f.alias("b"), "k").select("k")

    alone = exercise_apart(spark, KEYED, subject, Running())
    assert exercise_together(spark, KEYED, subject, Running()) == alone
    assert sum(len(instant.output) for trace in alone for instant in trace) > 5


def of_the_zoo(number, kept):
    # Of those that are quick by themselves, every eighth is enough for a quick run.
    marks = [pytest.mark.slow] if kept.slow or number % 8 else []
    return pytest.param(kept, id=kept.name, marks=marks)


@pytest.mark.parametrize("kept", [of_the_zoo(*each) for each in enumerate([*ZOO, *TRAPS])])
def test_together_as_alone(spark, kept):
    how = Running(output_mode=kept.mode)
    if kept.refused is not None:
        with pytest.raises(CannotCarry, match=kept.refused):
            exercise_together(spark, kept.cases, kept.subject, how)
        return
    together = exercise_together(spark, kept.cases, kept.subject, how)
    assert tuple(n for n, trace in enumerate(together) if trace is None) == kept.alone
    alone = exercise_apart(spark, kept.cases, kept.subject, how)
    came_out = 0
    for number, (expected, found) in enumerate(zip(alone, together, strict=True)):
        came_out += sum(len(batch) for instant in expected for batch in instant.outputs.values())
        if found is not None:
            assert list(found) == list(expected), f"case {number}"
            assert [shape(instant) for instant in found] == [shape(instant) for instant in expected], f"case {number}"
    assert came_out, "nothing came out that could differ"


def shape(instant):
    return {name: batch.schema.simpleString() for name, batch in instant.outputs.items()}


def test_the_zoo_is_large_and_few_of_it_run_one_case_at_a_time():
    refused = [kept.name for kept in ZOO if kept.refused is not None]
    assert len(ZOO) >= 40 and len(refused) <= 6, refused
