"""Evidence from runs on Spark: one case, what Spark did with it, and why that settles or leaves open what is claimed.

There is a class for each kind; `firesteel.report` turns them into text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from firesteel.logic.ltl.explain import Reason
from firesteel.logic.ltl.formulas import Formula
from firesteel.values.cases import Case
from firesteel.values.traces import BATCH, Trace


@dataclass(frozen=True, kw_only=True)
class Counterexample:
    """One case that breaks a claim: what went in, what Spark did with it batch by batch, and why that is wrong."""

    inputs: Case
    """The whole streams; only their first `len(trace)` batches were needed."""
    trace: Trace
    """The instants that were judged."""
    replay: str = ""
    """Runs this case again: `fs.for_all(..., replay=this)`."""
    unit: str = BATCH
    """What an instant of the trace is: a "batch", or a "window" of event time."""
    reason: str = ""
    """Why, in words."""


@dataclass(frozen=True, kw_only=True)
class Broken(Counterexample):
    """A run whose trace makes a formula false."""

    explanation: Reason
    """Why, as data."""
    answers: Mapping[tuple[Formula, int], bool] = field(default_factory=dict)
    """What the predicates said, by predicate and instant, where they were asked."""
    run: str = ""
    """Which run of the case it is, where a check makes several: "as it is", "rows reversed"."""


@dataclass(frozen=True, kw_only=True)
class Different(Counterexample):
    """Two runs of one case that should mean the same, and do not. The trace has an output for each of them."""


@dataclass(frozen=True, kw_only=True)
class Open(Counterexample):
    """A run that leaves open what is claimed."""

    why: WhyOpen


@dataclass(frozen=True, kw_only=True)
class Raised(Counterexample):
    """A run that the subject did not survive; the trace holds the instants before that."""

    message: str


@dataclass(frozen=True)
class TooShort:
    """The trace ended before the formula was decided."""

    length: int
    shortest_true: int
    """A trace of fewer instants is never enough for the formula to be true."""
    required: int | None
    """A trace of this many instants is always enough; None where none is."""
    unbounded: bool
    """Does the formula hold an operator without a bound that is never sure about the last instant?"""
    run: str = ""
    """Which run of the case it is, where a check makes several."""


@dataclass(frozen=True)
class NothingChanged:
    """No perturbation can change anything in a case of this length."""

    length: int
    under: tuple[Any, ...]


@dataclass(frozen=True)
class OutsideWindows:
    """Output lies in none of the input's windows (`trace.outside`), so the property never saw it."""


@dataclass(frozen=True)
class SeenOnce:
    """The same input was run twice, and only the first run broke the claim, or failed with an error."""

    first: Trace
    error: str | None = None


WhyOpen: TypeAlias = TooShort | NothingChanged | OutsideWindows | SeenOnce
