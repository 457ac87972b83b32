"""What goes wrong in a check: subjects and predicates that raise or assert, options and arguments that are wrong."""

import traceback

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel import InvalidArgument, PredicateError
from firesteel import strategies as ss
from firesteel.report.facts import facts
from tests.properties.test_for_all import N, identity, numbers, same


@pytest.mark.slow
def test_an_exception_in_the_subject_is_shown_with_the_case_that_caused_it(spark):
    from pyspark.sql import functions as F

    def inverts(frame):
        return frame.select(F.udf(lambda n: 100 // (n - 7), "int")("n").alias("q"))

    zero = ss.always(ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 9)), min_size=1, max_size=3), during=2)
    with pytest.raises(fs.SubjectError, match="ZeroDivisionError") as failure:
        fs.for_all(zero, inverts, fs.always(lambda now: True), cases=50, spark=spark)
    batches = failure.value.report.counterexample.inputs["input"]
    assert sorted(r.n for batch in batches for r in batch) == [0, 7], "the smallest batches"
    assert f"in batch {0 if (7,) in batches[0] else 1}: ZeroDivisionError" in str(failure.value)
    assert "too few cases" not in str(failure.value)
    assert failure.value.__cause__ is not None


def test_a_predicate_that_raises_names_itself_and_the_case(spark):
    with pytest.raises(PredicateError, match="no column 'm'; the record has 'n'") as failure:
        fs.for_all(numbers, identity, fs.always(lambda now: now.output[0].m > 0), cases=3, spark=spark)
    assert any("in this case" in note for note in failure.value.__notes__)


def test_the_first_error_comes_before_any_bulk_run(spark, monkeypatch):
    def never(*args, **options):
        raise AssertionError("cases are run together")

    def typo(now):
        return now.output.every(lambda record: record.m > 0)

    monkeypatch.setattr("firesteel.properties.claim.exercise_together", never)
    with pytest.raises(PredicateError, match="no column 'm'") as failure:
        fs.for_all(numbers, identity, fs.always(typo), cases=30, spark=spark)
    assert [note.count("in this case") for note in failure.value.__notes__] == [1], "and no note of Hypothesis's"
    shown = [frame.name for frame in traceback.extract_tb(failure.value.__cause__.__traceback__)]
    assert shown == ["typo", "<lambda>"], "the user's frames"
    with pytest.raises(fs.SubjectError, match="when it was built") as failure:
        fs.for_all(numbers, lambda frame: frame.select("m"), same, cases=30, spark=spark)
    assert facts(failure.value.report)["found in"] == "case 1 of 30", "a smaller case would be no better"
    with pytest.raises(InvalidArgument, match="output_mode='append' does not fit the query"):
        fs.for_all(numbers, lambda frame: frame.groupBy("n").count(), same, cases=30, spark=spark)


def test_a_subject_that_gives_two_answers_is_not_called_false(spark):
    runs = []

    def moody(frame):
        runs.append(1)
        return frame if len(runs) % 2 else frame.where("n < 0")

    with pytest.raises(fs.Inconclusive, match="judged twice, and only the first run broke the property"):
        # One case at a time: every second run is another.
        fs.for_all(numbers, moody, fs.always(lambda now: not now.output), cases=5, bulk=False, spark=spark)


def test_inside_given_the_error_says_what_to_write_instead(spark):
    @settings(max_examples=1, database=None)
    @given(numbers)
    def test(stream):
        fs.for_all(numbers, identity, same, spark=spark)

    with pytest.raises(InvalidArgument, match="cannot be called inside @given: remove @given"):
        test()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"cases": 0}, r"cases=0 \(int\) is not possible"),
        ({"on_vacuous": "maybe"}, r"on_vacuous='maybe' \(str\) is not possible: write 'fail' or 'pass'"),
        ({"large": -1}, r"large=-1 \(int\) is not possible"),
        ({"output_mode": "none"}, "output_mode='none'"),
    ],
)
def test_bad_options(spark, options, message):
    with pytest.raises(InvalidArgument, match=message):
        fs.for_all(numbers, identity, same, spark=spark, **options)


def test_sessions_that_cannot_be_used():
    connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(InvalidArgument, match="is a Spark Connect session, which has no JVM"):
        fs.for_all(numbers, identity, same, spark=connect)
    with pytest.raises(InvalidArgument, match=r"spark='local' \(str\) is not a Spark session"):
        fs.run(fs.Stream("n INT", []), identity, spark="local")


def test_bad_arguments(spark):
    with pytest.raises(InvalidArgument, match=r"is not a strategy: .* or one stream, which is then the only case"):
        fs.for_all([[(1,)]], identity, same, spark=spark)
    with pytest.raises(InvalidArgument, match="is a batch, where a stream is meant"):
        fs.for_all(ss.batches(N), identity, same, spark=spark)
    with pytest.raises(InvalidArgument, match=r"formula=5 \(int\) is not a formula"):
        fs.for_all(numbers, identity, 5, spark=spark)
    with pytest.raises(TypeError, match=r"fs\.for_all has no option 'case': did you mean 'cases'\? It has .*cases"):
        fs.for_all(numbers, identity, same, case=3, spark=spark)


def test_a_predicate_may_assert(spark):
    """A failed assertion is a no: the failure has the table, and the assertion's message as the reason."""

    def few(now):
        assert len(now.output) < 2, "more than one"
        return True

    two = fs.Stream("n INT NOT NULL", [[(1,), (2,)]])
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(st.just(two), identity, fs.always(few), cases=1, spark=spark)
    said = str(failure.value)
    assert "few had to hold in every batch. It does not in batch 0:\n    more than one\n    assert 2 < 2" in said
    assert "<- false here" in said and "Traceback" not in said


def test_a_subject_that_fails_inside_a_predicate_does_not_make_it_false(spark):
    def runs_another(now):
        fs.run(fs.Stream("n INT", [[(1,)]]), lambda frame: frame.select("missing"), spark=spark)
        return True

    with pytest.raises(PredicateError, match="runs_another raised SubjectError") as failure:
        fs.for_all(numbers, identity, fs.always(runs_another), cases=1, spark=spark)
    assert isinstance(failure.value.__cause__, fs.SubjectError)


def test_hypothesis_event_works_in_predicates(spark):
    """In an example, in a bulk run and in runs alone."""
    asked = []

    def noisy(now):
        hypothesis.event(f"{len(now.output)} records")
        hypothesis.note("looked at")
        asked.append(hypothesis.currently_in_test_context())
        return True

    given_first = [fs.Stream("n INT NOT NULL", [[(1,)]])]
    fs.for_all(numbers, identity, fs.always(noisy), examples=given_first, cases=20, spark=spark)
    assert len(asked) > 20 and all(asked)
