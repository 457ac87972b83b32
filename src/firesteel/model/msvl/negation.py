"""`property`: the negation of a PPTL formula as a program, which is what the paper joins a program with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firesteel.errors import described
from firesteel.logic.pptl import automata, diagrams, operators
from firesteel.logic.pptl.formulas import FormulaLike
from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.errors import MsvlError
from firesteel.model.msvl.grammar import WORDS, parse_expression
from firesteel.model.msvl.program import Program

NEVER = t.And((t.Empty(), t.Skip()))
"""A statement that has no model."""


def property(formula: FormulaLike, propositions: Mapping[str, str] | None = None, *, name: str = "Q") -> Program:
    """Not the formula, as a program: it has a run exactly where the formula is false.

    There is a function for every state of the automaton of the negation. A proposition is a variable of the same name,
    or the expression that `propositions` gives for it.

    >>> from firesteel.model import msvl
    >>> print(msvl.property("[] p", {"p": "x > 3"}))
    function Q0() {
      if x > 3 then {next Q0()} else {empty or next Q1()}
    }
    function Q1() {
      empty or next Q1()
    }
    Q0()

    `M and M1`: a program and such a program have a run together if and only if the first has one that breaks the
    formula.

    >>> program = msvl.load("frame(x) and (x <== 5 and skip ; x := 2)")
    >>> [[state["x"] for state in run] for run in (program & msvl.property("[] p", {"p": "x > 3"})).models(bound=9)]
    [[5, 5, 2]]
    """
    whole = operators.formula_of(formula)
    tests = {each: e.Variable(each) for each in whole.names} | read_propositions(propositions or {}, whole.names)
    for each, test in tests.items():
        if isinstance(test, e.Variable) and (not each.isidentifier() or each in WORDS):
            raise MsvlError(
                f"the proposition {each!r} cannot be the name of a variable: say what it is in propositions="
            )
    negated = automata.automaton(operators.not_(whole))
    # A state that is reached at the start only is left out where another one goes on in the same way.
    same = negated.alike
    numbers: dict[int, int] = {same[0]: 0}
    bodies: list[t.Statement] = []
    for place in (todo := [same[0]]):

        def function(to: int) -> t.Statement:
            if same[to] not in numbers:
                numbers[same[to]] = len(todo)
                todo.append(same[to])
            return t.Next(t.Call(f"{name}{numbers[same[to]]}", ()))

        def of(row: Any) -> t.Statement:
            if type(row) is diagrams.Ask:
                return t.If(tests[row.name], of(row.yes), of(row.no))
            to = row.value
            ways: list[t.Statement] = [t.Empty()] if negated.accepting[to] else []
            if to not in negated.nothing:
                ways.append(function(to))
            return ways[0] if len(ways) == 1 else t.Or(tuple(ways)) if ways else NEVER

        bodies.append(of(negated.rows[place]))
    functions = tuple(t.Function(f"{name}{number}", (), (), body) for number, body in enumerate(bodies))
    return Program(t.Source((), (), (), (), functions, t.Call(f"{name}0", ())), f"not ({whole})")


def read_propositions(propositions: Mapping[str, str], names: frozenset[str]) -> dict[str, Any]:
    """The expressions that stand for propositions."""
    if not isinstance(propositions, Mapping):
        raise MsvlError(f"{described('propositions', propositions)} is not a dict: write propositions={{'p': 'x > 3'}}")
    found = {}
    for name, text in propositions.items():
        if name not in names:
            there = ", ".join(sorted(names)) or "none"
            raise MsvlError(f"propositions has {name!r}, and the formula has no such name: it has {there}")
        if not isinstance(text, str):
            raise MsvlError(f"{described(f'propositions[{name!r}]', text)} is not an MSVL expression: write 'x > 3'")
        found[name] = parse_expression(text)
    return found
