"""Random dependences, streams and interleavings of them, a good part of which are equivalent."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from firesteel.values.dependence import Dependence, barrier, depends, ordered, same_key, unordered
from firesteel.values.equality import Equality, equality
from firesteel.values.records import Record

EQUAL = equality(ignore=["tag"])


@dataclass(frozen=True)
class Table:
    """A random symmetric relation on the values of `v`, which may or may not hold of a value and itself."""

    pairs: frozenset[tuple[int, int]]

    def __call__(self, a: Any, b: Any) -> bool:
        return (a.v, b.v) in self.pairs


def table(random: Random, values: int) -> Table:
    density = random.random()
    chosen = {(a, b) for a in range(values) for b in range(a, values) if random.random() < density}
    return Table(frozenset(chosen | {(b, a) for a, b in chosen}))


def is_mark(record: Any) -> bool:
    return record.v == 0


def is_other_mark(record: Any) -> bool:
    return record.v == 1


LEAVES = {
    "unordered": unordered(),
    "ordered": ordered(),
    "same_key": same_key("k"),
    "two keys": same_key("k", "v"),
    "barrier": barrier(is_mark),
}
JOINED = {
    "key | barrier": same_key("k") | barrier(is_mark),
    "key & barrier": same_key("k") & barrier(is_mark),
    "two barriers": barrier(is_mark) | barrier(is_other_mark),
    "barriers & key": (barrier(is_mark) | barrier(is_other_mark)) & same_key("k"),
    "key | inner key & barrier": same_key("k", "v") | (same_key("k") & barrier(is_mark)),
    "barrier | key & barrier": barrier(is_mark) | (same_key("k") & barrier(is_other_mark)),
    "barrier in both": (barrier(is_mark) | same_key("k")) & (same_key("v") | barrier(is_mark)),
    "key or key": same_key("k") | same_key("v"),
}


def dependences(random: Random) -> dict[str, Dependence]:
    """Every kind, with the opaque functions drawn anew."""
    opaque, another = depends(table(random, 3)), depends(table(random, 3))
    return {
        **LEAVES,
        **JOINED,
        "function": opaque,
        "function & key": opaque & same_key("k"),
        "function | barrier": opaque | barrier(is_mark),
        "function & key | barrier": (opaque & same_key("k")) | barrier(is_other_mark),
        "two functions": opaque | another,
    }


@dataclass(frozen=True)
class Case:
    dependence: Dependence
    equal: Equality
    steps: tuple[tuple[str, Record], ...]

    @property
    def left(self) -> list[Record]:
        return [record for side, record in self.steps if side == "left"]

    @property
    def right(self) -> list[Record]:
        return [record for side, record in self.steps if side == "right"]


def record(random: Random) -> Record:
    return Record(k=random.randrange(2), v=random.randrange(3), tag=random.randrange(1000))


def case(random: Random, dependence: Dependence, longest: int) -> Case:
    left = [record(random) for _ in range(random.randint(0, longest))]
    right = reordered(random, left, dependence)
    if random.random() < 0.45:
        damage(random, right, longest)
    if random.random() < 0.5:
        left, right = right, left
    return Case(dependence, EQUAL, tuple(interleaved(random, left, right)))


def reordered(random: Random, records: list[Record], dependence: Dependence) -> list[Record]:
    """Equal records in an equivalent order: neighbours that are independent are swapped."""
    found = [Record(k=r.k, v=r.v, tag=random.randrange(1000)) for r in records]
    for _ in range(len(found) * len(found)):
        place = random.randrange(max(1, len(found) - 1))
        if place + 1 < len(found) and not dependence.depends_on(found[place], found[place + 1]):
            found[place], found[place + 1] = found[place + 1], found[place]
    return found


def damage(random: Random, records: list[Record], longest: int) -> None:
    match random.choice(["swap", "drop", "add", "change"]):
        case "swap" if len(records) > 1:
            one, other = random.sample(range(len(records)), 2)
            records[one], records[other] = records[other], records[one]
        case "drop" if records:
            records.pop(random.randrange(len(records)))
        case "change" if records:
            records[random.randrange(len(records))] = record(random)
        case _ if len(records) < longest:
            records.insert(random.randint(0, len(records)), record(random))


def interleaved(random: Random, left: list[Record], right: list[Record]) -> list[tuple[str, Record]]:
    sides = ["left"] * len(left) + ["right"] * len(right)
    if random.random() < 0.8:
        random.shuffle(sides)
    elif random.random() < 0.5:
        sides.reverse()
    streams = {"left": iter(left), "right": iter(right)}
    return [(side, next(streams[side])) for side in sides]
