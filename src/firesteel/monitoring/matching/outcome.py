"""What matching made of some rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Differs:
    """A row that can never be matched, and the row of the other side that it would have to come after."""

    row: int
    other: int


@dataclass(frozen=True)
class Matched:
    """What became of the rows. Groups with a difference have no other rows here."""

    pairs: int
    waiting: Any
    """The rows that wait, in order."""
    differing: tuple[Differs, ...]
