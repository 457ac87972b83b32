"""What counts as an answer when a function of the user is asked whether something holds."""

from __future__ import annotations

from typing import Any

from firesteel.values.checks import Check


def as_bool(answer: Any) -> bool | None:
    """The bool in an answer: True or False, numpy's own, or a Check; None if it is anything else.

    >>> as_bool(Check(False)), as_bool(1)
    (False, None)
    """
    if isinstance(answer, (bool, Check)) or _is_numpy_bool(answer):
        return bool(answer)
    return None


def _is_numpy_bool(value: Any) -> bool:
    """Comparisons of pandas and numpy values give numpy's own bool, which is not a bool to Python."""
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")
