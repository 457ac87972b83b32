"""The JVM's standard error, on its way to ours: without chatter, and without what PySpark's own workers complain about.

A worker whose query was stopped finds nobody who reads its output, and prints a traceback. That tells a user nothing,
so it is kept out of the way, and shown where a worker died. What the user's own functions print is passed on.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable

_CHATTER = (
    b"WARNING: Using incubator modules",
    b"WARNING: package sun.security.action",
    b"Starting Streaming TransformWithState",  # PySpark's own workers, about every step they take
    b"Streaming TransformWithState",
)
_COMPLAINT = (b"PySpark daemon failed", b"PySpark worker failed")
_TRACEBACK = b"Traceback (most recent call last):"
_LINKS = (b"During handling of the above exception", b"The above exception was the direct cause")
_DAEMON = b"firesteel_daemon.py"  # stands in for PySpark's own (spark/perturb/levers.py)
_FRAME = re.compile(rb'\s+File "([^"]+)"')

_kept: deque[str] = deque(maxlen=200)


def last_words() -> list[str]:
    """The last lines that workers complained with, and that were kept out of the way."""
    return list(_kept)


class PassedOn:
    """Takes what the JVM writes, in any pieces, and passes on what a user wants to see."""

    def __init__(self, write: Callable[[bytes], None], pyspark: str) -> None:
        """`pyspark` is the folder of the package."""
        self._write, self._pyspark = write, os.fsencode(pyspark)
        self._rest = b""
        self._held: list[bytes] = []
        self._is_complaint = False
        self._is_over = False

    def feed(self, part: bytes) -> None:
        """Take some more."""
        *lines, rest = (self._rest + part).split(b"\n")
        text = b"".join(self._passed(line + b"\n") for line in lines)
        # Only a line that may have to be left out waits for its end; a progress bar has none.
        starts = (*_CHATTER, *_COMPLAINT, _TRACEBACK)
        if not self._held and not any(start.startswith(rest[: len(start)]) for start in starts):
            text, rest = text + rest, b""
        self._rest = rest
        self._write(text)

    def end(self) -> None:
        """There is no more to come."""
        self._write(self._passed(self._rest) + self._released() if self._rest else self._released())
        self._rest = b""

    def _passed(self, line: bytes) -> bytes:
        """What is to be written, now that there is one more line."""
        if not self._held:
            if line.startswith(_CHATTER):
                return b""
            if not line.startswith((*_COMPLAINT, _TRACEBACK)):
                return line
            self._is_complaint = line.startswith(_COMPLAINT)
            self._held = [line]
            return b""
        if self._is_complaint:
            return self._after_complaint(line)
        frame = _FRAME.match(line)
        if frame is not None and (frame[1].startswith(self._pyspark) or frame[1].endswith(_DAEMON)):
            self._is_complaint = True
        elif not (frame[1].startswith(b"<frozen") if frame is not None else line.startswith(b" ")):
            return self._released() + self._passed(line)
        self._held.append(line)
        return b""

    def _after_complaint(self, line: bytes) -> bytes:
        begins = line.startswith((_TRACEBACK, *_COMPLAINT))
        if self._is_over and not begins and not line.startswith((b"\n", *_LINKS)):
            return self._released() + self._passed(line)
        # The line after the frames is the exception: the end, unless another traceback follows.
        self._is_over = not begins and (self._is_over or not line.startswith(b" "))
        self._held.append(line)
        return b""

    def _released(self) -> bytes:
        """What was held back: nothing of it where PySpark complains, else all of it."""
        held, self._held = self._held, []
        if self._is_complaint:
            _kept.extend(line.decode(errors="replace").rstrip() for line in held)
            held = []
        self._is_complaint = self._is_over = False
        return b"".join(held)
