"""`ss.partitioned`: batches that say how their records are placed in partitions."""

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from firesteel import Batch, InvalidArgument
from firesteel import strategies as ss


@given(ss.partitioned(ss.batches(st.integers(), max_size=6), min_partitions=2, max_partitions=5))
def test_partitions_hold_all_records(batch):
    assert 2 <= len(batch.partitions) <= 5
    assert sum(batch.partitions) == len(batch) and min(batch.partitions) >= 0


@pytest.mark.parametrize("wanted", [(3,), (0, 3), (1, 1, 1), (0, 2, 0, 1)])
def test_every_placement_is_drawn(wanted):
    three = ss.batches(st.just(0), min_size=3, max_size=3)
    assert find(ss.partitioned(three), lambda batch: batch.partitions == wanted).partitions == wanted


def test_the_simplest_is_one_partition_that_holds_all():
    assert find(ss.partitioned(ss.batches(st.just(0), min_size=3)), lambda b: True).partitions == (3,)
    two = ss.partitioned(ss.batches(st.just(0), min_size=3), min_partitions=2)
    assert find(two, lambda b: True).partitions == (3, 0)


def test_the_schema_is_known_and_streams_are_made_of_them():
    placed = ss.partitioned(ss.batches(ss.records("n INT"), min_size=1, max_size=1))
    stream = find(ss.concat(ss.empty(during=1), ss.always(placed, during=2)), lambda s: True)
    assert stream.schema.fieldNames() == ["n"] and [b.partitions for b in stream] == [None, (1,), (1,)]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"batches": Batch()}, "batches=.* is not a strategy"),
        ({"min_partitions": 0}, r"min_partitions=0 \(int\) is not possible: write a whole number from 1"),
        ({"min_partitions": 3, "max_partitions": 2}, r"max_partitions=2 \(int\) is less than min_partitions=3"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidArgument, match=message):
        ss.partitioned(**{"batches": ss.batches(st.integers()), **arguments})


def test_a_strategy_of_streams_is_refused():
    with pytest.raises(InvalidArgument, match=r"was drawn, where a batch is meant.*ss.always\(ss.partitioned"):
        find(ss.partitioned(ss.always(ss.batches(st.integers()), during=2)), lambda b: True)
