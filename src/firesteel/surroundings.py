"""What surrounds a process's calls: who listens, where files are put, where Spark starts. The pytest plugin sets it."""

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
_starts: list[Path] = []


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


@contextmanager
def spark_starts_in(folder: Path) -> Iterator[None]:
    """Start Spark in this folder meanwhile, wherever its first user stands.

    A session serves all tests of a process. A test that has changed to a temporary folder may be the first to need it,
    and Spark's Python workers cannot start in a folder that is gone.
    """
    _starts.append(folder)
    try:
        yield
    finally:
        _starts.remove(folder)


def start_of_spark() -> Path:
    """The folder that Spark starts in: the one in which pytest was started, or the working directory."""
    return _starts[-1] if _starts else Path.cwd()
