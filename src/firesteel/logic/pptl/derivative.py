"""The derivative: what a term says when one more state is read.

Reading a state turns a term into two answers: does it hold if the trace ends with this state, and what does the rest of
the trace have to satisfy if it goes on? Each operator has one rule. It names the terms whose answers it needs, and says
how to join these answers. The rule is the same for one concrete state (`Reader`) and for all states at once
(`automata`, with decision diagrams).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from firesteel.logic.pptl.terms import Kind, Term, Terms


class Answer(NamedTuple):
    """What a term says of a state: does it hold if this is the last one, and what has the rest to satisfy if not?"""

    ends: bool
    rest: Term


Rule: TypeAlias = tuple[tuple[Term, ...], Callable[..., Answer]]
"""The terms whose answers are needed, and how they are joined."""


def rule(term: Term, terms: Terms) -> Rule:
    """The rule for a term that is neither a name nor a state of an automaton: these are looked up."""
    return _RULES[term.kind](term, terms, *term.args)


def _constant(term: Term, terms: Terms) -> Rule:
    return (), lambda: Answer(term is terms.true, term)


def _empty(term: Term, terms: Terms) -> Rule:
    return (), lambda: Answer(True, terms.false)


def _more(term: Term, terms: Terms) -> Rule:
    return (), lambda: Answer(False, terms.true)


def _length(term: Term, terms: Terms, number: int) -> Rule:
    return (), lambda: Answer(False, terms.length(number - 1))


def _not(term: Term, terms: Terms, body: Term) -> Rule:
    return (body,), lambda a: Answer(not a.ends, terms.negation(a.rest))


def _and(term: Term, terms: Terms, *parts: Term) -> Rule:
    return parts, lambda *answers: Answer(all(a.ends for a in answers), terms.both(a.rest for a in answers))


def _or(term: Term, terms: Terms, *parts: Term) -> Rule:
    return parts, lambda *answers: Answer(any(a.ends for a in answers), terms.either(a.rest for a in answers))


def _next(term: Term, terms: Terms, body: Term) -> Rule:
    return (), lambda: Answer(False, body)


def _weak_next(term: Term, terms: Terms, body: Term) -> Rule:
    return (), lambda: Answer(True, body)


def _always(term: Term, terms: Terms, body: Term) -> Rule:
    return (body,), lambda a: Answer(a.ends, terms.both((a.rest, term)))


def _eventually(term: Term, terms: Terms, body: Term) -> Rule:
    return (body,), lambda a: Answer(a.ends, terms.either((a.rest, term)))


def _until(term: Term, terms: Terms, first: Term, then: Term) -> Rule:
    return (first, then), lambda a, b: Answer(b.ends, terms.either((b.rest, terms.both((a.rest, term)))))


def _release(term: Term, terms: Terms, first: Term, then: Term) -> Rule:
    return (first, then), lambda a, b: Answer(b.ends, terms.both((b.rest, terms.either((a.rest, term)))))


def _chop(term: Term, terms: Terms, first: Term, then: Term) -> Rule:
    def joined(a: Answer, b: Answer) -> Answer:
        longer = terms.chop(a.rest, then)
        return Answer(a.ends and b.ends, terms.either((longer, b.rest)) if a.ends else longer)

    return (first, then), joined


def _star(term: Term, terms: Terms, body: Term) -> Rule:
    return (body,), lambda a: Answer(True, terms.chop(a.rest, term))


def _power(term: Term, terms: Terms, body: Term, times: int) -> Rule:
    # A body that holds on every single state can be left out anywhere, so fewer repetitions say nothing new.
    optional = body.kind is Kind.OR and terms.empty in body.args

    def joined(a: Answer) -> Answer:
        # Where the body holds on this single state, any number of the repetitions may take no time.
        fewest = 0 if a.ends and not optional else times - 1
        rests = (terms.chop(a.rest, terms.power(body, left)) for left in range(times - 1, fewest - 1, -1))
        return Answer(a.ends, terms.either(rests))

    return (body,), joined


def _projection(term: Term, terms: Terms, parts: tuple[Term, ...], whole: Term) -> Rule:
    first, others = parts[0], parts[1:]

    def joined(a: Answer, whole_now: Answer, after: Answer) -> Answer:
        # The whole has read this state, where the first part starts. It goes on where that part ends; or it ended
        # here, and then the parts have to fill the interval.
        ways = [terms.chop(a.rest, terms.projection(others, whole_now.rest))]
        if whole_now.ends:
            ways.append(terms.chop(a.rest, terms.sequence(others)))
        if a.ends:
            ways.append(after.rest)
        return Answer(a.ends and after.ends, terms.either(ways))

    return (first, whole, terms.projection(others, whole)), joined


_RULES: dict[Kind, Callable[..., Rule]] = {
    Kind.TRUE: _constant,
    Kind.FALSE: _constant,
    Kind.EMPTY: _empty,
    Kind.MORE: _more,
    Kind.LEN: _length,
    Kind.NOT: _not,
    Kind.AND: _and,
    Kind.OR: _or,
    Kind.NEXT: _next,
    Kind.WEAK_NEXT: _weak_next,
    Kind.ALWAYS: _always,
    Kind.EVENTUALLY: _eventually,
    Kind.UNTIL: _until,
    Kind.RELEASE: _release,
    Kind.CHOP: _chop,
    Kind.STAR: _star,
    Kind.POWER: _power,
    Kind.PRJ: _projection,
}


class Reader:
    """Derivatives on concrete states. What was once asked is remembered."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._known: dict[tuple[Term, frozenset[str]], Answer] = {}

    def read(self, term: Term, state: frozenset[str]) -> Answer:
        """What the term says of a state, given as the names that hold in it."""
        key: Any = (term, state)
        answer = self._known.get(key)
        if answer is None:
            answer = self._known[key] = self._read(term, state)
        return answer

    def _read(self, term: Term, state: frozenset[str]) -> Answer:
        if term.kind is Kind.NAME:
            holds = term.args[0] in state
            return Answer(holds, self._terms.true if holds else self._terms.false)
        needed, joined = rule(term, self._terms)
        return joined(*(self.read(each, state) for each in needed))
