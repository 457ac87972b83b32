"""The lines below a table: what was checked, on what, and where the evidence comes from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from firesteel.evidence.report import Asked, Found, Program, Report
from firesteel.evidence.summary import how_run, why_alone
from firesteel.values.cases import texts_of


def facts(report: Report) -> dict[str, str]:
    """The facts of a report, each with its name.

    >>> from firesteel import Verdict
    >>> facts(Report(Verdict.TRUE, 5, found=Found(3, 20, seen_again=True)))
    {'found in': 'case 3 of 20; seen again when run alone'}
    """
    return dict(_facts(report))


def lines(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and texts, below each other."""
    known = list(pairs)
    width = max((len(name) for name, _ in known), default=0)
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in known)


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    if report.asked is not None:
        yield from _asked(report.asked)
    if report.ran is not None:
        yield "cases", how_run(replace(report, one_by_one=None), report.ran)
    if report.one_by_one is not None:
        yield "run", f"one case at a time: {why_alone(report.one_by_one)}"
    found = report.counterexample
    if found is not None and len(found.inputs.drawn):
        yield "drawn", ", ".join(texts_of(found.inputs.drawn))
    if report.found is not None:
        yield "found in", _found(report.found)


def _asked(asked: Asked) -> Iterator[tuple[str, str]]:
    if asked.formula is not None:
        yield "property", repr(asked.formula)
        if asked.over is not None:
            yield "over", repr(asked.over)
    for program in asked.programs:
        yield program.role, _program(program, asked)
    if asked.formula is None and asked.over is not None:
        yield "over", repr(asked.over)
    for name, value in asked.up_to.items():
        yield name, ", ".join(map(repr, value)) if isinstance(value, tuple) else repr(value)


def _program(program: Program, asked: Asked) -> str:
    """What was run, and on what."""
    modes = asked.output_mode
    modes = modes if isinstance(modes, str) else ", ".join(f"{name}: {mode}" for name, mode in modes.items())
    engine = f"structured, {modes} mode" if asked.engine == "structured" else asked.engine
    place = f" ({_relative(program.place)})" if program.place is not None else ""
    return f"{program.name}{place}, {engine}, Spark {asked.version}"


def _relative(place: str) -> str:
    inside = os.path.relpath(place)
    return place if inside.startswith("..") else inside


def _found(found: Found) -> str:
    parts = [f"case {found.case} of {found.of}"]
    if found.shrunk_from is not None:
        parts.append(f"shrunk from {found.shrunk_from}")
    if found.cut_short is not None:
        parts.append(f"shrinking was cut short after {found.cut_short.after} ({found.cut_short.option}=)")
    if found.seen_again:
        parts.append("seen again when run alone")
    return "; ".join(parts)
