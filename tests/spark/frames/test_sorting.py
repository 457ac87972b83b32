"""Sorted or not, partition by partition: the answer of a batch on the driver, wherever the records are cut."""

from hypothesis import given
from hypothesis import strategies as st

from firesteel import Batch, Record
from firesteel.spark.frames import sorting

RECORDS = st.builds(lambda k, n: Record(k=k, n=n), st.sampled_from([None, 1.0, float("nan")]), st.integers(0, 3))


@given(st.lists(st.lists(RECORDS, max_size=3), max_size=4), st.sampled_from([(), ("k",), ("n", "k")]), st.booleans())
def test_as_on_the_driver(partitions, columns, turned):
    records = [record for part in partitions for record in part]
    found = [
        edge
        for number, part in enumerate(partitions)
        for edge in sorting.edges(lambda record: record, columns)(number, part)
    ]
    on_driver = Batch(records).sorted_by(*columns)
    assert sorting.check(found[::-1] if turned else found, columns) == on_driver
