"""Runs the sides of every case: the reference as it is, the candidate too, or under every variant of perturbations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from firesteel.equivalence.comparison import Beside, Comparison, Label, Side
from firesteel.errors import InvalidArgument
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.engine import Watcher
from firesteel.spark.engines.exercise import in_threads
from firesteel.spark.engines.subject import Subject
from firesteel.spark.failures import CannotCarry, SubjectFailure
from firesteel.spark.perturb.perturbed import exercise_under
from firesteel.spark.running import Running
from firesteel.values.batches import Batch
from firesteel.values.cases import Case
from firesteel.values.records import Record
from firesteel.values.schemas import type_ddl
from firesteel.values.traces import Instant, Trace, up_to

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class Sides:
    """Runs the sides of every case, and puts their traces beside each other."""

    spark: SparkSession
    compared: Comparison
    how: Running

    @property
    def prefixes(self) -> bool:
        return False  # a longer case is restarted elsewhere

    def alone(self, case: Case, watcher: Watcher) -> Trace:
        return up_to(self._whole(case), watcher)

    def apart(self, cases: Sequence[Case]) -> list[Trace | SubjectFailure]:
        return in_threads(self.spark, self._whole, cases, self.how)

    def together(self, cases: Sequence[Case], *, also_single: bool) -> list[Trace | None]:
        numbers_of: dict[Side, list[int]] = {}
        for number, case in enumerate(cases):
            for side in self.compared.others(case.length):
                if side.variant.alone:
                    raise CannotCarry(f"{side.variant} is tried in a query of its own")
                numbers_of.setdefault(side, []).append(number)
        first = self._bulk(cases, self.compared.reference, self.how, also_single)
        found: list[dict[Side, Trace | None]] = [{self.compared.base: trace} for trace in first]
        for side, numbers in numbers_of.items():
            some = [side.variant.applied(cases[number]) for number in numbers]
            traces = self._bulk(some, self.compared.candidate, replace(self.how, under=side.variant), also_single)
            for number, trace in zip(numbers, traces, strict=True):
                found[number][side] = trace
        return [self._beside_or_none(traces) for traces in found]

    def _bulk(self, cases: Sequence[Case], subject: Subject, how: Running, also_single: bool) -> list[Trace | None]:
        return exercise_together(self.spark, cases, subject, how, also_single=also_single)

    def _whole(self, case: Case) -> Trace:
        traces = {self.compared.base: self._run(self.compared.base, case, self.compared.reference)}
        for side in self.compared.others(case.length):
            traces[side] = self._run(side, case, self.compared.candidate)
        return self._beside(traces)

    def _run(self, side: Side, case: Case, subject: Subject) -> Trace:
        try:
            return exercise_under(self.spark, case, subject, self.how, side.variant, _all_of_it)
        except SubjectFailure as failure:
            named = SubjectFailure(f"{side.name}: {failure}", failure.trace)
            raise named from failure.__cause__

    def _beside_or_none(self, traces: Mapping[Side, Trace | None]) -> Trace | None:
        known = {side: trace for side, trace in traces.items() if trace is not None}
        return self._beside(known) if len(known) == len(traces) else None

    def _beside(self, traces: Mapping[Side, Trace]) -> Trace:
        return beside(traces, self.compared.ignored, each=self.compared.held_to is not None)


def _all_of_it(instant: Instant) -> bool:
    return False


def beside(traces: Mapping[Side, Trace], ignored: Sequence[str] = (), *, each: bool = False) -> Trace:
    """One trace of all sides: the input of the first, and an output for each side and output.

    Where a side had fewer batches than another, it has nothing at the last instants: that is not an empty batch.
    With `each`, an instant also holds what each side saw.
    """
    first = next(iter(traces.values()))
    schemas = {side: _schemas(trace) for side, trace in traces.items()}
    _refuse_different(schemas, ignored)
    instants: list[Instant] = []
    for index, sides in enumerate(zip_longest(*traces.values())):
        outputs: dict[str, Batch] = {
            _label(side, output, schemas[side]): now.outputs[output]
            for side, now in zip(traces, sides, strict=True)
            if now is not None
            for output in schemas[side]
        }
        now = first[index] if index < len(first) else None
        drawn = first[0].drawn if len(first) else Record()
        if now is None:
            instant = Instant(index, {}, outputs, drawn=drawn)
        else:  # what is known of the first side, and the outputs of all
            instant = replace(now, outputs=outputs, recorded_state=None, previous=None)
        if each:
            own = {side: now for side, now in zip(traces, sides, strict=True) if now is not None}
            instant = Beside(**{f.name: getattr(instant, f.name) for f in fields(Instant)}, sides=own)
        instants.append(instant.after(instants[-1] if instants else None))
    outside: dict[str, Batch] = {
        _label(side, output, schemas[side]): batch
        for side, trace in traces.items()
        for output, batch in trace.outside.items()
    }
    return Trace(instants, outside=outside)


def _schemas(trace: Trace) -> dict[str, StructType | None]:
    return {name: batch.schema for name, batch in trace[0].outputs.items()} if len(trace) else {}


def _label(side: Side, output: str, outputs: Mapping[str, StructType | None]) -> Label:
    return Label.of(side, output, only=len(outputs) == 1)


def _refuse_different(schemas: Mapping[Side, Mapping[str, StructType | None]], ignored: Sequence[str]) -> None:
    """Refuse programs that put out different things, but for columns that are ignored."""
    (base, mine), *others = schemas.items()
    for other, theirs in others:
        if set(mine) != set(theirs):
            raise InvalidArgument(
                f"the {base.name} has the outputs {_listed(mine)}, the {other.name} {_listed(theirs)}: "
                "give both the same names"
            )
        for output, schema in mine.items():
            a, b = _columns(schema), _columns(theirs[output])
            compared = [column for column in dict.fromkeys((*a, *b)) if column not in ignored]
            different = [column for column in compared if a.get(column) != b.get(column)]
            if different:
                column = different[0]
                raise InvalidArgument(
                    f"{output!r} has different columns: {column!r} is {a.get(column, 'missing')} in the {base.name}, "
                    f"and {b.get(column, 'missing')} in the {other.name}: select the same columns, with the same types"
                )


def _columns(schema: StructType | None) -> dict[str, str]:
    return {} if schema is None else {f.name: type_ddl(f.dataType) for f in schema.fields}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
