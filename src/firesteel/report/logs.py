"""What verifying a trace found, in words: for what a rule is false, the events that show it, what could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from firesteel.evidence.logs import RuleJudged, SeenEvent, Traced, Verified, Violation
from firesteel.logic.verdicts import Verdict
from firesteel.names import counted, plural

_SHOWN = 3
"""How many violations of a rule are shown with their events; the others are listed."""


def told(found: Verified) -> str:
    """The whole message."""
    parts = [_title(found)]
    for trace in found.traces:
        parts += _trace(trace, several=len(found.traces) > 1)
    return "\n\n".join(part for part in parts if part)


def _title(found: Verified) -> str:
    broken = [rule for trace in found.traces for rule in trace.rules if rule.verdict is Verdict.FALSE]
    unsure = [rule for trace in found.traces for rule in trace.rules if rule.verdict is Verdict.INCONCLUSIVE]
    of = len({rule.name for trace in found.traces for rule in trace.rules})
    if broken:
        names = list(dict.fromkeys(rule.name for rule in broken))
        return f"{_listed(names)} {'is' if len(names) == 1 else 'are'} false" + (f" (of {of} rules)" if of > 1 else "")
    if unsure:
        names = list(dict.fromkeys(rule.name for rule in unsure))
        return f"{_listed(names)} could not be decided" + (f" (of {of} rules)" if of > 1 else "")
    return f"{counted(of, 'rule')} true"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _trace(trace: Traced, *, several: bool) -> Iterator[str]:
    if several:
        yield f"{trace.source}{f' ({trace.id})' if trace.id else ''}: {trace.verdict.name.lower()}"
        if trace.verdict is Verdict.TRUE:
            return
    for rule in trace.rules:
        if rule.verdict is Verdict.FALSE:
            yield from _broken(rule, rule.violations, trace.unit)
        elif rule.verdict is Verdict.INCONCLUSIVE:
            yield _open(rule, trace.unit)
            if rule.doubtful:
                yield "After the part that cannot be read, and perhaps because of it, it seems to be false:"
                yield from _broken(rule, rule.doubtful, trace.unit)
    facts = [
        ("log", _source(trace)),
        *(("problem", one) for one in trace.problems),
        *(("note", n) for n in trace.notes),
    ]
    yield "\n".join(f"{name:<9} {value}" for name, value in facts)


def _source(trace: Traced) -> str:
    about = [trace.id and f"application {trace.id}", trace.version and f"Spark {trace.version}"]
    about.append(f"{trace.events:,} {trace.unit}s{'' if trace.complete else ', not complete'}")
    return f"{trace.source}: {', '.join(part for part in about if part)}"


def _open(rule: RuleJudged, unit: str) -> str:
    if rule.waiting and rule.each:
        of = counted(rule.waiting, rule.each) if rule.each != "query" else f"{rule.waiting} queries"
        return f"{rule.name}: for {of}, something was still to happen when the trace broke off."
    return f"{rule.name}: it was not broken by the {unit}s that could be read, and more may follow."


def _broken(rule: RuleJudged, violations: Sequence[Violation], unit: str) -> Iterator[str]:
    if rule.says:
        yield rule.says
    for one in violations[:_SHOWN]:
        yield _violation(one, unit)
    rest = violations[_SHOWN:]
    if rest:
        listed = "; ".join(f"{entity_of(one.entity, one.key)} ({unit} {one.number})" for one in rest)
        yield f"Also false for {counted(len(rest), 'other') if len(rest) > 1 else 'another'}: {listed}"
    yield (
        f"rule      {rule.name}"
        + ("" if rule.formula == rule.name else f": {rule.formula}")
        + (f", for each {rule.each}" if rule.each else "")
    )


def _violation(one: Violation, unit: str) -> str:
    name = entity_of(one.entity, one.key)
    where = one.place if one.place.startswith(unit) else f"{unit} {one.number}, {one.place}"
    how = "something was still to happen at the end" if one.ended else "false"
    lines = [f"{name[0].upper()}{name[1:]}: {how} ({where})" if name else f"The trace: {how} ({where})"]
    if one.call_site or one.description:
        about = [one.call_site, f'"{one.description}"' if one.description else ""]
        lines.append(f"  made by {', '.join(part for part in about if part)}" if one.call_site else f"  {about[1]}")
    lines += _events(one.events, one.left_out)
    if one.failed:
        lines.append(f"  failed: {' and '.join(one.failed)}")
    return "\n".join(lines)


def _events(events: Sequence[SeenEvent], left_out: int) -> Iterator[str]:
    if not events:
        return
    rows = [(str(one.number), one.event, ", ".join(one.holds), one.place) for one in events]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for place, row in enumerate(rows):
        if left_out and place == 4:
            yield f"  ({left_out} more {plural('event') if left_out > 1 else 'event'} left out)"
        yield (
            "  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]).rstrip()
        )


def entity_of(entity: str, key: Sequence[Any]) -> str:
    """What a rule is false for.

    >>> entity_of("task", (3, 0, 7)), entity_of("dependency", (4, 3))
    ('task 7 of stage 3', 'stage 4, which needs stage 3')
    """
    match entity, tuple(key):
        case "task", (stage, attempt, index):
            return f"task {index} of stage {stage}" + (f", attempt {attempt + 1}" if attempt else "")
        case "dependency", (child, parent):
            return f"stage {child}, which needs stage {parent}"
        case "batch", (run, number):
            return f"batch {number} of the run {run}"
        case "sql", (number,):
            return f"SQL execution {number}"
        case "", _:
            return ""
        case _, (one,):
            return f"{entity} {one}"
        case _:
            return f"{entity} {tuple(key)}"


def as_data(found: Verified) -> dict[str, Any]:
    """All of it as plain data, that JSON can hold."""
    return {"applications": [_trace_data(trace) for trace in found.traces]}


def _trace_data(trace: Traced) -> dict[str, Any]:
    return {
        "source": trace.source,
        "id": trace.id,
        "name": trace.name,
        "spark": trace.version,
        "events": trace.events,
        "complete": trace.complete,
        "verdict": trace.verdict.name,
        "problems": list(trace.problems),
        "notes": list(trace.notes),
        "rules": [_rule_data(rule) for rule in trace.rules],
    }


def _rule_data(rule: RuleJudged) -> dict[str, Any]:
    return {
        "name": rule.name,
        "formula": rule.formula,
        "each": rule.each,
        "verdict": rule.verdict.name,
        "violations": [_violation_data(one) for one in rule.violations],
        "doubtful": [_violation_data(one) for one in rule.doubtful],
        "waiting": rule.waiting,
    }


def _violation_data(one: Violation) -> dict[str, Any]:
    return {
        "about": entity_of(one.entity, one.key),
        "key": list(one.key),
        "event": one.number,
        "place": one.place,
        "at_the_end": one.ended,
        "failed": list(one.failed),
        "events": [
            {"event": seen.number, "place": seen.place, "name": seen.event, "holds": list(seen.holds)}
            for seen in one.events
        ],
        "call_site": one.call_site,
        "description": one.description,
    }
