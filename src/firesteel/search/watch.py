"""How long the search for a simpler value may go on."""

from __future__ import annotations

import time
from typing import Any

from firesteel.evidence.limits import CutShort
from firesteel.search.wanted import SHRINK_CANDIDATES, SHRINK_SECONDS, Wanted


class Watch:
    """Counts the seconds and the candidates of one search for a simpler value."""

    def __init__(self, wanted: Wanted[Any]) -> None:
        self._seconds = SHRINK_SECONDS if wanted.shrink_seconds is None else wanted.shrink_seconds
        self._candidates = SHRINK_CANDIDATES if wanted.shrink_candidates is None else wanted.shrink_candidates
        self._since = time.monotonic()
        self._tried = 0

    def count(self, candidates: int) -> None:
        """So many more values have been tried."""
        self._tried += candidates

    @property
    def left(self) -> int:
        """How many more values may be tried."""
        return max(0, self._candidates - self._tried)

    @property
    def over(self) -> CutShort | None:
        """The limit that is reached, if one is."""
        if not self.left:
            return CutShort("shrink_candidates", self._candidates)
        if time.monotonic() - self._since > self._seconds:
            return CutShort("shrink_seconds", self._seconds)
        return None
