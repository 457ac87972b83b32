"""The search without Spark: a made-up runner stands in for it, and says how often a feed was run by itself."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from firesteel import operators
from firesteel.evidence.onspark import Raised
from firesteel.evidence.operators import Finding
from firesteel.logic.verdicts import Verdict
from firesteel.operators.examine import decoded
from firesteel.operators.onspark.analysis import Wanted, pauses_of
from firesteel.operators.onspark.examine import Budget, Examiner
from firesteel.operators.onspark.feeds import SECOND, Failed, Feed, Gave, Result
from firesteel.operators.onspark.harder import QUESTIONS
from firesteel.operators.onspark.making import Maker
from firesteel.operators.onspark.model import About
from firesteel.operators.onspark.running import Runner
from firesteel.report.onspark import sentence
from firesteel.values.records import Record

KEYED = operators.transformation(lambda frame: frame, input="k STRING, n INT", key="k")


class MadeUp(Runner):
    """Runs a Python function in place of Spark; `hidden` is what only a shared query shows."""

    def __init__(self, outcome: Callable[[Feed], Result], hidden: Callable[[Feed], Result] | None = None) -> None:
        super().__init__(None, KEYED)  # type: ignore[arg-type]
        self.outcome, self.hidden = outcome, hidden or outcome
        self.ran: Counter[str] = Counter()

    def screened(self, feeds: Sequence[Feed]) -> list[Result]:
        if self.in_python and self.trying is not None:
            return self.trying.results(feeds)
        return [self.hidden(feed) if self.bulk else self.outcome(feed) for feed in feeds]

    def alone(self, feed: Feed) -> Result:
        self.ran[repr(feed)] += 1
        return self.outcome(feed)


def running_count(feed: Feed) -> Result:
    seen: Counter[str] = Counter()
    instants = []
    for batch in feed.batches:
        seen.update(row[0] for _, row in batch)
        instants.append(tuple(Record(k=row[0], n=seen[row[0]]) for _, row in batch))
    return Gave(tuple(instants))


def doubled(feed: Feed) -> Result:
    gave = running_count(feed)
    assert isinstance(gave, Gave)
    return Gave(tuple(tuple(Record(k=row.k, n=2 * row.n) for row in rows) for rows in gave.instants))


def as_it_is(feed: Feed) -> Result:
    return Gave(tuple(tuple(Record(k=row[0], n=row[1]) for _, row in batch) for batch in feed.batches))


def searched(runner: MadeUp, property: str, tests: int = 50) -> Finding:
    return Examiner(About(KEYED), runner, Maker(KEYED)).answer(property, Budget(tests, time.monotonic() + 20))


def test_evidence_is_simple_and_seen_again_alone() -> None:
    runner = MadeUp(running_count)
    finding = searched(runner, "stateless")
    assert finding.verdict is Verdict.FALSE and "by themselves that gave the same" in finding.confirmed
    assert decoded(finding.replay) == (("input", ("", 0)),)
    questions = list(QUESTIONS["stateless"](About(KEYED), (("input", ("", 0)),)))
    assert runner.ran[repr(questions[-1].feeds[1])] == 1


def test_evidence_that_others_had_a_part_in_is_seen_twice_alone() -> None:
    """Runs together show it too, but not as runs by themselves do."""
    runner = MadeUp(running_count, hidden=doubled)
    finding = searched(runner, "stateless")
    assert finding.verdict is Verdict.FALSE and finding.confirmed == "twice, each run by itself"
    questions = list(QUESTIONS["stateless"](About(KEYED), (("input", ("", 0)),)))
    assert runner.ran[repr(questions[-1].feeds[1])] >= 2


def test_no_evidence_is_open_with_its_tests() -> None:
    finding = searched(MadeUp(as_it_is), "stateless")
    assert (finding.verdict, finding.tests, finding.outputs) == (Verdict.INCONCLUSIVE, 50, 50) and not finding.why


def test_what_only_shared_queries_show_is_not_evidence() -> None:
    runner = MadeUp(as_it_is, hidden=running_count)
    finding = searched(runner, "stateless")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert not runner.bulk, "after a few doubts, runs share no query"


def test_what_does_not_repeat_itself_is_another_property() -> None:
    calls = Counter[str]()

    def fickle(feed: Feed) -> Result:
        calls["all"] += 1
        return Gave(tuple((Record(k="a", n=calls["all"]),) for _ in feed.batches))

    assert searched(MadeUp(fickle), "stateless", tests=3).verdict is Verdict.INCONCLUSIVE
    assert searched(MadeUp(fickle), "deterministic", tests=3).verdict is Verdict.FALSE


def test_a_failure_is_never_evidence() -> None:
    def fails_later(feed: Feed) -> Result:
        return as_it_is(feed) if len(feed.batches) == 1 else Failed("boom")

    assert searched(MadeUp(fails_later), "stateless").verdict is Verdict.INCONCLUSIVE
    finding = searched(MadeUp(lambda feed: Failed("boom", always=True)), "stateless")
    assert "boom" in finding.why and finding.tests <= 24


def test_what_fails_in_some_tests_is_told() -> None:
    def fails_for_some(feed: Feed) -> Result:
        return Failed("boom") if any(row[0] == "" for batch in feed.batches for _, row in batch) else as_it_is(feed)

    finding = searched(MadeUp(fails_for_some), "stateless")
    assert finding.verdict is Verdict.INCONCLUSIVE and finding.outputs and not finding.why
    assert finding.trouble.endswith("of 50 tests did not come to their end: boom")


def test_an_operator_that_always_hangs_is_not_run_again() -> None:
    examiner = Examiner(About(KEYED), MadeUp(lambda feed: Failed("took longer", hangs=True)), Maker(KEYED))
    finding = examiner.answer("stateless", Budget(3, time.monotonic() + 20))
    assert "took longer" in finding.why and examiner.broken == "took longer"
    raising = Examiner(About(KEYED), MadeUp(lambda feed: Failed("boom")), Maker(KEYED))
    assert "boom" in raising.answer("stateless", Budget(3, time.monotonic() + 20)).why and not raising.broken


def test_raising_is_the_evidence_where_that_is_the_question() -> None:
    def without_nulls(feed: Feed) -> Result:
        return Failed("boom") if any(None in row for batch in feed.batches for _, row in batch) else as_it_is(feed)

    finding = searched(MadeUp(without_nulls), "null_safe")
    assert finding.verdict is Verdict.FALSE and isinstance(finding.proof, Raised) and finding.proof.error == "boom"
    assert searched(MadeUp(without_nulls), "total").verdict is Verdict.INCONCLUSIVE
    assert searched(MadeUp(lambda feed: Failed("slow", hangs=True)), "total", tests=3).verdict is Verdict.INCONCLUSIVE
    hidden = MadeUp(as_it_is, hidden=without_nulls)
    assert searched(hidden, "null_safe").verdict is Verdict.INCONCLUSIVE, "only a run by itself is evidence"


def test_what_had_output_is_not_all_that_total_is_asked_with() -> None:
    def not_one(feed: Feed) -> Result:
        return Failed("boom") if any(row[1] == 1 for batch in feed.batches for _, row in batch) else as_it_is(feed)

    examiner = Examiner(About(KEYED), MadeUp(not_one), Maker(KEYED, [("a", 0), ("a", 0), ("a", 1)]))
    examiner.runner.bulk = False
    assert examiner.answer("stateless", Budget(9, time.monotonic() + 20)).verdict is Verdict.INCONCLUSIVE
    finding = examiner.answer("total", Budget(9, time.monotonic() + 20))
    assert finding.verdict is Verdict.FALSE and decoded(finding.replay) == (("input", ("", 1)),)


def test_what_is_never_null_or_never_built_says_nothing_about_nulls() -> None:
    needed = operators.transformation(lambda frame: frame, input="k STRING NOT NULL, n INT NOT NULL")
    material: Any = (("input", ("a", 1)),)
    assert not list(QUESTIONS["null_safe"](About(needed), material))
    question, *_ = QUESTIONS["null_safe"](About(KEYED), material)
    assert question.raised is not None and question.raised([Failed("boom"), Gave(((),))]) is not None
    assert question.raised([Failed("boom", always=True), Gave(((),))]) is None
    assert question.raised([Failed("boom"), Failed("boom")]) is None, "the usual values do it too"


class Tried:
    """Stands in for runs in Python."""

    is_possible, ended = True, False

    def __init__(self, outcome: Callable[[Feed], Result]) -> None:
        self.outcome = outcome

    def results(self, feeds: Sequence[Feed]) -> list[Result]:
        return [self.outcome(feed) for feed in feeds]

    def end(self) -> None:
        self.ended = True


def tried_in_python(on_spark: Callable[[Feed], Result]) -> MadeUp:
    runner = MadeUp(on_spark, hidden=lambda feed: Failed("nothing is screened on Spark"))
    runner.trying = Tried(running_count)  # type: ignore[assignment]
    return runner


def test_what_python_shows_counts_when_spark_gives_the_same() -> None:
    runner = tried_in_python(running_count)
    finding = searched(runner, "stateless")
    assert finding.verdict is Verdict.FALSE and finding.tests == 1
    assert decoded(finding.replay) == (("input", ("", 0)),), "made simpler in Python"
    assert set(runner.ran.values()) == {1} and finding.confirmed.startswith("in Python first")


def test_what_spark_shows_otherwise_than_python_is_seen_twice_on_spark() -> None:
    runner = tried_in_python(doubled)
    finding = searched(runner, "stateless")
    assert finding.verdict is Verdict.FALSE and finding.confirmed == "twice, each run by itself"
    assert set(runner.ran.values()) == {2}


def test_what_only_python_shows_is_not_evidence() -> None:
    runner, tried = MadeUp(as_it_is), Tried(running_count)
    runner.trying = tried  # type: ignore[assignment]
    finding = searched(runner, "stateless")
    assert finding.verdict is Verdict.INCONCLUSIVE and finding.tests == 50
    assert runner.bulk and runner.trying is None and tried.ended, "Python is not asked again"


def test_pauses_are_tried_in_every_test_of_what_waits() -> None:
    waits = operators.state_function(
        max, key="k", input="k INT", output="k INT", state="n INT", time_mode="processingTime"
    )
    two = timedelta(minutes=2)
    assert pauses_of(Wanted(waits), About(waits)) == (SECOND, timedelta(days=2), timedelta(seconds=7))
    assert pauses_of(Wanted(KEYED, delays=(two,)), About(KEYED, delays=(two,))) == (SECOND, two)
    assert pauses_of(Wanted(KEYED), About(KEYED)) == (SECOND,)
    job = operators.transformation(lambda frame: frame, input="n INT", engine="batch")
    assert pauses_of(Wanted(job, delays=(two,)), About(job, delays=(two,))) == (SECOND,)


def test_a_column_that_changes_its_value_is_not_kept() -> None:
    def one_more(feed: Feed) -> Result:
        return Gave(tuple(tuple(Record(k=row[0], n=row[1] + 1) for _, row in batch) for batch in feed.batches))

    assert searched(MadeUp(one_more), "keeps_columns").verdict is Verdict.FALSE
    assert searched(MadeUp(as_it_is), "keeps_columns").verdict is Verdict.INCONCLUSIVE


def test_nothing_that_comes_out_may_mean_that_it_waits() -> None:
    def after_a_pause(feed: Feed) -> Result:
        waited = feed.interval > timedelta(minutes=2)
        return running_count(feed) if waited else Gave(((),) * len(feed.batches))

    finding = searched(MadeUp(after_a_pause), "stateless")
    assert finding.verdict is Verdict.FALSE and "2 days between batches" in sentence(finding.proof)  # type: ignore[arg-type]
    replayed = Examiner(About(KEYED), MadeUp(after_a_pause), Maker(KEYED)).replayed(
        "stateless", decoded(finding.replay)
    )
    assert replayed.verdict is Verdict.FALSE


def test_one_witness_proves_that_there_may_be_several() -> None:
    def twice(feed: Feed) -> Result:
        return Gave(tuple((1, 2) for _ in feed.batches))

    assert searched(MadeUp(twice), "prolific").verdict is Verdict.TRUE
    assert searched(MadeUp(as_it_is), "prolific").verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("property", sorted(QUESTIONS))
def test_records_may_hold_lists(property: str) -> None:
    listed = operators.transformation(lambda frame: frame, input="k STRING, ns ARRAY<INT>, ts TIMESTAMP", key="k")
    material: Any = Maker(listed).round(0, 1)[0]
    for question in QUESTIONS[property](About(listed), material):
        assert all(feed.case(listed).length for feed in question.feeds)
