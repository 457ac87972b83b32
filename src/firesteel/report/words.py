"""What evidence says, in words: one sentence or two that a person can check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from firesteel.evidence.nothing import Missing, Nothing
from firesteel.evidence.report import Report
from firesteel.evidence.runs import (
    Broken,
    Counterexample,
    NothingChanged,
    Open,
    OutsideWindows,
    Raised,
    SeenOnce,
    TooShort,
)
from firesteel.names import counted
from firesteel.report.reasons import sentence
from firesteel.values.batches import Batch
from firesteel.values.records import brief
from firesteel.values.traces import Instant, Trace


def worded(report: Report) -> Report:
    """The report with the reason of its counterexample in words, and with a note on output that no window holds."""
    found = report.counterexample
    if found is not None:
        report = replace(report, evidence=replace(found, reason=reason_of(found)))
    if report.outside:
        report = replace(report, notes=(*report.notes, _strays(report.outside)))
    return report


def reason_of(found: Counterexample) -> str:
    """Why a case breaks what is claimed, or leaves it open."""
    match found:
        case Broken():
            return sentence(found.explanation, found.unit)
        case Raised():
            return found.message
        case Open(why=TooShort() as why):
            return _too_short(why, found.unit)
        case Open(why=NothingChanged(length, under)):
            return f"none of {list(under)!r} changes anything in a stream of {counted(length, found.unit)}"
        case Open(why=OutsideWindows()):
            return _strays(found.trace.outside)
        case Open(why=SeenOnce() as why):
            return _seen_once(why, found.unit)
        case _:
            return found.reason


def nothing_checked(found: Nothing) -> str:
    """Why a check says nothing."""
    match found.missing:
        case Missing.CASES:
            return "every case was refused by an assumption in a predicate, so nothing was checked"
        case Missing.INPUT:
            return "the generator made only empty batches, so nothing was checked"
        case Missing.OUTPUT:
            return "the subject put out nothing at all in any case, so nothing was checked"
        case Missing.PREMISE:
            name = "of an implication made by let or consume" if found.premise is None else repr(found.premise)
            return f"the premise {name} never held in any case, so the property says nothing"


def _too_short(why: TooShort, unit: str) -> str:
    if why.required is not None:
        needs = f"{why.required} are always enough"
    elif why.shortest_true > why.length:
        needs = f"it needs {why.shortest_true} at the least"
    else:
        needs = "it looks further ahead than that"
        if why.unbounded:
            needs += f"; an operator without a bound is never sure about its last {unit}: give it one"
    run = f" in the run {why.run!r}" if why.run else ""
    return f"a stream of {counted(why.length, unit)} is too short to decide the property{run}: {needs}"


def _seen_once(why: SeenOnce, unit: str) -> str:
    if why.error is not None:
        return f"the same input was run twice, and only the first run failed: {why.error}"
    return (
        "the same input was judged twice, and only the first run broke the property: the subject gives different "
        f"outputs for it. First run: {_outputs(why.first, unit)}"
    )


def _outputs(trace: Trace, unit: str) -> str:
    """What came out, instant by instant."""
    return "; ".join(_output(instant, unit) for instant in trace)


def _output(instant: Instant, unit: str) -> str:
    return f"{unit} {instant.index} " + ", ".join(f"{name}={batch!r}" for name, batch in instant.outputs.items())


def _strays(outside: Mapping[str, Batch]) -> str:
    """Output that no window holds."""
    count = sum(len(batch) for batch in outside.values())
    some = [f"{name} {brief(record)}" for name, batch in outside.items() for record in _first(batch)]
    return (
        f"{counted(count, 'output record')} {'lies' if count == 1 else 'lie'} in none of the input's windows, so the "
        f"property never saw {'it' if count == 1 else 'them'}: {', '.join(some[:3])}. If that is right, let the "
        "stream cover more time (ss.timed(..., close_after=...)), name another event-time column (on=...), or "
        "pass on_inconclusive='pass'"
    )


def _first(batch: Batch, most: int = 3) -> Sequence[Any]:
    return [batch] if batch.stays_in_spark else batch.records[:most]
