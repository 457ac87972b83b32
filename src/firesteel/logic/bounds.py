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
    if not isinstance(number, bool):
        try:
            whole = operator.index(number)
        except TypeError:
            whole = 0
        if whole >= 1:
            return whole
    raise InvalidArgument(f"{described(argument, number)} {complaint}")
