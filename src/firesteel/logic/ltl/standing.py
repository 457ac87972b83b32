"""A rule that is judged at every instant of a trace that may never end, and whose state is a value.

`Monitor` judges a formula from the first instant on. A `Standing` rule begins anew at every instant: at each one it is
true, false or still open. Operators on the past look back to the first instant of the trace. It is what `always(rule)`
asks for, but it tells the instants apart and goes on after the first one that is false.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from firesteel.logic.ltl import intervals, kept, past, progression
from firesteel.logic.ltl.asking import Memory
from firesteel.logic.ltl.formulas import PAST, Formula, postorder
from firesteel.logic.ltl.obligations import Left, key_of
from firesteel.logic.ltl.progression import Turn, progress
from firesteel.logic.verdicts import Verdict

_RULES: progression.Rules = {**progression.RULES, **past.RULES, **intervals.RULES}

_MANY = 100
"""How many bound instants are kept before a look at which of them are still needed."""


@dataclass(frozen=True)
class Judged:
    """The verdict on the rule at one instant."""

    at: int
    verdict: Verdict


@dataclass
class _Started:
    """What is left of the rule, alike for all of these instants. Neighbours are kept as ranges, first and last."""

    left: Left
    ranges: list[tuple[int, int]]

    def add(self, first: int, last: int) -> None:
        if self.ranges and self.ranges[-1][1] == first - 1:
            first = self.ranges.pop()[0]
        self.ranges.append((first, last))

    def instants(self) -> Iterator[int]:
        for first, last in self.ranges:
            yield from range(first, last + 1)


class Standing:
    """Judges a rule at every instant while the trace comes in.

    `step` and `finish` give the instants whose verdict became known.

    >>> import firesteel as fs
    >>> from firesteel.logic.ltl.standing import Standing
    >>> answered = Standing(fs.implies(lambda x: x == "?", fs.eventually(lambda x: x == "!", within=2)))
    >>> [answered.step(x) for x in "??!"]
    [(), (Judged(at=0, verdict=<Verdict.FALSE: -1>),), (Judged(at=1, verdict=<Verdict.TRUE: 1>), Judged(at=2, ...))]
    """

    def __init__(self, rule: Formula) -> None:
        self.rule = rule
        self._memory = Memory()
        self._turn = Turn(_RULES, frozenset(), self._memory)
        self._past = tuple(f for f in postorder(rule) if isinstance(f, PAST))
        self._cells: tuple[Any, ...] = (None,) * len(self._past)
        self._open: dict[Hashable, _Started] = {}
        # What `let` and `consume` were called with. Their bodies are called again when a state is restored.
        self._instants: dict[int, Any] = {}
        self._many = _MANY

    @property
    def instants(self) -> int:
        """How many instants were seen."""
        return self._turn.seen

    @property
    def open(self) -> tuple[int, ...]:
        """The instants whose verdict is not known yet."""
        return tuple(sorted(at for started in self._open.values() for at in started.instants()))

    @property
    def memory(self) -> Memory:
        """What predicates answered at the last instant, and the formulas of `let` and `consume` that are in use."""
        return self._memory

    def step(self, instant: Any) -> tuple[Judged, ...]:
        """One more instant."""
        if self._turn.ended:
            raise RuntimeError("this rule is finished: start another one with Standing(rule)")
        self._turn.instant = instant
        index = self._turn.index
        decided = self._progressed(fresh=index)
        if any(at == index for _, at in self._memory.bodies):
            self._instants[index] = instant
        if len(self._instants) > self._many:
            self.keep()  # for what it forgets
            self._many = max(_MANY, 2 * len(self._instants))
        return decided

    def finish(self) -> tuple[Judged, ...]:
        """The trace ends here: operators without a bound close, and what needs more instants is inconclusive."""
        if not self._turn.ended:
            self._turn.end()
        decided: list[Judged] = []
        while self._open:
            decided += self._progressed(fresh=None)
        return tuple(sorted(decided, key=lambda judged: judged.at))

    def _progressed(self, fresh: int | None) -> tuple[Judged, ...]:
        turn = self._turn
        self._memory.answers.clear()  # they are for explanations
        inner = turn
        if self._past:
            inner = turn.inner()
            self._cells = past.remember(self._past, self._cells, inner)
        decided: list[Judged] = []
        still_open: dict[Hashable, _Started] = {}
        started = [(each.left, each.ranges) for each in self._open.values()]
        if fresh is not None:
            started.append((self.rule, [(fresh, fresh)]))
        for before, ranges in started:
            left = progress(before, inner)
            if isinstance(left, Verdict):
                decided += (Judged(at, left) for first, last in ranges for at in range(first, last + 1))
                continue
            group = still_open.setdefault(key_of(left), _Started(left, []))
            for first, last in ranges:
                group.add(first, last)
        self._open = still_open
        turn.next()
        return tuple(sorted(decided, key=lambda judged: judged.at))

    # --- its state as a value ---

    def keep(self, write: Callable[[Any], Any] = lambda instant: instant) -> dict[str, Any]:
        """The state as plain data, which `json.dumps` takes; `write` does it for an instant that was bound by `let`.

        >>> import json
        >>> import firesteel as fs
        >>> rule = fs.let(lambda first: fs.next_(lambda second: second > first))
        >>> before = Standing(rule)
        >>> before.step(1)
        ()
        >>> text = json.dumps(before.keep())
        >>> Standing.restore(rule, json.loads(text)).step(2)
        (Judged(at=0, verdict=<Verdict.TRUE: 1>),)
        """
        writer = kept.Writer(self.rule, self._memory.bodies)
        started = [[writer.left(each.left), each.ranges] for each in self._open.values()]
        cells = [writer.cell(cell) for cell in self._cells]
        self._forget_all_but(writer.used)
        return {
            "index": self._turn.index,
            "open": started,
            "cells": cells,
            "bindings": [list(each) for each in writer.bindings],
            "instants": [[index, write(instant)] for index, instant in self._instants.items()],
        }

    def _forget_all_but(self, bodies: kept.Bodies) -> None:
        self._memory.bodies.clear()
        self._memory.bodies.update(bodies)
        self._instants = {index: self._instants[index] for _, index in bodies}

    @classmethod
    def restore(
        cls, rule: Formula, state: Mapping[str, Any], read: Callable[[Any], Any] = lambda instant: instant
    ) -> Standing:
        """The rule in a state that `keep` gave; `read` is the way back of `write`."""
        standing = cls(rule)
        standing._turn.index = standing._turn.seen = state["index"]
        standing._instants = {index: read(instant) for index, instant in state["instants"]}
        reader = kept.Reader(rule, state["bindings"], standing._instants, standing._memory.bodies)
        standing._cells = tuple(reader.cell(cell) for cell in state["cells"])
        for written, ranges in state["open"]:
            left = reader.left(written)
            standing._open[key_of(left)] = _Started(left, [(first, last) for first, last in ranges])
        return standing
