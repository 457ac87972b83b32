"""Why a verdict is what it is, as data: the shortest prefix that decides, and what was open at each of its states.

What is open is the derivative, written as a formula: what the rest of the trace has to satisfy. Where it is one of the
formulas that the user wrote, it is that very formula.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from firesteel.errors import InvalidArgument
from firesteel.logic.pptl.automata import Automaton, automaton
from firesteel.logic.pptl.derivative import Reader
from firesteel.logic.pptl.evaluate import no_states
from firesteel.logic.pptl.formulas import CAP, Formula
from firesteel.logic.pptl.limits import Inconclusive
from firesteel.logic.pptl.states import Known, State, groups_of
from firesteel.logic.pptl.terms import Kind, Term, Terms, formula_of
from firesteel.logic.verdicts import Verdict

TRUE, FALSE, INCONCLUSIVE = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class Step:
    """One state of a trace, and what was open after it."""

    index: int
    state: frozenset[str]
    """The names that hold."""
    open: Formula | None
    """What the rest of the trace has to satisfy; None where it is too deep to be written as a formula."""
    ends: bool
    """Is the formula true of the trace up to here, if it ends here?"""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a formula has its verdict on a trace."""

    formula: Formula
    verdict: Verdict
    prefix: int
    """How many states decide: the length of the shortest prefix with this verdict."""
    ended: bool
    """Did the verdict need the end of the trace? If not, every continuation of the prefix has it."""
    steps: tuple[Step, ...]
    """The states of the prefix."""
    failed: tuple[Formula, ...] = ()
    """Of a false formula: the parts that were open before the last state of the prefix, and that this state, or the end
    of the trace after it, makes false. Each of them would have been enough. Where the trace had to end before that
    state, they are the parts that wanted it to."""

    def open_before(self, index: int) -> Formula | None:
        """What was open before this state was read; before the first, the whole formula.

        >>> from firesteel.logic import pptl
        >>> why = pptl.parse("p ; q").explain([{"p"}, {"q"}])
        >>> print(why.open_before(0))
        p ; q
        """
        return self.formula if index == 0 else self.steps[index - 1].open


def explain(
    formula: Formula,
    trace: Iterable[State],
    *,
    ended: bool = True,
    names: Collection[str] = (),
    exclusive: Iterable[Collection[str]] = (),
    cap: int = CAP,
) -> Explanation:
    """Why the formula has its verdict on this trace; `ended=False` says that the trace may still go on.

    >>> from firesteel.logic import pptl
    >>> why = pptl.parse("[] (request -> <> reply)").explain([{"request"}, set()])
    >>> [str(step.open) for step in why.steps]
    ['<> reply and [] (request -> <> reply)', '<> reply and [] (request -> <> reply)']
    >>> why.verdict, why.ended, [str(part) for part in why.failed]
    (<Verdict.FALSE: -1>, True, ['<> reply'])
    """
    known = Known(formula, names, groups_of(exclusive))
    letters = list(known.letters(trace))
    if not letters:
        raise no_states()
    return explained(formula, letters, automaton(formula, exclusive=known.exclusive, cap=cap), ended=ended, cap=cap)


def explained(
    formula: Formula, letters: list[frozenset[str]], whole: Automaton, *, ended: bool, cap: int = CAP
) -> Explanation:
    """The same, of states that are known to be good, with the automaton of the formula."""
    verdict, prefix = _decided(whole, letters)
    terms = Terms()
    reader, term = Reader(terms), terms.of(formula)
    steps: list[Step] = []
    before: list[Term] = []
    for index, letter in enumerate(letters[:prefix]):
        before.append(term)
        ends, term = reader.read(term, letter)
        steps.append(Step(index, letter, _written(term, terms), ends))
    needs_end = not verdict.definite
    if needs_end and ended:
        verdict = TRUE if steps[-1].ends else FALSE
    failed: tuple[Formula, ...] = ()
    if verdict is FALSE:
        failed = _failed(before[-2:], letters[max(prefix - 2, 0) : prefix], needs_end, terms, reader, cap)
    return Explanation(formula, verdict, prefix, needs_end and ended, tuple(steps), failed)


def _decided(whole: Automaton, letters: list[frozenset[str]]) -> tuple[Verdict, int]:
    """The verdict before the end, and after how many states it was known."""
    place = 0
    for index, letter in enumerate(letters):
        place = whole.after(place, letter)
        if whole.verdicts[place].definite:
            return whole.verdicts[place], index + 1
    return INCONCLUSIVE, len(letters)


def _failed(
    before: list[Term], letters: list[frozenset[str]], at_the_end: bool, terms: Terms, reader: Reader, cap: int
) -> tuple[Formula, ...]:
    """The parts of what was open that the last state makes false by themselves; if none does, all of it.

    `before` has what was open before the last two states, or before the only one.
    """
    term, letter = before[-1], letters[-1]
    too_long = term is terms.false and len(before) > 1
    if too_long:
        term, letter = before[0], letters[0]
    false = []
    for part in term.args if term.kind is Kind.AND else (term,):
        ends, rest = reader.read(part, letter)
        if (too_long or not ends) and (at_the_end or _hopeless(rest, terms, cap)):
            false.append(part)
    return tuple(written for part in false or [term] if (written := _written(part, terms)) is not None)


def _hopeless(rest: Term, terms: Terms, cap: int) -> bool:
    """Can nothing satisfy the rest?"""
    if rest.kind in (Kind.TRUE, Kind.FALSE):
        return rest.kind is Kind.FALSE
    written = _written(rest, terms)
    try:
        return written is not None and automaton(written, cap=cap).verdicts[0] is FALSE
    except Inconclusive:
        return False


def _written(term: Term, terms: Terms) -> Formula | None:
    try:
        return formula_of(term, terms)
    except InvalidArgument:  # nested too deep
        return None


def open_after(formula: Formula, word: Iterable[frozenset[str]]) -> Formula | None:
    """What is open after a word; None where it is too deep to be written as a formula."""
    terms = Terms()
    reader, term = Reader(terms), terms.of(formula)
    for letter in word:
        term = reader.read(term, letter).rest
    return _written(term, terms)


def failing(formula: Formula, word: list[frozenset[str]], *, ended: bool) -> tuple[Formula, ...]:
    """The parts of the formula that the last letter of a word makes false; `ended` if the trace ends with it."""
    terms = Terms()
    reader, before = Reader(terms), [terms.of(formula)]
    for letter in word[:-1]:
        before.append(reader.read(before[-1], letter).rest)
    return _failed(before[-2:], word[-2:], ended, terms, reader, CAP)
