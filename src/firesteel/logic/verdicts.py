"""The three values of the logic, false < inconclusive < true, and Kleene's connectives on them."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """What is known about a formula: true, false, or inconclusive because the trace is too short.

    In a boolean context true and false are themselves, and inconclusive raises: it is neither.

    >>> Verdict.TRUE & Verdict.INCONCLUSIVE
    <Verdict.INCONCLUSIVE: 0>
    >>> Verdict.TRUE | Verdict.INCONCLUSIVE, ~Verdict.TRUE
    (<Verdict.TRUE: 1>, <Verdict.FALSE: -1>)
    >>> bool(Verdict.FALSE)
    False
    """

    TRUE = 1
    FALSE = -1
    INCONCLUSIVE = 0

    def __bool__(self) -> bool:
        if self is Verdict.INCONCLUSIVE:
            raise ValueError(
                "an inconclusive verdict is neither true nor false: the trace is too short for the formula. "
                "Ask `verdict is fs.Verdict.TRUE`, or judge a longer trace"
            )
        return self is Verdict.TRUE

    def __and__(self, other: Verdict) -> Verdict:
        return self if self.value <= other.value else other

    def __or__(self, other: Verdict) -> Verdict:
        return self if self.value >= other.value else other

    def __invert__(self) -> Verdict:
        return Verdict(-self.value)

    @property
    def definite(self) -> bool:
        """True or false, not inconclusive.

        >>> Verdict.FALSE.definite, Verdict.INCONCLUSIVE.definite
        (True, False)
        """
        return self is not Verdict.INCONCLUSIVE
