"""What every domain can do, and the pool of constants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from random import Random
from typing import Any


@dataclass(frozen=True)
class Pool:
    """Constants of the code, its closure and the functions it calls, by type. `lengths` are small whole numbers."""

    ints: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    strings: tuple[str, ...] = ()
    binaries: tuple[bytes, ...] = ()
    dates: tuple[date, ...] = ()
    moments: tuple[datetime, ...] = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of texts and lists that a constant may be about, with their neighbours."""
        return tuple(sorted({n + by for n in self.ints for by in (-1, 0, 1) if 0 <= n + by <= 1_100}))


class Domain:
    """A set of values."""

    name = "value"

    def random(self, rng: Random) -> Any:
        """Any value of the type's usual range."""
        raise NotImplementedError

    def pooled(self, rng: Random, pool: Pool) -> Any:
        """A value made of the constants in the pool."""
        return self.random(rng)

    def mutated(self, value: Any, rng: Random) -> Any:
        """A value close by: one more, one less, another letter."""
        return self.random(rng)

    def simpler(self, value: Any) -> Iterator[Any]:
        """Simpler values, the simplest first."""
        return iter(())

    def leaves(self, value: Any) -> Iterator[tuple[Domain, Any]]:
        """The numbers and texts in a value, each with its domain."""
        return iter(())

    def replaced(self, value: Any, old: Any, new: Any) -> Any:
        """The same value with another number or text in every place of one."""
        return value

    def all_values(self) -> tuple[Any, ...] | None:
        """Every value, where there are few."""
        return None

    def choices(self, rng: Random, pool: Pool) -> list[Any]:
        """Some values to combine with those of other fields: constants first."""
        found = [self.pooled(rng, pool) for _ in range(4)] + [self.random(rng) for _ in range(2)]
        return _distinct(found)[:5]


class Leaf(Domain):
    """Numbers or texts."""

    def leaves(self, value: Any) -> Iterator[tuple[Domain, Any]]:
        yield self, value

    def replaced(self, value: Any, old: Any, new: Any) -> Any:
        return new if type(value) is type(old) and value == old else value


def _distinct(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(type(value) is type(other) and value == other for other in found):
            found.append(value)
    return found
