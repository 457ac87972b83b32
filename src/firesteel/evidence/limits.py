"""The limit that ended the search for a simpler case. Nothing is imported here: the search makes these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CutShort:
    """Shrinking was ended before it was done.

    >>> CutShort("shrink_seconds", 60).after
    '60 s'
    """

    option: str
    """The option that says how far it may go: `shrink_seconds` or `shrink_candidates`."""
    limit: float

    @property
    def after(self) -> str:
        """How far it came."""
        if self.option == "shrink_seconds":
            return f"{self.limit:g} s"
        return f"{self.limit:g} candidate{'' if self.limit == 1 else 's'}"
