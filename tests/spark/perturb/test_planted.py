"""For each perturbation a planted program that it breaks, on real Spark, and one that looks alike and is right."""

import pytest
from pyspark.sql import functions as F

from firesteel import Stream
from firesteel.perturb.changes import (
    Partitions,
    RowOrder,
    ShuffleOrder,
    ShufflePartitions,
    Variant,
)
from firesteel.values.cases import Case
from tests.spark.perturb.programs import (
    ALL,
    APPEND,
    BATCH,
    COMPLETE,
    EVERYTHING_ELSE,
    INTERRUPTED,
    NUMBERS,
    ONE_BATCH,
    ONE_BATCH_OF_ALL,
    broken_by,
    everything,
    in_order_of,
    in_order_of_right,
    joined_in_order,
    placed,
    plain,
    sequences,
    tables,
    under,
    where,
)

# --- what each breaks --------------------------------------------------------------------------------


def numbered(frame):
    """Wrong: numbers rows by their partition and place."""
    return frame.select("n", F.monotonically_increasing_id().alias("id"))


def first_of_each(frame):
    """Wrong: keeps whichever row of a key comes first."""
    return frame.dropDuplicates(["k"])


def test_partitions_break_what_is_numbered_by_place(spark):
    assert broken_by(spark, NUMBERS, where, APPEND, everything, ["partitions", "row_order"]) == {"partitions"}
    names = ["partitions", "row_order", "shuffle_partitions", "shuffle_order"]
    assert broken_by(spark, ONE_BATCH, numbered, BATCH, everything, names) == {"partitions", "row_order"}


@pytest.mark.slow
def test_shuffle_order_breaks_what_sorts_before_it_groups(spark):
    """A batch job; nothing else that can happen to one breaks it."""
    names = set(ALL) - {"batch_boundaries", "restart", "replayed_batch"}
    assert broken_by(spark, ONE_BATCH, in_order_of, BATCH, tables, names, most=3) == {"shuffle_order"}
    assert broken_by(spark, ONE_BATCH, in_order_of_right, BATCH, tables, names, most=3) == set()


def joined_in_any_order(frame):
    return joined_in_order(frame).drop("id")


@pytest.mark.slow
def test_adaptive_execution_breaks_what_relies_on_the_kind_of_a_join(spark):
    """It alone: Spark sees that one side is small, and sends it to all tasks instead of sorting both."""
    names = set(ALL) - {"batch_boundaries", "restart", "replayed_batch"}
    assert broken_by(spark, ONE_BATCH, joined_in_order, BATCH, everything, names, most=3) == {"adaptive_execution"}
    assert broken_by(spark, ONE_BATCH, joined_in_any_order, BATCH, everything, names, most=3) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject, how, view, breaks, harmless",
    [
        (
            where,
            APPEND,
            everything,
            Variant(Partitions(3)),
            [ONE_BATCH_OF_ALL, Variant(RowOrder(1), ShuffleOrder(1), *EVERYTHING_ELSE)],
        ),
        (
            first_of_each,
            APPEND,
            everything,
            Variant(RowOrder("reversed")),
            [ONE_BATCH_OF_ALL, Variant(ShuffleOrder("reversed")), Variant(Partitions(3), *EVERYTHING_ELSE)],
        ),
        (
            placed,
            COMPLETE,
            tables,
            Variant(ShufflePartitions(5)),
            [
                ONE_BATCH_OF_ALL,
                Variant(Partitions(3), RowOrder(1), ShuffleOrder(1), *INTERRUPTED),
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


@pytest.mark.slow
def test_taxi(spark):
    assert broken_by(spark, RIDES, project_then_key, APPEND, sequences, ["shuffle_order"]) == {"shuffle_order"}
    assert everything(plain(spark, RIDES, project_then_key, APPEND)) == everything(
        under(spark, RIDES, project_then_key, APPEND, Variant(ShuffleOrder(1)))
    ), "the rows are the same, whatever their order"
    assert broken_by(spark, RIDES, twice_in_a_row, APPEND, sequences, ["shuffle_order"]) == set()


@pytest.mark.slow
def test_taxi_keeps_order_per_taxi(spark):
    names = set(ALL) - {"row_order"}  # other input, which has to come out in its own order
    assert broken_by(spark, RIDES, key_then_project, APPEND, sequences, names) == set()
    both = Variant(Partitions(4), ShuffleOrder("reversed"))
    expected = sequences(plain(spark, RIDES, key_then_project, APPEND))
    assert sequences(under(spark, RIDES, key_then_project, APPEND, both)) != expected, "four tasks, and order is lost"
