"""The functions that make formulas: what a user calls, and how its arguments are checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.logic.bounds import count, limit
from firesteel.logic.ltl.formulas import (
    Always,
    Atom,
    Consume,
    Eventually,
    Formula,
    FormulaLike,
    Historically,
    Implies,
    Let,
    Next,
    Once,
    Previously,
    Release,
    Since,
    Until,
    formula_of,
)
from firesteel.values.checks import Check


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
            f"{described('predicate', predicate)} is not a function: write fs.now(lambda now: ...), a function of the "
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
    return Next(formula_of(formula), count(times, "times"))


def always(formula: FormulaLike, *, during: int | None = None) -> Formula:
    """The formula holds at this instant and the following ones: `during` of them, or all to the end of the trace.

    >>> import firesteel as fs
    >>> fs.always(lambda x: x > 0).evaluate([1, 2, 3])
    <Verdict.TRUE: 1>
    """
    return Always(formula_of(formula), limit(during, "during"))


def eventually(formula: FormulaLike, *, within: int | None = None) -> Formula:
    """The formula holds at one of the instants from this one on: the first `within`, or any to the end of the trace.

    >>> import firesteel as fs
    >>> fs.eventually(lambda x: x > 2, within=2).evaluate([1, 2, 3])
    <Verdict.FALSE: -1>
    """
    return Eventually(formula_of(formula), limit(within, "within"))


def until(first: FormulaLike, then: FormulaLike, *, within: int | None = None) -> Formula:
    """`then` holds at one of the instants, and `first` at every instant before it.

    >>> import firesteel as fs
    >>> fs.until(lambda x: x < 3, lambda x: x == 3, within=5).evaluate([1, 2, 3])
    <Verdict.TRUE: 1>
    """
    return Until(formula_of(first, "first"), formula_of(then, "then"), limit(within, "within"))


def release(first: FormulaLike, then: FormulaLike, *, during: int | None = None) -> Formula:
    """`then` holds at every instant, up to and including one where `first` holds as well, if there is one.

    >>> import firesteel as fs
    >>> fs.release(lambda x: x == 2, lambda x: x < 3, during=5).evaluate([1, 2, 9])
    <Verdict.TRUE: 1>
    """
    return Release(formula_of(first, "first"), formula_of(then, "then"), limit(during, "during"))


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
    return Once(formula_of(formula), limit(within, "within"))


def historically(formula: FormulaLike, *, during: int | None = None) -> Formula:
    """The formula holds now and held before: in the last `during` instants that there were, or since the start.

    >>> import firesteel as fs
    >>> fs.next_(fs.historically(lambda x: x > 0, during=2)).evaluate([1, 2])
    <Verdict.TRUE: 1>
    """
    return Historically(formula_of(formula), limit(during, "during"))


def since(holds: FormulaLike, after: FormulaLike, *, within: int | None = None) -> Formula:
    """`after` holds now or held before, and `holds` at every instant after that one, up to now.

    >>> import firesteel as fs
    >>> open_since = fs.since(lambda x: x != "close", lambda x: x == "open")
    >>> fs.always(fs.implies(lambda x: x == "read", open_since)).evaluate(["open", "read", "close", "read"])
    <Verdict.FALSE: -1>
    """
    return Since(formula_of(holds, "holds"), formula_of(after, "after"), limit(within, "within"))


def _function(body: Any, operator_name: str) -> Callable[[Any], FormulaLike]:
    if isinstance(body, Formula) or not callable(body):
        raise InvalidArgument(
            f"{described('body', body)} is not a function: write fs.{operator_name}(lambda now: ...), a function of "
            "the instant that returns a formula"
        )
    return body  # type: ignore[no-any-return]
