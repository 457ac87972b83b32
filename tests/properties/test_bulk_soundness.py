"""A bulk run that is wrong neither convicts nor acquits: runs alone have the last word, and the report says so."""

import functools

import pytest
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import Verdict
from firesteel import strategies as ss
from firesteel.properties import claim
from firesteel.report.facts import facts
from firesteel.spark.bulk.carry import _Carrier
from firesteel.values.batches import make_batch
from firesteel.values.traces import Instant, Trace
from tests.properties.bulk_numbers import identity, numbers, same

SIDE = ss.batches(ss.records("k INT NOT NULL", k=st.integers(0, 1)), min_size=1, max_size=3)
pairs = st.fixed_dictionaries({"left": ss.always(SIDE, during=2), "right": ss.always(SIDE, during=2)})


def matched(left, right):
    return left.join(right, "k")


def matched_but_for_ones(left, right):
    return left.join(right, "k").where("k < 1")


def joined_right(now):
    """As many pairs as there should be so far."""
    left, right = now.so_far["left"].values("k"), now.so_far["right"].values("k")
    return len(now.so_far.output) == sum(left.count(k) * right.count(k) for k in (0, 1))


@pytest.fixture
def joins_mix_cases(monkeypatch):
    """A planted defect: records of different cases join."""

    def _join(self, plan, parts):
        (left, mine), (right, _) = parts
        return plan.handle.withNewChildren(self._seq([left, right])), mine

    monkeypatch.setattr(_Carrier, "_join", _join)


@pytest.mark.slow
def test_a_join_is_carried(spark):
    assert fs.for_all(pairs, matched, fs.always(joined_right), cases=10, spark=spark).one_by_one is None


@pytest.mark.slow
def test_a_defect_of_bulk_runs_does_not_convict_and_is_reported(spark, joins_mix_cases):
    report = fs.for_all(pairs, matched, fs.always(joined_right), cases=10, spark=spark)
    assert (report.verdict, report.cases) == (Verdict.TRUE, 10)
    assert "a bulk run and a run alone of the same case differ" in facts(report)["run"]


@pytest.mark.slow
def test_nor_does_it_acquit(spark, joins_mix_cases):
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(pairs, matched_but_for_ones, fs.always(joined_right), cases=10, spark=spark)
    assert "a bulk run and a run alone of the same case differ" in facts(failure.value.report)["run"]
    assert "differ" in str(failure.value), "and the message says so"
    found = failure.value.report.counterexample
    assert any(1 in batch.values("k") for batch in found.inputs["left"]), "a real one"


def invented(trace):
    """A trace with one more record in every output."""
    return Trace(
        Instant(i.index, i.inputs, {"output": make_batch([*i.output, *i.output[:1]], i.output.schema)}, i.time)
        for i in trace
    )


@pytest.mark.slow
@pytest.mark.parametrize("which", ["all of them", "some that are not sampled"])
def test_failures_that_only_a_bulk_run_sees_are_none(spark, monkeypatch, which):
    original = claim.exercise_together

    def inventing(spark, cases, *rest, **more):
        traces = original(spark, cases, *rest, **more)
        if which == "all of them":
            return [invented(trace) for trace in traces]
        return [*traces[:3], invented(traces[3]), *traces[4:]]

    monkeypatch.setattr(claim, "exercise_together", inventing)
    report = fs.for_all(numbers, identity, same, cases=20, spark=spark)
    assert (report.verdict, report.cases) == (Verdict.TRUE, 20)
    assert "differ" in facts(report)["run"]


# --- where only runs alone count ---------------------------------------------------------------------------------


@pytest.fixture
def backwards(monkeypatch):
    """Bulk runs bring the records of a batch in the other order: the same multisets, so that samples agree."""
    original = claim.exercise_together

    def turned(trace):
        return Trace(
            Instant(
                now.index, now.inputs, {"output": make_batch(now.output.records[::-1], now.output.schema)}, now.time
            )
            for now in trace
        )

    @functools.wraps(original)
    def wrapper(*arguments, **options):
        return [trace if trace is None else turned(trace) for trace in original(*arguments, **options)]

    monkeypatch.setattr(claim, "exercise_together", wrapper)


@pytest.mark.slow
def test_a_predicate_that_raises_only_in_bulk_is_asked_again_alone(spark, backwards):
    def in_order(now):
        assert now.output.records == now.input.records
        return True

    report = fs.for_all(numbers, identity, fs.always(in_order), cases=20, spark=spark)
    assert (report.verdict, report.cases) == (Verdict.TRUE, 20)


@pytest.mark.slow
def test_what_only_a_bulk_run_leaves_open_is_not_reported(spark, backwards):
    turned = fs.now(lambda now: now.output.records != now.input.records)
    undecided = fs.always(fs.implies(turned, fs.next_(lambda now: True, times=3)), during=3)
    report = fs.for_all(numbers, identity, undecided, cases=20, spark=spark, on_vacuous="pass")
    assert report.verdict is Verdict.TRUE and "run" in facts(report)


# --- teeth -----------------------------------------------------------------------------------------------------------


def remembers_by_another_name(frame):
    """What it keeps does not show in its code."""
    seen = []

    def number(n):
        mine = seen
        mine.append(n)
        return len(mine)

    return frame.select("n", F.udf(number, "int")("n").alias("number"))


@pytest.mark.slow
def test_a_function_that_remembers_unseen_is_noticed(spark):
    few = fs.always(lambda now: now.output.every(lambda r: r.number >= 1))
    report = fs.for_all(numbers, remembers_by_another_name, few, cases=20, spark=spark)
    assert (report.verdict, report.cases) == (Verdict.TRUE, 20)
    assert "differ" in facts(report)["run"]


def ranked(frame):
    """Many rows have the same count, and which of them comes first is up to Spark."""
    return frame.groupBy("n").count().orderBy("count")


@pytest.mark.slow
@pytest.mark.parametrize("reads", [True, False])
def test_the_order_of_a_table_is_compared_where_a_predicate_reads_it(spark, reads):
    first = fs.always(lambda now: now.output[0]["count"] >= 1)
    each = fs.always(lambda now: now.output.every(lambda r: r["count"] >= 1))
    streams = ss.always(
        ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 30)), min_size=8, max_size=8), during=2
    )
    report = fs.for_all(streams, ranked, first if reads else each, cases=10, output_mode="complete", spark=spark)
    assert report.verdict is Verdict.TRUE
    assert (facts(report).get("run", "").startswith("one case at a time: records come in another order")) is reads
