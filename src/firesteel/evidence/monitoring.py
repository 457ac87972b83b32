"""What a monitor of a rule says about a key, and what it is told with a call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True)
class Said:
    """One row of what a monitor puts out about a key."""

    kind: Literal["false", "late"]
    instant: int | None
    """The instant at which the rule is false, counted from 0 for each key."""
    decided: int | None
    """The instant that decided it; None where the end of the trace did."""
    time: datetime | None
    """The start of the window that decided it, or the time of the micro-batch."""
    reason: str
    records: tuple[str, ...]
    """Records that decided it, as text."""
    late: int
    """How many rows of the key came too late so far; a key that has no state yet, or no more, begins at 0."""


@dataclass(frozen=True)
class Next:
    """What is kept of a key after a call, what it says, and when it wants to be called again."""

    state: str | None
    """None: the key is finished."""
    said: tuple[Said, ...]
    wake: int | None = None
    """In milliseconds: call again once the watermark, or without windows the clock, is past it."""


@dataclass(frozen=True)
class Now:
    """The time of a call."""

    watermark: int
    clock: int
    """When the micro-batch began, in milliseconds."""
    timed_out: bool = False
    batch: int = -1
    """The number of the micro-batch."""
    group: int = 0
    """The part of the streams that this call is about."""


@dataclass(frozen=True)
class Place:
    """Where a row of one side came: the micro-batch, and the partition and position there."""

    batch: int
    partition: int
    position: int


@dataclass(frozen=True)
class Compared:
    """One row of what a monitor of two streams puts out."""

    kind: Literal["difference", "unmatched", "shed", "progress"]
    id: str
    """The same for the same difference, also after a restart."""
    key: str | None
    """The values of the key's columns, as text; None where there is no key."""
    side: Literal["left", "right"] | None
    """The side of the row that cannot be matched."""
    left: tuple[Place, str] | None
    """The row of the left that it is about, as text."""
    right: tuple[Place, str] | None
    reason: str
    unmatched: int
    """How many rows wait for their match now, in this group."""
    matched: int
    """How many pairs were matched so far, in this group."""
    quarantined: int
    """How many rows were not looked at so far, because their key is in quarantine or was shed."""
    lag: int
    """For how many milliseconds the oldest row has waited."""
