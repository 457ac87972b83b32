"""The smallest deterministic automaton of a formula, and the questions that it answers.

It is built from the inside out: the automaton of every part is made and minimised first, and then stands in the term of
the formula around it as one kind of term (`Kind.STATE`). So what is the same is found early, and an automaton that is
small in the end is seldom large on the way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache

from firesteel.logic.pptl import formulas as f
from firesteel.logic.pptl.derivative import Answer, rule
from firesteel.logic.pptl.diagrams import (
    Diagram,
    Diagrams,
    fewest_names,
    names_in,
    paths_of,
    same,
    value_at,
    values_of,
)
from firesteel.logic.pptl.formulas import CAP, Formula, FormulaLike, children
from firesteel.logic.pptl.limits import Budget
from firesteel.logic.pptl.minimise import minimised
from firesteel.logic.pptl.operators import formula_of
from firesteel.logic.pptl.states import groups_of
from firesteel.logic.pptl.terms import Kind, Term, Terms
from firesteel.logic.verdicts import Verdict


class Automaton:
    """A deterministic automaton with as few states as possible. State 0 is the start; every word has a letter.

    Two formulas over any names mean the same if and only if their automata are equal.

    >>> from firesteel.logic import pptl
    >>> a = pptl.parse("p until q").automaton()
    >>> len(a), a.run([{"p"}, {"q"}]), a.verdicts[a.run([{"p"}, {"q"}])]
    (3, 2, <Verdict.TRUE: 1>)
    """

    def __init__(self, rows: tuple[Diagram, ...], accepting: tuple[bool, ...]) -> None:
        self.rows = rows
        """For every state, the diagram of the next state."""
        self.accepting = accepting
        """Is a trace that leads to this state and ends there true?"""
        first = {id(row): state for state, row in reversed(list(enumerate(rows)))}
        self.alike = tuple(first[id(row)] for row in rows)
        """For every state, the first state that accepts the same continuations of one letter and more."""
        successors = [set(values_of(row)) for row in rows]
        self.nothing = frozenset(_sure(successors, accepting, False))
        """The states from which no continuation of one letter or more is true."""
        self.all = frozenset(_sure(successors, accepting, True))
        """The states from which all continuations of one letter or more are true."""
        self.verdicts = tuple(map(self._verdict, range(len(rows))))
        """For every state, what is known when it is reached: inconclusive unless all continuations agree."""

    def _verdict(self, state: int) -> Verdict:
        # A trace does not end at the start. Where the start is reached again, not all continuations of it are true.
        if state in self.all and (self.accepting[state] or state == 0):
            return Verdict.TRUE
        if state in self.nothing and not self.accepting[state]:
            return Verdict.FALSE
        return Verdict.INCONCLUSIVE

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Automaton):
            return NotImplemented
        known: set[tuple[Diagram, Diagram]] = set()
        return self.accepting == other.accepting and all(
            same(one, two, known) for one, two in zip(self.rows, other.rows, strict=True)
        )

    def __hash__(self) -> int:
        return hash(self.accepting)

    @property
    def names(self) -> frozenset[str]:
        """The names that matter.

        >>> from firesteel.logic import pptl
        >>> pptl.parse("p or (q or not q)").automaton().names
        frozenset()
        """
        return frozenset().union(*map(names_in, self.rows))

    def after(self, state: int, letter: Collection[str]) -> int:
        """The next state, if these names hold."""
        return value_at(self.rows[state], frozenset(letter))  # type: ignore[no-any-return]

    def run(self, trace: Iterable[Collection[str]]) -> int:
        """The state after a trace, given as the sets of names that hold."""
        state = 0
        for letter in trace:
            state = self.after(state, letter)
        return state

    def edges(self) -> Iterator[tuple[int, tuple[tuple[str, bool], ...], int]]:
        """The transitions: from, the names that are asked with their answers, and to."""
        for state, row in enumerate(self.rows):
            for asked, to in paths_of(row):
                yield state, asked, to

    def shortest(self) -> list[frozenset[str]] | None:
        """The shortest word that is accepted, with as few names as possible; None if there is none.

        >>> from firesteel.logic import pptl
        >>> [sorted(state) for state in pptl.parse("next p ; q").automaton().shortest()]
        [[], ['p', 'q']]
        """
        return self._search(lambda to: self.accepting[to])

    def word_to(self, state: int) -> list[frozenset[str]]:
        """A shortest word that leads to a state; the start is where no word leads.

        >>> from firesteel.logic import pptl
        >>> a = pptl.parse("[] p").automaton()
        >>> a.run(a.word_to(2)), a.word_to(0)
        (2, [])
        """
        return (self._search(lambda to: to == state) or []) if state else []

    def _search(self, wanted: Callable[[int], bool]) -> list[frozenset[str]] | None:
        """The shortest word of at least one letter that leads to a state that is wanted."""
        came: dict[int, tuple[int, frozenset[str]]] = {}
        todo = deque([0])
        while todo:
            state = todo.popleft()
            ways = fewest_names(self.rows[state])
            for to, names in sorted(ways.items(), key=lambda way: (len(way[1]), way[1])):
                if wanted(to):
                    return [*_word(came, state), frozenset(names)]
                if to not in came and to != 0:
                    came[to] = (state, frozenset(names))
                    todo.append(to)
        return None

    def dot(self) -> str:
        """The automaton as a drawing for Graphviz: a double circle where a trace may end and be true.

        >>> from firesteel.logic import pptl
        >>> print(pptl.parse("[] p").automaton().dot())
        digraph {
          rankdir=LR
          start [shape=point]
          start -> 0
          0 [shape=circle]
          1 [shape=circle label="1: false"]
          2 [shape=doublecircle]
          0 -> 1 [label="not p"]
          0 -> 2 [label="p"]
          1 -> 1 [label="true"]
          2 -> 1 [label="not p"]
          2 -> 2 [label="p"]
        }
        """
        lines = ["digraph {", "  rankdir=LR", "  start [shape=point]", "  start -> 0"]
        for state, accepting in enumerate(self.accepting):
            verdict = self.verdicts[state]
            label = f' label="{state}: {verdict.name.lower()}"' if verdict.definite else ""
            lines.append(f"  {state} [shape={'doublecircle' if accepting else 'circle'}{label}]")
        for state, row in enumerate(self.rows):
            for to in sorted(values_of(row)):
                text = _condition(row, to).replace("\\", "\\\\").replace('"', '\\"')
                lines.append(f'  {state} -> {to} [label="{text}"]')
        return "\n".join([*lines, "}"])


def _sure(successors: list[set[int]], accepting: tuple[bool, ...], value: bool) -> set[int]:
    """The states from which every letter leads to a state that has this value, and so on for ever."""
    sure = set(range(len(successors)))
    before: dict[int, list[int]] = {}
    for state, following in enumerate(successors):
        for to in following:
            before.setdefault(to, []).append(state)
    lost = [state for state in sure if any(accepting[to] is not value for to in successors[state])]
    while lost:
        state = lost.pop()
        if state in sure:
            sure.discard(state)
            lost += before.get(state, ())
    return sure


def _word(came: dict[int, tuple[int, frozenset[str]]], state: int) -> list[frozenset[str]]:
    word: list[frozenset[str]] = []
    while state in came:
        state, letter = came[state]
        word.append(letter)
    return word[::-1]


def _condition(row: Diagram, to: int) -> str:
    """When a row leads to a state, as text."""
    diagrams = Diagrams(Budget("", CAP))
    leads = diagrams.joined(lambda value: value == to, (row,))
    ways = [asked for asked, leads_there in paths_of(leads) if leads_there]
    return " or ".join(" and ".join(_literal(*one) for one in asked) or "true" for asked in ways)


def _literal(name: str, holds: bool) -> str:
    return str(f.Name(name) if holds else f.Not(f.Name(name)))


# --- how it is built ---------------------------------------------------------------------------------------------


def automaton(formula: FormulaLike, *, exclusive: Iterable[Collection[str]] = (), cap: int = CAP) -> Automaton:
    """The smallest deterministic automaton of a formula.

    `exclusive` has groups of names of which at most one holds in a state. Past `cap` states, also of the automaton of a
    part and before it is minimised, `pptl.Inconclusive` is raised.

    >>> from firesteel.logic import pptl
    >>> pptl.automaton("<> p ; q") == pptl.automaton("<> (p ; q)")
    True
    """
    return _built(formula_of(formula), groups_of(exclusive), cap)


@lru_cache(maxsize=128)
def _built(formula: Formula, exclusive: frozenset[frozenset[str]], cap: int) -> Automaton:
    return _Builder(formula, exclusive, cap).of(formula)


class _Builder:
    """Builds the automata of a formula and of its parts."""

    def __init__(self, formula: Formula, exclusive: frozenset[frozenset[str]], cap: int) -> None:
        self._budget = Budget(formula, cap)
        self._terms = Terms(self._budget.spend)
        self._diagrams = Diagrams(self._budget)
        self._answers: dict[Term, Diagram] = {}
        self._automata: dict[Formula, Automaton] = {}
        self._same: dict[tuple[object, ...], Automaton] = {}
        groups = [self._diagrams.at_most_one(tuple(group & formula.names)) for group in sorted(exclusive, key=sorted)]
        self._possible = self._diagrams.joined(lambda *_: "possible", tuple(groups))

    def of(self, formula: Formula) -> Automaton:
        known = self._automata.get(formula)
        if known is None:
            made = self._explored(self._terms.of(formula, self._part))
            known = self._automata[formula] = self._same.setdefault((made.rows, made.accepting), made)
        return known

    def _part(self, formula: Formula) -> Term:
        """The term of a part: small ones as they are, others as the start of their automaton."""
        if not any(children(child) for child in (formula, *children(formula))):
            return self._terms.of(formula)
        return self._terms.state(self.of(formula), 0)

    def _explored(self, term: Term) -> Automaton:
        """All states that can be reached from a term, minimised."""
        diagrams = self._diagrams
        start = Answer(False, term)
        numbers = {start: 0}
        todo, rows = [start], []
        for answer in todo:
            after = diagrams.joined(lambda _, answer: answer, (self._possible, self._answer(answer.rest)))
            for found in sorted(values_of(after), key=lambda each: (each.ends, each.rest.order)):
                if found not in numbers:
                    numbers[found] = len(todo)
                    todo.append(found)
            self._budget.states(len(todo))
            rows.append(diagrams.mapped(numbers.__getitem__, after, {}))
        return Automaton(*minimised(rows, [answer.ends for answer in todo], diagrams))

    def _answer(self, term: Term) -> Diagram:
        """What a term says of every state."""
        known = self._answers.get(term)
        if known is None:
            known = self._answers[term] = self._asked(term)
        return known

    def _asked(self, term: Term) -> Diagram:
        terms, diagrams = self._terms, self._diagrams
        if term.kind is Kind.NAME:
            no, yes = Answer(False, terms.false), Answer(True, terms.true)
            return diagrams.ask(term.args[0], diagrams.leaf(no), diagrams.leaf(yes))
        if term.kind is Kind.STATE:
            whole: Automaton = term.args[0]
            row = whole.rows[term.args[1]]
            return diagrams.mapped(lambda to: Answer(whole.accepting[to], terms.state(whole, to)), row, {})
        needed, joined = rule(term, terms)
        return diagrams.joined(joined, tuple(map(self._answer, needed)))
