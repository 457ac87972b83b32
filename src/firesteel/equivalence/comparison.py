"""What is compared with what: a reference and a candidate, or one program run as it is and under perturbations.

Every run of a case is a `Side`. A trace of all sides has an output for each side and output, under a `Label`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from firesteel.equivalence.matcher import Matcher
from firesteel.logic.ltl.formulas import Formula
from firesteel.perturb import Perturbation
from firesteel.perturb.changes import UNCHANGED, Variant
from firesteel.spark.engines.subject import Subject
from firesteel.values.batches import Batch
from firesteel.values.checks import Check
from firesteel.values.dependence import Dependence, Unordered
from firesteel.values.equality import Equality
from firesteel.values.traces import Instant

Accept: TypeAlias = Callable[[Instant, Batch, Batch], bool | Check]


@dataclass(frozen=True)
class Side:
    """One of the runs that are compared."""

    name: str
    variant: Variant = UNCHANGED
    """What is changed in it."""


class Label(str):
    """What an output of a side is called in a trace of all sides: the side, and the output where there are several."""

    side: Side
    output: str

    @staticmethod
    def of(side: Side, output: str, *, only: bool) -> Label:
        """The label of one output; just the side's name if the side has `only` that output."""
        label = Label(side.name if only else f"{side.name}: {output}")
        label.side, label.output = side, output
        return label


@dataclass(frozen=True)
class Beside(Instant):
    """An instant of all sides."""

    sides: Mapping[Side, Instant] = field(default_factory=dict, repr=False)
    """What each side saw at this instant, with the input that it was fed: only where each is held to a property."""


@dataclass(frozen=True)
class Comparison:
    """What is compared with what, and how."""

    reference: Subject
    candidate: Subject
    dependence: Dependence
    equal: Equality | None = None
    accept: Accept | None = None
    under: tuple[Perturbation, ...] = ()
    held_to: Formula | None = None
    """What has to hold on every run, whatever the others do."""

    @property
    def one_program(self) -> bool:
        """Is a program compared with itself, run in other ways?"""
        return self.reference is self.candidate and bool(self.under)

    @property
    def base(self) -> Side:
        """The run that the others are compared with."""
        return Side("as it is" if self.one_program else "reference")

    @property
    def programs(self) -> dict[str, Subject]:
        """The programs, by what they are to the comparison."""
        if self.one_program:
            return {"subject": self.reference}
        return {"reference": self.reference, "candidate": self.candidate}

    @property
    def arguments(self) -> dict[str, Any]:
        """How it was asked for, where that is not the usual."""
        given: dict[str, Any] = {
            "dependence": self.dependence,
            "equal": self.equal,
            "accept": self.accept,
            "under": self.under,
            "property": self.held_to,
        }
        return {name: value for name, value in given.items() if value not in (None, (), Unordered())}

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that do not matter."""
        return self.equal.ignore if self.equal is not None else ()

    def others(self, length: int) -> list[Side]:
        """The sides that are compared with the base, for a case of `length` batches."""
        found = dict.fromkeys(variant for each in self.under for variant in each.variants(length))
        if not found:
            return [] if self.one_program else [Side("candidate")]
        before = "" if self.one_program else "candidate, "
        return [Side(f"{before}{variant}", variant) for variant in found]

    def matcher(self) -> Matcher:
        return Matcher(self.dependence, equal=self.equal)
