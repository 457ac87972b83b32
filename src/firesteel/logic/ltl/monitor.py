"""The monitor: a formula being evaluated instant by instant.

Evaluation is by progression: what is left of the formula after an instant is what the rest of the trace has to
satisfy. It is the paper's lazy next form and letter simplification in one step (`tests/logic/next_form.py` has
them as written), arranged so that a step costs what is open, and never more because the trace got longer:

- a running operator keeps the index of its last instant instead of being rewritten with a smaller bound;
- every formula is progressed once an instant, however many obligations share it, so a predicate is asked once;
- conjunctions and disjunctions are flat, hold no part twice, and absorb (`a or (b and (a or c))` is `a or (b and c)`),
  which is sound in three values because it uses only the laws of a distributive lattice.

The end of the trace is one more letter, at which every predicate is inconclusive and every operator without a bound
closes. Operators on the past are cells of a scope: the formula itself, or what a `let` or `consume` returned.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Set
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from firesteel.errors import PredicateError
from firesteel.logic.ltl.formulas import (
    PAST,
    Always,
    And,
    Atom,
    Constant,
    Consume,
    Eventually,
    Formula,
    Historically,
    Implies,
    Let,
    Next,
    Not,
    Once,
    Or,
    Previously,
    Release,
    Since,
    Until,
    body_formula,
    postorder,
    truth,
)
from firesteel.logic.verdicts import Verdict
from firesteel.values.checks import Check

TRUE, FALSE, INCONCLUSIVE = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE

_OPPOSITE = {verdict: ~verdict for verdict in Verdict}
_PASSING = 0

# What is left of a formula: a verdict where it is settled (inconclusive only at the end of the trace), a formula
# that starts at the next instant, or an open obligation of one of the classes below.
Left: TypeAlias = "Verdict | Formula | _Open"


@dataclass(frozen=True)
class Memory:
    """What the user's functions answered, so that they need not be asked again to explain a verdict.

    By the node's id and the instant; the node is kept, so that its id stays its own.
    """

    answers: dict[tuple[int, int], tuple[Atom, bool | Check]] = field(default_factory=dict)
    bodies: dict[tuple[int, int], tuple[Formula, Formula]] = field(default_factory=dict)


class Monitor:
    """Judges a formula while its trace comes in.

    `step` gives the verdict so far, `finish` the one at the end. A definite verdict never changes.

    >>> import firesteel as fs
    >>> monitor = fs.eventually(lambda x: x > 2).monitor()
    >>> monitor.step(1), monitor.step(3)
    (<Verdict.INCONCLUSIVE: 0>, <Verdict.TRUE: 1>)
    """

    def __init__(self, formula: Formula, *, memory: Memory | None = None) -> None:
        self.formula = formula
        self._implications = {id(f): f for f in postorder(formula) if isinstance(f, Implies)}
        self._turn = _Turn(self._implications.keys(), memory)
        self._left: Left = _opened(formula)
        self._finished = False

    @property
    def verdict(self) -> Verdict:
        """What is known so far."""
        return self._left if isinstance(self._left, Verdict) else INCONCLUSIVE

    @property
    def instants(self) -> int:
        """How many instants were judged: those after a definite verdict are not."""
        return self._turn.seen

    def step(self, instant: Any) -> Verdict:
        """Judge one more instant."""
        left = self._left
        if type(left) is Verdict:
            if self._finished:
                raise RuntimeError("this monitor is finished: start another one with formula.monitor()")
            return left
        turn = self._turn
        turn.instant = instant
        left = self._left = _progress(left, turn)
        turn.next()
        return left if type(left) is Verdict else INCONCLUSIVE

    def finish(self) -> Verdict:
        """The trace ends here. Operators without a bound close: `always` and `release` true, the others false.

        >>> import firesteel as fs
        >>> monitor = fs.always(lambda x: x > 0).monitor()
        >>> monitor.step(1), monitor.finish()
        (<Verdict.INCONCLUSIVE: 0>, <Verdict.TRUE: 1>)
        """
        turn = self._turn
        if not turn.ended:
            turn.end()
        while not isinstance(self._left, Verdict):
            self._left = _progress(self._left, turn)
            turn.next()
        self._finished = True
        return self._left

    @property
    def premises(self) -> dict[Implies | None, bool]:
        """For every implication that was asked, whether its premise ever held: if not, it said nothing.

        Implications made by `let` and `consume` are new at every instant; they count together, under None.

        >>> import firesteel as fs
        >>> monitor = fs.always(fs.implies(lambda x: x > 5, lambda x: x < 9)).monitor()
        >>> _ = monitor.step(1)
        >>> monitor.premises
        {(x > 5) implies (x < 9): False}
        """
        return {self._implications.get(node): held for node, held in self._turn.asked.items()}


class _Turn:
    """One instant, and what was found out about it."""

    __slots__ = ("asked", "ended", "flat", "index", "instant", "known", "lasting", "memory", "past", "seen")

    def __init__(self, lasting: Set[int], memory: Memory | None) -> None:
        self.memory = memory
        self.instant: Any = None
        self.index = 0
        self.seen = 0
        self.ended = False
        # At the end of the trace all instants to come look alike, so a bound need not be counted down;
        # only operators on the past still tell them apart.
        self.flat = False
        # id -> (node, what is left of it): the node is kept so that its id cannot be used again this turn.
        self.known: dict[int, tuple[Any, Left]] = {}
        self.past: dict[int, Left] = {}
        # Implication -> did its premise ever hold? Those made by `let` and `consume` do not last: one entry for all.
        self.asked: dict[int, bool] = {}
        self.lasting = lasting

    def next(self) -> None:
        self.index += 1
        if not self.ended:
            self.seen = self.index
        self.known.clear()

    def end(self) -> None:
        self.instant = None
        self.ended = self.flat = True

    def inner(self) -> _Turn:
        """The same instant, for a scope with a past of its own."""
        turn = _Turn(self.lasting, self.memory)
        turn.instant, turn.index, turn.ended, turn.asked = self.instant, self.index, self.ended, self.asked
        return turn


# --- open obligations ----------------------------------------------------------------------------


class _Open:
    """What a formula that has started still waits for. `key` tells which ones say the same."""

    __slots__ = ("key",)
    key: Hashable


class _Running(_Open):
    """A bounded operator that has started; `last` is its last instant."""

    __slots__ = ("formula", "last")

    def __init__(self, formula: Formula, last: int) -> None:
        self.formula, self.last = formula, last
        self.key = (id(formula), last)


class _Waiting(_Open):
    """A formula that starts at a later instant."""

    __slots__ = ("formula", "start")

    def __init__(self, formula: Formula, start: int) -> None:
        self.formula, self.start = formula, start
        self.key = ("at", id(formula), start)


class _Negated(_Open):
    __slots__ = ("body",)

    def __init__(self, body: Left) -> None:
        self.body = body
        self.key = ("not", _key(body))


class _Both(_Open):
    """All of these have to hold."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[Hashable, Left]) -> None:
        self.parts = parts
        self.key = ("and", frozenset(parts))


class _Either(_Open):
    """One of these has to hold."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[Hashable, Left]) -> None:
        self.parts = parts
        self.key = ("or", frozenset(parts))


class _Promise(_Open):
    """An implication whose premise is not settled yet."""

    __slots__ = ("asked", "premise", "then")

    def __init__(self, premise: Left, then: Left, asked: int) -> None:
        self.premise, self.then, self.asked = premise, then, asked
        self.key = ("implies", _key(premise), _key(then))


class _Scope(_Open):
    """A formula with operators on the past, and their cells."""

    __slots__ = ("cells", "left", "past")

    def __init__(self, left: Left, past: tuple[Formula, ...], cells: tuple[Any, ...]) -> None:
        self.left, self.past, self.cells = left, past, cells
        self.key = id(self)


def _key(left: Left) -> Hashable:
    return left.key if isinstance(left, _Open) else id(left)


def _opened(formula: Formula) -> Left:
    """A formula about to start: with cells for its past if it looks back."""
    if isinstance(formula, Constant):
        return formula.verdict
    past = tuple(f for f in postorder(formula) if isinstance(f, PAST))
    return _Scope(formula, past, (None,) * len(past)) if past else formula


# --- joining what is left --------------------------------------------------------------------------


def _both(parts: Iterable[Left]) -> Left:
    return _joined(parts, _Both, neutral=TRUE, absorbing=FALSE)


def _either(parts: Iterable[Left]) -> Left:
    return _joined(parts, _Either, neutral=FALSE, absorbing=TRUE)


def _joined(parts: Iterable[Left], joint: type[_Both] | type[_Either], *, neutral: Verdict, absorbing: Verdict) -> Left:
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
            flat[_key(part)] = part
    if len(flat) > 1:
        nested = any(type(part) is _Both or type(part) is _Either for part in flat.values())
    if nested:
        flat = _absorbed(flat, neutral)
    if not flat:
        return neutral
    return next(iter(flat.values())) if len(flat) == 1 else joint(flat)


def _absorbed(parts: dict[Hashable, Left], neutral: Verdict) -> dict[Hashable, Left]:
    """The parts, each simplified by what the others already say."""
    atoms = {key for key, part in parts.items() if type(part) is not _Both and type(part) is not _Either}
    result: dict[Hashable, Left] = {}
    for part in parts.values():
        simpler = _assuming(part, atoms, neutral) if type(part) is _Both or type(part) is _Either else part
        if simpler is not neutral:
            result[_key(simpler)] = simpler
    return result


def _assuming(part: Left, keys: set[Hashable], value: Verdict) -> Left:
    """A conjunction or disjunction in which the parts named by `keys` have `value`."""
    if type(part) is not _Both and type(part) is not _Either:
        return value if _key(part) in keys else part
    simpler = [_assuming(inner, keys, value) for inner in part.parts.values()]
    if all(new is old for new, old in zip(simpler, part.parts.values(), strict=True)):
        return part
    return _both(simpler) if type(part) is _Both else _either(simpler)


def _negated(left: Left) -> Left:
    if isinstance(left, Verdict):
        return _OPPOSITE[left]
    return left.body if isinstance(left, _Negated) else _Negated(left)


# --- one step ----------------------------------------------------------------------------------------


def _progress(node: Left, turn: _Turn) -> Left:
    """What is left of a node after this instant."""
    kind = type(node)
    if kind is Verdict:
        return node
    known = turn.known.get(id(node))
    if known is not None:
        return known[1]
    left = _STEP[kind](node, turn)
    turn.known[id(node)] = (node, left)
    return left


def _constant(node: Constant, turn: _Turn) -> Left:
    return node.verdict


def _atom(node: Atom, turn: _Turn) -> Left:
    if turn.ended:
        return INCONCLUSIVE
    try:
        answer = node.predicate(turn.instant)
    except Exception as error:
        raise PredicateError(f"the predicate {node.name} raised {error!r} at instant {turn.index}") from error
    if turn.memory is not None:
        turn.memory.answers[id(node), turn.index] = (node, answer)
    if answer is True:
        return TRUE
    if answer is False:
        return FALSE
    return TRUE if truth(answer, lambda: f"the predicate {node.name}, at instant {turn.index},") else FALSE


def _not(node: Not | _Negated, turn: _Turn) -> Left:
    return _negated(_progress(node.body, turn))


def _and(node: And, turn: _Turn) -> Left:
    return _both(_until(FALSE, node.parts, turn))


def _or(node: Or, turn: _Turn) -> Left:
    return _either(_until(TRUE, node.parts, turn))


def _open_both(node: _Both, turn: _Turn) -> Left:
    return _both(_until(FALSE, node.parts.values(), turn))


def _open_either(node: _Either, turn: _Turn) -> Left:
    return _either(_until(TRUE, node.parts.values(), turn))


def _until(stop: Verdict, parts: Iterable[Left], turn: _Turn) -> list[Left]:
    """The parts progressed, up to the first that settles the whole: `&` and `|` look no further."""
    done: list[Left] = []
    for part in parts:
        left = _progress(part, turn)
        done.append(left)
        if left is stop:
            break
    return done


def _implies(node: Implies, turn: _Turn) -> Left:
    return _promised(_progress(node.premise, turn), node.then, id(node), turn)


def _promise(node: _Promise, turn: _Turn) -> Left:
    return _promised(_progress(node.premise, turn), node.then, node.asked, turn)


def _promised(premise: Left, then: Left, asked: int, turn: _Turn) -> Left:
    asked = asked if asked in turn.lasting else _PASSING
    turn.asked.setdefault(asked, False)
    if premise is FALSE:
        return TRUE
    left = _progress(then, turn)
    if premise is TRUE:
        turn.asked[asked] = True
        return left
    if left is TRUE:
        # The premise may yet hold; that it is not known to must not make the property look empty.
        turn.asked[asked] = True
        return TRUE
    if premise is INCONCLUSIVE:
        return _either((INCONCLUSIVE, left))
    return _Promise(premise, left, asked)


def _next(node: Next, turn: _Turn) -> Left:
    if turn.flat:
        return _progress(node.body, turn)
    if node.times == 1:
        return node.body
    return _Waiting(node.body, turn.index + node.times)


def _waiting(node: _Waiting, turn: _Turn) -> Left:
    return _progress(node.formula, turn) if turn.flat or turn.index == node.start else node


def _temporal(node: Always | Eventually | Until | Release, turn: _Turn) -> Left:
    """An operator that starts at this instant."""
    rest: Left | None
    if node.bound is None:
        if turn.ended:
            return TRUE if isinstance(node, (Always, Release)) else FALSE
        rest = node
    elif node.bound == 1 or turn.flat:
        rest = None
    else:
        rest = _Running(node, turn.index + node.bound - 1)
    return _UNFOLD[type(node)](node, rest, turn)


def _running(node: _Running, turn: _Turn) -> Left:
    rest = None if turn.flat or turn.index == node.last else node
    return _UNFOLD[type(node.formula)](node.formula, rest, turn)


# How each operator unfolds into now and the rest; there is no rest at its last instant.


def _always(node: Always, rest: Left | None, turn: _Turn) -> Left:
    now = _progress(node.body, turn)
    if rest is None or now is FALSE:
        return now
    return rest if now is TRUE else _both((now, rest))


def _eventually(node: Eventually, rest: Left | None, turn: _Turn) -> Left:
    now = _progress(node.body, turn)
    if rest is None or now is TRUE:
        return now
    return rest if now is FALSE else _either((now, rest))


def _until_unfolded(node: Until, rest: Left | None, turn: _Turn) -> Left:
    now = _progress(node.then, turn)
    if rest is None or now is TRUE:
        return now
    return _either((now, _both((_progress(node.first, turn), rest))))


def _release(node: Release, rest: Left | None, turn: _Turn) -> Left:
    now = _progress(node.then, turn)
    if rest is None or now is FALSE:
        return now
    return _both((now, _either((_progress(node.first, turn), rest))))


def _let(node: Let, turn: _Turn) -> Left:
    if turn.ended:
        return INCONCLUSIVE
    return _progress(_opened(_body(node, turn)), turn)


def _consume(node: Consume, turn: _Turn) -> Left:
    if turn.ended:
        return INCONCLUSIVE
    return _opened(_body(node, turn))


def _body(node: Let | Consume, turn: _Turn) -> Formula:
    made = body_formula(node, turn.instant, turn.index)
    if turn.memory is not None:
        turn.memory.bodies[id(node), turn.index] = (node, made)
    return made


# --- the past ------------------------------------------------------------------------------------------


def _scope(node: _Scope, turn: _Turn) -> Left:
    inner = turn.inner()
    cells = []
    for formula, cell in zip(node.past, node.cells, strict=True):
        inner.past[id(formula)], after = _REMEMBER[type(formula)](formula, cell, inner)
        cells.append(after)
    left = _progress(node.left, inner)
    return left if isinstance(left, Verdict) else _Scope(left, node.past, tuple(cells))


def _remembered(node: Formula, turn: _Turn) -> Left:
    return turn.past[id(node)]


# A cell turns into the operator's value now and the cell for the next instant.


def _previously(node: Previously, cell: Left | None, turn: _Turn) -> tuple[Left, Left]:
    before = FALSE if cell is None else _progress(cell, turn)
    return before, _progress(node.body, turn)


# The cell of the others: the instants, oldest first, that may be the one looked for, each with what is left to know.
_Witnesses: TypeAlias = "tuple[tuple[int, Left], ...]"


def _once(node: Once, cell: _Witnesses | None, turn: _Turn) -> tuple[Left, _Witnesses]:
    witnesses = _witnesses(cell, _progress(node.body, turn), None, node.bound, turn)
    return _either(left for _, left in witnesses), witnesses


def _historically(node: Historically, cell: _Witnesses | None, turn: _Turn) -> tuple[Left, _Witnesses]:
    against = _witnesses(cell, _negated(_progress(node.body, turn)), None, node.bound, turn)
    return _negated(_either(left for _, left in against)), against


def _since(node: Since, cell: _Witnesses | None, turn: _Turn) -> tuple[Left, _Witnesses]:
    witnesses = _witnesses(cell, _progress(node.after, turn), node.holds if cell else None, node.bound, turn)
    return _either(left for _, left in witnesses), witnesses


def _witnesses(
    cell: _Witnesses | None, fresh: Left, holds: Formula | None, bound: int | None, turn: _Turn
) -> _Witnesses:
    kept: list[tuple[int, Left]] = []
    still = TRUE if holds is None else _progress(holds, turn)
    for start, left in cell or ():
        if bound is not None and turn.index - start >= bound:
            continue
        left = _both((_progress(left, turn), still))
        if left is not FALSE:
            kept.append((start, left))
    if fresh is not FALSE:
        kept.append((turn.index, fresh))
    if bound is None:
        return ((turn.index, _either(left for _, left in kept)),) if kept else ()
    # A younger witness that is certain outlives the older ones and says as much.
    certain = max((i for i, (_, left) in enumerate(kept) if left is TRUE), default=0)
    return tuple(kept[certain:])


_STEP: dict[type, Callable[[Any, _Turn], Left]] = {
    Constant: _constant,
    Atom: _atom,
    Not: _not,
    And: _and,
    Or: _or,
    Implies: _implies,
    Next: _next,
    Always: _temporal,
    Eventually: _temporal,
    Until: _temporal,
    Release: _temporal,
    Let: _let,
    Consume: _consume,
    Previously: _remembered,
    Once: _remembered,
    Historically: _remembered,
    Since: _remembered,
    _Running: _running,
    _Waiting: _waiting,
    _Negated: _not,
    _Both: _open_both,
    _Either: _open_either,
    _Promise: _promise,
    _Scope: _scope,
}
_UNFOLD: dict[type, Callable[[Any, Left | None, _Turn], Left]] = {
    Always: _always,
    Eventually: _eventually,
    Until: _until_unfolded,
    Release: _release,
}
_REMEMBER: dict[type, Callable[[Any, Any, _Turn], tuple[Left, Any]]] = {
    Previously: _previously,
    Once: _once,
    Historically: _historically,
    Since: _since,
}
