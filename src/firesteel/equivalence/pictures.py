"""Pictures of a dependence, as text or DOT (Graphviz): the order it gives to some records, or the relation itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from firesteel.values.dependence import Dependence, as_records, different, require_dependence
from firesteel.values.records import brief


def drawn(dependence: Dependence, records: Iterable[Any], *, order: bool = True) -> str:
    """A picture, as text, of the order that a dependence gives to some records: each one and what it comes after.

    Records of one step have no order between them. What follows from the rest is left out.
    With `order=False` it is a picture of the relation itself: each different record, and those it depends on.

    >>> from firesteel.values.dependence import barrier
    >>> print(drawn(barrier(lambda x: x == "END"), ["a", "b", "END", "c"]))
    step  record     after
    1     0 'a'
    1     1 'b'
    2     2 'END'    0, 1
    3     3 'c'      2
    >>> print(drawn(barrier(lambda x: x == "END"), ["a", "b", "END"], order=False))
    record     depends on
    0 'a'      2
    1 'b'      2
    2 'END'    0, 1, itself
    """
    require_dependence(dependence)
    if order:
        rows = as_records(records)
        after = right_after(dependence, rows)
        steps = _steps(after)
        return _table(
            ("step", "record", "after"),
            [(str(steps[n]), f"{n} {brief(row)}", _listed(after[n])) for n, row in enumerate(rows)],
        )
    rows = different(as_records(records))
    related = [[m for m in range(len(rows)) if dependence.depends_on(rows[n], rows[m])] for n in range(len(rows))]
    return _table(
        ("record", "depends on"),
        [
            (f"{n} {brief(row)}", ", ".join([*(str(m) for m in related[n] if m != n), *["itself"] * (n in related[n])]))
            for n, row in enumerate(rows)
        ],
    )


def dot(dependence: Dependence, records: Iterable[Any], *, order: bool = True) -> str:
    """The picture of `drawn` for Graphviz. Arrows lead to the later record; without order, lines join dependent ones.

    >>> from firesteel.values.dependence import ordered
    >>> print(dot(ordered(), ["a", "b", "c"]))
    digraph {
      rankdir=LR
      0 [label="'a'"]
      1 [label="'b'"]
      2 [label="'c'"]
      0 -> 1
      1 -> 2
    }
    """
    require_dependence(dependence)
    rows = as_records(records) if order else different(as_records(records))
    nodes = [f"  {n} [label={_quoted(brief(row))}]" for n, row in enumerate(rows)]
    if order:
        after = right_after(dependence, rows)
        arrows = [f"  {earlier} -> {n}" for n in range(len(rows)) for earlier in after[n]]
        return "\n".join(["digraph {", "  rankdir=LR", *nodes, *arrows, "}"])
    lines = [
        f"  {n} -- {m}"
        for n in range(len(rows))
        for m in range(n, len(rows))
        if dependence.depends_on(rows[n], rows[m])
    ]
    return "\n".join(["graph {", *nodes, *lines, "}"])


def right_after(dependence: Dependence, records: Sequence[Any]) -> list[list[int]]:
    """For each record, the positions of those it comes right after: the order's Hasse diagram.

    >>> from firesteel.values.dependence import ordered
    >>> right_after(ordered(), "abc")
    [[], [0], [1]]
    """
    before: list[set[int]] = []
    after: list[list[int]] = []
    for n, record in enumerate(records):
        found: list[int] = []
        below: set[int] = set()
        for m in range(n - 1, -1, -1):  # from the latest back, so that what follows from others is already known
            if m not in below and dependence.depends_on(records[m], record):
                found.append(m)
                below |= before[m] | {m}
        before.append(below)
        after.append(sorted(found))
    return after


def _steps(after: Sequence[Sequence[int]]) -> list[int]:
    steps: list[int] = []
    for earlier in after:
        steps.append(1 + max((steps[n] for n in earlier), default=0))
    return steps


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head) - 1)]
    gaps = [width + (4 if name == "record" else 2) for width, name in zip(widths, head, strict=False)]
    return "\n".join(
        ("".join(cell.ljust(gap) for cell, gap in zip(row, gaps, strict=False)) + row[-1]).rstrip()
        for row in (head, *rows)
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
