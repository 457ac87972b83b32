"""For a stream in which everything is ordered: the records that wait are a queue."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from firesteel.equivalence.index.sides import MATCHED, Conflict, Outcome, Pair, Plan, Side, Waiting
from firesteel.values.equality import Equality


class _Queued(Side):
    __slots__ = ("equal", "mine", "theirs")

    def __init__(self, equality: Equality, mine: deque[Waiting], theirs: deque[Waiting]) -> None:
        super().__init__()
        self.equal, self.mine, self.theirs = equality.equal_function, mine, theirs

    def take(self, record: Any, position: int) -> Outcome:
        theirs = self.theirs
        if not theirs:
            self.mine.append((position, record))
            return None
        if self.equal(theirs[0][1], record):
            theirs.popleft()
            return MATCHED
        return Conflict(*theirs[0])

    def waiting(self) -> list[Waiting]:
        return list(self.mine)

    def waits(self) -> bool:
        return bool(self.mine)


@dataclass(frozen=True)
class Queue(Plan):
    """Everything is ordered: the first that waits is the only one to compare with."""

    equality: Equality

    def sides(self) -> Pair:
        left: deque[Waiting] = deque()
        right: deque[Waiting] = deque()
        return _Queued(self.equality, left, right), _Queued(self.equality, right, left)
