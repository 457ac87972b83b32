"""A report as plain text: what a failure's message says, made from the report's data alone."""

from __future__ import annotations

from firesteel.evidence.frames import Difference, Undecided
from firesteel.evidence.logs import Verified
from firesteel.evidence.models import BoundMet, BrokenRun
from firesteel.evidence.nothing import Nothing
from firesteel.evidence.operators import BrokenPromise
from firesteel.evidence.report import Asked, Report
from firesteel.evidence.runs import Broken, Counterexample, Different, Open, Raised
from firesteel.report import frames, logs, models, operators
from firesteel.report.again import again
from firesteel.report.facts import facts, lines
from firesteel.report.table import deciding, table
from firesteel.report.words import nothing_checked, reason_of
from firesteel.values.records import brief
from firesteel.values.traces import WINDOW

_NOT_ASKED = Asked("fs.for_all")


def render(report: Report) -> str:
    """The whole text.

    >>> from firesteel import Verdict
    >>> render(Report(Verdict.TRUE, 20))
    'true in 20 cases'
    """
    asked = report.asked or _NOT_ASKED
    match report.evidence:
        case None:
            return "\n".join([report.summary(), *report.notes])
        case Nothing() as found:
            parts = [
                f"the {asked.claimed.value} says nothing here",
                nothing_checked(found),
                lines(facts(report).items()),
            ]
        case Counterexample() as found:
            parts = [*_counterexample(report, found, asked)]
        case Difference() | Undecided() as found:
            return frames.told(found)
        case BrokenPromise() as found:
            return operators.told(found)
        case BrokenRun() | BoundMet() as found:
            return models.told(found, report)
        case Verified() as found:
            return logs.told(found)
    return "\n\n".join(part for part in parts if part)


def _counterexample(report: Report, found: Counterexample, asked: Asked) -> list[str]:
    needed = found.inputs.length if report.reproduction is None else report.reproduction.needed
    parts = [
        _title(found, f"the {asked.claimed.value}"),
        reason_of(found),
        table(found, needed),
        lines(facts(report).items()),
        lines(("noted", note) for note in report.notes),
    ]
    if report.reproduction is not None:
        parts.append(again(asked, report.reproduction))
    return parts


def _title(found: Counterexample, claimed: str) -> str:
    match found:
        case Broken(run=run) if run:
            return f"the property is false in {_named(found, deciding(found))} of the run {run!r}"
        case Broken() | Different():
            return f"{claimed} is false in {_named(found, deciding(found))}"
        case Open():
            return f"{claimed} could not be decided"
        case Raised():
            return "the subject failed"
        case _:
            raise AssertionError(type(found).__name__)


def _named(found: Counterexample, index: int) -> str:
    """`batch 3`, or `window 3, from 2000-01-01 03:00:00`."""
    at = found.trace[index].time if index < len(found.trace) else None
    begins = f", from {brief(at)}," if found.unit == WINDOW and at is not None else ""
    return f"{found.unit} {index}{begins}".rstrip(",")
