"""A run is skipped only for the very same case: `Case ==` does not look at order, schemas, partitions and spans."""

from datetime import UTC, datetime

import pytest

import firesteel as fs
from firesteel import Batch, Instant, Stream, Trace, Verdict
from firesteel.properties.claim import Property
from firesteel.runs.judging import Judge
from firesteel.runs.memory import Memory
from firesteel.runs.screening import Screen
from firesteel.search.find import When
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.failures import CannotCarry
from firesteel.spark.running import Running

SPAN = (datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 2, tzinfo=UTC))


def case(*rows, schema="n INT", span=None, partitions=None, **drawn):
    stream = Stream(schema, [], span=span)
    batch = Batch(rows, schema=schema, partitions=partitions)
    return fs.Case(Stream(stream.schema, [batch], span=span), **drawn)


BASE = case((1,), (2,))
OTHERS = {
    "order": case((2,), (1,)),
    "schema": case((1,), (2,), schema="n INT NOT NULL"),
    "partitions": case((1,), (2,), partitions=(1, 1)),
    "span": case((1,), (2,), span=SPAN),
}


class Counting:
    """Runs cases without Spark, and remembers which."""

    how = Running()
    prefixes = True

    def __init__(self):
        self.ran = []

    def alone(self, case, watcher):
        self.ran.append(case)
        instant = Instant(0, case.batches_at(0), case.batches_at(0))
        watcher(instant)
        return Trace([instant])

    def apart(self, cases):
        return [self.alone(case, lambda now: False) for case in cases]

    def together(self, cases, *, also_single):
        return self.apart(cases)


@pytest.mark.parametrize("name", OTHERS)
def test_equal_cases_that_differ_are_both_run(name):
    other = OTHERS[name]
    assert other == BASE, "else this says nothing"
    runner, memory = Counting(), Memory()
    judge = Judge(Property(fs.now(lambda now: True)), runner, memory)
    screen = Screen(judge, runner, memory, bulk=False, at_once=1, tell=lambda event: None)
    assert judge(BASE).verdict is Verdict.TRUE and len(runner.ran) == 1
    assert screen.is_known(BASE) and not screen.is_known(other)
    judge.glance(other)
    assert len(runner.ran) == 2 and runner.ran[1] is other
    judge(case((1,), (2,)))
    judge.glance(other)
    assert len(runner.ran) == 2, "the very same cases need no further run"


@pytest.mark.parametrize("name", OTHERS)
def test_what_a_bulk_run_said_of_one_is_not_said_of_an_equal_one(name):
    runner, memory = Counting(), Memory()
    judge = Judge(Property(fs.now(lambda now: True)), runner, memory)
    screen = Screen(judge, runner, memory, bulk=True, at_once=1, tell=lambda event: None)
    screen([case((1,), (2,), k=k) for k in range(7)] + [BASE], when=When.FIRST)
    assert judge.is_screened(BASE) and not judge.is_known(OTHERS[name])


@pytest.mark.parametrize("one, other", [(1, True), (1, 1.0), ("1", 1)])
def test_a_program_that_depends_on_a_drawn_value_is_not_shared_by_equal_ones(one, other):
    """`F.lit(1)` and `F.lit(True)` are columns of different types."""

    def subject(frame, n):
        raise AssertionError("it is refused before it is called")

    with pytest.raises(CannotCarry, match="depends on n, drawn for every case"):
        exercise_together(None, [case((1,), n=one), case((1,), n=other)], subject, Running())
