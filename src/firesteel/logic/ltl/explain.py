"""Why a verdict is what it is, as data: a tree from the whole formula down to the predicates that decided it.

The monitor keeps no history. So the explanation reads the trace again, from the formula downwards, and looks only at
what the verdict depends on. How it is shown is up to `firesteel.report`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from firesteel.logic.ltl.asking import Memory, asked, body_formula
from firesteel.logic.ltl.formulas import (
    Always,
    And,
    Atom,
    Constant,
    Consume,
    Eventually,
    Formula,
    Historically,
    Implies,
    Intervals,
    Let,
    Next,
    Not,
    Once,
    Or,
    Previously,
    Release,
    Since,
    Until,
)
from firesteel.logic.ltl.intervals import after
from firesteel.logic.pptl.explain import Explanation, explained
from firesteel.logic.verdicts import Verdict
from firesteel.values.checks import Check

TRUE, FALSE, INCONCLUSIVE = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE

# A formula that failed at many instants is explained at this many of them: the last ones.
_MOST = 16


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of an explanation: this formula has this verdict at this instant, because of the reasons below it.

    `instants` are the ones that the formula is about: where the body of `always` had to hold, or where that of
    `eventually` could have held. They may reach past the end of the trace. `check` is a predicate's answer, if it came
    with records.
    """

    formula: Formula
    verdict: Verdict
    at: int
    instants: range
    check: Check | None = None
    because: tuple[Reason, ...] = ()

    @property
    def records(self) -> tuple[Any, ...]:
        """The records that decided a predicate's answer."""
        return self.check.records if self.check is not None else ()

    def leaves(self) -> Iterator[Reason]:
        """The predicates and constants that the verdict depends on.

        >>> import firesteel as fs
        >>> reason = fs.implies(lambda x: x > 0, fs.next_(lambda x: x < 0)).explain([1, 2])
        >>> [(str(leaf.formula), leaf.at, leaf.verdict.name) for leaf in reason.leaves()]
        [('x > 0', 0, 'TRUE'), ('x < 0', 1, 'FALSE')]
        """
        if not self.because:
            yield self
        for reason in self.because:
            yield from reason.leaves()


@dataclass(frozen=True, slots=True)
class IntervalReason(Reason):
    """The reason of a formula of PPTL: also what was open of it at each instant, counted from where it starts."""

    explanation: Explanation | None = None


def explain(formula: Formula, trace: Iterable[Any], *, ended: bool = True, memory: Memory | None = None) -> Reason:
    """Why the formula has its verdict on this trace; `ended=False` says that the trace may still go on.

    Answers that are in the memory of a monitor are not asked for again.

    >>> import firesteel as fs
    >>> reason = explain(fs.always(fs.eventually(lambda x: x == 0, within=2), during=2), [0, 1, 2])
    >>> reason.verdict, reason.because[0].at, reason.because[0].instants
    (<Verdict.FALSE: -1>, 1, range(1, 3))
    """
    return _Reader(list(trace), ended, memory or Memory()).why(formula, 0, 0)


def explain_at(formula: Formula, at: int, trace: Sequence[Any], memory: Memory, *, ended: bool = False) -> Reason:
    """Why the formula has its verdict at one instant of a trace. What the memory has is not looked up in the trace.

    >>> import firesteel as fs
    >>> explain_at(fs.next_(lambda x: x > 0), 1, [5, 5, -1], Memory()).because[0].at
    2
    """
    return _Reader(trace, ended, memory).why(formula, at, 0)


class _Reader:
    """Values of formulas at the instants of one trace. `start` is the first instant that operators on the past see."""

    def __init__(self, trace: Sequence[Any], ended: bool, memory: Memory) -> None:
        self.trace = trace
        self.ended = ended
        self.answers, self.bodies = memory.answers, memory.bodies
        self.values: dict[tuple[int, int, int], tuple[Formula, Verdict]] = {}

    # --- values ---

    def value(self, formula: Formula, at: int, start: int) -> Verdict:
        key = (id(formula), at, start)
        if key not in self.values:
            self.values[key] = (formula, self._value(formula, at, start))
        return self.values[key][1]

    def _value(self, formula: Formula, at: int, start: int) -> Verdict:
        match formula:
            case Constant(verdict):
                return verdict
            case Atom():
                if at >= len(self.trace):
                    return INCONCLUSIVE
                return TRUE if self.answer(formula, at) else FALSE
            case Not(body):
                return ~self.value(body, at, start)
            case And(parts):
                return self.all(parts, (at,), start)
            case Or(parts):
                return self.any(parts, (at,), start)
            case Implies(premise, then):
                held = self.value(premise, at, start)
                return TRUE if held is FALSE else ~held | self.value(then, at, start)
            case Next(body, times):
                return self.value(body, at + times, start)
            case Always(body):
                return self.all((body,), self.ahead(formula, at), start) & self.open(formula, TRUE)
            case Eventually(body):
                return self.any((body,), self.ahead(formula, at), start) | self.open(formula, FALSE)
            case Until(first, then):
                return _until(
                    self.ahead(formula, at),
                    lambda k: self.value(first, k, start),
                    lambda k: self.value(then, k, start),
                    self.open(formula, FALSE),
                )
            case Release(first, then):
                return ~_until(
                    self.ahead(formula, at),
                    lambda k: ~self.value(first, k, start),
                    lambda k: ~self.value(then, k, start),
                    ~self.open(formula, TRUE),
                )
            case Let() | Consume():
                if at >= len(self.trace):
                    return INCONCLUSIVE
                begin = at if isinstance(formula, Let) else at + 1
                return self.value(self.body(formula, at), begin, begin)
            case Previously(body):
                return self.value(body, at - 1, start) if at > start else FALSE
            case Once(body):
                return self.any((body,), self.back(formula, at, start), start)
            case Historically(body):
                return self.all((body,), self.back(formula, at, start), start)
            case Since(holds, after):
                return _until(
                    self.back(formula, at, start),
                    lambda k: self.value(holds, k, start),
                    lambda k: self.value(after, k, start),
                    FALSE,
                )
            case Intervals():
                return self.interval(formula, at)[0]
        raise AssertionError(f"no rule for {type(formula).__name__}")

    def all(self, formulas: Iterable[Formula], instants: Iterable[int], start: int) -> Verdict:
        verdict = TRUE
        for at in instants:
            for formula in formulas:
                verdict = verdict & self.value(formula, at, start)
                if verdict is FALSE:
                    return FALSE
        return verdict

    def any(self, formulas: Iterable[Formula], instants: Iterable[int], start: int) -> Verdict:
        verdict = FALSE
        for at in instants:
            for formula in formulas:
                verdict = verdict | self.value(formula, at, start)
                if verdict is TRUE:
                    return TRUE
        return verdict

    def ahead(self, formula: Always | Eventually | Until | Release, at: int) -> range:
        """The instants that an operator is about; without a bound, those to the end of the trace."""
        return range(at, max(at, len(self.trace)) if formula.bound is None else at + formula.bound)

    def back(self, formula: Once | Historically | Since, at: int, start: int) -> range:
        """The instants that an operator on the past is about, the latest first."""
        oldest = start if formula.bound is None else max(start, at - formula.bound + 1)
        return range(at, oldest - 1, -1)

    def open(self, formula: Always | Eventually | Until | Release, closed: Verdict) -> Verdict:
        """What instants still to come could add: nothing if there is a bound, or if the trace has ended."""
        return closed if formula.bound is not None or self.ended else INCONCLUSIVE

    def interval(self, formula: Intervals, at: int) -> tuple[Verdict, list[dict[Atom, bool]]]:
        """The value of a formula of PPTL, and what its predicates were asked at each instant that it took."""
        asked: list[dict[Atom, bool]] = []
        atoms = {atom.name: atom for atom in formula.predicates}
        whole, place = formula.automaton, 0

        def holds(name: str) -> bool:
            asked[-1][atoms[name]] = bool(self.answer(atoms[name], at + len(asked) - 1))
            return asked[-1][atoms[name]]

        for _ in range(at, len(self.trace)):
            asked.append({})
            place = after(whole, place, holds)
            if whole.verdicts[place].definite:
                return whole.verdicts[place], asked
        if not asked or not self.ended:
            return INCONCLUSIVE, asked
        return (TRUE if whole.accepting[place] else FALSE), asked

    def answer(self, atom: Atom, at: int) -> bool | Check:
        key = (id(atom), at)
        if key not in self.answers:
            self.answers[key] = (atom, asked(atom, self.trace[at], at))
        return self.answers[key][1]

    def body(self, node: Let | Consume, at: int) -> Formula:
        key = (id(node), at)
        if key not in self.bodies:
            self.bodies[key] = (node, body_formula(node, self.trace[at], at))
        return self.bodies[key][1]

    # --- reasons ---

    def why(self, formula: Formula, at: int, start: int) -> Reason:
        verdict = self.value(formula, at, start)
        here = range(at, at + 1)
        match formula:
            case Constant(_, check):
                return Reason(formula, verdict, at, here, check)
            case Atom():
                answer = self.answer(formula, at) if at < len(self.trace) else None
                return Reason(formula, verdict, at, here, answer if isinstance(answer, Check) else None)
            case Not(body):
                because = [(body, at)]
            case And(parts) | Or(parts):
                because = self.deciding([(part, at) for part in parts], verdict, start, isinstance(formula, And))
            case Implies(premise, then):
                held = self.value(premise, at, start)
                because = [(premise, at)]
                if held is not FALSE:
                    # A premise still open does not matter where `then` holds anyway.
                    because = [*(because if held is TRUE or held is verdict else []), (then, at)]
            case Next(body, times):
                because = [(body, at + times)]
            case Let() | Consume():
                if at >= len(self.trace):
                    return Reason(formula, verdict, at, here)
                begin = at if isinstance(formula, Let) else at + 1
                return Reason(formula, verdict, at, here, None, (self.why(self.body(formula, at), begin, begin),))
            case Always(body) | Eventually(body):
                here = self.ahead(formula, at)
                because = self.deciding([(body, k) for k in here], verdict, start, isinstance(formula, Always))
            case Until(first, then):
                here = self.ahead(formula, at)
                because = self.why_until(first, then, here, verdict, start)
            case Release(first, then):
                here = self.ahead(formula, at)
                because = self.why_until(Not(first), Not(then), here, ~verdict, start)
                because = [(f.body, k) for f, k in because if isinstance(f, Not)]
            case Previously(body):
                because = [(body, at - 1)] if at > start else []
            case Once(body) | Historically(body):
                here = self.back(formula, at, start)
                because = self.deciding([(body, k) for k in here], verdict, start, isinstance(formula, Historically))
            case Since(holds, after):
                here = self.back(formula, at, start)
                because = self.why_until(holds, after, here, verdict, start)
            case Intervals():
                return self.why_interval(formula, at)
            case _:
                raise AssertionError(f"no rule for {type(formula).__name__}")
        return Reason(formula, verdict, at, here, None, tuple(self.why(f, k, start) for f, k in because[-_MOST:]))

    def why_interval(self, formula: Intervals, at: int) -> Reason:
        verdict, asked = self.interval(formula, at)
        if not asked:
            return IntervalReason(formula, verdict, at, range(at, at + 1))
        letters = [frozenset(atom.name for atom, held in now.items() if held) for now in asked]
        explanation = explained(formula.formula, letters, formula.automaton, ended=self.ended)
        because = tuple(
            self.why(atom, at + index, at) for index, now in list(enumerate(asked))[-_MOST:] for atom in now
        )
        return IntervalReason(formula, verdict, at, range(at, at + len(asked)), None, because, explanation)

    def deciding(
        self, parts: list[tuple[Formula, int]], verdict: Verdict, start: int, conjunction: bool
    ) -> list[tuple[Formula, int]]:
        """The parts that decide a conjunction (or disjunction): one that is false (true), or all of them."""
        decisive = FALSE if conjunction else TRUE
        if verdict is decisive:
            return [next(part for part in parts if self.value(*part, start) is decisive)]
        return [part for part in parts if self.value(*part, start) is verdict]

    def why_until(
        self, first: Formula, then: Formula, instants: range, verdict: Verdict, start: int
    ) -> list[tuple[Formula, int]]:
        """`then` where it held, after `first` at each instant before; or `first` where it broke, with no `then` yet."""
        because: list[tuple[Formula, int]] = []
        for at in instants:
            if verdict is TRUE and self.value(then, at, start) is TRUE:
                return [*because, (then, at)]
            if verdict is FALSE:
                because.append((then, at))
                if self.value(first, at, start) is FALSE:
                    return [*because, (first, at)]
            else:
                because.append((first, at))
        return because


def _until(
    instants: Iterable[int], first: Callable[[int], Verdict], then: Callable[[int], Verdict], open_: Verdict
) -> Verdict:
    """The value of until from those of `first` and `then` at its instants; `open_` is what later ones could add."""
    verdict, so_far = FALSE, TRUE
    for at in instants:
        verdict = verdict | (so_far & then(at))
        if verdict is TRUE:
            return TRUE
        so_far = so_far & first(at)
        if so_far is FALSE:
            return verdict
    return verdict | (so_far & open_)
