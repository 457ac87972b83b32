"""For records that depend on each other only if they have the same key: a queue, or any other index, for every key."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

from firesteel.equivalence.index.keys import key_function
from firesteel.equivalence.index.sides import (
    INCONCLUSIVE,
    MATCHED,
    Conflict,
    Outcome,
    Pair,
    Plan,
    Side,
    Waiting,
    position_of,
)
from firesteel.logic.verdicts import Verdict
from firesteel.values.equality import Equality
from firesteel.values.records import FLAT, Record, canonical

_Queues: TypeAlias = "tuple[deque[Any], deque[Any]]"
"""What waits under one key on the left and on the right: each record, then its position."""
_SPARE = 1024


class _Groups:
    """The queues of both sides by key. Empty ones stay for the next record of their key, up to a limit."""

    __slots__ = ("flat", "limit", "queues")

    def __init__(self, equality: Equality) -> None:
        self.queues: dict[Hashable, _Queues] = {}
        self.limit = _SPARE
        self.flat = equality.by is None
        """Is Python's equality of columns enough? Only if they all hold plain values."""

    def of(self, key: Hashable, record: Any) -> _Queues:
        """The queues of a key, which may be new."""
        key = canonical(key)
        found = self.queues.get(key)
        if found is None:
            if len(self.queues) >= self.limit:
                for unused in [key for key, (left, right) in self.queues.items() if not left and not right]:
                    del self.queues[unused]
                self.limit = 2 * len(self.queues) + _SPARE
            found = self.queues[key] = (deque(), deque())
            # Only the first record of every key is looked at: all records have the same types in their columns.
            self.flat = self.flat and type(record) is Record and FLAT.issuperset(map(type, record))
        elif type(record) is not Record:
            self.flat = False
        return found


class _Keyed(Side):
    __slots__ = ("column", "equal", "groups", "key", "other", "queues", "side")

    def __init__(self, plan: Keyed, groups: _Groups, side: int) -> None:
        super().__init__()
        self.key, self.equal = key_function(plan.columns, plan.equality), plan.equality.equal_function
        self.groups, self.queues, self.side, self.other = groups, groups.queues, side, 1 - side
        # The one column that can be read without calling `key`. None is not a column, so it leads to that call.
        self.column = plan.columns[0] if len(plan.columns) == 1 and plan.equality.exact else None

    def step(self, record: Any) -> Verdict:
        # What `take` and the base class's `step` do, in one function: a call costs as much as all the rest.
        book = self.book
        if book.verdict is not INCONCLUSIVE:
            return book.closed()
        try:
            queues = self.queues[record.__dict__[self.column]]
        except (AttributeError, KeyError, TypeError):
            # Not a Record, a new key, several columns, or a value that has to be made hashable.
            queues = self.groups.of(self.key(record), record)
        theirs = queues[self.other]
        if theirs:
            other = theirs[0]
            try:
                alike = self.groups.flat and other.__dict__ == record.__dict__
            except Exception:  # a dict has no columns as attributes, and arrays of numpy do not compare to a bool
                alike = False
            if alike or self.equal(other, record):
                theirs.popleft()
                theirs.popleft()
                self.seen += 1
                book.unmatched -= 1
                return INCONCLUSIVE
            self.seen += 1
            return book.refuted(self, self.seen - 1, record, Conflict(theirs[1], other))
        mine = queues[self.side]
        mine.append(record)
        mine.append(self.seen)
        self.seen += 1
        book.unmatched = unmatched = book.unmatched + 1
        if unmatched > book.most:
            book.most = unmatched
        return INCONCLUSIVE

    def take(self, record: Any, position: int) -> Outcome:
        queues = self.groups.of(self.key(record), record)
        theirs = queues[self.other]
        if theirs:
            other = theirs[0]
            if self.equal(other, record):
                theirs.popleft()
                theirs.popleft()
                return MATCHED
            return Conflict(theirs[1], other)
        queues[self.side].extend((record, position))
        return None

    def waiting(self) -> list[Waiting]:
        found: list[Waiting] = []
        for queues in self.groups.queues.values():
            flat = list(queues[self.side])
            found.extend(zip(flat[1::2], flat[::2], strict=True))
        return sorted(found, key=position_of)

    def waits(self) -> bool:
        return any(queues[self.side] for queues in self.groups.queues.values())


@dataclass(frozen=True)
class Keyed(Plan):
    """A queue for every key."""

    columns: tuple[str, ...]
    equality: Equality

    def sides(self) -> Pair:
        groups = _Groups(self.equality)
        return _Keyed(self, groups, 0), _Keyed(self, groups, 1)


class _Partitioned(Side):
    __slots__ = ("inner", "key", "parts", "side")

    def __init__(self, plan: Partition, parts: dict[Hashable, Pair], side: int) -> None:
        super().__init__()
        self.key, self.inner = key_function(plan.columns, plan.equality), plan.inner
        self.parts, self.side = parts, side

    def take(self, record: Any, position: int) -> Outcome:
        key = self.key(record)
        part = self.parts.get(key)
        if part is None:
            part = self.inner.sides()
        outcome = part[self.side].take(record, position)
        if outcome is None:
            self.parts[key] = part
        elif outcome is MATCHED and not part[0].waits() and not part[1].waits():
            del self.parts[key]
        return outcome

    def waiting(self) -> list[Waiting]:
        return sorted((w for part in self.parts.values() for w in part[self.side].waiting()), key=position_of)

    def waits(self) -> bool:
        return any(part[self.side].waits() for part in self.parts.values())


@dataclass(frozen=True)
class Partition(Plan):
    """Records with different keys never meet: each key has sides of its own."""

    columns: tuple[str, ...]
    equality: Equality
    inner: Plan

    def sides(self) -> Pair:
        parts: dict[Hashable, Pair] = {}
        return _Partitioned(self, parts, 0), _Partitioned(self, parts, 1)
