"""A check of a claim about streams: cases are drawn, run on Spark, judged; a failing one is made simpler and shown.

`check` answers with an `Outcome`: data, and not an exception for a claim that is false. `firesteel.api` raises.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any

from hypothesis.errors import UnsatisfiedAssumption

from firesteel.evidence.events import Concluded, Event, Judged, Judging, Started
from firesteel.evidence.report import Report, Size
from firesteel.logic.verdicts import Verdict
from firesteel.runs import conclude
from firesteel.runs.claims import Judgement
from firesteel.runs.conclude import Outcome
from firesteel.runs.judging import Judge
from firesteel.runs.memory import Memory
from firesteel.runs.question import Question
from firesteel.runs.replay import decoded
from firesteel.runs.screening import Screen
from firesteel.runs.tally import Tally
from firesteel.search.examples import in_example
from firesteel.search.find import Failing, Result, find
from firesteel.search.wanted import Wanted
from firesteel.spark.engines.exercise import ENGINES
from firesteel.spark.engines.threads import at_once
from firesteel.strategies.recordings import choices_of_whole
from firesteel.values.cases import Case, as_case


def check(question: Question) -> Outcome:
    """Check a claim on explicit cases first, then on generated ones; stop at the first that breaks it."""
    question.tell(Started(question.asked))
    outcome = _Check(question).outcome()
    question.tell(Concluded(outcome.report))
    return outcome


class _Check:
    """One check under way: who judges, and what is remembered between explicit and generated cases."""

    def __init__(self, question: Question) -> None:
        self._question, self._checking = question, question.checking
        self._memory = Memory()
        self._judge = Judge(question.claim, question.runner, self._memory)

    def outcome(self) -> Outcome:
        if self._checking.replay is not None:
            # One case says nothing about others, so an empty one is not reported as vacuous.
            return self._given([decoded(self._checking.replay)], alone=True)
        return self._given(self._checking.examples)

    def _given(self, cases: Iterable[Any], *, alone: bool = False) -> Outcome:
        """Judge cases that were given, not generated; then, unless they stand alone, the generated ones."""
        tally = Tally()
        for number, case in enumerate(map(as_case, cases), 1):
            self._question.tell(Judging(number, number))
            try:
                judgement = in_example(partial(self._judge, case))
            except UnsatisfiedAssumption:
                continue  # the user's own `assume` refuses it
            tally = tally.plus(case, judgement)
            if judgement.fails:
                return self._failing(Failing(case, judgement, number, number, case, judgement), tally.cases, None)
        if not alone:
            return self._generated(tally)
        return conclude.passing(self._question, tally, self._report(tally.cases, None), may_be_empty=True)

    def _generated(self, given: Tally) -> Outcome:
        """Judge generated cases. Where a bulk run turns out to be wrong, the search begins again, with runs alone.

        What was run alone before is remembered. The second search may aim at other cases than the first one did.
        """
        screen, result, tally = self._searched(given, bulk=self._checking.bulk)
        if result.failing is None and not self._stands(tally):
            _, result, tally = self._searched(given, bulk=False)
        if self._judge.disagreement is None or result.failing is None:
            result.settle()
        if result.failing is not None:
            return self._failing(result.failing, result.cases, screen.why_not)
        report = self._report(result.cases, screen.why_not)
        return conclude.passing(self._question, tally, report, may_be_empty=False)

    def _searched(self, given: Tally, *, bulk: bool) -> tuple[Screen, Result[Case, Judgement], Tally]:
        question, tally = self._question, given
        engine = ENGINES[question.runner.how.engine]
        several = at_once(question.spark) if self._checking.bulk and engine.parallel else 1
        bulk = bulk and engine.bulk
        screen = Screen(self._judge, question.runner, self._memory, bulk=bulk, at_once=several, tell=question.tell)

        def tell(event: Event) -> None:
            nonlocal tally
            if isinstance(event, Judged):
                tally = tally.plus(event.value, event.judgement)
            self._question.tell(event)

        many = screen if bulk or several > 1 else None
        return screen, find(self._wanted(), self._judge, many, tell, done=given.cases), tally

    def _wanted(self) -> Wanted[Case]:
        streams = self._question.streams
        return Wanted(
            streams.map(as_case),
            key=self._key(),
            cases=self._checking.cases,
            settings=self._checking.settings,
            size=lambda case: Size.of(case).records,
            describe=_described,
            first=choices_of_whole(streams),
            shrink_seconds=self._checking.shrink_seconds,
            shrink_candidates=self._checking.shrink_candidates,
        )

    def _key(self) -> str:
        """What this claim is called in the example database: the same from run to run."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        return "\n".join([test, self._checking.name or "", self._question.key])

    def _stands(self, tally: Tally) -> bool:
        """Does what bulk runs said still count? What they leave open, or see in no window, is run alone."""
        for case, judgement in filter(None, (tally.undecided, tally.stray)):
            if not self._judge.is_screened(case):
                continue
            alone = in_example(partial(self._judge, case))
            if alone.verdict is not judgement.verdict or bool(alone.trace.outside) != bool(judgement.trace.outside):
                self._judge.disagree(judgement.trace, alone.trace)
        return self._judge.disagreement is None

    def _failing(self, found: Failing[Case, Judgement], cases: int, why_not: str | None) -> Outcome:
        return conclude.failing(self._question, self._judge, found, self._report(cases, why_not))

    def _report(self, cases: int, why_not: str | None) -> Report:
        one_by_one = conclude.disagreement(self._question, self._judge) or why_not
        return Report(Verdict.INCONCLUSIVE, cases, asked=self._question.asked, one_by_one=one_by_one)


def _described(case: Case) -> str:
    """A case as Hypothesis shows it: it may hold a million records."""
    return str(Size.of(case))
