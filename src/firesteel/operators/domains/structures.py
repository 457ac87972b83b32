"""Domains of given values, and of values that hold others: lists, dictionaries, rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from firesteel.operators.domains.base import Domain, Pool


@dataclass(frozen=True)
class Few(Domain):
    """A few values, all of them known: booleans, an enumeration, a `Literal`."""

    values: tuple[Any, ...]
    name: str = "choice"

    def random(self, rng: Random) -> Any:
        return rng.choice(self.values)

    def simpler(self, value: Any) -> Iterator[Any]:
        for each in self.values:
            if each is value or each == value:
                return
            yield each

    def all_values(self) -> tuple[Any, ...]:
        return self.values


@dataclass(frozen=True)
class Samples(Domain):
    """Values that were given, by a strategy or as a sample. Nothing else is made of them."""

    values: tuple[Any, ...]
    name: str = "sample"

    def random(self, rng: Random) -> Any:
        return rng.choice(self.values)

    def simpler(self, value: Any) -> Iterator[Any]:
        for each in self.values[:40]:
            if each is value:
                return
            yield each


@dataclass(frozen=True)
class Maybe(Domain):
    """Values or None, one in ten."""

    inner: Domain

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.inner.name} or None"

    def random(self, rng: Random) -> Any:
        return None if rng.random() < 0.1 else self.inner.random(rng)

    def pooled(self, rng: Random, pool: Pool) -> Any:
        return None if rng.random() < 0.1 else self.inner.pooled(rng, pool)

    def mutated(self, value: Any, rng: Random) -> Any:
        return self.inner.random(rng) if value is None else self.inner.mutated(value, rng)

    def simpler(self, value: Any) -> Iterator[Any]:
        return iter(()) if value is None else self.inner.simpler(value)

    def leaves(self, value: Any) -> Iterator[tuple[Domain, Any]]:
        return iter(()) if value is None else self.inner.leaves(value)

    def replaced(self, value: Any, old: Any, new: Any) -> Any:
        return None if value is None else self.inner.replaced(value, old, new)

    def all_values(self) -> tuple[Any, ...] | None:
        inner = self.inner.all_values()
        return None if inner is None else (*inner, None)


@dataclass(frozen=True)
class Lists(Domain):
    """Lists, or sets and the like, of values."""

    inner: Domain
    make: Any = list
    name = "list"

    def random(self, rng: Random) -> Any:
        return self.make([self.inner.random(rng) for _ in range(rng.choice((0, 1, 2, 2, 3, 5)))])

    def pooled(self, rng: Random, pool: Pool) -> Any:
        lengths = pool.lengths
        length = rng.choice(lengths) if lengths and rng.random() < 0.3 else rng.choice((0, 1, 2, 3))
        return self.make([self.inner.pooled(rng, pool) for _ in range(length)])

    def mutated(self, value: Any, rng: Random) -> Any:
        items = list(value)
        if not items or rng.random() < 0.4:
            return self.make([*items, self.inner.random(rng)])
        at = rng.randrange(len(items))
        return self.make([*items[:at], self.inner.mutated(items[at], rng), *items[at + 1 :]])

    def simpler(self, value: Any) -> Iterator[Any]:
        items = list(value)
        if not items:
            return
        yield self.make([])
        if len(items) > 1:
            yield self.make(items[len(items) // 2 :])
            yield self.make(items[: len(items) // 2])
        for at in range(min(len(items), 10)):
            yield self.make(items[:at] + items[at + 1 :])
            for each in self.inner.simpler(items[at]):
                yield self.make([*items[:at], each, *items[at + 1 :]])

    def leaves(self, value: Any) -> Iterator[tuple[Domain, Any]]:
        for each in value:
            yield from self.inner.leaves(each)

    def replaced(self, value: Any, old: Any, new: Any) -> Any:
        return self.make([self.inner.replaced(each, old, new) for each in value])


@dataclass(frozen=True)
class Maps(Domain):
    """Dictionaries."""

    keys: Domain
    items: Domain
    name = "dict"

    def random(self, rng: Random) -> dict[Any, Any]:
        return {self.keys.random(rng): self.items.random(rng) for _ in range(rng.choice((0, 1, 2, 3)))}

    def pooled(self, rng: Random, pool: Pool) -> dict[Any, Any]:
        return {self.keys.pooled(rng, pool): self.items.pooled(rng, pool) for _ in range(rng.choice((0, 1, 2, 3)))}

    def mutated(self, value: dict[Any, Any], rng: Random) -> dict[Any, Any]:
        if not value or rng.random() < 0.2:
            return {**value, self.keys.random(rng): self.items.random(rng)}
        key = rng.choice(list(value))
        return {**value, key: self.items.mutated(value[key], rng)}

    def simpler(self, value: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
        for key in list(value)[:6]:
            yield {k: v for k, v in value.items() if k != key}
            for each in self.items.simpler(value[key]):
                yield {**value, key: each}
            for other in self.keys.simpler(key):
                if other not in value:
                    yield {other if k == key else k: v for k, v in value.items()}

    def leaves(self, value: dict[Any, Any]) -> Iterator[tuple[Domain, Any]]:
        for key, each in value.items():
            yield from self.keys.leaves(key)
            yield from self.items.leaves(each)

    def replaced(self, value: dict[Any, Any], old: Any, new: Any) -> dict[Any, Any]:
        return {self.keys.replaced(k, old, new): self.items.replaced(v, old, new) for k, v in value.items()}


@dataclass(frozen=True)
class Rows(Domain):
    """Tuples with a domain for each place; `make` turns one into what the function takes, `fields` into a tuple."""

    fields: tuple[Domain, ...]
    make: Any = None
    names: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:  # type: ignore[override]
        inner = ", ".join(each.name for each in self.fields)
        return inner if len(self.fields) == 1 and self.make is None else f"({inner})"

    def random(self, rng: Random) -> Any:
        return self._made([each.random(rng) for each in self.fields])

    def pooled(self, rng: Random, pool: Pool) -> Any:
        return self._made([each.pooled(rng, pool) for each in self.fields])

    def mutated(self, value: Any, rng: Random) -> Any:
        items = self._items(value)
        if items:
            at = rng.randrange(len(items))
            items[at] = self.fields[at].mutated(items[at], rng)
        return self._made(items)

    def simpler(self, value: Any) -> Iterator[Any]:
        items = self._items(value)
        for at, domain in enumerate(self.fields):
            for each in domain.simpler(items[at]):
                yield self._made([*items[:at], each, *items[at + 1 :]])

    def leaves(self, value: Any) -> Iterator[tuple[Domain, Any]]:
        for domain, each in zip(self.fields, self._items(value), strict=True):
            yield from domain.leaves(each)

    def replaced(self, value: Any, old: Any, new: Any) -> Any:
        items = zip(self.fields, self._items(value), strict=True)
        return self._made([domain.replaced(each, old, new) for domain, each in items])

    def all_values(self) -> tuple[Any, ...] | None:
        """Every combination, where there are few."""
        found: list[list[Any]] = [[]]
        for each in self.fields:
            values = each.all_values()
            if values is None or len(found) * len(values) > 200:
                return None
            found = [[*row, value] for row in found for value in values]
        return tuple(map(self._made, found))

    def with_field(self, value: Any, at: int, item: Any) -> Any:
        """The same row with another value at one place."""
        items = self._items(value)
        items[at] = item
        return self._made(items)

    def field_of(self, value: Any, at: int) -> Any:
        """The value at one place."""
        return self._items(value)[at]

    def of_items(self, items: Sequence[Any]) -> Any:
        """A row of values for each place."""
        return self._made(list(items))

    def _items(self, value: Any) -> list[Any]:
        if self.make is None:
            return list(value)
        if isinstance(value, dict):
            return [value[name] for name in self.names]
        return [getattr(value, name) for name in self.names] if not isinstance(value, tuple) else list(value)

    def _made(self, items: list[Any]) -> Any:
        return tuple(items) if self.make is None else self.make(items)
