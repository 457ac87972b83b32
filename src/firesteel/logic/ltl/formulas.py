"""Formulas: one frozen class per operator of the logic, the functions that make them, and how they read.

This is LTLss (papers: sscheck) with `let`, bounds left out, and operators on the past. What a formula means is in
`monitor` (evaluation), `lengths` (how long a trace it needs) and `explain`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument, PredicateError, described
from firesteel.logic.verdicts import Verdict
from firesteel.names import name_of
from firesteel.values.checks import Check

if TYPE_CHECKING:
    from firesteel.logic.ltl.explain import Reason
    from firesteel.logic.ltl.monitor import Monitor


class Formula:
    """A temporal property of a trace. Build one with `always`, `until`, `let` and the others; join with `&`, `|`, `~`.

    An instant may be any value:

    >>> import firesteel as fs
    >>> positive = fs.always(lambda x: x > 0, during=3)
    >>> positive
    always(x > 0, during=3)
    >>> positive.evaluate([1, 2, 3]), positive.evaluate([1, 2])
    (<Verdict.TRUE: 1>, <Verdict.INCONCLUSIVE: 0>)
    """

    __slots__ = ()

    def __and__(self, other: FormulaLike) -> Formula:
        return And(_parts(And, self, formula_of(other, "the right side of &")))

    def __rand__(self, other: FormulaLike) -> Formula:
        return And(_parts(And, formula_of(other, "the left side of &"), self))

    def __or__(self, other: FormulaLike) -> Formula:
        return Or(_parts(Or, self, formula_of(other, "the right side of |")))

    def __ror__(self, other: FormulaLike) -> Formula:
        return Or(_parts(Or, formula_of(other, "the left side of |"), self))

    def __invert__(self) -> Formula:
        return Not(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"the formula {self!r} has no truth value of its own: join formulas with &, | and ~ instead of "
            "`and`, `or` and `not`, and judge one with formula.evaluate(trace)"
        )

    def evaluate(self, trace: Iterable[Any]) -> Verdict:
        """The verdict on a finite trace, taken to its end.

        >>> import firesteel as fs
        >>> fs.eventually(lambda x: x == 3).evaluate([1, 2, 3])
        <Verdict.TRUE: 1>
        """
        monitor = self.monitor()
        for instant in trace:
            if monitor.step(instant).definite:
                return monitor.verdict
        return monitor.finish()

    def monitor(self) -> Monitor:
        """The formula being evaluated, instant by instant."""
        from firesteel.logic.ltl.monitor import Monitor

        return Monitor(self)

    def explain(self, trace: Iterable[Any], *, ended: bool = True) -> Reason:
        """Why the verdict on this trace is what it is: which sub-formula, at which instants, which records.

        `ended=False` says that the trace may go on, as while a monitor runs.

        >>> import firesteel as fs
        >>> reason = fs.always(lambda x: x > 0).explain([1, -2])
        >>> [(r.verdict.name, str(r.formula), r.at) for r in reason.leaves()]
        [('FALSE', 'x > 0', 1)]
        """
        from firesteel.logic.ltl.explain import explain

        return explain(self, trace, ended=ended)

    @property
    def required_length(self) -> int | None:
        """A length from which every trace gets a definite verdict; None where there is none, or it depends on data.

        >>> import firesteel as fs
        >>> fs.always(fs.next_(lambda x: x), during=3).required_length
        4
        """
        from firesteel.logic.ltl.lengths import required_length

        return required_length(self)

    @property
    def shortest_true(self) -> int:
        """No trace shorter than this can make the formula true: what may be refused before a run.

        >>> import firesteel as fs
        >>> fs.always(lambda x: x, during=3).shortest_true, fs.eventually(lambda x: x, within=3).shortest_true
        (3, 1)
        """
        from firesteel.logic.ltl.lengths import shortest_true

        return shortest_true(self)

    def __str__(self) -> str:
        return repr(self)


FormulaLike: TypeAlias = Formula | bool | Check | Callable[[Any], bool | Check]
"""What the operators take: a formula, a constant, or a predicate of the current instant."""


@dataclass(frozen=True, slots=True, repr=False)
class Constant(Formula):
    """A formula whose value is known; `check` remembers the records behind it."""

    verdict: Verdict
    check: Check | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return self.verdict.name


@dataclass(frozen=True, slots=True, repr=False)
class Atom(Formula):
    """A predicate of the current instant."""

    predicate: Callable[[Any], bool | Check]
    given_name: str | None = None

    @property
    def name(self) -> str:
        # Found only when it is shown: a lambda's text has to be read from its file, and `consume` makes many.
        return self.given_name if self.given_name is not None else name_of(self.predicate)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, repr=False)
class Not(Formula):
    body: Formula

    def __repr__(self) -> str:
        return f"not {_inside(self.body)}"


@dataclass(frozen=True, slots=True, repr=False)
class And(Formula):
    parts: tuple[Formula, ...]

    def __repr__(self) -> str:
        return " and ".join(map(_inside, self.parts))


@dataclass(frozen=True, slots=True, repr=False)
class Or(Formula):
    parts: tuple[Formula, ...]

    def __repr__(self) -> str:
        return " or ".join(map(_inside, self.parts))


@dataclass(frozen=True, slots=True, repr=False)
class Implies(Formula):
    premise: Formula
    then: Formula

    def __repr__(self) -> str:
        return f"{_inside(self.premise)} implies {_inside(self.then)}"


@dataclass(frozen=True, slots=True, repr=False)
class Next(Formula):
    body: Formula
    times: int = 1

    def __repr__(self) -> str:
        return f"next_({self.body!r}{'' if self.times == 1 else f', times={self.times}'})"


@dataclass(frozen=True, slots=True, repr=False)
class Always(Formula):
    body: Formula
    bound: int | None

    def __repr__(self) -> str:
        return f"always({self.body!r}{_bound('during', self.bound)})"


@dataclass(frozen=True, slots=True, repr=False)
class Eventually(Formula):
    body: Formula
    bound: int | None

    def __repr__(self) -> str:
        return f"eventually({self.body!r}{_bound('within', self.bound)})"


@dataclass(frozen=True, slots=True, repr=False)
class Until(Formula):
    first: Formula
    then: Formula
    bound: int | None

    def __repr__(self) -> str:
        return f"until({self.first!r}, {self.then!r}{_bound('within', self.bound)})"


@dataclass(frozen=True, slots=True, repr=False)
class Release(Formula):
    first: Formula
    then: Formula
    bound: int | None

    def __repr__(self) -> str:
        return f"release({self.first!r}, {self.then!r}{_bound('during', self.bound)})"


@dataclass(frozen=True, slots=True, repr=False)
class Let(Formula):
    body: Callable[[Any], FormulaLike]

    def __repr__(self) -> str:
        return f"let({name_of(self.body)})"


@dataclass(frozen=True, slots=True, repr=False)
class Consume(Formula):
    body: Callable[[Any], FormulaLike]

    def __repr__(self) -> str:
        return f"consume({name_of(self.body)})"


@dataclass(frozen=True, slots=True, repr=False)
class Previously(Formula):
    body: Formula

    def __repr__(self) -> str:
        return f"previously({self.body!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Once(Formula):
    body: Formula
    bound: int | None

    def __repr__(self) -> str:
        return f"once({self.body!r}{_bound('within', self.bound)})"


@dataclass(frozen=True, slots=True, repr=False)
class Historically(Formula):
    body: Formula
    bound: int | None

    def __repr__(self) -> str:
        return f"historically({self.body!r}{_bound('during', self.bound)})"


@dataclass(frozen=True, slots=True, repr=False)
class Since(Formula):
    holds: Formula
    after: Formula
    bound: int | None

    def __repr__(self) -> str:
        return f"since({self.holds!r}, {self.after!r}{_bound('within', self.bound)})"


PAST = (Previously, Once, Historically, Since)

TRUE: Formula = Constant(Verdict.TRUE)
FALSE: Formula = Constant(Verdict.FALSE)
UNKNOWN: Formula = Constant(Verdict.INCONCLUSIVE)


def children(formula: Formula) -> tuple[Formula, ...]:
    """The formulas directly inside one; the bodies of `let` and `consume` are functions and not among them."""
    match formula:
        case And(parts) | Or(parts):
            return parts
        case Not(body) | Next(body) | Always(body) | Eventually(body) | Previously(body) | Once(body):
            return (body,)
        case Historically(body):
            return (body,)
        case Implies(first, second) | Until(first, second) | Release(first, second) | Since(first, second):
            return (first, second)
        case _:
            return ()


def postorder(formula: Formula) -> Iterable[Formula]:
    """A formula and all inside it, inner ones first."""
    for child in children(formula):
        yield from postorder(child)
    yield formula


# --- the functions that users call ---------------------------------------------------------------


def now(predicate: Callable[[Any], bool | Check], *, name: str | None = None) -> Formula:
    """A predicate of the current instant. Also a decorator: the function's name becomes the formula's.

    >>> import firesteel as fs
    >>> @fs.now
    ... def is_positive(x):
    ...     return x > 0
    >>> fs.always(is_positive)
    always(is_positive)
    """
    if isinstance(predicate, Formula) or not callable(predicate):
        raise InvalidArgument(
            f"{described('predicate', predicate)} is no function: write fs.now(lambda now: ...), a function of the "
            "instant that returns a bool or a Check"
        )
    return Atom(predicate, name)


def let(body: Callable[[Any], FormulaLike]) -> Formula:
    """Hand the current instant to a function; the formula it returns starts at this same instant.

    Operators on the past inside that formula remember from this instant on.

    >>> import firesteel as fs
    >>> grows = fs.always(fs.let(lambda x: fs.next_(lambda y: y > x)), during=2)
    >>> grows.evaluate([1, 2, 3]), grows.evaluate([1, 2, 2])
    (<Verdict.TRUE: 1>, <Verdict.FALSE: -1>)
    """
    return Let(_function(body, "let"))


def consume(body: Callable[[Any], FormulaLike]) -> Formula:
    """Hand the current instant to a function; the formula it returns starts at the next instant (the paper's operator).

    >>> import firesteel as fs
    >>> fs.consume(lambda x: fs.always(lambda y: y > x, during=x + 1)).evaluate([1, 2, 3])
    <Verdict.TRUE: 1>
    """
    return Consume(_function(body, "consume"))


def next_(formula: FormulaLike, *, times: int = 1) -> Formula:
    """The formula holds at the next instant (or `times` instants on).

    >>> import firesteel as fs
    >>> fs.next_(lambda x: x == 3, times=2).evaluate([1, 2, 3])
    <Verdict.TRUE: 1>
    """
    return Next(formula_of(formula), _count(times, "times"))


def always(formula: FormulaLike, *, during: int | None = None) -> Formula:
    """The formula holds at this instant and the following ones: `during` of them, or all to the end of the trace.

    >>> import firesteel as fs
    >>> fs.always(lambda x: x > 0).evaluate([1, 2, 3])
    <Verdict.TRUE: 1>
    """
    return Always(formula_of(formula), _limit(during, "during"))


def eventually(formula: FormulaLike, *, within: int | None = None) -> Formula:
    """The formula holds at one of the instants from this one on: the first `within`, or any to the end of the trace.

    >>> import firesteel as fs
    >>> fs.eventually(lambda x: x > 2, within=2).evaluate([1, 2, 3])
    <Verdict.FALSE: -1>
    """
    return Eventually(formula_of(formula), _limit(within, "within"))


def until(first: FormulaLike, then: FormulaLike, *, within: int | None = None) -> Formula:
    """`then` holds at one of the instants, and `first` at every instant before it.

    >>> import firesteel as fs
    >>> fs.until(lambda x: x < 3, lambda x: x == 3, within=5).evaluate([1, 2, 3])
    <Verdict.TRUE: 1>
    """
    return Until(formula_of(first, "first"), formula_of(then, "then"), _limit(within, "within"))


def release(first: FormulaLike, then: FormulaLike, *, during: int | None = None) -> Formula:
    """`then` holds at every instant, up to and including one where `first` holds as well, if there is one.

    >>> import firesteel as fs
    >>> fs.release(lambda x: x == 2, lambda x: x < 3, during=5).evaluate([1, 2, 9])
    <Verdict.TRUE: 1>
    """
    return Release(formula_of(first, "first"), formula_of(then, "then"), _limit(during, "during"))


def implies(premise: FormulaLike, then: FormulaLike) -> Formula:
    """Where the premise holds, `then` does; `then` is not looked at where the premise is false.

    >>> import firesteel as fs
    >>> fs.implies(lambda x: x > 1, fs.next_(lambda x: x > 2)).evaluate([2, 3])
    <Verdict.TRUE: 1>
    """
    return Implies(formula_of(premise, "premise"), formula_of(then, "then"))


def previously(formula: FormulaLike) -> Formula:
    """The formula held at the instant before this one; false at the first.

    >>> import firesteel as fs
    >>> fs.next_(fs.previously(lambda x: x == 1)).evaluate([1, 2])
    <Verdict.TRUE: 1>
    """
    return Previously(formula_of(formula))


def once(formula: FormulaLike, *, within: int | None = None) -> Formula:
    """The formula holds now or held before: in the last `within` instants (this one counts), or since the start.

    >>> import firesteel as fs
    >>> banned_stays = fs.always(fs.implies(fs.once(lambda x: x == "ban"), lambda x: x != "login"))
    >>> banned_stays.evaluate(["login", "ban", "login"])
    <Verdict.FALSE: -1>
    """
    return Once(formula_of(formula), _limit(within, "within"))


def historically(formula: FormulaLike, *, during: int | None = None) -> Formula:
    """The formula holds now and held before: in the last `during` instants that there were, or since the start.

    >>> import firesteel as fs
    >>> fs.next_(fs.historically(lambda x: x > 0, during=2)).evaluate([1, 2])
    <Verdict.TRUE: 1>
    """
    return Historically(formula_of(formula), _limit(during, "during"))


def since(holds: FormulaLike, after: FormulaLike, *, within: int | None = None) -> Formula:
    """`after` holds now or held before, and `holds` at every instant after that one, up to now.

    >>> import firesteel as fs
    >>> open_since = fs.since(lambda x: x != "close", lambda x: x == "open")
    >>> fs.always(fs.implies(lambda x: x == "read", open_since)).evaluate(["open", "read", "close", "read"])
    <Verdict.FALSE: -1>
    """
    return Since(formula_of(holds, "holds"), formula_of(after, "after"), _limit(within, "within"))


# --- what users may pass -------------------------------------------------------------------------


def formula_of(value: FormulaLike, argument: str = "formula") -> Formula:
    """A formula from whatever an operator takes."""
    match value:
        case Formula():
            return value
        case bool():
            return TRUE if value else FALSE
        case Check():
            return Constant(Verdict.TRUE if value else Verdict.FALSE, value)
        case _ if callable(value):
            return Atom(value)
    raise InvalidArgument(
        f"{described(argument, value)} is no formula: write a formula, True or False, "
        "or a function of the instant that returns a bool or a Check"
    )


def truth(answer: Any, asked: Callable[[], str]) -> bool:
    """The bool in a predicate's answer; anything but a bool or a Check is refused."""
    if isinstance(answer, (bool, Check)) or _is_numpy_bool(answer):
        return bool(answer)
    raise PredicateError(f"{asked()} returned {described('answer', answer)}: {_instead(answer)}")


def _instead(answer: Any) -> str:
    if isinstance(answer, Formula):
        return "a predicate answers for one instant; to return a formula, write fs.let(...) or fs.consume(...)"
    if answer is None:
        return "it has to return a bool or a Check; is a `return` missing?"
    return "it has to return a bool or a Check; write bool(...) around it if that is what you mean"


def _is_numpy_bool(value: Any) -> bool:
    """Numpy's own bool is no bool to Python, yet what a comparison of pandas or numpy values gives."""
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


def body_formula(node: Let | Consume, instant: Any, index: int) -> Formula:
    """What the function inside `let` or `consume` makes of an instant."""
    try:
        made = node.body(instant)
    except Exception as error:
        raise PredicateError(f"{node!r} raised {error!r} at instant {index}") from error
    if _is_numpy_bool(made):
        made = bool(made)
    if not isinstance(made, (Formula, bool, Check)):
        raise PredicateError(
            f"{node!r} returned {described('answer', made)} at instant {index}: it has to return a formula, a bool or "
            "a Check" + ("; is a `return` missing?" if made is None else "")
        )
    return formula_of(made)


def _function(body: Any, operator_name: str) -> Callable[[Any], FormulaLike]:
    if isinstance(body, Formula) or not callable(body):
        raise InvalidArgument(
            f"{described('body', body)} is no function: write fs.{operator_name}(lambda now: ...), a function of the "
            "instant that returns a formula"
        )
    return body  # type: ignore[no-any-return]


def _limit(bound: Any, argument: str) -> int | None:
    if bound is None:
        return None
    return _count(
        bound, argument, "is not a bound: write a whole number from 1, or leave it out to mean the end of the stream"
    )


def _count(number: Any, argument: str, complaint: str = "is not a count: write a whole number from 1") -> int:
    if not isinstance(number, bool):
        try:
            whole = operator.index(number)
        except TypeError:
            whole = 0
        if whole >= 1:
            return whole
    raise InvalidArgument(f"{described(argument, number)} {complaint}")


def _parts(joint: type[And] | type[Or], *formulas: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction or disjunction, so that `a & b & c` has three."""
    return tuple(part for f in formulas for part in (f.parts if isinstance(f, joint) else (f,)))


# --- how formulas read ---------------------------------------------------------------------------


def _inside(formula: Formula) -> str:
    """A formula's text as a part of a larger one."""
    match formula:
        case And() | Or() | Implies() | Not():
            return f"({formula!r})"
        case Atom() if " " in formula.name:
            return f"({formula.name})"
        case _:
            return repr(formula)


def _bound(word: str, bound: int | None) -> str:
    return "" if bound is None else f", {word}={bound}"
