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

from firesteel.model.msvl.errors import ExternalError, NoModel, Undefined, Unusable
from firesteel.model.msvl.functions import Misfit
from firesteel.model.msvl.parts import changed, overlap, part_of, written
from firesteel.model.msvl.scopes import Activation, Key, Name
from firesteel.model.msvl.values import UNSET, lifted, plain, same

T = TypeVar("T")
Path = tuple[Any, ...]
Written = tuple[Any, int]
"""A value, and the line that assigned it."""
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


class Machine:
    """One run, at one state."""

    def __init__(self, values: dict[Key, Any], constants: Iterable[Key], externals: Mapping[str, Any]) -> None:
        self.values = values
        self.blanks: dict[Key, Any] = {}
        """What the program's arrays and structures are before they have values."""
        self.number = -1
        self.serial = 0
        """How many functions with variables of their own were called."""
        self.externals = externals
        self.coming: Coming = []
        self.loose: set[Key] = set()
        """Variables that have a value and are not framed: they lose it in the next state."""
        self.constants = frozenset(constants)
        self.frames: tuple[frozenset[Any], ...] = ()
        self.framed: frozenset[Any] = self.constants
        self.framed_parts: dict[Key, list[Path]] = {}
        self.script: tuple[int, ...] = ()
        """The choices that are to be made in this state; the first way is taken where it says nothing."""
        self._fresh()

    def _fresh(self) -> None:
        """Nothing has happened in this state."""
        self.before: dict[Key, Any] = {}
        """The values before, of the variables that were assigned or lost."""
        self.whole: dict[Key, Written] = {}
        self.parts: dict[Key, dict[Path, Written]] = {}
        self.also: dict[Key, list[Any]] = {}
        """Values that variables keep unless they are assigned, beside the frames that were there before."""
        self.choices: list[tuple[int, int]] = []
        """The choices that were made: which way, of how many."""
        self.waited: set[int] = set()
        """Which of them were about a variable that keeps its value, as statements waited for each other."""
        self.slow = False
        self.immediate: set[Key] = set()
        self.decided: set[Key] = set()
        self.noted: dict[Key, list[tuple[Path, Any, int]]] = {}
        self.memo: dict[tuple[Path, int], Any] = {}
        self.path: Path = ()
        self.count = 0
        self.depth = 0
        self.projected: Mapping[Key, Any] | None = None
        """The values where a projection's parts met last, while its whole takes a step."""
        self.no_past = self.number <= 0
        self.at_end: list[Callable[[dict[Key, Any]], None]] = []

    # --- a state ---

    def state(self, residual: Residual, script: tuple[int, ...]) -> tuple[bool, Residual | None]:
        """Make the next state."""
        self.number += 1
        self.script = script
        coming, loose, frames = self.coming, self.loose, self.frames
        self._begin(residual, coming)
        try:
            found = residual.step(self) if not self.slow else self._settled(residual)
        except Blocked:  # somebody has to wait, though that was not to be seen before
            for key, value in self.before.items():
                self._restore(key, value)
            self.loose, self.frames = loose, frames
            self._begin(residual, coming)
            self.slow = True
            found = self._settled(residual)
        if self.also:
            for key in self.also:
                self._keep(key)
        for each in self.at_end:
            each(self.values)
        return found

    def _restore(self, key: Key, value: Any) -> None:
        if value is UNSET:
            self.values.pop(key, None)
        else:
            self.values[key] = value

    def _begin(self, residual: Residual, coming: Coming) -> None:
        self._fresh()
        values = self.values
        if residual.frames != self.frames:
            self._reframe(residual.frames)
        lost, self.loose = self.loose, set()
        for key in lost:
            self._lose(key, values)
        self.coming = []
        if residual.first:
            self.immediate = set(residual.first)
            self.slow = True
        for key, path, value, line in coming:
            self.write(key, path, value, line)

    def _reframe(self, frames: tuple[frozenset[Any], ...]) -> None:
        self.frames = frames
        self.framed = self.constants.union(*frames)
        self.framed_parts = {}
        for each in self.framed:
            if type(each) is tuple:
                self.framed_parts.setdefault(each[0], []).append(each[1])
        self.loose = {key for key in self.values if key not in self.framed}

    def _lose(self, key: Key, values: dict[Key, Any]) -> None:
        """What is not framed has no value any more."""
        old = values.get(key, UNSET)
        if old is UNSET:
            return
        kept = self.blanks.get(key, key.blank)
        for path in self.framed_parts.get(key, ()):
            kept = changed(kept, path, part_of(old, path))
        self.before[key] = old
        self._restore(key, kept)
        if kept is not UNSET:
            self.loose.add(key)

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
                    self._keep(chosen)

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

    def note(self, key: Key, path: Path, value: Any) -> None:
        """A part was read because nothing was to assign it."""
        if key in self.decided:
            self.noted.setdefault(key, []).append((path, value, 0))

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

    # --- writing ---

    def write(self, key: Key, path: Path, value: Any, line: int) -> None:
        """Assign in this state."""
        if path:
            return self._write_part(key, path, value, line)
        known = self.whole.get(key)
        if known is not None:
            if known[0] is not value and not same(known[0], value):
                raise self._conflict(key, (), known, (value, line))
            return None
        if key in self.parts:
            for inner, assigned in self.parts[key].items():
                self._agree(key, inner, assigned, value, line)
        self.whole[key] = (value, line)
        if key not in self.before:
            self.before[key] = self.values.get(key, UNSET)
        self.values[key] = value
        if key not in self.framed:
            self.loose.add(key)
        if key in self.decided:
            self._recheck(key, line)
        return None

    def _agree(self, key: Key, path: Path, assigned: Written, whole: Any, line: int) -> None:
        """A part and the whole may be assigned together, if they agree."""
        try:
            part = part_of(whole, path)
        except Misfit:
            part = UNSET
        if not same(part, assigned[0]):
            raise self._conflict(key, path, assigned, (part, line))

    def _write_part(self, key: Key, path: Path, value: Any, line: int) -> None:
        if key in self.whole:
            return self._agree(key, path, (value, line), *self.whole[key])
        parts = self.parts.setdefault(key, {})
        for other, assigned in parts.items():
            if other == path and same(assigned[0], value):
                return None
            if overlap(other, path):
                if len(other) <= len(path):
                    return self._agree(key, path, (value, line), changed(self.values[key], other, assigned[0]), line)
                self._agree(key, other, assigned, changed(self.values[key], path, value), line)
        whole = self.values.get(key, self.blanks.get(key, key.blank))
        if whole is UNSET:
            raise self.undefined(key, line)
        try:
            new = changed(whole, path, value)
        except Misfit as misfit:
            raise self.unusable(str(misfit), line) from None
        parts[path] = (value, line)
        if key not in self.before:
            self.before[key] = self.values.get(key, UNSET)
        self.values[key] = new
        if key not in self.framed:
            self.loose.add(key)
        if key in self.decided:
            self._recheck(key, line)
        return None

    def _recheck(self, key: Key, line: int) -> None:
        """What was read because nothing was to assign it still has to be so."""
        for path, value, _ in self.noted.get(key, ()):
            if not same(part_of(self.values[key], path), value):
                raise self.no_model(
                    f"{key.label}{written(path)} was read as {plain(value)!r}, as it is not assigned otherwise, and "
                    f"line {line} then assigns {plain(part_of(self.values[key], path))!r}"
                )

    def declare(self, key: Key) -> None:
        """An array or a structure without values."""
        if key.blank is not UNSET and key not in self.values:
            self.before.setdefault(key, UNSET)
            self.values[key] = key.blank
            if key not in self.framed:
                self.loose.add(key)

    def keep(self, key: Key, value: Any) -> None:
        """In this state the variable has this value, unless it is assigned."""
        self.also.setdefault(key, []).append(value)
        if key in self.decided:
            self._keep(key)

    def keep_past(self, key: Key) -> None:
        """In this state the variable has the value that it had before, unless it is assigned."""
        if not self.no_past:
            past = self.values if self.projected is None else self.projected
            value = self.before[key] if self.projected is None and key in self.before else past.get(key, UNSET)
            if value is not UNSET:
                self.keep(key, value)

    def _keep(self, key: Key) -> None:
        if key in self.whole:
            return
        kept = [self.values[key]] if key in self.framed and key in self.values else []
        kept += self.also[key]
        if key in self.parts:
            kept = [self._with_parts(key, value) for value in kept]
        for one, two in zip(kept, kept[1:], strict=False):
            if not same(one, two):
                raise self.no_model(f"{key.label} keeps {plain(one)!r} by one frame and {plain(two)!r} by another")
        if kept:
            self.before.setdefault(key, self.values.get(key, UNSET))
            self._restore(key, kept[0])
            if key not in self.framed:
                self.loose.add(key)

    def _with_parts(self, key: Key, value: Any) -> Any:
        for path, (part, _) in self.parts[key].items():
            value = changed(value, path, part)
        return value

    # --- from outside, and what goes wrong ---

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

    def undefined(self, what: Key | str, line: int) -> Undefined:
        label = what.label if isinstance(what, Key) else what
        name = what.label.rpartition(".")[2] if isinstance(what, Key) else "..."
        return Undefined(
            f"state {self.number}: {label} is read in line {line} and has no value: it is neither assigned in this "
            f"state nor framed. Write frame({name}) and (...)",
            self.number,
        )

    def unusable(self, complaint: str, line: int) -> Unusable:
        return Unusable(f"state {self.number}, line {line}: {complaint}", self.number)

    def no_model(self, why: str) -> NoModel:
        return NoModel(f"no model, state {self.number}: {why}", self.number)

    def _conflict(self, key: Key, path: Path, one: Written, two: Written) -> NoModel:
        return self.no_model(
            f"{key.label}{written(path)} is assigned {plain(one[0])!r} in line {one[1]} and {plain(two[0])!r} in "
            f"line {two[1]}"
        )
