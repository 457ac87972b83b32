"""What a lint found, for pictures: which operations are coloured, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from firesteel.evidence.lint import Lint, Severity

Marked: TypeAlias = Mapping[int, Sequence[Lint]]
"""The findings by the numbers of their operations."""

COLOURS = {Severity.ERROR: "#ffebe9", Severity.WARNING: "#fff8c5"}


def marks_of(findings: Iterable[Lint]) -> Marked:
    """The findings by their operations."""
    found: dict[int, list[Lint]] = {}
    for one in findings:
        if one.operation is not None:
            found.setdefault(one.operation, []).append(one)
    return found


def worst_of(findings: Sequence[Lint]) -> Severity | None:
    """The worst severity among findings; None where there are none.

    >>> worst_of([Lint("a", Severity.WARNING, None, ""), Lint("b", Severity.ERROR, None, "")])
    <Severity.ERROR: 'error'>
    """
    given = {one.severity for one in findings}
    return next((each for each in Severity if each in given), None)
