"""Other orders of some records that a dependence allows: two records that depend on each other never change places.

What the dependence wants is a graph: an arrow leads from a record to one that has to come after it. An allowed order is
a topological order of that graph. Dependences with structure make a small graph without comparing all pairs.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from firesteel.errors import InvalidArgument
from firesteel.values.dependence import Barrier, Both, Dependence, Either, Ordered, SameKey, Unordered, value_of
from firesteel.values.records import brief, canonical


class Orders:
    """The orders of some records that a dependence allows. A record is named by its place.

    >>> from firesteel.values.dependence import same_key
    >>> rides = [{"taxi": 1, "at": 1}, {"taxi": 2, "at": 2}, {"taxi": 1, "at": 3}, {"taxi": 2, "at": 4}]
    >>> orders = Orders(rides, same_key("taxi"))
    >>> orders.latest_first()
    [1, 3, 0, 2]
    >>> orders.shuffled(1) == orders.shuffled(1), orders.groups()
    (True, [[0, 2], [1, 3]])
    """

    def __init__(self, records: Sequence[Any], keeping: Dependence) -> None:
        size = len(records)
        self.after: list[list[int]] = [[] for _ in range(size)]
        """For each record, those that have to come after it; what follows from others may be left out."""
        self._before: list[int] = [0] * size
        for earlier, later in dict.fromkeys(_arrows(records, range(size), keeping)):
            self.after[earlier].append(later)
            self._before[later] += 1

    def latest_first(self) -> list[int]:
        """The order that is the most different: always the latest record that may come next."""
        return self._by(lambda place, now: -place)

    def shuffled(self, seed: Hashable) -> list[int]:
        """A random order. Where no record has to come after two others, all orders are equally likely."""
        # Of the records that may come next, one is chosen with the chance that its weight gives it. Clocks that ring
        # after a random time of that rate do so, and need no list of what may come next.
        chance, weights = random.Random(f"{seed}"), self.weights()
        return self._by(lambda place, now: now + chance.expovariate(weights[place]))

    def weights(self) -> list[float]:
        """For each record, how many wait for it, itself included. One that waits for several counts for each in part.

        >>> from firesteel.values.dependence import ordered
        >>> Orders("abc", ordered()).weights()
        [3.0, 2.0, 1.0]
        """
        weights = [1.0] * len(self.after)
        for place in reversed(range(len(weights))):
            weights[place] += sum(weights[later] / self._before[later] for later in self.after[place])
        return weights

    def groups(self) -> list[list[int]]:
        """The records in groups: those that depend on each other, directly or through others, are in one group."""
        group_of = list(range(len(self.after)))
        members = {place: [place] for place in group_of}
        for place, later in enumerate(self.after):
            for other in later:
                mine, theirs = group_of[place], group_of[other]
                if mine != theirs:
                    if len(members[mine]) < len(members[theirs]):
                        mine, theirs = theirs, mine
                    for moved in members[theirs]:
                        group_of[moved] = mine
                    members[mine] += members.pop(theirs)
        return sorted(map(sorted, members.values()))

    def walk(self) -> Walk:
        """Choose an order step by step."""
        return Walk(self.after, self._before)

    def _by(self, key: Callable[[int, float], float]) -> list[int]:
        """Always the record with the smallest key that may come next. The key is told the last one's key."""
        walk, found = self.walk(), []
        waiting = [(key(place, 0.0), place) for place in walk.ready]
        heapq.heapify(waiting)
        while waiting:
            now, place = heapq.heappop(waiting)
            found.append(place)
            for freed in walk.take(place):
                heapq.heappush(waiting, (key(freed, now), freed))
        return found


class Walk:
    """An order being chosen: which records may come next."""

    def __init__(self, after: Sequence[Sequence[int]], before: Sequence[int]) -> None:
        self._after, self._left = after, list(before)
        self.ready: set[int] = {place for place, count in enumerate(before) if not count}
        """The records that may come next."""

    def take(self, place: int) -> list[int]:
        """Let this one come next; the answer says which may come now that could not before."""
        self.ready.remove(place)
        freed = []
        for later in self._after[place]:
            self._left[later] -= 1
            if not self._left[later]:
                freed.append(later)
        self.ready.update(freed)
        return freed


def _arrows(records: Sequence[Any], places: Iterable[int], keeping: Dependence) -> Iterator[tuple[int, int]]:
    """Pairs of an earlier and a later place that have to stay so; all others that have to follow from these."""
    match keeping:
        case Unordered():
            return
        case Ordered():
            yield from _chain(places)
        case SameKey():
            for group in _by_key(records, places, keeping).values():
                yield from _chain(group)
        case Barrier():
            yield from _around(records, places, keeping)
        case Either(a, b):
            yield from _arrows(records, places, a)
            yield from _arrows(records, places, b)
        case Both(SameKey() as key, other) | Both(other, SameKey() as key):
            for group in _by_key(records, places, key).values():
                yield from _arrows(records, group, other)
        case _:
            yield from _pairs(records, list(places), keeping)


def _chain(places: Iterable[int]) -> Iterator[tuple[int, int]]:
    last: int | None = None
    for place in places:
        if last is not None:
            yield last, place
        last = place


def _by_key(records: Sequence[Any], places: Iterable[int], key: SameKey) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for place in places:
        found[tuple(canonical(value_of(records[place], column, key)) for column in key.columns)].append(place)
    return found


def _around(records: Sequence[Any], places: Iterable[int], barrier: Barrier) -> Iterator[tuple[int, int]]:
    """A barrier comes after all since the barrier before it; the others come after the last barrier."""
    since: list[int] = []
    last: int | None = None
    for place in places:
        if barrier.holds(records[place]):
            if last is not None:
                yield last, place
            yield from ((other, place) for other in since)
            last, since = place, []
        else:
            if last is not None:
                yield last, place
            since.append(place)


def _pairs(records: Sequence[Any], places: Sequence[int], keeping: Dependence) -> Iterator[tuple[int, int]]:
    """All pairs, one by one: nothing is known of the dependence."""
    for number, later in enumerate(places):
        for earlier in places[:number]:
            forth = keeping.depends_on(records[earlier], records[later])
            if forth != keeping.depends_on(records[later], records[earlier]):
                raise InvalidArgument(
                    f"{keeping!r} is not a dependence: it says of {brief(records[earlier])} and "
                    f"{brief(records[later])} that one depends on the other, but not the other on the one"
                )
            if forth:
                yield earlier, later
