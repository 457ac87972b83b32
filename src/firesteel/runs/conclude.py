"""What a check concludes from its cases: a report with the evidence, and the failure that it amounts to, if any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from firesteel.evidence.failures import Failed, Falsified, Inconclusive, SubjectError, Vacuous
from firesteel.evidence.report import Disagreement, Found, Report, Size
from firesteel.evidence.runs import (
    Broken,
    Counterexample,
    Different,
    Open,
    OutsideWindows,
    Raised,
    SeenOnce,
    WhyOpen,
)
from firesteel.logic.verdicts import Verdict
from firesteel.runs.claims import Explained, Judgement, Mismatched
from firesteel.runs.judging import Judge
from firesteel.runs.question import Question
from firesteel.runs.replay import reproduction
from firesteel.runs.sampling import same_order
from firesteel.runs.tally import Tally
from firesteel.search.examples import in_example
from firesteel.search.find import Failing
from firesteel.values.cases import Case
from firesteel.values.traces import WINDOW, Trace
from firesteel.values.windows import instants_of


@dataclass(frozen=True)
class Outcome:
    """A report; and where it is not a success, which failure it is, with its cause if that was an exception."""

    report: Report
    failure: type[Failed] | None = None
    cause: BaseException | None = None


def failing(question: Question, judge: Judge, found: Failing[Case, Judgement], report: Report) -> Outcome:
    """A case failed: it is run once more by itself, so that what is shown was seen twice."""
    case, judgement = found.value, found.judgement
    again = in_example(partial(judge.again, case, judgement))
    if judgement.error is None and again.verdict is not Verdict.FALSE and found.in_rounds:
        if again.trace[: len(judgement.trace)] != judgement.trace.instants:
            judge.disagree(judgement.trace, again.trace)
        first = Failing(found.original, found.first, found.number, found.of, found.original, found.first)
        return failing(question, judge, first, report)  # the case that was found first was seen alone before
    report = replace(
        report, notes=found.notes, found=_found(found), one_by_one=disagreement(question, judge) or report.one_by_one
    )
    if judgement.error is not None and again.error is not None:
        raised = Raised(inputs=case, trace=again.trace, message=str(again.error))
        return Outcome(_with(report, raised, Verdict.INCONCLUSIVE), SubjectError, again.error.__cause__)
    if again.verdict is not Verdict.FALSE:
        once = SeenOnce(judgement.trace, None if judgement.error is None else str(judgement.error))
        return _open(question, case, again.trace, once, report)
    seen_again = replace(report, found=replace(_found(found), seen_again=True))
    return Outcome(_with(seen_again, _broken(question, case, again), Verdict.FALSE), Falsified)


def passing(question: Question, tally: Tally, report: Report, *, may_be_empty: bool) -> Outcome:
    """All cases are run, and none fails: is the claim true, undecided, or empty?"""
    how, checking = question.runner.how, question.checking
    if tally.undecided is not None and checking.on_inconclusive == "fail":
        case, judgement = tally.undecided
        why = question.claim.why_open(instants_of(case, how.over), judgement.trace)
        return _open(question, case, judgement.trace, why, report)
    if tally.stray is not None and checking.on_inconclusive == "fail":
        case, judgement = tally.stray
        return _open(question, case, judgement.trace, OutsideWindows(), report)
    nothing = tally.nothing
    if nothing is not None and checking.on_vacuous == "fail" and not may_be_empty:
        return Outcome(replace(report, evidence=nothing), Vacuous)
    verdict = Verdict.TRUE if tally.undecided is None else Verdict.INCONCLUSIVE
    outside = {} if tally.stray is None else tally.stray[1].trace.outside
    return Outcome(replace(report, verdict=verdict, outside=outside))


def disagreement(question: Question, judge: Judge) -> Disagreement | None:
    """Where a bulk run was wrong, if one was."""
    if judge.disagreement is None:
        return None
    together, alone = judge.disagreement
    first = next((b.index for a, b in zip(alone, together, strict=False) if a != b), None)
    only_order = first is None and not same_order(together, alone)
    return Disagreement(first, question.runner.how.unit, only_order)


def _found(found: Failing[Case, Judgement]) -> Found:
    before, after = Size.of(found.original), Size.of(found.value)
    return Found(found.number, found.of, None if before == after else before, found.cut_short)


def _broken(question: Question, case: Case, judgement: Judgement) -> Counterexample:
    unit = question.runner.how.unit
    match judgement.why:
        case Explained(explanation, answers, run, trace):
            return Broken(
                inputs=case,
                trace=judgement.trace if trace is None else trace,
                unit=unit,
                explanation=explanation,
                answers=answers,
                run=run,
            )
        case Mismatched(reason, trace):
            return Different(inputs=case, trace=trace, unit=unit, reason=reason)
        case None:
            raise AssertionError("a judgement that is false says why")


def _open(question: Question, case: Case, trace: Trace, why: WhyOpen, report: Report) -> Outcome:
    found = Open(inputs=case, trace=trace, unit=question.runner.how.unit, why=why)
    return Outcome(_with(report, found, Verdict.INCONCLUSIVE), Inconclusive)


def _with(report: Report, evidence: Counterexample, verdict: Verdict) -> Report:
    how = reproduction(evidence.inputs, _needed(evidence))
    return replace(report, verdict=verdict, evidence=replace(evidence, replay=how.line), reproduction=how)


def _needed(evidence: Counterexample) -> int:
    """How many batches it takes to see the evidence again."""
    whole, seen = evidence.inputs.length, len(evidence.trace)
    if evidence.unit == WINDOW or (isinstance(evidence, Broken) and evidence.run):
        return whole  # a window may hold what came in any batch; a perturbed run may have other batches
    return min(whole, seen + 1) if isinstance(evidence, Raised) else seen or whole
