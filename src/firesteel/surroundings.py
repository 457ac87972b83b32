"""What surrounds the calls of a process: who listens to them, and where files are put. The pytest plugin sets both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Called:
    """A test called one of firesteel's functions that use Spark."""

    function: str


@dataclass(frozen=True)
class Reported:
    """A check ended with a report, whether it passed or not."""

    report: Any


Listener: TypeAlias = Callable[[Called | Reported], None]

_listeners: list[Listener] = []
_roots: list[Path] = []


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Hand everything that happens meanwhile to a listener as well.

    >>> heard = []
    >>> with heard_by(heard.append):
    ...     tell(Called("fs.run"))
    >>> heard
    [Called(function='fs.run')]
    """
    listeners = _listeners
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)


def tell(event: Called | Reported) -> None:
    """Tell everybody who listens."""
    for listener in tuple(_listeners):
        listener(event)


@contextmanager
def rooted_at(folder: Path) -> Iterator[None]:
    """Put files below this folder meanwhile."""
    _roots.append(folder)
    try:
        yield
    finally:
        _roots.remove(folder)


def root() -> Path:
    """The folder that files are put below: pytest's root directory, or the working directory."""
    return _roots[-1] if _roots else Path.cwd()
