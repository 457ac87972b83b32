"""Another clock for a worker: everything that tells the time tells another one, and time passes between firings.

So a function that looks at the clock, or waits for a time-out, shows that without any waiting.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import gc
import time
from typing import Any

_STEP = 3_700.0
"""How many seconds pass between two firings, for a function that looks at the clock."""
_moved = 0.0
_steps = 0


def pass_time() -> None:
    """A firing is over: the next one comes an hour later, if the clock was moved at all."""
    global _steps
    _steps += 1


def start_again() -> None:
    """A new run begins: its time is that of every other run."""
    global _steps
    _steps = 0


def move(seconds: float) -> None:
    """From now on it is so many seconds later in this process."""
    global _moved
    _moved = seconds
    for name in ("time", "monotonic", "perf_counter"):
        _shift(name, 1.0)
        _shift(f"{name}_ns", 1e9)
    # The classes stay the ones they are: a function may look at the type of what it is given.
    with contextlib.suppress(Exception):
        _replace_method(datetime.datetime, "now", _now)
        _replace_method(datetime.datetime, "utcnow", _utcnow)
        _replace_method(datetime.datetime, "today", lambda kind: _now(kind))
        _replace_method(datetime.date, "today", lambda kind: _now(datetime.datetime).date())


def _ahead() -> float:
    return _moved + _steps * _STEP


def _shift(name: str, unit: float) -> None:
    original = getattr(time, name)

    def shifted() -> Any:
        return original() + type(original())(_ahead() * unit)

    shifted.__name__ = name
    setattr(time, name, shifted)


def _now(kind: Any, tz: Any = None) -> Any:
    return kind.fromtimestamp(time.time(), tz)


def _utcnow(kind: Any) -> Any:
    return kind.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)


def _replace_method(kind: Any, name: str, function: Any) -> None:
    """Replace a class method of a type that is written in C: its dictionary is only hidden."""
    (names,) = gc.get_referents(kind.__dict__)
    names[name] = classmethod(function)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
