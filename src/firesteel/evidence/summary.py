"""The one line that says how a check came to its answer, whether it passed or not."""

from __future__ import annotations

from collections.abc import Iterator

from firesteel.evidence.logs import Verified
from firesteel.evidence.report import Claimed, Disagreement, Premise, Ran, Report
from firesteel.logic.verdicts import Verdict
from firesteel.names import counted

# How many different events are shown in the line.
_EVENTS = 5


def summary(report: Report) -> str:
    """The summary of a report.

    >>> from firesteel import Verdict
    >>> summary(Report(Verdict.FALSE, 3, ran=Ran(alone=3, records_in=1, records_out=1, dropped=None)))
    'false in 3 cases: 3 alone; records: 1 in, 1 out'
    """
    if report.explored is not None:
        explored = f"{counted(report.explored.runs, 'run')}, {counted(report.explored.states, 'state')}"
        return f"{report.verdict.name.lower()} in {explored}"
    if isinstance(report.evidence, Verified):
        return _verified(report.verdict, report.evidence)
    answer = f"{report.verdict.name.lower()} in {counted(report.cases, 'case')}"
    return answer if report.ran is None else f"{answer}: {how_run(report, report.ran)}"


def how_run(report: Report, ran: Ran) -> str:
    """How the cases were run, and what went through them."""
    several = report.asked is not None and report.asked.claimed is not Claimed.PROPERTY
    runs, records = ", ".join(_runs(report, ran)), _records(ran, several=several)
    parts = [runs, records, *map(_premise, ran.premises), _events(ran)]
    return "; ".join(part for part in parts if part)


def why_alone(why: str | Disagreement) -> str:
    """Why cases were run one at a time, though that was not asked for."""
    if isinstance(why, str):
        return why
    if why.only_order:
        return "records come in another order in a bulk run, and the property reads their order"
    where = "" if why.at is None else f" in {why.unit} {why.at}"
    return f"a bulk run and a run alone of the same case differ{where}: a defect of bulk runs"


def _verified(verdict: Verdict, found: Verified) -> str:
    rules = counted(max((len(one.rules) for one in found.traces), default=0), "rule")
    read = f"{sum(one.events for one in found.traces):,} {found.traces[0].unit if found.traces else 'event'}s"
    several = f" of {len(found.traces)} applications" if len(found.traces) > 1 else ""
    return f"{verdict.name.lower()}: {rules}, {read}{several}"


def _runs(report: Report, ran: Ran) -> Iterator[str]:
    if ran.in_bulk:
        yield f"{ran.in_bulk} in bulk"
    if ran.alone:
        yield f"{ran.alone} alone{_because(report, ran)}"
    if ran.too_short:
        yield f"{ran.too_short} too short to be run"
    if ran.compared and ran.in_bulk and not report.gave_up_bulk:
        yield f"{ran.compared} run both ways with the same result"


def _because(report: Report, ran: Ran) -> str:
    if isinstance(report.one_by_one, Disagreement):
        return f" (bulk was given up: {why_alone(report.one_by_one)})"
    if report.one_by_one is not None:
        return f" (not in bulk: {report.one_by_one})"
    return "" if ran.why_alone is None else f" ({ran.why_alone.value})"


def _records(ran: Ran, *, several: bool) -> str:
    out = f"{ran.records_out} out{' of all runs' if several else ''}"
    dropped = "" if ran.dropped is None else f", {ran.dropped} dropped as late"
    return f"records: {ran.records_in} in, {out}{dropped}"


def _events(ran: Ran) -> str:
    """What `hypothesis.event` was told most often."""
    told = [f"{event!r} in {counted(cases, 'case')}" for event, cases in ran.events[:_EVENTS]]
    more = len(ran.events) - len(told)
    return f"events: {', '.join([*told, *([f'{more} more'] if more else [])])}" if told else ""


def _premise(premise: Premise) -> str:
    held = f"held in {counted(premise.held, 'case')}"
    if premise.formula is None:
        return f"a premise made by let or consume {held}"
    return f"the premise {premise.formula!r} {held}"
