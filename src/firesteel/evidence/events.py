"""What happens while a check runs, as a stream of small values that anybody may listen to.

Progress on the terminal is a listener. Whoever tells the events knows nobody who listens.
Nothing is imported here: the search, which knows neither streams nor Spark, tells events too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Started:
    """A check begins."""

    asked: Any


@dataclass(frozen=True)
class Drawn:
    """Cases were drawn; none of them has been run."""

    cases: int


@dataclass(frozen=True)
class Screening:
    """Many cases are about to be run together."""

    cases: int


@dataclass(frozen=True)
class Screened:
    """Many cases were run together, or could not be: then `why_not` says why."""

    cases: int
    why_not: str | None = None


@dataclass(frozen=True)
class Judging:
    """A case is about to be judged."""

    case: int
    of: int


@dataclass(frozen=True)
class Judged:
    """A case was judged: the value that was drawn, and what came of it."""

    case: int
    of: int
    value: Any
    judgement: Any
    events: tuple[str, ...] = ()
    """What `hypothesis.event` was told."""


@dataclass(frozen=True)
class Shrinking:
    """A case fails, and simpler ones are being tried."""

    case: int
    of: int
    tried: int


@dataclass(frozen=True)
class Reading:
    """A log is being read."""

    events: int
    size: int
    """How many bytes were read."""
    of: int


@dataclass(frozen=True)
class Concluded:
    """The check has its answer."""

    report: Any


Event: TypeAlias = Started | Drawn | Screening | Screened | Judging | Judged | Shrinking | Reading | Concluded
Listener: TypeAlias = Callable[[Event], None]


def nobody(event: Event) -> None:
    """A listener that does not listen."""
