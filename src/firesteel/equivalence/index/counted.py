"""For a stream in which nothing is ordered: the records that wait are counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from firesteel.equivalence.index.sides import MATCHED, Outcome, Pair, Plan, Side, Waiting, position_of
from firesteel.values.equality import Equality

# Most keys have one record waiting, and a deque costs more than all the rest. So a single record stands for itself.
_Group: TypeAlias = "Waiting | deque[Waiting]"


def _join(groups: dict[Hashable, _Group], key: Hashable, new: Waiting) -> None:
    """Put one more record into a group that has some."""
    group = groups[key]
    if type(group) is deque:
        group.append(new)
    else:
        groups[key] = deque((group, new))  # type: ignore[arg-type]


def _in_order(groups: Iterable[_Group]) -> list[Waiting]:
    found: list[Waiting] = []
    for group in groups:
        if isinstance(group, deque):
            found.extend(group)
        else:
            found.append(group)
    return sorted(found, key=position_of)


class _Counted(Side):
    __slots__ = ("key", "mine", "theirs")

    def __init__(self, equality: Equality, mine: dict[Hashable, _Group], theirs: dict[Hashable, _Group]) -> None:
        super().__init__()
        self.key, self.mine, self.theirs = equality.key_function, mine, theirs

    def take(self, record: Any, position: int) -> Outcome:
        key = self.key(record)
        group = self.theirs.pop(key, None)
        if group is None:
            new = (position, record)
            if self.mine.setdefault(key, new) is not new:
                _join(self.mine, key, new)
            return None
        if type(group) is deque:
            group.popleft()
            if group:
                self.theirs[key] = group
        return MATCHED

    def waiting(self) -> list[Waiting]:
        return _in_order(self.mine.values())

    def waits(self) -> bool:
        return bool(self.mine)


@dataclass(frozen=True)
class Count(Plan):
    """Nothing is ordered: records are counted, by the equality's key."""

    equality: Equality

    def sides(self) -> Pair:
        left: dict[Hashable, _Group] = {}
        right: dict[Hashable, _Group] = {}
        return _Counted(self.equality, left, right), _Counted(self.equality, right, left)
