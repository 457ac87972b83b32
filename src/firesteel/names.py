"""What to call things in a message: a user's function by its name or its source text, things by their number."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any


def name_of(function: Callable[..., Any]) -> str:
    """The function's name; for a lambda, the text of its body.

    >>> name_of(lambda x: x > 0)
    'x > 0'
    >>> name_of(len)
    'len'
    """
    if isinstance(function, partial):
        return name_of(function.func)
    name = getattr(function, "__name__", None)
    if name == "<lambda>":
        return short(body_text(function.__code__) or "<lambda>")
    return name if isinstance(name, str) else type(function).__name__


def place_of(function: Callable[..., Any]) -> str | None:
    """Where a function was written, as `file:line`; None where that cannot be known."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if isinstance(code, CodeType) else None


def short(text: str, most: int = 100) -> str:
    """A text, cut to a length that stays readable."""
    return text if len(text) <= most else text[: most - 3] + "..."


def body_text(code: CodeType) -> str | None:
    """A lambda's body as it stands in its file, on one line.

    Python keeps the place of every instruction, and a lambda holds nothing but its body, so the body reaches
    from the first of these places to the last.
    """
    # An instruction of no source (RESUME, closure set-up) stands on a line with no width.
    places = [
        (line, start, end_line, end)
        for line, end_line, start, end in code.co_positions()
        if line is not None and end_line is not None and start is not None and end is not None
        if (line, start) != (end_line, end)
    ]
    if not places:
        return None
    (first_line, first), (last_line, last) = min(p[:2] for p in places), max(p[2:] for p in places)
    lines = [linecache.getline(code.co_filename, number) for number in range(first_line, last_line + 1)]
    if not all(lines):
        return None
    # Positions count bytes of UTF-8, not characters.
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:last]
    raw[0] = raw[0][first:]
    return " ".join(part.decode(errors="replace").strip() for part in raw)


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "window"), counted(2, "batch")
    ('1 window', '2 batches')
    """
    return f"{count} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Several of them.

    >>> plural("batch"), plural("window")
    ('batches', 'windows')
    """
    return noun + ("es" if noun.endswith("ch") else "s")
