"""Stream: a sequence of batches of one schema, and what it refuses."""

import pytest

from firesteel import Batch, InvalidArgument, Record, Stream

SCHEMA = "user BIGINT NOT NULL, honest BOOLEAN"


@pytest.mark.parametrize("batches", [[(1, True)], [(1, True), (2, False)], [Record(user=1, honest=True)], [5], ["ab"]])
def test_a_batch_where_a_stream_is_meant(batches):
    with pytest.raises(
        InvalidArgument, match=r"a stream is a list of batches, and a batch a list of records; write Stream"
    ):
        Stream(SCHEMA, batches)


def test_two_schemas_in_one_stream():
    one, other = Batch([(1,)], schema="a INT"), Batch([(1,)], schema="b INT")
    with pytest.raises(InvalidArgument, match="two schemas cannot stand in one stream: 'a INT' and 'b INT'"):
        one + other
    with pytest.raises(InvalidArgument, match="two schemas"):
        Stream(None, [one, other])


def test_streams_are_sequences_of_batches():
    stream = Stream(SCHEMA, [[(1, True)], [], [(2, None)]])
    assert [len(batch) for batch in stream] == [1, 0, 1]
    assert stream[1:] == Stream(SCHEMA, [[], [(2, None)]]) and len(stream + stream) == 6
    assert stream == [[(1, True)], [], [(2, None)]]
    assert stream.schema.fieldNames() == ["user", "honest"]
    assert Stream(None, [["a"], []]).schema is None
