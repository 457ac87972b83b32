"""Counts and bounds of operators: whole numbers from 1. A bound that is left out means the end of the trace."""

from __future__ import annotations

import operator
from typing import Any

from firesteel.errors import InvalidArgument, described


def limit(bound: Any, argument: str) -> int | None:
    """The bound of an operator; None where it is left out.

    >>> limit(3, "during"), limit(None, "during")
    (3, None)
    """
    if bound is None:
        return None
    return count(
        bound, argument, "is not a bound: write a whole number from 1, or leave it out to mean the end of the stream"
    )


def count(number: Any, argument: str, complaint: str = "is not a count: write a whole number from 1") -> int:
    """The number, if it is a whole number from 1; else an error that names the argument."""
    whole = whole_number(number, 1)
    if whole is None:
        raise InvalidArgument(f"{described(argument, number)} {complaint}")
    return whole


def whole_number(value: Any, least: int) -> int | None:
    """The value as an int, if it is a whole number of at least `least`; None if it is anything else, also a bool.

    >>> whole_number(3, 1), whole_number(0, 1), whole_number(True, 1)
    (3, None, None)
    """
    if isinstance(value, bool):
        return None
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return number if number >= least else None
