"""`Check`: the answer of a question about records, with the records that decided it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """A bool that remembers its offending records; `and`, `or`, `if` work as with bool.

    >>> import firesteel as fs
    >>> check = fs.Batch([1, -2, 3]).every(lambda n: n > 0)
    >>> bool(check), check.records, check.reason
    (False, (-2,), '1 of 3 records does not satisfy n > 0')
    """

    holds: bool
    reason: str = ""
    records: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return self.holds
