"""Aiming: values that came close to trouble, or to what the user aims for, are changed a little, in generations.

Hypothesis's own targeted search needs the score of one example before it draws the next. A generation is drawn as a
whole, so its values can be judged together. A value is changed through its choices, as in shrinking.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from firesteel.hypothesis_internals import Choices

# How many of the best values for each label have children.
_PARENTS = 12
# How many of the last values lend what another is changed by.
_LAST = 256


class Aim:
    """The best values so far, by the label of what is aimed for, and how to come closer."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._best: dict[str, list[tuple[float, Choices]]] = {}
        self._least: dict[str, float] = {}
        self._last: deque[Choices] = deque(maxlen=_LAST)

    def __bool__(self) -> bool:
        """Is anything aimed for? A score that is the same for all values says nothing."""
        return bool(self._labels)

    @property
    def _labels(self) -> list[str]:
        return [label for label, best in self._best.items() if best[0][0] > self._least[label]]

    def see(self, choices: Choices, scores: Mapping[str, float]) -> None:
        """Take note of how close a value came."""
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
        while child:
            self._change(child, parents)
            if pick.random() < 0.5:
                break
        return tuple(child)

    def _change(self, child: list[object], parents: list[Choices]) -> None:
        pick = self._random
        other = pick.choice(parents) if pick.random() < 0.5 else pick.choice(self._last)
        mine, theirs = _lists(child), _lists(other)
        place = pick.randrange(min(len(mine), len(theirs)))
        here, there = mine[place], theirs[place]
        match pick.randrange(8):
            case 0 | 1:  # the rest of another, from the same list on: what each has found comes together
                child[here[0] :] = other[there[0] :]
            case 2:  # the same list of another
                child[here[0] : here[-1]] = other[there[0] : there[-1]]
            case 3 if len(child) == len(other):  # lists of a fixed length show no ends
                first = pick.randrange(len(child))
                until = first + pick.randint(1, len(child))
                child[first:until] = other[first:until]
            case 4 | 5 | 6 if len(there) > 2:  # some elements of that list, before mine or in their place
                some = pick.choice((1, 2, 4))
                first = pick.randrange(len(there) - 2)
                at = pick.randrange(len(here) - 1)
                until = at if pick.random() < 0.5 else min(at + some, len(here) - 2)
                child[here[at] : here[until]] = other[there[first] : there[min(first + some, len(there) - 2)]]
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


def _lists(choices: Sequence[object]) -> list[list[int]]:
    """Where the elements of each list begin, where the last one ends, and where the list does.

    An element follows a `True`, a list ends with a `False`. What comes after the last list is one more.

    >>> _lists((True, 7, True, 8, False, False, 9))
    [[0, 2, 4, 5], [5, 6], [6, 7]]
    >>> _lists((True, 7))
    [[0, 2, 2]]
    """
    found: list[list[int]] = [[]]
    for place, choice in enumerate(choices):
        if isinstance(choice, bool):
            found[-1].append(place)
            if not choice:
                found[-1].append(place + 1)
                found.append([])
    last = found[-1]
    begin = found[-2][-1] if len(found) > 1 else 0
    last += [len(choices), len(choices)] if last else [begin, len(choices)]
    return found
