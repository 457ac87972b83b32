"""The errors that firesteel raises about its own use. Failures of a check are not here: see `firesteel.evidence`.

Every message names the argument, its value and its type, and says what to write instead.
"""

from __future__ import annotations

from typing import Any


class InvalidArgument(ValueError):
    """An argument that firesteel cannot use.

    >>> import firesteel as fs
    >>> fs.always(fs.TRUE, during=0)
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: during=0 (int) is not a bound: write a whole number from 1, or ...
    """


class PredicateError(RuntimeError):
    """A predicate, or the body of `let` or `consume`, that raised or gave something that is not an answer.

    The user's own exception, if there was one, is the cause (`__cause__`).
    """


class Unanswered(Exception):
    """A failure that leaves open what was asked: raised inside a predicate, it does not mean that the answer is no."""


def described(name: str, value: Any) -> str:
    """`name=value (type)`, cut to a length that stays readable.

    >>> described("during", 0)
    'during=0 (int)'
    """
    shown = repr(value)
    if len(shown) > 120:
        shown = shown[:117] + "..."
    return f"{name}={shown} ({type(value).__name__})"
