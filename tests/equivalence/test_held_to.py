"""Every run held to a property (`property=`), without Spark: traces are made by hand."""

from dataclasses import replace

import pytest

import firesteel as fs
from firesteel import Batch, Instant, Trace, perturb
from firesteel.api import _of_every_run
from firesteel.equivalence.claim import Equivalence, question
from firesteel.equivalence.comparison import Comparison, Side
from firesteel.equivalence.sides import beside
from firesteel.evidence.report import Claimed
from firesteel.evidence.runs import Broken, NothingChanged, Open, TooShort
from firesteel.logic.verdicts import Verdict
from firesteel.perturb.changes import BatchBoundaries, RowOrder, Variant
from firesteel.report.table import table
from firesteel.report.text import render
from firesteel.report.words import reason_of
from firesteel.runs.judging import judged
from firesteel.runs.question import Checking
from firesteel.spark.running import Running

AS_IT_IS = Side("as it is")
REVERSED = Side("rows reversed", Variant(RowOrder("reversed")))
IN_ONE = Side("all in one batch", Variant(BatchBoundaries("one")))
SCHEMA = "n INT"
UNDER = (perturb.row_order(),)


def trace(*batches, inputs=None):
    pairs = zip(batches if inputs is None else inputs, batches, strict=True)
    return Trace(
        Instant(at, {"input": Batch(i, schema=SCHEMA)}, {"output": Batch(o, schema=SCHEMA)})
        for at, (i, o) in enumerate(pairs)
    )


def claim(formula, under=UNDER):
    return Equivalence(Comparison(len, len, fs.unordered(), under=under, held_to=_of_every_run(formula)), Running())


def judgement(formula, sides):
    return judged(claim(formula), beside(sides, each=True), None)


@fs.now
def small(now):
    return now.output.every(lambda r: r.n < 5)


ONE, TWO, NINE = (1,), (2,), (9,)


def test_an_answer_that_is_always_wrong():
    """All runs agree, and the answer is wrong: that is what comparing alone cannot see."""
    wrong = trace([ONE], [NINE])
    sides = {AS_IT_IS: wrong, REVERSED: wrong}
    assert judged(claim(None), beside(sides), None).verdict is Verdict.TRUE
    found = judgement(fs.always(small), sides)
    assert found.verdict is Verdict.FALSE and found.settled and found.why.run == "as it is"
    assert [leaf.at for leaf in found.why.explanation.leaves()] == [1]
    right = trace([ONE], [TWO])
    assert judgement(fs.always(small), {AS_IT_IS: right, REVERSED: right}).verdict is Verdict.TRUE


def test_the_run_that_breaks_it_is_shown_as_it_was_fed():
    sides = {AS_IT_IS: trace([ONE, TWO]), REVERSED: trace([NINE], inputs=[[TWO, ONE]])}
    found = judgement(fs.always(small), sides)
    assert found.why.run == "rows reversed"
    evidence = Broken(
        inputs=fs.Case(fs.Stream(SCHEMA, [[ONE, TWO]])),
        trace=found.why.trace,
        explanation=found.why.explanation,
        answers=found.why.answers,
        run=found.why.run,
    )
    head, first, second = table(evidence, needed=1).splitlines()
    assert head.split() == ["batch", "input", "rows", "reversed", "small"]
    assert (
        first.split()[:4] == ["0", "n=2", "n=9", "NO"] and first.endswith("<- false here") and second.split() == ["n=1"]
    )
    assert "the property is false in batch 0 of the run 'rows reversed'" in render(
        fs.Report(Verdict.FALSE, 1, evidence=evidence)
    )


def test_both_are_asked_and_the_property_first():
    sides = {AS_IT_IS: trace([ONE]), REVERSED: trace([TWO])}
    differ = judgement(fs.always(small), sides)
    assert differ.verdict is Verdict.FALSE and "as it is record 0" in differ.why.reason
    assert judgement(fs.always(small), {**sides, REVERSED: trace([NINE])}).why.run == "rows reversed"


def test_a_property_that_fails_at_the_end():
    late = trace([ONE], [TWO], inputs=[[ONE], [TWO]])
    never = fs.eventually(lambda now: now.output.some(lambda r: r.n == 9), within=2)
    found = judgement(never, {AS_IT_IS: late, REVERSED: late})
    assert found.verdict is Verdict.FALSE and found.why.run == "as it is" and len(found.why.trace) == 2
    closed = judgement(fs.eventually(lambda now: now.output.some(lambda r: r.n == 9)), {AS_IT_IS: late, REVERSED: late})
    assert closed.verdict is Verdict.FALSE and not closed.settled


def test_other_batches_are_seen_by_the_property():
    """One run has two batches and the other one: each is held to the property by itself."""
    at_most_two = fs.always(lambda now: len(now.input) <= 2)
    whole = trace([ONE, TWO], [TWO])
    found = judgement(at_most_two, {AS_IT_IS: whole, IN_ONE: trace([ONE, TWO, TWO])})
    assert found.why.run == "all in one batch" and len(found.why.trace) == 1
    grown = fs.always(lambda now: len(now.so_far.input) == len(now.so_far.output))
    assert judgement(grown, {AS_IT_IS: whole, IN_ONE: trace([ONE, TWO, TWO])}).verdict is Verdict.TRUE


def test_a_run_that_is_too_short_is_named():
    formula = fs.always(small, during=2)
    whole, one = trace([ONE], [TWO]), trace([ONE, TWO])
    under = (perturb.batch_boundaries(),)
    found = judged(claim(formula, under), both := beside({AS_IT_IS: whole, IN_ONE: one}, each=True), None)
    assert found.verdict is Verdict.INCONCLUSIVE
    why = claim(formula, under).why_open(2, both)
    assert why == TooShort(1, 2, 2, False, "all in one batch")
    open_ = fs.Case(fs.Stream(SCHEMA, [[ONE], [TWO]]))
    assert reason_of(Open(inputs=open_, trace=both, why=why)) == (
        "a stream of 1 batch is too short to decide the property in the run 'all in one batch': 2 are always enough"
    )
    assert claim(formula).why_open(1, Trace(())) == TooShort(1, 2, 2, False), "it was not even run"
    assert claim(formula).shortest_true == 2 and claim(None).shortest_true == 0


def test_nothing_changed_is_told_from_a_property_that_is_open():
    alone = beside({AS_IT_IS: trace([ONE])}, each=True)
    held = claim(fs.always(small), (perturb.restart(),))
    assert judged(held, alone, None).verdict is Verdict.INCONCLUSIVE
    assert held.why_open(1, alone) == NothingChanged(1, (perturb.restart(),))


def test_a_premise_that_holds_in_one_run_is_met():
    met = fs.implies(lambda now: now.output.some(lambda r: r.n == 2), small)
    only_there = {AS_IT_IS: trace([ONE]), REVERSED: trace([TWO])}
    (held,) = judged(replace_accept(met), beside(only_there, each=True), None).premises.values()
    assert held
    nowhere = {AS_IT_IS: trace([ONE]), REVERSED: trace([ONE])}
    (held,) = judgement(met, nowhere).premises.values()
    assert not held


def replace_accept(formula):
    held = claim(formula)
    return replace(held, compared=replace(held.compared, accept=lambda now, a, b: True))


def test_a_function_alone_has_to_hold_at_every_instant():
    assert repr(_of_every_run(lambda now: now.index > 0)) == "always(now.index > 0)"
    assert _of_every_run(small) == small, "this one was written for the first instant"
    for constant in (True, fs.TRUE, fs.Check(False)):
        with pytest.raises(fs.InvalidArgument, match=r"property=.* is the same for every run"):
            _of_every_run(constant)
    with pytest.raises(fs.InvalidArgument, match=r"property=3 \(int\) is not a formula"):
        _of_every_run(3)


def test_what_cannot_be_decided_in_one_batch_is_refused_before_spark_starts():
    def asked(formula, under, **checking):
        held = claim(formula, under).compared
        return question(None, held, started, Running(), Checking(**checking), "fs.stable", Claimed.STABILITY)

    def started():
        raise RuntimeError("Spark is started")

    regrouped, long = (perturb.batch_boundaries(),), fs.always(small, during=3)
    with pytest.raises(
        fs.InvalidArgument, match=r"needs 3 batches to be true, and there is one in the run 'all in one"
    ):
        asked(long, regrouped)
    for formula, under, options in [
        (fs.always(small), regrouped, {}),
        (long, (perturb.row_order(),), {}),
        (long, regrouped, {"on_inconclusive": "pass"}),
        (None, regrouped, {}),
    ]:
        with pytest.raises(RuntimeError, match="Spark is started"):
            asked(formula, under, **options)
