"""For any dependence: the records that wait are kept in order of arrival, and are walked through."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

from firesteel.equivalence.index.keys import key_columns, key_function
from firesteel.equivalence.index.sides import MATCHED, Conflict, Outcome, Pair, Plan, Side, Waiting
from firesteel.values.dependence import Dependence
from firesteel.values.equality import Equality


class _Scanned(Side):
    __slots__ = ("columns", "depends_on", "key", "mine", "theirs")

    def __init__(self, plan: Scan, mine: _Arrived, theirs: _Arrived) -> None:
        super().__init__()
        self.depends_on, self.mine, self.theirs = plan.dependence.depends_on, mine, theirs
        self.key = plan.equality.key_function
        columns = key_columns(plan.dependence)
        self.columns = key_function(columns, plan.equality) if columns else None
        """Asked about every record, so that an impossible key is refused even if there is nothing to compare with."""

    def take(self, record: Any, position: int) -> Outcome:
        if self.columns is not None:
            self.columns(record)
        key, depends_on, theirs = self.key(record), self.depends_on, self.theirs
        for place, (other_key, other) in theirs.items():
            if other_key == key:
                del theirs[place]
                return MATCHED
            if depends_on(other, record):
                return Conflict(place, other)
        self.mine[position] = (key, record)
        return None

    def waiting(self) -> list[Waiting]:
        return [(position, record) for position, (_, record) in self.mine.items()]

    def waits(self) -> bool:
        return bool(self.mine)


class _ScannedClose(_Scanned):
    """With tolerances: there are no keys, every record is compared."""

    __slots__ = ("equal",)

    def __init__(self, plan: Scan, mine: _Arrived, theirs: _Arrived) -> None:
        super().__init__(plan, mine, theirs)
        self.equal = plan.equality.equal_function

    def take(self, record: Any, position: int) -> Outcome:
        if self.columns is not None:
            self.columns(record)
        theirs = self.theirs
        for place, (_, other) in theirs.items():
            if self.equal(other, record):
                del theirs[place]
                return MATCHED
            if self.depends_on(other, record):
                return Conflict(place, other)
        self.mine[position] = (None, record)
        return None


_Arrived: TypeAlias = "OrderedDict[int, tuple[Hashable, Any]]"  # a dict's first item takes long to find after deletions


@dataclass(frozen=True)
class Scan(Plan):
    """Walks through what waits on the other side, in order of arrival. For any dependence, and any equality."""

    dependence: Dependence
    equality: Equality

    def sides(self) -> Pair:
        kind = _Scanned if self.equality.exact else _ScannedClose
        left: _Arrived = OrderedDict()
        right: _Arrived = OrderedDict()
        return kind(self, left, right), kind(self, right, left)
