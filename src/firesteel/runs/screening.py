"""Screening: many cases are run together, or several at the same time, before they are judged one by one.

A few cases of a bulk run are run alone as well, and have to come out the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from firesteel.evidence.events import Listener, Screened, Screening
from firesteel.evidence.report import Size, WhyAlone
from firesteel.runs.claims import Judgement, Runner
from firesteel.runs.judging import Judge
from firesteel.runs.memory import Memory, Remembered
from firesteel.search.rounds import ROUND
from firesteel.spark.failures import CannotCarry, SubjectFailure
from firesteel.values.cases import Case
from firesteel.values.streams import make_stream
from firesteel.values.traces import Trace

T = TypeVar("T")

# With this many cases a bulk run pays: some of them are run alone again.
_MANY = 8
# How many cases of a bulk run are run alone as well: one for every `_SAMPLED` cases, from one to `_SAMPLES`.
_SAMPLED, _SAMPLES = 50, 3
# Of a long case its first batches are run alone, as a case of its own: alone, a batch takes as long as for all cases.
_SAMPLE_LENGTH = 8


class Screen:
    """Gets many cases ready to be judged at a glance."""

    def __init__(
        self, judge: Judge, runner: Runner, memory: Memory, *, bulk: bool, at_once: int, tell: Listener
    ) -> None:
        """`at_once` is how many cases are run at the same time where each has to run by itself."""
        self._judge, self._runner, self._memory, self._tell = judge, runner, memory, tell
        self._bulk, self._at_once = bulk, at_once
        self._in_bulk = False
        self.why_not: str | None = None
        """Why cases cannot be run together, if that was tried."""
        self.compared = 0
        """How many cases were run together and alone, and came out the same."""
        self.failed: WhyAlone | None = None
        """What failed before cases were run together, or when they were."""

    def __call__(self, cases: Sequence[Case], *, later: bool) -> Sequence[Callable[[], Judgement]]:
        if later and self._trusts_bulk and len(cases) > self._at_once:
            self._run_more(cases)
        elif not later and self._bulk and len(cases) >= _MANY:
            self._run_first(cases)
        return [partial(self._glance, cases, place) for place in range(len(cases))]

    def is_known(self, case: Case) -> bool:
        """Is a glance at a case possible without a run?"""
        return self._judge.is_known(case)

    def is_sure(self, case: Case) -> bool:
        """Has a glance the last word on a case? Not if only a bulk run has seen it."""
        return not self._judge.is_screened(case)

    def small_one(self, cases: Sequence[Case]) -> int | None:
        """Which case is judged by itself before a bulk run, so that a mistake in all of them shows soon.

        A run alone takes as long as it has batches, so it is one of the shortest. It is not the smallest of these,
        because it is compared with the bulk run too.
        """
        if not self._bulk or len(cases) < _MANY:
            return None
        sizes = {place: Size.of(case) for place, case in enumerate(cases) if not self._judge.is_too_short(case)}
        shortest = min((size.batches for size in sizes.values() if size.records), default=0)
        places = [place for place, size in sizes.items() if size.records and size.batches == shortest]
        return sorted(places, key=lambda place: sizes[place].records)[len(places) // 2] if places else None

    def at_once(self, judgement: Judgement) -> int:
        """How many cases are judged at once. One that makes the subject fail ends a bulk run for all."""
        return ROUND if self._trusts_bulk and judgement.error is None else self._at_once

    @property
    def _trusts_bulk(self) -> bool:
        return self._in_bulk and self._judge.disagreement is None

    def _glance(self, cases: Sequence[Case], place: int) -> Judgement:
        if self._at_once > 1 and not self._judge.is_known(cases[place]):
            ahead = [case for case in cases[place : place + self._at_once] if not self._judge.is_known(case)]
            self._run_apart(ahead)
        return self._judge.glance(cases[place])

    def _run_first(self, cases: Sequence[Case]) -> None:
        """Run cases together where that can be: those that pass need no run of their own.

        Where the first case is known to fail, there is nothing to screen. If it fails because the claim is false, a few
        cases are run together all the same: they show whether it can be made simpler in bulk.
        """
        first = self._judge.failure_of(cases[0])
        if first is not None and first.error is not None:
            self.failed = WhyAlone.FAILED
            return
        if first is not None:
            self.failed = WhyAlone.FIRST
            cases = cases[:_MANY]
        self._tell(Screening(len(cases)))
        try:
            self._run_sampled(cases)
            self._in_bulk = True
        except CannotCarry as why:
            self.why_not = str(why)
        except SubjectFailure:
            self.failed = WhyAlone.FAILED  # it will fail alone too, and say so with its case
        self._tell(Screened(len(cases), self.why_not))

    def _run_more(self, cases: Sequence[Case]) -> None:
        """Run cases together of a subject that is known to allow it."""
        unknown = [case for case in cases if not self._judge.is_known(case)]
        with suppress(CannotCarry, SubjectFailure):  # then they are run alone when they are judged
            self._keep(unknown, self._runner.together(unknown, also_single=True) if unknown else [])

    def _run_sampled(self, cases: Sequence[Case]) -> None:
        """Run cases together, and a few of them alone too; nothing is kept where these differ."""
        samples = max(1, min(_SAMPLES, len(cases) // _SAMPLED))
        long_enough = [case for case in cases if not self._judge.is_too_short(case)]
        beginnings = [_beginning(case) for case in _spread(long_enough, samples) if case.length > _SAMPLE_LENGTH]
        traces = self._runner.together([*long_enough, *beginnings], also_single=False)
        screened = _that_ran(long_enough, traces[: len(long_enough)])
        begun = _that_ran(beginnings, traces[len(long_enough) :])
        # The case that was judged first is compared too, but it was chosen for being short: it is not a sample.
        known = [pair for pair in screened if self._ran_alone(*pair)][:1]
        others = [pair for pair in screened if not self._ran_alone(*pair)]
        short = [pair for pair in others if pair[0].length <= _SAMPLE_LENGTH]
        tried = [*known, *begun, *_spread(short or others, samples - len(begun))]
        self._run_apart([case for case, _ in tried if self._memory.recall(case) is None])
        for case, trace in tried:
            alone = self._memory.recall(case)
            if alone is not None and (alone.error is not None or not _begins_with(trace, alone.trace)):
                self._judge.disagree(trace, alone.trace)
                return
        self.compared += len(tried)
        self._keep(long_enough, traces[: len(long_enough)])

    def _ran_alone(self, case: Case, together: Trace) -> bool:
        """Has the case been run alone, as far as the bulk run went?"""
        known = self._memory.recall(case)
        return known is not None and not known.screened and len(known.trace) == len(together)

    def _keep(self, cases: Sequence[Case], traces: Sequence[Trace | None]) -> None:
        for case, trace in _that_ran(cases, traces):
            self._memory.keep(case, Remembered(trace, screened=True))

    def _run_apart(self, cases: Sequence[Case]) -> None:
        """Run cases at the same time, each by itself, and remember what Spark did with them."""
        for case, seen in zip(cases, self._runner.apart(cases), strict=True):
            match seen:
                case SubjectFailure():
                    self._judge.remember(case, seen.trace, seen, decided=False)
                case _:
                    self._judge.remember(case, seen, None, decided=False)


def _begins_with(trace: Trace, other: Trace) -> bool:
    """Are they the same as far as the other one goes? It may have ended with its verdict."""
    return trace[: len(other)] == other.instants and trace.outside == other.outside


def _that_ran(cases: Sequence[Case], traces: Sequence[Trace | None]) -> list[tuple[Case, Trace]]:
    """Cases with their traces, without those that have to run alone."""
    return [(case, trace) for case, trace in zip(cases, traces, strict=True) if trace is not None]


def _beginning(case: Case) -> Case:
    """A case's first batches as a case of their own."""
    return case.with_each(lambda s: make_stream(s.batches[:_SAMPLE_LENGTH], s.schema, s.span))


def _spread(items: Sequence[T], most: int) -> list[T]:
    """A few of many: the first, the last, and some between."""
    if len(items) <= most:
        return list(items)
    if most < 2:  # not the first, which is mostly the simplest
        return [items[len(items) // 2]] if most else []
    return [items[round(index * (len(items) - 1) / (most - 1))] for index in range(most)]
