"""Equivalence as a claim: two runs of every case, and a matcher that compares what came out of them.

A trace of both has an output for each side. The reference is run as it is; the candidate too, or under every variant of
some perturbations, each of which is a side of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from firesteel.equivalence.dependence import Dependence, unordered
from firesteel.equivalence.index import key_columns
from firesteel.equivalence.lawful import broken_law
from firesteel.equivalence.matcher import Matcher
from firesteel.errors import InvalidArgument, PredicateError, described
from firesteel.logic.ltl.formulas import Formula, Implies
from firesteel.logic.verdicts import Verdict
from firesteel.names import counted, name_of
from firesteel.perturb import Perturbation, Variant
from firesteel.perturb.changes import UNCHANGED, BatchBoundaries, Cut
from firesteel.runs import words
from firesteel.runs.check import Question
from firesteel.runs.judge import Why
from firesteel.spark.bulk.carry import CannotCarry
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.exercise import exercise, in_threads
from firesteel.spark.engines.structured import Watcher
from firesteel.spark.engines.subject import Subject
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.perturb.perturbed import exercise_under, perturbed_case, refuse
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.checks import Check
from firesteel.values.equality import EXACT, Equality
from firesteel.values.records import Record
from firesteel.values.schemas import type_ddl
from firesteel.values.streams import Batch, Instant, Trace, make_batch, together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

Accept: TypeAlias = Callable[[Instant, Batch, Batch], bool | Check]
_BEYOND = ": "
# With so many records that came out a dependence is looked at, whether it is one.
_ENOUGH = 200
_UNORDERED = unordered()
_REGROUPED = tuple(str(BatchBoundaries(cut)) for cut in get_args(Cut))


@dataclass(frozen=True)
class Sides:
    """What is compared with what, and how."""

    reference: Subject
    candidate: Subject
    dependence: Dependence
    equal: Equality | None = None
    accept: Accept | None = None
    under: tuple[Perturbation, ...] = ()

    @property
    def one_program(self) -> bool:
        """Is a program compared with itself?"""
        return self.reference is self.candidate

    @property
    def base(self) -> str:
        """What the run that the others are compared with is called."""
        return "as it is" if self.one_program else "reference"

    @property
    def ignored(self) -> tuple[str, ...]:
        """Columns that do not matter."""
        return self.equal.ignore if self.equal is not None else ()

    def variants(self, length: int) -> dict[str, Variant | None]:
        """The other runs of a case of so many batches, by what they are called."""
        found = dict.fromkeys(variant for each in self.under for variant in each.variants(length))
        if not found:
            return {} if self.one_program else {"candidate": None}
        before = "" if self.one_program else "candidate, "
        return {f"{before}{variant}": variant for variant in found}


def question(streams: Any, sides: Sides, spark: SparkSession, how: Running, called: str, **options: Any) -> Question:
    """Do both sides mean the same on all these streams?"""
    for perturbation in sides.under:
        for variant in perturbation.variants(3):
            refuse(variant, how)
    lines = {"reference": sides.reference, "candidate": sides.candidate}
    if sides.one_program:
        lines = {"subject": sides.reference}
    setting = {name: words.subject_line(subject, how, spark.version) for name, subject in lines.items()}
    setting |= {"over": repr(how.over)} if how.over is not None else {}
    setting |= {"up to": repr(sides.dependence)}
    setting |= {"equal": repr(sides.equal)} if sides.equal is not None else {}
    setting |= {"under": ", ".join(map(repr, sides.under))} if sides.under else {}
    return Question(
        streams,
        Equivalence(sides, how),
        _Runner(spark, sides, how),
        spark,
        setting,
        ", ".join(filter(str.isidentifier, map(name_of, lines.values()))) or "...",
        "\n".join([called, *map(name_of, lines.values()), repr(sides.dependence), repr(sides.under)]),
        called=called,
        **options,
    )


# --- running ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Runner:
    """Runs the sides of every case."""

    spark: SparkSession
    sides: Sides
    how: Running

    @property
    def prefixes(self) -> bool:
        return False  # a restart in the middle is elsewhere in a longer case

    def alone(self, case: Case, watcher: Watcher) -> Trace:
        whole = self._whole(case)
        seen = []
        for instant in whole:
            seen.append(instant)
            if watcher(instant):
                break
        return Trace(seen, outside=whole.outside)

    def _whole(self, case: Case) -> Trace:
        traces = {self.sides.base: self._run(self.sides.base, case, self.sides.reference, None)}
        for name, variant in self.sides.variants(case.length).items():
            traces[name] = self._run(name, case, self.sides.candidate, variant)
        return _beside(traces, self.sides.ignored)

    def _run(self, name: str, case: Case, subject: Subject, variant: Variant | None) -> Trace:
        try:
            if variant is not None:
                return exercise_under(self.spark, case, subject, self.how, variant, _all_of_it)
            return exercise(self.spark, case, subject, self.how, _all_of_it)
        except SubjectFailure as failure:
            named = SubjectFailure(f"{name}: {failure}", failure.trace)
            raise named from failure.__cause__

    def apart(self, cases: Sequence[Case]) -> list[Trace | SubjectFailure]:
        return in_threads(self.spark, self._whole, cases, self.how)

    def together(self, cases: Sequence[Case], *, also_single: bool) -> list[Trace | None]:
        def bulk(some: Sequence[Case], subject: Subject, how: Running) -> list[Trace | None]:
            return exercise_together(self.spark, some, subject, how, also_single=also_single)

        runs: dict[tuple[str, Variant | None], list[int]] = {}
        for number, case in enumerate(cases):
            for name, variant in self.sides.variants(case.length).items():
                if variant is not None and variant.alone:
                    raise CannotCarry(f"{variant} is tried in a query of its own")
                runs.setdefault((name, variant), []).append(number)
        found: list[dict[str, Trace | None]] = [
            {self.sides.base: trace} for trace in bulk(cases, self.sides.reference, self.how)
        ]
        for (name, variant), numbers in runs.items():
            some = [perturbed_case(cases[n], variant) if variant is not None else cases[n] for n in numbers]
            for n, trace in zip(
                numbers, bulk(some, self.sides.candidate, replace(self.how, under=variant or UNCHANGED)), strict=True
            ):
                found[n][name] = trace
        return [_beside_or_none(traces, self.sides.ignored) for traces in found]


def _all_of_it(instant: Instant) -> bool:
    return False


def _beside_or_none(traces: Mapping[str, Trace | None], ignored: Sequence[str]) -> Trace | None:
    known = {name: trace for name, trace in traces.items() if trace is not None}
    return _beside(known, ignored) if len(known) == len(traces) else None


def _beside(traces: Mapping[str, Trace], ignored: Sequence[str] = ()) -> Trace:
    """One trace of all sides: the input of the first, and an output for each side and output.

    Where a side had fewer batches than another, it has nothing at the last instants: that is not an empty batch.
    """
    first = next(iter(traces.values()))
    schemas = {name: _schemas(trace) for name, trace in traces.items()}
    _refuse_different(schemas, ignored)
    instants: list[Instant] = []
    for index, sides in enumerate(zip_longest(*traces.values())):
        outputs = {
            _label(name, output, schemas[name]): now.outputs[output]
            for name, now in zip(traces, sides, strict=True)
            if now is not None
            for output in schemas[name]
        }
        now = first[index] if index < len(first) else None
        instants.append(
            Instant(
                index,
                now.inputs if now is not None else {},
                outputs,
                time=now.time if now is not None else None,
                watermark=now.watermark if now is not None else None,
                drawn=first[0].drawn if len(first) else Record(),
                previous=instants[-1] if instants else None,
            )
        )
    outside = {
        _label(name, output, schemas[name]): batch
        for name, trace in traces.items()
        for output, batch in trace.outside.items()
    }
    return Trace(instants, outside=outside)


def _schemas(trace: Trace) -> dict[str, StructType | None]:
    return {name: batch.schema for name, batch in trace[0].outputs.items()} if len(trace) else {}


def _label(side: str, output: str, outputs: Mapping[str, Any]) -> str:
    return side if len(outputs) == 1 else f"{side}{_BEYOND}{output}"


def _refuse_different(schemas: Mapping[str, Mapping[str, StructType | None]], ignored: Sequence[str]) -> None:
    """Refuse programs that put out different things, but for columns that are ignored."""
    (base, mine), *others = schemas.items()
    for name, theirs in others:
        if set(mine) != set(theirs):
            raise InvalidArgument(
                f"the {base} has the outputs {_listed(mine)}, the {name} {_listed(theirs)}: give both the same names"
            )
        for output, schema in mine.items():
            a, b = _columns(schema), _columns(theirs[output])
            compared = [column for column in dict.fromkeys((*a, *b)) if column not in ignored]
            different = [column for column in compared if a.get(column) != b.get(column)]
            if different:
                column = different[0]
                raise InvalidArgument(
                    f"{output!r} has different columns: {column!r} is {a.get(column, 'missing')} in the {base}, and "
                    f"{b.get(column, 'missing')} in the {name}: select the same columns, with the same types"
                )


def _columns(schema: StructType | None) -> dict[str, str]:
    return {} if schema is None else {f.name: type_ddl(f.dataType) for f in schema.fields}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


# --- judging ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Equivalence:
    """The claim that all sides mean the same."""

    sides: Sides
    how: Running
    looked_at: list[int] = field(default_factory=list, compare=False)
    """With how many records that came out the dependence was looked at, case by case."""

    @property
    def formula(self) -> Formula | None:
        return None

    @property
    def shortest_true(self) -> int:
        return 0

    def meter(self) -> _Meter:
        return _Meter(self)

    def too_short(self, length: int, unit: str) -> str:
        return f"nothing was changed in a stream of {counted(length, unit)}: none of {list(self.sides.under)!r} can be"

    def mode(self, output: str) -> str:
        return self.how.mode_of(output)

    def matcher(self) -> Matcher:
        return Matcher(self.sides.dependence, equal=self.sides.equal)


class _Meter:
    """Compares the sides of one trace."""

    def __init__(self, claim: Equivalence) -> None:
        self._claim = claim
        self._sides = claim.sides
        self._seen: list[Instant] = []
        self._pairs: list[_Pair] = []
        self._false: _Pair | None = None
        self._finished = False

    @property
    def verdict(self) -> Verdict:
        if self._false is not None:
            return Verdict.FALSE
        return Verdict.TRUE if self._finished else Verdict.INCONCLUSIVE

    @property
    def premises(self) -> Mapping[Implies | None, bool]:
        return {}

    def step(self, instant: Instant) -> Verdict:
        if not self._seen:
            self._begin(instant)
        self._seen.append(instant)
        for pair in self._pairs:
            if self._false is None and not pair.same(instant):
                self._look_at_the_dependence()
                self._false = pair
        return self.verdict

    def _begin(self, instant: Instant) -> None:
        sides = self._sides
        base = {_output_of(label, sides.base): label for label in instant.outputs if _is_of(label, sides.base)}
        for label, batch in instant.outputs.items():
            if _is_of(label, sides.base):
                continue
            name = label.split(_BEYOND)[0]
            output = _output_of(label, name)
            _require_keys(sides.dependence, batch.schema)
            regrouped = any(words in name for words in _REGROUPED)
            self._pairs.append(_Pair(self._claim, base[output], label, self._claim.mode(output or "output"), regrouped))

    def finish(self) -> Verdict:
        if self._false is None:
            self._false = next((pair for pair in self._pairs if not pair.same_at_last(self._seen)), None)
        self._finished = True
        self._look_at_the_dependence()
        if self._false is None and not self._pairs:
            return Verdict.INCONCLUSIVE
        return self.verdict

    def _look_at_the_dependence(self) -> None:
        """A dependence that breaks its laws makes every answer worthless: look at what came out."""
        if sum(self._claim.looked_at) >= _ENOUGH:
            return
        records = [r for now in self._seen for batch in now.outputs.values() for r in _some(batch)]
        if records:
            self._claim.looked_at.append(len(records))
            broken = broken_law(self._sides.dependence, self._sides.equal or EXACT, records)
            if not broken:
                raise InvalidArgument(f"dependence={self._sides.dependence!r} is no dependence: {broken.reason}")

    def why(self, trace: Trace, *, ended: bool) -> Why:
        assert self._false is not None
        pair = self._false
        shown = {pair.left, pair.right}
        instants: list[Instant] = []
        for now in trace:
            outputs = {name: batch for name, batch in now.outputs.items() if name in shown}
            instants.append(replace(now, outputs=outputs, previous=instants[-1] if instants else None))
        return Why(pair.reason, trace=Trace(instants))

    def closeness(self, trace: Trace) -> float | None:
        return None


class _Pair:
    """One side beside the reference, for one output."""

    def __init__(self, claim: Equivalence, left: str, right: str, mode: str, regrouped: bool) -> None:
        self.left, self.right = left, right
        self.reason = ""
        self._claim, self._mode = claim, mode
        # Other batches: only what has come in the end can be compared.
        self._at_last = regrouped
        self._by_instant = not regrouped and (mode == "complete" or claim.sides.accept is not None)
        self._matcher = claim.matcher()

    def same(self, now: Instant) -> bool:
        """Is it the same up to this instant?"""
        if self._at_last or self.left not in now.outputs:  # where another side has more batches
            return True
        left, right = now.outputs[self.left], now.outputs[self.right]
        if self._by_instant:
            return self._same(now, left, right)
        for record in left:
            self._matcher.left(record)
        for record in right:
            self._matcher.right(record)
        return self._said(self._matcher)

    def same_at_last(self, seen: Sequence[Instant]) -> bool:
        """Is it the same, now that all has come?"""
        if self._at_last and seen:
            left, right = (
                self._in_the_end([now.outputs[name] for now in seen if name in now.outputs])
                for name in (self.left, self.right)
            )
            return self._same(_as_one(seen), left, right)
        if not self._by_instant:
            self._matcher.finish()
        return self._said(self._matcher)

    def _in_the_end(self, batches: Sequence[Batch]) -> Batch:
        """What is there in the end: all that came, the last table, or the last of every key."""
        match self._mode:
            case "append":
                return together(batches)
            case "complete":
                return batches[-1]
            case _:
                keys = key_columns(self._claim.sides.dependence)
                if not keys:
                    raise InvalidArgument(
                        "in update mode with other batches, the last row of every key is compared: name the key "
                        "columns, as in dependence=fs.same_key('taxi')"
                    )
                last = {tuple(repr(record[key]) for key in keys): record for batch in batches for record in batch}
                return make_batch(last.values(), batches[0].schema)

    def _same(self, now: Instant, left: Batch, right: Batch) -> bool:
        matcher = (
            self._claim.matcher() if self._mode == "append" else Matcher(_UNORDERED, equal=self._claim.sides.equal)
        )
        for record in left:
            matcher.left(record)
        for record in right:
            matcher.right(record)
        matcher.finish()
        return self._said(matcher) or self._accepted(now, left, right)

    def _accepted(self, now: Instant, left: Batch, right: Batch) -> bool:
        accept = self._claim.sides.accept
        if accept is None:
            return False
        try:
            answer: Any = accept(now, left, right)
        except Exception as error:
            raise PredicateError(f"accept={name_of(accept)} raised {error!r} at instant {now.index}") from error
        if not isinstance(answer, (bool, Check)):
            raise PredicateError(
                f"accept={name_of(accept)} returned {described('answer', answer)}: it has to return a bool or a Check"
            )
        if not answer:
            self.reason += f"\naccept={name_of(accept)} refuses it" + (
                f": {answer.reason}" if isinstance(answer, Check) and answer.reason else "."
            )
        return bool(answer)

    def _said(self, matcher: Matcher) -> bool:
        if matcher.verdict is not Verdict.FALSE:
            return True
        assert matcher.mismatch is not None
        self.reason = matcher.mismatch.said(self.left, self.right)
        return False


def _as_one(seen: Sequence[Instant]) -> Instant:
    """All that went in, at the last instant that had input: what the whole output can be held against."""
    last = [now for now in seen if now.inputs][-1]
    inputs = {name: together([now.inputs[name] for now in seen if now.inputs]) for name in last.inputs}
    return replace(last, inputs=inputs, previous=None)


def _is_of(label: str, side: str) -> bool:
    return label.split(_BEYOND)[0] == side


def _output_of(label: str, side: str) -> str:
    return label[len(side) + len(_BEYOND) :]


def _some(batch: Batch) -> Sequence[Any]:
    return batch.records if type(batch) is Batch else ()


def _require_keys(dependence: Dependence, schema: StructType | None) -> None:
    missing = [] if schema is None else [column for column in key_columns(dependence) if column not in schema.names]
    if schema is not None and missing:
        raise InvalidArgument(
            f"{dependence!r} names the column {missing[0]!r}, which is not in the output: it has "
            f"{', '.join(schema.names) or 'no columns'}"
        )
