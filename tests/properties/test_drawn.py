"""Properties and subjects that depend on what was drawn with the streams, on real Spark."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel import strategies as ss
from firesteel.logic.verdicts import Verdict
from firesteel.report.facts import facts

QUICK = settings(database=None)
number = ss.records("n INT NOT NULL", n=st.integers(0, 9))
numbers = ss.always(ss.batches(number, min_size=1, max_size=3), during=2)
cases = st.builds(fs.Case, numbers, least=st.integers(0, 9))


def at_least(frame, least):
    return frame.where(f"n >= {least}")


def more_than(frame, least):
    return frame.where(f"n > {least}")


only_those = fs.always(lambda now: now.output.same_as(now.input.where(lambda r: r.n >= now.drawn.least)))


@pytest.mark.slow
def test_the_property_depends_on_it_and_cases_run_in_bulk(spark):
    def all_of_it(frame):
        return frame

    bounded = fs.always(lambda now: now.output.every(lambda r: r.n >= now.drawn.least))
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(cases, all_of_it, bounded, cases=20, settings=QUICK)
    report = failure.value.report
    assert report.counterexample.inputs.drawn.least == 1 and "run" not in facts(report), "shrunk too, in bulk"
    assert facts(report)["drawn"] == "least=1"
    assert "case = fs.Case(fs.Stream('n INT NOT NULL', [[(0,)], [(0,)]]), least=1)" in str(failure.value)
    with pytest.raises(fs.Falsified):
        fs.for_all(cases, all_of_it, bounded, replay=report.counterexample.replay)


@pytest.mark.slow
def test_the_subject_depends_on_it(spark):
    report = fs.for_all(cases, at_least, only_those, cases=10, settings=QUICK)
    assert report.verdict is Verdict.TRUE
    assert facts(report)["run"] == "one case at a time: it depends on least, drawn for every case"
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(cases, more_than, only_those, cases=20, settings=QUICK)
    found = failure.value.report.counterexample.inputs
    assert [r.n for batch in found["input"] for r in batch][-1] == found.drawn.least == 0


def test_where_all_cases_draw_the_same_they_run_in_bulk(spark):
    report = fs.for_all(st.builds(fs.Case, numbers, least=st.just(3)), at_least, only_those, cases=10, settings=QUICK)
    assert report.verdict is Verdict.TRUE and "run" not in facts(report)


def test_explicit_cases(spark):
    wrong = fs.Case(fs.Stream("n INT NOT NULL", [[(5,)]]), least=5)
    with pytest.raises(fs.Falsified, match="found in  case 1 of 1"):
        fs.for_all(cases, more_than, only_those, cases=1, examples=[wrong], settings=QUICK)


@pytest.mark.parametrize("engine", ["structured", "dstream", "batch"])
def test_every_engine_hands_it_over(spark, engine):
    def job(numbers, least):
        if engine != "dstream":
            return at_least(numbers, least)
        return numbers.filter(lambda r: r.n >= least)

    case = fs.Case({"numbers": fs.Stream("n INT", [[(1,), (5,)]])}, least=3, unused=1)
    (now,) = fs.run(case, job, engine=engine)
    assert now.output == [(5,)] and now.drawn == {"least": 3, "unused": 1} == now.so_far.drawn


@pytest.mark.slow
def test_windows_and_perturbed_runs(spark):
    hours = fs.tumbling("1 hour", on="ts")
    timed = ss.records("ts TIMESTAMP NOT NULL, n INT NOT NULL", n=st.integers(0, 9))
    streams = ss.timed(ss.always(ss.batches(timed, min_size=1, max_size=2), during=3), every="1 hour", column="ts")
    late = st.builds(fs.Case, streams, least=st.integers(0, 9))
    assert fs.for_all(late, at_least, only_those, over=hours, cases=3, settings=QUICK).verdict is Verdict.TRUE
    under = [fs.perturb.row_order()]
    assert fs.stable(cases, at_least, under=under, cases=3, settings=QUICK).verdict is Verdict.TRUE
    with pytest.raises(fs.Falsified, match=r"drawn +least=0"):
        fs.equivalent(cases, at_least, more_than, cases=20, settings=QUICK)


def test_a_subject_that_lacks_what_it_needs(spark):
    with pytest.raises(fs.InvalidArgument, match=r"at_least\(frame, least\) cannot take the streams 'input'"):
        fs.run(fs.Case(fs.Stream("n INT", [[(1,)]]), most=3), at_least)
    with pytest.raises(AttributeError, match="most"):
        now = fs.run(fs.Case(fs.Stream("n INT", [[(1,)]]), least=3), at_least)[0]
        assert now.drawn.most
