"""The monitor: a formula being judged state by state, by its automaton."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from firesteel.logic.pptl.automata import Automaton, automaton
from firesteel.logic.pptl.evaluate import no_states
from firesteel.logic.pptl.explain import failing, open_after
from firesteel.logic.pptl.formulas import CAP, Formula
from firesteel.logic.pptl.states import Known, State, groups_of
from firesteel.logic.verdicts import Verdict


class _Place:
    """A state of the automaton, with the places that letters lead to, as far as they were asked for."""

    __slots__ = ("accepting", "after", "number", "verdict")

    def __init__(self, whole: Automaton, number: int) -> None:
        self.number = number
        self.accepting, self.verdict = whole.accepting[number], whole.verdicts[number]
        self.after: dict[frozenset[str], _Place] = {}


class Monitor:
    """Judges a formula while its trace comes in.

    The verdict is inconclusive until every continuation agrees, and then it is definite at once. A monitor holds the
    automaton and one of its states, however long the trace is.

    >>> from firesteel.logic import pptl
    >>> monitor = pptl.parse("p until q").monitor()
    >>> monitor.step({"p"}), monitor.step({"q"})
    (<Verdict.INCONCLUSIVE: 0>, <Verdict.TRUE: 1>)
    """

    def __init__(
        self,
        formula: Formula,
        *,
        names: Collection[str] = (),
        exclusive: Iterable[Collection[str]] = (),
        cap: int = CAP,
    ) -> None:
        groups = groups_of(exclusive)
        self.formula = formula
        self._known = Known(formula, names, groups)
        self._whole = automaton(formula, exclusive=groups, cap=cap)
        self._places = [_Place(self._whole, number) for number in range(len(self._whole))]
        self._place = self._before = self._places[0]
        self._last: State = frozenset()
        self._verdict = self._place.verdict
        self._states = 0
        self._finished = False

    @property
    def verdict(self) -> Verdict:
        """What is known so far."""
        return self._verdict

    @property
    def states(self) -> int:
        """How many states were read."""
        return self._states

    def step(self, state: State) -> Verdict:
        """Read one more state."""
        kind = type(state)
        place: _Place | None = None
        if kind is frozenset:
            place = self._place.after.get(state)  # type: ignore[call-overload]
        elif kind is set:
            place = self._place.after.get(frozenset(state))
        if place is None:
            place = self._found(state)
        self._before, self._place, self._last = self._place, place, state
        self._states += 1
        self._verdict = verdict = place.verdict
        return verdict

    def _found(self, state: State) -> _Place:
        """The place that a state leads to, where it was not asked for before or the state is a mapping."""
        if self._finished:
            raise RuntimeError("this monitor is finished: start another one with formula.monitor()")
        letter = self._known.letter(state, self._states)
        after = self._place.after
        if letter not in after:
            after[letter] = self._places[self._whole.after(self._place.number, letter)]
        return after[letter]

    @property
    def open(self) -> Formula | None:
        """What the rest of the trace has to satisfy. It is worked out when it is asked for, so a step costs no more.

        Traces that lead to the same state of the automaton leave the same open. It is written as the shortest of them
        leaves it. None where it is too deep to be written.

        >>> from firesteel.logic import pptl
        >>> monitor = pptl.parse("[] (request -> <> reply)").monitor()
        >>> _ = monitor.step({"request"})
        >>> print(monitor.open)
        <> reply and [] (request -> <> reply)
        """
        return open_after(self.formula, self._whole.word_to(self._place.number))

    @property
    def failed(self) -> tuple[Formula, ...]:
        """Once the verdict is false: the parts of the formula that the last state, or the end, made false.

        Ask when the verdict turns false: after more states it is about these.

        >>> from firesteel.logic import pptl
        >>> monitor = pptl.parse("[] (request -> <> reply)").monitor()
        >>> _ = monitor.step({"request"}), monitor.finish()
        >>> [str(part) for part in monitor.failed]
        ['[] (request -> <> reply)']
        """
        if self._verdict is not Verdict.FALSE or not self._states:
            return ()
        letter = self._known.letter(self._last, self._states - 1)
        return failing(self.formula, [*self._whole.word_to(self._before.number), letter], ended=self._finished)

    def finish(self) -> Verdict:
        """The trace ends here: true or false.

        >>> from firesteel.logic import pptl
        >>> monitor = pptl.parse("[] p").monitor()
        >>> monitor.step({"p"}), monitor.finish()
        (<Verdict.INCONCLUSIVE: 0>, <Verdict.TRUE: 1>)
        """
        if not self._states:
            raise no_states()
        if not self._finished:
            self._finished = True
            self._verdict = Verdict.TRUE if self._place.accepting else Verdict.FALSE
            self._place = _Place(self._whole, self._place.number)  # leads nowhere
        return self._verdict
