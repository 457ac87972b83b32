"""What was found out about an operator, in words: one sentence of evidence, the table, what it means in Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from firesteel.evidence.operators import (
    BrokenPromise,
    Different,
    Finding,
    Findings,
    Firing,
    Observed,
    Subject,
    Unloadable,
    is_open,
)
from firesteel.logic.verdicts import Verdict
from firesteel.names import counted
from firesteel.report import onspark
from firesteel.report.consequences import consequence
from firesteel.report.feeding import called, calls, shown_outputs
from firesteel.values.records import shown

_ONE_CALL = ("idempotent", "total", "null_safe", "nan_safe")
_SHORT = 80


def in_words(finding: Finding) -> str:
    """The answer for a property, in the paper's words.

    >>> in_words(Finding("stateless", Verdict.INCONCLUSIVE, 1000, outputs=1000))
    'potentially stateless, 1,000 tests'
    >>> in_words(Finding("commutative", Verdict.FALSE, 3)), in_words(Finding("prolific", Verdict.TRUE, 3))
    ('not commutative', 'prolific')
    """
    name = finding.property
    if finding.suppressed:
        return f"not {name}, but harmless: {finding.suppressed}"
    match finding.verdict:
        case Verdict.FALSE:
            return f"not {name}"
        case Verdict.TRUE:
            return name
        case _ if is_open(finding):
            return f"open: {finding.why}"
        case _ if finding.settled_by == "one_to_one":
            return f"potentially one_to_one, {_tests(finding)}"  # no firing was seen to have no output
        case _ if finding.settled_by is not None:
            return f"potentially {name}, as it is potentially {finding.settled_by}"
        case _:
            said = "not prolific" if name == "prolific" else name
            return f"potentially {said}, {_tests(finding)}"


def _tests(finding: Finding) -> str:
    return f"{finding.tests:,} {'test' if finding.tests == 1 else 'tests'}"


def sentence(subject: Subject, finding: Finding) -> str:
    """The evidence in one sentence; empty where there is none."""
    match finding.proof:
        case Different(left, right) if finding.property == "deterministic":
            return (
                f"{calls(subject, left)} gives {shown_outputs(left.outputs)}; in another process on another day it "
                f"gives {shown_outputs(right.outputs)}"
            )
        case Different(left, right) if finding.property == "picklable":
            return (
                f"{calls(subject, left)} gives {shown_outputs(left.outputs)}; after cloudpickle, in a new process, "
                f"it gives {shown_outputs(right.outputs)}"
            )
        case Different(left, right) if finding.property == "idempotent":
            return f"{_equation(subject, right)}, not {shown_outputs(left.outputs)}"
        case Different(left, right) if finding.property == "row_wise":
            return (
                f"for one row {calls(subject, left)} gives {shown_outputs(left.outputs)}, and "
                f"{calls(subject, right)} gives {shown_outputs(right.outputs)}"
            )
        case Different(left, right):
            return f"{_equation(subject, left)}, {_equation(subject, right)}"
        case Firing(seen, raised=str() as error):
            return f"{calls(subject, seen)} raises {error}"
        case Firing(seen, did=did) if did:
            return (
                f"{calls(subject, seen)} {'; '.join(did)}" if finding.property == "pure" else _kept(subject, seen, did)
            )
        case Firing(seen):
            count = len([output for output in seen.outputs if output is not None])
            return f"{calls(subject, seen)} has {counted(count, 'output')}: {shown(list(seen.outputs))}"
        case Unloadable(error):
            return f"it does not survive cloudpickle: {error}"
        case None:
            return ""
        case proof:
            return onspark.sentence(proof)


def _kept(subject: Subject, seen: Observed, did: Sequence[str]) -> str:
    return f"{calls(subject, seen)} gives {shown(list(seen.outputs))}: {'; '.join(did)}"


def _equation(subject: Subject, seen: Observed) -> str:
    return f"{calls(subject, seen)} = {shown_outputs(seen.outputs)}"


def test_to_paste(subject: Subject, finding: Finding, replay: str) -> str:
    """A test that fails as long as the promise is broken."""
    name = subject.name if subject.name.isidentifier() else "f"
    head = f"def test_{name}_is_{finding.property}():"
    match finding.proof:
        case Different(left, right) if _is_call(subject, finding) and len(left.run) == len(right.run) == 1:
            return f"{head}\n    assert {called(subject, left.run[0])} == {called(subject, right.run[0])}"
        case Firing(seen, raised=str() as error) if _is_call(subject, finding) and len(seen.run) == 1:
            return f"{head}\n    {called(subject, seen.run[0])}  # raises {error.partition(':')[0]}"
        case _:
            return f"{head}\n    {again(subject, finding, replay)}"


def _is_call(subject: Subject, finding: Finding) -> bool:
    """Is a firing a call that can be written down, in one process? It is short enough if its line is."""
    short = len(finding.replay) < _SHORT
    return short and (subject.kind == "reducer" or (subject.kind == "function" and finding.property in _ONE_CALL))


def again(subject: Subject, finding: Finding, replay: str) -> str:
    """A line that shows the evidence again."""
    return f'fs.holds({subject.written}, "{finding.property}", replay={replay!r})'


def explained(subject: Subject, finding: Finding) -> str:
    """All about one finding."""
    parts = [in_words(finding) if is_open(finding) else f"{subject.name} is {in_words(finding)}"]
    said = finding.evidence or sentence(subject, finding)
    if said:
        parts.append(f"{said}.")
    if finding.port:
        parts.append(f"This is about the {finding.port} port.")
    if finding.key:
        parts.append(f"The key is {finding.key}.")
    meaning = consequence(subject.kind, finding.property)
    if finding.verdict is Verdict.FALSE and meaning:
        parts.append(f"In Spark: {meaning}.")
    if finding.unchanged:
        parts.append(f"Columns that pass unchanged: {', '.join(finding.unchanged)}.")
    if finding.trouble:
        parts.append(f"{finding.trouble[0].upper()}{finding.trouble[1:]}.")
    if finding.confirmed:
        parts.append(f"Seen on Spark: {finding.confirmed}.")
    if finding.verdict is Verdict.FALSE and finding.replay and len(finding.replay) < 2_000:
        parts.append("Keep it as a test:\n" + _indented(test_to_paste(subject, finding, finding.replay)))
        parts.append("Run it again:\n" + _indented(again(subject, finding, finding.replay)))
    return "\n\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def told(found: BrokenPromise) -> str:
    """The message of a claim that does not hold."""
    subject, finding = found.subject, found.finding
    if found.claim.startswith("not "):
        return (
            f"{subject.name} was claimed to be {found.claim}, which needs evidence, and none was found: it is "
            f"{in_words(finding)}"
        )
    if finding.verdict is not Verdict.FALSE:
        return f"nothing was found out about {found.claim} of {subject.name}: {finding.why or 'no test had any output'}"
    place = f" ({subject.place})" if subject.place else ""
    return f"{subject.name}{place} is not {found.claim}\n\n" + explained(subject, finding).partition("\n\n")[2]


def lines(found: Findings) -> Iterable[tuple[str, str, str, str]]:
    """The rows of the table: property, answer, tests, evidence. What keeps several open is said once, above them."""
    shared = shared_reason(found)
    for finding in found.findings:
        said = finding.evidence or sentence(found.subject, finding)
        where = f" [{finding.port}]" if finding.port else ""
        where += f" [key {finding.key}]" if finding.key else ""
        settled = f"settled by {finding.settled_by}" if finding.settled_by and not said else ""
        answer = "open" if is_open(finding) and finding.why == shared else in_words(finding)
        kept = f"{', '.join(finding.unchanged)}: unchanged" if finding.unchanged else ""
        yield finding.property + where, answer, f"{finding.tests:,}", said or finding.trouble or settled or kept


def shared_reason(found: Findings) -> str:
    """Why most of what is open is open, if that is one reason for several properties; else empty."""
    reasons = Counter(finding.why for finding in found.findings if is_open(finding))
    (why, count), *_ = reasons.most_common(1) or [("", 0)]
    return why if count >= 3 else ""


def rendered(found: Findings, width: int = 120) -> str:
    """The whole table as text."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for head in ("property", "answer", "tests", "evidence"):
        table.add_column(head, justify="right" if head == "tests" else "left", overflow="fold")
    for row in lines(found):
        table.add_row(*(Text(cell) for cell in row))
    out = StringIO()
    console = Console(file=out, width=width, color_system=None, highlight=False)
    console.print(Text(title(found)))
    if shared := shared_reason(found):
        console.print(Text(f"open: {shared}"))
    console.print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def title(found: Findings) -> str:
    """What was analyzed, and with what."""
    subject = found.subject
    place = f" ({subject.place})" if subject.place else ""
    fed = f"; fed with {found.inputs}" if found.inputs else ""
    return f"{subject.kind}({subject.name}){place}{fed}; {found.seconds:.1f} s"


def as_data(value: Any) -> Any:
    """A value as plain data for JSON: text where it is nothing simpler."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() if value == value and abs(value) != float("inf"):
            return value
        case list() | tuple():
            return [as_data(each) for each in value]
        case dict():
            return {str(key): as_data(each) for key, each in value.items()}
        case _:
            return shown(value)
