"""How cases are drawn: everything that a check asks of Hypothesis."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from firesteel.errors import PredicateError
from firesteel.runs.words import size_of
from firesteel.search.shrink import Candidate, Choices, Drawn, Inputs
from firesteel.values.cases import as_case

if TYPE_CHECKING:
    from hypothesis import settings as Settings

T = TypeVar("T")

# So many new objects are drawn before the garbage collector looks at them.
_YOUNG = 70_000


class Breaks(Exception):
    """A case that breaks the property: how Hypothesis is told."""


class Enough(BaseException):
    """Ends the search for a smaller case: no Exception, as Hypothesis would take that for one more failure."""


def settings_for(base: Settings | None, cases: int | None) -> Any:
    """Hypothesis's settings for a check: the user's, or the active profile's, less what does not fit a run on Spark."""
    from hypothesis import HealthCheck, Phase, settings

    base = base if base is not None else settings()
    return settings(
        base,
        max_examples=cases if cases is not None else base.max_examples,
        deadline=None,
        # What firesteel explains, it explains better; and every attempt costs a run.
        phases=[phase for phase in base.phases if phase is not Phase.explain],
        suppress_health_check=[*base.suppress_health_check, HealthCheck.too_slow, HealthCheck.data_too_large],
        report_multiple_bugs=False,
    )


class Drawing:
    """Draws the cases of one property: the same ones in the same order every time, as long as none fails."""

    def __init__(self, streams: Any, key: str, settings: Any) -> None:
        """`key` is what the property is called in the example database."""
        self.settings = settings
        self._streams = streams
        self._key = hashlib.sha1(key.encode()).digest()
        self.seed = int.from_bytes(self._key[:6], "big")
        self._saved: Any = _saved(settings.database)
        self._offers: Any = _offers()

    def each(self, case: Callable[[Inputs], None], settings: Any = None) -> None:
        """Do something with every case that is drawn."""
        from hypothesis import given, note, seed

        settings = settings if settings is not None else self.settings

        def prop(drawn: _Shown) -> None:
            note(_BEGIN)
            case(as_case(drawn.value))

        # What Hypothesis's own pytest plugin does, so that each test keeps its examples apart.
        prop._hypothesis_internal_add_digest = self._key  # type: ignore[attr-defined]
        drawing: Any = given(self._streams.map(lambda value: _Shown(value)))
        test = drawing(prop)
        if _forced_seed() is None and not settings.derandomize:
            test = seed(self.seed)(test)
        settings(test)()  # outermost: `seed` by itself would do without the example database

    @property
    def shrinks(self) -> bool:
        """Is a failing case to be made smaller?"""
        from hypothesis import Phase

        return Phase.shrink in self.settings.phases

    @property
    def aims(self) -> bool:
        """Is what the user's predicates aim for to be followed?"""
        from hypothesis import Phase

        return Phase.target in self.settings.phases

    def to_come(self) -> list[Candidate]:
        """The cases of the property, those that failed before first; nothing is done with them yet."""
        from hypothesis import Phase
        from hypothesis import settings as make

        from firesteel.strategies.replay import choices_of_whole

        cases: list[Candidate] = []
        phases = [phase for phase in self.settings.phases if phase not in (Phase.shrink, Phase.target)]
        with _rarely_collected():
            self.each(
                lambda inputs: cases.append(Candidate(choices_now(), inputs)),
                make(self.settings, database=self._saved, phases=phases),
            )
        whole = choices_of_whole(self._streams)
        if whole is None or not cases:
            return cases
        # A recording with its records left out is what Hypothesis begins with, and with one case would end with.
        others = [case for case in cases if case.choices != whole and case.size[0]]
        return [*self.of_choices([whole]), *others][: len(cases)]

    def passed(self, case: Candidate) -> None:
        """A case does not fail: if it did before, the example database need not keep it."""
        self._saved.forget(case.choices)

    def of_choices(self, wanted: Sequence[Choices]) -> list[Candidate]:
        """The cases that some choices draw; none for those that the generator refuses."""
        drawn: list[Candidate] = []
        self._offer(wanted, lambda inputs: drawn.append(Drawn(choices_now(), inputs, asked=self._offers.asked)))
        return drawn

    def once_more(self, choices: Choices, case: Callable[[Inputs], None]) -> None:
        """Draw one case again."""
        self._offer([choices], case)

    def shrink(self, choices: Choices, case: Callable[[Inputs], None]) -> None:
        """Have Hypothesis make a failing case smaller, one attempt after the other."""
        self._offer([choices], case, shrink=True)

    def keep(self, choices: Choices) -> None:
        """Put a failing case into the user's example database."""
        self._saved.keep(choices)

    def _offer(self, wanted: Sequence[Choices], case: Callable[[Inputs], None], *, shrink: bool = False) -> None:
        from hypothesis import Phase
        from hypothesis import settings as make
        from hypothesis.errors import Unsatisfiable

        self._offers.offer(wanted, shrink)
        phases = [Phase.reuse, Phase.shrink] if shrink else [Phase.reuse]
        only_these = make(
            self.settings, derandomize=False, database=self._offers, phases=phases, max_examples=len(wanted) + 1
        )
        with suppress(Unsatisfiable):  # none of them is what the generator makes
            self.each(case, only_these)


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """What is drawn stays, and may be a million records: Python's garbage collector would look at them over and over.

    That took a third of the time. Not while Spark runs: what it holds for Python goes with what is collected here.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _YOUNG) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def choices_now() -> Choices:
    """The choices of the example that is being run."""
    from hypothesis.control import current_build_context

    return tuple(current_build_context().data.choices)


def _saved(users: Any) -> Any:
    """The user's example database, read by Hypothesis and written here: what fails is known only after it was drawn."""
    from hypothesis.database import ExampleDatabase, choices_to_bytes

    class Saved(ExampleDatabase):
        def __init__(self) -> None:
            super().__init__()
            self.key = b""
            self.found: dict[bytes, bytes] = {}

        def fetch(self, key: bytes) -> Iterable[bytes]:
            self.key = self.key or key  # the first is the test's own, those after it are made of it
            values = list(users.fetch(key)) if users is not None else []
            self.found |= dict.fromkeys(values, key)
            return values

        def save(self, key: bytes, value: bytes) -> None:
            """Nothing fails while it is drawn."""

        def delete(self, key: bytes, value: bytes) -> None:
            """Nor is it known to pass."""

        def keep(self, choices: Choices) -> None:
            if users is not None and self.key:
                users.save(self.key, choices_to_bytes(choices))

        def forget(self, choices: Choices) -> None:
            value = choices_to_bytes(choices) if self.found else b""
            if value in self.found:
                users.delete(self.found.pop(value), value)

    return Saved()


def _offers() -> Any:
    """A database that offers choices to Hypothesis to draw, one after the other."""
    from hypothesis.database import ExampleDatabase, choices_to_bytes

    class Offers(ExampleDatabase):
        def __init__(self) -> None:
            super().__init__()
            self.offered: dict[bytes, Choices] = {}
            self.waiting: list[bytes] = []
            self.shrink = False

        def offer(self, wanted: Sequence[Choices], shrink: bool) -> None:
            self.shrink = shrink
            self.offered = {choices_to_bytes(choices): choices for choices in wanted}
            # The order in which Hypothesis takes them.
            self.waiting = sorted(self.offered, key=lambda text: (len(text), text))

        @property
        def asked(self) -> Choices:
            """The choices that are being drawn: every one before was taken out, as it did not fail."""
            return self.offered[self.waiting[0]]

        def fetch(self, key: bytes) -> Iterable[bytes]:
            # What is its first choice, and fails, Hypothesis takes for something that it made smaller before.
            wanted = key.endswith(b".secondary") if self.shrink else not key.endswith((b".secondary", b".pareto"))
            return list(self.offered) if wanted else []

        def save(self, key: bytes, value: bytes) -> None:
            """Nothing fails here: what does is known only afterwards."""

        def delete(self, key: bytes, value: bytes) -> None:
            if self.waiting and self.waiting[0] == value:
                self.waiting.pop(0)

    return Offers()


class _Shown:
    """A drawn value as Hypothesis shows it: it prints what it drew, and a stream may hold a million records."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return size_of(as_case(self.value))


def in_example(action: Callable[[], T]) -> T:
    """Do something as one example of Hypothesis: the user's predicates may note and aim, which needs one."""
    return observed(action)[0]


def observed(action: Callable[[], T]) -> tuple[T, Mapping[str, float]]:
    """Do something as one example of Hypothesis; also the scores that `hypothesis.target` was told meanwhile."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st
    from hypothesis.control import current_build_context
    from hypothesis.errors import UnsatisfiedAssumption

    done: list[tuple[T, Mapping[str, float]]] = []
    refused: list[UnsatisfiedAssumption] = []

    @settings(
        max_examples=1, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.none())
    def example(_: None) -> None:
        try:
            done.append((action(), dict(current_build_context().data.target_observations)))
        except Exception as error:
            why = error.__cause__ if isinstance(error, PredicateError) else error
            if not isinstance(why, UnsatisfiedAssumption):
                raise
            refused.append(why)  # else Hypothesis would try again, with the same

    example()
    if refused:
        raise refused[0]
    return done[0]


_BEGIN, _END = "firesteel: the user's notes begin", "firesteel: the user's notes end"


def broken() -> Breaks:
    """What to raise for a case that breaks the property: the user's notes on it end here."""
    from hypothesis import note

    note(_END)
    return Breaks()


def notes_of(error: BaseException) -> tuple[str, ...]:
    """What the user's own functions noted with `hypothesis.note` in the last run of the failing case."""
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    if _BEGIN not in notes or _END not in notes:
        return ()
    return tuple(notes[notes.index(_BEGIN) + 1 : notes.index(_END)])


def _forced_seed() -> Any:
    """The seed of pytest's --hypothesis-seed, which then decides alone."""
    import hypothesis.core

    return getattr(hypothesis.core, "global_force_seed", None)
