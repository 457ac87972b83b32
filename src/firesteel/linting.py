"""A lint of a program, with what only a running session can say. `Dag.lint` and the others use it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.lint import Linted
from firesteel.evidence.operators import is_open
from firesteel.logic.verdicts import Verdict
from firesteel.model.lint.flows import Help, Untested
from firesteel.model.lint.linting import linted
from firesteel.values.equality import equality
from firesteel.values.programs import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from firesteel.evidence.lint import Lint

SECONDS = 20.0
"""So long a lint may run functions and parts of the program again."""
_TESTS = 100
"""How many tests a reducer gets for each property."""


def lint_program(
    program: Program, *, ignore: Collection[str] = (), confirm: bool = True, seconds: float = SECONDS
) -> Linted:
    """All that is found in a program, with the help of a session if one is running."""
    refuse_seconds(seconds)
    from firesteel.spark.folds import active_session

    spark = active_session()
    return linted(program, ignore, _help(spark, program, confirm, seconds) if spark is not None else None)


def refuse_seconds(seconds: float) -> None:
    """Refuse what is not a time."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise InvalidArgument(f"{described('seconds', seconds)} is not a time: write a number above 0")


def _help(spark: SparkSession, program: Program, confirm: bool, seconds: float) -> Help:
    from firesteel.spark.capture.executions import function_in
    from firesteel.spark.plans.asking import is_written_cast
    from firesteel.spark.replays import Replays

    known: dict[Any, Any] = {}
    replays = Replays(spark, program, seconds)

    def function(expression: Any) -> Callable[..., Any] | None:
        if id(expression) not in known:
            known[id(expression)] = expression, function_in(spark, expression)
        found: Callable[..., Any] | None = known[id(expression)][1]
        return found

    def runs(finding: Lint) -> str:
        return replays.differ(finding.operation, finding.action) if finding.operation is not None else ""

    quick = Help(function, lambda one: is_written_cast(spark, one), setting=lambda name: spark.conf.getAll.get(name))
    if not confirm:
        return quick
    return replace(
        quick,
        coming=replays.coming,
        sample=replays.sample,
        reducer=evidence_against,
        repeats=evidence_of_luck,
        runs=runs,
        no_sample="its records cannot be had again, or the time was up",
    )


def evidence_against(function: Callable[..., Any], values: list[Any]) -> str | None:
    """Evidence that a reducer does not merge these values in any order, found by testing; None if there is none.

    >>> evidence_against(lambda a, b: a + b, ["x", "y"])
    "f('...', '...') = '...', f('...', '...') = '...'"
    >>> evidence_against(lambda a, b: a + b, [1, 2])
    >>> evidence_against(lambda a, b: a + b, [0.1, 0.2, 0.3])

    How floating-point numbers round is not evidence: that is another rule's.
    """
    from firesteel import operators
    from firesteel.operators.analysis import Wanted, analyze
    from firesteel.report.analysis import Analysis

    wanted = Wanted(
        operators.reducer(function),
        ("commutative", "associative"),
        sample=values,
        equal=equality(rel_tol=1e-9),
        tests=_TESTS,
        first=_TESTS,  # most reducers merge in any order: one job shows that as well as three
        seconds=10,
    )
    try:
        found = Analysis(analyze(wanted))
    except Exception as error:  # as one that does not survive the way to another process
        raise Untested(str(error).partition("\n")[0]) from error
    both = [found[name] for name in ("commutative", "associative")]
    broken = [one.evidence for one in both if one.verdict is Verdict.FALSE]
    unknown = [one.why for one in both if is_open(one)]
    if unknown and not broken:
        raise Untested(unknown[0])
    return broken[0] if broken else None


def evidence_of_luck(function: Callable[..., Any], values: list[Any]) -> str | None:
    """Evidence that a function gives something else when it is called again, found by testing; None if there is none.

    >>> evidence_of_luck(lambda x: x + 1, [1, 2])
    """
    from firesteel import operators
    from firesteel.promises import analyze

    try:
        found = analyze(operators.function(function), "deterministic", sample=values, tests=20, seconds=3)
    except Exception:  # as one that does not survive the way to another process: nothing is known then
        return None
    (one,) = found.values()
    return one.evidence if one.verdict is Verdict.FALSE else None
