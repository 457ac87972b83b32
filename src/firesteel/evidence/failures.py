"""The exceptions that a check ends with where it does not end well. Each carries a report with the evidence."""

from __future__ import annotations

from firesteel.errors import Unanswered
from firesteel.evidence.report import Report


class Failed(AssertionError):
    """A check that did not end well; `report` has the evidence. Its kinds are siblings: see below."""

    report: Report

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


class Falsified(Failed):
    """The claim is false: Spark was seen to break it, twice on the input shown; or two DataFrames differ."""


class Inconclusive(Failed, Unanswered):
    """The property could not be decided: a trace was too short for it, or two runs of one case disagreed."""


class Vacuous(Failed, Unanswered):
    """The property says nothing here: a premise never held, or there was no input or no output at all."""


class SubjectError(Failed, Unanswered):
    """The subject raised, or did not return what it should; the case that caused it is in the report.

    Spark's own exception, if there was one, is the cause (`__cause__`).
    """


for _failure in (Failed, Falsified, Inconclusive, Vacuous, SubjectError):
    _failure.__module__ = "firesteel"  # where users know them from: a traceback says firesteel.Falsified
