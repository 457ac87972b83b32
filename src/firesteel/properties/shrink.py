"""Shrinking in rounds: many simpler candidates of a failing case are run together, and a few rounds are enough.

A case is known by the choices that Hypothesis drew it with. A candidate is the same choices with some of them left out
or made simpler, drawn again by Hypothesis: so it keeps the shape of its generator. What is wrong with a case is mostly
in one place, so most changes elsewhere succeed, and what succeeded alone is put together in the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from firesteel.streams import Stream

Choices: TypeAlias = tuple[Any, ...]
Inputs: TypeAlias = Mapping[str, Stream]

ROUND = 200
"""How many candidates are run together."""
# Fewer choices than this that are not at their simplest are looked at one by one.
_FEW = 24
# The shortest stretch that is kept by itself is this part of a case.
_STRETCHES = 40


@dataclass(frozen=True)
class Candidate:
    """Choices, and the case that they draw."""

    choices: Choices
    inputs: Inputs

    @property
    def size(self) -> tuple[Any, ...]:
        """What makes one case simpler than another."""
        records = sum(len(batch) for stream in self.inputs.values() for batch in stream)
        return records, len(self.choices), sum(map(_weight, self.choices))


Draw: TypeAlias = Callable[[Sequence[Choices]], list[Candidate]]
Failing: TypeAlias = Callable[[Sequence[Candidate]], list[Candidate]]


def shrink(first: Candidate, draw: Draw, failing: Failing) -> Candidate:
    """The simplest case that was found to fail; `failing` may raise to end the search."""
    best = Search(first, draw, failing)
    while best.round():
        pass
    return best.found


class Search:
    """The search for a simpler case: state that lasts from round to round."""

    def __init__(self, first: Candidate, draw: Draw, failing: Failing) -> None:
        self.found = first
        self._draw, self._failing = draw, failing
        self._tried: set[Choices] = {first.choices}
        self._together: list[Choices] = []
        # Edits that made nothing simpler, with the choices they were made to: drawing is not free either.
        self._useless: set[tuple[Edit, Choices]] = set()

    def round(self) -> bool:
        """Try many candidates at once; is there more to try?"""
        choices = self.found.choices
        floor = self._floor()
        kept = dict(_kept(choices, floor))
        edits = {
            _changed(choices, [edit]): edit
            for edit in _edits(choices, floor)
            if (edit, choices[edit[0] : edit[1]]) not in self._useless
        }
        wanted = [choices for choices in (*self._together, *kept, *edits) if choices not in self._tried]
        fresh = list(islice(dict.fromkeys(wanted), ROUND))
        self._tried.update(fresh)
        if not fresh:
            return False
        drawn = self._draw(fresh)
        simpler = [candidate for candidate in drawn if candidate.size < self.found.size]
        self._learn(edits, drawn)
        found = sorted(self._failing(simpler), key=lambda candidate: candidate.size)
        # Those that Hypothesis drew as they were asked for: what it had to mend may have moved everything behind it.
        clean = [c for c in found if isinstance(c, Drawn) and c.choices == c.asked]
        # What succeeded alone, together: all of it, and the most promising halves, in case all is too much.
        stretch = next((candidate for candidate in clean if candidate.choices in kept), None)
        base = choices if stretch is None else stretch.choices
        worked = [edits[candidate.choices] for candidate in clean if candidate.choices in edits]
        if stretch is not None:  # what matters in it need not have mattered to them
            start, stop = kept[stretch.choices]
            worked = [edit for edit in worked if edit[1] <= start or edit[0] >= stop]
        self._together = []
        while len(worked) + (base is not choices) > 1 and worked:
            self._together.append(_changed(base, _apart(worked)))
            worked = worked[: len(worked) // 2]
        if found:
            # Where little is left that matters, the rest goes more easily.
            self.found = found[0] if stretch is None else stretch
            if _marks(self.found.choices) != _marks(choices):
                self._useless.clear()  # elsewhere the same edit is another
        return True

    def _floor(self) -> Choices:
        """The simplest choices that have the shape of those found; as far as that can be told."""
        choices = self.found.choices
        simplest = tuple(choice if isinstance(choice, bool) else _simplest(choice) for choice in choices)
        drawn = self._draw([simplest])
        # Where a value does not fit, Hypothesis takes the simplest that does.
        same_shape = drawn and _marks(drawn[0].choices) == _marks(choices) and len(drawn[0].choices) == len(choices)
        return drawn[0].choices if same_shape else simplest

    def _learn(self, edits: Mapping[Choices, Edit], drawn: Sequence[Candidate]) -> None:
        size, choices = self.found.size, self.found.choices
        for candidate in drawn:
            if isinstance(candidate, Drawn) and candidate.asked in edits and candidate.size >= size:
                edit = edits[candidate.asked]
                self._useless.add((edit, choices[edit[0] : edit[1]]))


@dataclass(frozen=True)
class Drawn(Candidate):
    """A candidate, and the choices that were asked for: Hypothesis mends those that do not fit."""

    asked: Choices = ()


Edit: TypeAlias = tuple[int, int, Choices]
"""From a place up to before another: what stands there instead."""


def _kept(choices: Choices, floor: Choices) -> Iterator[tuple[Choices, tuple[int, int]]]:
    """Everything at its simplest but for a stretch: what is wrong is mostly in one place. Also where that is."""
    if sum(a != b for a, b in zip(choices, floor, strict=True)) < _FEW:
        return
    marks = [0, *_marks(choices), len(choices)]
    length = len(marks) // 2
    while length >= max(1, len(marks) // _STRETCHES):
        for at in range(0, len(marks) - length, max(1, length // 2)):
            start, stop = marks[at], marks[at + length]
            yield (*floor[:start], *choices[start:stop], *floor[stop:]), (start, stop)
        length //= 2


def _edits(choices: Choices, floor: Choices) -> Iterator[Edit]:
    """Changes that may make a case simpler, the largest first."""
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


def _tails(choices: Choices) -> Iterator[tuple[int, int]]:
    """From an element of a list up to its end, which a false boolean marks."""
    begun: list[int] = []
    for place in _marks(choices):
        if choices[place]:
            begun.append(place)
        else:
            yield from ((start, place) for start in begun)
            begun = []


def _marks(choices: Choices) -> list[int]:
    return [place for place, choice in enumerate(choices) if isinstance(choice, bool)]


def _simplest(choice: Any) -> Any:
    """What Hypothesis takes for the simplest choice of this kind; where it does not fit, it takes what does."""
    return type(choice)()


def _simpler(choice: Any) -> Iterator[Any]:
    """Values between a choice and the simplest: less by 1, 2, 4, and so on, so that a few rounds find the least."""
    match choice:
        case bool():
            return
        case int():
            sign = 1 if choice > 0 else -1
            yield from (choice - sign * 2**power for power in reversed(range(abs(choice).bit_length())))
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
