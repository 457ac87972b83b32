"""What a lint found, for pictures: which operations are coloured, and how."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

from firesteel.evidence.lint import Lint, Severity

Marked: TypeAlias = Mapping[Hashable, Sequence[Lint]]
"""The findings by the numbers of their operations; those of actions by `of_action`."""

COLOURS = {Severity.ERROR: "#ffebe9", Severity.WARNING: "#fff8c5"}


def of_action(number: int) -> Hashable:
    """What an action is known by: operations and actions are both numbered from 0."""
    return "action", number


def marks_of(findings: Iterable[Lint]) -> Marked:
    """The findings by what is coloured for them."""
    found: dict[Hashable, list[Lint]] = {}
    for one in findings:
        place = of_action(one.action) if one.action is not None else one.operation
        if place is not None:
            found.setdefault(place, []).append(one)
    return found


def worst_of(findings: Sequence[Lint]) -> Severity | None:
    """The worst severity among findings; None where there are none.

    >>> worst_of([Lint("a", Severity.WARNING, None, ""), Lint("b", Severity.ERROR, None, "")])
    <Severity.ERROR: 'error'>
    """
    given = {one.severity for one in findings}
    return next((each for each in Severity if each in given), None)
