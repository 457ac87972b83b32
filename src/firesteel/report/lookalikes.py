"""Where two values differ that look the same, or that are too long to be shown: as text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from firesteel.values.records import Record


def around(text: str, other: str, most: int) -> str:
    """A text, cut to the part where it begins to differ from another.

    >>> around("a" * 50 + "bc", "a" * 50 + "d", 10)
    '...aaabc'
    """
    if len(text) <= most:
        return text
    begins = _equal_for(text, other)
    start = max(0, begins - most // 3)
    if start <= 3:
        return text[: most - 3] + "..."
    rest = text[start:]
    return "..." + (rest if len(rest) <= most - 3 else rest[: most - 6] + "...")


def spots(name: str, left: Any, right: Any, most: int) -> Iterator[str]:
    """For texts in two values that are longer than `most`, or that hold more than ASCII: where they begin to differ.

    >>> for spot in spots("name", "Ren\u00e9", "Rene\u0301", 70):
    ...     print(ascii(spot))
    "name: equal for 3 characters, then '\\xe9' (U+00E9) left, 'e\\u0301' (U+0065 U+0301) right"
    """
    match left, right:
        case str(), str() if left != right:
            begins = _equal_for(left, right)
            parts = _part(left, begins), _part(right, begins)
            if not begins and left[len(parts[0]) :] != right[len(parts[1]) :]:
                return  # they do not look alike
            if max(len(left), len(right)) > most or not all(map(str.isascii, parts)):
                yield f"{name}: equal for {begins:,} characters, then {_told(parts[0])} left, {_told(parts[1])} right"
        case Record(), Record():
            for column, value in left.__dict__.items():
                if column in right.__dict__:
                    yield from spots(f"{name}.{column}", value, right[column], most)
        case list(), list():
            for at, (one, other) in enumerate(zip(left, right, strict=False)):
                yield from spots(f"{name}[{at}]", one, other, most)
        case dict(), dict():
            for key in left:
                if key in right:
                    yield from spots(f"{name}[{key!r}]", left[key], right[key], most)


def _equal_for(text: str, other: str) -> int:
    """How many characters two texts have in common, from the first on."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((at for at, (one, another) in pairs if one != another), min(len(text), len(other)))


def _part(text: str, start: int) -> str:
    """One character, with the accents that belong to it."""
    while 0 < start < len(text) and unicodedata.combining(text[start]):
        start -= 1
    end = start + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return text[start:end]


def _told(part: str) -> str:
    if not part:
        return "the end"
    points = "" if part.isascii() else f" ({' '.join(f'U+{ord(character):04X}' for character in part)})"
    return f"{part!r}{points}"
