"""Durations as users write them: `"15 minutes"`, `"1 hour 30 minutes"`, or a `timedelta`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from firesteel.errors import InvalidArgument, described

START = datetime(2000, 1, 1, tzinfo=UTC)
"""When time starts by default: the processing time of the first batch, and generated event time."""

_UNITS = {
    "microsecond": timedelta(microseconds=1),
    "millisecond": timedelta(milliseconds=1),
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_PART = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*([a-z]+?)s?(?=[\s,]|$)[\s,]*", re.IGNORECASE)


def duration(value: str | timedelta, argument: str, *, zero: bool = False) -> timedelta:
    """A duration as a timedelta. One that cannot be read, or is not above zero, is refused by the name of its argument.

    >>> duration("1 hour 30 minutes", "every")
    datetime.timedelta(seconds=5400)
    >>> duration("2 months", "every")
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: every='2 months' (str) is not a duration: months and years have no fixed length; \
write days, such as '30 days'
    """
    found = value if isinstance(value, timedelta) else _parsed(value, argument)
    if found < timedelta(0) or (not found and not zero):
        least = "zero or more" if zero else "more than zero"
        raise InvalidArgument(f"{described(argument, value)} is not possible: a duration has to be {least}")
    return found


def text(length: timedelta) -> str:
    """A duration in the fewest words, as `duration` reads it.

    >>> text(timedelta(minutes=90)), text(timedelta(days=1)), text(timedelta(0))
    ('90 minutes', '1 day', '0 seconds')
    """
    name, unit = next(
        ((name, unit) for name, unit in reversed(_UNITS.items()) if length and not length % unit),
        ("second", _UNITS["second"]),
    )
    count = length // unit
    return f"{count} {name}{'' if count == 1 else 's'}"


def _parsed(value: object, argument: str) -> timedelta:
    if not isinstance(value, str):
        raise InvalidArgument(f"{described(argument, value)} is not a duration: {_HOW}")
    rest = re.sub(r"^\s*interval\b", "", value, flags=re.IGNORECASE)
    found, place = timedelta(0), 0
    while place < len(rest):
        part = _PART.match(rest, place)
        if part is None:
            raise InvalidArgument(f"{described(argument, value)} is not a duration: {_HOW}")
        unit = part[2].lower()
        if unit in ("month", "year"):
            raise InvalidArgument(
                f"{described(argument, value)} is not a duration: months and years have no fixed length; "
                "write days, such as '30 days'"
            )
        if unit not in _UNITS:
            raise InvalidArgument(f"{described(argument, value)} is not a duration: {part[2]!r} is not a unit; {_HOW}")
        found += _UNITS[unit] * float(part[1]) if "." in part[1] else _UNITS[unit] * int(part[1])
        place = part.end()
    if not place:
        raise InvalidArgument(f"{described(argument, value)} is not a duration: {_HOW}")
    return found


_HOW = "write a number and a unit, such as '15 minutes', '1 hour 30 minutes' or '500 milliseconds'"
