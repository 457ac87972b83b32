"""`Check`: the answer to a question about records, with the records that decided it.

A batch on the driver and one that stays in Spark find the deciding records in different ways. The answers are put into
words here, from counts and some of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.names import name_of
from firesteel.values.records import brief, is_numpy_bool


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

    def __post_init__(self) -> None:
        given: Any = self.holds
        if is_numpy_bool(given):
            object.__setattr__(self, "holds", bool(given))
        elif given is not True and given is not False:
            raise InvalidArgument(f"{described('holds', given)} is not an answer: write True or False")

    def __bool__(self) -> bool:
        return self.holds


def answer_every(
    predicate: Callable[[Any], Any], *, offending: tuple[Any, ...], count: int, total: int, why: str = ""
) -> Check:
    """The answer of `every`, where `count` of `total` records do not satisfy the predicate.

    `why` is what the predicate said about the first of them.
    """
    if not count:
        return Check(True)
    verb = "does" if count == 1 else "do"
    said = f"{count} of {total} records {verb} not satisfy {name_of(predicate)}"
    return Check(False, said + _of_the_first(why, count), offending)


def answer_none(predicate: Callable[[Any], Any], *, offending: tuple[Any, ...], count: int, total: int) -> Check:
    """The answer of `none`, where `count` of `total` records satisfy the predicate."""
    if not count:
        return Check(True)
    verb = "satisfies" if count == 1 else "satisfy"
    return Check(False, f"{count} of {total} records {verb} {name_of(predicate)}", offending)


def no_record_satisfies(
    predicate: Callable[[Any], Any], *, records: tuple[Any, ...], total: int, why: str = ""
) -> Check:
    """The answer of `some`, where none of `total` records satisfies the predicate; `records` are those to remember."""
    said = f"none of {total} records satisfies {name_of(predicate)}"
    return Check(False, said + _of_the_first(why, total), records)


def _of_the_first(why: str, count: int) -> str:
    """What a predicate said about the first of `count` records, behind what was found."""
    if not why:
        return ""
    return f": {why}" if count == 1 else f"; of the first it says: {why}"


def not_unique(columns: Sequence[str], *, repeated: tuple[Any, ...], times: int, groups: int) -> Check:
    """The answer of `unique`, where `groups` values repeat: the first of `repeated` comes `times` times."""
    more = f", and {groups - 1} more repeat" if groups > 1 else ""
    return Check(False, f"{keyed(repeated[0], columns)} comes {times} times{more}", repeated)


def out_of_order(index: int, columns: Sequence[str], pair: tuple[Any, ...]) -> Check:
    """The answer of `sorted_by`, where record `index` should have come before the one in front of it."""
    by = ", ".join(columns) or "all columns"
    return Check(False, f"record {index} comes before record {index - 1} by {by}", pair)


def difference(*, missing: Sequence[Any], extra: Sequence[Any], counts: tuple[int, int] | None = None) -> Check:
    """How two batches differ. `counts` says how many records are missing and extra, where only some are given."""
    if not missing and not extra:
        return Check(True)
    many, more = counts if counts is not None else (len(missing), len(extra))
    parts = [
        f"{count} {word}: {_some_shown(records)}"
        for count, word, records in ((many, "missing", missing), (more, "too many", extra))
        if records
    ]
    return Check(False, "; ".join(parts), (*missing, *extra))


def keyed(record: Any, columns: Sequence[str]) -> str:
    """The record's values in these columns, in words; without columns, the record."""
    if not columns:
        return brief(record)
    return ", ".join(f"{column}={brief(record[column])}" for column in columns)


def _some_shown(records: Sequence[Any], most: int = 3) -> str:
    text = ", ".join(brief(record) for record in records[:most])
    return text if len(records) <= most else f"{text}, ..."
