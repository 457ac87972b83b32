"""Does every run of a program satisfy a formula? The program runs together with the automaton of the negation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from firesteel.errors import described
from firesteel.evidence.models import BoundMet, BrokenRun, Explored, ModelState
from firesteel.evidence.report import Asked, Report
from firesteel.logic.pptl import automata, operators
from firesteel.logic.pptl.formulas import Formula, FormulaLike
from firesteel.logic.verdicts import Verdict
from firesteel.model.msvl import terms as e
from firesteel.model.msvl.errors import MsvlError, Undefined
from firesteel.model.msvl.expressions import Expr
from firesteel.model.msvl.machine import Machine
from firesteel.model.msvl.negation import read_propositions
from firesteel.model.msvl.program import BOUND, Program, changed
from firesteel.model.msvl.scopes import Key
from firesteel.model.msvl.values import UNSET, List, Map, plain

RUNS = 10_000
"""How many runs are looked at, if nothing else is said."""


def verify_program(
    program: Program,
    formula: FormulaLike,
    propositions: Mapping[str, str] | None = None,
    *,
    inputs: Mapping[str, Any] | None = None,
    externals: Mapping[str, Callable[..., Any]] | None = None,
    bound: int = BOUND,
    runs: int = RUNS,
) -> Report:
    """Whether every run of the program satisfies the formula: all choices of `or`, for the given inputs."""
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
        raise MsvlError(f"{described('runs', runs)} is not a number of runs: write a whole number from 1")
    whole = operators.formula_of(formula)
    judge = _Judge(program, whole, propositions or {})
    explorer = program.explorer(inputs, externals, bound)
    machine = explorer.machine
    places: list[int] = []
    """The place of the automaton after each state of the present run."""
    ended = states = 0
    for ends in explorer.states():
        number = machine.number
        if number != len(places):
            del places[number:]
        place = judge.after(places[-1] if places else 0, machine)
        places.append(place)
        states += 1
        if not ends:
            continue
        ended += 1
        if judge.breaks(place):
            again = program.explorer(inputs, externals, bound)
            evidence = judge.evidence(again.replay(explorer.scripts, number), inputs or {})
            return _report(Verdict.FALSE, whole, Explored(ended, states), evidence)
        if ended >= runs and not explorer.settled:
            met = BoundMet(program.name, whole, "runs", runs)
            return _report(Verdict.INCONCLUSIVE, whole, Explored(ended, states), met)
    if explorer.cut:
        met = BoundMet(program.name, whole, "bound", bound)
        return _report(Verdict.INCONCLUSIVE, whole, Explored(ended, states), met)
    if not ended:
        raise program.why_none(explorer)
    return _report(Verdict.TRUE, whole, Explored(ended, states), None)


def _report(verdict: Verdict, formula: Formula, explored: Explored, evidence: BrokenRun | BoundMet | None) -> Report:
    return Report(verdict, explored.runs, evidence, asked=Asked("fs.verify"), explored=explored)


_NO_ACTIVATION: dict[str, Any] = {}


class _Proposition:
    """A proposition, and the variables that it reads."""

    def __init__(self, name: str, tree: e.Expression, program: Program, bit: int) -> None:
        for part in e.parts_of(tree):
            if isinstance(part, e.Variable) and part.name not in program.code.variables:
                there = ", ".join(sorted(program.code.variables))
                raise MsvlError(f"the proposition {name!r} reads {part.name!r}. The program's variables are {there}")
            if isinstance(part, e.External | e.Following):
                raise MsvlError(f"the proposition {name!r} calls a function from outside, or looks ahead: it must not")
        expression = Expr(tree, program.code.scope)
        self.name, self.value, self.bit = name, expression.value, bit
        self.keys = frozenset(key for each in expression.names if (key := each.key) is not None)
        self.always = any(isinstance(part, e.Previous) for part in e.parts_of(tree))
        """Is it evaluated in every state, because it looks back?"""

    def holds(self, machine: Machine) -> bool:
        try:
            value = self.value(machine, _NO_ACTIVATION)
        except Undefined:
            raise Undefined(
                f"state {machine.number}: the proposition {self.name!r} reads a variable that has no value there. "
                "Frame it, and assign it in the first state",
                machine.number,
            ) from None
        if value is True or value is False:
            return bool(value)
        raise machine.unusable(f"the proposition {self.name!r} is {plain(value)!r}, neither true nor false", 0)


class _Judge:
    """The automaton of the negation, and which propositions hold now."""

    def __init__(self, program: Program, formula: Formula, propositions: Mapping[str, str]) -> None:
        definitions = program.code.scope.definitions
        trees: dict[str, e.Expression] = {
            name: e.Apply(name, ()) if name in definitions else e.Variable(name) for name in formula.names
        }
        trees |= read_propositions(propositions, formula.names)
        self._program, self._formula = program, formula
        self._texts = {name: propositions.get(name, name) for name in sorted(formula.names)}
        self._propositions = [
            _Proposition(name, trees[name], program, 1 << place) for place, name in enumerate(sorted(trees))
        ]
        self._negated = automata.automaton(operators.not_(formula))
        self._known: dict[tuple[int, int], int] = {}
        self._bits = 0
        """Which propositions hold: a bit for each."""
        self._number = -1

    def after(self, place: int, machine: Machine) -> int:
        """The place of the automaton after this state."""
        self._look(machine)
        step = (place, self._bits)
        found = self._known.get(step)
        if found is None:
            found = self._known[step] = self._negated.after(place, self._holding())
        return found

    def _look(self, machine: Machine) -> None:
        """Which propositions hold: one is evaluated again only where a variable that it reads was assigned."""
        number = machine.number
        fresh = number == 0 or number != self._number + 1
        self._number = number
        assigned = machine.before
        for each in self._propositions:
            if fresh or each.always or not each.keys.isdisjoint(assigned):
                if each.holds(machine):
                    self._bits |= each.bit
                else:
                    self._bits &= ~each.bit

    def _holding(self) -> frozenset[str]:
        return frozenset(each.name for each in self._propositions if self._bits & each.bit)

    def breaks(self, place: int) -> bool:
        """Is a run that ends here one that breaks the formula?"""
        return self._negated.accepting[place]

    def evidence(self, machines: Iterable[Machine], inputs: Mapping[str, Any]) -> BrokenRun:
        """The run as a person can read it."""
        states: list[ModelState] = []
        self._number = -1
        for machine in machines:
            self._look(machine)
            changes = tuple((key.label, _shown(machine.values.get(key, UNSET))) for key in _visible(machine))
            states.append(ModelState(machine.number, changes, self._holding()))
        letters = [state.holds for state in states]
        decided = len(letters) - 1
        failed: tuple[Formula, ...] = ()
        if len(letters) <= 5_000:
            why = self._formula.explain(letters, names=self._formula.names)
            decided, failed = why.prefix - 1, why.failed
        given = {name: _shown(value) for name, value in inputs.items()}
        return BrokenRun(self._program.name, self._formula, self._texts, tuple(states), decided, failed, given)


def _visible(machine: Machine) -> list[Key]:
    """What changed; in the first state, all that has a value."""
    keys = [key for key in machine.values if key not in machine.constants] if machine.number == 0 else changed(machine)
    return sorted(keys, key=lambda key: key.label)


def _shown(value: Any) -> str:
    """A value as text; of a long list or map, its end."""
    if value is UNSET:
        return "(none)"
    if isinstance(value, List) and len(value) > 6:
        last = ", ".join(repr(plain(value.at(place))) for place in range(len(value) - 2, len(value)))
        return f"[..., {last}] ({len(value)} elements)"
    if isinstance(value, Map) and len(value) > 6:
        return f"a map of {len(value)} keys"
    text = repr(plain(value))
    return text if len(text) <= 60 else text[:57] + "..."
