"""How tests are made: the paper's twelve techniques and their hybrid, and ours, as values.

Random draws any value; pool draws constants of the code; pairwise covers every two values of every two fields. Mutation
extends tests that had no output; reuse begins with tests of earlier properties that had some. Ours mixes all of it, and
keeps tests that reached new lines, to change them a little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any, Literal

from firesteel.operators import domains as d
from firesteel.operators.domains import Pool
from firesteel.operators.kinds import Family, Kind
from firesteel.operators.properties import About, Material

Source = Literal["random", "pool", "pairwise", "mixed"]


@dataclass(frozen=True)
class Technique:
    """One way to make tests.

    >>> Technique("pool", mutation=True)
    pool+mutation
    """

    source: Source
    mutation: bool = False
    reuse: bool = False
    branches: bool = False

    def __repr__(self) -> str:
        said = [name for name in ("mutation", "reuse", "branches") if getattr(self, name)]
        return "+".join([self.source, *said])


_SOURCES: tuple[Source, ...] = ("random", "pool", "pairwise")
TWELVE: tuple[Technique, ...] = tuple(
    Technique(source, mutation, reuse) for reuse, mutation, source in product((False, True), (False, True), _SOURCES)
)
"""The paper's techniques, in the order of its Table II."""
OURS = (Technique("mixed", mutation=True, reuse=True, branches=True),)
"""What `fs.analyze` uses."""
HYBRID = TWELVE
"""All twelve in turn, under one limit."""


@dataclass
class Maker:
    """Makes the tests of one property by some techniques, in turn, and learns from what came of them."""

    about: About
    name: str
    techniques: tuple[Technique, ...]
    pool: Pool
    rng: Random
    saved: list[Material] = field(default_factory=list)
    _silent: list[Material] = field(default_factory=list)
    _corpus: list[Material] = field(default_factory=list)
    _lines: set[Any] = field(default_factory=set)
    _waiting: dict[int, list[Any]] = field(default_factory=dict)
    _reused: int = 0
    _turn: int = 0

    @property
    def traced(self) -> bool:
        """Is it worth knowing which lines a test reaches?"""
        return any(technique.branches for technique in self.techniques)

    def some(self, count: int) -> list[Material]:
        """So many tests."""
        return [self._one() for _ in range(count)]

    def see(self, material: Material, had_output: bool, lines: Iterable[Any]) -> None:
        """What came of a test."""
        if not had_output and len(self._silent) < 50:
            self._silent.append(material)
        new = set(lines) - self._lines
        if new:
            self._lines |= new
            self._corpus.append(material)
        if had_output and len(self.saved) < 200 and self.name != "deterministic":
            self.saved.append(material)

    def _one(self) -> Material:
        technique = self.techniques[self._turn % len(self.techniques)]
        self._turn += 1
        if technique.reuse and self._reused < len(self.saved) and self.name != "deterministic":
            self._reused += 1
            return self._fitted(self.saved[self._reused - 1])
        if technique.mutation and self._silent and self.rng.random() < 0.5:
            return self._fitted(self._extended(self._silent.pop()))
        if technique.branches and self._corpus and self.rng.random() < 0.5:
            # What reached new lines last is the deepest.
            some = self._corpus[-3:] if self.rng.random() < 0.7 else self._corpus
            return self._fitted(self._changed(self.rng.choice(some)))
        return self._fitted(self._material(technique))

    def _extended(self, material: Material) -> Material:
        """The same test with changed copies of its records at the end."""
        if self.about.operator.kind.family is Family.GROUPS:
            return self._changed(material)
        more = [self._domain(0).mutated(each, self.rng) for each in material[-2:]]
        return (*material, *more)

    def _changed(self, material: Material) -> Material:
        """The same test with one record changed, repeated, or taken from another that reached new lines."""
        at = self.rng.randrange(len(material))
        if self.about.operator.kind.family is Family.GROUPS:
            group = tuple(
                tuple(self._domain(port).mutated(row, self.rng) if self.rng.random() < 0.5 else row for row in rows)
                for port, rows in enumerate(material[at])
            )
            return (*material[:at], self._same_key(group), *material[at + 1 :])
        how = self.rng.random()
        other = self.rng.choice(self._corpus) if self._corpus else material
        record = self.rng.choice(other)
        if how < 0.3:
            record = self._domain(0).mutated(material[at], self.rng)
        elif how < 0.6:
            record = self._redrawn(material[at])
        if how < 0.8:
            return (*material[:at], record, *material[at + 1 :])
        return (*material[:at], record, *material[at:])

    def _redrawn(self, record: Any) -> Any:
        """The same record with another value, of the pool, in one of its fields."""
        domain = self._domain(0)
        if not isinstance(domain, d.Rows):
            return domain.pooled(self.rng, self.pool)
        place = self.rng.randrange(len(domain.fields))
        return domain.with_field(record, place, domain.fields[place].pooled(self.rng, self.pool))

    # --- making ---

    def _domain(self, port: int) -> Any:
        return self.about.inputs.ports[port]

    def _material(self, technique: Technique) -> Material:
        source = technique.source
        if source == "mixed":
            source = self.rng.choices(("random", "pool", "pairwise"), (35, 50, 15))[0]
        if self.about.operator.kind.family is Family.GROUPS:
            return tuple(self._group(source) for _ in range(self.rng.choice((1, 2, 2, 3))))
        size = self._size(technique)
        records = [self._record(source, 0) for _ in range(size)]
        if technique.source == "mixed" and size <= 8 and self.rng.random() < 0.25:
            # Records that are almost the same: of one key, with another value.
            records = [records[0], *(self._domain(0).mutated(records[0], self.rng) for _ in records[1:])]
        if size > 8:  # long ones of few values: a buffer is filled either way
            few = records[:3]
            records = [self.rng.choice(few) for _ in range(size)]
        return tuple(records)

    def _size(self, technique: Technique) -> int:
        lengths = self.pool.lengths if technique.source != "random" else ()
        likely = 0.12 if self.about.operator.kind.family in (Family.CALLS, Family.COLUMNS) else 0.05
        if lengths and self.rng.random() < likely:
            length = self.rng.choice(lengths)
            if 2 < length <= 150 or self.rng.random() < 0.2:
                return max(2, length + self.rng.randint(0, 2))
        return self.rng.choice((2, 2, 3, 3, 4, 6))

    def _record(self, source: str, port: int) -> Any:
        domain = self._domain(port)
        if source == "random":
            return domain.random(self.rng)
        if source == "pool":
            return domain.pooled(self.rng, self.pool) if self.rng.random() < 0.85 else domain.random(self.rng)
        return self._pairwise(domain, port)

    def _pairwise(self, domain: Any, port: int) -> Any:
        if not isinstance(domain, d.Rows) or len(domain.fields) < 2:
            return domain.pooled(self.rng, self.pool)
        if not self._waiting.get(port):
            from covertable import make  # type: ignore[import-untyped]

            choices = [each.choices(self.rng, self.pool) for each in domain.fields]
            numbered = [list(range(len(each))) for each in choices]
            rows = [[choices[at][number] for at, number in enumerate(row)] for row in make(numbered)]
            self.rng.shuffle(rows)
            self._waiting[port] = rows
        return domain.of_items(self._waiting[port].pop())

    def _group(self, source: str) -> tuple[Any, ...]:
        sizes = [self.rng.choice((0, 1, 2, 3, 5)) for _ in self.about.inputs.ports]
        if not any(sizes) or (len(sizes) == 1):
            sizes[0] = max(1, sizes[0])
        group = tuple(tuple(self._record(source, port) for _ in range(size)) for port, size in enumerate(sizes))
        return self._same_key(group)

    def _same_key(self, group: tuple[Any, ...]) -> tuple[Any, ...]:
        """The rows of a group have one key."""
        names = self.about.inputs.names
        places = [names.index(str(each)) for each in self.about.operator.key if str(each) in names]
        first = next((rows[0] for rows in group if rows), None)
        if first is None:
            return group
        fixed = []
        for rows in group:
            fixed.append(
                tuple(tuple(first[at] if at in places else value for at, value in enumerate(row)) for row in rows)
            )
        return tuple(fixed)

    # --- fitting to the property ---

    def _fitted(self, material: Material) -> Material:
        """What makes a test of this property more telling: repeated records, few keys, enough values."""
        kind = self.about.operator.kind
        if kind.family is Family.GROUPS:
            return self._with_other_key(material) if self.name == "partition_isolated" else material
        if self.name == "partition_isolated" and self.about.operator.key:
            return self._few_keys(material)
        if kind.family is Family.FOLDS:
            return material if kind is Kind.REDUCER else tuple(material[:8])
        if self.name in ("stateless", "commutative", "one_to_one") and len(material) < 9 and self.rng.random() < 0.3:
            at = self.rng.randrange(len(material))
            return (*material[:at], material[-1], *material[at:])
        return material

    def _few_keys(self, material: Material) -> Material:
        """The same records with two keys among them, the last one's and another."""
        domain, nested = self._domain(0), False
        if isinstance(domain, d.Rows) and len(domain.fields) == 1 and isinstance(domain.fields[0], d.Rows):
            domain, nested = domain.fields[0], True  # one record is the only argument
        place = self._key_place(domain)
        if place is None:
            return material

        def keyed(record: Any, key: Any) -> Any:
            changed = domain.with_field(record[0] if nested else record, place, key)
            return (changed,) if nested else changed

        first = material[0][0] if nested else material[0]
        keys = [domain.field_of(first, place), domain.fields[place].random(self.rng)]
        fixed = [keyed(record, self.rng.choice(keys)) for record in material]
        fixed[-1] = keyed(material[-1], keys[0])
        return (keyed(self.rng.choice(material), keys[1]), *fixed)

    def _key_place(self, domain: Any) -> int | None:
        if not isinstance(domain, d.Rows):
            return None
        key = self.about.operator.key[0]
        if isinstance(key, int):
            return key
        names = domain.names or self.about.inputs.names
        return names.index(key) if key in names else None

    def _with_other_key(self, material: Material) -> Material:
        if len(material) > 1:
            return material
        return (self._group("random"), *material)


def all_materials(about: About, property: str) -> Iterator[Material] | None:
    """Every test of a property, where the domain is finite and the property is about so many values at most."""
    domain = about.inputs.record
    values = domain.all_values()
    kind = about.operator.kind
    sizes = {(Kind.REDUCER, "commutative"): 2, (Kind.REDUCER, "associative"): 3, (Kind.REDUCER, "idempotent"): 1}
    sizes |= {(Kind.FUNCTION, each): 1 for each in ("one_to_one", "idempotent", "total")}
    size = sizes.get((kind, property))
    if values is None or size is None or len(values) ** size > 400:
        return None
    return product(values, repeat=size)
