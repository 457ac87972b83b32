"""Judging one case: run it on Spark, step the monitor, stop as soon as the verdict is definite.

A verdict that is definite after k instants depends on the first k input batches alone. So it is remembered under
these, and a case that begins with them needs no run: most of what shrinking tries differs only after that. Not so
where the last batch decides, at which event time may end, or where windows are judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from firesteel.errors import PredicateError
from firesteel.logic.explain import Reason, explain
from firesteel.logic.formulas import Atom, Formula, Implies
from firesteel.logic.monitor import Memory, Monitor
from firesteel.logic.verdicts import Verdict
from firesteel.records import Record
from firesteel.spark.bulk import exercise_together
from firesteel.spark.engines import exercise, exercise_apart
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.query import Running
from firesteel.spark.structured import Case
from firesteel.spark.subject import Subject
from firesteel.streams import Batch, Instant, Stream, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

# How many cases of a bulk run are run alone as well.
_SAMPLES = 3
# Of how many cases the keys are kept.
_DIGESTS = 1_000


@dataclass(frozen=True)
class Judgement:
    """What became of a case: a verdict and the instants it rests on, or the subject's failure."""

    verdict: Verdict
    trace: Trace
    premises: Mapping[Implies | None, bool] = field(default_factory=dict)
    explanation: Reason | None = None
    answers: Mapping[tuple[Formula, int], bool] = field(default_factory=dict)
    error: SubjectFailure | None = None
    settled: bool = False
    """Was the verdict definite before the end? Then nothing later matters."""


class Judge:
    """Judges cases of one property, and remembers."""

    def __init__(self, spark: SparkSession, subject: Subject, formula: Formula, how: Running) -> None:
        self._spark, self._subject, self._formula, self._how = spark, subject, formula, how
        self._known: dict[bytes, _Remembered] = {}
        # By identity, which holds as long as the inputs live: so they are kept here.
        self._digests: dict[int, tuple[Mapping[str, Stream], list[bytes]]] = {}
        self.disagreement: str | None = None
        """How a bulk run differed from runs alone, if it did: nothing that it said counts then."""

    def __call__(self, inputs: Mapping[str, Stream], *, screened: bool = False) -> Judgement:
        """The judgement on a case; what a bulk run said of it counts only if `screened`."""
        known = self._recalled(inputs)
        if known is None or (known.screened and not screened):
            return self.afresh(inputs)
        # The predicates are asked again all the same: what they note, and aim for, belongs to every example.
        if known.error is not None and self._how.over is not None:  # what it left behind are batches, not windows
            return Judgement(Verdict.INCONCLUSIVE, known.trace, error=known.error)
        try:
            return _judged(self._formula, known.trace, known.error)
        except PredicateError as error:
            error.add_note(f"firesteel: in this case: {repr(dict(inputs))[:2_000]}")
            raise

    def screen(self, cases: Sequence[Mapping[str, Stream]], *, samples: int = _SAMPLES) -> None:
        """Run cases together, and remember what Spark did with each; `CannotCarry` says why that is not possible.

        A few of them, `samples`, are run alone too, and have to come out the same.
        """
        long_enough = [inputs for inputs in cases if not self._too_short(inputs)]
        traces = exercise_together(
            self._spark, [Case(inputs) for inputs in long_enough], self._subject, self._how, also_single=not samples
        )
        screened = [(c, trace) for c, trace in zip(long_enough, traces, strict=True) if trace is not None]
        sampled = _spread(screened, samples)
        self.run_ahead([inputs for inputs, _ in sampled])
        for inputs, trace in sampled:
            alone = self._recalled(inputs)
            if alone is not None and (alone.error is not None or trace != alone.trace):
                self.disagree(trace, alone.trace)
                return
        for inputs, trace in screened:
            key = self._keys(inputs)[-1] + b"end"
            self._known.setdefault(key, _Remembered(trace, None, screened=True))

    def run_ahead(self, cases: Sequence[Mapping[str, Stream]]) -> None:
        """Run cases at the same time, each by itself, and remember what Spark did with them."""
        wanted = [inputs for inputs in cases if not self.knows(inputs)]
        for inputs, seen in zip(wanted, self._apart(wanted), strict=True):
            key = self._keys(inputs)[-1] + b"end"
            failure = seen if isinstance(seen, SubjectFailure) else None
            self._known[key] = _Remembered(seen.trace if isinstance(seen, SubjectFailure) else seen, failure)

    def _apart(self, cases: Sequence[Mapping[str, Stream]]) -> list[Trace | SubjectFailure]:
        return exercise_apart(self._spark, [Case(inputs) for inputs in cases], self._subject, self._how)

    def confirmed(self, inputs: Mapping[str, Stream], screened: Judgement) -> Judgement:
        """A case that a bulk run found false, run alone: that alone counts."""
        alone = self.afresh(inputs)
        if alone.verdict is not Verdict.FALSE:
            self.disagree(screened.trace, alone.trace)
        return alone

    def disagree(self, together: Trace, alone: Trace) -> None:
        """Remember that a bulk run was wrong, and forget all that such runs said."""
        first = next((b for a, b in zip(alone, together, strict=False) if a != b), None)
        where = "" if first is None else f" in {'batch' if self._how.over is None else 'window'} {first.index}"
        self.disagreement = f"a bulk run and a run alone of the same case differ{where}: a defect of bulk runs"
        self._known = {key: known for key, known in self._known.items() if not known.screened}

    def knows(self, inputs: Mapping[str, Stream]) -> bool:
        """Is the judgement known without a run?"""
        return self._too_short(inputs) or self._recalled(inputs) is not None

    def screened(self, inputs: Mapping[str, Stream]) -> bool:
        """Is all that is known of a case what a bulk run said?"""
        known = self._recalled(inputs)
        return known is not None and known.screened

    def _too_short(self, inputs: Mapping[str, Stream]) -> bool:
        """Can the property never be true of it? Then it is not worth a run."""
        return Case(inputs).instants(self._how) < self._formula.shortest_true

    def afresh(self, inputs: Mapping[str, Stream]) -> Judgement:
        """Run a case on Spark by itself, whatever is remembered."""
        case = Case(inputs)
        if self._too_short(inputs):
            return Judgement(Verdict.INCONCLUSIVE, Trace(()))
        judgement, decided = self._run(case)
        keys = self._keys(inputs)
        # A verdict at the end also depends on where the end is; a window may hold what came in any batch.
        early = decided and self._how.over is None and 0 < len(judgement.trace) < case.length
        key = keys[len(judgement.trace) - 1] if early else keys[-1] + b"end"
        self._known.pop(keys[-1] + b"end", None)  # what a bulk run said
        self._known[key] = _Remembered(judgement.trace, judgement.error)
        return judgement

    def again(self, inputs: Mapping[str, Stream], before: Judgement) -> Judgement:
        """Run a judged case once more by itself: the same judgement if Spark did the same, else a new one.

        The predicates are asked anew only then: they may use Hypothesis (`note`, `target`), whose example is over.
        """
        watch_as_far = len(before.trace) + (before.error is not None)
        try:
            (trace,) = exercise(
                self._spark, [Case(inputs)], self._subject, self._how, [lambda now: now.index + 1 >= watch_as_far]
            )
        except SubjectFailure as failure:
            return Judgement(Verdict.INCONCLUSIVE, failure.trace, error=failure)
        if before.error is not None:
            return Judgement(Verdict.INCONCLUSIVE, trace)
        return before if trace == before.trace else _judged(self._formula, trace, None)

    def _recalled(self, inputs: Mapping[str, Stream]) -> _Remembered | None:
        # Not under the last key: event time may end there, and went on in the case that is remembered under it.
        *before, last = self._keys(inputs)
        for key in before:
            if key in self._known:
                return self._known[key]
        return self._known.get(last + b"end")

    def _keys(self, inputs: Mapping[str, Stream]) -> list[bytes]:
        """The keys of a case, which is asked for more than once."""
        if id(inputs) not in self._digests:
            if len(self._digests) >= _DIGESTS:
                self._digests.clear()
            self._digests[id(inputs)] = inputs, list(_keys(inputs))
        return self._digests[id(inputs)][1]

    def _run(self, case: Case) -> tuple[Judgement, bool]:
        memory = Memory()
        monitor = Monitor(self._formula, memory=memory)
        seen: list[Instant] = []

        def watch(instant: Instant) -> bool:
            seen.append(instant)
            return monitor.step(instant).definite

        try:
            (trace,) = exercise(self._spark, [case], self._subject, self._how, [watch])
        except SubjectFailure as failure:
            trace = failure.trace if self._how.over is not None else Trace(seen)
            return Judgement(Verdict.INCONCLUSIVE, trace, monitor.premises, error=failure), False
        except PredicateError as error:
            error.add_note(f"firesteel: in this case: {repr(dict(case.inputs))[:2_000]}")
            raise
        decided = monitor.verdict.definite
        return _concluded(monitor, memory, trace), decided


@dataclass(frozen=True)
class _Remembered:
    """What Spark did with a case."""

    trace: Trace
    error: SubjectFailure | None
    screened: bool = False
    """Was it seen only in a bulk run?"""


def _spread(items: Sequence[T], most: int) -> list[T]:
    """A few of many: the first, the last, and some between."""
    if len(items) <= most:
        return list(items)
    if not most:
        return []
    return [items[round(index * (len(items) - 1) / (most - 1))] for index in range(most)]


def _judged(formula: Formula, trace: Trace, error: SubjectFailure | None) -> Judgement:
    """The judgement on a trace that is known."""
    memory = Memory()
    monitor = Monitor(formula, memory=memory)
    seen: list[Instant] = []
    for instant in trace:
        seen.append(instant)
        if monitor.step(instant).definite:
            break
    judged = Trace(seen, outside=trace.outside)
    if error is not None and not monitor.verdict.definite:
        return Judgement(Verdict.INCONCLUSIVE, judged, monitor.premises, error=error)
    return _concluded(monitor, memory, judged)


def _concluded(monitor: Monitor, memory: Memory, trace: Trace) -> Judgement:
    """The judgement of a monitor that has seen all it is going to see."""
    decided = monitor.verdict.definite
    verdict = monitor.finish()
    if verdict is not Verdict.FALSE:
        return Judgement(verdict, trace, monitor.premises, settled=decided)
    explanation = explain(monitor.formula, trace, ended=not decided, memory=memory)
    answers = _answers(explanation, trace, memory)
    return Judgement(verdict, trace, monitor.premises, explanation, answers, settled=decided)


def _answers(explanation: Reason, trace: Trace, memory: Memory) -> dict[tuple[Formula, int], bool]:
    """What the deciding predicates say at every instant; where they were not asked it mattered to no verdict."""
    answers: dict[tuple[Formula, int], bool] = {
        (atom, index): bool(answer) for (_, index), (atom, answer) in memory.answers.items()
    }
    for atom in {leaf.formula for leaf in explanation.leaves() if isinstance(leaf.formula, Atom)}:
        for instant in trace:
            if (atom, instant.index) not in answers:
                with suppress(Exception):  # it was never asked here, and may well not be made for it
                    answers[atom, instant.index] = bool(atom.predicate(instant))
    return answers


def _keys(inputs: Mapping[str, Stream]) -> Iterator[bytes]:
    """A key for the first batch of every input, for the first two, and so on."""
    shapes = [
        (name, stream.schema.json() if stream.schema is not None else "", str(stream.span))
        for name, stream in inputs.items()
    ]
    digest = hashlib.blake2b(repr(sorted(shapes)).encode())
    length = max((len(stream) for stream in inputs.values()), default=0)
    for index in range(length):
        for name in sorted(inputs):
            digest.update(_text(inputs[name], index).encode())
        yield digest.digest()
    if not length:
        yield digest.digest()


def _text(stream: Stream, index: int) -> str:
    batch: Any = stream[index] if index < len(stream) else Batch()
    # Written by Python itself, as deep as its own values go: a case may have a million of them.
    values = [record.__dict__ if type(record) is Record else record for record in batch.records]
    return f"{values} {batch.partitions or ''}\n"
