"""What is left of a formula after some instants: the obligations that are still open, and how they are joined.

Conjunctions and disjunctions are flat, hold no part twice, and absorb: `a or (b and (a or c))` is `a or (b and c)`.
That is sound in three values because it uses only the laws of a distributive lattice.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

from firesteel.logic.ltl.formulas import PAST, Constant, Formula, postorder
from firesteel.logic.verdicts import Verdict

TRUE, FALSE = Verdict.TRUE, Verdict.FALSE

_OPPOSITE = {verdict: ~verdict for verdict in Verdict}

Left: TypeAlias = "Verdict | Formula | Open"
"""What is left of a formula: a verdict where it is settled (inconclusive only at the end of the trace), a formula that
starts at the next instant, or an open obligation."""


class Open:
    """What a formula that has started still waits for. `key` tells which ones say the same."""

    __slots__ = ("key",)
    key: Hashable


class Running(Open):
    """A bounded operator that has started; `last` is its last instant."""

    __slots__ = ("formula", "last")

    def __init__(self, formula: Formula, last: int) -> None:
        self.formula, self.last = formula, last
        self.key = (id(formula), last)


class Waiting(Open):
    """A formula that starts at a later instant."""

    __slots__ = ("formula", "start")

    def __init__(self, formula: Formula, start: int) -> None:
        self.formula, self.start = formula, start
        self.key = ("at", id(formula), start)


class Negated(Open):
    __slots__ = ("body",)

    def __init__(self, body: Left) -> None:
        self.body = body
        self.key = ("not", key_of(body))


class Both(Open):
    """All of these have to hold."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[Hashable, Left]) -> None:
        self.parts = parts
        self.key = ("and", frozenset(parts))


class Either(Open):
    """One of these has to hold."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[Hashable, Left]) -> None:
        self.parts = parts
        self.key = ("or", frozenset(parts))


class Promise(Open):
    """An implication whose premise is not settled yet."""

    __slots__ = ("asked", "premise", "then")

    def __init__(self, premise: Left, then: Left, asked: int) -> None:
        self.premise, self.then, self.asked = premise, then, asked
        self.key = ("implies", key_of(premise), key_of(then))


class Scope(Open):
    """A formula with operators on the past, and their cells."""

    __slots__ = ("cells", "left", "past")

    def __init__(self, left: Left, past: tuple[Formula, ...], cells: tuple[Any, ...]) -> None:
        self.left, self.past, self.cells = left, past, cells
        self.key = id(self)


def key_of(left: Left) -> Hashable:
    return left.key if isinstance(left, Open) else id(left)


def opened(formula: Formula) -> Left:
    """A formula about to start: with cells for its past if it looks back."""
    if isinstance(formula, Constant):
        return formula.verdict
    past = tuple(f for f in postorder(formula) if isinstance(f, PAST))
    return Scope(formula, past, (None,) * len(past)) if past else formula


# --- how they are joined ---


def both(parts: Iterable[Left]) -> Left:
    return _joined(parts, Both, neutral=TRUE, absorbing=FALSE)


def either(parts: Iterable[Left]) -> Left:
    return _joined(parts, Either, neutral=FALSE, absorbing=TRUE)


def _joined(parts: Iterable[Left], joint: type[Both] | type[Either], *, neutral: Verdict, absorbing: Verdict) -> Left:
    flat: dict[Hashable, Left] = {}
    nested = False
    for part in parts:
        if part is absorbing:
            return absorbing
        if part is neutral:
            continue
        if type(part) is joint:
            flat.update(part.parts)
        else:
            flat[key_of(part)] = part
    if len(flat) > 1:
        nested = any(type(part) is Both or type(part) is Either for part in flat.values())
    if nested:
        flat = _absorbed(flat, neutral)
    if not flat:
        return neutral
    return next(iter(flat.values())) if len(flat) == 1 else joint(flat)


def _absorbed(parts: dict[Hashable, Left], neutral: Verdict) -> dict[Hashable, Left]:
    """The parts, each simplified by what the others already say."""
    atoms = {key for key, part in parts.items() if type(part) is not Both and type(part) is not Either}
    result: dict[Hashable, Left] = {}
    for part in parts.values():
        simpler = _assuming(part, atoms, neutral) if type(part) is Both or type(part) is Either else part
        if simpler is not neutral:
            result[key_of(simpler)] = simpler
    return result


def _assuming(part: Left, keys: set[Hashable], value: Verdict) -> Left:
    """A conjunction or disjunction in which the parts named by `keys` have `value`."""
    if type(part) is not Both and type(part) is not Either:
        return value if key_of(part) in keys else part
    simpler = [_assuming(inner, keys, value) for inner in part.parts.values()]
    if all(new is old for new, old in zip(simpler, part.parts.values(), strict=True)):
        return part
    return both(simpler) if type(part) is Both else either(simpler)


def negated(left: Left) -> Left:
    if isinstance(left, Verdict):
        return _OPPOSITE[left]
    return left.body if isinstance(left, Negated) else Negated(left)
