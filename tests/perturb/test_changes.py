"""What each kind of change does to a case, and what it says of itself. What Spark makes of it: tests/spark."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel import Stream
from firesteel.perturb.changes import (
    NOTHING,
    AdaptiveExecution,
    BatchBoundaries,
    Partitions,
    ReplayedBatch,
    Restart,
    RowOrder,
    ShuffleOrder,
    ShufflePartitions,
    Stop,
    Variant,
)
from firesteel.perturb.feeding import ends
from firesteel.values.batches import Batch
from firesteel.values.cases import Case
from tests.perturb.test_perturb import ALL


@given(st.integers(0, 50), st.integers(1, 10))
def test_parts_hold_everything_and_are_of_about_one_size(size, parts):
    cuts = ends(size, parts)
    sizes = [b - a for a, b in pairwise(cuts)]
    assert len(sizes) == parts and cuts[0] == 0 and cuts[-1] == size and max(sizes) - min(sizes) <= 1


@given(st.integers(2, 30), st.integers(0, 5), st.sampled_from(RowOrder.tried(1, NOTHING)))
def test_rows_are_permuted(size, batch, change):
    order = change.places(size, batch)
    assert sorted(order) == list(range(size)) and order == change.places(size, batch)


def test_rows_are_really_in_another_order():
    for change in RowOrder.tried(1, NOTHING):
        assert change.places(12, 0) != list(range(12))
    assert RowOrder(1).places(12, 0) != RowOrder(1).places(12, 1)
    assert RowOrder(1).places(12, 0) != RowOrder(2).places(12, 0)


STREAMS = st.lists(st.lists(st.integers(), max_size=5), max_size=6)


@given(STREAMS, STREAMS, st.sampled_from(BatchBoundaries.tried(9, NOTHING)))
def test_other_boundaries_keep_every_record_and_the_order(left, right, change):
    case = Case({"left": Stream(None, left), "right": Stream(None, right)})
    made = change.applied(case)
    for name, batches in (("left", left), ("right", right)):
        assert [r for b in made.inputs[name] for r in b.records] == [r for b in batches for r in b]
    if case.length:
        assert len(made.inputs["left"]) == len(made.inputs["right"]), "cut at the same batches"
    if change.cut == "one":
        assert made.length == min(case.length, 1)
    if change.cut == "paired":
        assert made.length == (case.length + 1) // 2


def test_boundaries_by_hand():
    case = Case({"a": Stream("n INT", [[(1,), (2,), (3,)], [(4,)], []]), "b": Stream("n INT", [[(5,)], [(6,), (7,)]])})

    def cut(how):
        made = BatchBoundaries(how).applied(case).inputs
        return {name: [b.values("n") for b in stream] for name, stream in made.items()}

    assert cut("one") == {"a": [[1, 2, 3, 4]], "b": [[5, 6, 7]]}
    assert cut("paired") == {"a": [[1, 2, 3, 4], []], "b": [[5, 6, 7], []]}
    assert cut("halved") == {"a": [[1], [2, 3], [], [4], []], "b": [[], [5], [6], [7], []]}


@given(STREAMS, st.sampled_from([v for p in ALL for v in p.variants(9)]))
def test_the_records_of_a_case_stay_the_same(batches, variant):
    case = Case({"input": Stream(None, batches)})
    made = variant.applied(case).inputs["input"]
    assert sorted(r for b in made for r in b) == sorted(r for b in batches for r in b)
    if not variant.regroups:
        assert made == case.inputs["input"], "batch by batch"
    for batch in made:
        assert batch.partitions is None or (Partitions(len(batch.partitions)),) == variant.changes


def test_order_changes_the_placement_and_partitions_do_not_change_the_order():
    stream = Stream("n INT", [Batch([(n,) for n in range(5)], schema="n INT", partitions=(1, 4))])
    case = Case({"input": stream})
    reordered = RowOrder("reversed").applied(case).inputs["input"][0]
    assert reordered.values("n") == [4, 3, 2, 1, 0] and reordered.partitions == (1, 4)
    parted = Partitions(3).applied(case).inputs["input"][0]
    assert parted.values("n") == [0, 1, 2, 3, 4] and parted.partitions == (1, 2, 2)
    assert Restart(0).applied(case).inputs["input"][0].partitions == (1, 4)


def test_the_span_of_event_time_stays():
    import datetime

    span = (datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2030, 1, 2, tzinfo=datetime.UTC))
    stream = Stream("n INT", [[(1,)], [(2,)]], span=span)
    for perturbation in ALL:
        for variant in perturbation.variants(2):
            assert variant.applied(Case({"input": stream})).inputs["input"].span == span


def test_batches_are_cut_before_anything_else_is_done_to_them():
    case = Case({"input": Stream("n INT", [[(1,), (2,)], [(3,)]])})
    for variant in (
        Variant(BatchBoundaries("one"), RowOrder("reversed"), Partitions(2)),
        Variant(Partitions(2), RowOrder("reversed"), BatchBoundaries("one")),
    ):
        (batch,) = variant.applied(case).inputs["input"]
        assert batch.values("n") == [3, 2, 1] and batch.partitions == (1, 2)


@pytest.mark.parametrize(
    "changes, settings, order, stops, alone, regroups",
    [
        ((), {}, None, (), False, False),
        ((ShufflePartitions(3), ShuffleOrder(2)), {"spark.sql.shuffle.partitions": "3"}, 2, (), False, False),
        ((AdaptiveExecution(False),), {"spark.sql.adaptive.enabled": "false"}, None, (), False, False),
        ((Partitions(2), BatchBoundaries("one")), {}, None, (), False, True),
        ((Restart(1), ReplayedBatch(0)), {}, None, (Stop(1, True), Stop(0, False)), True, False),
    ],
    ids=str,
)
def test_what_a_variant_says_of_all_its_changes(changes, settings, order, stops, alone, regroups):
    variant = Variant(*changes)
    assert (variant.settings, variant.shuffle_order, variant.stops) == (settings, order, stops)
    assert (variant.alone, variant.regroups) == (alone, regroups)
