"""What a lint found, as data. `firesteel.report.lint` has the words around it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from firesteel.values.programs import CallSite, Level


class Severity(Enum):
    """How sure a finding is, and how bad."""

    ERROR = "error"
    """The result hangs on luck, whatever the data is."""
    WARNING = "warning"
    """It hangs on luck for some data, or after a failure, or from one run to the next."""


@dataclass(frozen=True)
class Lint:
    """A place in a program where the result hangs on luck.

    >>> import firesteel as fs
    >>> found = fs.Lint("limit-without-order", fs.Severity.ERROR, None, "limit takes any 3 rows")
    >>> print(found)
    error: limit takes any 3 rows [limit-without-order]
    """

    rule: str
    """The name of the rule, as `ignore` takes it."""
    severity: Severity
    where: CallSite | None
    """The line of the user's program."""
    message: str
    """What happens, in words."""
    example: str = ""
    """A small one."""
    instead: str = ""
    """What to write."""
    spark_level: Level | None = None
    """What Spark believes of the operation."""
    level: Level | None = None
    """What it is."""
    confirmed: str = ""
    """What two runs of this program gave on its own data, where they differ; empty where nothing was seen."""
    operation: int | None = None
    """The number of the operation in the program that was captured."""
    action: int | None = None
    """The number of the action, where the finding is about one."""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where is not None else ""
        return f"{place}{self.severity.value}: {self.message} [{self.rule}]"


@dataclass(frozen=True)
class Judged:
    """What was found out about the records of one operation."""

    operation: int
    level: Level
    reasons: tuple[str, ...] = ()
    """Why it is not DETERMINATE, in words."""
    spark_level: Level | None = None
    """What Spark believes, where it ran."""


@dataclass(frozen=True)
class Linted:
    """All that a lint found."""

    findings: tuple[Lint, ...] = ()
    levels: tuple[Judged, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be looked at, and why."""


class Unclean(AssertionError):
    """A program whose result hangs on luck; `findings` says where."""

    findings: tuple[Lint, ...]

    def __init__(self, message: str, findings: tuple[Lint, ...]) -> None:
        super().__init__(message)
        self.findings = findings


Unclean.__module__ = "firesteel"  # where users know it from
