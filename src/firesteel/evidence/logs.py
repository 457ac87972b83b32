"""What verifying a trace found, as data. `firesteel.report.logs` has the words for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firesteel.logic.verdicts import Verdict


@dataclass(frozen=True)
class SeenEvent:
    """An event that matters for a violation."""

    number: int
    """Which event of the trace it is, from 1."""
    place: str
    """Where it stands: the file and the line."""
    event: str
    """Its name, without the package."""
    holds: tuple[str, ...]
    """The propositions of the rule that hold there."""


@dataclass(frozen=True)
class Violation:
    """Something for which a rule is false."""

    entity: str
    """What kind of thing it is, such as "stage"; empty for the whole trace."""
    key: tuple[Any, ...]
    """Which one: the id of a stage; of a task the stage, its attempt and the index; ..."""
    number: int
    """The event that decided, from 1: the shortest prefix that breaks the rule ends with it."""
    place: str
    ended: bool
    """Did the end decide: was something to happen that never did?"""
    failed: tuple[str, ...] = ()
    """The parts of the formula that failed."""
    events: tuple[SeenEvent, ...] = ()
    """The events that matter, in their order."""
    left_out: int = 0
    """How many more there were, in the middle."""
    call_site: str = ""
    """Where in the program the stage or job was made."""
    description: str = ""
    """The description of the job, or of its SQL."""


@dataclass(frozen=True)
class RuleJudged:
    """What came of a rule on one application or trace."""

    name: str
    formula: str
    each: str | None
    says: str
    verdict: Verdict
    violations: tuple[Violation, ...] = ()
    """All that it is false for."""
    doubtful: tuple[Violation, ...] = ()
    """What seems to break it, after a part of the log that cannot be read."""
    waiting: int = 0
    """For how many things something was still to happen when the trace broke off."""
    steps: int = 0
    """How many events it was about."""


@dataclass(frozen=True)
class Traced:
    """One application, or another trace, with what came of the rules."""

    source: str
    events: int
    complete: bool
    """Was its end seen?"""
    rules: tuple[RuleJudged, ...]
    id: str = ""
    name: str = ""
    version: str = ""
    """Spark's version."""
    problems: tuple[str, ...] = ()
    """What could not be read, and where."""
    notes: tuple[str, ...] = ()
    unit: str = "event"
    """What the trace is made of."""

    @property
    def verdict(self) -> Verdict:
        """False if a rule is, else inconclusive if one is."""
        verdicts = [rule.verdict for rule in self.rules]
        if Verdict.FALSE in verdicts:
            return Verdict.FALSE
        return Verdict.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else Verdict.TRUE


@dataclass(frozen=True)
class Verified:
    """What came of rules on the traces of a source: one for each application in a folder."""

    traces: tuple[Traced, ...]
