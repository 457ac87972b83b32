"""`Wanted`: what is searched, and how far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from hypothesis import settings as Settings
from hypothesis.strategies import SearchStrategy

from firesteel.hypothesis_internals import Choices

T = TypeVar("T")

SHRINK_SECONDS = 60.0
"""Each attempt may cost a run of Spark; after this long what has been found is small enough."""
SHRINK_CANDIDATES = 10_000
"""How many simpler values are tried at the most."""


@dataclass(frozen=True)
class Wanted(Generic[T]):
    """What is searched, and how far."""

    strategy: SearchStrategy[T]
    key: str = ""
    """What this search is called in the example database: the same from run to run."""
    cases: int | None = None
    """How many values are tried; the settings' `max_examples` if left out."""
    settings: Settings | None = None
    """Hypothesis's settings for the rest; the active profile if left out."""
    size: Callable[[T], tuple[int, ...]] = lambda value: ()
    """How large a value is, before its choices are counted: of two that fail, the smaller one is simpler. The first
    number of a value that is empty is 0."""
    describe: Callable[[T], str] = repr
    """How Hypothesis shows a value."""
    first: Choices | None = None
    """The choices of a value to begin with."""
    as_examples: bool = True
    """Are values judged as examples of Hypothesis, so that the functions that judge may note, assume and target? It
    takes a millisecond each."""
    shrink_seconds: float | None = None
    """After how long the search for a simpler value ends; `SHRINK_SECONDS` if left out."""
    shrink_candidates: int | None = None
    """After how many values it ends; `SHRINK_CANDIDATES` if left out."""
