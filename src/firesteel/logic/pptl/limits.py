"""How much work may go into an automaton: some formulas have automata that no machine can hold."""

from __future__ import annotations

from firesteel.errors import InvalidArgument, described
from firesteel.logic.bounds import whole_number

# Steps of work for each state that is allowed, and for any automaton. Few formulas need more than 30 for a state.
_STEPS, _ANY = 100, 100_000


class Inconclusive(RuntimeError):
    """The automaton of a formula has too many states to be built, so the question about it stays open."""


class Budget:
    """What is left of the states and the steps of work that one automaton may take."""

    __slots__ = ("_cap", "_formula", "_most", "_steps")

    def __init__(self, formula: object, cap: int) -> None:
        self._formula, self._cap = formula, cap_of(cap)
        self._most = self._steps = _ANY + cap * _STEPS

    def spend(self, steps: int = 1) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise self._exceeded(f"takes more than {self._most:,} steps to build")

    def states(self, count: int) -> None:
        if count > self._cap:
            raise self._exceeded(f"has more than {self._cap:,} states while it is built")

    def _exceeded(self, how: str) -> Inconclusive:
        text = str(self._formula)
        shown = text if len(text) <= 120 else text[:117] + "..."
        return Inconclusive(
            f"the automaton of {shown} {how}, so it was given up (cap={self._cap}): write a larger cap=, declare names "
            "that never hold together with exclusive=, or split the formula. A complete trace can be judged without "
            "an automaton: formula.evaluate(trace)"
        )


def cap_of(cap: int) -> int:
    """The cap, if it is a whole number from 1."""
    number = whole_number(cap, 1)
    if number is None:
        raise InvalidArgument(f"{described('cap', cap)} is not a number of states: write a whole number from 1")
    return number
