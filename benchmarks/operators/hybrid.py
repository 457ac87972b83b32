"""The paper's way to make tests, for operators on Spark: its twelve techniques in turn.

Random draws any value, pool draws constants of the code, pairwise covers every two values of every two columns; each
also with mutation, which extends tests that had no output, and with reuse of tests that had some. The questions that
are asked of a test are ours. Lists begin with two records; keys are not made to meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from covertable import make

from firesteel.operators.onspark.feeds import Material
from firesteel.operators.onspark.making import Maker
from firesteel.operators.techniques import HYBRID, Technique

_START = datetime(2000, 1, 1, tzinfo=UTC)


class HybridMaker(Maker):
    """Makes materials by the twelve techniques in turn."""

    def __init__(self, operator: Any, sample: Any = None, seed: int = 0) -> None:
        super().__init__(operator, sample, seed)
        self._silent: list[Material] = []
        self._saved: list[Material] = []
        self._reused = self._turn = 0
        self._waiting: dict[str, list[tuple[Any, ...]]] = {}

    def see(self, material: Material, had_output: bool) -> None:
        kept = self._saved if had_output else self._silent
        if len(kept) < 200:
            kept.append(material)

    def round(self, number: int, count: int) -> list[Material]:
        rng = Random(f"hybrid {self._seed} {number}")
        length = rng.choice((2, 2, 3, 4))
        moments = list(self._moments(rng, 8))
        return [self._one(rng, length, moments) for _ in range(count)]

    def _moments(self, rng: Random, length: int) -> Iterator[datetime]:
        """Event times at random, and not by the durations in the code."""
        for _ in range(length):
            yield _START + timedelta(seconds=rng.choice((rng.randint(0, 120), rng.randint(0, 7200))))

    def _one(self, rng: Random, length: int, moments: list[datetime]) -> Material:
        technique = HYBRID[self._turn % len(HYBRID)]
        self._turn += 1
        if technique.reuse and self._reused < len(self._saved):
            self._reused += 1
            return self._timed(self._saved[self._reused - 1][:8], moments)
        if technique.mutation and self._silent and rng.random() < 0.5:
            material = self._silent.pop()
            return self._timed((*material, *(self._mutated(rng, step) for step in material[-2:]))[-8:], moments)
        steps = []
        for _ in range(length):
            fields = rng.choice(self._fields)
            steps.append((fields.port.name, self._drawn(rng, technique, fields)))
        return self._timed(tuple(steps), moments)

    def _drawn(self, rng: Random, technique: Technique, fields: Any) -> tuple[Any, ...]:
        if technique.source == "pairwise" and len(fields.domains) > 1:
            if not self._waiting.get(fields.port.name):
                choices = [each.choices(rng, self._pool) for each in fields.domains]
                rows = make([list(range(len(each))) for each in choices])
                made = [tuple(choices[at][place] for at, place in enumerate(row)) for row in rows]
                rng.shuffle(made)
                self._waiting[fields.port.name] = made
            return self._waiting[fields.port.name].pop()
        from_pool = technique.source != "random" and rng.random() < 0.85
        return tuple(each.pooled(rng, self._pool) if from_pool else each.random(rng) for each in fields.domains)

    def _mutated(self, rng: Random, step: Any) -> Any:
        fields = next(each for each in self._fields if each.port.name == step[0])
        return step[0], tuple(each.mutated(value, rng) for each, value in zip(fields.domains, step[1], strict=True))

    def _timed(self, material: Material, moments: list[datetime]) -> Material:
        """The same material at the round's event times: cases share a query where these agree."""
        made = []
        for (name, row), moment in zip(material, moments, strict=False):
            fields = next(each for each in self._fields if each.port.name == name)
            place = fields.port.time
            made.append((name, row if place is None else (*row[:place], moment, *row[place + 1 :])))
        return tuple(made)
