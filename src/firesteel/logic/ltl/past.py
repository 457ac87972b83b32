"""Operators on the past: each has a cell, in which it keeps what it has to know about the instants before.

The cells belong to a scope: the formula itself, or what a `let` or `consume` returned. Its past begins with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from firesteel.logic.ltl.formulas import Formula, Historically, Once, Previously, Since
from firesteel.logic.ltl.obligations import Left, Scope, both, either, negated
from firesteel.logic.ltl.progression import Rules, Turn, progress
from firesteel.logic.verdicts import Verdict

TRUE, FALSE = Verdict.TRUE, Verdict.FALSE


def _scope(node: Scope, turn: Turn) -> Left:
    inner = turn.inner()
    cells = remember(node.past, node.cells, inner)
    left = progress(node.left, inner)
    return left if isinstance(left, Verdict) else Scope(left, node.past, cells)


def remember(past: tuple[Formula, ...], cells: tuple[Any, ...], turn: Turn) -> tuple[Any, ...]:
    """The cells for the next instant. What the operators say at this one is in the turn then."""
    after = []
    for formula, cell in zip(past, cells, strict=True):
        turn.past[id(formula)], now = _REMEMBER[type(formula)](formula, cell, turn)
        after.append(now)
    return tuple(after)


def _remembered(node: Formula, turn: Turn) -> Left:
    return turn.past[id(node)]


# A cell turns into the operator's value now and the cell for the next instant.


def _previously(node: Previously, cell: Left | None, turn: Turn) -> tuple[Left, Left]:
    before = FALSE if cell is None else progress(cell, turn)
    return before, progress(node.body, turn)


# The cell of the other operators: the instants, oldest first, that may be the one that the operator looks for, each
# with what is still open about it.
_Witnesses: TypeAlias = "tuple[tuple[int, Left], ...]"


def _once(node: Once, cell: _Witnesses | None, turn: Turn) -> tuple[Left, _Witnesses]:
    witnesses = _witnesses(cell, progress(node.body, turn), None, node.bound, turn)
    return either(left for _, left in witnesses), witnesses


def _historically(node: Historically, cell: _Witnesses | None, turn: Turn) -> tuple[Left, _Witnesses]:
    against = _witnesses(cell, negated(progress(node.body, turn)), None, node.bound, turn)
    return negated(either(left for _, left in against)), against


def _since(node: Since, cell: _Witnesses | None, turn: Turn) -> tuple[Left, _Witnesses]:
    witnesses = _witnesses(cell, progress(node.after, turn), node.holds if cell else None, node.bound, turn)
    return either(left for _, left in witnesses), witnesses


def _witnesses(
    cell: _Witnesses | None, fresh: Left, holds: Formula | None, bound: int | None, turn: Turn
) -> _Witnesses:
    kept: list[tuple[int, Left]] = []
    still = TRUE if holds is None else progress(holds, turn)
    for start, left in cell or ():
        if bound is not None and turn.index - start >= bound:
            continue
        left = both((progress(left, turn), still))
        if left is not FALSE:
            kept.append((start, left))
    if fresh is not FALSE:
        kept.append((turn.index, fresh))
    if bound is None:
        return ((turn.index, either(left for _, left in kept)),) if kept else ()
    # A younger witness that is certain outlives the older ones, so they are no longer needed.
    certain = max((i for i, (_, left) in enumerate(kept) if left is TRUE), default=0)
    return tuple(kept[certain:])


_REMEMBER: dict[type, Callable[[Any, Any, Turn], tuple[Left, Any]]] = {
    Previously: _previously,
    Once: _once,
    Historically: _historically,
    Since: _since,
}
RULES: Rules = {
    Scope: _scope,
    Previously: _remembered,
    Once: _remembered,
    Historically: _remembered,
    Since: _remembered,
}
