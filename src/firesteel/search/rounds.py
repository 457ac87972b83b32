"""Shrinking in rounds: many simpler candidates of a failing value are judged together, and a few rounds are enough.

A value is known by the choices that Hypothesis drew it with. A candidate is the same choices with some of them left out
or made simpler, drawn again by Hypothesis: so it keeps the shape of its generator. What is wrong with a value is mostly
in one place, so most changes elsewhere succeed, and what succeeded alone is put together in the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar

from firesteel.hypothesis_internals import Choices

T = TypeVar("T")

ROUND = 200
"""How many candidates are judged together."""
# With fewer choices than this that are not at their simplest, they are looked at one by one.
_FEW = 24
# With at most this many, all ones, twos and threes are tried: that makes 175 candidates.
_FEW_KEPT = 10
# With at most this many marks of lists, everything from one to another is left out: that makes 182 candidates.
_FEW_MARKS = 14
# A value is cut into this many parts to find the one that matters.
_PARTS = (2, 6, 24)


@dataclass(frozen=True)
class Candidate(Generic[T]):
    """Choices, and the value that they draw."""

    choices: Choices
    value: T
    extent: tuple[int, ...] = ()
    """How large the value is, by the measure of the search."""
    asked: Choices | None = None
    """The choices that were asked for: Hypothesis mends those that do not fit."""

    @cached_property
    def size(self) -> tuple[Any, ...]:
        """What makes one value simpler than another."""
        return self.extent, len(self.choices), sum(map(_weight, self.choices))


class Rounds(Generic[T]):
    """The search for a simpler value: state that lasts from round to round."""

    def __init__(
        self,
        first: Candidate[T],
        draw: Callable[[Sequence[Choices]], list[Candidate[T]]],
        failing: Callable[[Sequence[Candidate[T]]], list[Candidate[T]]],
    ) -> None:
        self.found = first
        self._draw, self._failing = draw, failing
        self._tried: set[Choices] = {first.choices}
        self._together: list[Choices] = []
        # What is tried first, and once: it may be all there is to do.
        self._first = [_isolated, _kept, _few_kept]
        # Edits that made nothing simpler, with the choices they were made to: drawing is not free either.
        self._useless: set[tuple[Edit, Choices]] = set()

    def round(self, size: int = ROUND) -> bool:
        """Try up to `size` candidates at once; is there more to try?"""
        while self._first:
            stage = self._first[0]
            wanted = self._untried(stage(self.found.choices, self._floor()))
            if self._found_among(wanted[:size]):
                self._first = [] if stage is _few_kept else [_few_kept]
                return True
            if len(wanted) > size:
                return True
            self._first.pop(0)
        choices = self.found.choices
        edits = {
            _changed(choices, [edit]): edit
            for edit in _edits(choices, self._floor())
            if (edit, choices[edit[0] : edit[1]]) not in self._useless
        }
        wanted = self._untried((*self._together, *edits))
        if not wanted:
            return False
        found = self._found_among(wanted[:size], edits)
        # What succeeded alone, together: all of it, and the most promising halves, in case all is too much. Only what
        # Hypothesis drew as it was asked for: what it had to mend may have moved everything behind it.
        worked = [edits[each.choices] for each in found if each.asked == each.choices and each.choices in edits]
        self._together = []
        while len(worked) > 1:
            self._together.append(_changed(choices, _apart(worked)))
            worked = worked[: len(worked) // 2]
        return True

    def _untried(self, wanted: Iterable[Choices]) -> list[Choices]:
        return [choices for choices in dict.fromkeys(wanted) if choices not in self._tried]

    def _found_among(
        self, wanted: Sequence[Choices], edits: Mapping[Choices, Edit] = MappingProxyType({})
    ) -> list[Candidate[T]]:
        """Judges candidates; gives those that fail, the simplest first, and goes on with that one."""
        before = self.found
        self._tried.update(wanted)
        drawn = self._draw(wanted) if wanted else []
        for candidate in drawn:
            edit = edits.get(candidate.asked) if candidate.asked is not None else None
            if edit is not None and candidate.size >= before.size:
                self._useless.add((edit, before.choices[edit[0] : edit[1]]))
        simpler = [candidate for candidate in drawn if candidate.size < before.size]
        found = sorted(self._failing(simpler), key=lambda candidate: candidate.size) if simpler else []
        if found:
            self.found = found[0]
            if _marks(self.found.choices) != _marks(before.choices):
                self._useless.clear()  # elsewhere the same edit is another
        return found

    def _floor(self) -> Choices:
        """The simplest choices that have the shape of those found; as far as that can be told."""
        choices = self.found.choices
        simplest = tuple(choice if isinstance(choice, bool) else _simplest(choice) for choice in choices)
        drawn = self._draw([simplest])
        # Where a value does not fit, Hypothesis takes the simplest that does.
        same_shape = drawn and _marks(drawn[0].choices) == _marks(choices) and len(drawn[0].choices) == len(choices)
        return drawn[0].choices if same_shape else simplest


Edit: TypeAlias = tuple[int, int, Choices]
"""Start, stop, replacement: `choices[start:stop]` is replaced."""


def _isolated(choices: Choices, floor: Choices) -> Iterator[Choices]:
    """Everything outside one stretch is made simplest, its lists as short as the shortest: trouble is in one place."""
    lists = list(_lists(choices))
    least = min((len(starts) for starts, _ in lists), default=0)
    cuts = [(starts[least], end) for starts, end in lists if len(starts) > least]
    for start, stop in _stretches(choices, floor):
        made = (*floor[:start], *choices[start:stop], *floor[stop:])
        yield _changed(made, [(a, b, ()) for a, b in cuts if b <= start or a >= stop])


def _kept(choices: Choices, floor: Choices) -> Iterator[Choices]:
    """The same with lists as long as they are."""
    for start, stop in _stretches(choices, floor):
        yield (*floor[:start], *choices[start:stop], *floor[stop:])


def _few_kept(choices: Choices, floor: Choices) -> Iterator[Choices]:
    """All at its simplest but for one, two or three choices, where few are left that are not."""
    places = [place for place, (a, b) in enumerate(zip(choices, floor, strict=True)) if a != b]
    if len(places) > _FEW_KEPT:
        return
    for count in range(1, min(4, len(places))):
        for kept in combinations(places, count):
            made = list(floor)
            for place in kept:
                made[place] = choices[place]
            yield tuple(made)


def _stretches(choices: Choices, floor: Choices) -> Iterator[tuple[int, int]]:
    """Parts of a value, overlapping, of several lengths; none where little is left to make simpler."""
    if sum(a != b for a, b in zip(choices, floor, strict=True)) < _FEW:
        return
    marks = _marks(choices)
    if len(marks) < _PARTS[-1]:  # no lists, or few: anywhere will do
        marks = list(range(0, len(choices), max(1, len(choices) // _PARTS[-1])))
    borders = sorted({0, *marks, len(choices)})
    for parts in _PARTS:
        length = max(1, len(borders) // parts)
        for at in range(0, len(borders) - length, max(1, length // 2)):
            yield borders[at], borders[at + length]


def _edits(choices: Choices, floor: Choices) -> Iterator[Edit]:
    """Changes that may make a value simpler, the largest first."""
    size = len(choices)
    # Lists draw a boolean before every element: from one to another lie whole elements.
    marks = [*_marks(choices), size]
    yield from ((start, stop, ()) for start, stop in _tails(choices))
    length = max(size // 2, 1)
    while length:
        step = max(1, length * len(marks) // max(size, 1))
        yield from (
            (marks[at], marks[at + step], ())
            for at in range(0, len(marks) - step, step)
            if marks[at] < marks[at + step]
        )
        for start in range(0, size, length):
            part, simple = choices[start : start + length], floor[start : start + length]
            if simple != part:
                yield start, start + len(part), simple
        length //= 2
    for place, choice in enumerate(choices):
        if choice != floor[place]:
            yield from ((place, place + 1, (simpler,)) for simpler in _simpler(choice))
    if len(marks) <= _FEW_MARKS:
        # A list of different elements draws an element anew where it has it already: what is to go lies across them.
        for start, stop in combinations(marks, 2):
            yield start, stop, ()
            if start + 1 < min(stop + 1, size):
                yield start + 1, min(stop + 1, size), ()


def _tails(choices: Choices) -> Iterator[tuple[int, int]]:
    """From an element of a list up to its end."""
    yield from ((start, end) for starts, end in _lists(choices) for start in starts)


def _lists(choices: Choices) -> Iterator[tuple[list[int], int]]:
    """Where the elements of every list begin, and where it ends: a false boolean marks that."""
    begun: list[int] = []
    for place in _marks(choices):
        if choices[place]:
            begun.append(place)
        else:
            yield begun, place
            begun = []


def _marks(choices: Choices) -> list[int]:
    return [place for place, choice in enumerate(choices) if isinstance(choice, bool)]


def _simplest(choice: Any) -> Any:
    """What Hypothesis takes for the simplest choice of this kind; where it does not fit, it takes what does."""
    return type(choice)()


def _simpler(choice: Any) -> Iterator[Any]:
    """Values between a choice and the simplest: half, and less by 1, 2, 4, and so on; a few rounds find the least."""
    match choice:
        case bool():
            return
        case int():
            sign = 1 if choice > 0 else -1
            yield from (choice - sign * 2**power for power in reversed(range(abs(choice).bit_length())))
            yield sign * (abs(choice) // 2)
        case float() if choice == choice and abs(choice) < 1e15:
            whole = [float(value) for value in (int(choice), *_simpler(int(choice)))]
            yield from (value for value in (*whole, round(choice, 1), choice / 2) if value != choice)


def _weight(choice: Any) -> float:
    """How far a choice is from the simplest."""
    match choice:
        case bool() | int():
            return min(abs(choice), 1e300)
        case float():
            return abs(choice) + 0.5 * (choice != int(choice)) if abs(choice) < 1e15 else 1e300
        case str():
            return float(sum(map(ord, choice)) + len(choice))
        case bytes():
            return float(sum(choice) + len(choice))
        case _:
            return 0.0


def _apart(edits: Iterable[Edit]) -> list[Edit]:
    """Those that do not overlap with one before them."""
    chosen: list[Edit] = []
    for edit in edits:
        if all(edit[1] <= other[0] or other[1] <= edit[0] for other in chosen):
            chosen.append(edit)
    return chosen


def _changed(choices: Choices, edits: Iterable[Edit]) -> Choices:
    made, place = [], 0
    for start, stop, instead in sorted(edits, key=lambda edit: edit[:2]):
        made += [*choices[place:start], *instead]
        place = stop
    return (*made, *choices[place:])
