"""How values are drawn, from a strategy or from the choices of one that was drawn before."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as Settings
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Unsatisfiable

from firesteel.hypothesis_internals import (
    Choices,
    as_bytes,
    choices_now,
    forced_seed,
    identify,
    is_first_choice,
    is_second_choice,
    order_of_offers,
)
from firesteel.search.examples import notes_begin
from firesteel.search.rounds import Candidate
from firesteel.search.wanted import Wanted

T = TypeVar("T")

# Choices that follow the given ones: every list ends, and every other value becomes its simplest. The first number is
# the least that are added, the length of the tuple is the most.
_LEAST, _SIMPLEST = 16, (False,) * 256

# How many new objects are made before the garbage collector looks at them.
_YOUNG = 70_000


def settings_for(base: Settings | None, cases: int | None) -> Settings:
    """Hypothesis's settings for a search: the user's, or the active profile's, less what does not fit it."""
    base = base if base is not None else Settings()
    return Settings(
        base,
        max_examples=cases if cases is not None else base.max_examples,
        deadline=None,
        # What firesteel explains, it explains better; and every attempt costs a run.
        phases=[phase for phase in base.phases if phase is not Phase.explain],
        suppress_health_check=[*base.suppress_health_check, HealthCheck.too_slow, HealthCheck.data_too_large],
        report_multiple_bugs=False,
    )


class Drawing(Generic[T]):
    """Draws the values of one search: the same ones in the same order every time, as long as none fails."""

    def __init__(self, wanted: Wanted[T]) -> None:
        self.settings = settings_for(wanted.settings, wanted.cases)
        self._wanted = wanted
        self._key = hashlib.sha1(wanted.key.encode()).digest()
        self.seed = int.from_bytes(self._key[:6], "big")
        self._saved = _Saved(self.settings.database)
        self._offers = _Offers()

    @property
    def shrinks(self) -> bool:
        """Is a failing value to be made simpler?"""
        return Phase.shrink in self.settings.phases

    @property
    def aims(self) -> bool:
        """Is the search to follow what scores high?"""
        return Phase.target in self.settings.phases

    def to_come(self) -> list[Candidate[T]]:
        """The values of the search, those that failed before first; nothing is done with them yet."""
        found: list[Candidate[T]] = []
        phases = [phase for phase in self.settings.phases if phase not in (Phase.shrink, Phase.target)]
        with _rarely_collected():
            self._each(
                lambda value: found.append(self._candidate(value)),
                Settings(self.settings, database=self._saved, phases=phases),
            )
        first = self._wanted.first
        if first is None or not found:
            return found
        # Hypothesis begins with the simplest value, which may be empty, and with one case would end with it.
        others = [candidate for candidate in found if candidate.choices != first and any(candidate.extent[:1])]
        return [*self.of_choices([first]), *others][: len(found)]

    def is_saved(self, choices: Choices) -> bool:
        """Is it from the user's example database?"""
        return self._saved.has(choices)

    def forget(self, choices: Choices) -> None:
        """A value does not fail any more: the example database need not keep it."""
        self._saved.forget(choices)

    def of_choices(self, wanted: Sequence[Choices]) -> list[Candidate[T]]:
        """The values that some choices draw, at random where these are too few; none for what the strategy refuses."""
        return self._of_offers({choices: choices for choices in wanted})

    def simplest_of(self, wanted: Sequence[Choices]) -> list[Candidate[T]]:
        """The same, but at their simplest where the choices are too few.

        Where an element was taken out of the middle, the end has to be made up: at random it may become larger.
        """
        return self._of_offers({(*choices, *_SIMPLEST[: len(choices) + _LEAST]): choices for choices in wanted})

    def _of_offers(self, offers: Mapping[Choices, Choices]) -> list[Candidate[T]]:
        drawn: list[Candidate[T]] = []
        self._offer(list(offers), lambda value: drawn.append(self._candidate(value, offers[self._offers.asked])))
        return drawn

    def once_more(self, choices: Choices, action: Callable[[T], None]) -> None:
        """Draw one value again."""
        self._offer([choices], action)

    def shrink(self, choices: Choices, action: Callable[[T], None]) -> None:
        """Have Hypothesis make a failing value simpler, one attempt after the other."""
        self._offer([choices], action, shrink=True)

    def keep(self, choices: Choices) -> None:
        """Put a failing value into the user's example database."""
        self._saved.keep(choices)

    def _candidate(self, value: T, asked: Choices | None = None) -> Candidate[T]:
        return Candidate(choices_now(), value, self._wanted.size(value), asked)

    def _each(self, action: Callable[[T], None], settings: Settings) -> None:
        """Do something with every value that is drawn."""
        describe = self._wanted.describe

        def example(drawn: _Shown[T]) -> None:
            notes_begin()
            action(drawn.value)

        identify(example, self._key)
        test: Any = given(self._wanted.strategy.map(lambda value: _Shown(value, describe)))(example)
        if forced_seed() is None and not settings.derandomize:
            test = seed(self.seed)(test)
        settings(test)()  # outermost: `seed` by itself would do without the example database

    def _offer(self, wanted: Sequence[Choices], action: Callable[[T], None], *, shrink: bool = False) -> None:
        self._offers.offer(wanted, shrink)
        phases = [Phase.reuse, Phase.shrink] if shrink else [Phase.reuse]
        only_these = Settings(
            self.settings, derandomize=False, database=self._offers, phases=phases, max_examples=len(wanted) + 1
        )
        with suppress(Unsatisfiable):  # none of them is what the strategy makes
            self._each(action, only_these)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """What is drawn stays, and may be a million objects: Python's garbage collector would look at them repeatedly.

    That took a third of the time. It is only for drawing: Spark's objects go with what is collected in Python.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _YOUNG) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Saved(ExampleDatabase):
    """The user's example database, read by Hypothesis and written here: what fails is known only after it was drawn."""

    def __init__(self, users: ExampleDatabase | None) -> None:
        super().__init__()
        self._users = users
        self._key = b""
        self._found: dict[bytes, bytes] = {}

    def fetch(self, key: bytes) -> Iterable[bytes]:
        self._key = self._key or key  # the first is the test's own, those after it are made of it
        values = list(self._users.fetch(key)) if self._users is not None else []
        self._found |= dict.fromkeys(values, key)
        return values

    def save(self, key: bytes, value: bytes) -> None:
        """Nothing fails while it is drawn."""

    def delete(self, key: bytes, value: bytes) -> None:
        """Nor is it known to pass."""

    def keep(self, choices: Choices) -> None:
        if self._users is not None and self._key:
            self._users.save(self._key, as_bytes(choices))

    def has(self, choices: Choices) -> bool:
        return bool(self._found) and as_bytes(choices) in self._found

    def forget(self, choices: Choices) -> None:
        value = as_bytes(choices)
        if self._users is not None and value in self._found:
            self._users.delete(self._found.pop(value), value)


class _Offers(ExampleDatabase):
    """A database that offers choices to Hypothesis to draw, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._offered: dict[bytes, Choices] = {}
        self._waiting: list[bytes] = []
        self._shrink = False

    def offer(self, wanted: Sequence[Choices], shrink: bool) -> None:
        self._shrink = shrink
        self._offered = {as_bytes(choices): choices for choices in wanted}
        self._waiting = sorted(self._offered, key=order_of_offers)

    @property
    def asked(self) -> Choices:
        """The choices that are being drawn: every one before was taken out, as it did not fail."""
        return self._offered[self._waiting[0]]

    def fetch(self, key: bytes) -> Iterable[bytes]:
        wanted = is_second_choice(key) if self._shrink else is_first_choice(key)
        return list(self._offered) if wanted else []

    def save(self, key: bytes, value: bytes) -> None:
        """Nothing fails here: what does is known only afterwards."""

    def delete(self, key: bytes, value: bytes) -> None:
        if self._waiting and self._waiting[0] == value:
            self._waiting.pop(0)


class _Shown(Generic[T]):
    """A drawn value as Hypothesis shows it: it prints what it drew, and a value may be very large."""

    def __init__(self, value: T, describe: Callable[[T], str]) -> None:
        self.value = value
        self._describe = describe

    def __repr__(self) -> str:
        return self._describe(self.value)
