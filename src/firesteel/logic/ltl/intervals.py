"""`pptl`: a formula of PPTL over predicates, which may stand wherever a formula of LTLss may.

It speaks of the interval from the instant where it starts to the end of the trace. While the trace comes in it is a
state of its automaton, so its verdict is definite as soon as every continuation agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.logic.ltl.formulas import FALSE, TRUE, And, Atom, Formula, Implies, Intervals, Not, Or
from firesteel.logic.ltl.obligations import Left, Open
from firesteel.logic.ltl.progression import Rules, Turn, progress
from firesteel.logic.pptl import formulas as f
from firesteel.logic.pptl.automata import Automaton, automaton
from firesteel.logic.pptl.diagrams import Ask, values_of
from firesteel.logic.pptl.operators import formula_of
from firesteel.logic.verdicts import Verdict
from firesteel.values.checks import Check


def pptl(formula: f.FormulaLike, /, **predicates: Callable[[Any], bool | Check] | Formula) -> Formula:
    """A formula of PPTL whose propositions are predicates of the instant, given by name.

    >>> import firesteel as fs
    >>> alarm = fs.pptl("(quiet and skip)* ; alarm", quiet=lambda x: x == 0, alarm=lambda x: x > 9)
    >>> alarm
    pptl('(quiet and skip)* ; alarm')
    >>> alarm.evaluate([0, 0, 12]), alarm.evaluate([0, 3, 12])
    (<Verdict.TRUE: 1>, <Verdict.FALSE: -1>)
    """
    whole = formula_of(formula)
    missing, unused = whole.names - predicates.keys(), predicates.keys() - whole.names
    if missing:
        name = min(missing)
        raise InvalidArgument(
            f"the formula {whole} has the name {name!r}, and no predicate of that name is given: write "
            f"fs.pptl(..., {f'{name}=' if name.isidentifier() else f'**{{{name!r}: '}lambda now: ..."
            f"{')' if name.isidentifier() else '})'}"
        )
    if unused:
        name = min(unused)
        raise InvalidArgument(
            f"{described(name, predicates[name])} is given, and the formula {whole} has no such name: it has "
            f"{', '.join(sorted(whole.names)) or 'none'}"
        )
    return _over(whole, {name: _atom(name, predicate) for name, predicate in predicates.items()})


def _atom(name: str, predicate: Any) -> Atom:
    if isinstance(predicate, Atom):
        return Atom(predicate.predicate, name)
    if isinstance(predicate, Formula) or not callable(predicate):
        raise InvalidArgument(
            f"{described(name, predicate)} is not a predicate: write a function of the instant that returns a bool or "
            "a Check, or fs.now(...)"
        )
    return Atom(predicate, name)


def _over(whole: f.Formula, atoms: Mapping[str, Atom]) -> Intervals:
    """With the implications in it whose premise speaks of one instant: one that never held is worth knowing."""
    parts = dict.fromkeys(part for part in f.postorder(whole) if isinstance(part, f.Implies))
    premises = [(_of_one_instant(part.premise, atoms), part.then) for part in parts]
    implications = tuple(Implies(premise, plain(then, atoms)) for premise, then in premises if premise is not None)
    return replace(plain(whole, atoms), premises=implications)


def plain(whole: f.Formula, atoms: Mapping[str, Atom]) -> Intervals:
    """A formula over predicates, without a look at its implications."""
    return Intervals(whole, tuple(atoms[name] for name in sorted(whole.names)), automaton(whole))


def _of_one_instant(formula: f.Formula, atoms: Mapping[str, Atom]) -> Formula | None:
    """A formula that speaks of one state only, as LTLss; None for any other."""
    match formula:
        case f.Constant(value):
            return TRUE if value else FALSE
        case f.Name(name):
            return atoms[name]
        case f.Not(body):
            inner = _of_one_instant(body, atoms)
            return None if inner is None else Not(inner)
        case f.And(parts) | f.Or(parts):
            made = [_of_one_instant(part, atoms) for part in parts]
            known = tuple(part for part in made if part is not None)
            if len(known) < len(made):
                return None
            return And(known) if isinstance(formula, f.And) else Or(known)
        case _:
            return None


# --- how it is judged --------------------------------------------------------------------------------------------


class Stepping(Open):
    """A formula of PPTL that has started, at a state of its automaton."""

    __slots__ = ("formula", "place")

    def __init__(self, formula: Intervals, place: int) -> None:
        self.formula, self.place = formula, place
        self.key = ("interval", id(formula), place)


def after(whole: Automaton, place: int, holds: Callable[[str], bool]) -> int:
    """The next state of the automaton. Only names that matter are asked for."""
    row = whole.rows[place]
    while type(row) is Ask:
        row = row.yes if holds(row.name) else row.no
    return row.value  # type: ignore[no-any-return, union-attr]


def distances_to(whole: Automaton, verdict: Verdict) -> dict[int, int]:
    """For every state, how many letters it takes at least to one with this verdict; states from which none leads there
    are left out."""
    distances = {place: 0 for place, known in enumerate(whole.verdicts) if known is verdict}
    reached = list(distances)
    before = [(place, values_of(row)) for place, row in enumerate(whole.rows)]
    for to in reached:
        for place, following in before:
            if to in following and place not in distances:
                distances[place] = distances[to] + 1
                reached.append(place)
    return distances


def decided_after(whole: Automaton) -> int | None:
    """After how many letters every word has a definite verdict; None if there is no such number."""
    reached, letters = {0}, 0
    while any(not whole.verdicts[place].definite for place in reached):
        if letters > len(whole):
            return None
        open_ = [place for place in reached if not whole.verdicts[place].definite]
        reached = {to for place in open_ for to in values_of(whole.rows[place])}
        letters += 1
    return letters


def _intervals(node: Intervals, turn: Turn) -> Left:
    return Verdict.INCONCLUSIVE if turn.ended else _stepped(node, 0, turn)


def _stepping(node: Stepping, turn: Turn) -> Left:
    whole = node.formula.automaton
    if turn.ended:
        return Verdict.TRUE if whole.accepting[node.place] else Verdict.FALSE
    return _stepped(node.formula, node.place, turn)


def _stepped(node: Intervals, place: int, turn: Turn) -> Left:
    atoms = {atom.name: atom for atom in node.predicates}
    place = after(node.automaton, place, lambda name: progress(atoms[name], turn) is Verdict.TRUE)
    for implication in node.premises:
        if not turn.met(id(implication)):
            turn.note(id(implication), progress(implication.premise, turn) is Verdict.TRUE)
    verdict = node.automaton.verdicts[place]
    return verdict if verdict.definite else Stepping(node, place)


RULES: Rules = {Intervals: _intervals, Stepping: _stepping}
