"""What a check on streams has to say of itself: what it claims of a trace, and how a case of it is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from firesteel.evidence.runs import WhyOpen
from firesteel.logic.ltl.explain import Reason
from firesteel.logic.ltl.formulas import Formula, Implies
from firesteel.logic.verdicts import Verdict
from firesteel.spark.engines.engine import Watcher
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.traces import Instant, Trace


@dataclass(frozen=True)
class Explained:
    """Why a trace makes a formula false."""

    explanation: Reason
    answers: Mapping[tuple[Formula, int], bool] = field(default_factory=dict)
    """What predicates said, by predicate and instant."""
    run: str = ""
    """Which run it was, where a check makes several of a case."""
    trace: Trace | None = None
    """What that run did, where it is not the trace that was judged."""


@dataclass(frozen=True)
class Mismatched:
    """Why two runs do not mean the same, in words, and what is worth showing of them."""

    reason: str
    trace: Trace


class Meter(Protocol):
    """Judges one trace, instant by instant."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def premises(self) -> Mapping[Implies | None, bool]:
        """Which premises held at least once."""

    def step(self, instant: Instant) -> Verdict: ...
    def finish(self) -> Verdict:
        """The verdict, as there is no more to come."""

    def why(self, trace: Trace, *, ended: bool) -> Explained | Mismatched:
        """Why it is false; `ended` if that needed the end of the trace."""

    def closeness(self, trace: Trace) -> float | None:
        """How close a trace that is not false came to it; None where that cannot be said."""


class Claim(Protocol):
    """What is claimed of every case."""

    @property
    def shortest_true(self) -> int:
        """A trace of fewer instants is never enough for it to be true."""

    @property
    def ignores_order(self) -> bool:
        """Is the judgement taken to be the same for traces that differ only in the order of records?"""

    def meter(self) -> Meter: ...
    def why_open(self, length: int, trace: Trace) -> WhyOpen:
        """Why this many instants do not decide it. The trace is empty where the case was not worth a run."""


class Runner(Protocol):
    """Runs cases on Spark."""

    @property
    def how(self) -> Running: ...
    @property
    def prefixes(self) -> bool:
        """Does the output until an instant depend only on the input until then?"""

    def alone(self, case: Case, watcher: Watcher) -> Trace:
        """Run a case as far as its watcher lets it go; `SubjectFailure` if that fails."""

    def apart(self, cases: Sequence[Case]) -> list[Trace | SubjectFailure]:
        """Run whole cases by themselves, several at once."""

    def together(self, cases: Sequence[Case], *, also_single: bool) -> list[Trace | None]:
        """Run cases in one query; None for one that has to run alone, `CannotCarry` where it is not possible."""


@dataclass(frozen=True)
class Judgement:
    """What became of a case: a verdict and the instants it rests on, or the subject's failure."""

    verdict: Verdict
    trace: Trace
    premises: Mapping[Implies | None, bool] = field(default_factory=dict)
    why: Explained | Mismatched | None = None
    """Why the verdict is false, if it is."""
    error: SubjectFailure | None = None
    settled: bool = False
    """Was the verdict definite before the end? Then nothing later matters."""
    closeness: float | None = None
    """How close it came to being false: the more the closer."""

    @property
    def fails(self) -> bool:
        return self.verdict is Verdict.FALSE or self.error is not None

    @property
    def depends_on_case(self) -> bool:
        """Is the failure one that another case might not have? Not where the subject could not even be built."""
        return self.error is None or self.error.depends_on_case

    @property
    def kind(self) -> str:
        """A claim that is false and a subject that raises are failures of different kinds."""
        return "false" if self.error is None else "raised"
