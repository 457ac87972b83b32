"""Aiming: cases that came close to what the user's predicates aim for, changed a little, in generations.

Hypothesis's own targeted search needs the score of one example before it draws the next; a generation is drawn whole,
and can be run in bulk. What a case is changed by is its choices, as in shrinking.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import cycle, islice

from firesteel.properties.shrink import Choices

# So many of the best cases for each label have children.
_PARENTS = 2
# A child differs from its parent in this many places at the most.
_CHANGES = 6


class Aim:
    """The best cases so far, by the label of what is aimed for, and how to come closer."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._best: dict[str, list[tuple[float, Choices]]] = {}

    def __bool__(self) -> bool:
        """Is anything aimed for?"""
        return bool(self._best)

    def see(self, choices: Choices, scores: Mapping[str, float]) -> None:
        """Take note of how close a case came."""
        for label, score in scores.items():
            best = self._best.setdefault(label, [])
            best.append((score, choices))
            best.sort(key=lambda entry: -entry[0])  # stable: of equal ones the first stays first
            del best[_PARENTS:]

    def generation(self, size: int) -> list[Choices]:
        """Choices that may score higher: children of the best, of every label in turn."""
        labels = cycle(self._best)
        made: dict[Choices, None] = {}
        for label in islice(labels, 20 * size):
            if len(made) == size:
                break
            made[self._child([choices for _, choices in self._best[label]])] = None
        return list(made)

    def _child(self, parents: list[Choices]) -> Choices:
        # The best is taken half the time, the next half of what is left.
        place = next((place for place in range(len(parents)) if self._random.random() < 0.5), 0)
        child = list(parents[place])
        # A few changes, or many where there is much to change.
        most = max(_CHANGES, len(child) // 8)
        for _ in range(self._random.randint(1, most)):
            self._change(child, parents)
        return tuple(child)

    def _change(self, child: list[object], parents: list[Choices]) -> None:
        if not child:
            return
        pick = self._random
        at = pick.randrange(len(child))
        match pick.randrange(8):
            case 0:  # a stretch once more: lists get longer
                end = min(len(child), at + pick.randint(1, 8))
                child[end:end] = child[at:end]
            case 1:  # the rest of another
                child[at:] = pick.choice(parents)[at:]
            case _:
                child[at] = self._changed(child[at], child)

    def _changed(self, choice: object, among: list[object]) -> object:
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
                return pick.choice([other for other in among if type(other) is type(choice)])
