"""Domains of values that hold no others: numbers, texts, dates."""

from __future__ import annotations

import math
import string
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

from firesteel.operators.domains.base import Domain, Leaf, Pool

_LETTERS = string.ascii_lowercase[:6] + " ,0A"
_EPOCH = date(2000, 1, 1)
_LARGEST_SINGLE = (2 - 2**-23) * 2.0**127


@dataclass(frozen=True)
class Ints(Leaf):
    low: int = -(2**31)
    high: int = 2**31 - 1
    name = "int"

    def random(self, rng: Random) -> int:
        small = rng.random()
        if small < 0.6:
            return self._fit(rng.randint(-10, 10))
        if small < 0.85:
            return self._fit(rng.randint(-1000, 1000))
        return rng.randint(self.low, self.high)

    def pooled(self, rng: Random, pool: Pool) -> int:
        if not pool.ints:
            return self.random(rng)
        value = rng.choice(pool.ints)
        how = rng.random()
        if how < 0.45:
            return self._fit(value)
        if how < 0.75:
            return self._fit(value + rng.choice((-1, 1)))
        if how < 0.85:
            return self._fit(-value)
        if how < 0.95:
            return self._fit(value * rng.randint(2, 5) + rng.choice((0, rng.choice(pool.ints))))
        return self._fit(value + rng.randint(-50, 50))

    def mutated(self, value: int, rng: Random) -> int:
        return self._fit(value + rng.choice((-1, 1)))

    def simpler(self, value: int) -> Iterator[int]:
        size, sign = abs(value), 1 if value > 0 else -1
        tried = [0, 1, size, sign * (size // 10)]
        step = size // 2
        while step:  # ever smaller steps: a bound is reached in few rounds, wherever it lies
            tried.append(sign * (size - step))
            step //= 2
        for each in dict.fromkeys(tried):
            if self.low <= each <= self.high and (abs(each), each < 0) < (abs(value), value < 0):
                yield each

    def _fit(self, value: int) -> int:
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Floats(Leaf):
    single: bool = False
    """Only numbers that 32 bits hold exactly?"""
    name = "float"

    def random(self, rng: Random) -> float:
        how = rng.random()
        if how < 0.3:
            return float(rng.randint(-10, 10))
        if how < 0.7:
            return self.fit(round(rng.uniform(-10, 10), rng.randint(1, 3)))
        if how < 0.9:
            return self.fit(rng.uniform(-1000, 1000))
        return self.fit(rng.choice((0.1, 0.2, 0.3, 1e16, -1e16, 1.0, 1e-9, 1e300, 0.7)))

    def pooled(self, rng: Random, pool: Pool) -> float:
        numbers = (*pool.floats, *map(float, (n for n in pool.ints if abs(n) < 1e15)))
        if not numbers:
            return self.random(rng)
        value = rng.choice(numbers)
        how = rng.random()
        if how < 0.5:
            return self.fit(value)
        if how < 0.8:
            return self.fit(value + rng.choice((-1.0, 1.0, 0.5, -0.5)))
        return self.fit(math.nextafter(value, rng.choice((math.inf, -math.inf))))

    def mutated(self, value: float, rng: Random) -> float:
        return self.fit(value + rng.choice((-1.0, 1.0)))

    def simpler(self, value: float) -> Iterator[float]:
        if not math.isfinite(value):
            yield from (0.0, 1.0)
            return
        tried = (0.0, 1.0, 0.1, 0.5, float(round(value)), round(value, 1), abs(value))
        for each in dict.fromkeys(map(self.fit, tried)):
            if _float_size(each) < _float_size(value):
                yield each

    def fit(self, value: float) -> float:
        """The number itself, or the nearest one of 32 bits."""
        if not self.single or not math.isfinite(value):
            return value
        try:
            (held,) = struct.unpack("<f", struct.pack("<f", value))
        except OverflowError:
            return math.copysign(_LARGEST_SINGLE, value)
        return float(held)


def _float_size(value: float) -> tuple[int, float, bool]:
    return (len(repr(abs(value))), abs(value), value < 0)


@dataclass(frozen=True)
class Texts(Leaf):
    name = "str"

    def random(self, rng: Random) -> str:
        return "".join(rng.choices(_LETTERS, k=rng.choice((0, 1, 1, 2, 3, 5, 8))))

    def pooled(self, rng: Random, pool: Pool) -> str:
        how = rng.random()
        if pool.strings and how < 0.75:
            value = rng.choice(pool.strings)
            if how < 0.3:
                return value
            return (self.random(rng) if how > 0.65 else "") + value + (self.random(rng) if how < 0.65 else "")
        if pool.lengths and how < 0.95:
            length = rng.choice(pool.lengths)
            return "".join(rng.choices(_LETTERS[:4], k=length))
        return self.random(rng)

    def mutated(self, value: str, rng: Random) -> str:
        if not value or rng.random() < 0.3:
            return value + rng.choice(_LETTERS)
        at = rng.randrange(len(value))
        return value[:at] + rng.choice(_LETTERS) + value[at + 1 :]

    def simpler(self, value: str) -> Iterator[str]:
        size = len(value)
        yield from dict.fromkeys(each for each in ("", "a", "b") if (len(each), each) < (size, value))
        for step in dict.fromkeys((size // 2, 1)):
            if 0 < step < size:
                yield value[step:]
                yield value[:-step]
        for at in range(min(size, 8)):
            if value[at] > "a" and value[at] != "a":
                yield value[:at] + "a" + value[at + 1 :]


@dataclass(frozen=True)
class Binaries(Domain):
    name = "bytes"

    def random(self, rng: Random) -> bytes:
        return rng.randbytes(rng.choice((0, 1, 2, 5)))

    def pooled(self, rng: Random, pool: Pool) -> bytes:
        return rng.choice(pool.binaries) if pool.binaries and rng.random() < 0.8 else self.random(rng)

    def simpler(self, value: bytes) -> Iterator[bytes]:
        if value:
            yield from (b"", value[1:], value[:-1])


@dataclass(frozen=True)
class Dates(Domain):
    name = "date"

    def random(self, rng: Random) -> date:
        return _EPOCH + timedelta(days=rng.choice((rng.randint(0, 40), rng.randint(-20_000, 20_000))))

    def pooled(self, rng: Random, pool: Pool) -> date:
        if not pool.dates:
            return self.random(rng)
        return rng.choice(pool.dates) + timedelta(days=rng.choice((0, 0, 0, 1, -1)))

    def mutated(self, value: date, rng: Random) -> date:
        return value + timedelta(days=rng.choice((-1, 1)))

    def simpler(self, value: date) -> Iterator[date]:
        distance = abs((value - _EPOCH).days)
        for each in (_EPOCH, _EPOCH + timedelta(days=1), date(value.year, 1, 1)):
            if abs((each - _EPOCH).days) < distance:
                yield each


@dataclass(frozen=True)
class Moments(Domain):
    in_utc: bool = False
    name = "datetime"

    def random(self, rng: Random) -> datetime:
        seconds = rng.choice((rng.randint(0, 7200), rng.randint(0, 800_000_000)))
        return self._at(datetime(2000, 1, 1) + timedelta(seconds=seconds))

    def pooled(self, rng: Random, pool: Pool) -> datetime:
        found = [*pool.moments, *(datetime(d.year, d.month, d.day) for d in pool.dates)]
        if not found:
            return self.random(rng)
        return self._at(rng.choice(found).replace(tzinfo=None)) + timedelta(seconds=rng.choice((0, 0, 1, -1, 3600)))

    def mutated(self, value: datetime, rng: Random) -> datetime:
        return value + timedelta(seconds=rng.choice((-1, 1, 3600)))

    def simpler(self, value: datetime) -> Iterator[datetime]:
        for each in (self._at(datetime(2000, 1, 1)), value.replace(second=0, microsecond=0)):
            if each < value:
                yield each

    def _at(self, value: datetime) -> datetime:
        return value.replace(tzinfo=UTC) if self.in_utc else value


@dataclass(frozen=True)
class Decimals(Domain):
    places: int = 2
    digits: int = 38
    """How many digits there may be, those behind the point among them."""
    name = "Decimal"

    def random(self, rng: Random) -> Decimal:
        most = min(100_000, 10**self.digits - 1)
        return self._scaled(rng.choice((rng.randint(-min(20, most), min(20, most)), rng.randint(-most, most))))

    def pooled(self, rng: Random, pool: Pool) -> Decimal:
        value = Ints().pooled(rng, pool) if pool.ints else None
        if value is None or abs(value) >= 10 ** min(9, self.digits - self.places):
            return self.random(rng)
        return Decimal(value)

    def simpler(self, value: Decimal) -> Iterator[Decimal]:
        for each in (Decimal(0), Decimal(1)):
            if abs(each) < min(abs(value), 10 ** (self.digits - self.places)):
                yield each

    def _scaled(self, digits: int) -> Decimal:
        return Decimal(digits).scaleb(-self.places)
