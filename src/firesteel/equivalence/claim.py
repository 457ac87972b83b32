"""Equivalence as a claim: every case is run on all sides, and matchers compare what came out of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from firesteel.equivalence.comparison import Beside, Comparison, Label, Side
from firesteel.equivalence.index import key_columns
from firesteel.equivalence.lawful import broken_law
from firesteel.equivalence.pairs import Pair
from firesteel.equivalence.sides import Sides
from firesteel.errors import InvalidArgument, described
from firesteel.evidence.report import Claimed
from firesteel.evidence.runs import NothingChanged, TooShort
from firesteel.logic.ltl.formulas import Formula, Implies
from firesteel.logic.verdicts import Verdict
from firesteel.names import name_of
from firesteel.perturb.changes import Variant
from firesteel.runs.asked import asked
from firesteel.runs.claims import Explained, Mismatched
from firesteel.runs.meters import FormulaMeter, too_short
from firesteel.runs.question import Checking, Question
from firesteel.search.examples import in_example
from firesteel.spark.perturb.perturbed import refuse
from firesteel.spark.running import Running
from firesteel.values.batches import make_batch
from firesteel.values.cases import Case
from firesteel.values.dependence import Dependence
from firesteel.values.equality import EXACT
from firesteel.values.streams import make_stream
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_THREE = Case(make_stream([make_batch((), None)] * 3, None))
# A dependence is checked against its laws with this many records that came out.
_ENOUGH = 200


def question(
    streams: Any,
    compared: Comparison,
    session: Callable[[], SparkSession],
    how: Running,
    checking: Checking,
    function: str,
    claimed: Claimed,
) -> Question:
    """Do all sides mean the same on all these streams?"""
    variants = [variant for perturbation in compared.under for variant in perturbation.variants(3)]
    for variant in variants:
        refuse(variant, how)
    if checking.on_inconclusive == "fail" and how.over is None:
        _refuse_long(compared.held_to, variants)
    spark = session()
    up_to = {"up to": compared.dependence, "equal": compared.equal, "under": compared.under or None}
    names = list(map(name_of, compared.programs.values()))
    return Question(
        streams,
        Equivalence(compared, how),
        Sides(spark, compared, how),
        spark,
        asked(
            function,
            compared.programs,
            spark.version,
            how,
            claimed=claimed,
            formula=compared.held_to,
            up_to={name: value for name, value in up_to.items() if value is not None},
            arguments=compared.arguments,
        ),
        "\n".join([function, *names, *map(repr, (compared.dependence, compared.under, compared.held_to))]),
        checking,
    )


@dataclass(frozen=True)
class Equivalence:
    """The claim that all sides mean the same."""

    compared: Comparison
    how: Running
    looked_at: list[int] = field(default_factory=list, compare=False)
    """How many output records the dependence was checked against its laws with, case by case."""

    @property
    def ignores_order(self) -> bool:
        return False

    @property
    def shortest_true(self) -> int:
        return 0 if self.compared.held_to is None else self.compared.held_to.shortest_true

    def meter(self) -> _Meter:
        return _Meter(self)

    def why_open(self, length: int, trace: Trace) -> NothingChanged | TooShort:
        """Nothing was changed in the case; or the property is open in one of its runs, or in a run of its length."""
        formula = self.compared.held_to
        labels = trace[0].outputs if len(trace) else {}
        if formula is None or (labels and all(_side_of(label) == self.compared.base for label in labels)):
            return NothingChanged(length, self.compared.under)
        for side, run in _runs(trace).items():
            if in_example(partial(formula.evaluate, run)) is Verdict.INCONCLUSIVE:
                return too_short(formula, len(run), side.name)
        return too_short(formula, length)


class _Meter:
    """Compares the sides of one trace, and holds each of them to the property, if there is one."""

    def __init__(self, claim: Equivalence) -> None:
        self._claim, self._compared = claim, claim.compared
        self._seen: list[Instant] = []
        self._pairs: list[Pair] = []
        self._held: dict[Side, FormulaMeter] = {}
        self._false: Pair | Side | None = None
        """The pair that differs, or the side that breaks the property."""
        self._finished = False

    @property
    def verdict(self) -> Verdict:
        if self._false is not None:
            return Verdict.FALSE
        compared = Verdict.TRUE if self._finished and self._pairs else Verdict.INCONCLUSIVE
        return reduce(and_, (meter.verdict for meter in self._held.values()), compared)

    @property
    def premises(self) -> Mapping[Implies | None, bool]:
        found: dict[Implies | None, bool] = {}
        for meter in self._held.values():
            for premise, held in meter.premises.items():
                found[premise] = held or found.get(premise, False)
        return found

    def step(self, instant: Instant) -> Verdict:
        if not self._seen:
            self._begin(instant)
        self._seen.append(instant)
        for side, now in _sides(instant).items():
            if self._false is None and self._meter_of(side).step(now) is Verdict.FALSE:
                self._false = side
        for pair in self._pairs:
            if self._false is None and not pair.same(instant):
                self._check_the_dependence()
                self._false = pair
        return self.verdict

    def _begin(self, instant: Instant) -> None:
        labels = [label for label in instant.outputs if isinstance(label, Label)]
        base = {label.output: label for label in labels if label.side == self._compared.base}
        for label in labels:
            if label.side != self._compared.base:
                _require_keys(self._compared.dependence, instant.outputs[label].schema)
                mode = self._claim.how.mode_of(label.output)
                self._pairs.append(Pair(self._compared, base[label.output], label, mode))

    def _meter_of(self, side: Side) -> FormulaMeter:
        assert self._compared.held_to is not None, "only then an instant holds what each side saw"
        return self._held.setdefault(side, FormulaMeter(self._compared.held_to))

    def finish(self) -> Verdict:
        if self._false is None:
            broken = [side for side, meter in self._held.items() if meter.finish() is Verdict.FALSE]
            self._false = next(iter(broken), None)
        if self._false is None:
            self._false = next((pair for pair in self._pairs if not pair.same_at_last(self._seen)), None)
        self._finished = True
        self._check_the_dependence()
        return self.verdict

    def _check_the_dependence(self) -> None:
        """A dependence that breaks its laws makes every answer worthless: try it on what came out."""
        if sum(self._claim.looked_at) >= _ENOUGH:
            return
        batches = [batch for now in self._seen for batch in now.outputs.values() if not batch.stays_in_spark]
        records = [record for batch in batches for record in batch]
        if records:
            self._claim.looked_at.append(len(records))
            law = broken_law(self._compared.dependence, self._compared.equal or EXACT, records)
            if not law:
                raise InvalidArgument(f"dependence={self._compared.dependence!r} is not a dependence: {law.reason}")

    def why(self, trace: Trace, *, ended: bool) -> Explained | Mismatched:
        match self._false:
            case Side() as side:
                run = _runs(trace)[side]
                return replace(self._held[side].why(run, ended=ended), run=side.name, trace=_labelled(run, side))
            case Pair() as pair:
                return self._mismatched(pair, trace)
            case None:
                raise AssertionError("it is not false")

    def _mismatched(self, pair: Pair, trace: Trace) -> Mismatched:
        shown = {pair.left, pair.right}
        instants = [
            replace(now, outputs={name: batch for name, batch in now.outputs.items() if name in shown}) for now in trace
        ]
        return Mismatched(pair.reason, Trace(instants))

    def closeness(self, trace: Trace) -> float | None:
        return None


def _sides(instant: Instant) -> Mapping[Side, Instant]:
    """What each side saw at an instant, where every run is held to a property."""
    return instant.sides if isinstance(instant, Beside) else {}


def _runs(trace: Trace) -> dict[Side, Trace]:
    """The run of each side, as far as the trace of all of them goes."""
    found: dict[Side, list[Instant]] = {}
    for instant in trace:
        for side, now in _sides(instant).items():
            found.setdefault(side, []).append(now)
    return {side: Trace(instants) for side, instants in found.items()}


def _side_of(label: str) -> Side | None:
    return label.side if isinstance(label, Label) else None


def _labelled(run: Trace, side: Side) -> Trace:
    """The run of a side as it is shown: its outputs are named by the side."""
    return Trace(
        replace(now, outputs={Label.of(side, name, only=len(now.outputs) == 1): b for name, b in now.outputs.items()})
        for now in run
    )


def _refuse_long(formula: Formula | None, variants: Sequence[Variant]) -> None:
    """Refuse a property that needs several batches, where a perturbation puts all records in one."""
    one = next((str(variant) for variant in variants if len(variant.applied(_THREE)["input"]) == 1), None)
    if formula is not None and one is not None and formula.shortest_true > 1:
        raise InvalidArgument(
            f"{described('property', formula)} needs {formula.shortest_true} batches to be true, and there is one in "
            f"the run {one!r}: write a property for any number of batches, or leave batch_boundaries() out"
        )


def _require_keys(dependence: Dependence, schema: StructType | None) -> None:
    missing = [] if schema is None else [column for column in key_columns(dependence) if column not in schema.names]
    if schema is not None and missing:
        raise InvalidArgument(
            f"{dependence!r} names the column {missing[0]!r}, which is not in the output: it has "
            f"{', '.join(schema.names) or 'no columns'}"
        )
