"""The monitor: a formula being evaluated instant by instant.

It is the paper's lazy next form and letter simplification in one step (`tests/logic/next_form.py` has them as the paper
writes them). How a step is made is in `progression` and `past`; what is open between two steps is in `obligations`.
"""

from __future__ import annotations

from typing import Any

from firesteel.logic.ltl import intervals, past, progression
from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.formulas import Formula, Implies, postorder
from firesteel.logic.ltl.obligations import Left, opened
from firesteel.logic.ltl.progression import Turn, progress
from firesteel.logic.verdicts import Verdict

INCONCLUSIVE = Verdict.INCONCLUSIVE

_RULES: progression.Rules = {**progression.RULES, **past.RULES, **intervals.RULES}


class Monitor:
    """Judges a formula while its trace comes in.

    `step` gives the verdict so far, `finish` the one at the end. A definite verdict never changes.

    >>> import firesteel as fs
    >>> monitor = fs.eventually(lambda x: x > 2).monitor()
    >>> monitor.step(1), monitor.step(3)
    (<Verdict.INCONCLUSIVE: 0>, <Verdict.TRUE: 1>)
    """

    def __init__(self, formula: Formula, *, memory: Memory | None = None) -> None:
        self.formula = formula
        self._implications = {id(f): f for f in postorder(formula) if isinstance(f, Implies)}
        self._turn = Turn(_RULES, self._implications.keys(), memory)
        self._left: Left = opened(formula)
        self._finished = False

    @property
    def verdict(self) -> Verdict:
        """What is known so far."""
        return self._left if isinstance(self._left, Verdict) else INCONCLUSIVE

    @property
    def instants(self) -> int:
        """How many instants were judged: those after a definite verdict are not."""
        return self._turn.seen

    def step(self, instant: Any) -> Verdict:
        """Judge one more instant."""
        left = self._left
        if type(left) is Verdict:
            if self._finished:
                raise RuntimeError("this monitor is finished: start another one with formula.monitor()")
            return left
        turn = self._turn
        turn.instant = instant
        left = self._left = progress(left, turn)
        turn.next()
        return left if type(left) is Verdict else INCONCLUSIVE

    def finish(self) -> Verdict:
        """The trace ends here. Operators without a bound close: `always` and `release` true, the others false.

        >>> import firesteel as fs
        >>> monitor = fs.always(lambda x: x > 0).monitor()
        >>> monitor.step(1), monitor.finish()
        (<Verdict.INCONCLUSIVE: 0>, <Verdict.TRUE: 1>)
        """
        turn = self._turn
        if not turn.ended:
            turn.end()
        while not isinstance(self._left, Verdict):
            self._left = progress(self._left, turn)
            turn.next()
        self._finished = True
        return self._left

    @property
    def premises(self) -> dict[Implies | None, bool]:
        """For every implication that was asked, whether its premise ever held: if not, it said nothing.

        Implications made by `let` and `consume` are new at every instant; they count together, under None.

        >>> import firesteel as fs
        >>> monitor = fs.always(fs.implies(lambda x: x > 5, lambda x: x < 9)).monitor()
        >>> _ = monitor.step(1)
        >>> monitor.premises
        {(x > 5) implies (x < 9): False}
        """
        return {self._implications.get(node): held for node, held in self._turn.asked.items()}
