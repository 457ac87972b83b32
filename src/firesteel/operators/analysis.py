"""One analysis: the operator, its inputs, its workers, and the properties in their order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.operators import Finding, Findings, Subject
from firesteel.logic.verdicts import Verdict
from firesteel.names import place_of
from firesteel.operators import symbolic
from firesteel.operators.carrying import picklable, unloadable
from firesteel.operators.constants import pool_of
from firesteel.operators.examine import FIRST, Budget, Examiner, decoded
from firesteel.operators.execute import Loaded
from firesteel.operators.inputs import Inputs, NoInputs, known_inputs, tried_inputs
from firesteel.operators.kinds import Family, Kind, Operator, inner_function
from firesteel.operators.order import ORDER, applicable, possible, why_not
from firesteel.operators.outcomes import Gave, Job, Late
from firesteel.operators.properties import About, feed
from firesteel.operators.sending import CannotLoad
from firesteel.operators.settling import settled
from firesteel.operators.techniques import OURS, Technique
from firesteel.operators.workers import Workers
from firesteel.values.equality import EXACT, Equality


@dataclass(frozen=True)
class Wanted:
    """What an analysis is asked for, validated."""

    operator: Operator
    properties: tuple[str, ...] = ()
    """By name; all that apply if there are none."""
    inputs: Any = None
    sample: Any = None
    equal: Equality = EXACT
    tests: int = 1000
    seconds: float = 30.0
    limit: float = 1.0
    techniques: tuple[Technique, ...] = OURS
    seed: int = 0
    replay: str | None = None
    first: int = FIRST
    """How many tests are run together first. With more of them, evidence comes later, and its absence earlier."""


def analyze(wanted: Wanted) -> Findings:
    """Find out what an operator promises."""
    operator = wanted.operator
    started = time.monotonic()
    _refuse(wanted)
    try:
        known = known_inputs(operator, wanted.inputs, wanted.sample)
        loaded = Loaded(operator, () if known is None else known.columns)
        try:
            findings, said = _with_workers(wanted, loaded, known)
        except CannotLoad as error:
            if not error.is_of_import:
                raise
            findings, said = _with_workers(wanted, loaded, known, by_value=True)
            findings = [unloadable(str(error)) if each.property == "picklable" else each for each in findings]
    except CannotLoad as error:
        findings, said = _not_loaded(wanted, str(error)), ""
    except NoInputs as error:
        findings, said = _all_open(wanted, str(error)), ""
    place = place_of(inner_function(operator.function))
    subject = Subject(operator.name, operator.kind.value, place, _names(operator), operator.written)
    return Findings(subject, tuple(findings), said, time.monotonic() - started)


def _with_workers(
    wanted: Wanted, loaded: Loaded, known: Inputs | None, *, by_value: bool = False
) -> tuple[list[Finding], str]:
    """The findings, and what was fed. A worker's start, with what the function imports, is not counted."""
    operator = wanted.operator
    with Workers(loaded, by_value=by_value) as workers:
        if not wanted.properties or {"deterministic", "picklable"} & set(wanted.properties):
            workers.start_other()
        workers.ready()
        inputs = known if known is not None else _tried(operator, workers, wanted.limit)
        findings = _examined(wanted, About(operator, inputs), workers, loaded)
    return findings, f"values of {inputs.source}" if inputs.is_sample else f"{inputs.said} ({inputs.source})"


def _refuse(wanted: Wanted) -> None:
    for name in wanted.properties:
        if name not in ORDER:
            raise InvalidArgument(f"{described('property', name)} is not a property: write one of {', '.join(ORDER)}")
        if name not in possible(wanted.operator.kind):
            raise InvalidArgument(
                f"{described('property', name)} does not apply to {wanted.operator!r}: these do: "
                f"{', '.join(possible(wanted.operator.kind))}"
            )


def _names(operator: Operator) -> tuple[tuple[str, ...], ...]:
    if operator.kind.family not in (Family.COLUMNS, Family.GROUPS) or operator.inputs[0] is None:
        return ()
    from firesteel.values import schemas

    return tuple(tuple(schemas.parse(each).fieldNames()) for each in operator.inputs if each is not None)  # type: ignore[union-attr]


def _tried(operator: Operator, workers: Workers, limit: float) -> Inputs:
    def works(operator: Operator, inputs: Inputs, records: Sequence[Any]) -> Sequence[bool]:
        about = About(operator, inputs)
        pairs = list(zip(records, [*records[1:], *records[:1]], strict=True))
        materials = pairs if operator.kind.family is Family.FOLDS else [(record,) for record in records]
        seen = workers.run(Job(tuple(feed(about, each) for each in materials), limit))
        # A function that does not return has not refused its input.
        return [all(isinstance(outcome, Gave | Late) for outcome in each.outcomes) for each in seen]

    return tried_inputs(operator, works)


def _not_loaded(wanted: Wanted, error: str) -> list[Finding]:
    names = wanted.properties or possible(wanted.operator.kind)
    why = f"it cannot be sent to a new process ({error})"
    return [
        unloadable(error)
        if name == "picklable"
        else Finding(name, Verdict.INCONCLUSIVE, why=why, settled_by="picklable")
        for name in names
    ]


def _all_open(wanted: Wanted, why: str) -> list[Finding]:
    names = wanted.properties or possible(wanted.operator.kind)
    return [Finding(name, Verdict.INCONCLUSIVE, why=why) for name in names]


def _examined(wanted: Wanted, about: About, workers: Workers, loaded: Loaded) -> list[Finding]:
    by_name = bool(wanted.properties)
    names = [each for each in ORDER if each in (wanted.properties or applicable(about))]
    for name in names:
        if (why := why_not(name, about)) is not None:
            raise InvalidArgument(f"{described('property', name)} does not apply to {about.operator!r}: {why}")
    pool = pool_of(about.operator.functions)
    examiner = Examiner(about, workers, pool, wanted.equal, wanted.techniques, wanted.seed, first=wanted.first)
    until = time.monotonic() + wanted.seconds
    done: dict[str, Finding] = {}
    for number, name in enumerate(names):
        known = None if by_name else _settled(name, about, done)
        if known is not None:
            done[name] = known
            continue
        left = until - time.monotonic()
        share = (
            time.monotonic() + left
            if by_name and len(names) == 1
            else time.monotonic() + 2 * left / (len(names) - number + 1)
        )
        budget = Budget(wanted.tests, min(until, share), wanted.limit)
        if wanted.replay is not None:
            done[name] = examiner.replayed(name, decoded(wanted.replay), budget)
        elif name == "picklable":
            done[name] = picklable(examiner, loaded, budget)
        elif name == "selective":
            done[name] = _selective(examiner, done, budget)
        else:
            done[name] = examiner.answer(name, budget)
    if wanted.replay is None and symbolic.is_there():
        done |= _solved(examiner, done, Budget(wanted.tests, until, wanted.limit))
    return list(done.values())


def _solved(examiner: Examiner, done: dict[str, Finding], budget: Budget) -> dict[str, Finding]:
    """What symbolic search refutes of what is still open."""
    names = symbolic.wanted_of(examiner.about, done)
    seconds = min(symbolic.SECONDS, budget.until - time.monotonic())
    found: dict[str, Finding] = {}
    for name, material in examiner.workers.solved(examiner.about, names, seconds) if names and seconds > 1 else ():
        finding = examiner.replayed(name, material, budget)
        if finding.proof is not None:
            found[name] = replace(finding, tests=finding.tests + done[name].tests)
    return found


def _selective(examiner: Examiner, done: dict[str, Finding], budget: Budget) -> Finding:
    """At most one output, and sometimes none: without a firing that had none, it is potentially one_to_one."""
    finding = examiner.answer("selective", budget)
    if finding.verdict is Verdict.FALSE or finding.why:
        return finding
    single = done.get("one_to_one") or examiner.answer("one_to_one", budget)
    if single.verdict is Verdict.FALSE:  # as it has never two outputs, this one has none
        return replace(finding, proof=single.proof, replay=single.replay)
    return replace(finding, settled_by="one_to_one", why="every firing had an output: it is potentially one_to_one")


def _settled(name: str, about: About, done: dict[str, Finding]) -> Finding | None:
    fires = _one_record_fires(about.operator.kind)
    return settled(name, done, always_tested="pure", one_record_fires=fires)


def _one_record_fires(kind: Kind) -> bool:
    return kind.family in (Family.CALLS, Family.COLUMNS)
