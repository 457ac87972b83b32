"""A check of a claim about streams: cases are drawn, run on Spark, judged; a failing one is made simpler and shown.

`check` answers with an `Outcome`: data, and not an exception for a claim that is false. `firesteel.api` raises.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from hypothesis.errors import UnsatisfiedAssumption

from firesteel.evidence.events import Concluded, Event, Judged, Judging, Started
from firesteel.evidence.report import Report, Size, WhyAlone
from firesteel.logic.verdicts import Verdict
from firesteel.runs import conclude
from firesteel.runs.claims import Judgement
from firesteel.runs.conclude import Outcome
from firesteel.runs.judging import Judge
from firesteel.runs.memory import Memory
from firesteel.runs.question import Question
from firesteel.runs.screening import Screen
from firesteel.runs.tally import Tally
from firesteel.search.examples import in_example, noted
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
            return self._given([self._checking.replay], alone=True)
        return self._given(self._checking.examples)

    def _given(self, cases: Iterable[Any], *, alone: bool = False) -> Outcome:
        """Judge cases that were given, not generated; then, unless they stand alone, the generated ones."""
        tally = Tally()
        for number, case in enumerate(map(as_case, cases), 1):
            self._question.tell(Judging(number, number))
            try:
                judgement, notes, events = noted(partial(self._judge, case))
            except UnsatisfiedAssumption:
                continue  # the user's own `assume` refuses it
            tally = self._counted(tally, case, judgement, events)
            if judgement.fails:
                found = Failing(case, judgement, number, number, case, judgement, notes=notes)
                return self._failing(found, tally, None)
        if not alone:
            return self._generated(tally)
        return conclude.passing(self._question, tally, self._report(tally, None), may_be_empty=True)

    def _counted(self, tally: Tally, case: Case, judgement: Judgement, events: Sequence[str]) -> Tally:
        bulk, short = self._judge.is_screened(case), self._judge.is_too_short(case)
        return tally.plus(case, judgement, events=events, in_bulk=bulk, too_short=short)

    def _generated(self, given: Tally) -> Outcome:
        """Judge generated cases. Where a bulk run turns out to be wrong, the search begins again, with runs alone.

        What was run alone before is remembered. The second search may aim at other cases than the first one did.
        """
        screen, result, tally = self._searched(given, bulk=self._checking.bulk)
        if result.failing is None and not (self._stands(tally) and screen.stands()):
            _, result, tally = self._searched(given, bulk=False)
        if self._judge.disagreement is None or result.failing is None:
            result.settle()
        if result.failing is not None:
            return self._failing(result.failing, tally, screen)
        return conclude.passing(self._question, tally, self._report(tally, screen), may_be_empty=False)

    def _searched(self, given: Tally, *, bulk: bool) -> tuple[Screen, Result[Case, Judgement], Tally]:
        question, tally = self._question, given
        engine = ENGINES[question.runner.how.engine]
        several = at_once(question.spark) if self._checking.bulk and engine.parallel else 1
        bulk = bulk and engine.bulk
        screen = Screen(self._judge, question.runner, self._memory, bulk=bulk, at_once=several, tell=question.tell)

        def tell(event: Event) -> None:
            nonlocal tally
            if isinstance(event, Judged):
                tally = self._counted(tally, event.value, event.judgement, event.events)
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
            size=_extent,
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

    def _failing(self, found: Failing[Case, Judgement], tally: Tally, screen: Screen | None) -> Outcome:
        return conclude.failing(self._question, self._judge, found, self._report(tally, screen))

    def _report(self, tally: Tally, screen: Screen | None) -> Report:
        """The report so far; `screen` is where generated cases were run together, if there were any."""
        ran = tally.ran(compared=0 if screen is None else screen.compared, why_alone=self._why_alone(screen))
        why_not = None if screen is None else screen.why_not
        one_by_one = conclude.disagreement(self._question, self._judge) or why_not
        return Report(Verdict.INCONCLUSIVE, tally.cases, asked=self._question.asked, one_by_one=one_by_one, ran=ran)

    def _why_alone(self, screen: Screen | None) -> WhyAlone | None:
        """Why cases were run alone, where a reason why they cannot be run together does not say it."""
        if screen is None:
            return WhyAlone.GIVEN
        if screen.why_not is not None:
            return None
        if not self._checking.bulk:
            return WhyAlone.ASKED
        if not ENGINES[self._question.runner.how.engine].bulk:
            return WhyAlone.ENGINE
        return screen.failed or WhyAlone.FEW


def _extent(case: Case) -> tuple[int, ...]:
    """What makes one case larger than another: its records, then how late they come, then its batches."""
    streams = case.values()
    late = sum(index * len(batch) for stream in streams for index, batch in enumerate(stream))
    return sum(len(batch) for stream in streams for batch in stream), late, case.length


def _described(case: Case) -> str:
    """A case as Hypothesis shows it: it may hold a million records."""
    return str(Size.of(case))
