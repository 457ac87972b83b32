"""What runs on Spark showed about an operator, as data. `firesteel.report.onspark` has the words for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from firesteel.perturb.changes import UNCHANGED, Variant

Step: TypeAlias = tuple[str, tuple[Any, ...]]
"""A record and the port that it comes on."""


@dataclass(frozen=True)
class Fed:
    """One run on Spark: what was fed, batch by batch, how Spark ran it, and the outputs that matter."""

    batches: tuple[tuple[Step, ...], ...]
    outputs: tuple[Any, ...]
    under: Variant = UNCHANGED
    interval: timedelta | None = None
    """The pause between batches, where it is not the usual one."""
    dealt: int = 1
    """Over how many partitions the records of a batch are dealt, one by one."""
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The columns of every port."""
    retried: bool = False
    """Did every task of the last stage fail once, and was run again?"""


@dataclass(frozen=True)
class Unlike:
    """Two runs that should give the same, and do not. Both were seen twice, each time by themselves on real Spark."""

    left: Fed
    right: Fed


@dataclass(frozen=True)
class Fired:
    """One run whose last batch shows something by itself: how many rows came out of one record."""

    seen: Fed


@dataclass(frozen=True)
class Grew:
    """The state that a run kept after some keys that are over, and after four times as many."""

    seen: Fed
    keys: int
    few: int
    many: int


@dataclass(frozen=True)
class Raised:
    """A run that did not come to its end, as the operator raised."""

    seen: Fed
    error: str


OnSpark: TypeAlias = Unlike | Fired | Grew | Raised
