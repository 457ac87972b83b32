"""Many jobs as one, many DStreams in one context, and sinks that are called: the same as one by one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from firesteel.perturb.changes import ReplayedBatch, Restart, RowOrder, ShuffleOrder, Variant
from firesteel.spark.bulk.dstreams import exercise_beside
from firesteel.spark.bulk.jobs import exercise_united, in_parts, parts_of
from firesteel.spark.engines.exercise import exercise
from firesteel.spark.engines.sinks import call_sink, can_be_called, exercise_sink
from firesteel.spark.failures import CannotCarry, SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.batches import Batch, make_batch
from firesteel.values.cases import Case
from firesteel.values.streams import Stream, make_stream
from firesteel.values.traces import Trace

PAIRS = [[("a", 1), ("b", 2), ("a", 3)], [("b", 5)], [("a", 1), ("a", 1)], [("c", 7), ("a", 2), ("b", 2), ("a", 9)]]
JOB = Running(engine="batch", seconds=60)


def of_frames(rows: list[Any], partitions: tuple[int, ...] | None = None) -> Case:
    plain = Stream("k STRING NOT NULL, n INT", [rows])
    return Case({"input": make_stream([make_batch(plain[0].records, plain.schema, partitions)], plain.schema)})


def of_values(*batches: list[Any]) -> Case:
    return Case({"input": Stream(None, list(batches))})


def to_the_end(now: Any) -> bool:
    return False


def multisets(trace: Any) -> list[dict[str, Any]]:
    return [{name: sorted(map(repr, batch)) for name, batch in now.outputs.items()} for now in trace]


def alone(spark: Any, cases: list[Case], subject: Any, how: Running) -> list[Any]:
    return [multisets(exercise(spark, case, subject, how, to_the_end)) for case in cases]


def best(frame: Any) -> Any:
    return frame.withColumn("place", F.rank().over(Window.partitionBy("k").orderBy("n")))


def two_largest(frame: Any) -> Any:
    return frame.orderBy(F.desc("n"), "k").limit(2)


def numbered(frame: Any) -> Any:
    return frame.withColumn("id", F.monotonically_increasing_id())


def in_pandas(frame: Any) -> Any:
    return frame.groupBy("k").applyInPandas(lambda group: group.assign(n=group.n.sum()).head(1), "k STRING, n LONG")


def halves(frame: Any) -> dict[str, Any]:
    return {"even": frame.where("n % 2 = 0"), "odd": frame.where("n % 2 = 1").groupBy("k").count()}


@pytest.mark.slow
def test_united_jobs_give_what_each_gives_alone(spark: Any) -> None:
    interpreted = spark.conf.get("spark.sql.codegen.factoryMode")
    cases = [of_frames(rows) for rows in PAIRS] + [of_frames(PAIRS[0], (2, 1)), of_frames(PAIRS[3], (1, 1, 1, 1))]
    for subject in (best, two_largest, in_pandas, halves):
        assert list(map(multisets, exercise_united(spark, cases, subject, JOB))) == alone(spark, cases, subject, JOB)
    # Where every partition holds something, it has the number that it has alone.
    full = cases[4:]
    assert list(map(multisets, exercise_united(spark, full, numbered, JOB))) == alone(spark, full, numbered, JOB)
    turned = Running(engine="batch", seconds=60, under=Variant(ShuffleOrder("reversed")))
    assert list(map(multisets, exercise_united(spark, full, best, turned))) == alone(spark, full, best, turned)
    assert spark.conf.get("spark.sql.codegen.factoryMode") == interpreted != "NO_CODEGEN", "settings are given back"


@pytest.mark.slow
def test_united_jobs_of_rdds(spark: Any) -> None:
    cases = [of_values(rows) for rows in PAIRS]

    def summed(pairs: Any) -> Any:
        return pairs.reduceByKey(lambda a, b: a + b)

    assert list(map(multisets, exercise_united(spark, cases, summed, JOB))) == alone(spark, cases, summed, JOB)


@pytest.mark.slow
def test_jobs_that_fail(spark: Any) -> None:
    """One case that fails does not say which; a subject that cannot be built fails for all of them."""
    cases = [of_frames(rows) for rows in PAIRS]

    def raises(frame: Any) -> Any:
        return frame.select(F.udf(lambda n: 1 // (n - 7), "int")("n"))

    with pytest.raises(CannotCarry, match="ZeroDivisionError"):
        exercise_united(spark, cases, raises, JOB)
    with pytest.raises(SubjectFailure, match="nowhere") as failure:
        exercise_united(spark, cases, lambda frame: frame.select("nowhere"), JOB)
    assert not failure.value.depends_on_case


@pytest.mark.slow
def test_dstreams_beside_each_other(spark: Any) -> None:
    how = Running(engine="dstream", seconds=60)
    cases = [of_values(PAIRS[0], PAIRS[1]), of_values(PAIRS[2]), of_values(PAIRS[3], [], PAIRS[0])]

    def totals(pairs: Any) -> Any:
        return pairs.updateStateByKey(lambda new, old: (old or 0) + sum(new))

    def both(pairs: Any) -> Any:
        return {"one": pairs, "other": pairs}

    together = list(map(multisets, exercise_beside(spark, cases, totals, how)))
    assert together == alone(spark, cases, totals, how)
    assert [len(trace) for trace in together] == [2, 1, 3], "each is as long as it is alone"
    with pytest.raises(CannotCarry, match="several outputs"):
        exercise_beside(spark, cases, both, how)


def test_parts_are_run_until_it_is_over() -> None:
    """The first part always is: else there would be nothing to say."""
    cases, traces = [of_values([(number, 0)]) for number in range(5)], [Trace([]) for _ in range(5)]

    def ran(over: list[bool]) -> list[bool]:
        found = in_parts(cases, 2, lambda some: [traces[cases.index(case)] for case in some], lambda: over.pop(0))
        return [found[number] is traces[number] for number in range(5)]

    assert ran([False, False]) == [True] * 5
    assert ran([False, True]) == [True] * 4 + [False]
    assert ran([True]) == [True] * 2 + [False] * 3


def test_elements_find_their_case() -> None:
    assert parts_of(Batch([(1, "a"), (0, "b"), (1, ("c", 2))]), 3) == [Batch(["b"]), Batch(["a", ("c", 2)]), Batch([])]


@pytest.mark.slow
def test_a_sink_is_called_with_what_a_query_hands_it(spark: Any) -> None:
    rows = Stream("k STRING NOT NULL, n INT", [[("a", 1), ("b", 2), ("c", 3)], [], [("a", 4)]])
    dealt = make_stream(
        (make_batch(batch.records, batch.schema, (2, 1) if len(batch) > 1 else None) for batch in rows), rows.schema
    )

    def seen(run: Callable[..., None], case: Case, under: Variant) -> list[Any]:
        calls: list[Any] = []

        def write(frame: Any, batch_id: int) -> None:
            assert not frame.isStreaming
            parts = [[tuple(row) for row in part] for part in frame.rdd.glom().collect()]
            frame.createOrReplaceTempView("batch")
            total = frame.sparkSession.sql("select sum(n) from batch").first()[0]
            calls.append((batch_id, parts, frame.schema.simpleString(), total))

        how = Running(seconds=60, under=under)
        run(spark, under.applied(case), write, how)
        return calls

    for stream in (rows, dealt):
        for under in (Variant(), Variant(ReplayedBatch(0)), Variant(RowOrder("reversed"))):
            by_query = seen(exercise_sink, Case({"input": stream}), under)
            assert seen(call_sink, Case({"input": stream}), under) == by_query
    assert not spark.catalog.tableExists("batch"), "views belong to the query"
    assert not can_be_called(Running(under=Variant(Restart(0)))) and can_be_called(Running())


@pytest.mark.slow
def test_a_sink_that_fails_or_hangs_when_it_is_called(spark: Any) -> None:
    case = Case({"input": Stream("n INT", [[(1,)]])})

    def raises(frame: Any, batch_id: int) -> None:
        raise ValueError("no room left")

    def hangs(frame: Any, batch_id: int) -> None:
        time.sleep(20)

    with pytest.raises(SubjectFailure, match="no room left"):
        call_sink(spark, case, raises, Running(seconds=60))
    with pytest.raises(SubjectFailure, match="longer than") as failure:
        call_sink(spark, case, hangs, Running(seconds=0.5))
    assert failure.value.hangs
