"""Checking a claim: generate cases with Hypothesis, run them on Spark, judge them, shrink what fails.

`check` answers with an `Outcome`: data, and no exception for a property that is false. `firesteel.api` raises.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from hypothesis.errors import UnsatisfiedAssumption

from firesteel.errors import InvalidArgument, PredicateError, described
from firesteel.evidence import Counterexample, Failed, Falsified, Inconclusive, Report, SubjectError, Vacuous
from firesteel.logic.ltl.formulas import Implies
from firesteel.logic.verdicts import Verdict
from firesteel.runs import replay as replays
from firesteel.runs import words
from firesteel.runs.judge import Claim, Judge, Judgement, Runner, Why
from firesteel.search.aim import Aim
from firesteel.search.drawing import (
    Breaks,
    Drawing,
    Enough,
    broken,
    choices_now,
    in_example,
    notes_of,
    observed,
    settings_for,
)
from firesteel.search.shrink import Candidate, Inputs, Search
from firesteel.spark.bulk.carry import CannotCarry
from firesteel.spark.engines.structured import at_once
from firesteel.spark.failures import SubjectFailure
from firesteel.values.cases import as_case, texts_of
from firesteel.values.windows import instants_of

if TYPE_CHECKING:
    from hypothesis import settings as Settings
    from pyspark.sql import SparkSession

# Shrinking runs Spark once for every new candidate; after this long what has been found is small enough.
_SHRINK_SECONDS = 60.0
# So many cases are worth a bulk run, of which some are run alone again.
_MANY = 8
# A generation of cases has at least so many, of which one in so many is new: the others are changed ones that came
# close to trouble. It grows with the number of cases before it, by one in so many: each is a run of Spark.
_GENERATION, _NEW, _GROWTH = 32, 4, 8
# The label of firesteel's own score, beside those of the user.
_OWN = "firesteel: how close a case came"

Progress = Callable[[int, int, bool], None]
"""Told the number of the case, of how many, and whether a counterexample is being shrunk."""


@dataclass(frozen=True)
class Question:
    """What is to be checked, and how."""

    streams: Any
    claim: Claim
    runner: Runner
    spark: SparkSession
    setting: Mapping[str, str]
    """What is checked, and on what, for the report."""
    call: str
    """How to run a case by hand: an argument of `fs.run`."""
    key: str
    """What tells this check from others of the same test: the same from run to run."""
    called: str = "fs.for_all"
    """The function that asks."""
    cases: int | None = None
    settings: Settings | None = None
    examples: Sequence[Any] = ()
    replay: str | None = None
    name: str | None = None
    on_inconclusive: str = "fail"
    on_vacuous: str = "fail"
    bulk: bool = True
    progress: Progress = field(default=lambda case, of, shrinking: None)


@dataclass(frozen=True)
class Outcome:
    """A report; and where it is no success, which failure it is, with its cause if that was an exception."""

    report: Report
    failure: type[Failed] | None = None
    cause: BaseException | None = None


def check(question: Question) -> Outcome:
    """Check a property on explicit cases first, then on generated ones; stop at the first that breaks it."""
    _validate(question)
    run = _Run(question)
    if question.replay is not None:
        # One case proves nothing about the others, and need not: it may well be an empty one by now.
        return run.explicit([replays.decoded(question.replay)]) or run.conclusion(may_be_empty=True)
    return run.explicit(question.examples) or run.generated() or run.conclusion()


class _Run:
    """One check under way: what was seen so far."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.unit = words.unit_of(question.runner.how)
        self.judge = Judge(question.claim, question.runner)
        self.cases = 0
        self.records_in = 0
        self.records_out = 0
        self.premises: dict[Implies | None, bool] = {}
        self.undecided: tuple[Inputs, Judgement] | None = None
        self.stray: tuple[Inputs, Judgement] | None = None
        self.failing: tuple[Inputs, Judgement] | None = None
        self.first_failing: tuple[int, Inputs] | None = None
        self.since = 0.0
        self.total = 0
        # How many cases are run at once where each has to run by itself.
        several = question.bulk and question.runner.how.engine == "structured"
        self.ahead = at_once(question.spark) if several else 1
        self.notes: tuple[str, ...] = ()
        self.one_by_one: str | None = None
        self.in_bulk = False
        self.believed: list[tuple[int, Candidate]] = []
        self.confirmed: tuple[Inputs, Judgement] | None = None
        self.seen_alone: Inputs | None = None
        """A case that a bulk run found false, and then a run alone."""

    # --- cases ---

    def explicit(self, cases: Iterable[Any]) -> Outcome | None:
        """Run cases that were given, not generated; an outcome if one of them ends it."""
        for drawn in cases:
            inputs = as_case(drawn)
            self.total += 1
            self.cases += 1
            self.question.progress(self.cases, self.total, False)
            judgement = in_example(partial(self.judge, inputs))
            self._remember(inputs, judgement)
            if judgement.verdict is Verdict.FALSE or judgement.error is not None:
                self.first_failing = (self.cases, inputs)
                self.failing = (inputs, judgement)
                return self._broken(shrunk=False)
        return None

    def generated(self) -> Outcome | None:
        """Run generated cases; an outcome if one of them breaks the property."""
        question = self.question
        drawing = Drawing(question.streams, self._key(), settings_for(question.settings, question.cases))
        self.total += drawing.settings.max_examples
        drawn = drawing.to_come()
        if question.bulk and len(drawn) >= _MANY:
            self._screen(drawn)
        aim = Aim(drawing.seed)
        for cases in self._generations(drawing, drawn, aim):
            found = self._first_broken(drawing, cases, aim)
            if found is not None:
                return self._broken(shrunk=True, cut_short=self._shrunk(drawing, found))
        return self._rechecked(drawing)

    def _generations(self, drawing: Drawing, drawn: list[Candidate], aim: Aim) -> Iterator[list[Candidate]]:
        """The cases as they were drawn; where some come closer to trouble than others, most are made of those."""
        new = iter(drawn)
        done = 0
        while done < len(drawn):
            this = min(max(_GENERATION, done // _GROWTH), len(drawn) - done)
            done += this
            wanted = this - this // _NEW if drawing.aims and aim else 0
            changed = drawing.of_choices(aim.generation(wanted))[:wanted] if wanted else []
            if changed and self.in_bulk and self.judge.disagreement is None:
                self._screen_more(changed)
            yield [*changed, *islice(new, this - len(changed))]

    def _first_broken(self, drawing: Drawing, cases: Sequence[Candidate], aim: Aim) -> Candidate | None:
        """Judge cases in order, up to the first that breaks the property."""
        for place, case in enumerate(cases):
            self.cases += 1
            self.question.progress(self.cases, self.total, False)
            if self.ahead > 1 and not self.judge.knows(case.inputs):
                self.judge.run_ahead([other.inputs for other in cases[place : place + self.ahead]])
            screened = self.judge.screened(case.inputs)
            if screened:
                self.believed.append((self.cases, case))
            try:
                judgement, scores = self._judged(case.inputs, screened)
                if screened and judgement.verdict is Verdict.FALSE:
                    judgement = in_example(partial(self.judge.confirmed, case.inputs, judgement))
            except UnsatisfiedAssumption:  # the user's own `assume`: not a case at all
                self.cases -= 1
                continue
            self._remember(case.inputs, judgement)
            if judgement.verdict is Verdict.FALSE or judgement.error is not None:
                self.first_failing, self.failing = (self.cases, case.inputs), (case.inputs, judgement)
                return case
            aim.see(case.choices, scores if judgement.closeness is None else {**scores, _OWN: judgement.closeness})
            drawing.passed(case)
        return None

    def _judged(self, inputs: Inputs, screened: bool) -> tuple[Judgement, Mapping[str, float]]:
        """The judgement on a case, and what the predicates aimed for."""
        try:
            return observed(partial(self.judge, inputs, screened=True))
        except PredicateError:
            if not screened:
                raise
            return observed(partial(self.judge.afresh, inputs))  # it has to raise there too

    def _confirm_doubts(self) -> None:
        """What a bulk run leaves open, or puts out in no window, has to be so alone: else nothing it said counts."""
        for inputs, judgement in filter(None, (self.undecided, self.stray)):
            if not self.judge.screened(inputs):
                continue
            alone = in_example(partial(self.judge, inputs))
            if alone.verdict is not judgement.verdict or bool(alone.trace.outside) != bool(judgement.trace.outside):
                self.judge.disagree(judgement.trace, alone.trace)
                self.undecided = self.stray = None  # to be found again
                return

    def _rechecked(self, drawing: Drawing) -> Outcome | None:
        """Where a bulk run turned out to be wrong, what passed on its word alone is run by itself after all."""
        self._confirm_doubts()
        if self.judge.disagreement is None:
            return None
        for number, case in self.believed:
            judgement = in_example(partial(self.judge, case.inputs))
            self._remember(case.inputs, judgement)
            if judgement.verdict is Verdict.FALSE or judgement.error is not None:
                self.first_failing, self.failing = (number, case.inputs), (case.inputs, judgement)
                return self._broken(shrunk=True, cut_short=self._shrunk(drawing, case))
        return None

    def _screen(self, cases: Sequence[Candidate]) -> None:
        """Run cases together where that can be: those that pass need no run of their own."""
        self.question.progress(0, len(cases), False)
        try:
            self.judge.screen([case.inputs for case in cases])
            self.in_bulk = True
        except CannotCarry as why:
            self.one_by_one = str(why)
        except SubjectFailure:
            pass  # it will fail alone too, and say so with its case

    def _screen_more(self, cases: Sequence[Candidate]) -> None:
        """Run cases together of a subject that is known to allow it."""
        unknown = [case.inputs for case in cases if not self.judge.knows(case.inputs)]
        if unknown:
            with suppress(CannotCarry, SubjectFailure):
                self.judge.screen(unknown, sampled=False)

    # --- shrinking ---

    def _shrunk(self, drawing: Drawing, found: Candidate) -> bool:
        """Make the failing case simpler, as far as there is time; was that cut short?"""
        assert self.failing is not None
        self.since = time.monotonic()
        if not drawing.shrinks:
            drawing.keep(found.choices)
            return False
        if self.in_bulk and self.judge.disagreement is None and self.failing[1].error is None:
            self.confirmed = self.failing
            return self._shrunk_in_bulk(drawing, found)
        return self._shrunk_one_by_one(drawing, found)

    def _shrunk_one_by_one(self, drawing: Drawing, found: Candidate) -> bool:
        smallest, cut_short = [found.choices], True

        def attempt(inputs: Inputs) -> None:
            self.question.progress(self.cases, self.total, True)
            if self._too_long() and not self.judge.knows(inputs):
                raise Enough
            judgement = self.judge(inputs)
            if judgement.verdict is Verdict.FALSE or judgement.error is not None:
                self.failing = (inputs, judgement)
                smallest.append(choices_now())
                raise broken()

        with suppress(Enough):
            try:
                drawing.shrink(found.choices, attempt)
            except Breaks as error:
                self.notes = notes_of(error)
            cut_short = False
        drawing.keep(smallest[-1])
        return cut_short

    def _shrunk_in_bulk(self, drawing: Drawing, found: Candidate) -> bool:
        """Look for a simpler case that fails, with many candidates in one run."""
        search = Search(found, drawing.of_choices, self._fail)
        more = True
        while more and not self._too_long():
            self.question.progress(self.cases, self.total, True)
            more = search.round()
        if search.found is not found and not self._fails_alone(search.found.inputs):
            return self._shrunk_one_by_one(drawing, found)
        try:  # once more as an example of Hypothesis, which collects what the user's predicates note
            drawing.once_more(search.found.choices, self._fails_again)
        except Breaks as error:
            self.notes = notes_of(error)
        drawing.keep(search.found.choices)
        return more

    def _fails_alone(self, inputs: Inputs) -> bool:
        """Does a case that a bulk run found false break the property by itself?"""
        together = in_example(partial(self.judge, inputs, screened=True))
        try:
            alone = in_example(partial(self.judge.confirmed, inputs, together))
        except (PredicateError, UnsatisfiedAssumption):  # as in `_fails`
            return False
        if alone.verdict is Verdict.FALSE:
            self.seen_alone = inputs
        return alone.verdict is Verdict.FALSE

    def _fails_again(self, inputs: Inputs) -> None:
        judgement = self.judge(inputs, screened=True)
        if judgement.verdict is Verdict.FALSE:
            self.failing = (inputs, judgement)
            raise broken()

    def _fail(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those candidates that break the property."""
        self._screen_more(candidates)
        return [candidate for candidate in candidates if self._fails(candidate.inputs)]

    def _fails(self, inputs: Inputs) -> bool:
        if not self.judge.knows(inputs) and self._too_long():
            return False
        try:
            judgement = in_example(partial(self.judge, inputs, screened=True))
        except (PredicateError, UnsatisfiedAssumption):  # the user's predicate was not made for so simple a case
            return False
        return judgement.verdict is Verdict.FALSE

    def _too_long(self) -> bool:
        return time.monotonic() - self.since > _SHRINK_SECONDS

    def _remember(self, inputs: Inputs, judgement: Judgement) -> None:
        self.records_in += sum(len(batch) for stream in inputs.values() for batch in stream)
        self.records_out += sum(len(b) for instant in judgement.trace for b in instant.outputs.values())
        self.records_out += sum(len(instant.recorded_state or ()) for instant in judgement.trace)
        for implication, held in judgement.premises.items():
            self.premises[implication] = self.premises.get(implication, False) or held
        if judgement.verdict is Verdict.INCONCLUSIVE and judgement.error is None and self.undecided is None:
            self.undecided = (inputs, judgement)
        if judgement.trace.outside and not judgement.settled and self.stray is None:
            self.stray = (inputs, judgement)

    # --- outcomes ---

    def _broken(self, *, shrunk: bool, cut_short: bool = False) -> Outcome:
        """The case that failed, run once more by itself if it was not: what is shown was seen twice."""
        assert self.failing is not None and self.first_failing is not None
        inputs, judgement = self.failing
        again = judgement if inputs == self.seen_alone else in_example(partial(self.judge.again, inputs, judgement))
        number, original = self.first_failing
        found = f"case {number} of {self.total}"
        if shrunk and original != inputs and words.size_of(original) != words.size_of(inputs):
            found += f"; shrunk from {words.size_of(original)}"
        if cut_short:
            found += f"; shrinking was cut short after {_SHRINK_SECONDS:.0f} s"
        if judgement.error is not None and again.error is not None:
            return self._subject_error(inputs, again, found)
        if judgement.error is not None:
            reason = f"the same input was run twice, and only the first run failed: {judgement.error}"
            return self._outcome(Inconclusive, inputs, again, reason, {"found in": found})
        if again.verdict is not Verdict.FALSE and self.confirmed is not None and self.confirmed is not self.failing:
            if again.trace[: len(judgement.trace)] != judgement.trace.instants:
                self.judge.disagree(judgement.trace, again.trace)
            self.failing = self.confirmed  # that one was seen alone before
            return self._broken(shrunk=False)
        if again.verdict is not Verdict.FALSE:
            reason = (
                "the same input was judged twice, and only the first run broke the property: the subject gives "
                "different outputs for it. First run: " + words.outputs_of(judgement.trace, self.unit)
            )
            return self._outcome(Inconclusive, inputs, again, reason, {"found in": found})
        return self._outcome(Falsified, inputs, again, "", {"found in": f"{found}; seen again when run alone"})

    def _subject_error(self, inputs: Inputs, judgement: Judgement, found: str) -> Outcome:
        reason = str(judgement.error)
        outcome = self._outcome(SubjectError, inputs, judgement, reason, {"found in": found})
        return replace(outcome, cause=judgement.error.__cause__ if judgement.error else None)

    def conclusion(self, *, may_be_empty: bool = False) -> Outcome:
        """All cases are run, and none is false: is it true, undecided, or empty?"""
        question = self.question
        if self.undecided is not None and question.on_inconclusive == "fail":
            inputs, judgement = self.undecided
            reason = question.claim.too_short(instants_of(inputs, question.runner.how.over), self.unit)
            return self._outcome(Inconclusive, inputs, judgement, reason, {})
        if self.stray is not None and question.on_inconclusive == "fail":
            return self._outcome(Inconclusive, *self.stray, words.strays(self.stray[1].trace), {})
        empty = self._emptiness()
        if empty is not None and question.on_vacuous == "fail" and not may_be_empty:
            return Outcome(self._report(Verdict.INCONCLUSIVE, None, (empty,), self._setting()), Vacuous)
        verdict = Verdict.TRUE if self.undecided is None else Verdict.INCONCLUSIVE
        notes = self.notes if self.stray is None else (*self.notes, words.strays(self.stray[1].trace))
        return Outcome(self._report(verdict, None, notes, self._setting()))

    def _emptiness(self) -> str | None:
        if not self.cases:
            return "every case was refused by an assumption in a predicate, so nothing was checked"
        if not self.records_in:
            return "the generator made only empty batches, so nothing was checked"
        if not self.records_out:
            return "the subject put out nothing at all in any case, so nothing was checked"
        unmet = [implication for implication, held in self.premises.items() if not held]
        if unmet:
            name = repr(unmet[0].premise) if unmet[0] is not None else "of an implication made by let or consume"
            return f"the premise {name} never held in any case, so the property says nothing"
        return None

    def _outcome(
        self, failure: type[Failed], inputs: Inputs, judgement: Judgement, reason: str, setting: Mapping[str, str]
    ) -> Outcome:
        verdict = judgement.verdict if failure is Falsified else Verdict.INCONCLUSIVE
        why = judgement.why if failure is Falsified else Why(reason, answers=judgement.why.answers)
        # A subject that failed left the batches so far behind, and no windows.
        unit = self.unit if failure is not SubjectError else "batch"
        counterexample = Counterexample(
            inputs,
            why.trace or judgement.trace,
            why.reason,
            replays.encoded(inputs),
            why.explanation,
            why.answers,
            unit,
        )
        drawn = {"drawn": ", ".join(texts_of(inputs.drawn))} if len(inputs.drawn) else {}
        setting = {**self._setting(), **drawn, **setting}
        return Outcome(self._report(verdict, counterexample, self.notes, setting), failure)

    def _report(
        self, verdict: Verdict, found: Counterexample | None, notes: tuple[str, ...], setting: Mapping[str, str]
    ) -> Report:
        asked = self.question
        return Report(verdict, self.cases, found, notes, asked.claim.formula, setting, asked.call, asked.called)

    def _setting(self) -> dict[str, str]:
        why = self.judge.disagreement or self.one_by_one
        return {**self.question.setting, **({} if why is None else {"run": f"one case at a time: {why}"})}

    def _key(self) -> str:
        """What this property is called in the example database: the same from run to run."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        return "\n".join([test, self.question.name or "", self.question.key])


def _validate(question: Question) -> None:
    from hypothesis import currently_in_test_context
    from hypothesis.strategies import SearchStrategy

    if currently_in_test_context():
        raise InvalidArgument(
            f"{question.called} draws its own cases, so it cannot be called inside @given: remove @given and hand the "
            f"strategy to {question.called}(strategy, ...)"
        )
    if question.replay is None and not isinstance(question.streams, SearchStrategy):
        raise InvalidArgument(
            f"{described('streams', question.streams)} is no strategy: write ss.always(...) or another strategy of "
            "streams; to run one stream, use fs.run(stream, subject)"
        )
    for option, value in (("on_inconclusive", question.on_inconclusive), ("on_vacuous", question.on_vacuous)):
        if value not in ("fail", "pass"):
            raise InvalidArgument(f"{described(option, value)} is not possible: write 'fail' or 'pass'")
    if question.cases is not None and (isinstance(question.cases, bool) or not question.cases >= 1):
        raise InvalidArgument(f"{described('cases', question.cases)} is not possible: write a whole number from 1")
