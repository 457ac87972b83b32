"""The monitors of one rule: one automaton for all, and for each key an id and a state.

A key in a state that is as good as the start is forgotten: that of most keys, most of the time. So a rule for each task
takes no memory for tasks that do nothing remarkable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from firesteel.errors import PredicateError
from firesteel.history.rule import Rule
from firesteel.history.table import EVERYWHERE, WITH_OWNER
from firesteel.logic.ltl.formulas import Formula
from firesteel.logic.pptl.automata import Automaton
from firesteel.logic.pptl.explain import failing
from firesteel.logic.verdicts import Verdict

Letter: TypeAlias = frozenset[str]
NOTHING: Letter = frozenset()


class Break(NamedTuple):
    """A key of which a rule turned out to be false."""

    owner: Hashable
    key: Hashable
    at: int
    """The event that decided, counted from 0; where the end decided, the last one."""
    place: str
    """Where it stands: `app-1:12`."""
    ended: bool
    """Did the end decide, of the trace or of what the key belongs to?"""
    before: int
    """The state of the automaton before that event; where the end decided, the last one."""
    letter: Letter
    """What held at that event."""


class Transitions:
    """An automaton, with the steps that were asked for at hand."""

    def __init__(self, whole: Automaton) -> None:
        self.whole = whole
        self._after: list[dict[Letter, int]] = [{} for _ in whole.rows]
        self.false = frozenset(state for state, known in enumerate(whole.verdicts) if known is Verdict.FALSE)

    def after(self, state: int, letter: Letter) -> int:
        """The next state. Names that the formula does not have may stand in the letter."""
        known = self._after[state].get(letter)
        if known is None:
            known = self._after[state][letter] = self.whole.after(state, letter)
        return known

    def forgettable(self, heard: frozenset[str]) -> frozenset[int]:
        """The states that are as good as the start, also after what happens to everything at once."""
        whole = self.whole
        found = {state for state, first in enumerate(whole.alike) if first == whole.alike[0] and whole.accepting[state]}
        letters = [frozenset(some) for size in range(1, len(heard) + 1) for some in combinations(heard, size)]
        while True:
            lost = {state for state in found if any(self.after(state, letter) not in found for letter in letters)}
            if not lost:
                return frozenset(found)
            found -= lost


class Monitors:
    """A rule for each thing of a kind."""

    def __init__(self, rule: Rule, place: Callable[[], str]) -> None:
        self.rule = rule
        self.broken: list[Break] = []
        self.steps = 0
        self.hears = rule.names & EVERYWHERE
        self._place = place
        self._moves = Transitions(rule.automaton)
        self._false = self._moves.false
        self._with_owner = rule.names & WITH_OWNER.get(rule.each or "", frozenset())
        self._forgettable = self._moves.forgettable(self.hears | self._with_owner)
        self._states: dict[Hashable, dict[Hashable, int]] = {}
        """By owner and key."""

    def step(self, owner: Hashable, key: Hashable, letter: Letter, at: int) -> None:
        """Something happened to a key."""
        self.steps += 1
        states = self._states.get(owner)
        known = None if states is None else states.get(key)
        before = known or 0
        after = self._moves.after(before, letter)
        if after == known:
            return
        if after in self._forgettable:
            if known is not None and states is not None:
                del states[key]
            return
        if states is None:
            states = self._states[owner] = {}
        states[key] = after
        if after in self._false:
            self.broken.append(Break(owner, key, at, self._place(), False, before, letter))

    def everywhere(self, letter: Letter, at: int) -> None:
        """Something happened to the whole application."""
        for owner, key in list(self.keys()):
            self.step(owner, key, letter, at)

    def over(self, owner: Hashable, letter: Letter, at: int) -> None:
        """Something happened to what some keys belong to, and they are over with it."""
        if letter & self._with_owner:
            for key in list(self._states.get(owner, ())):
                self.step(owner, key, letter, at)
        self._ended(owner, at)

    def forget(self, owner: Hashable, key: Hashable) -> None:
        """Nothing will happen to a key any more. One that still waits for something is kept: it is false at the end."""
        states = self._states.get(owner, {})
        state = states.get(key)
        if state is not None and (self._moves.whole.accepting[state] or state in self._false):
            del states[key]

    def _ended(self, owner: Hashable, at: int) -> None:
        for key, state in self._states.pop(owner, {}).items():
            if not self._moves.whole.accepting[state] and state not in self._false:
                self.broken.append(Break(owner, key, at, self._place(), True, state, NOTHING))

    def keys(self) -> Iterator[tuple[Hashable, Hashable]]:
        """The owners and keys that are remembered."""
        for owner, states in self._states.items():
            for key in states:
                yield owner, key

    def end(self, at: int) -> None:
        """The application ended, and everything with it."""
        for owner in list(self._states):
            self._ended(owner, at)

    @property
    def waiting(self) -> int:
        """How many keys are in a state in which they must not end."""
        accepting, false = self._moves.whole.accepting, self._false
        return sum(
            not accepting[state] and state not in false for states in self._states.values() for state in states.values()
        )

    @property
    def verdict(self) -> Verdict:
        """What is known of all keys, whatever comes: there may always be another one."""
        return Verdict.FALSE if self.broken else Verdict.INCONCLUSIVE

    def failed(self, broken: Break) -> tuple[str, ...]:
        """The parts of the formula that were false then."""
        whole = self.rule.automaton
        word = whole.word_to(broken.before)
        if not broken.ended:
            word.append(broken.letter & self.rule.names)
        elif whole.after(broken.before, NOTHING) == broken.before:
            word.append(NOTHING)  # as if nothing happened for a while: then only what is missing is left open
        return tuple(map(str, failing(self.rule.parsed, word, ended=broken.ended)))


class Whole(Monitors):
    """A rule for the whole application: one state, and every event is a step of it."""

    def __init__(self, rule: Rule, place: Callable[[], str]) -> None:
        super().__init__(rule, place)
        self._state = 0

    def step(self, owner: Hashable, key: Hashable, letter: Letter, at: int) -> None:
        self.steps += 1
        before = self._state
        after = self._moves.after(before, letter)
        if after == before:
            return
        self._state = after
        if after in self._false:
            self.broken.append(Break(None, None, at, self._place(), False, before, letter))

    def end(self, at: int) -> None:
        if self.steps and not self._moves.whole.accepting[self._state] and self._state not in self._false:
            self.broken.append(Break(None, None, at, self._place(), True, self._state, NOTHING))

    @property
    def waiting(self) -> int:
        state = self._state
        return int(self.steps > 0 and not self._moves.whole.accepting[state] and state not in self._false)

    @property
    def verdict(self) -> Verdict:
        return self._moves.whole.verdicts[self._state]


@dataclass(frozen=True)
class Stated:
    """A formula over predicates (`fs.always(...)`), as a rule for the whole trace."""

    formula: Formula
    each: None = None
    says: str = ""
    names: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return repr(self.formula)


class Predicated:
    """The monitor of a formula over predicates: every state of the trace is handed to it."""

    hears: frozenset[str] = frozenset()

    def __init__(self, rule: Stated, place: Callable[[], str], state: Callable[[], Any]) -> None:
        self.rule = rule
        self.broken: list[Break] = []
        self.steps = 0
        self._place, self._state = place, state
        self._monitor = rule.formula.monitor()

    def step(self, owner: Hashable, key: Hashable, letter: Letter, at: int) -> None:
        if self.verdict.definite:
            return
        self.steps += 1
        try:
            verdict = self._monitor.step(self._state())
        except PredicateError as error:
            raise PredicateError(f"{self._place()}: {error}") from error.__cause__
        if verdict is Verdict.FALSE:
            self.broken.append(Break(None, None, at, self._place(), False, 0, NOTHING))

    def end(self, at: int) -> None:
        if self.steps and not self.verdict.definite and self._monitor.finish() is Verdict.FALSE:
            self.broken.append(Break(None, None, at, self._place(), True, 0, NOTHING))

    @property
    def verdict(self) -> Verdict:
        return self._monitor.verdict

    @property
    def waiting(self) -> int:
        return int(not self.verdict.definite)

    def failed(self, broken: Break) -> tuple[str, ...]:
        return ()
