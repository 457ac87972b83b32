"""Runs a program state by state, and goes back to try other choices.

Nothing is kept of states that are over, unless a choice is open in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from firesteel.model.msvl.errors import NoModel
from firesteel.model.msvl.machine import Machine, Residual
from firesteel.model.msvl.scopes import Key
from firesteel.model.msvl.values import UNSET


class _Saved:
    """All that is needed to make a state again."""

    def __init__(self, machine: Machine, residual: Residual, before: tuple[Any, ...]) -> None:
        self.residual = residual
        self.number = machine.number - 1
        self.values = dict(machine.values)
        for key, value in machine.before.items():
            if value is UNSET:
                self.values.pop(key, None)
            else:
                self.values[key] = value
        self.coming, self.loose, self.frames, self.framed, self.framed_parts, self.serial = before
        self.seen: list[Any] = []

    def restore(self, machine: Machine) -> None:
        machine.number, machine.values = self.number, dict(self.values)
        machine.coming, machine.loose, machine.frames = self.coming, self.loose, self.frames
        machine.framed, machine.framed_parts, machine.serial = self.framed, self.framed_parts, self.serial


class Explorer:
    """Goes through the runs of a program, depth first. The first way of every choice comes first."""

    def __init__(
        self, machine: Machine, residual: Residual, bound: int, dead: tuple[type[Exception], ...] = (NoModel,)
    ) -> None:
        self.machine, self.bound = machine, bound
        self._residual, self._dead = residual, dead
        self._open: list[tuple[_Saved, tuple[int, ...]]] = []
        self.cut = False
        """Was a run left because it reached the bound?"""
        self.failure: Exception | None = None
        """Why the first run that has no model has none."""
        self.scripts: dict[int, tuple[int, ...]] = {}
        """The choices of the present run, by the number of the state."""

    @property
    def settled(self) -> bool:
        """Is no choice open? Then the states that were made stay as they are."""
        return not self._open

    def states(self) -> Iterator[bool]:
        """Makes state after state; each answers whether a run may end there. `machine` has the state."""
        machine, residual = self.machine, self._residual
        script: tuple[int, ...] = ()
        saved: _Saved | None = None
        while True:
            before = (
                *(machine.coming, machine.loose, machine.frames, machine.framed, machine.framed_parts),
                machine.serial,
            )
            rest: Residual | None = None
            try:
                ends, rest = machine.state(residual, script)
                if rest is None and not ends:
                    raise machine.no_model("one part has to end here, and another has to go on")
                made = True
            except self._dead as failure:
                self.failure, made = self.failure or failure, False
            if machine.choices:
                self.scripts[machine.number] = tuple(chosen for chosen, _ in machine.choices)
            elif self.scripts:
                self.scripts.pop(machine.number, None)
            if len(machine.choices) > len(script):
                saved = self._choices(residual, script, saved, before)
            if made and saved is not None and machine.waited and _seen(machine, saved):
                made, rest = False, None
            if made:
                yield ends
                if rest is not None and machine.number + 1 >= self.bound:
                    self.cut, rest = True, None
            if rest is not None:
                residual, script, saved = rest, (), None
                continue
            if not self._open:
                return
            saved, script = self._open.pop()
            saved.restore(machine)
            residual = saved.residual

    def replay(self, scripts: Mapping[int, tuple[int, ...]], last: int) -> Iterator[Machine]:
        """Make the states of one run again, up to this one: the run that made these choices."""
        residual: Residual | None = self._residual
        for number in range(last + 1):
            assert residual is not None
            _, residual = self.machine.state(residual, scripts.get(number, ()))
            yield self.machine

    def _choices(
        self, residual: Residual, script: tuple[int, ...], saved: _Saved | None, before: tuple[Any, ...]
    ) -> _Saved:
        """Remember the other ways of the choices that were made in this state."""
        saved = saved or _Saved(self.machine, residual, before)
        taken = tuple(chosen for chosen, _ in self.machine.choices)
        for place in range(len(script), len(taken)):
            for way in range(self.machine.choices[place][1] - 1, 0, -1):
                self._open.append((saved, (*taken[:place], way)))
        return saved


def _seen(machine: Machine, saved: _Saved) -> bool:
    """Did another order, in which statements stopped waiting for each other, lead to the same state?"""
    chosen = [way for place, (way, _) in enumerate(machine.choices) if place not in machine.waited]
    values: dict[Key, Any] = {key: value for key, value in machine.values.items() if "#" not in key.label}
    if (chosen, values) in saved.seen:
        return True
    saved.seen.append((chosen, values))
    return False
