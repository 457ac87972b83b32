"""How the sides of a trace are compared, without Spark: traces are made by hand."""

import pytest

import firesteel as fs
from firesteel import Batch, Instant, Trace, perturb
from firesteel.equivalence.claim import Equivalence
from firesteel.equivalence.comparison import Comparison, Side
from firesteel.equivalence.sides import beside
from firesteel.evidence.runs import Different, NothingChanged
from firesteel.logic.verdicts import Verdict
from firesteel.perturb.changes import BatchBoundaries, RowOrder, Variant
from firesteel.report.table import table
from firesteel.spark.running import Running

SCHEMA = "k INT, v INT"


def trace(*batches, inputs=None, name="output"):
    inputs = batches if inputs is None else inputs
    pairs = zip(inputs, batches, strict=True)
    return Trace(
        Instant(at, {"input": Batch(i, schema=SCHEMA)}, {name: Batch(o, schema=SCHEMA)})
        for at, (i, o) in enumerate(pairs)
    )


REFERENCE, CANDIDATE, AS_IT_IS = Side("reference"), Side("candidate"), Side("as it is")
IN_ONE = Side("all in one batch", Variant(BatchBoundaries("one")))


def judged(left, right, *, mode="append", side=CANDIDATE, **options):
    """The verdict on two traces, at which instant it came (None at the end), and why."""
    subjects = (len, max) if side is CANDIDATE else (len, len)
    compared = Comparison(*subjects, options.pop("dependence", fs.unordered()), **options)
    meter = Equivalence(compared, Running(output_mode=mode)).meter()
    both = beside({compared.base: left, side: right})
    for instant in both:
        if meter.step(instant).definite:
            return meter.verdict, instant.index, meter.why(both, ended=False)
    verdict = meter.finish()
    return verdict, None, meter.why(both, ended=True) if verdict is Verdict.FALSE else None


ONE, TWO, THREE = (1, 1), (1, 2), (2, 3)


def test_the_batch_in_which_a_record_comes_does_not_matter():
    assert judged(trace([ONE], [TWO]), trace([], [TWO, ONE], inputs=[[ONE], [TWO]]))[:2] == (Verdict.TRUE, None)
    verdict, _, why = judged(trace([ONE], [TWO]), trace([ONE], [THREE], inputs=[[ONE], [TWO]]))
    assert verdict is Verdict.FALSE and "reference record 1" in why.reason and "2 records, 1 left over" in why.reason


def test_order_matters_up_to_the_dependence():
    left, right = trace([ONE, TWO, THREE]), trace([THREE, ONE, TWO])
    assert judged(left, right, dependence=fs.same_key("k"))[0] is Verdict.TRUE
    assert judged(left, right, dependence=fs.ordered())[:2] == (Verdict.FALSE, 0)
    verdict, at, why = judged(left, trace([TWO, ONE, THREE]), dependence=fs.same_key("k"))
    assert (verdict, at) == (Verdict.FALSE, 0) and "on which it depends" in why.reason


def test_tables_are_compared_batch_by_batch():
    left = trace([ONE], [TWO], inputs=[[ONE], [TWO]])
    swapped = trace([TWO], [ONE], inputs=[[ONE], [TWO]])
    assert judged(left, swapped, mode="update")[0] is Verdict.TRUE, "as a stream of updates, in any order"
    assert judged(left, swapped, mode="complete")[:2] == (Verdict.FALSE, 0)


@pytest.mark.parametrize("mode", ["append", "update", "complete"])
def test_other_batches_are_compared_in_the_end(mode):
    """One batch against two: what there is in the end is the same, or is not."""
    ends = {
        "append": ([[ONE], [THREE]], [[ONE, THREE]], [[ONE]]),
        "update": ([[ONE], [TWO, THREE]], [[TWO, THREE]], [[ONE, THREE]]),
        "complete": ([[ONE], [TWO, THREE]], [[TWO, THREE]], [[ONE, THREE]]),
    }
    whole, same, other = ends[mode]
    inputs = [[ONE], [TWO, THREE]]
    options = {"mode": mode, "side": IN_ONE, "under": (perturb.batch_boundaries(),)}
    options |= {"dependence": fs.same_key("k")}
    left = trace(*whole, inputs=inputs)
    assert judged(left, trace(*same, inputs=[inputs[0] + inputs[1]]), **options)[:2] == (Verdict.TRUE, None)
    verdict, at, _ = judged(left, trace(*other, inputs=[inputs[0] + inputs[1]]), **options)
    assert (verdict, at) == (Verdict.FALSE, None), "not before the end"


def test_the_last_row_of_every_key_needs_keys():
    options = {"mode": "update", "side": IN_ONE, "under": (perturb.batch_boundaries(),)}
    with pytest.raises(fs.InvalidArgument, match="name the key"):
        judged(trace([ONE]), trace([ONE]), **options)


def test_who_accepts_is_asked_where_batches_differ_and_nowhere_else():
    asked = []

    def accept(now, left, right):
        asked.append((now.index, len(now.so_far.input), list(left), list(right)))
        return right[0].v < 3

    left = trace([ONE], [TWO], [THREE])
    fine = trace([ONE], [ONE], [THREE], inputs=[[ONE], [TWO], [THREE]])
    assert judged(left, fine, accept=accept)[0] is Verdict.TRUE
    assert asked == [(1, 2, [TWO], [ONE])]
    wrong = trace([ONE], [THREE], [THREE], inputs=[[ONE], [TWO], [THREE]])
    verdict, at, why = judged(left, wrong, accept=accept)
    assert (verdict, at) == (Verdict.FALSE, 1) and "accept refuses it" in why.reason


@pytest.mark.parametrize("answer", [1, None, "yes"])
def test_an_answer_that_is_none(answer):
    with pytest.raises(fs.PredicateError, match="has to return a bool or a Check"):
        judged(trace([ONE]), trace([TWO], inputs=[[ONE]]), accept=lambda now, left, right: answer)


def test_a_check_says_why():
    refuses = fs.Check(False, reason="too far off")
    why = judged(trace([ONE]), trace([TWO], inputs=[[ONE]]), accept=lambda now, left, right: refuses)[2]
    assert "too far off" in why.reason


def test_only_what_differs_is_shown():
    compared = Comparison(len, len, fs.unordered(), under=(perturb.row_order(),))
    names = {"rows reversed": [ONE], "rows shuffled by seed 1": [TWO]}
    traces = {AS_IT_IS: trace([ONE]), **{Side(name): trace(batch) for name, batch in names.items()}}
    both = beside(traces)
    meter = Equivalence(compared, Running()).meter()
    meter.step(both[0])
    assert meter.finish() is Verdict.FALSE
    assert set(meter.why(both, ended=True).trace[0].outputs) == {"as it is", "rows shuffled by seed 1"}


def test_outputs_and_columns_have_to_be_the_same():
    with pytest.raises(fs.InvalidArgument, match="give both the same names"):
        beside({REFERENCE: trace([ONE]), CANDIDATE: trace([ONE], name="alerts")})
    other = Trace([Instant(0, {}, {"output": Batch([(1, 2.0)], schema="k INT, v DOUBLE")})])
    with pytest.raises(fs.InvalidArgument, match="'v' is INT in the reference, and DOUBLE in the candidate"):
        beside({REFERENCE: trace([ONE]), CANDIDATE: other})
    with pytest.raises(fs.InvalidArgument, match="'v' is INT in the reference"):
        beside({REFERENCE: trace([ONE]), CANDIDATE: other}, ["k"])
    assert len(beside({REFERENCE: trace([ONE]), CANDIDATE: other}, ["v"])) == 1


def test_a_trace_that_is_longer_goes_on_beside_nothing():
    both = beside({REFERENCE: trace([ONE]), CANDIDATE: trace([ONE], [TWO])})
    assert [len(now.inputs) for now in both] == [1, 0]
    assert [sorted(now.outputs) for now in both] == [["candidate", "reference"], ["candidate"]]


def test_nothing_to_compare_is_not_decided():
    compared = Comparison(len, len, fs.unordered(), under=(perturb.restart(),))
    assert compared.others(1) == []
    claim = Equivalence(compared, Running())
    meter = claim.meter()
    meter.step(beside({AS_IT_IS: trace([ONE])})[0])
    assert meter.finish() is Verdict.INCONCLUSIVE
    assert claim.why_open(1, fs.Trace(())) == NothingChanged(1, (perturb.restart(),))


REGROUPED = {"side": IN_ONE, "under": (perturb.batch_boundaries(),)}


def test_a_table_that_is_empty_in_the_end_is_compared_as_that():
    """Fewer batches do not mean empty tables, and an empty table is not passed over for the one before it."""
    emptied = trace([ONE], [], inputs=[[ONE], [TWO]])
    options = {"mode": "complete", **REGROUPED}
    assert judged(emptied, trace([], inputs=[[ONE, TWO]]), **options)[0] is Verdict.TRUE
    assert judged(emptied, trace([ONE], inputs=[[ONE, TWO]]), **options)[0] is Verdict.FALSE
    assert judged(trace([ONE], [ONE]), trace([ONE], inputs=[[ONE, ONE]]), **options)[0] is Verdict.TRUE


def test_other_batches_are_accepted_given_all_that_went_in():
    def one_of_all(now, left, right):
        return all(record in now.input for record in right)

    left = trace([TWO], [], inputs=[[ONE], [TWO]])
    some, none = (trace([record], inputs=[[ONE, TWO]]) for record in (ONE, THREE))
    assert judged(left, some, accept=one_of_all, **REGROUPED)[0] is Verdict.TRUE
    assert judged(left, none, accept=one_of_all, **REGROUPED)[0] is Verdict.FALSE


def test_what_went_in_so_far_is_not_counted_twice():
    def only_what_went_in(now, left, right):
        return now.so_far.input.contains(right)

    left = trace([ONE], [TWO])
    assert judged(left, trace([TWO], inputs=[[ONE, TWO]]), accept=only_what_went_in, **REGROUPED)[0] is Verdict.TRUE
    twice = trace([ONE, ONE], inputs=[[ONE, TWO]])
    assert judged(left, twice, accept=only_what_went_in, **REGROUPED)[0] is Verdict.FALSE


def test_a_side_with_more_batches_beside_one_with_as_many():
    compared = Comparison(len, len, fs.unordered(), under=(perturb.row_order(), perturb.batch_boundaries()))
    for reversed_, verdict in (([ONE, TWO], Verdict.TRUE), ([ONE, THREE], Verdict.FALSE)):
        traces = {
            AS_IT_IS: trace([ONE, TWO]),
            Side("rows reversed", Variant(RowOrder("reversed"))): trace(reversed_),
            Side("every batch halved", Variant(BatchBoundaries("halved"))): trace([ONE], [TWO]),
        }
        meter = Equivalence(compared, Running()).meter()
        for instant in beside(traces):
            meter.step(instant)
        assert meter.finish() is verdict


@pytest.mark.parametrize("batches", [([ONE],), ([ONE], [TWO], [THREE])])
def test_sides_with_more_or_fewer_batches_are_shown(batches):
    """Where one side has no batch, its place in the table is left empty."""
    left = trace([ONE], [TWO])
    _, _, why = judged(left, trace(*batches), **REGROUPED)
    found = Different(inputs=fs.Case(fs.Stream(SCHEMA, [[ONE], [TWO]])), trace=why.trace, reason=why.reason)
    lines = table(found, needed=2).splitlines()
    assert lines[0].split() == ["batch", "input", "as", "it", "is", "all", "in", "one", "batch"]
    assert len(lines) == 1 + max(2, len(batches))
