"""What came of one firing of an operator, as data that travels between the worker and the caller.

Nothing is imported here but the standard library: the worker loads this module before it loads the user's function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Gave:
    """The firing came to its end with these outputs, in their order."""

    outputs: tuple[Any, ...]


@dataclass(frozen=True)
class Raised:
    """The firing raised. That is not an output, and a difference to it is never evidence."""

    kind: str
    message: str


@dataclass(frozen=True)
class Late:
    """The firing did not return within its limit."""

    seconds: float


@dataclass(frozen=True)
class Died:
    """The worker ended during the firing: by a signal, out of memory, or because the function ended the process."""

    how: str


@dataclass(frozen=True)
class Skipped:
    """The firing was never begun: too many before it were late, or died."""


Outcome: TypeAlias = Gave | Raised | Late | Died | Skipped


@dataclass(frozen=True)
class Opaque:
    """An output that cannot be sent between processes, so nothing is known of it but its type. All are equal."""

    kind: str


@dataclass(frozen=True)
class Watched:
    """What a firing was seen to do besides returning, where it was watched."""

    mutated: tuple[str, ...] = ()
    """Arguments that were changed in place, as they were before and after."""
    written: tuple[str, ...] = ()
    """Globals, closure variables and attributes that were changed."""
    opened: tuple[str, ...] = ()
    """What was opened, connected to, started, made or removed, in words."""


@dataclass(frozen=True)
class Seen:
    """All firings of one run."""

    outcomes: tuple[Outcome, ...]
    lines: frozenset[tuple[int, int]] = frozenset()
    """The steps from line to line that the run took in the user's own functions, where that was asked for."""
    watched: Watched | None = None

    @property
    def is_whole(self) -> bool:
        """Did every firing come to an end with outputs?"""
        return all(isinstance(outcome, Gave) for outcome in self.outcomes)

    @property
    def all_outputs(self) -> tuple[Any, ...]:
        """The outputs of all firings together."""
        return tuple(o for outcome in self.outcomes if isinstance(outcome, Gave) for o in outcome.outputs)


@dataclass(frozen=True)
class Job:
    """What a worker is asked to do: some runs, each a sequence of firings."""

    runs: tuple[tuple[Any, ...], ...]
    limit: float = 1.0
    """Seconds for one firing."""
    together: int = 0
    """How many runs share a process in which the function was never called before: all of them if 0."""
    traced: bool = False
    watched: bool = False


@dataclass(frozen=True)
class Puzzle:
    """What else a worker may be asked: to have a solver look for inputs that refute some properties."""

    about: bytes
    """The operator and its inputs, pickled."""
    properties: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Twice:
    """A firing that feeds a function with its own output: f(f(x))."""

    arguments: tuple[Any, ...]
