"""The sides of a matcher: what every kind of index has in common, and what the two sides of one matcher share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from firesteel.logic.verdicts import Verdict

FALSE, INCONCLUSIVE = Verdict.FALSE, Verdict.INCONCLUSIVE

Waiting: TypeAlias = tuple[int, Any]
"""The position of a record on its side, and the record, which has no match yet."""


@dataclass(frozen=True)
class Conflict:
    """A waiting record of the other side that the new record depends on, and its position: the verdict is false."""

    position: int
    record: Any


class _Outcome(Enum):
    MATCHED = "matched"


MATCHED: Final = _Outcome.MATCHED
Outcome: TypeAlias = "Literal[_Outcome.MATCHED] | Conflict | None"
"""What became of a record: matched, in conflict with another, or (None) it waits."""


class Book:
    """What the two sides of one matcher have in common: the verdict, and how many records wait."""

    __slots__ = ("finished", "most", "refutation", "unmatched", "verdict")

    def __init__(self) -> None:
        self.verdict = INCONCLUSIVE
        self.unmatched = self.most = 0
        self.finished = False
        self.refutation: Refutation | None = None

    def one_more(self) -> Verdict:
        """A record waits."""
        self.unmatched = unmatched = self.unmatched + 1
        if unmatched > self.most:
            self.most = unmatched
        return INCONCLUSIVE

    def refuted(self, side: Side, position: int, record: Any, conflict: Conflict) -> Verdict:
        """A record can never be matched."""
        self.one_more()
        self.refutation = Refutation(side, position, record, conflict)
        self.verdict = FALSE
        return FALSE

    def closed(self) -> Verdict:
        """The answer to a record that comes after the verdict."""
        if self.finished:
            raise RuntimeError("this matcher is finished: make another one with Matcher(dependence)")
        return self.verdict


class Side(ABC):
    """One side of a matcher: what waits on it, and where to look on the other."""

    __slots__ = ("book", "seen")

    def __init__(self) -> None:
        self.seen = 0
        self.book = _NO_BOOK

    def step(self, record: Any) -> Verdict:
        """This side's next record. Only for the side of a whole matcher, not for one inside another side."""
        book = self.book
        if book.verdict is not INCONCLUSIVE:
            return book.closed()
        position = self.seen
        outcome = self.take(record, position)
        self.seen = position + 1
        if outcome is MATCHED:
            book.unmatched -= 1
            return INCONCLUSIVE
        if outcome is None:
            return book.one_more()
        return book.refuted(self, position, record, outcome)

    @abstractmethod
    def take(self, record: Any, position: int) -> Outcome:
        """Match a record of this side, or let it wait, or say what it is in conflict with."""

    @abstractmethod
    def waiting(self) -> list[Waiting]:
        """The records that wait on this side, in order of arrival."""

    @abstractmethod
    def waits(self) -> bool:
        """Does any record wait on this side?"""


@dataclass(frozen=True)
class Refutation:
    """A record that no continuation can match, its side and position, and what it is in conflict with."""

    side: Side
    position: int
    record: Any
    conflict: Conflict


_NO_BOOK = Book()
Pair: TypeAlias = tuple[Side, Side]


class Plan(ABC):
    """What a dependence needs: makes both sides of a matcher."""

    @abstractmethod
    def sides(self) -> Pair:
        """The left side and the right one, with nothing waiting."""


def position_of(waiting: Waiting) -> int:
    """What waiting records are sorted by: the order of arrival."""
    return waiting[0]
