"""Progress on standard error: one line that changes, on a terminal, from the second second on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from firesteel.evidence.events import Drawn, Event, Judging, Listener, Reading, Screened, Screening, Shrinking, nobody

_QUIET_SECONDS = 2.0


@contextmanager
def showing() -> Iterator[Listener]:
    """A listener that shows what happens."""
    if not sys.stderr.isatty():
        yield nobody
        return
    from rich.console import Console
    from rich.status import Status

    start = time.monotonic()
    with Status("", console=Console(stderr=True)) as status:
        status.stop()

        def listen(event: Event) -> None:
            text = _text(event)
            if text is not None and time.monotonic() - start >= _QUIET_SECONDS:
                status.update(f"firesteel: {text}")
                status.start()

        yield listen


@contextmanager
def saying_where(listener: Listener) -> Iterator[Listener]:
    """A listener before another one. Where the user interrupts what happens, the interrupt says how far it had come."""
    last: list[str] = []

    def listen(event: Event) -> None:
        text = _text(event)
        if text is not None:
            last[:] = [text]
        listener(event)

    try:
        yield listen
    except KeyboardInterrupt as interrupt:
        where = ", ".join([*last, *getattr(interrupt, "__notes__", ())]) or "before the first case"
        raise KeyboardInterrupt(f"firesteel was interrupted: {where}") from None


def _text(event: Event) -> str | None:
    match event:
        case Drawn(cases):
            return f"case 0 of {cases}"
        case Screening(cases):
            return f"{cases} cases are being run together"
        case Screened(cases, None):
            return f"{cases} cases were run together"
        case Judging(case, of):
            return f"case {case} of {of}"
        case Shrinking(case, of, tried):
            return f"case {case} of {of} fails: looking for a smaller one, {tried} tried"
        case Reading(events, size, of):
            return f"{events:,} events, {100 * size // max(of, 1)} % of the log"
        case _:
            return None
