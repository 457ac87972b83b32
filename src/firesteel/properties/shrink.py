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

    def round(self) -> bool:
        """Try many candidates at once; is there more to try?"""
        edits = {_changed(self.found.choices, [edit]): edit for edit in _edits(self.found.choices)}
        wanted = [choices for choices in (*self._together, *edits) if choices not in self._tried]
        fresh = list(islice(dict.fromkeys(wanted), ROUND))
        self._tried.update(fresh)
        if not fresh:
            return False
        drawn = [candidate for candidate in self._draw(fresh) if candidate.size < self.found.size]
        found = self._failing(drawn)
        self._together = []
        if found:
            # What succeeded alone, together: all of it, and the most promising halves, in case all is too much.
            ordered = sorted(found, key=lambda candidate: candidate.size)
            worked = [edits[c.asked] for c in ordered if isinstance(c, Drawn) and c.asked in edits]
            base = self.found.choices
            while len(worked) > 1:
                self._together.append(_changed(base, _apart(worked)))
                worked = worked[: len(worked) // 2]
            self.found = ordered[0]
        return True


@dataclass(frozen=True)
class Drawn(Candidate):
    """A candidate, and the choices that were asked for: Hypothesis mends those that do not fit."""

    asked: Choices = ()


Edit: TypeAlias = tuple[int, int, Choices]
"""From a place up to before another: what stands there instead."""


def _edits(choices: Choices) -> Iterator[Edit]:
    """Changes that may make a case simpler, the largest first."""
    size = len(choices)
    # Lists draw a boolean before every element: from one to another lie whole elements.
    marks = [place for place, choice in enumerate(choices) if isinstance(choice, bool)] + [size]
    length = max(size // 2, 1)
    while length:
        step = max(1, length * len(marks) // max(size, 1))
        yield from (
            (marks[at], marks[at + step], ())
            for at in range(0, len(marks) - step, step)
            if marks[at] < marks[at + step]
        )
        for start in range(0, size, length):
            part = choices[start : start + length]
            simple = tuple(map(_simplest, part))
            if simple != part:
                yield start, start + len(part), simple
        length //= 2
    for place, choice in enumerate(choices):
        yield from ((place, place + 1, (simpler,)) for simpler in _simpler(choice))


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
