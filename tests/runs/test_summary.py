"""How a check says how it passed: counted over its cases, with runs that are made up; no Spark."""

from dataclasses import replace

import hypothesis
import pytest

import firesteel as fs
from firesteel import Report, Verdict
from firesteel.evidence.report import Asked, Claimed, Disagreement, Premise, Ran, WhyAlone
from firesteel.properties.claim import Property
from firesteel.runs.check import check
from firesteel.runs.question import Checking, Question
from firesteel.strategies import always, batches, records
from tests.runs.test_screening import Runner

STREAMS = always(batches(records("n INT NOT NULL"), min_size=1, max_size=1), during=2)
BUSY = fs.now(lambda now: now.input[0].n > 0, name="busy")


class AloneToo(Runner):
    """A runner that also runs cases by themselves."""

    def alone(self, case, watcher):
        trace = self.trace(case)
        for now in trace:
            if watcher(now):
                break
        return trace


class NoSpark:
    class sparkContext:
        defaultParallelism = 1


def report(runner=None, formula=None, checking=None):
    claim = Property(fs.always(lambda now: True) if formula is None else formula)
    question = Question(
        STREAMS, claim, runner or AloneToo(), NoSpark(), Asked("fs.for_all"), "", checking or Checking(cases=20)
    )
    return check(question).report


def test_cases_in_bulk_and_compared():
    found = report()
    bulk, alone = found.ran.in_bulk, found.ran.alone
    assert found.ran == Ran(in_bulk=bulk, alone=alone, compared=2, records_in=40, records_out=40)
    assert bulk + alone == 20 and 2 <= alone <= 4, "a sample was run alone, and may have been drawn more than once"
    assert found.summary() == (
        f"true in 20 cases: {bulk} in bulk, {alone} alone, 2 run both ways with the same result; "
        "records: 40 in, 40 out, 0 dropped as late"
    )


def test_bulk_that_was_given_up_is_seen():
    found = report(AloneToo(wrong_from=1))
    assert found.gave_up_bulk and found.one_by_one == Disagreement(1, "batch") and found.verdict is Verdict.TRUE
    assert found.ran.in_bulk == 0 and found.ran.alone == 20
    assert "20 alone (bulk was given up: a bulk run and a run alone of the same case differ in batch 1" in (
        found.summary()
    )


@pytest.mark.parametrize(
    "checking, why",
    [
        (Checking(cases=20, bulk=False), WhyAlone.ASKED),
        (Checking(cases=3), WhyAlone.FEW),
        (Checking(replay=fs.Case(fs.Stream("n INT NOT NULL", [[(1,)]]))), WhyAlone.GIVEN),
    ],
)
def test_why_alone(checking, why):
    found = report(checking=checking)
    assert found.ran.in_bulk == 0 and found.ran.alone == found.cases and found.ran.why_alone is why
    assert f"alone ({why.value})" in found.summary() and not found.gave_up_bulk


def test_how_often_a_premise_held():
    found = report(formula=fs.always(fs.implies(BUSY, lambda now: True)))
    (premise,) = found.ran.premises
    assert premise.formula is BUSY and 0 < premise.held < 20
    assert f"the premise busy held in {premise.held} cases" in found.summary()


def test_cases_that_are_too_short_are_not_run():
    found = report(formula=fs.always(lambda now: True, during=3))
    assert found.ran.too_short == 20 and found.ran.alone == 0
    assert "20 too short to be run" in found.summary()


def test_words():
    asked = Asked("fs.stable", Claimed.STABILITY)
    ran = Ran(alone=2, records_in=4, records_out=8, dropped=None, premises=(Premise(None, 1),))
    text = Report(Verdict.TRUE, 2, asked=asked, ran=ran, one_by_one="no key").summary()
    assert text == (
        "true in 2 cases: 2 alone (not in bulk: no key); records: 4 in, 8 out of all runs; "
        "a premise made by let or consume held in 1 case"
    )


def noting(now):
    hypothesis.note(f"saw {now.input[0].n}")
    return now.input[0].n < 5


@pytest.mark.parametrize("given", ["examples", "replay"])
def test_cases_that_are_given_keep_their_notes(given):
    case = fs.Case(fs.Stream("n INT NOT NULL", [[(1,)], [(7,)], [(8,)]]))
    checking = Checking(examples=(case,)) if given == "examples" else Checking(replay=case)
    found = report(formula=fs.always(noting), checking=checking)
    assert found.verdict is Verdict.FALSE and found.notes == ("saw 1", "saw 7")


def test_the_second_time_is_for_the_notes_alone():
    asked = []

    def once(now):
        asked.append(now)
        assert len(asked) == 1
        hypothesis.note("seen")
        return False

    case = fs.Case(fs.Stream("n INT NOT NULL", [[(1,)]]))
    assert report(formula=fs.always(once), checking=Checking(replay=case)).verdict is Verdict.FALSE
    assert len(asked) == 2


def test_an_assumption_refuses_a_case_that_is_given():
    def never(now):
        return hypothesis.assume(False)

    case = fs.Case(fs.Stream("n INT NOT NULL", [[(1,)]]))
    assert report(formula=fs.always(never), checking=Checking(replay=case)).cases == 0


@pytest.mark.parametrize("checking", [Checking(cases=20), Checking(cases=5, bulk=False)], ids=["bulk", "alone"])
def test_events_of_hypothesis_may_be_told_in_predicates(checking):
    def telling(now):
        hypothesis.event("asked", payload=len(now.input))
        return now.input[0].n < 5

    assert report(formula=fs.always(telling), checking=checking).verdict is Verdict.FALSE


@pytest.mark.parametrize("checking", [Checking(cases=20), Checking(cases=5, bulk=False)], ids=["bulk", "alone"])
def test_events_are_counted_by_case(checking):
    asked = []

    def telling(now):
        hypothesis.event("asked")
        hypothesis.event("records", payload=len(now.input))
        if not asked:
            hypothesis.event("for the first time")
        asked.append(now)
        return True

    given = fs.Case(fs.Stream("n INT NOT NULL", [[(1,)], [(7,), (8,)]]))
    found = report(formula=fs.always(telling), checking=replace(checking, examples=(given,)))
    drawn = checking.cases
    counts = {"asked": drawn + 1, "records: 1": drawn, "records: 2": 1, "for the first time": 1}
    assert dict(found.ran.events) == counts and found.ran.events[0] == ("asked", drawn + 1), "the most frequent first"
    assert f"; events: 'asked' in {drawn + 1} cases, 'records: 1' in {drawn} cases, " in found.summary()


def test_of_many_events_the_most_frequent_are_shown():
    events = tuple((f"event {number}", 10 - number) for number in range(8))
    text = Report(Verdict.TRUE, 10, ran=Ran(alone=10, events=events)).summary()
    assert text.endswith("; events: 'event 0' in 10 cases, 'event 1' in 9 cases, 'event 2' in 8 cases, "
                         "'event 3' in 7 cases, 'event 4' in 6 cases, 3 more")  # fmt: skip


def test_a_case_that_fails_first_says_nothing_of_bulk_runs():
    """Others were run together only to find out whether the case can be made simpler in bulk."""
    found = report(formula=fs.always(lambda now: now.input[0].n is None))
    assert found.verdict is Verdict.FALSE and found.ran.compared
    assert found.summary().startswith("false in 1 case: 1 alone (the first drawn case failed); records: ")
