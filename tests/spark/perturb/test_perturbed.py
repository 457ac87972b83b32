"""Perturbed runs on real Spark: for each perturbation a planted program that it breaks, and right ones that none does.

Every perturbed run is compared with a plain one of the same program: as a multiset of all that came out, as the last
row of every key, or as the sequence of rows of every key, whichever the program promises.
"""

import builtins
import datetime
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from firesteel import Falsified, InvalidArgument, Stream, perturb, stable
from firesteel.perturb import Variant
from firesteel.spark.engines import exercise as engines
from firesteel.spark.perturb.levers import dismissed, new_workers
from firesteel.spark.perturb.perturbed import exercise_under
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from tests.spark.engines.test_processing_time import idle_for, keys

ALL = {
    "partitions": perturb.partitions(3),
    "row_order": perturb.row_order(),
    "batch_boundaries": perturb.batch_boundaries(),
    "shuffle_partitions": perturb.shuffle_partitions(5),
    "adaptive_execution": perturb.adaptive_execution(),
    "shuffle_order": perturb.shuffle_order(),
    "restart": perturb.restart(),
    "replayed_batch": perturb.replayed_batch(),
}
ROWS = [(0, 4), (1, 7), (0, 2), (1, 1), (0, 9), (2, 3), (1, 5), (2, 8), (0, 6), (2, 0)]
NUMBERS = Case({"input": Stream("k INT NOT NULL, n INT NOT NULL", [ROWS[:5], ROWS[5:8], ROWS[8:]])})
ONE_BATCH = Case({"input": Stream("k INT NOT NULL, n INT NOT NULL", [ROWS])})


def everything(trace):
    """All that came out, as a multiset."""
    return Counter((name, tuple(r)) for instant in trace for name, batch in instant.outputs.items() for r in batch)


def tables(trace):
    """The last row of every key, in the first column: what update and complete mode leave behind."""
    return {(name, r[0]): tuple(r) for instant in trace for name, batch in instant.outputs.items() for r in batch}


def sequences(trace):
    """The rows of every key, in the first column, in order."""
    found = {}
    for record in trace.output:
        found.setdefault(record[0], []).append(tuple(record))
    return found


def plain(spark, case, subject, how):
    return engines.exercise(spark, case, subject, how, lambda instant: False)


def under(spark, case, subject, how, variant):
    return exercise_under(spark, case, subject, how, variant, lambda instant: False)


def broken_by(spark, case, subject, how, view, names, most=1):
    """The perturbations, of those named, under which the program does something else; `most` variants of each."""
    expected = view(plain(spark, case, subject, how))
    assert expected, "a program that puts out nothing shows nothing"
    return {
        name
        for name in names
        for variant in ALL[name].variants(case.length)[:most]
        if view(under(spark, case, subject, how, variant)) != expected
    }


# --- what each breaks --------------------------------------------------------------------------------

APPEND, UPDATE, COMPLETE, BATCH = (
    Running(),
    Running(output_mode="update"),
    Running(output_mode="complete"),
    Running(engine="batch"),
)


def where(frame):
    """Wrong: takes the partition that a row happens to be in for part of the result."""
    return frame.select("n", F.spark_partition_id().alias("at"))


def numbered(frame):
    """Wrong: numbers rows by their partition and place."""
    return frame.select("n", F.monotonically_increasing_id().alias("id"))


def first_of_each(frame):
    """Wrong: keeps whichever row of a key comes first."""
    return frame.dropDuplicates(["k"])


def placed(frame):
    """Wrong: takes the partition that a group happens to be in for part of the result."""
    return frame.groupBy("k").count().withColumn("at", F.spark_partition_id())


def in_order_of(frame):
    """Wrong: sorts, then groups, and takes the order in a group to be the sorted one."""
    return frame.orderBy("n").groupBy("k").agg(F.collect_list("n").alias("n"))


def in_order_of_right(frame):
    return frame.groupBy("k").agg(F.sort_array(F.collect_list("n")).alias("n"))


def test_partitions_break_what_is_numbered_by_place(spark):
    assert broken_by(spark, NUMBERS, where, APPEND, everything, ["partitions", "row_order"]) == {"partitions"}
    names = ["partitions", "row_order", "shuffle_partitions", "shuffle_order"]
    assert broken_by(spark, ONE_BATCH, numbered, BATCH, everything, names) == {"partitions", "row_order"}


def test_shuffle_order_breaks_what_sorts_before_it_groups(spark):
    """A batch job; nothing else that can happen to one breaks it."""
    names = set(ALL) - {"batch_boundaries", "restart", "replayed_batch"}
    assert broken_by(spark, ONE_BATCH, in_order_of, BATCH, tables, names, most=3) == {"shuffle_order"}
    assert broken_by(spark, ONE_BATCH, in_order_of_right, BATCH, tables, names, most=3) == set()


def joined_in_order(frame):
    """Wrong: takes the rows of a join to come sorted by their key, as those of a sort-merge join do."""
    doubled = frame.select("n", (F.col("n") * 2).alias("twice"))
    joined = frame.repartition(8, "n").join(doubled.repartition(8, "n"), "n")
    return joined.select("n", "twice", F.monotonically_increasing_id().alias("id"))


def joined_in_any_order(frame):
    return joined_in_order(frame).drop("id")


@pytest.mark.slow
def test_adaptive_execution_breaks_what_relies_on_the_kind_of_a_join(spark):
    """It alone: Spark sees that one side is small, and sends it to all tasks instead of sorting both."""
    names = set(ALL) - {"batch_boundaries", "restart", "replayed_batch"}
    assert broken_by(spark, ONE_BATCH, joined_in_order, BATCH, everything, names, most=3) == {"adaptive_execution"}
    assert broken_by(spark, ONE_BATCH, joined_in_any_order, BATCH, everything, names, most=3) == set()


ONE_BATCH_OF_ALL = Variant(batch_boundaries="one")
# What a program does not mind together it does not mind one by one, and that takes fewer runs.
EVERYTHING_ELSE = {"shuffle_partitions": 5, "adaptive_execution": True, "restart": 0, "replayed_batch": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject, how, view, breaks, harmless",
    [
        (
            where,
            APPEND,
            everything,
            Variant(partitions=3),
            [ONE_BATCH_OF_ALL, Variant(row_order=1, shuffle_order=1, **EVERYTHING_ELSE)],
        ),
        (
            first_of_each,
            APPEND,
            everything,
            Variant(row_order="reversed"),
            [ONE_BATCH_OF_ALL, Variant(shuffle_order="reversed"), Variant(partitions=3, **EVERYTHING_ELSE)],
        ),
        (
            placed,
            COMPLETE,
            tables,
            Variant(shuffle_partitions=5),
            [
                ONE_BATCH_OF_ALL,
                Variant(partitions=3, row_order=1, shuffle_order=1, **{**EVERYTHING_ELSE, "shuffle_partitions": None}),
            ],
        ),
    ],
    ids=["partitions", "row_order", "shuffle_partitions"],
)
def test_each_breaks_its_own(spark, subject, how, view, breaks, harmless):
    expected = view(plain(spark, NUMBERS, subject, how))
    assert view(under(spark, NUMBERS, subject, how, breaks)) != expected
    for variant in harmless:
        assert view(under(spark, NUMBERS, subject, how, variant)) == expected, str(variant)


# --- Python functions --------------------------------------------------------------------------------


def count_of_a_batch(frame):
    """Wrong: counts what it sees, which is a batch."""

    def counts(parts):
        import pandas as pd

        number = sum(map(len, parts))
        if number:
            yield pd.DataFrame({"k": [0], "n": [number]})

    return frame.repartition(1).mapInPandas(counts, "k INT, n LONG")


def count_so_far(frame):
    return frame.groupBy(F.lit(0).alias("k")).agg(F.count("*").alias("n"))


def remembering(frame):
    """Wrong: counts rows in the memory of the process that it happens to run in."""

    def number(parts):
        for part in parts:
            seen = builtins.__dict__.setdefault("_rows_seen", [])
            numbers = []
            for _ in range(len(part)):
                seen.append(0)
                numbers.append(len(seen))
            yield part.assign(n=numbers)[["n"]]

    return frame.repartition(1).mapInPandas(number, "n INT")


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
    others = Variant(partitions=3, row_order=1, shuffle_order=1, **EVERYTHING_ELSE)
    assert everything(under(spark, NUMBERS, count_of_a_batch, APPEND, others)) == expected
    assert broken_by(spark, NUMBERS, count_so_far, UPDATE, tables, ["batch_boundaries"], most=3) == set()


def numbers_of(trace):
    return sorted(trace.output.values("n"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant, wrong",
    [
        (Variant(restart=1), True),
        (Variant(replayed_batch=1), True),
        (Variant(), False),
        (Variant(batch_boundaries="halved", partitions=3, row_order="reversed"), False),
        (Variant(shuffle_partitions=5, adaptive_execution=True, shuffle_order=1), False),
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
        (Variant(replayed_batch=1), True),
        (Variant(restart=1), False),
        (Variant(batch_boundaries="one"), False),
        (Variant(partitions=3, row_order=1, shuffle_order=1, shuffle_partitions=5, adaptive_execution=True), False),
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
        (lambda f, _: f.select("n", F.lit(0).alias("at")), APPEND, everything, Variant(partitions=3)),
        (lambda f, _: f.groupBy("k").agg(F.min("n")), COMPLETE, tables, Variant(row_order="reversed")),
        (lambda f, _: f.groupBy("k").count(), COMPLETE, tables, Variant(shuffle_partitions=5)),
        (lambda f, _: count_so_far(f), UPDATE, tables, Variant(restart=1)),
        (noting_once, APPEND, everything, Variant(replayed_batch=1)),
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
    assert report.setting["under"] == repr(ALL[name])
    base, changed = report.counterexample.trace[0].outputs
    assert base == "as it is" and changed in {str(variant) for variant in ALL[name].variants(len(stream))}
    assert changed in str(failure.value)


def test_workers_of_a_restart_do_not_pile_up(spark):
    under(spark, NUMBERS, remembering, APPEND, Variant(restart=1))
    assert "FIRESTEEL_RESTART" not in spark.sparkContext.environment
    place = spark._jvm.java.lang.Class.forName("org.apache.spark.SparkEnv").getDeclaredField("pythonWorkers")
    place.setAccessible(True)
    assert "FIRESTEEL_RESTART" not in place.get(spark._jsc.sc().env()).toString()


# --- taxi (sketch 06) --------------------------------------------------------------------------------

RIDES = Case(
    {
        "input": Stream(
            "taxi INT NOT NULL, pos DOUBLE NOT NULL, meta STRING",
            [[(i % 3, float(10 * b + i), None) for i in range(9)] for b in range(3)],
        )
    }
)


def key_then_project(rides):
    return rides.repartition(4, "taxi").select("taxi", "pos")


def project_then_key(rides):
    """Wrong: work is spread over four tasks before the rides of a taxi come together."""
    return rides.repartition(4).select("taxi", F.round("pos", 1).alias("pos")).repartition(4, "taxi")


def twice_in_a_row(rides):
    """Not wrong: Spark's optimizer drops a repartition right below another one."""
    return rides.select("taxi", "pos").repartition(4).repartition(4, "taxi")


def test_taxi(spark):
    assert broken_by(spark, RIDES, project_then_key, APPEND, sequences, ["shuffle_order"]) == {"shuffle_order"}
    assert everything(plain(spark, RIDES, project_then_key, APPEND)) == everything(
        under(spark, RIDES, project_then_key, APPEND, Variant(shuffle_order=1))
    ), "the rows are the same, whatever their order"
    assert broken_by(spark, RIDES, twice_in_a_row, APPEND, sequences, ["shuffle_order"]) == set()


@pytest.mark.slow
def test_taxi_keeps_order_per_taxi(spark):
    names = set(ALL) - {"row_order"}  # other input, which has to come out in its own order
    assert broken_by(spark, RIDES, key_then_project, APPEND, sequences, names) == set()
    both = Variant(partitions=4, shuffle_order="reversed")
    expected = sequences(plain(spark, RIDES, key_then_project, APPEND))
    assert sequences(under(spark, RIDES, key_then_project, APPEND, both)) != expected, "four tasks, and order is lost"


# --- innocents ---------------------------------------------------------------------------------------


def at(minute, second=0):
    return datetime.datetime(2024, 1, 1, 0, minute, second, tzinfo=datetime.UTC)


# In order of event time: where a record is late depends on the batches, and rightly so.
TIMED = Case(
    {
        "input": Stream(
            "t TIMESTAMP, k INT", [[(at(1), 1), (at(2), 2), (at(3), 1)], [(at(12), 1), (at(12), 1)], [(at(25), 2)]]
        )
    }
)
TWO = Case(
    {
        "left": Stream("t TIMESTAMP, k INT, a INT", [[(at(1), 1, 10), (at(2), 2, 20)], [(at(3), 3, 30)], []]),
        "right": Stream("u TIMESTAMP, k INT, b INT", [[(at(2), 1, 11)], [(at(3), 2, 21), (at(30), 4, 41)]]),
    }
)


def windows(frame):
    counted = frame.withWatermark("t", "5 minutes").groupBy(F.window("t", "10 minutes"), "k").count()
    return counted.select(F.col("window.start").alias("start"), "k", "count")


def deduplicated(frame):
    return frame.withWatermark("t", "5 minutes").dropDuplicates(["t", "k"])


def joined(left, right):
    left, right = left.withWatermark("t", "1 minute"), right.withWatermark("u", "1 minute")
    near = (left.k == right.k) & (F.expr("u BETWEEN t AND t + INTERVAL 5 MINUTES"))
    return left.join(right, near, "leftOuter").select(left.k, "a", "b")


def two_outputs(frame):
    return {"small": frame.select("n").where("n < 5"), "sums": frame.groupBy("k").agg(F.sum("n").alias("s"))}


@pytest.mark.slow
@pytest.mark.parametrize(
    "case, subject, how, view",
    [
        (TIMED, windows, APPEND, everything),
        (TIMED, deduplicated, APPEND, everything),
        (TWO, joined, APPEND, everything),
        (NUMBERS, two_outputs, Running(output_mode={"small": "append", "sums": "update"}), tables),
        (NUMBERS, lambda f: f.groupBy("k").agg(F.min("n"), F.count("*")), COMPLETE, tables),
    ],
    ids=["windows", "deduplicated", "joined", "two outputs", "complete"],
)
def test_nothing_breaks_what_is_right(spark, case, subject, how, view):
    expected = view(plain(spark, case, subject, how))
    assert expected
    disturbed = Variant(partitions=3, row_order=1, shuffle_order="reversed", **EVERYTHING_ELSE)
    for variant in (ONE_BATCH_OF_ALL, disturbed):
        assert view(under(spark, case, subject, how, variant)) == expected, str(variant)


def test_a_restarted_run_has_the_same_instants(spark):
    """Watermarks, late records and times too; the last windows come out though nothing is fed after the restart."""
    late = Case({"input": Stream("t TIMESTAMP, k INT", [[(at(1), 1)], [(at(30), 1)], [(at(2), 1)], []])})
    expected = plain(spark, late, windows, APPEND)
    assert [instant.dropped for instant in expected] == [0, 0, 1, 0]
    for variant in (Variant(restart=2), Variant(replayed_batch=1)):
        assert under(spark, late, windows, APPEND, variant) == expected, str(variant)


@pytest.mark.slow
def test_timeouts_of_processing_time_are_kept(spark):
    case, subject = Case({"input": keys("a", "b", "b", "", "")}), idle_for(2000)
    expected = plain(spark, case, subject, APPEND)
    assert len(expected.output) >= 3
    assert under(spark, case, subject, APPEND, Variant(restart=1, replayed_batch=2)) == expected


@pytest.mark.slow
def test_the_state_is_read_after_a_restart(spark):
    how = Running(output_mode="update", state=True)
    expected = plain(spark, NUMBERS, count_so_far, how)
    for variant in (Variant(restart=0), Variant(replayed_batch=1)):
        assert [i.state for i in under(spark, NUMBERS, count_so_far, how, variant)] == [i.state for i in expected]


# --- how -----------------------------------------------------------------------------------------------


def test_rows_are_where_the_variant_says(spark):
    trace = under(spark, NUMBERS, where, APPEND, Variant(partitions=2))
    placed = [sorted(map(tuple, instant.output)) for instant in trace]
    assert placed == [[(1, 1), (2, 1), (4, 0), (7, 0), (9, 1)], [(3, 0), (5, 1), (8, 1)], [(0, 1), (6, 0)]]
    trace = under(spark, ONE_BATCH, where, BATCH, Variant(partitions=5))
    assert [tuple(r) for r in trace.output] == [(n, place // 2) for place, (_, n) in enumerate(ROWS)]


@pytest.mark.slow
def test_many_partitions_are_one_batch(spark):
    trace = under(spark, NUMBERS, count_so_far, COMPLETE, Variant(partitions=7))
    assert [instant.output.values("n") for instant in trace] == [[5], [8], [10]]
    trace = under(spark, TWO, joined, APPEND, Variant(partitions=3))
    assert trace == plain(spark, TWO, joined, APPEND)


def test_other_boundaries_are_other_instants(spark):
    trace = under(spark, NUMBERS, lambda f: f.select("n"), APPEND, Variant(batch_boundaries="paired"))
    assert [instant.output.values("n") for instant in trace] == [[n for _, n in ROWS[:8]], [n for _, n in ROWS[8:]]]


def test_the_watcher_ends_the_case(spark):
    seen = []
    for variant in (Variant(restart=0), Variant(replayed_batch=0)):
        trace = exercise_under(
            spark,
            NUMBERS,
            lambda f: f,
            APPEND,
            variant,
            lambda instant: seen.append(instant.index) or len(seen) % 2 == 0,
        )
        assert len(trace) == 2
    assert seen == [0, 1, 0, 1]


def test_the_session_is_as_it_was(spark):
    names = ("spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled")
    before = [spark.conf.get(name) for name in names]
    everywhere = Variant(shuffle_partitions=3, adaptive_execution=True, shuffle_order=2)
    for case, how in ((NUMBERS, UPDATE), (ONE_BATCH, BATCH)):
        assert tables(under(spark, case, count_so_far, how, everywhere)) == {("output", 0): (0, 10)}
    assert [spark.conf.get(name) for name in names] == before
    assert spark.sparkContext.getLocalProperty("firesteel.shuffle.order") is None
    assert tables(plain(spark, ONE_BATCH, in_order_of, BATCH)) == tables(
        plain(spark, ONE_BATCH, in_order_of_right, BATCH)
    )


# --- RDDs and DStreams ---------------------------------------------------------------------------------

ELEMENTS = Case({"input": Stream(None, [list(range(8))])})


def grouped(rdd):
    return rdd.map(lambda n: (n % 2, n)).groupByKey(2).mapValues(list)


def test_rdds(spark):
    def run(variant):
        return dict(under(spark, ELEMENTS, grouped, BATCH, variant).output)

    in_order = {0: [0, 2, 4, 6], 1: [1, 3, 5, 7]}
    assert dict(plain(spark, ELEMENTS, grouped, BATCH).output) == in_order
    assert run(Variant(partitions=4)) == in_order
    assert run(Variant(row_order="reversed")) == {0: [6, 4, 2, 0], 1: [7, 5, 3, 1]}
    # each task's own rows stay in order: 0 to 3, and 4 to 7
    assert run(Variant(partitions=2, shuffle_order="reversed")) == {0: [4, 6, 0, 2], 1: [5, 7, 1, 3]}
    assert run(Variant(partitions=1, shuffle_order="reversed")) == in_order


def test_what_rdds_have_not(spark):
    for variant in (Variant(shuffle_partitions=2), Variant(adaptive_execution=True)):
        with pytest.raises(InvalidArgument, match=r"\w+\(\) is not possible for RDDs: it changes a setting"):
            under(spark, ELEMENTS, grouped, BATCH, variant)


def test_dstreams(spark):
    how = Running(engine="dstream")
    case = Case({"input": Stream(None, [[1, 2, 3, 4], [5, 6]])})

    def subject(stream):
        return stream.map(lambda n: (0, n)).groupByKey(1).mapValues(list)

    def run(variant):
        return [[values for _, values in instant.output] for instant in under(spark, case, subject, how, variant)]

    assert run(Variant(partitions=2)) == [[[1, 2, 3, 4]], [[5, 6]]]
    assert run(Variant(partitions=2, shuffle_order="reversed")) == [[[3, 4, 1, 2]], [[6, 5]]]
    assert run(Variant(row_order="reversed")) == [[[4, 3, 2, 1]], [[6, 5]]]
    assert run(Variant(batch_boundaries="one")) == [[[1, 2, 3, 4, 5, 6]]]
    with pytest.raises(InvalidArgument, match="not possible with engine='dstream'"):
        run(Variant(restart=0))
