"""What an analysis of an operator found, as data. `firesteel.report.operators` has the words for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from firesteel.evidence.onspark import OnSpark
from firesteel.logic.verdicts import Verdict


@dataclass(frozen=True)
class Subject:
    """The operator as a message names it."""

    name: str
    kind: str
    """The function of `firesteel.operators` that makes it."""
    place: str | None = None
    columns: tuple[tuple[str, ...], ...] = ()
    """The names of the columns of every port, where it takes columns."""
    written: str = ""
    """The call that makes the operator."""


@dataclass(frozen=True)
class Observed:
    """One run: what was fed, firing by firing, and the outputs that matter."""

    run: tuple[Any, ...]
    outputs: tuple[Any, ...]
    elsewhere: bool = False
    """Was it in another process, with another hash seed, on another day?"""


@dataclass(frozen=True)
class Different:
    """Two runs that should give the same, and do not. Both were seen twice, each time in a new process."""

    left: Observed
    right: Observed


@dataclass(frozen=True)
class Firing:
    """One run that shows something by itself: too many outputs, none, an exception, a side effect."""

    seen: Observed
    raised: str | None = None
    """The exception, where that is what matters."""
    did: tuple[str, ...] = ()
    """What it changed or opened."""


@dataclass(frozen=True)
class Unloadable:
    """The operator does not survive the way to a new process."""

    error: str


Proof = Different | Firing | Unloadable | OnSpark


@dataclass(frozen=True)
class Finding:
    """The answer for one property.

    `FALSE` means that evidence was seen; `TRUE` only what is proved; everything else is `INCONCLUSIVE`: "potentially".
    """

    property: str
    verdict: Verdict
    tests: int = 0
    """How many tests were run."""
    evidence: str = ""
    """The evidence in one sentence."""
    proof: Proof | None = None
    """All of it."""
    settled_by: str | None = None
    """The property whose answer settled this one."""
    port: str | None = None
    key: str | None = None
    outputs: int = 0
    """In how many of the tests there was any output."""
    why: str = ""
    """Why the question is open, where testing itself went wrong."""
    trouble: str = ""
    """What went wrong in some of the tests: calls that did not return, or that ended their process."""
    unchanged: tuple[str, ...] = ()
    """Of `keeps_columns`: the columns that pass unchanged."""
    confirmed: str = ""
    """What real Spark did with the evidence, if it was asked."""
    suppressed: str = ""
    """Why the finding is harmless, in the user's words."""
    replay: str = ""
    seconds: float = 0.0


def is_open(finding: Finding) -> bool:
    """Was nothing found out, not even that it is potentially so?"""
    undecided = finding.verdict is Verdict.INCONCLUSIVE and bool(finding.why)
    return undecided and finding.settled_by in (None, "deterministic", "picklable")


@dataclass(frozen=True)
class Findings:
    """An operator, and what was found out about it."""

    subject: Subject
    findings: tuple[Finding, ...]
    inputs: str = ""
    """What was fed, and where its types come from."""
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class BrokenPromise:
    """A claim about an operator that does not hold, or that could not be tested."""

    subject: Subject
    claim: str
    """As it was claimed: "commutative", or "not stateless"."""
    finding: Finding
