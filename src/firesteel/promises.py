"""What a test calls about operators: `analyze`, `holds`, and what code declares about itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.failures import Failed, Falsified, Vacuous
from firesteel.evidence.operators import BrokenPromise, Finding, Findings
from firesteel.evidence.report import Asked, Claimed, Report
from firesteel.logic.verdicts import Verdict
from firesteel.operators.declared import NOT, Declaration, declarations_of, declare, refuse_claims
from firesteel.report.analysis import Analysis
from firesteel.values.equality import EXACT, Equality

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from firesteel.operators.analysis import Wanted

F = TypeVar("F", bound=Callable[..., Any])


def analyze(
    operator: Any,
    *properties: str,
    inputs: Any = None,
    sample: Any = None,
    equal: Equality | None = None,
    tests: int = 1000,
    seconds: float = 30.0,
    suppress: Mapping[str, str] | None = None,
    replay: str | None = None,
    spark: SparkSession | None = None,
) -> Analysis:
    """Find out what a function promises, by testing it in processes of its own; Spark is not needed.

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
    - `tests`, `seconds`: it stops after so many tests of a property, or so many seconds in all.
    - `suppress`: findings that are harmless because of the data, by property, each with a reason.
    - `replay`: the line of an earlier finding.
    - `spark`: evidence of a reducer or an aggregate is shown on this session too; the active one if left out.
    """
    wanted = _wanted(operator, properties, inputs, sample, equal, tests, seconds, replay)
    return Analysis(_analyzed(wanted, suppress or {}, spark))


def _analyzed(wanted: Wanted, suppress: Mapping[str, str], spark: SparkSession | None) -> Findings:
    from firesteel.operators.analysis import analyze as found_out

    for name, reason in suppress.items():
        if not isinstance(reason, str) or not reason.strip():
            raise InvalidArgument(f"{described(f'suppress[{name!r}]', reason)} is not a reason: say why it is harmless")
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
    tests: int,
    seconds: float,
    replay: str | None,
) -> Wanted:
    from firesteel.operators.analysis import Wanted
    from firesteel.operators.guessing import operator_of

    refuse_claims(properties)
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
    return Wanted(
        operator_of(operator),
        tuple(dict.fromkeys(properties)),
        inputs,
        sample,
        EXACT if equal is None else equal,
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
    tests: int = 1000,
    seconds: float = 30.0,
    suppress: Mapping[str, str] | None = None,
    replay: str | None = None,
    spark: SparkSession | None = None,
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
    from firesteel.operators.order import BY_DEFAULT, REQUIRED

    refuse_claims(claims)
    chosen = operator_of(operator)
    claims = claims or REQUIRED.get(chosen.kind, BY_DEFAULT)
    names = tuple(dict.fromkeys(claim.removeprefix(NOT) for claim in claims))
    wanted = _wanted(chosen, names, inputs, sample, equal, tests, seconds, replay)
    table = Analysis(_analyzed(wanted, suppress or {}, spark))
    for claim in claims:
        _raise_if_broken(claim, table)
    verdicts = [table[claim.removeprefix(NOT)].verdict for claim in claims]
    sure = all(verdict is not Verdict.INCONCLUSIVE for verdict in verdicts)
    return _report(Verdict.TRUE if sure else Verdict.INCONCLUSIVE, table, None)


def _report(verdict: Verdict, table: Analysis, evidence: BrokenPromise | None) -> Report:
    tests = sum(finding.tests for finding in table.values())
    return Report(verdict, tests, evidence, asked=Asked("fs.holds", Claimed.PROPERTY))


def _raise_if_broken(claim: str, table: Analysis) -> None:
    finding = table[claim.removeprefix(NOT)]
    if finding.suppressed:
        return
    failure: type[Failed] | None = None
    if claim.startswith(NOT):
        refuted = finding.verdict is Verdict.FALSE
        failure = None if refuted else Vacuous if _says_nothing(finding) else Falsified
    elif finding.verdict is Verdict.FALSE:
        failure = Falsified
    elif finding.verdict is Verdict.INCONCLUSIVE and _says_nothing(finding):
        failure = Vacuous
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


def check_claim(made: Declaration, claim: str) -> Report:
    """Check one claim of a declaration."""
    return holds(made.as_operator(), claim, **made.options)
