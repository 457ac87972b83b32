"""Equivalence as a claim: every case is run on all sides, and matchers compare what came out of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from firesteel.equivalence.comparison import Comparison, Label
from firesteel.equivalence.dependence import Dependence
from firesteel.equivalence.index import key_columns
from firesteel.equivalence.lawful import broken_law
from firesteel.equivalence.pairs import Pair
from firesteel.equivalence.sides import Sides
from firesteel.errors import InvalidArgument
from firesteel.evidence.report import Claimed
from firesteel.evidence.runs import NothingChanged
from firesteel.logic.ltl.formulas import Implies
from firesteel.logic.verdicts import Verdict
from firesteel.names import name_of
from firesteel.runs.asked import asked
from firesteel.runs.claims import Mismatched
from firesteel.runs.question import Checking, Question
from firesteel.spark.perturb.perturbed import refuse
from firesteel.spark.running import Running
from firesteel.values.equality import EXACT
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

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
    for perturbation in compared.under:
        for variant in perturbation.variants(3):
            refuse(variant, how)
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
            up_to={name: value for name, value in up_to.items() if value is not None},
            arguments=compared.arguments,
        ),
        "\n".join([function, *names, repr(compared.dependence), repr(compared.under)]),
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
        return 0

    def meter(self) -> _Meter:
        return _Meter(self)

    def why_open(self, length: int) -> NothingChanged:
        return NothingChanged(length, self.compared.under)


class _Meter:
    """Compares the sides of one trace."""

    def __init__(self, claim: Equivalence) -> None:
        self._claim, self._compared = claim, claim.compared
        self._seen: list[Instant] = []
        self._pairs: list[Pair] = []
        self._false: Pair | None = None
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

    def finish(self) -> Verdict:
        if self._false is None:
            self._false = next((pair for pair in self._pairs if not pair.same_at_last(self._seen)), None)
        self._finished = True
        self._check_the_dependence()
        if self._false is None and not self._pairs:
            return Verdict.INCONCLUSIVE
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

    def why(self, trace: Trace, *, ended: bool) -> Mismatched:
        assert self._false is not None
        pair = self._false
        shown = {pair.left, pair.right}
        instants = [
            replace(now, outputs={name: batch for name, batch in now.outputs.items() if name in shown}) for now in trace
        ]
        return Mismatched(pair.reason, Trace(instants))

    def closeness(self, trace: Trace) -> float | None:
        return None


def _require_keys(dependence: Dependence, schema: StructType | None) -> None:
    missing = [] if schema is None else [column for column in key_columns(dependence) if column not in schema.names]
    if schema is not None and missing:
        raise InvalidArgument(
            f"{dependence!r} names the column {missing[0]!r}, which is not in the output: it has "
            f"{', '.join(schema.names) or 'no columns'}"
        )
