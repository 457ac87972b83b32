"""Formulas of PPTL: one frozen class for each operator that can be written.

A formula speaks of an interval: the states from one position of a trace to another. Users make formulas with
`parse` (text) or with the functions in `operators`; `text` prints them. What a formula means is said once, in `terms`
and `derivative`: the operators here are turned into the few that these know.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument
from firesteel.logic.verdicts import Verdict

if TYPE_CHECKING:
    from firesteel.logic.pptl.automata import Automaton
    from firesteel.logic.pptl.explain import Explanation
    from firesteel.logic.pptl.monitor import Monitor
    from firesteel.logic.pptl.states import State

# Everything that reads a formula recurses into it, so its depth is limited, with a clear error instead of Python's.
DEEPEST = 100

CAP = 5_000
"""How many states an automaton may have while it is built, if nothing else is said."""


class Formula:
    """A property of an interval of states. Write one as text with `pptl.parse`, or with the functions in `pptl`.

    >>> from firesteel.logic import pptl
    >>> answered = pptl.parse("[] (request -> <> reply)")
    >>> answered.evaluate([{"request"}, set(), {"reply"}])
    <Verdict.TRUE: 1>

    `str` gives the text, `repr` the same formula as calls of functions:

    >>> print(answered)
    [] (request -> <> reply)
    >>> answered
    pptl.always(pptl.implies(pptl.name('request'), pptl.eventually(pptl.name('reply'))))
    """

    __slots__ = ("depth",)
    depth: int

    def __post_init__(self) -> None:
        depth = 1 + max((child.depth for child in children(self)), default=0)
        if depth > DEEPEST:
            raise InvalidArgument(
                f"a formula is nested {depth} deep, and {DEEPEST} is the most: use P^n, len(n), P* or names for parts"
            )
        object.__setattr__(self, "depth", depth)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def __str__(self) -> str:
        from firesteel.logic.pptl.text import text_of

        return text_of(self)

    def __repr__(self) -> str:
        from firesteel.logic.pptl.text import code_of

        return code_of(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"the formula {self} has no truth value of its own: join formulas with &, | and ~ instead of "
            "`and`, `or` and `not`, and judge one with formula.evaluate(trace)"
        )

    def __and__(self, other: FormulaLike) -> Formula:
        from firesteel.logic.pptl.operators import and_

        return and_(self, other)

    def __or__(self, other: FormulaLike) -> Formula:
        from firesteel.logic.pptl.operators import or_

        return or_(self, other)

    def __invert__(self) -> Formula:
        return Not(self)

    @property
    def names(self) -> frozenset[str]:
        """The names of the propositions in it.

        >>> from firesteel.logic import pptl
        >>> sorted(pptl.parse("p until q").names)
        ['p', 'q']
        """
        return frozenset(part.name for part in postorder(self) if isinstance(part, Name))

    def evaluate(self, trace: Iterable[State], *, names: Collection[str] = ()) -> Verdict:
        """The verdict on a complete trace: true or false. A trace has at least one state.

        A state is the set of names that hold in it, or a mapping of names to bools. A name that the formula does not
        have is an error, unless `names` declares it.

        >>> from firesteel.logic import pptl
        >>> even = pptl.parse("(p and len(2))* ; (p and empty or p and skip)")
        >>> even.evaluate([{"p"}, set(), {"p"}]), even.evaluate([{"p"}, {"p"}, set()])
        (<Verdict.TRUE: 1>, <Verdict.FALSE: -1>)
        """
        from firesteel.logic.pptl.evaluate import evaluate

        return evaluate(self, trace, names=names)

    def monitor(
        self, *, names: Collection[str] = (), exclusive: Iterable[Collection[str]] = (), cap: int = CAP
    ) -> Monitor:
        """The formula being judged state by state, with a verdict as soon as every continuation agrees.

        `exclusive` has groups of names of which at most one holds in a state: verdicts may come earlier with it, and a
        state that breaks it is an error. `cap` limits the states of the automaton.

        >>> from firesteel.logic import pptl
        >>> monitor = pptl.parse("[] p").monitor()
        >>> monitor.step({"p"}), monitor.step(set())
        (<Verdict.INCONCLUSIVE: 0>, <Verdict.FALSE: -1>)
        """
        from firesteel.logic.pptl.monitor import Monitor

        return Monitor(self, names=names, exclusive=exclusive, cap=cap)

    def automaton(self, *, exclusive: Iterable[Collection[str]] = (), cap: int = CAP) -> Automaton:
        """The smallest deterministic automaton of the formula. One that was built lately is not built again.

        >>> from firesteel.logic import pptl
        >>> len(pptl.parse("[] p").automaton())
        3
        """
        from firesteel.logic.pptl.automata import automaton

        return automaton(self, exclusive=exclusive, cap=cap)

    def explain(
        self,
        trace: Iterable[State],
        *,
        ended: bool = True,
        names: Collection[str] = (),
        exclusive: Iterable[Collection[str]] = (),
        cap: int = CAP,
    ) -> Explanation:
        """Why the verdict on a trace is what it is: the shortest prefix that decides, and what was open on the way.

        `ended=False` says that the trace may go on.

        >>> from firesteel.logic import pptl
        >>> why = pptl.parse("[] p and <> q").explain([{"p"}, set(), {"q"}])
        >>> why.verdict, why.prefix, [str(part) for part in why.failed]
        (<Verdict.FALSE: -1>, 2, ['[] p'])
        """
        from firesteel.logic.pptl.explain import explain

        return explain(self, trace, ended=ended, names=names, exclusive=exclusive, cap=cap)


FormulaLike: TypeAlias = Formula | str | bool
"""What the functions take: a formula, its text, or a constant."""


@dataclass(frozen=True, slots=True, repr=False)
class Constant(Formula):
    """`true` holds on every interval, `false` on none."""

    value: bool


@dataclass(frozen=True, slots=True, repr=False)
class Name(Formula):
    """The proposition holds in the first state."""

    name: str


@dataclass(frozen=True, slots=True, repr=False)
class Empty(Formula):
    """There is one state."""


@dataclass(frozen=True, slots=True, repr=False)
class More(Formula):
    """There are at least two states."""


@dataclass(frozen=True, slots=True, repr=False)
class Skip(Formula):
    """There are two states."""


@dataclass(frozen=True, slots=True, repr=False)
class Len(Formula):
    """There are n + 1 states."""

    number: int


@dataclass(frozen=True, slots=True, repr=False)
class Not(Formula):
    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class And(Formula):
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Or(Formula):
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Implies(Formula):
    premise: Formula
    then: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Iff(Formula):
    first: Formula
    then: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Next(Formula):
    """There is a next state, and the body holds from there on."""

    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class WeakNext(Formula):
    """If there is a next state, the body holds from there on."""

    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Always(Formula):
    """The body holds from every state on."""

    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Eventually(Formula):
    """The body holds from some state on."""

    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Until(Formula):
    """`then` holds from some state on, and `first` from every state before that one."""

    first: Formula
    then: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Release(Formula):
    """`then` holds from every state on, up to and including one from which `first` holds too, if there is one."""

    first: Formula
    then: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Chop(Formula):
    """The interval splits at a state that both parts share: `first` holds up to it, `then` from it on."""

    first: Formula
    then: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Star(Formula):
    """The interval splits into any number of parts that share their end states, and the body holds on each."""

    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Repeat(Formula):
    """The interval splits into exactly this many parts, and the body holds on each."""

    body: Formula
    times: int


@dataclass(frozen=True, slots=True, repr=False)
class Prj(Formula):
    """The parts hold one after another, and the whole holds on the states where they meet, and on all after them."""

    parts: tuple[Formula, ...]
    whole: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Par(Formula):
    """Both start together; one takes the whole interval, the other may end earlier."""

    first: Formula
    then: Formula


@dataclass(frozen=True, slots=True, repr=False)
class While(Formula):
    """The body is repeated as long as the test holds where it starts; at the end the test is false."""

    test: Formula
    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Fin(Formula):
    """The body holds in the last state."""

    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Keep(Formula):
    """The body holds from every state on but the last."""

    body: Formula


@dataclass(frozen=True, slots=True, repr=False)
class Halt(Formula):
    """The body holds in the last state and in none before it."""

    body: Formula


def children(formula: Formula) -> tuple[Formula, ...]:
    """The formulas directly inside one, in the order in which they are written."""
    match formula:
        case And(parts) | Or(parts):
            return parts
        case Prj(parts, whole):
            return (*parts, whole)
        case Not(body) | Next(body) | WeakNext(body) | Always(body) | Eventually(body) | Star(body) | Repeat(body):
            return (body,)
        case Fin(body) | Keep(body) | Halt(body):
            return (body,)
        case Implies(first, then) | Iff(first, then) | Until(first, then) | Release(first, then):
            return (first, then)
        case Chop(first, then) | Par(first, then) | While(first, then):
            return (first, then)
        case _:
            return ()


def postorder(formula: Formula) -> Iterator[Formula]:
    """A formula and all formulas inside it, inner ones first."""
    for child in children(formula):
        yield from postorder(child)
    yield formula
