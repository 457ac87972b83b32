"""A formula as a meter of traces, for every check that holds runs to one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from firesteel.evidence.runs import TooShort
from firesteel.logic.ltl.asking import Memory, asked
from firesteel.logic.ltl.explain import Reason, explain
from firesteel.logic.ltl.formulas import Atom, Formula, Implies
from firesteel.logic.ltl.lengths import open_at_the_end
from firesteel.logic.ltl.monitor import Monitor
from firesteel.logic.verdicts import Verdict
from firesteel.runs.claims import Explained
from firesteel.values.traces import Instant, Trace


class FormulaMeter:
    """A monitor of one run that remembers what its predicates said."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.memory = Memory()
        self._monitor = Monitor(formula, memory=self.memory)

    @property
    def verdict(self) -> Verdict:
        return self._monitor.verdict

    @property
    def premises(self) -> Mapping[Implies | None, bool]:
        return self._monitor.premises

    def step(self, instant: Instant) -> Verdict:
        return self._monitor.step(instant)

    def finish(self) -> Verdict:
        return self._monitor.finish()

    def why(self, trace: Trace, *, ended: bool) -> Explained:
        explanation = explain(self.formula, trace, ended=ended, memory=self.memory)
        return Explained(explanation, _answers(explanation, trace, self.memory))


def too_short(formula: Formula, length: int, run: str = "") -> TooShort:
    """A run of this many instants does not decide the formula; `run` names it where there are several."""
    return TooShort(length, formula.shortest_true, formula.required_length, open_at_the_end(formula), run)


def _answers(explanation: Reason, trace: Trace, memory: Memory) -> dict[tuple[Formula, int], bool]:
    """What the deciding predicates say at every instant; where they were not asked it mattered to no verdict."""
    answers: dict[tuple[Formula, int], bool] = {
        (atom, index): bool(answer) for (_, index), (atom, answer) in memory.answers.items()
    }
    for atom in {leaf.formula for leaf in explanation.leaves() if isinstance(leaf.formula, Atom)}:
        for instant in trace:
            if (atom, instant.index) not in answers:
                with suppress(Exception):  # it was never asked here, and may well not be made for it
                    answers[atom, instant.index] = bool(asked(atom, instant, instant.index))
    return answers
