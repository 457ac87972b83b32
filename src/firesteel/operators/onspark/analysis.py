"""One analysis of an operator on Spark: which properties apply, their order, and what one answer settles for others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.operators import Finding, Findings, Subject
from firesteel.logic.verdicts import Verdict
from firesteel.names import place_of
from firesteel.operators.examine import decoded
from firesteel.operators.kinds import inner_function
from firesteel.operators.onspark.examine import Budget, Examiner
from firesteel.operators.onspark.feeds import SECOND, Material
from firesteel.operators.onspark.making import Maker, constants_of
from firesteel.operators.onspark.model import About, Late
from firesteel.operators.onspark.operator import SparkKind, SparkOperator
from firesteel.operators.onspark.plan import plan_of
from firesteel.operators.onspark.running import Runner
from firesteel.operators.onspark.sinks import SinkRunner, empty_place
from firesteel.operators.onspark.trying import Trying, imitation_of
from firesteel.operators.settling import settled
from firesteel.values import schemas
from firesteel.values.equality import EXACT, Equality

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDER = (
    "deterministic",
    "clock_free",
    "prolific",
    "one_to_one",
    "selective",
    "non_blocking",
    "stateless",
    "commutative",
    "partition_isolated",
    "batch_independent",
    "partition_independent",
    "order_independent",
    "restart_safe",
    "replay_safe",
    "late_safe",
    "state_bounded",
    "idempotent",
    "keeps_columns",
    "null_safe",
    "total",
)
"""The testing order. What an answer settles comes after it."""
_OF_BATCH = {
    "deterministic",
    "prolific",
    "one_to_one",
    "selective",
    "commutative",
    "partition_isolated",
    "partition_independent",
    "order_independent",
    "keeps_columns",
    "null_safe",
    "total",
}
_OF_SINK = {
    "deterministic",
    "clock_free",
    "stateless",
    "commutative",
    "partition_isolated",
    "batch_independent",
    "partition_independent",
    "order_independent",
    "restart_safe",
    "replay_safe",
    "idempotent",
    "null_safe",
    "total",
}
REQUIRED: dict[SparkKind, tuple[str, ...]] = {
    SparkKind.TRANSFORMATION: ("deterministic", "partition_independent", "order_independent"),
    SparkKind.SINK: ("deterministic", "replay_safe"),
    SparkKind.PROCESSOR: ("deterministic", "partition_isolated", "restart_safe"),
    SparkKind.STATE_FUNCTION: ("deterministic", "partition_isolated", "restart_safe"),
    SparkKind.UDTF: ("deterministic", "partition_independent", "order_independent"),
    SparkKind.EXPRESSION: ("deterministic", "partition_independent", "order_independent"),
}
"""What is claimed where a test does not say."""
_LEAST_SECONDS = 5.0
"""Every property has as much time, whatever the others took."""


@dataclass(frozen=True)
class Wanted:
    """What an analysis is asked for, validated."""

    operator: SparkOperator
    properties: tuple[str, ...] = ()
    sample: Any = None
    equal: Equality = EXACT
    tests: int = 100
    seconds: float = 120.0
    delays: tuple[timedelta, ...] = ()
    late: Late = "dropped"
    seed: int = 0
    replay: str | None = None
    in_order: bool = True
    """May one answer settle others?"""
    shrinks: bool = True


def possible(operator: SparkOperator) -> tuple[str, ...]:
    """The properties that an operator of this kind may have."""
    if operator.kind is SparkKind.SINK:
        return tuple(each for each in ORDER if each in _OF_SINK)
    without = {"replay_safe", "idempotent"}
    if operator.engine == "dstream":
        without |= {"restart_safe", "late_safe", "state_bounded", "null_safe", "total"}
    if operator.plain:
        without |= {"keeps_columns"}
    known = [each for each in ORDER if each not in without]
    return tuple(each for each in known if operator.streams or each in _OF_BATCH)


def why_not(property: str, operator: SparkOperator) -> str | None:
    """Why a property makes no sense here; None if it does."""
    match property:
        case "partition_isolated" if not operator.key:
            return 'name a key: key="user"'
        case "batch_independent" if operator.output_mode == "update" and not operator.key:
            return 'in update mode the last row of each key counts: name the key, key="user"'
        case "non_blocking" if len(operator.ports) < 2:
            return "it has one port, so there is none to wait for"
        case "keeps_columns" if len(operator.ports) > 1:
            return "it has several ports, so there is not one record that a row comes from"
        case "null_safe" if not any(field.nullable for port in operator.ports for field in port.schema.fields):
            return "no column may be null"
        case "late_safe" if not operator.has_time:
            return "its input has no TIMESTAMP column, so nothing comes late"
        case _:
            return None


def analyze(wanted: Wanted, session: Callable[[], SparkSession]) -> Findings:
    """Find out what an operator promises. Spark starts when everything that was asked makes sense."""
    operator, started = wanted.operator, time.monotonic()
    names = _names(wanted)
    material = None if wanted.replay is None else decoded(wanted.replay)
    if operator.kind is SparkKind.SINK:
        empty_place(operator)  # before Spark starts
    with examining(wanted, session) as examiner:
        findings = _examined(wanted, names, examiner, material)
    place = None if operator.text else place_of(inner_function(operator.code))
    subject = Subject(operator.name, operator.kind.value, place, tuple(port.columns for port in operator.ports))
    said = " and ".join(schemas.to_ddl(port.schema) for port in operator.ports)
    return Findings(subject, tuple(findings), f"{said} (the declared schema)", time.monotonic() - started)


@contextmanager
def examining(wanted: Wanted, session: Callable[[], SparkSession]) -> Iterator[Examiner]:
    """What tests the properties of an operator, one after the other."""
    operator = wanted.operator
    delays = wanted.delays or delays_for(operator)
    maker = Maker(operator, wanted.sample, wanted.seed)
    imitation = imitation_of(operator)
    trying = None if imitation is None else Trying(operator, imitation)  # its process starts while Spark does
    try:
        kind = SinkRunner if operator.kind is SparkKind.SINK else Runner
        limit = max(5.0, min(60.0, wanted.seconds / 2))
        spark = session()
        about = About(operator, wanted.equal, delays, wanted.late, plan=plan_of(spark, operator))
        runner = kind(spark, operator, seconds=limit, trying=trying)
        yield Examiner(about, runner, maker, wanted.shrinks, pauses_of(wanted, about))
    finally:
        if trying is not None:
            trying.end()


def delays_for(operator: SparkOperator) -> tuple[timedelta, ...]:
    """The pauses that are tried where none are given: the longest is longer than any duration in the code."""
    short, long = About.delays
    longest = max((2 * each for each in constants_of(operator)[1]), default=timedelta(0))
    return tuple(dict.fromkeys((short, max(long, longest))))


def pauses_of(wanted: Wanted, about: About) -> tuple[timedelta, ...]:
    """The pauses between records: the usual one; where somebody waits for more, those that are tried."""
    waits = wanted.operator.streams and (wanted.delays or wanted.operator.waits)
    return tuple(dict.fromkeys((SECOND, *reversed(about.delays)))) if waits else (SECOND,)


def _names(wanted: Wanted) -> list[str]:
    operator = wanted.operator
    for name in wanted.properties:
        if name not in ORDER:
            raise InvalidArgument(f"{described('property', name)} is not a property: write one of {', '.join(ORDER)}")
        if name not in possible(operator):
            raise InvalidArgument(
                f"{described('property', name)} does not apply to {operator!r}: these do: "
                f"{', '.join(possible(operator))}"
            )
        if (why := why_not(name, operator)) is not None:
            raise InvalidArgument(f"{described('property', name)} does not apply to {operator!r}: {why}")
    chosen = wanted.properties or [each for each in possible(operator) if why_not(each, operator) is None]
    return [each for each in ORDER if each in chosen]


def _examined(wanted: Wanted, names: list[str], examiner: Examiner, material: Material | None) -> list[Finding]:
    until = time.monotonic() + wanted.seconds
    in_order = wanted.in_order and not wanted.properties
    done: dict[str, Finding] = {}
    for number, name in enumerate(names):
        known = settled_by_others(name, wanted.operator, done) if in_order else None
        if known is not None:
            done[name] = known
        elif (why := untold(name, examiner.about)) is not None:
            done[name] = Finding(name, Verdict.INCONCLUSIVE, why=why)
        elif examiner.broken:
            done[name] = Finding(name, Verdict.INCONCLUSIVE, why=examiner.broken)
        elif material is not None:
            done[name] = examiner.replayed(name, material)
        else:
            left = until - time.monotonic()
            share = max(_LEAST_SECONDS, left if number + 1 == len(names) else 1.5 * left / (len(names) - number))
            done[name] = examiner.answer(name, Budget(wanted.tests, time.monotonic() + share))
    return list(done.values())


def untold(property: str, about: About) -> str | None:
    """Why no run would say anything about a property, as the plan shows; None if one might."""
    plan = about.plan
    match property:
        case _ if plan is None:
            return None
        case "late_safe" if not plan.watermark:
            return "it has no watermark, so no record is late: nothing is dropped"
        case "commutative" | "batch_independent" if (
            about.operator.output_mode == "update"
            and about.operator.key
            and not plan.tells_rows_apart(about.operator.key)
        ):
            return "in update mode the last row of each group counts, and a row does not say which group it is of"
        case _:
            return None


def settled_by_others(name: str, operator: SparkOperator, done: dict[str, Finding]) -> Finding | None:
    """What earlier answers settle about an operator on Spark."""
    fires = operator.streams and operator.kind is not SparkKind.SINK
    return settled(name, done, always_tested="clock_free", one_record_fires=fires)
