"""Streams from formulas: `from_formula` draws streams that satisfy a temporal formula of their batches.

This is definition 2.6 of the sscheck paper, with its misprints corrected. The paper writes the formula in next form
first; here it is unfolded instant by instant:

- a conjunction demands all of its parts, and what they generate at one instant is put together into one batch;
- a disjunction picks one of its parts, `eventually` and `until` pick an instant; all of them shrink to the first;
- an implication generates its consequent; if that can never be true, it generates what makes its premise false;
- an instant about which nothing is demanded has an empty batch;
- a formula of PPTL picks a way through its automaton, up to a few instants longer than it has to be;
- `let` and `consume` get the batch that was drawn for their instant, and what they return is demanded from then on.

A predicate says what a batch has to be like, not how to make one. So batches are drawn from `batches=` until one
satisfies all that is demanded of it; or the predicate brings its own batches, with `ss.holding`. Two predicates may
each hold for a batch of their own and fail when the two batches are put together. So the whole stream is judged at the
end, and kept only if the formula is true for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from firesteel.errors import InvalidArgument, described
from firesteel.logic.ltl.asking import body_formula
from firesteel.logic.ltl.formulas import (
    FALSE,
    PAST,
    TRUE,
    Always,
    And,
    Atom,
    Consume,
    Eventually,
    Formula,
    FormulaLike,
    Let,
    Not,
    Release,
    Until,
    formula_of,
    postorder,
)
from firesteel.logic.verdicts import Verdict
from firesteel.names import name_of
from firesteel.strategies.arguments import strategy_of
from firesteel.strategies.combinators import Batches, Streams
from firesteel.strategies.records import schema_of
from firesteel.strategies.unfolding import Walk, contradictory, positive_form, ways_of
from firesteel.values.batches import Batch, common_schema, make_batch, together, with_schema
from firesteel.values.checks import Check
from firesteel.values.streams import Stream, make_stream


def holding(predicate: Callable[[Batch], bool | Check], *, batches: Batches, name: str | None = None) -> Formula:
    """A predicate of a batch that knows how to make batches which satisfy it, for `ss.from_formula`.

    It is a formula like any other, and may be judged on batches too.

    >>> import firesteel as fs
    >>> from firesteel import strategies as ss
    >>> from hypothesis import find, strategies as st
    >>> ban = ss.holding(lambda batch: "ban" in batch, batches=st.just(fs.Batch(["ban"])), name="ban")
    >>> fs.eventually(ban, within=3)
    eventually(ban, within=3)
    >>> find(ss.from_formula(fs.eventually(ban, within=3)), lambda stream: len(stream) == 2)
    Stream(None, [[], ['ban']])
    """
    if isinstance(predicate, Formula) or not callable(predicate):
        raise InvalidArgument(
            f"{described('predicate', predicate)} is not a function: write a function of the batch that returns a bool "
            "or a Check"
        )
    strategy_of(batches, "batches", _EXAMPLE)
    return Atom(_Holding(predicate, batches), name if name is not None else name_of(predicate))


def from_formula(formula: FormulaLike, *, batches: Batches | None = None) -> Streams:
    """Streams of batches that satisfy a formula: every one that is drawn makes it true.

    Predicates take a batch. What batches are like is said by `batches`, or where the predicate is made, with
    `ss.holding`. If batches drawn from `batches` seldom satisfy a predicate, Hypothesis gives up: make that predicate
    with `ss.holding`. Operators need a bound, because a stream is finite. Operators on the past are refused.

    >>> import firesteel as fs
    >>> from firesteel import strategies as ss
    >>> from hypothesis import find, strategies as st
    >>> zeros = ss.batches(st.just(0), max_size=3)
    >>> few, many = fs.now(lambda batch: len(batch) < 2), fs.now(lambda batch: len(batch) >= 2)
    >>> find(ss.from_formula(fs.until(few, many, within=4), batches=zeros), lambda stream: len(stream) == 3)
    Stream(None, [[], [], [0, 0]])

    A later batch may depend on an earlier one:

    >>> grows = fs.consume(lambda one: fs.now(lambda two: len(two) > len(one)))
    >>> find(ss.from_formula(grows, batches=zeros), lambda stream: len(stream[0]) == 1)
    Stream(None, [[0], [0, 0]])

    >>> ss.from_formula(fs.always(few, during=3))
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: the predicate len(batch) < 2 does not say how to make batches: write \
ss.from_formula(formula, batches=ss.batches(...)), or make it with ss.holding(predicate, batches=...)
    """
    whole = formula_of(formula)
    if batches is not None:
        strategy_of(batches, "batches", _EXAMPLE)
    positive = positive_form(whole)
    _refuse(positive, batches)
    if contradictory(positive):
        raise InvalidArgument(
            f"{described('formula', whole)} is a contradiction: every way to draw a stream needs something that is "
            "never true, or a predicate that both holds and does not hold at one instant (of an implication, the "
            "consequent is drawn)"
        )
    return _from_formula(_Request(whole, positive, batches))


_EXAMPLE = "a strategy of batches, such as ss.batches(...)"


@dataclass(frozen=True, eq=False)
class _Holding:
    """A predicate, with the batches that it is drawn from."""

    predicate: Callable[[Any], bool | Check]
    batches: SearchStrategy[Any]

    def __call__(self, batch: Any) -> bool | Check:
        return self.predicate(batch)


# --- what is refused ---------------------------------------------------------------------------------------------


def _refuse(formula: Formula, batches: Batches | None) -> None:
    """Refuse a positive formula that nothing can be drawn from, with the part that is to blame."""
    holdings = any(map(_makes, postorder(formula)))
    for part in postorder(formula):
        match part:
            case Not(Atom() as atom) if batches is None and _makes(atom):
                raise InvalidArgument(
                    f"the formula needs a batch that is not {atom.name}, and ss.holding makes only batches that are: "
                    "write ss.from_formula(formula, batches=ss.batches(...)) to draw others from"
                )
            case _ if isinstance(part, PAST):
                raise InvalidArgument(
                    f"{part!r} looks back, and streams are drawn forwards: say it of the instants to come, with "
                    "fs.always, fs.until or fs.consume"
                )
            case Always(bound=None) | Release(bound=None):
                raise _unbounded(part, "during")
            case Eventually(bound=None) | Until(bound=None):
                raise _unbounded(part, "within")
            case Atom() if batches is None and not _makes(part):
                raise _no_batches(part)
            case Walk(predicates) if batches is None:
                for atom in predicates:
                    if not _makes(atom):
                        raise _no_batches(atom)
            case Let() | Consume() if batches is None and not holdings:
                raise InvalidArgument(f"{part!r} does not say how to make the batch that its function gets: {_GIVE}")


def _no_batches(atom: Atom) -> InvalidArgument:
    return InvalidArgument(f"the predicate {atom.name} does not say how to make batches: {_GIVE}")


def _unbounded(part: Formula, argument: str) -> InvalidArgument:
    return InvalidArgument(
        f"{part!r} has no bound, and a stream that is drawn has to end: write {argument}=n, a whole number from 1"
    )


_GIVE = "write ss.from_formula(formula, batches=ss.batches(...)), or make it with ss.holding(predicate, batches=...)"


# --- how it is drawn ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class _Request:
    """What was asked for in one call of `from_formula`."""

    formula: Formula
    positive: Formula
    batches: SearchStrategy[Any] | None

    def __repr__(self) -> str:
        return repr(self.formula)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # else Hypothesis would list the fields of a dataclass


@st.composite
def _from_formula(draw: DrawFn, request: _Request) -> Stream:
    agenda: dict[int, list[Formula]] = {0: [request.positive]}
    batches: list[Batch] = []
    while agenda:
        index = len(batches)
        drawn = _Instant(draw, request, index)
        drawn.satisfy(agenda.pop(index, []))
        for later, demands in drawn.later.items():
            agenda.setdefault(index + later, []).extend(demands)
        batches.append(drawn.batch)
    known = None if request.batches is None else schema_of(request.batches)
    schema = common_schema([known, *(batch.schema for batch in batches)])
    stream = make_stream([with_schema(batch, schema) for batch in batches], schema)
    if request.formula.evaluate(stream) is not Verdict.TRUE:
        reject()
    return stream


class _Instant:
    """One instant while its batch is drawn: what is demanded of it, and of the instants after it."""

    def __init__(self, draw: DrawFn, request: _Request, index: int) -> None:
        self._draw = draw
        self._request = request
        self._index = index
        self._demanded: list[Formula] = []
        self._drawn = False
        self.batch = make_batch((), None)
        self.later: dict[int, list[Formula]] = {}

    def satisfy(self, formulas: Iterable[Formula]) -> None:
        """Draws a batch that satisfies the formulas; what `let` returns of it may demand more of the same batch."""
        predicates: list[Formula] = []
        bodies = list(self._unfold(formulas, predicates))
        if predicates or (bodies and not self._drawn):
            self._extend(predicates)
        for node, negated in bodies:
            positive = positive_form(body_formula(node, self.batch, self._index), negated)
            _refuse(positive, self._request.batches)
            if positive == FALSE:
                reject()
            if isinstance(node, Let):
                self.satisfy([positive])
            elif positive != TRUE:
                self.later.setdefault(1, []).append(positive)

    def _unfold(self, formulas: Iterable[Formula], predicates: list[Formula]) -> Iterator[tuple[Let | Consume, bool]]:
        """Picks a way for every formula, until only predicates are left, and functions (and whether to negate them)."""
        todo = list(formulas)[::-1]
        while todo:
            formula = todo.pop()
            ways = ways_of(formula)
            match formula:
                case _ if ways is not None:
                    way = 0 if ways.number == 1 else self._draw(st.integers(0, ways.number - 1))
                    for later, part in ways.demands(way):
                        if later:
                            self.later.setdefault(later, []).append(part)
                        else:
                            todo.append(part)
                case Let() | Consume():
                    yield formula, False
                case Not(Let() | Consume() as body):
                    yield body, True
                case Atom() | Not():
                    predicates.append(formula)

    def _extend(self, predicates: list[Formula]) -> None:
        """Adds records to the batch, so that it satisfies what is newly demanded."""
        made = [
            self._from(part.predicate.batches, "ss.holding", [part])
            for part in predicates
            if isinstance(part, Atom) and isinstance(part.predicate, _Holding)
        ]
        if made:
            self.batch, self._drawn = together([self.batch, *made]), True
        self._demanded += predicates
        # What predicates bring is enough where it satisfies all of them; else it takes records of `batches` too.
        if self._drawn and self._holds(self._demanded, self.batch):
            return
        if self._request.batches is None:
            if predicates and not self._drawn and self._holds(self._demanded, self.batch):
                return  # nothing is to hold, and nothing holds for the empty batch
            if not predicates and not self._drawn:
                raise InvalidArgument(f"nothing says what batch the function of let or consume gets: {_GIVE}")
            reject()
        self.batch = self._from(self._request.batches, "batches", self._demanded, beside=self.batch)
        self._drawn = True

    def _from(
        self, strategy: SearchStrategy[Any], argument: str, demanded: list[Formula], beside: Batch | None = None
    ) -> Batch:
        """A batch of the strategy that, beside another one, satisfies what is demanded."""

        def with_others(drawn: Any) -> Batch:
            if not isinstance(drawn, Batch):
                raise InvalidArgument(
                    f"{argument} drew {described('value', drawn)}, where a batch is meant: make batches with "
                    "ss.batches(elements)"
                )
            return together([beside, drawn]) if beside else drawn

        return self._draw(strategy.map(with_others).filter(lambda batch: self._holds(demanded, batch)))

    def _holds(self, demanded: list[Formula], batch: Batch) -> bool:
        return And(tuple(demanded)).evaluate([batch]) is Verdict.TRUE if demanded else True


def _makes(formula: Formula) -> bool:
    return isinstance(formula, Atom) and isinstance(formula.predicate, _Holding)
