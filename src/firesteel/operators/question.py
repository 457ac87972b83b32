"""`Question`: runs to perform, and a judgement on what came of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from firesteel.evidence.operators import Proof
from firesteel.operators.comparing import Side
from firesteel.operators.outcomes import Seen


@dataclass(frozen=True)
class Question:
    """Some runs, and what they show if anything."""

    sides: tuple[Side, ...]
    judge: Callable[[Sequence[Seen]], Proof | None]
    port: str | None = None
    watched: bool = False
    """Is it to be seen what the runs do besides?"""

    def could_be_judged(self, seen: Sequence[Seen]) -> bool:
        """Did every run give what is looked at?"""
        return all(side.look.at(each) is not None for side, each in zip(self.sides, seen, strict=True))
