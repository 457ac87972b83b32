"""For barriers: the records that wait are kept by epoch, which is what lies between two barriers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from firesteel.equivalence.index.sides import MATCHED, Conflict, Outcome, Pair, Plan, Side, Waiting
from firesteel.values.dependence import Barrier
from firesteel.values.equality import Equality


class _Epochs:
    """What both sides share: the epoch that both are in, and the later ones that one side has reached already.

    Each later epoch comes after its barrier.
    """

    __slots__ = ("ahead", "current", "leader")

    def __init__(self, current: Pair) -> None:
        self.current = current
        self.ahead: deque[tuple[Waiting, Pair]] = deque()
        self.leader = 0
        """The side that is ahead. Meanwhile nothing waits on the other side: it would depend on a barrier ahead."""


class _InEpochs(Side):
    __slots__ = ("barriers", "epochs", "equal", "inner", "is_barrier", "other", "side")

    def __init__(self, plan: Epochs, epochs: _Epochs, side: int) -> None:
        super().__init__()
        self.barriers, self.equal, self.inner = plan.barriers, plan.equality.equal_function, plan.inner
        self.is_barrier = plan.barriers[0].holds if len(plan.barriers) == 1 else self._any_holds
        self.epochs, self.side, self.other = epochs, side, 1 - side

    def _any_holds(self, record: Any) -> bool:
        return any(barrier.holds(record) for barrier in self.barriers)

    def take(self, record: Any, position: int) -> Outcome:
        epochs = self.epochs
        ahead = epochs.ahead
        if self.is_barrier(record):
            return self._take_barrier(record, position)
        if not ahead:
            return epochs.current[self.side].take(record, position)
        if epochs.leader == self.side:
            return ahead[-1][1][self.side].take(record, position)
        outcome = epochs.current[self.side].take(record, position)
        return Conflict(*ahead[0][0]) if outcome is None else outcome

    def _take_barrier(self, record: Any, position: int) -> Outcome:
        epochs = self.epochs
        if not epochs.ahead or epochs.leader == self.other:
            # A barrier depends on all that waits on the other side, so it can only match the first of these.
            if epochs.current[self.other].waits():
                return Conflict(*epochs.current[self.other].waiting()[0])
            if epochs.ahead:
                barrier, epoch = epochs.ahead[0]
                if not self.equal(barrier[1], record):
                    return Conflict(*barrier)
                epochs.ahead.popleft()
                epochs.current = epoch
                return MATCHED
        epochs.leader = self.side
        epochs.ahead.append(((position, record), self.inner.sides()))
        return None

    def waiting(self) -> list[Waiting]:
        epochs = self.epochs
        found = epochs.current[self.side].waiting()
        if epochs.leader == self.side:
            for barrier, epoch in epochs.ahead:
                found += [barrier, *epoch[self.side].waiting()]
        return found

    def waits(self) -> bool:
        epochs = self.epochs
        return bool(epochs.ahead and epochs.leader == self.side) or epochs.current[self.side].waits()


@dataclass(frozen=True)
class Epochs(Plan):
    """Barriers are in order with everything; between two of them, what is left of the dependence decides."""

    barriers: tuple[Barrier, ...]
    equality: Equality
    inner: Plan

    def sides(self) -> Pair:
        epochs = _Epochs(self.inner.sides())
        return _InEpochs(self, epochs, 0), _InEpochs(self, epochs, 1)
