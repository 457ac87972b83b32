"""What the cases of a check add up to."""

import firesteel as fs
from firesteel import Batch, Instant, Stream, Trace, Verdict
from firesteel.evidence.nothing import Missing, Nothing
from firesteel.logic.ltl.formulas import Implies
from firesteel.runs.claims import Judgement
from firesteel.runs.tally import Tally

CASE, EMPTY = fs.Case(Stream("n INT", [[(1,)], [(2,)]])), fs.Case(Stream("n INT", [[], []]))
PREMISE = fs.now(len, name="busy")
IMPLICATION = fs.implies(PREMISE, fs.TRUE)
assert isinstance(IMPLICATION, Implies)


def judgement(verdict=Verdict.TRUE, out=(1,), **more):
    return Judgement(
        verdict, Trace([Instant(0, {}, {"output": Batch(out)})], outside=more.pop("outside", None)), **more
    )


def test_nothing_was_checked():
    assert Tally().nothing == Nothing(Missing.CASES)
    assert Tally().plus(EMPTY, judgement()).nothing == Nothing(Missing.INPUT)
    assert Tally().plus(CASE, judgement(out=())).nothing == Nothing(Missing.OUTPUT)
    never = Tally().plus(CASE, judgement(premises={IMPLICATION: False}))
    assert never.nothing == Nothing(Missing.PREMISE, PREMISE)
    assert Tally().plus(CASE, judgement(premises={None: False})).nothing == Nothing(Missing.PREMISE)


def test_one_case_is_enough_for_all():
    tally = Tally().plus(EMPTY, judgement(out=(), premises={IMPLICATION: False}))
    tally = tally.plus(CASE, judgement(premises={IMPLICATION: True}))
    tally = tally.plus(EMPTY, judgement(out=(), premises={IMPLICATION: False}))
    assert tally.nothing is None and (tally.cases, tally.records_in, tally.records_out) == (3, 2, 1)


def test_state_counts_as_output():
    seen = Trace([Instant(0, {}, {"output": Batch()}, recorded_state=Batch([1]))])
    assert Tally().plus(CASE, Judgement(Verdict.TRUE, seen)).nothing is None


def test_the_first_case_that_is_open_is_kept():
    first, second = judgement(Verdict.INCONCLUSIVE), judgement(Verdict.INCONCLUSIVE)
    tally = Tally().plus(EMPTY, judgement()).plus(CASE, first).plus(CASE, second)
    assert tally.undecided == (CASE, first) and tally.undecided[1] is first


def test_output_in_no_window_matters_unless_the_verdict_came_before():
    outside = {"output": Batch([1])}
    assert Tally().plus(CASE, judgement(outside=outside, settled=True)).stray is None
    assert Tally().plus(CASE, judgement(outside=outside)).stray is not None
