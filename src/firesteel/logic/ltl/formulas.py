"""Formulas: one frozen class for each operator of the logic, and how formulas read.

This is LTLss (papers: sscheck) with `let`, with operators that have no bound, and with operators on the past. Users
make formulas with the functions in `operators`. What a formula means is in `monitor` (evaluation), `lengths` (how long
a trace it needs), `explain` (why a verdict is what it is) and `margin` (how far a trace is from breaking it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.logic.verdicts import Verdict
from firesteel.names import name_of
from firesteel.values.checks import Check

if TYPE_CHECKING:
    from firesteel.logic import pptl
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
        """A length from which every trace gets a definite verdict; None if there is none, or if it depends on data.

        >>> import firesteel as fs
        >>> fs.always(fs.next_(lambda x: x), during=3).required_length
        4
        """
        from firesteel.logic.ltl.lengths import required_length

        return required_length(self)

    @property
    def shortest_true(self) -> int:
        """No trace shorter than this can make the formula true, so shorter ones may be refused before a run.

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
    """A formula whose verdict is known; `check` remembers the records behind it."""

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


@dataclass(frozen=True, slots=True, repr=False)
class Intervals(Formula):
    """A formula of PPTL over predicates: it speaks of the instants from this one to the end of the trace."""

    formula: pptl.Formula
    predicates: tuple[Atom, ...]
    """A predicate for each of its names, in the order of the names."""
    automaton: pptl.Automaton = field(compare=False)
    premises: tuple[Implies, ...] = ()
    """The implications in it whose premise speaks of one instant only."""

    def __repr__(self) -> str:
        return f"pptl({str(self.formula)!r})"


PAST = (Previously, Once, Historically, Since)

TRUE: Formula = Constant(Verdict.TRUE)
FALSE: Formula = Constant(Verdict.FALSE)


def children(formula: Formula) -> tuple[Formula, ...]:
    """The formulas directly inside one. The bodies of `let` and `consume` are functions, so they are not among them."""
    match formula:
        case And(parts) | Or(parts):
            return parts
        case Not(body) | Next(body) | Always(body) | Eventually(body):
            return (body,)
        case Previously(body) | Once(body) | Historically(body):
            return (body,)
        case Implies(first, second) | Until(first, second) | Release(first, second) | Since(first, second):
            return (first, second)
        case Intervals(predicates=predicates, premises=premises):
            return (*predicates, *premises)
        case _:
            return ()


def postorder(formula: Formula) -> Iterable[Formula]:
    """A formula and all formulas inside it, inner ones first."""
    for child in children(formula):
        yield from postorder(child)
    yield formula


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
    raise InvalidArgument(f"{described(argument, value)} is not a formula: {_instead(value)}")


def _instead(value: Any) -> str:
    from firesteel.logic import pptl

    if isinstance(value, pptl.Formula):
        names = ", ".join(f"{name}=lambda now: ..." for name in sorted(value.names))
        return f"give a formula of PPTL its predicates first: fs.pptl({str(value)!r}{', ' * bool(names)}{names})"
    return "write a formula, True or False, or a function of the instant that returns a bool or a Check"


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
