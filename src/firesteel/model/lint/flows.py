"""What is known of the records that flow between operations: their order, and what in them hangs on luck."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeAlias

from firesteel.evidence.lint import Severity
from firesteel.values.programs import Level


class Order(Enum):
    """In which order records come, if the same tasks run again."""

    FIXED = "fixed"
    """In the same one."""
    TIES = "ties"
    """Sorted; records with equal keys in any order."""
    ANY = "any"
    """In any: what a shuffle brings arrives as the network brings it."""


class Touch(Enum):
    """How much of a value hangs on luck."""

    VALUE = "value"
    """All of it."""
    LIST = "list"
    """The order in a list: sorting helps, and its size does not hang on luck."""
    DIGITS = "digits"
    """The last digits of a floating-point number."""
    RERUN = "rerun"
    """A retry gives the same, another run of the program does not."""


@dataclass(frozen=True)
class Reason:
    """Why something hangs on luck, and where that began."""

    rule: str
    """The rule that reports it."""
    text: str
    """What happens, in words."""
    operation: int | None
    touch: Touch = Touch.VALUE
    severity: Severity | None = None
    """How bad it is, where that is not what the rule says."""
    at_action: bool = False
    """Does it begin in the action itself, and not in the operation that it was called on?"""
    kept: bool = False
    """Is it in a checkpoint, so that a task that is run again reads the same?"""


GROUPED = -2
"""The values of a group, among the parts of a record: they are in the order in which they arrived. That alone is not
bad: it is, once a function goes by that order."""
GROUPED_ALONE = -3
"""The same, where `values` has left nothing else of the record."""

Reasons: TypeAlias = tuple[Reason, ...]


@dataclass(frozen=True)
class Flow:
    """What is known of some records. Columns and parts of records are given by numbers."""

    order: Order = Order.FIXED
    one_row: bool = False
    """Is there one record at most?"""
    unique: frozenset[frozenset[int]] = frozenset()
    """Each of these sets of columns has other values in every record."""
    rows: Reasons = ()
    """Why other records may be there."""
    values: Mapping[int, Reasons] = field(default_factory=dict)
    """Why the values of a column may be others."""

    @property
    def level(self) -> Level:
        """The level of Spark's that this is."""
        if any(one.touch is not Touch.RERUN and not one.kept for one in self.reasons):
            return Level.INDETERMINATE
        return Level.DETERMINATE if self.order is Order.FIXED or self.one_row else Level.UNORDERED

    @property
    def reasons(self) -> Reasons:
        """All of them, each once."""
        return together(self.rows, *(why for part, why in self.values.items() if part not in (GROUPED, GROUPED_ALONE)))

    def tells_apart(self, columns: Iterable[int]) -> bool:
        """Do these columns tell all records apart?"""
        given = frozenset(columns)
        return self.one_row or any(one <= given for one in self.unique)

    def with_rows(self, *reasons: Reason) -> Flow:
        """The same, and other records may be there."""
        return replace(self, rows=together(self.rows, reasons)) if reasons else self

    def checkpointed(self) -> Flow:
        """The same, written down: what hangs on luck stays as it is."""
        values = {part: _kept(why) for part, why in self.values.items()}
        return replace(self, rows=_kept(self.rows), values=values)

    def in_order(self, order: Order) -> Flow:
        """The same records in some order."""
        return self if self.order is order else replace(self, order=order)


def _kept(reasons: Iterable[Reason]) -> Reasons:
    return tuple(replace(one, kept=True) for one in reasons)


def together(*several: Iterable[Reason]) -> Reasons:
    """All reasons, each once."""
    return tuple(dict.fromkeys(one for reasons in several for one in reasons))


class Untested(Exception):
    """A function cannot be tested; the message says why."""


@dataclass(frozen=True)
class Help:
    """What a lint asks of those who know Spark. Everything may be left out; then less is found."""

    function_of: Callable[[Any], Callable[..., Any] | None] = lambda expression: None
    """The function of Python's behind an expression of a plan."""
    is_written: Callable[[Any], bool] = lambda expression: False
    """Did the user write this cast? Spark adds others."""
    coming: Callable[[Collection[int]], None] = lambda operations: None
    """Operations whose records will be asked for: they can be had together."""
    sample: Callable[[int], list[Any]] = lambda operation: []
    """A few records of an operation."""
    reducer: Callable[[Callable[..., Any], list[Any]], str | None] = lambda function, values: None
    """Evidence that a function does not merge these values in any order; None if there is none. Raises `Untested`."""
    repeats: Callable[[Callable[..., Any], list[Any]], str | None] = lambda function, values: None
    """Evidence that a function gives something else when it is called again; None if there is none."""
    setting: Callable[[str], str | None] = lambda name: None
    """What a setting of Spark's was set to; None where the program left it alone."""
    runs: Callable[[Any], str] = lambda finding: ""
    """What two runs gave, if they differ on the captured data."""
    no_sample: str = "nothing is run again"
    """Why `sample` gives no records, where it gives none."""
