"""How far a monitor of two streams is, from the rows that it puts out: what its groups counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PROGRESS, SHED = "progress", "shed"
DIFFERENCES = frozenset({"difference", "unmatched", "false"})
"""The kinds of verdicts that something is wrong. "shed" is none: of rows that were dropped nothing is known."""


def is_difference(row: Mapping[str, Any]) -> bool:
    """Does a row of a monitor say that something is wrong?

    >>> [is_difference({"kind": kind}) for kind in ("unmatched", "shed")]
    [True, False]
    """
    return row["kind"] in DIFFERENCES


@dataclass(frozen=True)
class Group:
    """What a group of rows counted, when it was last called. A group without new rows is not called."""

    unmatched: int = 0
    matched: int = 0
    quarantined: int = 0
    since: float | None = None
    """Since when its oldest row waits, in seconds since 1970; None where none does."""

    def lag(self, now: float) -> float:
        """For how many seconds its oldest row has waited: longer and longer, while the group is not called.

        >>> Group(unmatched=1, since=100.0).lag(107.5)
        7.5
        """
        return 0.0 if self.since is None else max(0.0, now - self.since)


@dataclass
class Progress:
    """The groups of a monitor, by their number."""

    groups: dict[str, Group] = field(default_factory=dict)

    def take(self, row: Mapping[str, Any]) -> None:
        """A row of the kind "progress"."""
        waits = row["unmatched"] > 0
        since = row["time"].timestamp() - row["lag"] if waits else None
        group = row["id"].rpartition("/")[2]
        self.groups[group] = Group(row["unmatched"], row["matched"], row["quarantined"], since)

    @property
    def unmatched(self) -> int:
        return sum(group.unmatched for group in self.groups.values())

    @property
    def matched(self) -> int:
        return sum(group.matched for group in self.groups.values())

    @property
    def quarantined(self) -> int:
        return sum(group.quarantined for group in self.groups.values())

    def lag(self, now: float) -> float:
        """The longest of the groups, in seconds."""
        return max((group.lag(now) for group in self.groups.values()), default=0.0)
