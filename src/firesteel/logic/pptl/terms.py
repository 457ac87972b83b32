"""Terms: formulas in the few operators that `derivative` knows, each made once.

A term is made by a method of `Terms`, which simplifies: a term is a set of alternatives, each a set of terms that hold
together; negation stands only where it can go no further inwards; chop leans to the right and splits a disjunction on
its left. So terms that mean the same are often one object, and a formula leads to finitely many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from firesteel.logic.pptl import formulas as f
from firesteel.logic.pptl.formulas import Formula

if TYPE_CHECKING:
    from firesteel.logic.pptl.automata import Automaton


# A conjunction of disjunctions becomes a disjunction of conjunctions, unless there were more of these than this.
_MOST_CHOICES = 256


class Kind(Enum):
    """The operators of terms. `STATE` is what a state of an automaton still accepts; `LEN` has that many steps."""

    TRUE = auto()
    FALSE = auto()
    NAME = auto()
    EMPTY = auto()
    MORE = auto()
    LEN = auto()
    NOT = auto()
    AND = auto()
    OR = auto()
    NEXT = auto()
    WEAK_NEXT = auto()
    ALWAYS = auto()
    EVENTUALLY = auto()
    UNTIL = auto()
    RELEASE = auto()
    CHOP = auto()
    STAR = auto()
    POWER = auto()
    PRJ = auto()
    STATE = auto()


class Term:
    """A term; made by `Terms` only, so two terms that are built alike are the same object."""

    __slots__ = ("args", "kind", "order")

    def __init__(self, kind: Kind, args: tuple[Any, ...], order: int) -> None:
        self.kind, self.args, self.order = kind, args, order


class Terms:
    """Makes terms, and remembers which formula of the user a term came from."""

    def __init__(self, spend: Callable[[int], None] = lambda steps: None) -> None:
        """`spend` is told how much work goes into terms, and may refuse it."""
        self._spend = spend
        self._made: dict[tuple[Any, ...], Term] = {}
        self.written: dict[Term, Formula] = {}
        self.true, self.false = self._make(Kind.TRUE), self._make(Kind.FALSE)
        self.empty, self.more = self._make(Kind.EMPTY), self._make(Kind.MORE)

    def _make(self, kind: Kind, *args: Any) -> Term:
        key = (kind, *args)
        term = self._made.get(key)
        if term is None:
            term = self._made[key] = Term(kind, args, len(self._made))
        return term

    # --- operators ---

    def name(self, name: str) -> Term:
        return self._make(Kind.NAME, name)

    def state(self, automaton: Automaton, state: int) -> Term:
        """What a state still accepts. States that accept the same words of one letter and more are one term."""
        representative = automaton.alike[state]
        if representative in automaton.all:
            return self.true
        if representative in automaton.nothing:
            return self.false
        return self._make(Kind.STATE, automaton, representative)

    def length(self, number: int) -> Term:
        return self.empty if number == 0 else self._make(Kind.LEN, number)

    def negation(self, term: Term) -> Term:
        match term.kind:
            case Kind.TRUE:
                return self.false
            case Kind.FALSE:
                return self.true
            case Kind.EMPTY:
                return self.more
            case Kind.MORE:
                return self.empty
            case Kind.NOT:
                return term.args[0]  # type: ignore[no-any-return]
            case Kind.AND:
                return self.either(map(self.negation, term.args))
            case Kind.OR:
                return self.both(map(self.negation, term.args))
            case Kind.NEXT:
                return self.weak_next(self.negation(term.args[0]))
            case Kind.WEAK_NEXT:
                return self.next(self.negation(term.args[0]))
            case Kind.ALWAYS:
                return self.eventually(self.negation(term.args[0]))
            case Kind.EVENTUALLY:
                return self.always(self.negation(term.args[0]))
            case Kind.UNTIL:
                return self.release(*map(self.negation, term.args))
            case Kind.RELEASE:
                return self.until(*map(self.negation, term.args))
        return self._make(Kind.NOT, term)

    def both(self, terms: Iterable[Term]) -> Term:
        parts = self._parts(Kind.AND, terms, neutral=self.true, absorbing=self.false)
        if parts is None:
            return self.false
        # (a or b) and a is a
        choices = [part for part in parts if part.kind is Kind.OR and parts.isdisjoint(part.args)]
        parts = {part for part in parts if part.kind is not Kind.OR}
        ways = prod(len(choice.args) for choice in choices)
        if choices and ways <= _MOST_CHOICES:
            self._spend(ways)
            return self.either(self.both((*parts, *chosen)) for chosen in product(*(c.args for c in choices)))
        return self._set(Kind.AND, parts.union(choices), self.true)

    def either(self, terms: Iterable[Term]) -> Term:
        parts = self._parts(Kind.OR, terms, neutral=self.false, absorbing=self.true)
        if parts is None:
            return self.true
        # a or (a and b) is a
        clauses = {part: set(part.args) for part in parts if part.kind is Kind.AND}
        if clauses:
            self._spend(len(clauses) * len(clauses) // 16)
            parts = {
                part
                for part in parts
                if part.kind is not Kind.AND
                or not (
                    any(each in parts for each in part.args) or any(other < clauses[part] for other in clauses.values())
                )
            }
        return self._set(Kind.OR, parts, self.false)

    def _parts(self, kind: Kind, terms: Iterable[Term], *, neutral: Term, absorbing: Term) -> set[Term] | None:
        """The parts of a conjunction or disjunction; None where they make it what `absorbing` is."""
        parts: set[Term] = set()
        self._spend(1)
        for term in terms:
            if term is absorbing:
                return None
            if term.kind is kind:
                parts.update(term.args)
            elif term is not neutral:
                parts.add(term)
        if any(part.kind is Kind.NOT and part.args[0] in parts for part in parts):
            return None
        return None if self.empty in parts and self.more in parts else parts

    def _set(self, kind: Kind, parts: set[Term], neutral: Term) -> Term:
        if not parts:
            return neutral
        if len(parts) == 1:
            return next(iter(parts))
        return self._make(kind, *sorted(parts, key=lambda part: part.order))

    def next(self, term: Term) -> Term:
        match term.kind:
            case Kind.TRUE:
                return self.more
            case Kind.FALSE:
                return self.false
            case Kind.EMPTY:
                return self.length(1)
            case Kind.LEN:
                return self.length(term.args[0] + 1)
        return self._make(Kind.NEXT, term)

    def weak_next(self, term: Term) -> Term:
        match term.kind:
            case Kind.TRUE:
                return self.true
            case Kind.FALSE:
                return self.empty
        return self._make(Kind.WEAK_NEXT, term)

    def eventually(self, term: Term) -> Term:
        if term.kind in (Kind.TRUE, Kind.FALSE, Kind.EVENTUALLY):
            return term
        return self.true if term is self.empty else self._make(Kind.EVENTUALLY, term)

    def always(self, term: Term) -> Term:
        if term.kind in (Kind.TRUE, Kind.FALSE, Kind.ALWAYS):
            return term
        return self.false if term is self.more else self._make(Kind.ALWAYS, term)

    def until(self, first: Term, then: Term) -> Term:
        if then.kind in (Kind.TRUE, Kind.FALSE) or first is self.false:
            return then
        return self.eventually(then) if first is self.true else self._make(Kind.UNTIL, first, then)

    def release(self, first: Term, then: Term) -> Term:
        if then.kind in (Kind.TRUE, Kind.FALSE) or first is self.true:
            return then
        return self.always(then) if first is self.false else self._make(Kind.RELEASE, first, then)

    def chop(self, first: Term, then: Term) -> Term:
        if first is self.false or then is self.false:
            return self.false
        if first is self.empty:
            return then
        if then is self.empty:
            return first
        match first.kind:
            case Kind.TRUE:
                return self.eventually(then)
            case Kind.CHOP:
                return self.chop(first.args[0], self.chop(first.args[1], then))
            case Kind.OR:
                return self.either(self.chop(part, then) for part in first.args)
            case Kind.NEXT:
                return self.next(self.chop(first.args[0], then))
        return self._make(Kind.CHOP, first, then)

    def star(self, term: Term) -> Term:
        if term.kind in (Kind.TRUE, Kind.STAR):
            return term
        return self.empty if term.kind in (Kind.FALSE, Kind.EMPTY) else self._make(Kind.STAR, term)

    def power(self, term: Term, times: int) -> Term:
        if times == 0:
            return self.empty
        if times == 1 or term.kind in (Kind.TRUE, Kind.FALSE, Kind.EMPTY):
            return term
        if term.kind is Kind.LEN:
            return self.length(term.args[0] * times)
        return self._make(Kind.POWER, term, times)

    def projection(self, parts: tuple[Term, ...], whole: Term) -> Term:
        if whole is self.false or self.false in parts:
            return self.false
        parts = tuple(part for part in parts if part is not self.empty)
        if not parts:
            return whole
        return self._make(Kind.PRJ, parts, whole)

    def sequence(self, parts: tuple[Term, ...]) -> Term:
        """The parts one after another; no parts are a single state."""
        made = self.empty
        for part in reversed(parts):
            made = self.chop(part, made)
        return made

    # --- formulas ---

    def of(self, formula: Formula, inner: Callable[[Formula], Term] | None = None) -> Term:
        """A formula as a term; `inner` says what stands for the formulas directly inside it."""
        term = self._of(formula, inner or self.of)
        if term.kind not in (Kind.TRUE, Kind.FALSE):
            self.written.setdefault(term, formula)
        return term

    def _of(self, formula: Formula, of: Callable[[Formula], Term]) -> Term:
        match formula:
            case f.Constant(value):
                return self.true if value else self.false
            case f.Name(name):
                return self.name(name)
            case f.Empty():
                return self.empty
            case f.More():
                return self.more
            case f.Skip():
                return self.length(1)
            case f.Len(number):
                return self.length(number)
            case f.Not(body):
                return self.negation(of(body))
            case f.And(parts):
                return self.both(map(of, parts))
            case f.Or(parts):
                return self.either(map(of, parts))
            case f.Implies(premise, then):
                return self.either((self.negation(of(premise)), of(then)))
            case f.Iff(first, then):
                return self._same(of(first), of(then))
            case f.Next(body):
                return self.next(of(body))
            case f.WeakNext(body):
                return self.weak_next(of(body))
            case f.Always(body):
                return self.always(of(body))
            case f.Eventually(body):
                return self.eventually(of(body))
            case f.Until(first, then):
                return self.until(of(first), of(then))
            case f.Release(first, then):
                return self.release(of(first), of(then))
            case f.Chop(first, then):
                return self.chop(of(first), of(then))
            case f.Star(body):
                return self.star(of(body))
            case f.Repeat(body, times):
                return self.power(of(body), times)
            case f.Prj(parts, whole):
                return self.projection(tuple(map(of, parts)), of(whole))
            case f.Par(first, then):
                return self._parallel(of(first), of(then))
            case f.While(test, body):
                holds = of(test)
                return self.both((self.star(self.both((holds, of(body)))), self._at_the_end(self.negation(holds))))
            case f.Fin(body):
                return self._at_the_end(of(body))
            case f.Keep(body):
                return self.always(self.either((self.empty, of(body))))
            case f.Halt(body):
                return self.always(self._same(self.empty, of(body)))
        raise AssertionError(f"no term for {type(formula).__name__}")

    def _same(self, first: Term, then: Term) -> Term:
        neither = self.both((self.negation(first), self.negation(then)))
        return self.either((self.both((first, then)), neither))

    def _at_the_end(self, term: Term) -> Term:
        return self.always(self.either((self.more, term)))

    def _parallel(self, first: Term, then: Term) -> Term:
        return self.either(
            (
                self.both((first, self.chop(then, self.true))),
                self.both((self.chop(first, self.true), then)),
                self.both((first, then)),
            )
        )


def formula_of(term: Term, terms: Terms) -> Formula:
    """A term as a formula: in the words of the user where the term came from one."""
    written = terms.written.get(term)
    if written is None:
        written = terms.written[term] = _written(term, terms)
    return written


def _written(term: Term, terms: Terms) -> Formula:
    inner = [formula_of(arg, terms) for arg in term.args if isinstance(arg, Term)]
    match term.kind:
        case Kind.TRUE | Kind.FALSE:
            return f.Constant(term is terms.true)
        case Kind.EMPTY:
            return f.Empty()
        case Kind.MORE:
            return f.More()
        case Kind.NAME:
            return f.Name(term.args[0])
        case Kind.LEN:
            return f.Len(term.args[0])
        case Kind.AND:
            return f.And(tuple(inner))
        case Kind.OR:
            return f.Or(tuple(inner))
        case Kind.POWER:
            return f.Repeat(inner[0], term.args[1])
        case Kind.PRJ:
            return f.Prj(tuple(formula_of(part, terms) for part in term.args[0]), inner[0])
        case Kind.UNTIL | Kind.RELEASE | Kind.CHOP:
            return _TWO[term.kind](inner[0], inner[1])
    return _ONE[term.kind](inner[0])


_ONE: dict[Kind, Callable[[Formula], Formula]] = {
    Kind.NOT: f.Not,
    Kind.NEXT: f.Next,
    Kind.WEAK_NEXT: f.WeakNext,
    Kind.ALWAYS: f.Always,
    Kind.EVENTUALLY: f.Eventually,
    Kind.STAR: f.Star,
}
_TWO: dict[Kind, Callable[[Formula, Formula], Formula]] = {
    Kind.UNTIL: f.Until,
    Kind.RELEASE: f.Release,
    Kind.CHOP: f.Chop,
}
