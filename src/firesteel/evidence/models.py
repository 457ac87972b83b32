"""What a check of a model found, as data. `firesteel.report.models` has the words for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from firesteel.logic.pptl.formulas import Formula


@dataclass(frozen=True)
class Explored:
    """How much of a model was looked at."""

    runs: int
    states: int


@dataclass(frozen=True)
class ModelState:
    """One state of a run."""

    number: int
    changes: tuple[tuple[str, str], ...]
    """The variables that changed, and their values as text."""
    holds: frozenset[str]
    """The propositions that hold."""


@dataclass(frozen=True)
class BrokenRun:
    """A run of a program that makes a formula false."""

    program: str
    formula: Formula
    propositions: Mapping[str, str]
    states: tuple[ModelState, ...]
    decided: int
    """The state that makes it false, whatever comes after; the last one if it is the end that does."""
    failed: tuple[Formula, ...] = ()
    """The parts of the formula that this state makes false."""
    inputs: Mapping[str, str] | None = None


@dataclass(frozen=True)
class BoundMet:
    """A program that has more runs, or longer ones, than were looked at."""

    program: str
    formula: Formula
    option: str
    """The argument that sets the bound: `bound` or `runs`."""
    limit: int
