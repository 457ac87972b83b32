"""Progression: what is left of a formula after an instant is what the rest of the trace has to satisfy.

Here are the rules for predicates, connectives and operators on the future; `past` has those for the past. Two things
keep the cost of a step to what is open, however long the trace is:

- a running operator keeps the index of its last instant instead of being rewritten with a smaller bound;
- every formula is progressed once an instant, however many obligations share it, so a predicate is asked once.

The end of the trace is one more letter, at which every predicate is inconclusive and every operator without a bound
closes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, TypeAlias

from firesteel.logic.ltl.asking import Memory, asked, body_formula
from firesteel.logic.ltl.formulas import (
    Always,
    And,
    Atom,
    Constant,
    Consume,
    Eventually,
    Formula,
    Implies,
    Let,
    Next,
    Not,
    Or,
    Release,
    Until,
)
from firesteel.logic.ltl.obligations import (
    Both,
    Either,
    Left,
    Negated,
    Promise,
    Running,
    Waiting,
    both,
    either,
    negated,
    opened,
)
from firesteel.logic.verdicts import Verdict

TRUE, FALSE, INCONCLUSIVE = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE

Rules: TypeAlias = "Mapping[type, Callable[[Any, Turn], Left]]"
"""For every kind of node, the function that makes what is left of it from the node and the turn."""

# The entry in `Turn.asked` for all implications that `let` and `consume` made.
_PASSING = 0


class Turn:
    """One instant, the rules of progression, and what is known about the instant."""

    __slots__ = ("asked", "ended", "flat", "index", "instant", "known", "lasting", "memory", "past", "rules", "seen")

    def __init__(self, rules: Rules, lasting: Set[int], memory: Memory | None) -> None:
        self.rules, self.memory = rules, memory
        self.instant: Any = None
        self.index = 0
        self.seen = 0
        self.ended = False
        # After the end of the trace all instants look alike, so a bound need not be counted down. Only operators on
        # the past still tell such instants apart.
        self.flat = False
        # id -> (node, what is left of it). The node is kept, so that no other can have its id during this turn.
        self.known: dict[int, tuple[Any, Left]] = {}
        self.past: dict[int, Left] = {}
        # Implication -> did its premise ever hold? Those made by `let` and `consume` do not last: they share an entry.
        self.asked: dict[int, bool] = {}
        self.lasting = lasting

    def next(self) -> None:
        self.index += 1
        if not self.ended:
            self.seen = self.index
        self.known.clear()

    def note(self, implication: int, held: bool) -> None:
        """The premise of this implication was asked for, and held or not."""
        key = implication if implication in self.lasting else _PASSING
        self.asked[key] = held or self.asked.get(key, False)

    def met(self, implication: int) -> bool:
        """Did the premise of this implication hold at an earlier instant?"""
        return self.asked.get(implication, False)

    def end(self) -> None:
        self.instant = None
        self.ended = self.flat = True

    def inner(self) -> Turn:
        """The same instant, for a scope with a past of its own."""
        turn = Turn(self.rules, self.lasting, self.memory)
        turn.instant, turn.index, turn.ended, turn.asked = self.instant, self.index, self.ended, self.asked
        return turn


def progress(node: Left, turn: Turn) -> Left:
    """What is left of a node after this instant."""
    kind = type(node)
    if kind is Verdict:
        return node
    known = turn.known.get(id(node))
    if known is not None:
        return known[1]
    left = turn.rules[kind](node, turn)
    turn.known[id(node)] = (node, left)
    return left


def _constant(node: Constant, turn: Turn) -> Left:
    return node.verdict


def _atom(node: Atom, turn: Turn) -> Left:
    if turn.ended:
        return INCONCLUSIVE
    answer = asked(node, turn.instant, turn.index)
    if turn.memory is not None:
        turn.memory.answers[id(node), turn.index] = (node, answer)
    return TRUE if answer else FALSE


def _not(node: Not | Negated, turn: Turn) -> Left:
    return negated(progress(node.body, turn))


def _and(node: And, turn: Turn) -> Left:
    return both(_up_to(FALSE, node.parts, turn))


def _or(node: Or, turn: Turn) -> Left:
    return either(_up_to(TRUE, node.parts, turn))


def _open_both(node: Both, turn: Turn) -> Left:
    return both(_up_to(FALSE, node.parts.values(), turn))


def _open_either(node: Either, turn: Turn) -> Left:
    return either(_up_to(TRUE, node.parts.values(), turn))


def _up_to(stop: Verdict, parts: Iterable[Left], turn: Turn) -> list[Left]:
    """The parts progressed, up to the first one that is `stop`: it settles the whole, so nothing after it is asked."""
    done: list[Left] = []
    for part in parts:
        left = progress(part, turn)
        done.append(left)
        if left is stop:
            break
    return done


def _implies(node: Implies, turn: Turn) -> Left:
    return _promised(progress(node.premise, turn), node.then, id(node), turn)


def _promise(node: Promise, turn: Turn) -> Left:
    return _promised(progress(node.premise, turn), node.then, node.asked, turn)


def _promised(premise: Left, then: Left, asked: int, turn: Turn) -> Left:
    asked = asked if asked in turn.lasting else _PASSING
    turn.asked.setdefault(asked, False)
    if premise is FALSE:
        return TRUE
    left = progress(then, turn)
    if premise is TRUE:
        turn.asked[asked] = True
        return left
    if left is TRUE:
        # The premise may still come true; not knowing that must not make the implication look as if it said nothing.
        turn.asked[asked] = True
        return TRUE
    if premise is INCONCLUSIVE:
        return either((INCONCLUSIVE, left))
    return Promise(premise, left, asked)


def _next(node: Next, turn: Turn) -> Left:
    if turn.flat:
        return progress(node.body, turn)
    if node.times == 1:
        return node.body
    return Waiting(node.body, turn.index + node.times)


def _waiting(node: Waiting, turn: Turn) -> Left:
    return progress(node.formula, turn) if turn.flat or turn.index == node.start else node


def _temporal(node: Always | Eventually | Until | Release, turn: Turn) -> Left:
    """An operator that starts at this instant."""
    rest: Left | None
    if node.bound is None:
        if turn.ended:
            return TRUE if isinstance(node, (Always, Release)) else FALSE
        rest = node
    elif node.bound == 1 or turn.flat:
        rest = None
    else:
        rest = Running(node, turn.index + node.bound - 1)
    return _UNFOLD[type(node)](node, rest, turn)


def _running(node: Running, turn: Turn) -> Left:
    rest = None if turn.flat or turn.index == node.last else node
    return _UNFOLD[type(node.formula)](node.formula, rest, turn)


# How each operator unfolds into what has to hold now and the rest. At its last instant there is no rest.


def _always(node: Always, rest: Left | None, turn: Turn) -> Left:
    now = progress(node.body, turn)
    if rest is None or now is FALSE:
        return now
    return rest if now is TRUE else both((now, rest))


def _eventually(node: Eventually, rest: Left | None, turn: Turn) -> Left:
    now = progress(node.body, turn)
    if rest is None or now is TRUE:
        return now
    return rest if now is FALSE else either((now, rest))


def _until(node: Until, rest: Left | None, turn: Turn) -> Left:
    now = progress(node.then, turn)
    if rest is None or now is TRUE:
        return now
    return either((now, both((progress(node.first, turn), rest))))


def _release(node: Release, rest: Left | None, turn: Turn) -> Left:
    now = progress(node.then, turn)
    if rest is None or now is FALSE:
        return now
    return both((now, either((progress(node.first, turn), rest))))


def _let(node: Let, turn: Turn) -> Left:
    if turn.ended:
        return INCONCLUSIVE
    return progress(opened(_body(node, turn)), turn)


def _consume(node: Consume, turn: Turn) -> Left:
    if turn.ended:
        return INCONCLUSIVE
    return opened(_body(node, turn))


def _body(node: Let | Consume, turn: Turn) -> Formula:
    made = body_formula(node, turn.instant, turn.index)
    if turn.memory is not None:
        turn.memory.bodies[id(node), turn.index] = (node, made)
    return made


_UNFOLD: dict[type, Callable[[Any, Left | None, Turn], Left]] = {
    Always: _always,
    Eventually: _eventually,
    Until: _until,
    Release: _release,
}
RULES: Rules = {
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
    Running: _running,
    Waiting: _waiting,
    Negated: _not,
    Both: _open_both,
    Either: _open_either,
    Promise: _promise,
}
