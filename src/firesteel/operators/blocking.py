"""`non_blocking`: does a port withhold rows until a record comes on another port?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from firesteel.evidence.operators import Different, Observed, Proof
from firesteel.operators.comparing import Side
from firesteel.operators.outcomes import Seen
from firesteel.operators.properties import About, Material, port_name
from firesteel.operators.question import Question
from firesteel.values.equality import Equality
from firesteel.values.records import canonical


def non_blocking_questions(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """A port puts out its rows without waiting for a record on the other port. (Rows made of both are no waiting.)

    An inner or an outer join has it. A semi join does not: it holds a row back until its key comes on the other side.
    """
    for group in material[-1:]:
        for port in range(len(group)):
            if group[port]:
                yield from _released(about, group, port)


def _released(about: About, group: Sequence[Any], port: int) -> Iterator[Question]:
    """Rows of one port alone; then with a record on the other; then with others in its place.

    What is released has to be the same whatever the record holds: else it is made of it.
    """
    other = 1 - port
    rng = Random(len(repr(group)))
    domain: Any = about.inputs.ports[other]
    names = [name for name, _ in about.inputs.columns[other]]
    keys = [names.index(str(each)) for each in about.operator.key]
    mine = [name for name, _ in about.inputs.columns[port]]
    key = tuple(group[port][0][mine.index(str(each))] for each in about.operator.key)

    def record() -> tuple[Any, ...]:
        row = list(group[other][0]) if group[other] and rng.random() < 0.3 else list(domain.random(rng))
        for place, value in zip(keys, key, strict=True):
            row[place] = value
        return tuple(row)

    def fed(rows: tuple[Any, ...]) -> tuple[Any, ...]:
        both: list[Any] = [(), ()]
        both[port], both[other] = tuple(group[port]), rows
        return (tuple(both),)

    sides = [Side(fed(()))] + [Side(fed((record(),))) for _ in range(4)]
    plain = {name for name in names if name not in about.operator.key}
    carried = [
        canonical(value)
        for row in group[port]
        for name, value in zip(mine, row, strict=True)
        if name not in about.operator.key
    ]

    def judge(seen: Sequence[Seen]) -> Proof | None:
        outputs = [side.look.at(each) for side, each in zip(sides, seen, strict=True)]
        if any(each is None for each in outputs):
            return None
        before, *after = (Counter(map(canonical, each or ())) for each in outputs)
        released = [each - before for each in after]
        telling = [number for number, each in enumerate(released) if each]
        if len({sides[number + 1].run for number in telling}) < 2 or any(before - each for each in after):
            return None
        first = released[telling[0]]
        if any(released[number] != first for number in telling):
            return None
        shown = telling[0] + 1
        rows = [row for row in outputs[shown] or () if canonical(row) in first]
        if not all(isinstance(row, dict) for row in rows) or any(plain & (row.keys() - set(mine)) for row in rows):
            return None  # a row with a column of the other port is made of both
        if not any(canonical(value) in carried for row in rows for value in row.values()):
            return None
        return Different(
            Observed(sides[0].run, outputs[0] or ()),
            Observed(sides[shown].run, outputs[shown] or ()),
        )

    yield Question(tuple(sides), judge, port_name(about, port))
