"""What a lint found, as text, as JSON and as SARIF."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from firesteel.evidence.lint import Lint, Severity
from firesteel.model.lint.rules.catalogue import RULES
from firesteel.model.lint.rules.rule import Rule
from firesteel.names import counted

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def text(findings: Sequence[Lint], notes: Iterable[str] = (), left_out: int = 0) -> str:
    """All findings, to be read; how many known ones are left out.

    >>> print(text([]))
    nothing hangs on luck, as far as the rules see
    """
    parts = [_one(each) for each in findings]
    said = [f"note: {note}" for note in notes]
    return "\n\n".join([*parts, "\n".join([*said, _summary(findings, left_out)])])


def _one(one: Lint) -> str:
    lines = [str(one)]
    if one.confirmed:
        lines.append(f"  seen       {one.confirmed}")
    elif one.example:
        lines.append(f"  example    {one.example}")
    lines.append(f"  instead    {one.instead}")
    if one.spark_level is not None and one.level is not None and one.spark_level is not one.level:
        lines.append(f"  level      Spark believes {one.spark_level.name}; this is {one.level.name}")
    return "\n".join(lines)


def _summary(findings: Sequence[Lint], left_out: int) -> str:
    if not findings and left_out:
        return "nothing new was found"
    if not findings:
        return "nothing hangs on luck, as far as the rules see"
    counts = Counter(one.severity for one in findings)
    told = [counted(counts[each], each.value) for each in Severity if counts[each]]
    return ", ".join(told)


def listed() -> str:
    """All rules, a line each."""
    width = max(map(len, RULES))
    return "\n".join(f"{rule.name:<{width}}  {rule.severity.value:<7}  {rule.summary}" for rule in RULES.values())


def as_data(findings: Iterable[Lint], notes: Iterable[str] = ()) -> dict[str, Any]:
    """Plain data, for JSON."""
    return {"findings": [_data(one) for one in findings], "notes": list(notes)}


def _data(one: Lint) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "severity": one.severity.value,
        "file": one.where.file if one.where else None,
        "line": one.where.line if one.where else None,
        "message": one.message,
        "example": one.example,
        "instead": one.instead,
        "spark_level": one.spark_level.name if one.spark_level else None,
        "level": one.level.name if one.level else None,
        "confirmed": one.confirmed,
        "fingerprint": fingerprint(one),
    }


def fingerprint(one: Lint) -> str:
    """What stays the same when lines move: the rule, the file and the text of the line. For `--baseline`.

    >>> from firesteel.values.programs import CallSite
    >>> def at(line): return Lint("sort-destroyed", Severity.WARNING, CallSite("no such file", line), "")
    >>> fingerprint(at(3)) == fingerprint(at(4))
    True
    """
    import linecache

    where = one.where
    parts = [one.rule]
    if where is not None:
        parts += [os.path.basename(where.file), linecache.getline(where.file, where.line).strip(), where.function]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def as_sarif(findings: Sequence[Lint], version: str, notes: Iterable[str] = ()) -> dict[str, Any]:
    """SARIF 2.1.0, as code hosts read it. What could not be looked at is said of the run as a whole."""
    names = list(RULES)
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "firesteel",
                        "version": version,
                        "rules": [_sarif_rule(rule) for rule in RULES.values()],
                    }
                },
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [{"level": "note", "message": {"text": note}} for note in notes],
                    }
                ],
                "results": [_sarif_result(one, names) for one in findings],
            }
        ],
    }


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": f"Instead: {rule.instead}"},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _sarif_result(one: Lint, names: Sequence[str]) -> Mapping[str, Any]:
    told = one.message + (f" ({one.confirmed})" if one.confirmed else "")
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": names.index(one.rule),
        "level": one.severity.value,
        "message": {"text": f"{told}. Instead: {one.instead}"},
        "partialFingerprints": {"firesteel/v1": fingerprint(one)},
    }
    if one.where is not None:
        result["locations"] = [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(one.where.file)},
                    "region": {"startLine": one.where.line},
                }
            }
        ]
    return result


def _uri(file: str) -> str:
    """A path relative to the working directory, as code hosts want it; a whole one for what is elsewhere."""
    path = Path(file).absolute()
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_uri()
