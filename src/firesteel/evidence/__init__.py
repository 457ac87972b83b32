"""What a check answers with: a `Report`, a `Counterexample`, and the failures that carry one.

These are data. `firesteel.report` turns them into text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from firesteel.logic.ltl.explain import Reason
from firesteel.logic.ltl.formulas import Formula
from firesteel.logic.verdicts import Verdict
from firesteel.values.cases import Case
from firesteel.values.streams import Trace


@dataclass(frozen=True)
class Counterexample:
    """One case that breaks a property: what went in, what Spark did with it batch by batch, and why that is wrong."""

    inputs: Case
    """The whole streams; only their first `len(trace)` batches were needed."""
    trace: Trace
    """The instants that were judged."""
    reason: str
    """Why, in words."""
    replay: str
    """Runs this case again: `fs.for_all(..., replay=this)`."""
    explanation: Reason | None = None
    """Why, as data."""
    answers: Mapping[tuple[Formula, int], bool] = field(default_factory=dict)
    """What the predicates said, by predicate and instant, where they were asked."""
    unit: str = "batch"
    """What an instant of the trace is: a "batch", or a "window" of event time."""


@dataclass(frozen=True)
class Report:
    """The answer of a check: a verdict, and the evidence for it."""

    verdict: Verdict
    cases: int
    """How many cases were run and judged."""
    counterexample: Counterexample | None = None
    notes: tuple[str, ...] = ()
    formula: Formula | None = None
    setting: Mapping[str, str] = field(default_factory=dict)
    """What was checked, and on what: lines of a name and a text."""
    call: str = "subject"
    """How to hand the subject to `fs.run`: its name, and the output mode if it needs one."""
    called: str = "fs.for_all"
    """The function that was asked."""


class Failed(AssertionError):
    """A check that did not end well; `report` has the evidence. Its kinds are siblings: see below."""

    report: Report

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


class Falsified(Failed):
    """The claim is false: Spark was seen to break it, twice on the input shown; or two DataFrames differ."""


class Inconclusive(Failed):
    """The property could not be decided: a trace was too short for it, or two runs of one case disagreed."""


class Vacuous(Failed):
    """The property says nothing here: a premise never held, or there was no input or no output at all."""


class SubjectError(Failed):
    """The subject raised, or did not return what it should; the case that caused it is in the report.

    Spark's own exception, if there was one, is the cause (`__cause__`).
    """
