"""The values of the variables in one state, and what is assigned and kept in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from firesteel.model.msvl.errors import NoModel, Undefined, Unusable
from firesteel.model.msvl.functions import Misfit
from firesteel.model.msvl.parts import changed, overlap, part_of, written
from firesteel.model.msvl.scopes import Key
from firesteel.model.msvl.values import UNSET, plain, same

Path: TypeAlias = tuple[Any, ...]
Written: TypeAlias = tuple[Any, int]
"""A value, and the line that assigned it."""


class Store:
    """The values of one state."""

    def __init__(self, values: dict[Key, Any], constants: Iterable[Key]) -> None:
        self.values = values
        self.number = -1
        self.blanks: dict[Key, Any] = {}
        """What the program's arrays and structures are before they have values."""
        self.loose: set[Key] = set()
        """Variables that have a value and are not framed: they lose it in the next state."""
        self.constants = frozenset(constants)
        self.frames: tuple[frozenset[Any], ...] = ()
        self.framed: frozenset[Any] = self.constants
        self.framed_parts: dict[Key, list[Path]] = {}
        self.nothing_assigned()

    def nothing_assigned(self) -> None:
        """Nothing has happened in this state."""
        self.before: dict[Key, Any] = {}
        """The values before, of the variables that were assigned or lost."""
        self.whole: dict[Key, Written] = {}
        self.parts: dict[Key, dict[Path, Written]] = {}
        self.also: dict[Key, list[Any]] = {}
        """Values that variables keep unless they are assigned, beside the frames that were there before."""
        self.decided: set[Key] = set()
        """Variables that nothing more is to assign in this state."""
        self.noted: dict[Key, list[tuple[Path, Any]]] = {}
        """What was read of them."""
        self.projected: Mapping[Key, Any] | None = None
        """The values where a projection's parts met last, while its whole takes a step."""
        self.no_past = self.number <= 0

    # --- frames ---

    def restore(self, key: Key, value: Any) -> None:
        if value is UNSET:
            self.values.pop(key, None)
        else:
            self.values[key] = value

    def reframe(self, frames: tuple[frozenset[Any], ...]) -> None:
        self.frames = frames
        self.framed = self.constants.union(*frames)
        self.framed_parts = {}
        for each in self.framed:
            if type(each) is tuple:
                self.framed_parts.setdefault(each[0], []).append(each[1])
        self.loose = {key for key in self.values if key not in self.framed}

    def lose(self, key: Key) -> None:
        """What is not framed has no value any more."""
        old = self.values.get(key, UNSET)
        if old is UNSET:
            return
        kept = self.blanks.get(key, key.blank)
        for path in self.framed_parts.get(key, ()):
            kept = changed(kept, path, part_of(old, path))
        self.before[key] = old
        self.restore(key, kept)
        if kept is not UNSET:
            self.loose.add(key)

    def note(self, key: Key, path: Path, value: Any) -> None:
        """A part was read because nothing was to assign it."""
        if key in self.decided:
            self.noted.setdefault(key, []).append((path, value))

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

    def _agree_inside(self, key: Key, one: Path, first: Written, two: Path, second: Written) -> None:
        """Two parts of which one is inside the other may be assigned together, if they agree."""
        outer, inner = ((one, first), (two, second)) if len(one) < len(two) else ((two, second), (one, first))
        rest = inner[0][len(outer[0]) :]
        try:
            part = part_of(outer[1][0], rest)
        except Misfit:
            part = UNSET
        if not same(part, inner[1][0]):
            raise self._conflict(key, inner[0], inner[1], (part, outer[1][1]))

    def _write_part(self, key: Key, path: Path, value: Any, line: int) -> None:
        if key in self.whole:
            return self._agree(key, path, (value, line), *self.whole[key])
        parts = self.parts.setdefault(key, {})
        for other, assigned in parts.items():
            if other == path:
                if not same(assigned[0], value):
                    raise self._conflict(key, path, assigned, (value, line))
                return None
            if overlap(other, path):
                self._agree_inside(key, other, assigned, path, (value, line))
                if len(other) < len(path):
                    return None
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
        for path, value in self.noted.get(key, ()):
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
            self.settle(key)

    def keep_past(self, key: Key) -> None:
        """In this state the variable has the value that it had before, unless it is assigned."""
        if not self.no_past:
            past = self.values if self.projected is None else self.projected
            value = self.before[key] if self.projected is None and key in self.before else past.get(key, UNSET)
            if value is not UNSET:
                self.keep(key, value)

    def settle(self, key: Key) -> None:
        if key in self.whole:
            return
        kept = [self.values[key]] if key in self.framed and key in self.values else []
        kept += self.also[key]
        if key in self.parts:
            kept = [self._with_parts(key, value) for value in kept]
        for one, two in pairwise(kept):
            if not same(one, two):
                raise self.no_model(f"{key.label} keeps {plain(one)!r} by one frame and {plain(two)!r} by another")
        if kept:
            self.before.setdefault(key, self.values.get(key, UNSET))
            self.restore(key, kept[0])
            if key not in self.framed:
                self.loose.add(key)

    def _with_parts(self, key: Key, value: Any) -> Any:
        for path, (part, _) in self.parts[key].items():
            value = changed(value, path, part)
        return value

    # --- what goes wrong ---

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
