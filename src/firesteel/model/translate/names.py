"""Names for the things of a model: none is a word of MSVL, a state function, or used twice."""

from __future__ import annotations

import re
from collections.abc import Iterable

from firesteel.model.msvl.functions import FUNCTIONS
from firesteel.model.msvl.grammar import WORDS


def allowed(name: str) -> str:
    """A name that MSVL may use for what Python calls so.

    >>> allowed("words"), allowed("next"), allowed("groupBy().agg")
    ('words_', 'next_', 'groupBy_agg')
    """
    plain = re.sub(r"\W+", "_", name).strip("_") or "f"
    plain = f"f{plain}" if plain[0].isdigit() else plain
    return f"{plain}_" if plain in WORDS or plain in FUNCTIONS else plain


class Names:
    """Gives names, each once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def fresh(self, wanted: str) -> str:
        """The name, or the name with a number."""
        name = base = allowed(wanted)
        number = 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def numbered(self, wanted: str) -> str:
        """The name with the first number that is free: `map1`, `map2`."""
        base, number = re.sub(r"\W+", "_", wanted).strip("_"), 1
        while f"{base}{number}" in self._taken:
            number += 1
        self._taken.add(f"{base}{number}")
        return f"{base}{number}"
