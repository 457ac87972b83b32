"""Screening: many cases are run together, or several at the same time, before they are judged one by one.

A few cases of a bulk run are run alone as well, and have to come out the same. A few are run together once more, in
another order and with fewer others: a case must not notice its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from firesteel.evidence.events import Listener, Screened, Screening
from firesteel.evidence.report import Size, WhyAlone
from firesteel.runs.claims import Judgement, Runner
from firesteel.runs.judging import Judge
from firesteel.runs.memory import Memory, Remembered
from firesteel.runs.sampling import Sample, company, same_order, samples, wanted
from firesteel.search.find import When
from firesteel.search.rounds import ROUND
from firesteel.spark.bulk.together import Together
from firesteel.spark.failures import CannotCarry, SubjectFailure
from firesteel.values.cases import Case
from firesteel.values.traces import Trace

# With this many cases a bulk run pays: some of them are run alone again.
_MANY = 8


class Screen:
    """Gets many cases ready to be judged at a glance."""

    def __init__(
        self, judge: Judge, runner: Runner, memory: Memory, *, bulk: bool, at_once: int, tell: Listener
    ) -> None:
        """`at_once` is how many cases are run at the same time where each has to run by itself."""
        self._judge, self._runner, self._memory, self._tell = judge, runner, memory, tell
        self._bulk, self._at_once = bulk, at_once
        self._in_bulk = False
        self._pairs: list[tuple[Trace, Trace]] = []
        self._later: list[tuple[Case, Trace]] = []
        self._again: list[tuple[Case, Trace]] = []
        self.why_not: str | None = None
        """Why cases cannot be run together, if that was tried."""
        self.compared = 0
        """How many cases were run together and alone, and came out the same."""
        self.failed: WhyAlone | None = None
        """What failed before cases were run together, or when they were."""

    def __call__(self, cases: Sequence[Case], *, when: When) -> Sequence[Callable[[], Judgement]]:
        if when is When.FIRST:
            if self._bulk and len(cases) >= _MANY:
                self._run_first(cases)
        elif self._trusts_bulk and len(cases) > self._at_once:
            # What is simpler than a case that fails need not be compared: if it fails, it is run alone anyway.
            self._run_more(cases, sampled=when is When.LATER)
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

    def _run_more(self, cases: Sequence[Case], *, sampled: bool) -> None:
        """Run cases together of a subject that is known to allow it.

        One case of every generation is run alone too, but only in the end: there several run at once. A few cases of
        the first bulk run are in the next one too, among other cases.
        """
        unknown = [case for case in cases if not self._judge.is_known(case)]
        if not unknown:
            return
        chosen = samples(unknown, self._memory, later=True) if sampled else []
        again = [case for case, _ in self._again] if sampled else []
        with suppress(CannotCarry, SubjectFailure):  # then they are run alone when they are judged
            traces = self._runner.together([*unknown, *_beginnings(chosen), *again], also_single=True)
            if not self._differs_in_company(traces[len(traces) - len(again) :]):
                self._later += self._to_compare(unknown, chosen, traces)
                self._keep(unknown, traces[: len(unknown)])

    def _run_sampled(self, cases: Sequence[Case]) -> None:
        """Run cases together, and a few of them alone too; nothing is kept where these differ."""
        long_enough = [case for case in cases if not self._judge.is_too_short(case)]
        chosen = samples(long_enough, self._memory)
        both = [*long_enough, *_beginnings(chosen)]
        traces = self._runner.together(both, also_single=False)
        few = wanted(len(cases), doubtful=isinstance(traces, Together) and traces.doubtful)
        # The case that was judged first is compared too, but it was chosen for being short: it is not a sample.
        known = [pair for pair in _that_ran(long_enough, traces[: len(long_enough)]) if self._ran_alone(*pair)][:1]
        if not self._differs_alone([*known, *self._to_compare(long_enough, chosen, traces)[:few]]):
            self._keep(long_enough, traces[: len(long_enough)])
            self._again = company(_that_ran(both, traces), self._memory)

    def _to_compare(
        self, cases: Sequence[Case], chosen: Sequence[Sample], traces: Sequence[Trace | None]
    ) -> list[tuple[Case, Trace]]:
        """What can be compared with runs alone: chosen cases or their beginnings, with what a bulk run said of them."""
        seen = {id(case): trace for case, trace in zip(cases, traces, strict=False)}
        begun = iter(traces[len(cases) :])
        parts = [(each.part, seen[id(each.part)] if each.is_whole else next(begun)) for each in chosen]
        # Where no beginning can run with the others, a whole case is compared.
        wholes = [(each.whole, seen[id(each.whole)]) for each in chosen]
        return self._not_yet_alone(parts) or self._not_yet_alone(wholes)[:1]

    def _not_yet_alone(self, pairs: Sequence[tuple[Case, Trace | None]]) -> list[tuple[Case, Trace]]:
        return [(case, trace) for case, trace in pairs if trace is not None and not self._ran_alone(case, trace)]

    def _differs_alone(self, tried: Sequence[tuple[Case, Trace]]) -> bool:
        """Does any of these cases come out differently alone? Then no bulk run is believed any more."""
        self._run_apart([case for case, _ in tried if self._is_unseen_alone(case)])
        for case, trace in tried:
            alone = self._memory.recall(case)
            if alone is None:
                continue
            if alone.error is not None or not _begins_with(trace, alone.trace):
                self._judge.disagree(trace, alone.trace)
                return True
            self._pairs.append((trace, alone.trace))
        self.compared += len(tried)
        return False

    def _differs_in_company(self, traces: Sequence[Trace | None]) -> bool:
        """Does any case of the first bulk run come out differently with other cases around it?"""
        seen = [(before, trace) for (_, before), trace in zip(self._again, traces, strict=False) if trace is not None]
        if seen:
            self._again = []  # once is enough
        for before, trace in seen:
            if trace != before:
                self._judge.disagree(before, trace)
                return True
        return False

    def stands(self) -> bool:
        """Does what bulk runs said still count, in the end?

        One case of each later generation is run alone now. If there were none, a few cases of the first bulk run are
        run together once more, in another order and with fewer others.
        """
        if self._trusts_bulk:
            later, self._later = self._later, []
            self._differs_alone(later)
        if self._trusts_bulk and self._again:
            with suppress(CannotCarry, SubjectFailure):
                again = [case for case, _ in self._again]
                self._differs_in_company(self._runner.together(again, also_single=False))
        return self._judge.disagreement is None and self._order_stands()

    def _order_stands(self) -> bool:
        """Is the order of records in bulk runs that of runs alone, where the claim reads it?"""
        if self._judge.reads_order:
            for together, alone in self._pairs:
                if not same_order(together, alone):
                    self._judge.disagree(together, alone)
                    return False
        return True

    def _is_unseen_alone(self, case: Case) -> bool:
        known = self._memory.recall(case)
        return known is None or known.screened

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


def _beginnings(chosen: Sequence[Sample]) -> list[Case]:
    return [sample.part for sample in chosen if not sample.is_whole]


def _that_ran(cases: Sequence[Case], traces: Sequence[Trace | None]) -> list[tuple[Case, Trace]]:
    """Cases with their traces, without those that have to run alone."""
    return [(case, trace) for case, trace in zip(cases, traces, strict=True) if trace is not None]
