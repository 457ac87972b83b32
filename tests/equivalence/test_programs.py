"""Two programs, or one under perturbations, compared on real Spark: what differs is found, shrunk and told."""

import time

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import perturb
from firesteel import strategies as ss
from firesteel.logic.verdicts import Verdict
from firesteel.report.facts import facts

pytestmark = pytest.mark.slow

QUICK = settings(database=None)
UNSHRUNK = {"settings": settings(database=None, phases=[Phase.generate])}
ride = ss.records("taxi INT NOT NULL, pos INT NOT NULL", taxi=st.integers(0, 3), pos=st.integers(0, 99))
rides = ss.always(ss.batches(ride, max_size=6), during=3)


def equivalent(reference, candidate, **options):
    return fs.equivalent(rides, reference, candidate, **{"cases": 12, "settings": QUICK, **options})


def stable(subject, **options):
    return fs.stable(rides, subject, **{"cases": 12, "settings": QUICK, **options})


def key_then_project(frame):
    return frame.repartition(4, "taxi").select("taxi", (F.col("pos") + 1).alias("pos"))


def project_then_key(frame):
    return frame.repartition(4).select("taxi", (F.col("pos") + 1).alias("pos")).repartition(4, "taxi")


def latest(frame):
    """Any row of those with the largest position: which one, nobody knows."""
    return frame.groupBy("taxi").agg(F.max("pos").alias("pos"), F.first("pos").alias("some"))


# --- two programs ----------------------------------------------------------------------------------------------------


def test_two_ways_to_say_the_same(spark):
    report = equivalent(lambda f: f.where("pos > 10"), lambda f: f.where("NOT pos <= 10"))
    assert (report.verdict, report.cases) == (Verdict.TRUE, 12)
    assert set(facts(report)) == {"reference", "candidate", "up to", "cases"}


def test_a_difference_is_found_and_shrunk(spark):
    with pytest.raises(fs.Falsified, match="the equivalence is false in batch") as failure:
        equivalent(lambda f: f.where("pos >= 10"), lambda f: f.where("pos > 10"), cases=200)
    found = failure.value.report.counterexample
    assert [record.pos for batch in found.inputs["input"] for record in batch] == [10]
    assert "is left over: 'candidate' has no match for it" in found.reason
    assert set(found.trace[0].outputs) == {"reference", "candidate"}
    again = {"cases": 1, "examples": [found.inputs["input"]]}
    with pytest.raises(fs.Falsified):
        equivalent(lambda f: f.where("pos >= 10"), lambda f: f.where("pos > 10"), **again)
    with pytest.raises(fs.Falsified):
        equivalent(lambda f: f.where("pos >= 10"), lambda f: f.where("pos > 10"), replay=found.replay)


def test_order_matters_where_it_is_said_to(spark):
    def backwards(frame):
        return frame.repartition(1).select("*")

    shuffled = {"dependence": fs.same_key("taxi"), "under": [perturb.shuffle_order()]}
    with pytest.raises(fs.Falsified) as failure:
        equivalent(key_then_project, project_then_key, cases=40, **shuffled, **UNSHRUNK)
    reason = failure.value.report.counterexample.reason
    assert "came before an equal of" in reason and "same_key('taxi')" in reason
    assert equivalent(key_then_project, project_then_key, under=[perturb.shuffle_order()]).verdict is Verdict.TRUE
    assert equivalent(key_then_project, backwards, cases=8, equal=fs.equality(ignore=["pos"])).verdict is Verdict.TRUE


def test_columns_that_only_one_side_has_may_be_ignored(spark):
    def stamped(frame):
        return frame.withColumn("at", F.lit(1))

    with pytest.raises(fs.InvalidArgument, match="'at' is INT in the reference, and missing in the candidate"):
        equivalent(stamped, lambda f: f.select("*"), cases=8)
    assert equivalent(stamped, lambda f: f.select("*"), cases=8, equal=fs.equality(ignore=["at"])).cases == 8


def test_tolerances(spark):
    def thirds(frame):
        return frame.select("taxi", (F.col("pos") / 3).alias("x"))

    def thirds_in_another_way(frame):
        return frame.select("taxi", (F.col("pos") * (1 / 3)).alias("x"))

    with pytest.raises(fs.Falsified):
        equivalent(thirds, thirds_in_another_way, cases=50, **UNSHRUNK)
    close = equivalent(thirds, thirds_in_another_way, equal=fs.equality(rel_tol=1e-9))
    assert close.verdict is Verdict.TRUE and "rel_tol=1e-09" in facts(close)["equal"]


def test_several_outputs(spark):
    def both(low):
        return lambda f: {"some": f.where(f"pos > {low}"), "all": f}

    with pytest.raises(fs.Falsified) as failure:
        equivalent(both(5), both(50), **UNSHRUNK)
    assert set(failure.value.report.counterexample.trace[0].outputs) == {"reference: some", "candidate: some"}


# --- one program under perturbations ---------------------------------------------------------------------------------


def test_what_depends_on_the_order_of_rows_is_not_stable(spark):
    with pytest.raises(fs.Falsified, match="the stability is false") as failure:
        stable(latest, under=[perturb.partitions(1, 2), perturb.row_order()], output_mode="complete")
    found = failure.value.report.counterexample
    assert set(found.trace[0].outputs) == {"as it is", "rows reversed"}
    assert facts(failure.value.report)["under"] == "partitions(1, 2), row_order()"
    assert sum(len(batch) for batch in found.inputs["input"]) == 2


def test_answers_that_differ_and_will_do(spark):
    def one_of_them(now, left, right):
        largest = left.values("taxi", "pos") and dict(left.values("taxi", "pos")) == dict(right.values("taxi", "pos"))
        seen = set(now.so_far.input.values("taxi", "pos"))
        return bool(largest) and set(right.values("taxi", "some")) <= seen

    options = {"under": [perturb.row_order()], "output_mode": "complete", "accept": one_of_them}
    assert stable(latest, **options).verdict is Verdict.TRUE

    def wrong(frame):
        return frame.groupBy("taxi").agg(F.max("pos").alias("pos"), (F.first("pos") + 100).alias("some"))

    with pytest.raises(fs.Falsified, match="one_of_them refuses it"):
        stable(wrong, **options, **UNSHRUNK)


def test_other_batches(spark):
    boundaries = [perturb.batch_boundaries()]

    def totals(frame):
        return frame.groupBy("taxi").agg(F.sum("pos").alias("total"))

    def per_batch(frame):
        return frame.groupBy("taxi").applyInPandas(lambda part: part[:1], "taxi INT, pos INT")

    assert stable(totals, under=boundaries, output_mode="complete").verdict is Verdict.TRUE
    assert stable(lambda f: f, under=[perturb.row_order(), *boundaries]).verdict is Verdict.TRUE
    by_key = {"output_mode": "update", "dependence": fs.same_key("taxi")}
    assert stable(totals, under=boundaries, **by_key).verdict is Verdict.TRUE
    with pytest.raises(fs.InvalidArgument, match="name the key"):
        stable(totals, under=boundaries, output_mode="update")
    with pytest.raises(fs.Falsified):
        stable(per_batch, under=boundaries, **UNSHRUNK)


def by_hour(result):
    def job(frame):
        hours = frame.withWatermark("ts", "1 hour").groupBy(F.window("ts", "1 hour").alias("hour"))
        return hours.agg(result).select(F.col("hour.start").alias("at"), "pos")

    return job


def test_windows(spark):
    hours = {"over": fs.tumbling("1 hour", on={"input": "ts", "output": "at"}), **UNSHRUNK}
    timed = ss.records("ts TIMESTAMP NOT NULL, pos INT NOT NULL", pos=st.integers(0, 99))
    rides = ss.timed(ss.always(ss.batches(timed, min_size=2, max_size=4), during=3), every="1 hour", column="ts")
    largest, first = by_hour(F.max("pos").alias("pos")), by_hour(F.first("pos").alias("pos"))
    changes = [perturb.row_order(), perturb.batch_boundaries(), perturb.restart()]
    report = fs.stable(rides, largest, under=changes, cases=1, **hours)
    assert (report.verdict, report.cases) == (Verdict.TRUE, 1)
    with pytest.raises(fs.Falsified, match="false in window") as failure:
        fs.stable(rides, first, under=[perturb.row_order()], cases=12, **hours)
    found = failure.value.report.counterexample
    (shown,) = found.trace[-1].outputs["as it is"]
    assert all(len(batch) <= 1 for now in found.trace for batch in now.outputs.values())
    assert shown.at == found.trace[-1].time and len(found.trace[-1].input) > 1
    with pytest.raises(fs.Falsified, match="false in window"):
        fs.equivalent(rides, largest, by_hour(F.min("pos").alias("pos")), cases=12, **hours)


def test_restarts_are_tried_one_case_at_a_time(spark):
    report = stable(lambda f: f.where("pos > 1"), under=[perturb.restart(), perturb.replayed_batch()], cases=8)
    assert report.verdict is Verdict.TRUE and "in a query of its own" in facts(report)["run"]


def test_batch_jobs(spark):
    def numbered(frame):
        return frame.withColumn("id", F.monotonically_increasing_id())

    batch = {"engine": "batch", "cases": 5}
    some = ss.batches(ride, min_size=2, max_size=6)
    fs.stable(some, lambda f: f.where("pos > 3"), under=[perturb.partitions(3)], settings=QUICK, **batch)
    with pytest.raises(fs.Falsified):
        fs.stable(some, numbered, under=[perturb.partitions(3)], **batch, **UNSHRUNK)
    with pytest.raises(fs.InvalidArgument, match="batch"):
        fs.stable(some, numbered, under=[perturb.restart()], settings=QUICK, **batch)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, match",
    [
        ({"dependence": "taxi"}, "dependence"),
        ({"dependence": fs.same_key("cab")}, "'cab', which is not in the output: it has taxi, pos"),
        ({"dependence": fs.depends(lambda a, b: a.pos < b.pos)}, "is not symmetric"),
        ({"equal": 0.1}, "is not an equality"),
        ({"dependence": fs.same_key("taxi"), "equal": fs.equality(ignore=["taxi"])}, "have different keys"),
        ({"under": perturb.row_order()}, "not a list of perturbations"),
        ({"under": ["restart"]}, "not a list of perturbations"),
        ({"accept": 1}, "is not a function"),
    ],
)
def test_bad_arguments(spark, options, match):
    with pytest.raises(fs.InvalidArgument, match=match):
        equivalent(lambda f: f, lambda f: f.select("*"), cases=3, **options)


def test_bad_programs(spark):
    def plain(frame):
        return frame

    with pytest.raises(fs.InvalidArgument, match="'pos' is INT in the reference, and missing in the candidate"):
        equivalent(plain, lambda f: f.select("taxi"), cases=3)
    with pytest.raises(fs.InvalidArgument, match="'pos' is INT in the reference, and BIGINT in the candidate"):
        equivalent(plain, lambda f: f.withColumn("pos", F.col("pos").cast("long")), cases=3)
    with pytest.raises(fs.InvalidArgument, match="outputs"):
        equivalent(plain, lambda f: {"a": f, "b": f}, cases=3)
    with pytest.raises(fs.SubjectError, match="candidate: ") as failure:
        equivalent(plain, lambda f: f.withColumn("pos", F.raise_error(F.lit("no")).cast("int")), cases=3, **UNSHRUNK)
    assert "no" in str(failure.value)
    with pytest.raises(fs.Falsified, match="left over"):
        equivalent(plain, lambda f: f.where("false"), cases=10, **UNSHRUNK)
    with pytest.raises(fs.Vacuous, match="put out nothing"):
        equivalent(lambda f: f.where("false"), lambda f: f.where("1 = 0"), cases=10)
    with pytest.raises(fs.InvalidArgument, match="changes nothing"):
        stable(plain, under=[])
    with pytest.raises(TypeError, match="no option 'score'"):
        equivalent(plain, lambda f: f.select("*"), score=len)
    with pytest.raises(fs.PredicateError, match="accept"):
        equivalent(plain, lambda f: f.where("pos > 50"), accept=lambda now, a, b: 1 / 0)


def fails(*records):
    raise ValueError("not today")


@pytest.mark.parametrize("cases", [2, 10], ids=["alone", "in bulk"])
@pytest.mark.parametrize(
    "options, named",
    [
        ({"dependence": fs.depends(fails)}, "fails"),
        ({"dependence": fs.barrier(fails)}, "fails"),
        ({"equal": fs.equality(by=fails)}, "fails"),
    ],
    ids=["depends", "barrier", "equality"],
)
def test_functions_that_raise_are_named(spark, cases, options, named):
    with pytest.raises(fs.PredicateError, match=f"{named}.*raised.*not today"):
        equivalent(lambda f: f.where("pos > 10"), lambda f: f.where("pos > 20"), cases=cases, **options)


@pytest.mark.parametrize("cases", [2, 10], ids=["alone", "in bulk"])
def test_a_candidate_that_hangs_is_named(spark, cases):
    """It is given up after so many seconds, and no query of it goes on."""

    def hangs(frame):
        def sleep(parts):
            for part in parts:
                time.sleep(120)
                yield part

        return frame.mapInPandas(sleep, frame.schema)

    some = ss.always(ss.batches(ride, min_size=1, max_size=2), during=1)
    with pytest.raises(fs.SubjectError, match=r"candidate: .*batch 0 took longer than 5 s"):
        fs.equivalent(some, lambda f: f, hangs, cases=cases, seconds=5, **UNSHRUNK)
    assert not spark.streams.active


def test_what_cannot_be_changed_is_not_decided(spark):
    one = ss.always(ss.batches(ride, min_size=1, max_size=2), during=1)
    with pytest.raises(fs.Inconclusive, match="changes anything in a stream"):
        fs.stable(one, lambda f: f, under=[perturb.restart()], cases=2, settings=QUICK)
