"""The partitions of a batch, as values."""

import copy
import pickle

import pytest

from firesteel import Batch, InvalidArgument, Stream


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
