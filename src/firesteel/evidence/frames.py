"""How two DataFrames differ, as data."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.names import counted
from firesteel.values.equality import Equality
from firesteel.values.records import Record

ON_DRIVER = 100_000


@dataclass(frozen=True)
class Odd:
    """A row of one side, as often as the other side lacks it."""

    record: Record
    times: int = 1
    place: int | None = None
    """From 0, in the frame or among the rows of its key; None where order does not matter."""


@dataclass(frozen=True)
class Difference:
    """How two frames differ: rows that are only in one of them. All of them are counted, the first are kept."""

    only_left: int = 0
    only_right: int = 0
    left: tuple[Odd, ...] = ()
    right: tuple[Odd, ...] = ()
    key: tuple[str, ...] | None = None
    """The columns whose values tell which rows keep their order; none where all do, None where no order matters."""
    schema: tuple[str, ...] = ()
    """How the schemas differ, in lines; then no rows were compared."""
    reason: str = ""
    """What a matcher said, where one compared the rows."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Undecided:
    """Too many rows have no exact equal for the driver to compare them."""

    only_left: int
    only_right: int
    equal: Equality

    @property
    def reason(self) -> str:
        return (
            f"{counted(self.only_left, 'row')} only left and {self.only_right} only right have no exact equal: that is "
            f"more than the {ON_DRIVER:,} that are compared on the driver with {self.equal!r}. "
            "Round the columns in Spark first, with F.round, or compare the frames part by part"
        )
