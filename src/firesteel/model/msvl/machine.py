"""The machine: the present state of a run, what is assigned in it, and what is assigned for the next one.

A state is made in three steps. What is not framed loses its value; what `:=` assigned for this state gets it; then the
program takes its step. Statements of one state may depend on each other: one that reads a variable waits for those that
may assign it in the same state with `<==`. While such a statement is around the machine is `slow`: statements that wait
are tried again, and what they did is remembered, so that a second try does the same. When all wait, some variable keeps
its value. Which one is a choice like any other, and one that proves wrong leads to no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from firesteel.model.msvl.errors import ExternalError, Undefined
from firesteel.model.msvl.scopes import Activation, Key, Name
from firesteel.model.msvl.store import Path, Store
from firesteel.model.msvl.values import UNSET, lifted, plain

T = TypeVar("T")
Coming = list[tuple[Key, Path, Any, int]]
"""What is assigned for the next state."""
NOBODY: frozenset[Any] = frozenset()


class Residual(Protocol):
    """What is left to do from the next state on."""

    frames: tuple[frozenset[Any], ...]
    """What is framed in the next state: keys, and pairs of a key and a path."""
    first: frozenset[Key]
    """What may be assigned in the next state with `<==`."""
    nullable: bool
    """May it end in the next state?"""

    def step(self, machine: Machine) -> tuple[bool, Residual | None]:
        """Do what is to be done in this state: may the interval end here, and what is left if it goes on?"""


class Blocked(Exception):
    """A statement waits for these variables."""

    def __init__(self, keys: set[Any]) -> None:
        super().__init__()
        self.keys = keys


class Machine(Store):
    """One run, at one state."""

    def __init__(self, values: dict[Key, Any], constants: Iterable[Key], externals: Mapping[str, Any]) -> None:
        super().__init__(values, constants)
        self.externals = externals
        self.coming: Coming = []
        self.serial = 0
        """How many functions with variables of their own were called."""
        self.script: tuple[int, ...] = ()
        """The choices that are to be made in this state; the first way is taken where it says nothing."""
        self._fresh()

    def _fresh(self) -> None:
        """Nothing has happened in this state."""
        self.nothing_assigned()
        self.choices: list[tuple[int, int]] = []
        """The choices that were made: which way, of how many."""
        self.waited: set[int] = set()
        """Which of them were about a variable that keeps its value, as statements waited for each other."""
        self.slow = False
        self.immediate: set[Key] = set()
        self.memo: dict[tuple[Path, int], Any] = {}
        self.path: Path = ()
        self.count = 0
        self.depth = 0
        self.at_end: list[Callable[[dict[Key, Any]], None]] = []

    # --- a state ---

    def state(self, residual: Residual, script: tuple[int, ...]) -> tuple[bool, Residual | None]:
        """Make the next state."""
        self.number += 1
        self.script = script
        coming, loose, frames, serial = self.coming, self.loose, self.frames, self.serial
        self._begin(residual, coming)
        try:
            found = residual.step(self) if not self.slow else self._settled(residual)
        except Blocked:  # somebody has to wait, though that was not to be seen before
            for key, value in self.before.items():
                self.restore(key, value)
            self.loose, self.frames, self.serial = loose, frames, serial
            self._begin(residual, coming)
            self.slow = True
            found = self._settled(residual)
        if self.also:
            for key in self.also:
                self.settle(key)
        for each in self.at_end:
            each(self.values)
        return found

    def _begin(self, residual: Residual, coming: Coming) -> None:
        self._fresh()
        if residual.frames != self.frames:
            self.reframe(residual.frames)
        lost, self.loose = self.loose, set()
        for key in lost:
            self.lose(key)
        self.coming = []
        if residual.first:
            self.immediate = set(residual.first)
            self.slow = True
        for key, path, value, line in coming:
            self.write(key, path, value, line)

    def _settled(self, residual: Residual) -> tuple[bool, Residual | None]:
        """The step of a state in which statements may wait for each other."""
        while True:
            self.path, self.count, self.depth = (), 0, 0
            try:
                return residual.step(self)
            except Blocked as blocked:
                waiting = sorted((key for key in blocked.keys if type(key) is Key), key=lambda key: key.label)
                if not waiting:
                    (label, line), *_ = blocked.keys
                    raise self.unusable(
                        f"next {label} is not known: in this state nothing assigns {label} for the next one", line
                    ) from None
                if len(waiting) > 1:
                    self.waited.add(len(self.choices))
                chosen = waiting[self._drawn(len(waiting)) if len(waiting) > 1 else 0]
                self.decided.add(chosen)
                if chosen in self.also:
                    self.settle(chosen)

    # --- choices, and what is done once ---

    def choose(self, ways: int) -> int:
        """Which way to go: the first one, unless the script says otherwise."""
        return self.once(lambda: self._drawn(ways))

    def _drawn(self, ways: int) -> int:
        place = len(self.choices)
        chosen = self.script[place] if place < len(self.script) else 0
        self.choices.append((chosen, ways))
        return chosen

    def once(self, make: Callable[[], T]) -> T:
        """What has to be the same when a statement that waited is tried again."""
        if not self.slow:
            return make()
        key = (self.path, self.count)
        self.count += 1
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]  # type: ignore[no-any-return]

    def together(self, parts: list[Callable[[Machine], T]]) -> list[T]:
        """All parts of one state, in whatever order they do not wait for each other."""
        if not self.slow:
            return [part(self) for part in parts]
        path, count = self.path, self.count
        results: dict[int, T] = {}
        waiting = list(range(len(parts)))
        while waiting:
            left: list[int] = []
            keys: set[Any] = set()
            for place in waiting:
                self.path, self.count = (*path, count, place), 0
                try:
                    results[place] = parts[place](self)
                except Blocked as blocked:
                    left.append(place)
                    keys |= blocked.keys
            if len(left) == len(waiting):
                self.path, self.count = path, count
                raise Blocked(keys)
            waiting = left
        self.path, self.count = path, count + 1
        return [results[place] for place in range(len(parts))]

    # --- reading ---

    def ready(self, names: tuple[Name, ...], activation: Activation) -> None:
        """Wait until nothing else in this state can assign these variables."""
        keys = {
            key
            for name in names
            if (key := name.found(activation)) in self.immediate and key not in self.whole and key not in self.decided
        }
        if keys:
            raise Blocked(keys)

    def read(self, key: Key, line: int) -> Any:
        value = self.values.get(key, UNSET)
        if value is UNSET:
            raise self.undefined(key, line)
        if key in self.decided:
            self.note(key, (), value)
        return value

    def past(self, key: Key, line: int) -> Any:
        """The value in the state before."""
        if self.no_past:
            raise Undefined(
                f"state {self.number}: there is no state before this one, and line {line} looks back", self.number
            )
        if self.projected is not None:
            value = self.projected.get(key, UNSET)
        else:
            value = self.before[key] if key in self.before else self.values.get(key, UNSET)
        if value is UNSET:
            raise Undefined(
                f"state {self.number}: {key.label} had no value in the state before, and line {line} reads it",
                self.number,
            )
        return value

    def following(self, key: Key, line: int) -> Any:
        """The value that was assigned for the next state."""
        for each, path, value, _ in self.coming:
            if each is key and not path:
                return value
        raise Blocked({(key.label, line)})

    # --- from outside ---

    def outside(self, function: str, arguments: list[Any], line: int) -> Any:
        """Call a function that was supplied."""
        try:
            result = self.externals[function](*map(plain, arguments))
        except Exception as error:
            raise ExternalError(
                f"state {self.number}: ext {function} in line {line} raised {type(error).__name__}: {error}",
                self.number,
            ) from error
        try:
            return lifted(result)
        except TypeError as error:
            raise self.unusable(f"ext {function} returned {result!r}: {error}", line) from None
