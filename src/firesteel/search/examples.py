"""Judging as an example of Hypothesis: there the user's functions may note, assume and target.

A value is often judged long after it was drawn, or many times. Each time is an example of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from firesteel.hypothesis_internals import events_now, targets_now

T = TypeVar("T")


class Breaks(Exception):
    """A value that fails: how Hypothesis is told."""


class Enough(BaseException):
    """Ends the search for a simpler value. It is not an Exception: Hypothesis would take that for one more failure."""


@dataclass(frozen=True)
class Told:
    """What the user's functions told Hypothesis in one example."""

    targets: Mapping[str, float] = field(default_factory=dict)
    """The scores of `hypothesis.target`, by label."""
    events: tuple[str, ...] = ()
    """What `hypothesis.event` was told, each once."""


def in_example(action: Callable[[], T]) -> T:
    """Do something as one example of Hypothesis; `UnsatisfiedAssumption` where an assumption in it does not hold."""
    return observed(action)[0]


def observed(action: Callable[[], T]) -> tuple[T, Told]:
    """Do something as one example of Hypothesis; also what Hypothesis was told meanwhile."""
    done: list[tuple[T, Told]] = []
    raised: list[Exception] = []

    @seed(0)  # else Hypothesis tells a user who interrupts it to add one
    @settings(
        max_examples=1, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.none())
    def example(_: None) -> None:
        try:
            done.append((action(), Told(targets_now(), events_now())))
        except Breaks:
            raise  # this is for Hypothesis
        except Exception as error:
            # Hypothesis never sees it: it would do all of it again, call it flaky if it does not raise again, and add
            # notes about an example that the user did not write.
            raised.append(error)

    example()
    for error in raised:
        # An assumption that does not hold may come as the cause of an error that names the user's function.
        raise error.__cause__ if isinstance(error.__cause__, UnsatisfiedAssumption) else error
    return done[0]


class Fails(Protocol):
    """What came of judging a value."""

    @property
    def fails(self) -> bool: ...


F = TypeVar("F", bound=Fails)


def noted(action: Callable[[], F]) -> tuple[F, tuple[str, ...], tuple[str, ...]]:
    """Judge a value that was given, not drawn, as one example; also the user's notes if it fails, and events.

    Hypothesis keeps notes only of the last time that it runs a failing example, so a value that fails is judged twice.
    The second time is for the notes: the first judgement counts.
    """
    judged: list[tuple[F, tuple[str, ...]]] = []

    def judge() -> None:
        notes_begin()
        with suppress(Exception) if judged else nullcontext():
            judged.append((action(), events_now()))
        if judged[0][0].fails:
            raise broken()

    notes: tuple[str, ...] = ()
    try:
        in_example(judge)
    except Breaks as error:
        notes = notes_of(error)
    judgement, events = judged[0]
    return judgement, notes, events


_BEGIN, _END = "firesteel: the user's notes begin", "firesteel: the user's notes end"


def notes_begin() -> None:
    """What the user's functions note from here on belongs to this example."""
    note(_BEGIN)


def broken() -> Breaks:
    """What to raise for a value that fails: the user's notes on it end here."""
    note(_END)
    return Breaks()


def notes_of(error: BaseException) -> tuple[str, ...]:
    """What the user's own functions noted with `hypothesis.note` in the last run of the failing value."""
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    if _BEGIN not in notes or _END not in notes:
        return ()
    return tuple(notes[notes.index(_BEGIN) + 1 : notes.index(_END)])
