"""`Report`: the answer of a check, with what was asked, how the answer was found, and the evidence for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from firesteel.evidence.frames import Difference, Undecided
from firesteel.evidence.limits import CutShort
from firesteel.evidence.logs import Verified
from firesteel.evidence.models import BoundMet, BrokenRun, Explored
from firesteel.evidence.nothing import Nothing
from firesteel.evidence.operators import BrokenPromise
from firesteel.evidence.runs import Counterexample
from firesteel.logic.ltl.formulas import Formula
from firesteel.logic.verdicts import Verdict
from firesteel.names import counted
from firesteel.values.batches import Batch
from firesteel.values.cases import Case
from firesteel.values.windows import Window

Evidence: TypeAlias = (
    Counterexample | Nothing | Difference | Undecided | BrokenPromise | BrokenRun | BoundMet | Verified
)
"""A class for each kind; renderers match on it. Lint findings will be further classes here."""


class Claimed(Enum):
    """What kind of thing is claimed."""

    PROPERTY = "property"
    EQUIVALENCE = "equivalence"
    STABILITY = "stability"
    RULE = "rule"


@dataclass(frozen=True)
class Program:
    """A subject as a report names it."""

    role: str
    """What it is to the check: the subject, the reference or the candidate."""
    name: str
    place: str | None = None
    """Where it was written, as `file:line`."""
    function: Callable[..., Any] | None = field(default=None, compare=False, repr=False)
    """The subject itself."""


@dataclass(frozen=True)
class Asked:
    """What was asked: the claim, the programs, and how they were run."""

    function: str
    """The function that a test called: `fs.for_all`."""
    claimed: Claimed = Claimed.PROPERTY
    programs: tuple[Program, ...] = ()
    formula: Formula | None = None
    engine: str = "structured"
    output_mode: str | Mapping[str, str] = "append"
    version: str = ""
    """Spark's version."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the run that are not the usual ones, by name."""
    up_to: Mapping[str, Any] = field(default_factory=dict)
    """What two runs are compared up to: the dependence, the equality, the perturbations."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of the function that say so, where they are not the usual ones."""

    @property
    def over(self) -> Window | None:
        """The windows of event time that were judged, instead of batches."""
        return self.options.get("over")


@dataclass(frozen=True)
class Size:
    """How large a case is."""

    batches: int
    records: int

    @staticmethod
    def of(case: Case) -> Size:
        """The size of a case.

        >>> from firesteel.values.streams import Stream
        >>> Size.of(Case(Stream("n INT", [[(1,)], []])))
        Size(batches=2, records=1)
        """
        return Size(case.length, sum(len(batch) for stream in case.values() for batch in stream))

    def __str__(self) -> str:
        return f"{counted(self.batches, 'batch')}, {counted(self.records, 'record')}"


@dataclass(frozen=True)
class Found:
    """Where the evidence comes from."""

    case: int
    of: int
    shrunk_from: Size | None = None
    """The size of the case that was found first, where a smaller one is shown."""
    cut_short: CutShort | None = None
    """The limit at which shrinking was ended before it was done."""
    seen_again: bool = False
    """Was the evidence seen once more, in a run of its own?"""


@dataclass(frozen=True)
class Disagreement:
    """A bulk run and a run alone of the same case differ, so bulk runs were not believed."""

    at: int | None
    """The first instant that differs."""
    unit: str
    only_order: bool = False
    """Are the records the same, in an order that the property reads?"""


class WhyAlone(Enum):
    """Why cases were run one at a time, where nothing forbade it but the way the check was called."""

    GIVEN = "cases that are given are run alone"
    ASKED = "bulk=False"
    ENGINE = "this engine has no bulk runs"
    FEW = "too few cases for a bulk run"
    FAILED = "the subject failed"
    FIRST = "the first drawn case failed"


@dataclass(frozen=True)
class Premise:
    """How often the premise of an implication held: an implication says nothing where it did not."""

    formula: Formula | None
    """The premise; None for those of all implications that `let` and `consume` made."""
    held: int
    """In how many cases it held at least once."""


@dataclass(frozen=True)
class Ran:
    """How the cases of a check were run, and what went through them. Cases tried for shrinking do not count."""

    in_bulk: int = 0
    """Cases that were judged by a bulk run."""
    alone: int = 0
    """Cases that were judged by a run of their own."""
    too_short: int = 0
    """Cases that were not run: they are too short for the claim to be true."""
    compared: int = 0
    """How many cases were run in bulk and alone, to compare the two."""
    why_alone: WhyAlone | None = None
    """Why none was judged by a bulk run, where `Report.one_by_one` does not say it."""
    records_in: int = 0
    records_out: int = 0
    """Where several runs are compared, the records of all of them."""
    dropped: int | None = 0
    """What Spark dropped as late; None where that is not known."""
    premises: tuple[Premise, ...] = ()
    events: tuple[tuple[str, int], ...] = ()
    """What `hypothesis.event` was told, and in how many cases; the most frequent first."""


@dataclass(frozen=True)
class Reproduction:
    """How to see the evidence again."""

    case: Case
    """The whole case."""
    needed: int
    """How many batches of it are needed."""
    line: str
    """For `replay=`; empty where there is none."""
    file: str | None = None
    """The file that holds the line, where it is long, for `replay=` as well."""
    why_no_line: str = ""
    """Why there is no line."""


@dataclass(frozen=True)
class Report:
    """The answer of a check: a verdict, and the evidence for it."""

    verdict: Verdict
    cases: int
    """How many cases were run and judged."""
    evidence: Evidence | None = None
    notes: tuple[str, ...] = ()
    """What the user's functions noted with `hypothesis.note`, and what is worth knowing of a check that passed."""
    asked: Asked | None = None
    found: Found | None = None
    one_by_one: str | Disagreement | None = None
    """Why the cases were run one at a time, where that was not asked for."""
    outside: Mapping[str, Batch] = field(default_factory=dict)
    """Output that no window holds, by name, of a check that passes all the same."""
    reproduction: Reproduction | None = None
    ran: Ran | None = None
    """How the cases were run, where some were: `summary` says it in words."""
    explored: Explored | None = None
    """How much of a model was looked at, where that is what was checked."""

    def summary(self) -> str:
        """How the answer was found, in one line: which runs it rests on, and what went through them.

        >>> ran = Ran(in_bulk=19, alone=1, compared=1, records_in=80, records_out=75)
        >>> Report(Verdict.TRUE, 20, ran=ran).summary()
        'true in 20 cases: 19 in bulk, 1 alone, 1 run both ways with the same result; records: 80 in, 75 out, 0 dropped
        as late'
        """
        from firesteel.evidence.summary import summary

        return summary(self)

    @property
    def gave_up_bulk(self) -> bool:
        """Did a bulk run turn out to be wrong? Then none was believed, and every case was run alone."""
        return isinstance(self.one_by_one, Disagreement)

    @property
    def counterexample(self) -> Counterexample | None:
        """The evidence, where it is a case that was run."""
        return self.evidence if isinstance(self.evidence, Counterexample) else None
