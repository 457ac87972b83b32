"""How small a counterexample becomes: the fewest records, as early as can be, with the simplest values; no Spark.

The subjects are plain functions of batches. Candidates are tried in three ways: many at once as in a bulk run, a few at
once as in threads, and one after the other.
"""

import pytest
from hypothesis import strategies as st

import firesteel as fs
from firesteel import Batch, Instant, Trace
from firesteel import strategies as ss
from firesteel.evidence.report import Asked
from firesteel.properties.claim import Property
from firesteel.runs.check import check
from firesteel.runs.question import Checking, Question
from firesteel.spark.failures import CannotCarry
from tests.runs.test_screening import Runner


class Calls(Runner):
    """Runs a function of all batches that gives all outputs."""

    def __init__(self, subject, way):
        super().__init__()
        self.subject, self.way = subject, way

    def trace(self, run, wrong_from=99):
        stream = run.inputs["input"]
        outputs = map(Batch, self.subject(list(stream)))
        return Trace(
            Instant(at, {"input": batch}, {"output": output})
            for at, (batch, output) in enumerate(zip(stream, outputs, strict=True))
        )

    def together(self, cases, *, also_single):
        if self.way != "bulk":
            raise CannotCarry("it is to run alone")
        return super().together(cases, also_single=also_single)


class Spark:
    """As much of a session as says how many cases run at once."""

    def __init__(self, cores):
        self.sparkContext = type("Context", (), {"defaultParallelism": cores})


WAYS = {"bulk": 2, "threads": 2, "one by one": 0}


def smallest(way, streams, subject, formula, *, cases):
    """The batches of the counterexample that is shown."""
    runner = Calls(subject, way)
    checking = Checking(cases=cases)
    question = Question(streams, Property(formula), runner, Spark(WAYS[way]), Asked("fs.for_all"), "", checking)
    found = check(question).report.counterexample
    return [[tuple(record) for record in batch] for batch in found.inputs["input"]][: len(found.trace)]


EVENT = "user BIGINT NOT NULL, honest BOOLEAN NOT NULL"


def forgetful(batches):
    """Who misbehaves in a batch; the job of the README."""
    return [[(event.user,) for event in batch if not event.honest] for batch in batches]


@pytest.mark.parametrize("way", WAYS)
def test_one_record_in_the_first_batch(way):
    """Of a stream with as many batches as there were, the first holds it; Hypothesis alone would put it to the end."""
    event = ss.records(EVENT, user=st.integers(1, 5))
    streams = ss.always(ss.batches(event, max_size=5), during=6)

    def everybody(now):
        misbehaved = now.so_far.input.where(lambda event: not event.honest)
        return now.output.same_set_as({(user,) for user in misbehaved.values("user")})

    found = smallest(way, streams, forgetful, fs.always(everybody), cases=20)
    assert found == [[(1, False)], []]


@pytest.mark.parametrize("way", WAYS)
def test_a_batch_that_is_drawn_in_another_way_may_need_more_choices(way):
    """One offence is enough. Where the second one goes, an empty list of others is drawn: that is one choice more."""
    good = ss.batches(ss.records(EVENT, user=st.integers(1, 50), honest=st.just(True)), max_size=5)
    bad = ss.batches(ss.records(EVENT, user=st.just(15), honest=st.just(False)), min_size=1, max_size=1)
    streams = ss.concat(ss.until(good, ss.overlay(good, bad), within=4), ss.always(good | bad, during=6))
    offends = fs.now(lambda now: now.input.some(lambda event: event == (15, False)))
    banned = fs.now(lambda now: (15,) in now.output)
    formula = fs.always(fs.implies(offends, fs.always(banned, during=3)), during=4)
    assert smallest(way, streams, forgetful, formula, cases=20) == [[(15, False)], []]


@pytest.mark.parametrize("way", WAYS)
def test_two_records_that_belong_together(way):
    """The same key in two batches: in the first two, with nothing between them."""
    record = ss.records("k INT NOT NULL, v INT NOT NULL", k=st.integers(0, 20), v=st.integers(-100, 100))
    streams = ss.always(ss.batches(record, max_size=6), during=8)

    def again(batches):
        seen, outputs = set(), []
        for batch in batches:
            outputs.append([(record.k,) for record in batch if record.k in seen])
            seen |= {record.k for record in batch}
        return outputs

    formula = fs.always(lambda now: not now.output)
    assert smallest(way, streams, again, formula, cases=40) == [[(0, 0)], [(0, 0)]]
