"""Judging one case: run it on Spark by itself, step a meter, stop as soon as the verdict is definite.

A bulk run screens, it never convicts: what it said of a case counts for a `glance`, and the last word has a run alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from firesteel.errors import PredicateError
from firesteel.logic.verdicts import Verdict
from firesteel.runs.claims import Claim, Judgement, Meter, Runner
from firesteel.runs.memory import Memory, Remembered
from firesteel.spark.failures import SubjectFailure
from firesteel.values.cases import Case
from firesteel.values.reading_order import noticing_order
from firesteel.values.traces import Instant, Trace, up_to
from firesteel.values.windows import instants_of


class Judge:
    """Judges the cases of one claim, and remembers what Spark did with them."""

    def __init__(self, claim: Claim, runner: Runner, memory: Memory) -> None:
        self._claim, self._runner, self._how, self._memory = claim, runner, runner.how, memory
        self._suspects: set[bytes] = set()
        self._seen_twice: set[bytes] = set()
        self._failures: dict[bytes, Judgement] = {}
        self._failure_of_all: Judgement | None = None
        self._raised: dict[bytes, PredicateError] = {}
        self.reads_order = False
        """Has the claim ever read the order in which records came out?"""
        self.disagreement: tuple[Trace, Trace] | None = None
        """What a bulk run and a run alone saw of the same case, where they differ: then no bulk run is believed."""

    def __call__(self, case: Case) -> Judgement:
        """The last word on a case: what a run of its own says."""
        known = self._memory.recall(case)
        if known is None:
            return self._afresh(case)
        return self._confirmed(case, known.trace) if known.screened else self._recalled(case, known)

    def glance(self, case: Case) -> Judgement:
        """The judgement on a case from what is known of it, be it only from a bulk run; from a run if nothing is."""
        known = self._memory.recall(case)
        if known is None:
            return self._afresh(case)
        try:
            judgement = self._recalled(case, known)
        except PredicateError as error:
            self._raised[self._memory.identity(case)] = error
            raise
        if known.screened and judgement.verdict is Verdict.FALSE:
            self._suspects.add(self._memory.identity(case))
        return judgement

    def again(self, case: Case, before: Judgement) -> Judgement:
        """Run a judged case once more by itself: the same judgement if Spark did the same, else a new one.

        A case that a bulk run and a run alone both found false has been seen twice. Predicates are asked anew only if
        the runs differ in more than the order of records: the example of Hypothesis that they belong to is over.
        """
        if before.error is None and self._memory.identity(case) in self._seen_twice:
            return before
        watch_as_far = len(before.trace) + (before.error is not None)
        try:
            trace = self._runner.alone(case, lambda now: now.index + 1 >= watch_as_far)
        except SubjectFailure as failure:
            return Judgement(Verdict.INCONCLUSIVE, failure.trace, error=failure)
        if before.error is not None:
            return Judgement(Verdict.INCONCLUSIVE, trace)
        same = trace == before.trace and self._claim.ignores_order
        return before if same else judged(self._claim, trace, None)

    def is_known(self, case: Case) -> bool:
        """Is the judgement known without a run?"""
        return self.is_too_short(case) or self._memory.recall(case) is not None

    def is_screened(self, case: Case) -> bool:
        """Is all that is known of a case what a bulk run said?"""
        known = self._memory.recall(case)
        return known is not None and known.screened

    def failure_of(self, case: Case) -> Judgement | None:
        """How a case failed when it was run alone, or would fail, as every case does; None where nothing is known."""
        return self._failure_of_all or self._failures.get(self._memory.identity(case))

    def is_too_short(self, case: Case) -> bool:
        """Can the claim never be true of it? Then it is not worth a run."""
        return instants_of(case, self._how.over) < self._claim.shortest_true

    def disagree(self, together: Trace, alone: Trace) -> None:
        """Remember that a bulk run was wrong, and forget all that such runs said."""
        self.disagreement = (together, alone)
        self._memory.forget_screened()
        self._suspects.clear()
        self._seen_twice.clear()

    def _confirmed(self, case: Case, screened: Trace) -> Judgement:
        """A case that was seen in a bulk run, run alone: that alone counts.

        Traces are equal up to the order of records: where only that differs, both runs did what Spark may do.
        """
        alone = self._afresh(case)
        if alone.verdict is Verdict.FALSE:
            self._seen_twice |= self._suspects & {self._memory.identity(case)}
        elif alone.error is not None or alone.trace.instants != screened[: len(alone.trace)]:
            self.disagree(screened, alone.trace)
        elif self._memory.identity(case) in self._raised:
            raise self._raised[self._memory.identity(case)]  # the same output, and a predicate that raises at times
        return alone

    def _recalled(self, case: Case, known: Remembered) -> Judgement:
        # The predicates are asked again all the same: what they note, and aim for, belongs to every example.
        if known.error is not None and self._how.over is not None:  # what it left behind are batches, not windows
            return Judgement(Verdict.INCONCLUSIVE, known.trace, error=known.error)
        with _naming(case), self._noticing_order(known.trace):
            return judged(self._claim, known.trace, known.error)

    def _afresh(self, case: Case) -> Judgement:
        """Run a case on Spark by itself, whatever is remembered."""
        if self.is_too_short(case):
            return Judgement(Verdict.INCONCLUSIVE, Trace(()))
        judgement, decided = self._run(case)
        if judgement.fails:
            self._failures[self._memory.identity(case)] = judgement
            self._failure_of_all = None if judgement.depends_on_case else judgement
        self.remember(case, judgement.trace, judgement.error, decided=decided)
        return judgement

    def remember(self, case: Case, trace: Trace, error: SubjectFailure | None, *, decided: bool) -> None:
        """Keep what a run alone showed of a case; `decided` if it was ended by a verdict that is definite."""
        # The batch in which the subject failed mattered too.
        needed = len(trace) + (error is not None)
        # A verdict at the end also depends on where the end is; a window may hold what came in any batch.
        early = (decided or error is not None) and self._runner.prefixes and 0 < needed < case.length
        self._memory.keep(case, Remembered(trace, error), decided_after=needed if early else None)

    def _run(self, case: Case) -> tuple[Judgement, bool]:
        meter = self._claim.meter()
        seen: list[Instant] = []

        def watch(instant: Instant) -> bool:
            seen.append(instant)
            with self._noticing_order((instant,)):
                return meter.step(instant).definite

        try:
            with _naming(case):
                trace = self._runner.alone(case, watch)
        except SubjectFailure as failure:
            trace = failure.trace if self._how.over is not None else Trace(seen)
            return Judgement(Verdict.INCONCLUSIVE, trace, meter.premises, error=failure), False
        decided = meter.verdict.definite
        return _concluded(meter, trace), decided

    @contextmanager
    def _noticing_order(self, instants: Iterable[Instant]) -> Iterator[None]:
        """Remember whether the claim reads the order of records that come out. That of the input is given."""
        with noticing_order() as read:
            read.given.update(id(batch) for instant in instants for batch in instant.inputs.values())
            try:
                yield
            finally:
                self.reads_order |= read.any


@contextmanager
def _naming(case: Case) -> Iterator[None]:
    """A predicate that raises is reported with the case that it raised on."""
    try:
        yield
    except PredicateError as error:
        error.add_note(f"firesteel: in this case: {repr(case)[:2_000]}")
        raise


def judged(claim: Claim, trace: Trace, error: SubjectFailure | None) -> Judgement:
    """The judgement on a trace that is known."""
    meter = claim.meter()
    so_far = up_to(trace, lambda instant: meter.step(instant).definite)
    if error is not None and not meter.verdict.definite:
        return Judgement(Verdict.INCONCLUSIVE, so_far, meter.premises, error=error)
    return _concluded(meter, so_far, trace)


def _concluded(meter: Meter, trace: Trace, whole: Trace | None = None) -> Judgement:
    """The judgement of a meter that has seen all it is going to see.

    How close it came is asked of the `whole` trace: what came after the verdict may be what is looked for.
    """
    decided = meter.verdict.definite
    verdict = meter.finish()
    if verdict is not Verdict.FALSE:
        return Judgement(verdict, trace, meter.premises, settled=decided, closeness=meter.closeness(whole or trace))
    return Judgement(verdict, trace, meter.premises, meter.why(trace, ended=not decided), settled=decided)
