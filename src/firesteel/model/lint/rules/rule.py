"""What a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from firesteel.evidence.lint import Severity
from firesteel.model.lint.flows import Touch
from firesteel.model.lint.levels import Facts


@dataclass(frozen=True)
class Found:
    """Something that a rule found, before it is reported."""

    text: str
    operation: int | None
    action: int | None = None
    """Where it is about an action, or about how it was called."""
    severity: Severity | None = None
    """How bad it is, where that is not what the rule says."""


@dataclass(frozen=True)
class Rule:
    """A rule: what it looks for, and what to do about it."""

    name: str
    severity: Severity
    summary: str
    """What it reports, in one line."""
    example: str
    """A small example of what goes wrong."""
    instead: str
    """What to write."""
    find: Callable[[Facts], Iterable[Found]]
    why: str
    """Why Spark does that, in a few sentences."""
    confirmable: bool = True
    """Can two runs of the operation show it?"""
    ticket: str = ""
    """The issue of Spark's that tells the story, if there is one."""


def surviving(name: str) -> Callable[[Facts], Iterable[Found]]:
    """Finds the reasons of one rule that reach a result of the program."""

    def find(facts: Facts) -> Iterable[Found]:
        for reason, action in facts.surviving:
            if reason.rule == name and reason.touch is not Touch.DIGITS:
                at = action.id if action is not None and reason.at_action else None
                yield Found(reason.text, reason.operation, at, reason.severity)

    return find


ERROR, WARNING = Severity.ERROR, Severity.WARNING
