"""The partitions of a batch as values, and the strategy that draws them. What Spark makes of them: tests/spark."""

import copy
import pickle

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from firesteel import Batch, Case, InvalidArgument, Stream
from firesteel import strategies as ss
from firesteel.runs.replay import decoded, encoded


def test_a_batch_keeps_its_partitions():
    batch = Batch([(1,), (2,), (3,)], schema="n INT", partitions=[2, 0, 1])
    assert batch.partitions == (2, 0, 1)
    for same in (pickle.loads(pickle.dumps(batch)), copy.copy(batch), eval(repr(batch))):
        assert same == batch and same.partitions == (2, 0, 1)
    assert Batch([1]).partitions is None


def test_so_does_a_stream():
    batch = Batch([(1,), (2,)], partitions=(1, 1))
    for stream in (
        Stream("n INT", [batch, [(3,)]]),
        Stream(None, [batch, []]),
        Stream("n INT", []) + Stream(None, [batch]),
    ):
        again = eval(repr(stream))
        assert [b.partitions for b in again] == [b.partitions for b in stream] and again == stream
        assert (1, 1) in [b.partitions for b in stream]


def test_batches_made_from_others_have_none_of_their_own():
    batch = Batch([1, 2], partitions=(1, 1))
    assert [b.partitions for b in (batch + Batch([3]), batch[:1], batch.where(bool))] == [None] * 3
    assert batch == Batch([2, 1]) == [1, 2], "they are the same records"


@pytest.mark.parametrize("partitions", [(), (1,), (3,), (-1, 3), (1.0, 1.0), (True, 1), 2, "2"])
def test_sizes_that_the_records_do_not_fill(partitions):
    with pytest.raises(InvalidArgument, match=r"partitions=.* does not place 2 records: write the number of records"):
        Batch([1, 2], partitions=partitions)


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
        ({"batches": Batch()}, "batches=.* is no strategy"),
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


def test_a_replay_line_keeps_them():
    stream = Stream("n INT", [Batch([(1,), (2,)], partitions=(0, 2)), [(3,)]])
    again = decoded(encoded(Case(stream)))["input"]
    assert again == stream and [b.partitions for b in again] == [(0, 2), None]
