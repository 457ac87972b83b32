"""Planted Python functions that perturbations break, on real Spark, and how the perturbation is named in a failure."""

import builtins
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from firesteel import Falsified, stable
from firesteel.perturb.changes import (
    AdaptiveExecution,
    BatchBoundaries,
    Partitions,
    ReplayedBatch,
    Restart,
    RowOrder,
    ShuffleOrder,
    ShufflePartitions,
    Variant,
)
from firesteel.report.facts import facts
from firesteel.spark.jvm import field_of, items
from firesteel.spark.perturb.levers import dismissed, new_workers
from tests.spark.perturb.programs import (
    ALL,
    APPEND,
    COMPLETE,
    EVERYTHING_ELSE,
    NUMBERS,
    ONE_BATCH,
    ONE_BATCH_OF_ALL,
    UPDATE,
    broken_by,
    count_so_far,
    everything,
    joined_in_order,
    placed,
    plain,
    remembering,
    tables,
    under,
)

# --- Python functions --------------------------------------------------------------------------------


def count_of_a_batch(frame):
    """Wrong: counts what it sees, which is a batch."""

    def counts(parts):
        import pandas as pd

        number = sum(map(len, parts))
        if number:
            yield pd.DataFrame({"k": [0], "n": [number]})

    return frame.repartition(1).mapInPandas(counts, "k INT, n LONG")


def noting(frame, file):
    """Wrong: counts rows in a file, which stays when a batch is run again."""

    def number(parts):
        for part in parts:
            before = len(Path(file).read_text()) if Path(file).exists() else 0
            with open(file, "a") as out:
                out.write("." * len(part))
            yield part.assign(n=range(before + 1, before + 1 + len(part)))[["n"]]

    return frame.repartition(1).mapInPandas(number, "n INT")


@contextmanager
def one_worker(spark):
    """A pool of Python workers that nobody else has used: tasks that come one after the other share one."""
    with new_workers(spark.sparkContext) as name:
        yield
    dismissed(spark.sparkContext, [name])


@pytest.mark.slow
def test_batch_boundaries_break_what_counts_a_batch(spark):
    expected = everything(plain(spark, NUMBERS, count_of_a_batch, APPEND))
    assert everything(under(spark, NUMBERS, count_of_a_batch, APPEND, ONE_BATCH_OF_ALL)) != expected
    others = Variant(Partitions(3), RowOrder(1), ShuffleOrder(1), *EVERYTHING_ELSE)
    assert everything(under(spark, NUMBERS, count_of_a_batch, APPEND, others)) == expected
    assert broken_by(spark, NUMBERS, count_so_far, UPDATE, tables, ["batch_boundaries"], most=3) == set()


def numbers_of(trace):
    return sorted(trace.output.values("n"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant, wrong",
    [
        (Variant(Restart(1)), True),
        (Variant(ReplayedBatch(1)), True),
        (Variant(), False),
        (Variant(BatchBoundaries("halved"), Partitions(3), RowOrder("reversed")), False),
        (Variant(ShufflePartitions(5), AdaptiveExecution(True), ShuffleOrder(1)), False),
    ],
    ids=str,
)
def test_a_restart_breaks_what_remembers_in_memory(spark, variant, wrong):
    """A crash takes the workers with it, too: what a restart before a batch breaks, a replay of that batch does."""
    with one_worker(spark):
        assert (numbers_of(under(spark, NUMBERS, remembering, APPEND, variant)) != list(range(1, 11))) == wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant, wrong",
    [
        (Variant(ReplayedBatch(1)), True),
        (Variant(Restart(1)), False),
        (Variant(BatchBoundaries("one")), False),
        (Variant(Partitions(3), RowOrder(1), ShuffleOrder(1), ShufflePartitions(5), AdaptiveExecution(True)), False),
    ],
    ids=str,
)
def test_a_replayed_batch_breaks_what_has_effects_elsewhere(spark, tmp_path, variant, wrong):
    def subject(frame):
        return noting(frame, str(tmp_path / "seen"))

    trace = under(spark, NUMBERS, subject, APPEND, variant)
    assert (numbers_of(trace) != list(range(1, 11))) == wrong
    if wrong:
        # 5 rows, 3 rows that are forgotten, the same 3 again, 2 more
        assert [sorted(instant.output.values("n")) for instant in trace] == [[1, 2, 3, 4, 5], [9, 10, 11], [12, 13]]


def noting_once(frame, folder):
    """Not wrong: has effects elsewhere that are the same if they are had twice."""

    def note(parts):
        for part in parts:
            for n in part["n"]:
                (Path(folder) / str(n)).touch()
            yield part[["n"]]

    return frame.mapInPandas(note, "n INT")


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject, how, view, variant",
    [
        (lambda f, _: f.select("n", F.lit(0).alias("at")), APPEND, everything, Variant(Partitions(3))),
        (lambda f, _: f.groupBy("k").agg(F.min("n")), COMPLETE, tables, Variant(RowOrder("reversed"))),
        (lambda f, _: f.groupBy("k").count(), COMPLETE, tables, Variant(ShufflePartitions(5))),
        (lambda f, _: count_so_far(f), UPDATE, tables, Variant(Restart(1))),
        (noting_once, APPEND, everything, Variant(ReplayedBatch(1))),
    ],
    ids=["partitions", "row_order", "shuffle_partitions", "restart", "replayed_batch"],
)
def test_none_breaks_a_look_alike(spark, tmp_path, subject, how, view, variant):
    """Those of shuffle_order, adaptive_execution and batch_boundaries stand beside what these break."""

    def job(frame):
        return subject(frame, str(tmp_path))

    expected = view(plain(spark, NUMBERS, job, how))
    assert expected and view(under(spark, NUMBERS, job, how, variant)) == expected


# --- what a failure says -------------------------------------------------------------------------------


def counting_in(place):
    """Wrong as `noting` and `remembering` are, but every run begins to count anew: with the row that comes first."""

    def job(frame):
        def number(parts):
            for part in parts:
                seen = builtins.__dict__.setdefault("_counted", []) if place is None else place
                before = 0 if 4 in set(part["n"]) else len(seen if place is None else Path(place).read_text())
                if place is None:
                    seen[:] = [0] * (before + len(part))
                else:
                    Path(place).write_text("." * (before + len(part)))
                yield part.assign(n=range(before + 1, before + 1 + len(part)))[["n"]]

        return frame.repartition(1).mapInPandas(number, "n INT")

    return job


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shuffle_partitions", "adaptive_execution", "restart", "replayed_batch"])
def test_the_perturbation_is_named(spark, tmp_path, name):
    subject, options = {
        "shuffle_partitions": (placed, {"output_mode": "complete"}),
        "adaptive_execution": (joined_in_order, {"engine": "batch"}),
        "restart": (counting_in(None), {}),
        "replayed_batch": (counting_in(str(tmp_path / "seen")), {}),
    }[name]
    stream = (ONE_BATCH if options.get("engine") == "batch" else NUMBERS).inputs["input"]
    with pytest.raises(Falsified) as failure:
        stable(st.just(stream), subject, under=[ALL[name]], cases=1, settings=settings(database=None), **options)
    report = failure.value.report
    assert facts(report)["under"] == repr(ALL[name])
    base, changed = report.counterexample.trace[0].outputs
    assert base == "as it is" and changed in {str(variant) for variant in ALL[name].variants(len(stream))}
    assert changed in str(failure.value)


@pytest.mark.slow
def test_workers_of_a_restart_do_not_pile_up(spark):
    """A pool is kept for the next restart, with its daemon and without a worker."""
    place = spark._jvm.java.lang.Class.forName("org.apache.spark.SparkEnv").getDeclaredField("pythonWorkers")
    place.setAccessible(True)
    pools = []
    for _ in range(2):
        under(spark, NUMBERS, remembering, APPEND, Variant(Restart(1)))
        assert "FIRESTEEL_RESTART" not in spark.sparkContext.environment
        pools.append(place.get(spark._jsc.sc().env()).toString().count("FIRESTEEL_RESTART"))
    assert pools[0] == pools[1]
    made = [each for each in items(place.get(spark._jsc.sc().env()).toSeq()) if "FIRESTEEL" in each._1().toString()]
    assert made and all(field_of(each._2(), "idleWorkers").get(each._2()).isEmpty() for each in made)
