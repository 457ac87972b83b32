"""`keeps_columns`: which columns pass an operator unchanged?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firesteel.evidence.operators import Firing, Observed, Proof
from firesteel.operators.comparing import Pair, Side, differ
from firesteel.operators.kinds import Family
from firesteel.operators.outcomes import Seen
from firesteel.operators.properties import About, Material
from firesteel.operators.question import Question
from firesteel.values.equality import Equality


def keeps_columns(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """A column of the output that has the name of a column of the input holds the same value.

    `lambda frames: (f.assign(total=f.a + f.b) for f in frames)` has it. One that writes `f.assign(a=0)` does not.
    """
    found = row_and_run(about, material)
    if found is None:
        return
    row, run = found

    def judge(seen: Sequence[Seen]) -> Proof | None:
        outputs = seen[0].all_outputs if seen[0].is_whole else ()
        for output in outputs:
            named = _named(output)
            changed = [name for name in named if name in row and not _same(named[name], row[name], equal)]
            if changed:
                return Firing(Observed(run, outputs), did=tuple(f"column {name} is not kept" for name in changed))
        return None

    yield Question((Side(run),), judge)


def row_and_run(about: About, material: Material) -> tuple[Mapping[str, Any], tuple[Any, ...]] | None:
    """A row of a material by its columns, and a run that feeds this row alone; None where there is none."""
    match about.operator.kind.family:
        case Family.COLUMNS:
            return dict(zip(about.inputs.names, material[0], strict=False)), (((material[0],),),)
        case Family.GROUPS:
            rows = material[0][0]
            if len(material[0]) != 1 or not rows:
                return None
            return dict(zip(about.inputs.names, rows[0], strict=False)), (((rows[0],),),)
        case _:
            return _named(material[0][0]), (material[0],)


def unchanged(rows: Sequence[Mapping[str, Any]], seen: Sequence[Seen], equal: Equality) -> tuple[str, ...]:
    """The columns that every output had, with the value that they had in the row that was fed."""
    kept: list[str] | None = None
    for row, each in zip(rows, seen, strict=True):
        for output in each.all_outputs if each.is_whole else ():
            named = _named(output)
            names = list(row) if kept is None else kept
            kept = [name for name in names if name in named and _same(named[name], row[name], equal)]
    return tuple(kept or ())


def _named(value: Any) -> Mapping[str, Any]:
    """A record by its columns: a dictionary or a `Row`; anything else has none."""
    return value if isinstance(value, dict) else getattr(value, "asDict", dict)()


def _same(left: Any, right: Any, equal: Equality) -> bool:
    side = Side(())
    return not differ((left,), (right,), Pair(side, side), equal)
