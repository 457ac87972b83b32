"""`Analysis`: what `fs.analyze` returns, a table by property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.onspark import Fed, Fired, Grew, Raised, Unlike
from firesteel.evidence.operators import Different, Finding, Findings, Firing, Observed
from firesteel.report.operators import as_data, explained, in_words, rendered, sentence


class Analysis(Mapping[str, Finding]):
    """What was found out about an operator: a finding for each property. `print` shows a table.

    >>> import firesteel as fs
    >>> from firesteel import operators
    >>> table = fs.analyze(operators.reducer(lambda a, b: a - b), "commutative")
    >>> table["commutative"].verdict
    <Verdict.FALSE: -1>
    >>> table["commutative"].evidence
    'f(0, 1) = -1, f(1, 0) = 1'
    """

    def __init__(self, found: Findings) -> None:
        worded = tuple(replace(each, evidence=sentence(found.subject, each)) for each in found.findings)
        self.found = replace(found, findings=worded)
        self._by_name = {finding.property: finding for finding in worded}

    def __getitem__(self, name: str) -> Finding:
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"{name!r} was not tested here; these were: {', '.join(self._by_name)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __str__(self) -> str:
        return rendered(self.found)

    def __repr__(self) -> str:
        answers = ", ".join(f"{name}={finding.verdict.name}" for name, finding in self._by_name.items())
        return f"<Analysis of {self.found.subject.kind}({self.found.subject.name}): {answers}>"

    def explain(self, name: str) -> str:
        """All about one property: the evidence, what it does in Spark, a test to paste, a line that replays it.

        >>> import firesteel as fs
        >>> from firesteel import operators
        >>> table = fs.analyze(operators.reducer(lambda a, b: a - b), "commutative")
        >>> print(table.explain("commutative").splitlines()[4])
        In Spark: reduceByKey may merge partitions in any order: this reducer gives different results.
        """
        if name not in self._by_name:
            raise InvalidArgument(
                f"{described('name', name)} was not tested here: write one of {', '.join(self._by_name)}"
            )
        return explained(self.found.subject, self._by_name[name])

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, that JSON can hold."""
        return {
            "operator": self.found.subject.name,
            "kind": self.found.subject.kind,
            "place": self.found.subject.place,
            "inputs": self.found.inputs,
            "seconds": round(self.found.seconds, 3),
            "properties": {name: _as_dict(finding) for name, finding in self._by_name.items()},
        }


def _as_dict(finding: Finding) -> dict[str, Any]:
    return {
        "verdict": finding.verdict.name,
        "answer": in_words(finding),
        "tests": finding.tests,
        "outputs": finding.outputs,
        "evidence": finding.evidence,
        "runs": [_run(each) for each in _runs(finding)],
        "why": finding.why,
        "trouble": finding.trouble,
        "unchanged": list(finding.unchanged),
        "settled_by": finding.settled_by,
        "port": finding.port,
        "key": finding.key,
        "confirmed": finding.confirmed,
        "suppressed": finding.suppressed,
        "replay": finding.replay,
        "seconds": round(finding.seconds, 3),
    }


def _runs(finding: Finding) -> list[Observed | Fed]:
    match finding.proof:
        case Different(left, right):
            return [left, right]
        case Firing(seen):
            return [seen]
        case Unlike(mine, theirs):
            return [mine, theirs]
        case Fired(fed) | Grew(fed) | Raised(fed):
            return [fed]
        case _:
            return []


def _run(seen: Observed | Fed) -> dict[str, Any]:
    if isinstance(seen, Fed):
        return {"fed": as_data(seen.batches), "outputs": as_data(seen.outputs), "under": str(seen.under)}
    return {"fed": as_data(seen.run), "outputs": as_data(seen.outputs), "elsewhere": seen.elsewhere}
