"""Functions and flat functions: what is called once for a record."""

from __future__ import annotations

import datetime
import functools
import itertools
import os
import random
import re
import secrets
import time
import uuid
import zlib
from collections import deque
from collections.abc import Iterator
from typing import Any

from firesteel import operators
from tests.operators.zoo import Zoo

ZOO = Zoo()
f, flat = operators.function, operators.flat

# --- deterministic ---
ZOO.add(f(lambda x: x + random.random()), "adds an unseeded random number", no="deterministic", name="random")
ZOO.add(f(lambda x: time.time()), "tells the time", no="deterministic", name="clock")
ZOO.add(
    f(lambda x: (datetime.datetime.now().year, x)[0] + time.perf_counter_ns()),
    "a stopwatch",
    no="deterministic",
    name="stopwatch",
)
ZOO.add(
    f(lambda x: datetime.date.today().toordinal()),
    "tells the day: another day, another answer",
    no="deterministic",
    name="today",
)
ZOO.add(f(lambda x: id(x)), "an address, which differs by process", no="deterministic", name="id")
ZOO.add(
    f(lambda s: hash("key " + str(s))),
    "strings hash differently in every process",
    no="deterministic",
    name="hash of a string",
)
ZOO.add(
    f(lambda x: list({"a", "b", "c", "d", str(x)})),
    "the order of a set of strings depends on the hash seed",
    no="deterministic",
    name="set order",
)
ZOO.add(
    f(lambda x: {"a", "b", "c", "d", "e", "g", str(x)}.pop()),
    "which one set.pop takes depends on the hash seed",
    no="deterministic",
    name="set.pop",
)
ZOO.add(
    f(lambda x: list(dict.fromkeys({"p", "q", "r", "s", str(x)}))),
    "a dict filled from a set has the set's order",
    no="deterministic",
    name="dict of a set",
)
ZOO.add(f(lambda x: str(uuid.uuid4())), "a random name", no="deterministic", name="uuid4")
ZOO.add(f(lambda x: secrets.randbelow(1 << 40)), "a random number of the system", no="deterministic", name="secrets")
ZOO.add(f(lambda x: os.getpid() + x), "the number of the process", no="deterministic", name="getpid")
ZOO.add(
    f(lambda x: random.random() if x == 48_611 else x),
    "random for one value in four billion",
    no="deterministic",
    name="rarely random",
)
ZOO.add(
    f(lambda x: random.Random(x).random()),
    "a generator of its own, seeded by the input",
    yes="deterministic stateless pure",
    name="seeded",
)
ZOO.add(
    f(lambda x: hash(x)), "whole numbers hash to themselves", yes="deterministic stateless", name="hash of a number"
)
ZOO.add(
    f(lambda x: sorted({"a", "b", str(x)})),
    "sorted, so the set's order does not show",
    yes="deterministic pure",
    name="sorted set",
)
ZOO.add(
    f(lambda x: len({"a", "b", "c", str(x)})),
    "only the size of the set shows",
    yes="deterministic",
    name="size of a set",
)
ZOO.add(f(lambda x: {"a", "b", "c", str(x)}), "a set is compared as a set", yes="deterministic", name="a set itself")
ZOO.add(
    f(lambda x: zlib.crc32(str(x).encode())), "a checksum is the same everywhere", yes="deterministic", name="crc32"
)
ZOO.add(f(lambda x: id(x) == id(x)), "true whatever the address is", yes="deterministic", name="id compared")
ZOO.add(
    f(lambda x: (time.sleep(0), x)[1]), "it waits, and that does not show", yes="deterministic stateless", name="sleeps"
)
ZOO.add(f(lambda x: {"b": x, "a": x}), "a dict keeps its own order", yes="deterministic", name="dict order")
ZOO.add(
    f(lambda x: str(uuid.uuid5(uuid.NAMESPACE_DNS, str(x)))),
    "a name made of the input",
    yes="deterministic",
    name="uuid5",
)
ZOO.add(
    f(lambda x: max({"a", "bb", str(x)})),
    "the greatest of a set, in whatever order it comes",
    yes="deterministic",
    name="max of a set",
)
ZOO.add(
    f(lambda x: time.time() > 1 and x),
    "the clock is read but what it says does not matter",
    yes="deterministic",
    name="clock unused",
)

# --- stateless ---
_count = 0
_seen: set[Any] = set()
_first: list[Any] = []
_before: list[Any] = []
_buffer: list[Any] = []
_ten: list[Any] = []
_sticky: list[bool] = []
_memo: dict[Any, Any] = {}
_unseen = 0
_RATES = {"eur": 2, "usd": 3}
_ticks = itertools.count()
_window: deque[int] = deque(maxlen=3)
_PATTERN = re.compile("[aeiou]")


def counter(x: int) -> int:
    global _count
    _count += 1
    return _count


def dedup(x: int) -> int | None:
    if x in _seen:
        return None
    _seen.add(x)
    return x


def first_seen(x: int) -> int:
    _first.append(x)
    return _first[0]


def previous(x: int) -> int:
    _before.append(x)
    return _before[-2] if len(_before) > 1 else 0


def mutable_default(x: int, kept: list[int] = []) -> int:  # noqa: B006  the trap itself
    kept.append(x)
    return len(kept)


def buffer_of_three(x: int) -> list[int] | None:
    _buffer.append(x)
    if len(_buffer) < 3:
        return None
    out = list(_buffer)
    _buffer.clear()
    return out


def buffer_of_ten(x: int) -> int | None:
    _ten.append(x)
    return len(_ten) if len(_ten) >= 10 else None


def sticky(x: int) -> bool:
    if x == 48_611:
        _sticky.append(True)
    return bool(_sticky)


def moving_average(x: int) -> float:
    _window.append(x)
    return sum(_window) / len(_window)


def ticking(x: int) -> int:
    return next(_ticks)


def attribute(x: int) -> int:
    attribute.calls += 1  # type: ignore[attr-defined]
    return attribute.calls  # type: ignore[attr-defined,no-any-return]


attribute.calls = 0  # type: ignore[attr-defined]


class Total:
    """A callable object that adds up."""

    def __init__(self) -> None:
        self.total = 0

    def __call__(self, x: int) -> int:
        self.total += x
        return self.total


class Scale:
    """A callable object that only reads itself."""

    def __init__(self, by: int) -> None:
        self.by = by

    def __call__(self, x: int) -> int:
        return self.by * x

    def scaled(self, x: int) -> int:
        return self.by * x


_reused: list[int] = []


def reuses_a_buffer(x: int) -> list[int]:
    _reused[:] = [x]
    return _reused


def memoized(x: int) -> int:
    if x not in _memo:
        _memo[x] = x * x
    return _memo[x]  # type: ignore[no-any-return]


@functools.lru_cache
def cached(x: int) -> int:
    return x * x


def counted_unseen(x: int) -> int:
    global _unseen
    _unseen += 1
    return x


def default_unused(x: int, kept: tuple[int, ...] = (1, 2)) -> int:
    return x + len(kept)


ZOO.add(
    f(counter),
    "a global counts the calls; as a multiset the counts do not depend on the order",
    no="stateless pure",
    yes="deterministic commutative one_to_one total",
)
ZOO.add(f(dedup), "what was seen before gives None", no="stateless one_to_one pure", yes="deterministic commutative")
ZOO.add(f(first_seen), "the first call decides all others", no="stateless commutative pure")
ZOO.add(f(previous), "gives what came before", no="stateless commutative pure")
ZOO.add(
    f(mutable_default),
    "the default list is kept between calls",
    no="stateless pure",
    yes="commutative deterministic one_to_one",
)
ZOO.add(f(buffer_of_three), "three records come out together, in their order", no="stateless one_to_one commutative")
ZOO.add(f(buffer_of_ten), "nothing comes out before the tenth", no="stateless one_to_one", yes="commutative")
ZOO.add(f(sticky), "one rare value changes all later answers", no="stateless commutative")
ZOO.add(f(moving_average), "the mean of the last three", no="stateless commutative")
ZOO.add(f(ticking), "a counter of the module", no="stateless", yes="commutative")
ZOO.add(f(attribute), "counts its calls in an attribute", no="stateless pure", yes="commutative")
ZOO.add(f(Total()), "an object that adds up", no="stateless commutative pure", name="object that adds up")
ZOO.add(f(cached), "lru_cache remembers only what it would compute anyway", yes="stateless deterministic total")
ZOO.add(f(reuses_a_buffer), "the list is filled anew in every call", no="pure", yes="stateless commutative one_to_one")
ZOO.add(f(memoized), "a memo of the same", yes="stateless commutative total")
ZOO.add(
    f(counted_unseen),
    "counts its calls, and the count does not show",
    no="pure",
    yes="stateless commutative one_to_one",
)
ZOO.add(
    f(Scale(3)), "an object that only reads itself", yes="stateless picklable pure total", name="object that scales"
)
ZOO.add(f(Scale(3).scaled), "a method that only reads its object", yes="stateless picklable one_to_one", name="method")
ZOO.add(
    f(functools.partial(pow, 2)),
    "a partial of a builtin",
    yes="stateless picklable",
    name="partial",
    sample=[1, 2, 3, 5],
)
ZOO.add(f(default_unused), "the default is never changed", yes="stateless pure commutative total")
ZOO.add(f(lambda x: _RATES["eur"] * x), "reads a global", yes="stateless pure picklable", name="reads a global")
ZOO.add(
    f(lambda s: len(_PATTERN.findall(s))),
    "a compiled pattern keeps no state",
    yes="stateless picklable",
    name="pattern",
    sample=["abc", "", "aei"],
)
ZOO.add(f(len), "a builtin", yes="stateless one_to_one picklable")
ZOO.add(
    f(lambda x: "rare" if x == 48_611 else "usual"),
    "a rare constant is no state",
    yes="stateless commutative one_to_one",
    name="rare constant",
)

# --- selectivity ---
ZOO.add(f(lambda x: x if x % 2 else None), "an even number gives nothing", no="one_to_one", name="filter")
ZOO.add(f(lambda x: None if x == 48_611 else x), "one rare number gives nothing", no="one_to_one", name="rare filter")
ZOO.add(
    f(lambda s: None if s.startswith("ERR-") else s, input="s STRING"),
    "a prefix gives nothing",
    no="one_to_one",
    name="prefix filter",
)


def leap_day(at: datetime.date) -> int | None:
    return None if at == datetime.date(2024, 2, 29) else at.year


def two_constants(code: int, name: str) -> str | None:
    return None if code == 7_301 and name == "zebra" else name


def three_constants(shop: str, item: int, price: float) -> int | None:
    if shop != "harbour":
        return 0
    if item != 7_301:
        return 0
    return None if price == 99.5 else 0


def long_text(s: str) -> str | None:
    return None if len(s) > 40 else s


def words(line: str) -> Iterator[str]:
    yield from line.split()


def twice(x: int) -> list[int]:
    return [x, x]


def wrapped(x: int) -> list[int]:
    return [x]


def null_in_null_out(x: int | None) -> int | None:
    return None if x is None else x + 1


ZOO.add(f(leap_day), "one day gives nothing", no="one_to_one")
ZOO.add(f(three_constants), "three constants together give nothing", no="one_to_one", yes="stateless deterministic")
ZOO.add(f(two_constants), "two constants together give nothing", no="one_to_one", yes="stateless")
ZOO.add(f(long_text), "a text of more than 40 letters gives nothing", no="one_to_one")
ZOO.add(flat(words), "a line has none, one or many words", no="one_to_one", yes="stateless deterministic")
ZOO.add(flat(twice), "two for one", no="one_to_one")
ZOO.add(flat(wrapped), "one in a list", yes="one_to_one stateless")
ZOO.add(f(null_in_null_out), "null in, null out is an output", yes="one_to_one null_safe stateless")
ZOO.add(f(str.upper), "one for one", yes="one_to_one deterministic idempotent", name="upper", sample=["a", "Bc", ""])
ZOO.add(
    f(lambda x: 0),
    "always the same, and always one",
    yes="one_to_one commutative idempotent null_safe",
    name="constant",
)
ZOO.add(
    f(lambda x: [] if x < -3_000_000_000 else [x]),
    "no int of the type is so small",
    yes="one_to_one",
    name="never empty",
)
