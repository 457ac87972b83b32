"""Progress on standard error: one line that changes, on a terminal, from the second second on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_QUIET_SECONDS = 2.0


@contextmanager
def showing() -> Iterator[Callable[[int, int, bool], None]]:
    """A function to call with the number of the case, of how many, and whether a counterexample is being shrunk."""
    if not sys.stderr.isatty():
        yield lambda case, of, shrinking: None
        return
    from rich.console import Console
    from rich.status import Status

    start, candidates = time.monotonic(), 0
    with Status("", console=Console(stderr=True)) as status:
        status.stop()

        def step(case: int, of: int, shrinking: bool) -> None:
            nonlocal candidates
            candidates += shrinking
            if time.monotonic() - start < _QUIET_SECONDS:
                return
            what = f"case {case} of {of}"
            if shrinking:
                what += f" fails: looking for a smaller one, {candidates} tried"
            status.update(f"firesteel: {what}")
            status.start()

        yield step
