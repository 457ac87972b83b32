"""What a comparison of two DataFrames found, as data. `firesteel.report.frames` has the words for it."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.values.equality import Equality
from firesteel.values.records import Record


@dataclass(frozen=True)
class Odd:
    """A row of one frame that the other frame does not have, or does not have as often."""

    record: Record
    times: int = 1
    """How many more of them this frame has."""
    place: int | None = None
    """From 0, in the frame or among the rows of its key; None where order does not matter."""


@dataclass(frozen=True)
class ColumnTypes:
    """A column that the frames do not have in common: its type on each side, as DDL, or None where it is missing."""

    name: str
    left: str | None
    right: str | None


@dataclass(frozen=True)
class Difference:
    """How two frames differ: the rows that only one of them has. All of them are counted, and the first are kept."""

    only_left: int = 0
    only_right: int = 0
    left: tuple[Odd, ...] = ()
    right: tuple[Odd, ...] = ()
    key: tuple[str, ...] | None = None
    """The rows that agree in these columns have to keep their order: all rows if it is empty, none if it is None."""
    schema: tuple[ColumnTypes, ...] = ()
    """The columns that differ. If there are any, no rows were compared."""
    reason: str = ""
    """What the matcher said, if one compared the rows."""
    exact_first: Equality | None = None
    """Set if there were too many rows for the best pairing under this equality: then rows that are exactly equal were
    paired first, and rows that are close only afterwards."""


@dataclass(frozen=True)
class Undecided:
    """Too many rows have no exact equal: the driver compares at most `most` of them with tolerances or a function."""

    only_left: int
    only_right: int
    equal: Equality
    most: int
