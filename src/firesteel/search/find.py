"""The search: draw values, judge them, aim at what comes close, and make the first that fails simpler.

It knows neither Spark nor streams nor formulas. It is handed a strategy, a function that judges one value, and, where
many can be judged for little more than one costs, a `Many`. What `Many` says of a failing value is a suspicion: the
function that judges one value has the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import islice
from typing import Generic, Protocol, TypeVar

from hypothesis.errors import UnsatisfiedAssumption

from firesteel.errors import InvalidArgument, PredicateError
from firesteel.evidence.events import Drawn, Judged, Judging, Listener, Shrinking, nobody
from firesteel.evidence.limits import CutShort
from firesteel.hypothesis_internals import Choices, choices_now
from firesteel.search.aim import Aim
from firesteel.search.drawing import Drawing
from firesteel.search.examples import Breaks, Enough, Told, broken, notes_of, observed
from firesteel.search.rounds import ROUND, Candidate, Rounds
from firesteel.search.wanted import Wanted
from firesteel.search.watch import Watch

T = TypeVar("T")
# A generation has at least `_GENERATION` values, and it grows with the number of values before it, by one in `_GROWTH`.
# One in `_NEW` of them is new; the others are changed ones that came close to trouble.
_GENERATION, _NEW, _GROWTH = 32, 4, 8
# The label of the judgement's own closeness, beside those of the user's targets.
_OWN = "firesteel: how close a value came"


class Judgement(Protocol):
    """What came of judging a value."""

    @property
    def fails(self) -> bool: ...
    @property
    def kind(self) -> object:
        """How it fails: a value is made simpler only as far as it fails in the same way."""

    @property
    def depends_on_case(self) -> bool:
        """May a simpler value fare differently? If not, there is no use in looking for one."""

    @property
    def closeness(self) -> float | None:
        """How close a value that passes came to failing, the higher the closer; None where that cannot be said."""


J = TypeVar("J", bound=Judgement)
U = TypeVar("U", contravariant=True)


class When(Enum):
    """Where in a search values come from."""

    FIRST = "as they were drawn"
    LATER = "made from values that came close"
    SIMPLER = "made from a value that fails"


class Many(Protocol[U, J]):
    """Judges many values at once."""

    def __call__(self, values: Sequence[U], /, *, when: When) -> Sequence[Callable[[], J]]:
        """A glance for each value."""

    def is_known(self, value: U, /) -> bool:
        """Does a glance at this value cost nothing any more?"""

    def is_sure(self, value: U, /) -> bool:
        """Has a glance at this value the last word?"""

    def small_one(self, values: Sequence[U], /) -> int | None:
        """Which value is judged by itself, before many are judged at once; None where that is not needed."""

    def at_once(self, judgement: J) -> int:
        """How many values are judged for little more than one costs, when they fail like this one?

        If that is more than one, a failing value is made simpler in rounds of so many.
        """


@dataclass(frozen=True)
class Failing(Generic[T, J]):
    """The smallest value that was found to fail, and how it was found."""

    value: T
    judgement: J
    number: int
    """Which of the values failed first."""
    of: int
    """Of how many."""
    original: T
    """That value, as it was drawn."""
    first: J
    """And what came of it."""
    in_rounds: bool = False
    """Were many values judged at once, to make it simpler?"""
    cut_short: CutShort | None = None
    """The limit at which the search for a simpler one was ended before it was done."""
    notes: tuple[str, ...] = ()
    """What the user's functions noted on it."""


@dataclass(frozen=True)
class Result(Generic[T, J]):
    """What a search found."""

    cases: int
    """How many values were judged, without those that an assumption refused."""
    of: int
    """How many were to be judged at the most."""
    failing: Failing[T, J] | None = None
    settle: Callable[[], None] = lambda: None
    """Lets the example database forget what does not fail any more; to be called once the result is trusted."""


def find(
    wanted: Wanted[T], judge: Callable[[T], J], many: Many[T, J] | None = None, tell: Listener = nobody, done: int = 0
) -> Result[T, J]:
    """Look for a value that fails, and make it as simple as can be; `done` values were judged before, elsewhere."""
    return _Search(wanted, judge, many, tell, done).result()


class _Search(Generic[T, J]):
    """One search under way."""

    def __init__(
        self, wanted: Wanted[T], judge: Callable[[T], J], many: Many[T, J] | None, tell: Listener, done: int
    ) -> None:
        self._wanted, self._judge, self._many, self._tell = wanted, judge, many, tell
        self._drawing = Drawing(wanted)
        self._number = done
        self._of = done + self._drawing.settings.max_examples
        self._passed: list[Choices] = []

    def result(self) -> Result[T, J]:
        drawn = self._drawing.to_come()
        self._tell(Drawn(len(drawn)))
        drawn = self._with_trouble_first(drawn)
        aim = Aim(self._drawing.seed)
        for generation in self._generations(drawn, aim):
            for candidate, glance in generation:
                judgement = self._judged(candidate, glance, aim)
                if judgement is not None and judgement.fails:
                    return Result(self._number, self._of, self._simplest(candidate, judgement), self._forget)
        return Result(self._number, self._of, settle=self._forget)

    def _with_trouble_first(self, drawn: list[Candidate[T]]) -> list[Candidate[T]]:
        """The same values; but a small one, if it fails, comes first.

        It is judged by itself before many are judged at once: so what is wrong with all of them shows soon.
        """
        place = None if self._many is None else self._many.small_one([candidate.value for candidate in drawn])
        if place is None:
            return drawn
        if self._drawing.is_saved(drawn[0].choices):
            place = 0  # it failed before, and is small already
        self._tell(Judging(self._number + 1, self._of))
        try:
            judgement, _ = self._looked(partial(self._judge, drawn[place].value))
        except UnsatisfiedAssumption:
            return drawn
        if not judgement.fails:
            return drawn
        first = drawn[place] if judgement.depends_on_case else min(drawn, key=lambda candidate: candidate.size)
        return [first, *(candidate for candidate in drawn if candidate is not first)]

    def _forget(self) -> None:
        for choices in self._passed:
            self._drawing.forget(choices)

    # --- judging ---

    def _generations(self, drawn: list[Candidate[T]], aim: Aim) -> Iterator[list[tuple[Candidate[T], Callable[[], J]]]]:
        """The values as they were drawn; where some come closer to trouble than others, most are made of those."""
        new = iter(self._with_glances(drawn))
        done = 0
        while done < len(drawn):
            size = min(max(_GENERATION, done // _GROWTH), len(drawn) - done)
            done += size
            children = size - size // _NEW if self._drawing.aims and aim else 0
            changed = self._drawing.of_choices(aim.generation(children))[:children] if children else []
            yield [*self._with_glances(changed, When.LATER), *islice(new, size - len(changed))]

    def _with_glances(
        self, candidates: Sequence[Candidate[T]], when: When = When.FIRST
    ) -> list[tuple[Candidate[T], Callable[[], J]]]:
        if self._many is None or not candidates:
            return [(candidate, partial(self._judge, candidate.value)) for candidate in candidates]
        glances = self._many([candidate.value for candidate in candidates], when=when)
        return list(zip(candidates, glances, strict=True))

    def _judged(self, candidate: Candidate[T], glance: Callable[[], J], aim: Aim) -> J | None:
        """The judgement on one value; None where an assumption of the user refused it: then it does not count."""
        self._number += 1
        self._tell(Judging(self._number, self._of))
        try:
            judgement, told = self._looked_twice(candidate, glance)
        except UnsatisfiedAssumption:
            self._number -= 1
            return None
        self._tell(Judged(self._number, self._of, candidate.value, judgement, told.events))
        if not judgement.fails:
            own = {} if judgement.closeness is None else {_OWN: judgement.closeness}
            aim.see(candidate.choices, {**told.targets, **own})
            if self._drawing.is_saved(candidate.choices):
                self._passed.append(candidate.choices)
        return judgement

    def _looked_twice(self, candidate: Candidate[T], glance: Callable[[], J]) -> tuple[J, Told]:
        """The judgement on a value. A glance at which it fails, or raises, has not always the last word."""
        last_word = partial(self._judge, candidate.value)
        try:
            judgement, told = self._looked(glance)
        except PredicateError:
            if self._many is None or self._many.is_sure(candidate.value):
                raise
            return self._looked(last_word)
        if judgement.fails and self._many is not None and not self._many.is_sure(candidate.value):
            return self._looked(last_word)
        return judgement, told

    def _looked(self, glance: Callable[[], J]) -> tuple[J, Told]:
        """A judgement, and what the user's functions told Hypothesis."""
        return observed(glance) if self._wanted.as_examples else (glance(), Told())

    # --- shrinking ---

    def _simplest(self, candidate: Candidate[T], judgement: J) -> Failing[T, J]:
        """The simplest value that is found to fail, as far as there is time."""
        found = Failing(candidate.value, judgement, self._number, self._of, candidate.value, judgement)
        if not self._drawing.shrinks or not judgement.depends_on_case:
            self._drawing.keep(candidate.choices)
            return found
        watch = Watch(self._wanted)
        size = 1 if self._many is None else self._many.at_once(judgement)
        smaller = self._in_rounds(candidate, judgement, watch, size)
        if smaller is None:
            smaller = self._one_by_one(candidate, judgement, watch)
        elif size < ROUND:
            smaller = self._polished(smaller, watch, size)
        self._drawing.keep(smaller.candidate.choices)
        return replace(
            found,
            value=smaller.candidate.value,
            judgement=smaller.judgement,
            in_rounds=size > 1,
            cut_short=smaller.cut_short,
            notes=smaller.notes,
        )

    def _polished(self, smaller: _Smaller[T, J], watch: Watch, size: int) -> _Smaller[T, J]:
        """Made simpler by Hypothesis and by small rounds in turn: each finds what the other does not.

        Most of what is tried is remembered.
        """
        while smaller.cut_short is None:
            before = smaller
            smaller = self._one_by_one(before.candidate, before.judgement, watch)
            if smaller.candidate.choices == before.candidate.choices or smaller.cut_short is not None:
                break
            smaller = self._in_rounds(smaller.candidate, smaller.judgement, watch, size) or smaller
        return smaller

    def _in_rounds(self, found: Candidate[T], first: J, watch: Watch, size: int) -> _Smaller[T, J] | None:
        """Look for a simpler value, several candidates at once; None where what was found does not fail by itself."""
        judged = {found.choices: first}
        rounds = Rounds(found, self._drawing.simplest_of, partial(self._failing_of, judged=judged, watch=watch))
        more, tried = True, 0
        while more and watch.over is None:
            tried += 1
            self._tell(Shrinking(self._number, self._of, tried))
            more = rounds.round(min(size, watch.left))
        cut_short = watch.over if more else None
        sure = self._many is None or self._many.is_sure(rounds.found.value)
        judgement, notes = self._once_more(rounds.found, first, judged[rounds.found.choices] if sure else None)
        return None if judgement is None else _Smaller(rounds.found, judgement, notes, cut_short)

    def _once_more(self, candidate: Candidate[T], first: J, known: J | None) -> tuple[J | None, tuple[str, ...]]:
        """The judgement on a value that fails like the first one, and what the user's functions note; else None."""
        judged: list[J | None] = [] if known is None else [known]

        def again(value: T) -> None:
            judged.append(self._judgement_of_simpler(value))
            # Hypothesis asks once more, for the notes: what was said first counts, also if a predicate is flaky.
            if _alike(judged[0], first):
                raise broken()

        notes: tuple[str, ...] = ()
        try:  # as an example of Hypothesis, which collects notes
            self._drawing.once_more(candidate.choices, again)
        except Breaks as error:
            notes = notes_of(error)
        return (judged[0], notes) if judged and _alike(judged[0], first) else (None, ())

    def _failing_of(
        self, candidates: Sequence[Candidate[T]], judged: dict[Choices, J], watch: Watch
    ) -> list[Candidate[T]]:
        """The candidates that fail at a glance like the first value; when time is up, of those that are known."""
        like = next(iter(judged.values()))
        for candidate, glance in self._with_glances(candidates, When.SIMPLER):
            if watch.over is None or self._is_known(candidate.value):
                judgement = self._glanced(glance)
                if judgement is not None and _alike(judgement, like):
                    judged[candidate.choices] = judgement
        watch.count(len(candidates))
        return [candidate for candidate in candidates if candidate.choices in judged]

    def _is_known(self, value: T) -> bool:
        return self._many is not None and self._many.is_known(value)

    def _glanced(self, glance: Callable[[], J]) -> J | None:
        try:
            return self._looked(glance)[0]
        except (*_NOT_MADE_FOR_IT, UnsatisfiedAssumption):
            return None

    def _judgement_of_simpler(self, value: T) -> J | None:
        try:
            return self._judge(value)
        except _NOT_MADE_FOR_IT:
            return None

    def _one_by_one(self, found: Candidate[T], first: J, watch: Watch) -> _Smaller[T, J]:
        """Have Hypothesis look for a simpler value, one attempt after the other.

        It does not know what is large here: it would put records into a later batch. So what is larger does not count.
        """
        smallest = _Smaller(found, first)
        failed: dict[Choices, bool] = {found.choices: True}
        cut_short: CutShort | None = None
        tried = 0

        def attempt(value: T) -> None:
            nonlocal smallest, tried, cut_short
            candidate = Candidate(choices_now(), value, self._wanted.size(value))
            if candidate.choices not in failed:
                if candidate.extent > smallest.candidate.extent:
                    return
                cut_short = watch.over
                if cut_short is not None and not self._is_known(value):
                    raise Enough
                watch.count(1)
            tried += 1
            self._tell(Shrinking(self._number, self._of, tried))
            judgement = self._judgement_of_simpler(value)
            # Hypothesis tries the same value again, the last time for the notes: what was said first counts.
            if failed.setdefault(candidate.choices, judgement is not None and _alike(judgement, first)):
                if judgement is not None and _alike(judgement, first) and candidate.size <= smallest.candidate.size:
                    smallest = _Smaller(candidate, judgement)
                raise broken()

        with suppress(Enough):
            try:
                self._drawing.shrink(found.choices, attempt)
            except Breaks as error:
                smallest = replace(smallest, notes=notes_of(error))
            cut_short = None
        return replace(smallest, cut_short=cut_short)


# The user's function was not made for so simple a value.
_NOT_MADE_FOR_IT = (PredicateError, InvalidArgument)


def _alike(judgement: J | None, first: J) -> bool:
    """Does it fail, and in the same way?"""
    return judgement is not None and judgement.fails and judgement.kind == first.kind


@dataclass(frozen=True)
class _Smaller(Generic[T, J]):
    """A simpler value that fails too."""

    candidate: Candidate[T]
    judgement: J
    notes: tuple[str, ...] = ()
    """What the user's functions noted on it."""
    cut_short: CutShort | None = None
    """The limit that ended the search, if one did."""
