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
    """How many rows of the key came too late so far."""


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
