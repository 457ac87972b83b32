"""Evidence that a check says nothing: there was nothing to check it on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from firesteel.logic.ltl.formulas import Formula


class Missing(Enum):
    """What there was none of, in any case."""

    CASES = "cases"
    """An assumption in a predicate refused every one."""
    INPUT = "input"
    OUTPUT = "output"
    PREMISE = "premise"


@dataclass(frozen=True)
class Nothing:
    """A check that passed without having checked anything."""

    missing: Missing
    premise: Formula | None = None
    """The premise that never held; None for one of an implication that `let` or `consume` made."""
