"""What a test calls about models: `verify`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from firesteel.errors import described
from firesteel.evidence.failures import Falsified, Inconclusive
from firesteel.evidence.report import Report
from firesteel.logic.verdicts import Verdict
from firesteel.surroundings import Reported, tell
from firesteel.tracebacks import with_users_frames

if TYPE_CHECKING:
    from firesteel.logic.pptl import FormulaLike
    from firesteel.model.msvl.program import Program


@with_users_frames
def verify(
    source: Program,
    rule: FormulaLike,
    *,
    propositions: Mapping[str, str] | None = None,
    inputs: Mapping[str, Any] | None = None,
    externals: Mapping[str, Callable[..., Any]] | None = None,
    bound: int | None = None,
    runs: int | None = None,
) -> Report:
    """Check that every run of an MSVL program satisfies a rule; raise `Falsified` with a run that does not.

    All choices of `or` are tried, for the given inputs. The rule is a formula of PPTL; `propositions` says what each of
    its names means, as an MSVL expression over the program's variables. A name that is left out is a variable.

    >>> import firesteel as fs
    >>> from firesteel.model import msvl
    >>> program = msvl.load("frame(x) and (x <== 0 and skip ; x := 1 or x := 2)")
    >>> fs.verify(program, "<> up", propositions={"up": "x > 0"}).summary()
    'true in 2 runs, 5 states'

    A run of more than `bound` states, or more than `runs` runs, leave the question open: `Inconclusive`.
    """
    from firesteel.model.msvl.program import BOUND, Program
    from firesteel.model.verifying import RUNS, verify_program

    if not isinstance(source, Program):
        raise TypeError(f"{described('source', source)} cannot be verified: write msvl.load(...)")
    report = verify_program(
        source,
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
