"""Judging one case: run it on Spark, step a meter, stop as soon as the verdict is definite.

What is claimed of cases, and how they are run, is up to the check that asks: a `Claim` and a `Runner`.

A verdict that is definite after k instants depends on the first k input batches alone. So it is remembered under
these, and a case that begins with them needs no run: most of what shrinking tries differs only after that. Not so
where the last batch decides, at which event time may end, or where windows are judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from firesteel.errors import PredicateError
from firesteel.logic.ltl.explain import Reason
from firesteel.logic.ltl.formulas import Formula, Implies
from firesteel.logic.verdicts import Verdict
from firesteel.spark.engines.structured import Watcher
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case, texts_of
from firesteel.values.records import Record
from firesteel.values.streams import Batch, Instant, Stream, Trace, make_stream
from firesteel.values.windows import instants_of

T = TypeVar("T")

# How many cases of a bulk run are run alone as well: at least one, one more for so many cases, and at most so many.
_SAMPLED, _SAMPLES = 50, 3
# Of a long case its first batches, as a case of its own: alone, every batch takes as long as all cases do together.
_SAMPLE_LENGTH = 8
# Of how many cases the keys are kept.
_DIGESTS = 1_000


@dataclass(frozen=True)
class Why:
    """Why a trace breaks what is claimed: in words, or as data."""

    reason: str = ""
    explanation: Reason | None = None
    answers: Mapping[tuple[Formula, int], bool] = field(default_factory=dict)
    """What predicates said, by predicate and instant."""
    trace: Trace | None = None
    """What is worth showing of the trace, if that is not all of it."""


class Meter(Protocol):
    """Judges one trace, instant by instant."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def premises(self) -> Mapping[Implies | None, bool]:
        """Which premises held at least once."""

    def step(self, instant: Instant) -> Verdict: ...
    def finish(self) -> Verdict:
        """The verdict, as there is no more to come."""

    def why(self, trace: Trace, *, ended: bool) -> Why:
        """Why it is false; `ended` if that needed the end of the trace."""

    def closeness(self, trace: Trace) -> float | None:
        """How close a trace that is not false came to it; None where that cannot be said."""


class Claim(Protocol):
    """What is claimed of every case."""

    @property
    def formula(self) -> Formula | None: ...
    @property
    def shortest_true(self) -> int:
        """A trace of fewer instants is never enough for it to be true."""

    def meter(self) -> Meter: ...
    def too_short(self, length: int, unit: str) -> str:
        """Why so many instants do not decide it."""


class Runner(Protocol):
    """Runs cases on Spark."""

    @property
    def how(self) -> Running: ...
    @property
    def prefixes(self) -> bool:
        """Does what comes out until an instant hang on what went in until then, and on nothing later?"""

    def alone(self, case: Case, watcher: Watcher) -> Trace:
        """Run a case as far as its watcher lets it go; `SubjectFailure` if that fails."""

    def apart(self, cases: Sequence[Case]) -> list[Trace | SubjectFailure]:
        """Run whole cases, several at once."""

    def together(self, cases: Sequence[Case], *, also_single: bool) -> list[Trace | None]:
        """Run cases in one query; None for one that has to run alone, `CannotCarry` where it is not possible."""


@dataclass(frozen=True)
class Judgement:
    """What became of a case: a verdict and the instants it rests on, or the subject's failure."""

    verdict: Verdict
    trace: Trace
    premises: Mapping[Implies | None, bool] = field(default_factory=dict)
    why: Why = field(default_factory=Why)
    error: SubjectFailure | None = None
    settled: bool = False
    """Was the verdict definite before the end? Then nothing later matters."""
    closeness: float | None = None
    """How close it came to being false: the more the closer."""


class Judge:
    """Judges cases of one claim, and remembers."""

    def __init__(self, claim: Claim, runner: Runner) -> None:
        self._claim, self._runner, self._how = claim, runner, runner.how
        self._known: dict[bytes, _Remembered] = {}
        # By identity, which holds as long as the case lives: so it is kept here.
        self._digests: dict[int, tuple[Case, list[bytes]]] = {}
        self.disagreement: str | None = None
        """How a bulk run differed from runs alone, if it did: nothing that it said counts then."""

    def __call__(self, case: Case, *, screened: bool = False) -> Judgement:
        """The judgement on a case; what a bulk run said of it counts only if `screened`."""
        known = self._recalled(case)
        if known is None or (known.screened and not screened):
            return self.afresh(case)
        # The predicates are asked again all the same: what they note, and aim for, belongs to every example.
        if known.error is not None and self._how.over is not None:  # what it left behind are batches, not windows
            return Judgement(Verdict.INCONCLUSIVE, known.trace, error=known.error)
        try:
            return _judged(self._claim, known.trace, known.error)
        except PredicateError as error:
            error.add_note(f"firesteel: in this case: {repr(case)[:2_000]}")
            raise

    def screen(self, cases: Sequence[Case], *, sampled: bool = True) -> None:
        """Run cases together, and remember what Spark did with each; `CannotCarry` says why that is not possible.

        If `sampled`, a few of them are run alone too, and have to come out the same.
        """
        samples = max(1, min(_SAMPLES, len(cases) // _SAMPLED)) if sampled else 0
        long_enough = [case for case in cases if not self._too_short(case)]
        shorter = [_beginning(i) for i in _spread(long_enough, samples) if i.length > _SAMPLE_LENGTH]
        wanted = [*long_enough, *shorter]
        traces = self._runner.together(wanted, also_single=not sampled)
        ran = list(zip(wanted, traces, strict=True))
        screened = [(case, trace) for case, trace in ran[: len(long_enough)] if trace is not None]
        begun = [(case, trace) for case, trace in ran[len(long_enough) :] if trace is not None]
        short = [pair for pair in screened if pair[0].length <= _SAMPLE_LENGTH]
        tried = [*begun, *_spread(short or screened, samples - len(begun))]
        self._run_apart([case for case, _ in tried if self._recalled(case) is None])
        for case, trace in tried:
            alone = self._recalled(case)
            if alone is not None and (alone.error is not None or trace != alone.trace):
                self.disagree(trace, alone.trace)
                return
        for case, trace in screened:
            key = self._keys(case)[-1] + b"end"
            self._known.setdefault(key, _Remembered(trace, None, screened=True))

    def run_ahead(self, cases: Sequence[Case]) -> None:
        """Run cases at the same time, each by itself, and remember what Spark did with them."""
        self._run_apart([case for case in cases if not self.knows(case)])

    def _run_apart(self, cases: Sequence[Case]) -> None:
        for case, seen in zip(cases, self._runner.apart(cases), strict=True):
            key = self._keys(case)[-1] + b"end"
            failure = seen if isinstance(seen, SubjectFailure) else None
            self._known[key] = _Remembered(seen.trace if isinstance(seen, SubjectFailure) else seen, failure)

    def confirmed(self, case: Case, screened: Judgement) -> Judgement:
        """A case that a bulk run found false, run alone: that alone counts.

        Traces are the same up to the order of records: where only that differs, both runs did what Spark may do.
        """
        alone = self.afresh(case)
        same = alone.error is None and alone.trace[: len(screened.trace)] == screened.trace.instants
        if alone.verdict is not Verdict.FALSE and not same:
            self.disagree(screened.trace, alone.trace)
        return alone

    def disagree(self, together: Trace, alone: Trace) -> None:
        """Remember that a bulk run was wrong, and forget all that such runs said."""
        first = next((b for a, b in zip(alone, together, strict=False) if a != b), None)
        where = "" if first is None else f" in {'batch' if self._how.over is None else 'window'} {first.index}"
        self.disagreement = f"a bulk run and a run alone of the same case differ{where}: a defect of bulk runs"
        self._known = {key: known for key, known in self._known.items() if not known.screened}

    def knows(self, case: Case) -> bool:
        """Is the judgement known without a run?"""
        return self._too_short(case) or self._recalled(case) is not None

    def screened(self, case: Case) -> bool:
        """Is all that is known of a case what a bulk run said?"""
        known = self._recalled(case)
        return known is not None and known.screened

    def _too_short(self, case: Case) -> bool:
        """Can the property never be true of it? Then it is not worth a run."""
        return instants_of(case, self._how.over) < self._claim.shortest_true

    def afresh(self, case: Case) -> Judgement:
        """Run a case on Spark by itself, whatever is remembered."""
        if self._too_short(case):
            return Judgement(Verdict.INCONCLUSIVE, Trace(()))
        judgement, decided = self._run(case)
        keys = self._keys(case)
        # A verdict at the end also depends on where the end is; a window may hold what came in any batch.
        early = decided and self._runner.prefixes and 0 < len(judgement.trace) < case.length
        key = keys[len(judgement.trace) - 1] if early else keys[-1] + b"end"
        self._known.pop(keys[-1] + b"end", None)  # what a bulk run said
        self._known[key] = _Remembered(judgement.trace, judgement.error)
        return judgement

    def again(self, case: Case, before: Judgement) -> Judgement:
        """Run a judged case once more by itself: the same judgement if Spark did the same, else a new one.

        The predicates are asked anew only then: they may use Hypothesis (`note`, `target`), whose example is over.
        """
        watch_as_far = len(before.trace) + (before.error is not None)
        try:
            trace = self._runner.alone(case, lambda now: now.index + 1 >= watch_as_far)
        except SubjectFailure as failure:
            return Judgement(Verdict.INCONCLUSIVE, failure.trace, error=failure)
        if before.error is not None:
            return Judgement(Verdict.INCONCLUSIVE, trace)
        # Traces are the same up to the order of records, which a claim without predicates may well look at.
        same = trace == before.trace and self._claim.formula is not None
        return before if same else _judged(self._claim, trace, None)

    def _recalled(self, case: Case) -> _Remembered | None:
        # Not under the last key: event time may end there, and went on in the case that is remembered under it.
        *before, last = self._keys(case)
        for key in before:
            if key in self._known:
                return self._known[key]
        return self._known.get(last + b"end")

    def _keys(self, case: Case) -> list[bytes]:
        """The keys of a case, which is asked for more than once."""
        if id(case) not in self._digests:
            if len(self._digests) >= _DIGESTS:
                self._digests.clear()
            self._digests[id(case)] = case, list(_keys(case))
        return self._digests[id(case)][1]

    def _run(self, case: Case) -> tuple[Judgement, bool]:
        meter = self._claim.meter()
        seen: list[Instant] = []

        def watch(instant: Instant) -> bool:
            seen.append(instant)
            return meter.step(instant).definite

        try:
            trace = self._runner.alone(case, watch)
        except SubjectFailure as failure:
            trace = failure.trace if self._how.over is not None else Trace(seen)
            return Judgement(Verdict.INCONCLUSIVE, trace, meter.premises, error=failure), False
        except PredicateError as error:
            error.add_note(f"firesteel: in this case: {repr(case)[:2_000]}")
            raise
        decided = meter.verdict.definite
        return _concluded(meter, trace), decided


@dataclass(frozen=True)
class _Remembered:
    """What Spark did with a case."""

    trace: Trace
    error: SubjectFailure | None
    screened: bool = False
    """Was it seen only in a bulk run?"""


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


def _judged(claim: Claim, trace: Trace, error: SubjectFailure | None) -> Judgement:
    """The judgement on a trace that is known."""
    meter = claim.meter()
    seen: list[Instant] = []
    for instant in trace:
        seen.append(instant)
        if meter.step(instant).definite:
            break
    judged = Trace(seen, outside=trace.outside)
    if error is not None and not meter.verdict.definite:
        return Judgement(Verdict.INCONCLUSIVE, judged, meter.premises, error=error)
    return _concluded(meter, judged, trace)


def _concluded(meter: Meter, trace: Trace, whole: Trace | None = None) -> Judgement:
    """The judgement of a meter that has seen all it is going to see.

    How close it came is asked of the `whole` trace: what came after the verdict may be what is looked for.
    """
    decided = meter.verdict.definite
    verdict = meter.finish()
    if verdict is not Verdict.FALSE:
        return Judgement(verdict, trace, meter.premises, settled=decided, closeness=meter.closeness(whole or trace))
    return Judgement(verdict, trace, meter.premises, meter.why(trace, ended=not decided), settled=decided)


def _keys(case: Case) -> Iterator[bytes]:
    """A key for the first batch of every input, for the first two, and so on."""
    shapes = [
        (name, stream.schema.json() if stream.schema is not None else "", str(stream.span))
        for name, stream in case.items()
    ]
    digest = hashlib.blake2b(repr((sorted(shapes), texts_of(case.drawn))).encode())
    length = max((len(stream) for stream in case.values()), default=0)
    for index in range(length):
        for name in sorted(case):
            digest.update(_text(case[name], index).encode())
        yield digest.digest()
    if not length:
        yield digest.digest()


def _text(stream: Stream, index: int) -> str:
    batch: Any = stream[index] if index < len(stream) else Batch()
    return f"{_columns(batch)} {batch.partitions or ''}\n"


def _columns(batch: Batch) -> Sequence[Any]:
    """What tells a batch from others: written by Python itself, column by column, as a case may have a million values.

    In place of a moment stands its hash: writing it would take longer than all else.
    """
    if batch.schema is None:
        return [record.__dict__ if type(record) is Record else record for record in batch.records]
    columns = [[record.__dict__[name] for record in batch.records] for name in batch.schema.names]
    return [
        list(map(hash, column)) if field.dataType.typeName() in ("timestamp", "timestamp_ntz") else column
        for field, column in zip(batch.schema.fields, columns, strict=True)
    ]
