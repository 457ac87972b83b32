"""Claims beside findings, as a table: what `firesteel analyze MODULE --declared` prints."""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.evidence.operators import Finding
from firesteel.report.operators import in_words


def rendered(rows: Sequence[tuple[str, str, Finding, bool]], width: int = 120) -> str:
    """A line for every claim: the function, the claim, what was found, and whether the two differ.

    >>> from firesteel.logic.verdicts import Verdict
    >>> print(rendered([("plus", "stateless", Finding("stateless", Verdict.FALSE, 3), False)]))
    function  claim      found                   evidence
    plus      stateless  not stateless: DIFFERS
    """
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for head in ("function", "claim", "found", "evidence"):
        table.add_column(head, overflow="fold")
    for name, claim, finding, agrees in rows:
        found = in_words(finding) + ("" if agrees else ": DIFFERS")
        table.add_row(*(Text(cell) for cell in (name, claim, found, finding.evidence)))
    out = StringIO()
    Console(file=out, width=width, color_system=None, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
