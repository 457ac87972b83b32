"""What the functions that a test calls hand on: every failure carries its data."""

import pytest
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss
from firesteel.evidence.frames import Difference, Undecided
from firesteel.evidence.nothing import Missing, Nothing
from firesteel.evidence.runs import Broken, Different, Open, Raised, TooShort

NUMBERS = fs.Stream("n INT", [[(1,)], [(0,)], [(2,)]])
numbers = ss.always(ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 9)), min_size=1, max_size=3), during=2)
same = fs.always(lambda now: now.output.same_as(now.input))


def inverse(frame):
    return frame.select(F.udf(lambda n: 10 // n, "int")("n").alias("n"))


def test_a_run_that_fails_carries_its_case_and_how_far_it_came(spark):
    with pytest.raises(fs.SubjectError, match="in batch 1: ZeroDivisionError") as failure:
        fs.run(NUMBERS, inverse, spark=spark)
    report = failure.value.report
    assert isinstance(report.evidence, Raised) and report.counterexample.inputs["input"] == NUMBERS
    assert [len(now.output) for now in report.counterexample.trace] == [1]
    assert report.reproduction.needed == 2 and "ZeroDivisionError" in report.counterexample.reason
    with pytest.raises(fs.SubjectError):
        fs.for_all(numbers, inverse, fs.always(lambda now: True), replay=report.counterexample.replay, spark=spark)


@pytest.mark.parametrize(
    "check, kind",
    [
        (lambda: fs.for_all(numbers, lambda f: f.where("n < 0"), same, cases=2), Broken),
        (lambda: fs.for_all(numbers, lambda f: f, fs.always(lambda now: True, during=5), cases=2), Open),
        (lambda: fs.for_all(numbers, lambda f: f.where("n < 0"), fs.always(lambda now: True), cases=2), Nothing),
        (lambda: fs.for_all(numbers, lambda f: f.select("nowhere"), same, cases=2), Raised),
        (lambda: fs.equivalent(numbers, lambda f: f, lambda f: f.where("n < 0"), cases=2), Different),
    ],
    ids=["false", "open", "empty", "raises", "different"],
)
def test_every_kind_of_evidence(spark, check, kind):
    with pytest.raises(fs.Failed) as failure:
        check()
    report = failure.value.report
    assert type(report.evidence) is kind and report.asked.function.startswith("fs.")
    match report.evidence:
        case Open(why=why):
            assert why == TooShort(2, 5, 5, False)
        case Nothing(missing):
            assert missing is Missing.OUTPUT and report.counterexample is None
        case found:
            assert report.counterexample is found and found.reason and found.reason in str(failure.value)


def test_two_frames_that_differ(spark):
    left, right = spark.range(3), spark.range(1, 4)
    with pytest.raises(fs.Falsified) as failure:
        fs.assert_same(left, right)
    found = failure.value.report.evidence
    assert isinstance(found, Difference) and (found.only_left, found.only_right) == (1, 1)
    assert [row.record.id for row in (*found.left, *found.right)] == [0, 3]


def test_two_frames_that_cannot_be_compared(spark, monkeypatch):
    monkeypatch.setattr("firesteel.spark.frames.close.ON_DRIVER", 3)
    left = spark.range(5).selectExpr("id * 1.0D AS x")
    with pytest.raises(fs.Inconclusive) as failure:
        fs.assert_same(left, left.selectExpr("x + 0.5 AS x"), equal=fs.equality(abs_tol=1e-9))
    found = failure.value.report.evidence
    assert isinstance(found, Undecided) and (found.only_left, found.only_right, found.most) == (5, 5, 3)


def test_tracebacks_name_failures_as_users_know_them():
    assert f"{fs.Falsified.__module__}.{fs.Falsified.__qualname__}" == "firesteel.Falsified"
