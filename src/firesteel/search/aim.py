"""Aiming: cases that came close to trouble, or to what the user's predicates aim for, changed a little, in generations.

Hypothesis's own targeted search needs the score of one example before it draws the next; a generation is drawn whole,
and can be run in bulk. What a case is changed by is its choices, as in shrinking.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from firesteel.search.shrink import Choices

# So many of the best cases for each label have children.
_PARENTS = 12
# So many of the last cases lend their values.
_LAST = 64


class Aim:
    """The best cases so far, by the label of what is aimed for, and how to come closer."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._best: dict[str, list[tuple[float, Choices]]] = {}
        self._least: dict[str, float] = {}
        self._last: deque[Choices] = deque(maxlen=_LAST)

    def __bool__(self) -> bool:
        """Is anything aimed for? What all cases score alike says nothing."""
        return bool(self._labels)

    @property
    def _labels(self) -> list[str]:
        return [label for label, best in self._best.items() if best[0][0] > self._least[label]]

    def see(self, choices: Choices, scores: Mapping[str, float]) -> None:
        """Take note of how close a case came."""
        self._last.append(choices)
        for label, score in scores.items():
            self._least[label] = min(score, self._least.get(label, score))
            best = self._best.setdefault(label, [])
            best.insert(0, (score, choices))
            best.sort(key=lambda entry: -entry[0])  # stable: of equal ones the last comes first, so that they go on
            del best[_PARENTS:]

    def generation(self, size: int) -> list[Choices]:
        """Choices that may score higher: children of the best, of every label in turn."""
        labels = cycle(self._labels)
        made: dict[Choices, None] = {}
        for label in islice(labels, 20 * size):
            if len(made) == size:
                break
            made[self._child([choices for _, choices in self._best[label]])] = None
        return list(made)

    def _child(self, parents: list[Choices]) -> Choices:
        pick = self._random
        child = list(pick.choice(parents))
        while True:
            self._change(child, parents)
            if pick.random() < 0.5:
                return tuple(child)

    def _change(self, child: list[object], parents: list[Choices]) -> None:
        if not child:
            return
        pick = self._random
        other = pick.choice(parents) if pick.random() < 0.75 else pick.choice(self._last)
        mine, theirs = _ends(child), _ends(other)
        part = pick.randrange(min(len(mine), len(theirs)))
        match pick.randrange(8):
            case 0 | 1 | 2:  # the rest of another, from the same list on: what each has found comes together
                child[mine[part] :] = other[theirs[part] :]
            case 3 | 4:  # elements of the same list of another: it gets longer
                marks = [*_marks(other), len(other)]
                starts = [at for at, mark in enumerate(marks[:-1]) if mark >= (theirs[part - 1] if part else 0)]
                if starts:
                    first = starts[0] + pick.randrange(min(len(starts), 4))
                    some = other[marks[first] : marks[min(first + pick.randint(1, 2), len(marks) - 1)]]
                    at = mine[part - 1] if part else 0
                    child[at:at] = some
            case _:
                at = pick.randrange(len(child))
                child[at] = self._changed(child[at])

    def _changed(self, choice: object) -> object:
        pick = self._random
        match choice:
            case bool():
                return True  # one more element: what ends a list has been tried enough
            case int() | float() if pick.random() < 0.5:
                step = pick.choice((-1, 1)) * pick.choice(
                    (1, 2, 4, 16, abs(choice) // 8, abs(choice) // 2, abs(choice))
                )
                return choice + step
            case _:  # what stands elsewhere is surely possible; a number that is not counts as the least
                lender = pick.choice(self._last)
                return pick.choice([other for other in lender if type(other) is type(choice)] or [choice])


def _ends(choices: Sequence[object]) -> list[int]:
    """Where lists end, which is where the next begins; and the end of it all."""
    return [*(place + 1 for place in _marks(choices) if not choices[place]), len(choices)]


def _marks(choices: Sequence[object]) -> list[int]:
    """Where the elements of lists begin."""
    return [place for place, choice in enumerate(choices) if isinstance(choice, bool)]
