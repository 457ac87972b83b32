"""How the functions of the user inside a formula are asked, and the memory of what they answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from firesteel.errors import PredicateError, described
from firesteel.logic.ltl.formulas import Atom, Consume, Formula, Let, formula_of
from firesteel.values.answers import as_answer, ask, raised, returned
from firesteel.values.checks import Check


@dataclass(frozen=True)
class Memory:
    """What the functions answered, so that they need not be asked again to explain a verdict.

    The key is the id of the node, and the instant. The node is kept, so that no other can have its id.
    """

    answers: dict[tuple[int, int], tuple[Atom, bool | Check]] = field(default_factory=dict)
    bodies: dict[tuple[int, int], tuple[Formula, Formula]] = field(default_factory=dict)


def asked(atom: Atom, instant: Any, index: int) -> bool | Check:
    """What a predicate answers about an instant."""
    try:
        answer: Any = ask(atom.predicate, instant)
    except Exception as error:
        raised(f"the predicate {atom.name}", f"at instant {index}", error)
    if answer is True or answer is False:
        return answer
    known = as_answer(answer)
    if known is None:
        raise PredicateError(f"the predicate {atom.name}, at instant {index}, {_instead(answer)}")
    return known


def body_formula(node: Let | Consume, instant: Any, index: int) -> Formula:
    """The formula that the function inside `let` or `consume` returns for an instant."""
    try:
        made = ask(node.body, instant)
    except Exception as error:
        raised(repr(node), f"at instant {index}", error)
    known = made if isinstance(made, Formula) else as_answer(made)
    if known is None:
        raise PredicateError(f"{node!r}, at instant {index}, {returned(made, instead='a formula, a bool or a Check')}")
    return formula_of(known)


def _instead(answer: Any) -> str:
    if isinstance(answer, Formula):
        return (
            f"returned {described('answer', answer)}: a predicate answers for one instant; to return a formula, write "
            "fs.let(...) or fs.consume(...)"
        )
    return returned(answer)
