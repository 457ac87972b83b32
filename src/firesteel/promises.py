"""What a test calls about operators: `analyze`, `holds`, and what code declares about itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.failures import Failed, Falsified, Vacuous
from firesteel.evidence.operators import BrokenPromise, Finding, Findings
from firesteel.evidence.report import Asked, Claimed, Report
from firesteel.logic.verdicts import Verdict
from firesteel.operators.declared import NOT, Declaration, declarations_of, declare, refuse_claims
from firesteel.report.analysis import Analysis
from firesteel.values.durations import duration
from firesteel.values.equality import EXACT, Equality

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from firesteel.operators.analysis import Wanted
    from firesteel.operators.onspark.analysis import Wanted as OnSpark

Late: TypeAlias = Literal["dropped", "counted"]
F = TypeVar("F", bound=Callable[..., Any])


def analyze(
    operator: Any,
    *properties: str,
    inputs: Any = None,
    sample: Any = None,
    equal: Equality | None = None,
    tests: int | None = None,
    seconds: float | None = None,
    suppress: Mapping[str, str] | None = None,
    replay: str | None = None,
    spark: SparkSession | None = None,
    delays: Sequence[str | timedelta] = (),
    late: Late = "dropped",
) -> Analysis:
    """Find out what a function promises, by testing it in processes of its own; Spark is not needed.

    Operators that only exist on Spark (`operators.transformation`) are run there.

    >>> import firesteel as fs
    >>> from firesteel import operators
    >>> table = fs.analyze(operators.reducer(lambda a, b: a - b), "associative", "deterministic", tests=100)
    >>> table["associative"].evidence
    'f(f(1, 1), 1) = -1, f(1, f(1, 1)) = 1'
    >>> table["deterministic"].verdict
    <Verdict.INCONCLUSIVE: 0>

    `FALSE` means that evidence was seen. `TRUE` is only what is proved. Everything else is inconclusive: potentially.

    - `properties`: names; all that apply if left out.
    - `inputs`: a strategy of what goes in; `sample`: rows, or a DataFrame. Else type hints, schemas or trying say it.
    - `equal`: when two outputs count as equal, such as `fs.equality(rel_tol=1e-9)` for sums of floats.
    - `tests`, `seconds`: it stops after so many tests of a property, or so many seconds in all: 1,000 and 30; of
      operators on Spark 100 and 120.
    - `suppress`: findings that are harmless because of the data, by property, each with a reason.
    - `replay`: the line of an earlier finding.
    - `spark`: evidence of a reducer or an aggregate is shown on this session too; the active one if left out. An
      operator on Spark is run in it; in `fs.session()` if left out.
    - `delays`: the pauses between records that are tried on Spark, such as `["2 minutes"]`. They cost no time.
    - `late`: what `late_safe` claims of records behind the watermark, "dropped" or "counted".
    """
    wanted = _wanted(operator, properties, inputs, sample, equal, tests, seconds, replay, delays, late)
    return Analysis(_analyzed(wanted, suppress or {}, spark))


def _analyzed(wanted: Wanted | OnSpark, suppress: Mapping[str, str], spark: SparkSession | None) -> Findings:
    from firesteel.operators.analysis import Wanted
    from firesteel.operators.analysis import analyze as found_out
    from firesteel.operators.onspark.analysis import analyze as found_on_spark
    from firesteel.spark.session.start import session

    for name, reason in suppress.items():
        if not isinstance(reason, str) or not reason.strip():
            raise InvalidArgument(f"{described(f'suppress[{name!r}]', reason)} is not a reason: say why it is harmless")
    if not isinstance(wanted, Wanted):
        found = found_on_spark(wanted, session if spark is None else lambda: spark)
        return replace(found, findings=tuple(_with_reason(each, suppress) for each in found.findings))
    found = found_out(wanted)
    findings = [_with_reason(_confirmed(each, wanted, spark), suppress) for each in found.findings]
    return replace(found, findings=tuple(findings))


def _with_reason(finding: Finding, suppress: Mapping[str, str]) -> Finding:
    if finding.verdict is Verdict.FALSE and finding.property in suppress:
        return replace(finding, suppressed=suppress[finding.property])
    return finding


def _confirmed(finding: Finding, wanted: Wanted, spark: SparkSession | None) -> Finding:
    """The finding with what real Spark did, if there is a session and a way to show it."""
    from firesteel.spark.folds import active_session, shown_on_spark

    session = spark if spark is not None else active_session()
    if session is None or finding.verdict is not Verdict.FALSE:
        return finding
    try:
        return replace(finding, confirmed=shown_on_spark(session, wanted.operator, finding))
    except Exception:  # such as a function in a module that Spark's workers cannot import: the evidence stands
        return finding


def _wanted(
    operator: Any,
    properties: tuple[Any, ...],
    inputs: Any,
    sample: Any,
    equal: Equality | None,
    tests: int | None,
    seconds: float | None,
    replay: str | None,
    delays: Sequence[str | timedelta],
    late: Late,
) -> Wanted | OnSpark:
    from firesteel.operators.analysis import Wanted
    from firesteel.operators.guessing import operator_of
    from firesteel.operators.onspark.analysis import Wanted as OnSpark
    from firesteel.operators.onspark.operator import SparkOperator

    refuse_claims(properties)
    chosen = operator_of(operator)
    on_spark = isinstance(chosen, SparkOperator)
    tests = (100 if on_spark else 1000) if tests is None else tests
    seconds = (120.0 if on_spark else 30.0) if seconds is None else seconds
    if isinstance(tests, bool) or not isinstance(tests, int) or tests < 1:
        raise InvalidArgument(f"{described('tests', tests)} is not a number of tests: write a whole number from 1")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise InvalidArgument(f"{described('seconds', seconds)} is not a time: write a number above 0")
    if equal is not None and not isinstance(equal, Equality):
        raise InvalidArgument(f"{described('equal', equal)} is not an equality: write fs.equality(rel_tol=1e-9)")
    if inputs is not None and sample is not None:
        raise InvalidArgument("inputs= and sample= both say what goes in: leave one out")
    if replay is not None and len(properties) != 1:
        raise InvalidArgument('replay= shows one finding: name its property, as in fs.analyze(f, "commutative", ...)')
    names, equality = tuple(dict.fromkeys(properties)), EXACT if equal is None else equal
    if late not in ("dropped", "counted"):
        raise InvalidArgument(f"{described('late', late)} is not a claim: write late='dropped' or late='counted'")
    if isinstance(chosen, SparkOperator):
        if inputs is not None:
            raise InvalidArgument("inputs= is not for operators on Spark: hand over rows with sample=[...]")
        pauses = tuple(duration(each, "delays") for each in delays)
        return OnSpark(chosen, names, sample, equality, tests, float(seconds), pauses, late, replay=replay)
    if delays:
        raise InvalidArgument(f"{described('delays', delays)} is for operators on Spark, and {chosen!r} is not one")
    return Wanted(
        chosen,
        names,
        inputs,
        sample,
        equality,
        tests,
        float(seconds),
        replay=replay,
    )


def holds(
    operator: Any,
    *claims: str,
    inputs: Any = None,
    sample: Any = None,
    equal: Equality | None = None,
    tests: int | None = None,
    seconds: float | None = None,
    suppress: Mapping[str, str] | None = None,
    replay: str | None = None,
    spark: SparkSession | None = None,
    delays: Sequence[str | timedelta] = (),
    late: Late = "dropped",
) -> Report:
    """Check what is claimed of an operator; raise `Falsified` with the smallest evidence that was found.

    Without claims it checks what Spark requires: of a reducer that it is commutative and associative. A claim that is
    only "potentially" true passes. "not stateless" passes only with evidence. If no test had any output, the claim says
    nothing: `Vacuous`.

    >>> import firesteel as fs
    >>> from firesteel import operators
    >>> fs.holds(operators.reducer(max), tests=50).verdict
    <Verdict.INCONCLUSIVE: 0>
    >>> fs.holds(operators.reducer(lambda a, b: a - b), "not commutative").cases > 0
    True
    """
    from firesteel.operators.guessing import operator_of
    from firesteel.operators.kinds import Operator
    from firesteel.operators.onspark.analysis import REQUIRED as ON_SPARK
    from firesteel.operators.order import BY_DEFAULT, REQUIRED

    refuse_claims(claims)
    chosen = operator_of(operator)
    required = REQUIRED.get(chosen.kind, BY_DEFAULT) if isinstance(chosen, Operator) else ON_SPARK[chosen.kind]
    claims = claims or required
    names = tuple(dict.fromkeys(claim.removeprefix(NOT) for claim in claims))
    wanted = _wanted(chosen, names, inputs, sample, equal, tests, seconds, replay, delays, late)
    table = Analysis(_analyzed(wanted, suppress or {}, spark))
    for claim in claims:
        _raise_if_broken(claim, table)
    verdicts = [table[claim.removeprefix(NOT)].verdict for claim in claims]
    sure = all(verdict is not Verdict.INCONCLUSIVE for verdict in verdicts)
    return _report(Verdict.TRUE if sure else Verdict.INCONCLUSIVE, table, None)


def _report(verdict: Verdict, table: Analysis, evidence: BrokenPromise | None) -> Report:
    tests = sum(finding.tests for finding in table.values())
    return Report(verdict, tests, evidence, asked=Asked("fs.holds", Claimed.PROPERTY))


def failure_of(claim: str, finding: Finding) -> type[Failed] | None:
    """How a claim fails that does not agree with what was found; None where it does.

    >>> failure_of("stateless", Finding("stateless", Verdict.FALSE)).__name__
    'Falsified'
    >>> failure_of("not stateless", Finding("stateless", Verdict.FALSE)) is None
    True
    """
    if finding.suppressed:
        return None
    if claim.startswith(NOT):
        return None if finding.verdict is Verdict.FALSE else Vacuous if _says_nothing(finding) else Falsified
    if finding.verdict is Verdict.FALSE:
        return Falsified
    return Vacuous if finding.verdict is Verdict.INCONCLUSIVE and _says_nothing(finding) else None


def _raise_if_broken(claim: str, table: Analysis) -> None:
    finding = table[claim.removeprefix(NOT)]
    failure = failure_of(claim, finding)
    if failure is None:
        return
    from firesteel.report.text import render

    verdict = Verdict.FALSE if failure is Falsified else Verdict.INCONCLUSIVE
    report = _report(verdict, table, BrokenPromise(table.found.subject, claim, finding))
    raise failure(render(report), report)


def _says_nothing(finding: Finding) -> bool:
    """Was there no output to judge; or, of "selective", no firing without one?"""
    return not finding.outputs or (finding.property == "selective" and finding.proof is None)


# --- declarations ---


def declares(*claims: str, operator: Callable[..., Any] | None = None, **options: Any) -> Callable[[F], F]:
    """Declare what a function promises, on the function itself, which stays as it is.

    >>> import firesteel as fs
    >>> @fs.declares("commutative", "associative")
    ... def plus(a: int, b: int) -> int:
    ...     return a + b
    >>> plus(1, 2)
    3

    `operator` is the function of `firesteel.operators` that is meant, where it is not plain: `operators.grouped_agg`.
    The options are those of `fs.holds`. `fs.check_declared(module)` checks every claim.
    """
    if len(claims) == 1 and callable(claims[0]):
        raise InvalidArgument('fs.declares takes claims: write @fs.declares("commutative", "associative")')

    def decorated(function: F) -> F:
        declare(function, claims, operator, options)
        return function

    return decorated


def declared(
    function: Callable[..., Any], *claims: str, operator: Callable[..., Any] | None = None, **options: Any
) -> Declaration:
    """Declare what a function promises from outside, for code that cannot be edited.

    >>> import firesteel as fs
    >>> fs.declared(max, "commutative", "associative").claims
    ('commutative', 'associative')
    """
    return declare(function, claims, operator, options)


def check_declared(module: ModuleType | str) -> tuple[Report, ...]:
    """Check every claim that the functions of a module or package declare; raise at the first that does not hold.

    >>> import firesteel as fs
    >>> fs.check_declared("a.module.that.declares.nothing")
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: module='a.module.that.declares.nothing' (str) declares nothing: write \
@fs.declares(...) on its functions
    """
    name = module if isinstance(module, str) else getattr(module, "__name__", "")
    made = declarations_of(name)
    if not made:
        raise InvalidArgument(
            f"{described('module', module)} declares nothing: write @fs.declares(...) on its functions"
        )
    return tuple(check_claim(each, claim) for each in made for claim in each.claims)


def claims_beside_findings(module: str) -> list[tuple[Declaration, str, Finding]]:
    """Every claim that a module declares, and what is found out about it."""
    found = []
    for made in declarations_of(module):
        names = dict.fromkeys(claim.removeprefix(NOT) for claim in made.claims)
        table = analyze(made.as_operator(), *names, **made.options)
        found += [(made, claim, table[claim.removeprefix(NOT)]) for claim in made.claims]
    return found


def check_claim(made: Declaration, claim: str) -> Report:
    """Check one claim of a declaration."""
    return holds(made.as_operator(), claim, **made.options)
