"""The verdict on a complete trace, by derivatives alone: no automaton is built, so there is no limit on its size."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from firesteel.errors import InvalidArgument
from firesteel.logic.pptl.derivative import Reader
from firesteel.logic.pptl.formulas import Formula
from firesteel.logic.pptl.states import Known, State
from firesteel.logic.pptl.terms import Terms
from firesteel.logic.verdicts import Verdict


def evaluate(formula: Formula, trace: Iterable[State], *, names: Collection[str] = ()) -> Verdict:
    """True or false: the trace is complete."""
    terms = Terms()
    reader, known = Reader(terms), Known(formula, names)
    ends, rest = None, terms.of(formula)
    for letter in known.letters(trace):
        ends, rest = reader.read(rest, letter)
    if ends is None:
        raise no_states()
    return Verdict.TRUE if ends else Verdict.FALSE


def no_states() -> InvalidArgument:
    return InvalidArgument("the trace is empty, and a formula speaks of an interval of at least one state")
