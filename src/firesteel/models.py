"""Verifying a model: what `fs.verify` does with a program of MSVL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from firesteel.evidence.failures import Falsified, Inconclusive
from firesteel.evidence.report import Report
from firesteel.logic.verdicts import Verdict
from firesteel.surroundings import Reported, tell

if TYPE_CHECKING:
    from firesteel.logic.pptl import FormulaLike
    from firesteel.model.msvl.program import Program


def verify_model(
    program: Program,
    rule: FormulaLike,
    propositions: Mapping[str, str] | None,
    *,
    inputs: Mapping[str, Any] | None,
    externals: Mapping[str, Callable[..., Any]] | None,
    bound: int | None,
    runs: int | None,
) -> Report:
    """Check that every run of an MSVL program satisfies a rule; raise `Falsified` with a run that does not."""
    from firesteel.model.msvl.program import BOUND
    from firesteel.model.verifying import RUNS, verify_program

    report = verify_program(
        program,
        rule,
        propositions,
        inputs=inputs,
        externals=externals,
        bound=BOUND if bound is None else bound,
        runs=RUNS if runs is None else runs,
    )
    return _verified(report)


def _verified(report: Report) -> Report:
    """The report, if the rule holds."""
    from firesteel.report.text import render

    tell(Reported(report))
    if report.verdict is Verdict.TRUE:
        return report
    raise (Falsified if report.verdict is Verdict.FALSE else Inconclusive)(render(report), report)
