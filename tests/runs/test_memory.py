"""What is remembered of cases, and under what."""

from datetime import UTC, datetime

import pytest

import firesteel as fs
from firesteel import Batch, Instant, Stream, Trace
from firesteel.runs.memory import Memory, Remembered


def case(*batches, schema="n INT", **more):
    return fs.Case(Stream(schema, [[(n,) for n in batch] for batch in batches]), **more)


def seen(index=0, *, screened=False):
    return Remembered(Trace([Instant(index)]), screened=screened)


def test_what_is_decided_early_is_known_of_every_case_that_begins_so():
    memory = Memory()
    memory.keep(case([1], [2], [3]), seen(), decided_after=2)
    assert memory.recall(case([1], [2], [9])) is not None
    assert memory.recall(case([1], [2], [3], [4])) is not None
    assert memory.recall(case([1], [3])) is None
    assert memory.recall(case([1], [2])) is None, "event time may end with the second batch there"


def test_what_needs_the_end_is_known_of_that_case_alone():
    memory = Memory()
    memory.keep(case([1], [2]), seen())
    assert memory.recall(case([1], [2])) is not None
    assert memory.recall(case([1], [2], [3])) is None


def test_a_run_alone_takes_the_place_of_a_bulk_run_and_not_the_other_way():
    memory = Memory()
    memory.keep(case([1]), seen(screened=True))
    assert memory.recall(case([1])).screened
    memory.keep(case([1]), seen(1))
    memory.keep(case([1]), seen(screened=True))
    assert not memory.recall(case([1])).screened and memory.recall(case([1])).trace[0].index == 1


def test_only_what_bulk_runs_said_is_forgotten():
    memory = Memory()
    memory.keep(case([1]), seen(screened=True))
    memory.keep(case([2]), seen())
    memory.forget_screened()
    assert memory.recall(case([1])) is None and memory.recall(case([2])) is not None


SPAN = (datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    "other",
    [
        case([2, 1]),
        case([1, 2], schema="n BIGINT"),
        case([1, 2], []),
        case([1, 2], n=1),
        fs.Case({"other": case([1, 2])["input"]}),
        fs.Case(Stream("n INT", [[(1,), (2,)]], span=SPAN)),
        fs.Case(Stream(None, [Batch([(1,), (2,)], schema="n INT", partitions=(1, 1))])),
    ],
    ids=["order", "schema", "length", "drawn", "name", "span", "partitions"],
)
def test_cases_are_told_apart(other):
    memory = Memory()
    assert memory.identity(other) != memory.identity(case([1, 2])) == memory.identity(case([1, 2]))


@pytest.mark.parametrize("one, other", [(1, True), (1, 1.0), (0.0, -0.0), ([1], (1,)), ({"a": 1}, {"a": 1.0})])
def test_drawn_values_that_are_equal_are_told_apart(one, other):
    memory = Memory()
    assert one == other or [*one] == [*other]
    assert memory.identity(case([1], n=one)) != memory.identity(case([1], n=other))
    assert memory.identity(case([1], n=one)) == memory.identity(case([1], n=one))
