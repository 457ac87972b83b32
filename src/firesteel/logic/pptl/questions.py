"""Questions about formulas themselves: can one be true, by which trace, and do two mean the same?"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from firesteel.logic.pptl.automata import automaton
from firesteel.logic.pptl.formulas import CAP, FormulaLike, Iff, Not
from firesteel.logic.pptl.operators import formula_of


def witness(
    formula: FormulaLike, *, exclusive: Iterable[Collection[str]] = (), cap: int = CAP
) -> list[frozenset[str]] | None:
    """The shortest trace that makes a formula true, with few names; None if there is none.

    The witness of `pptl.not_(formula)` is the shortest trace that makes the formula false.

    >>> from firesteel.logic import pptl
    >>> [sorted(state) for state in pptl.witness("skip ; p and len(2)")]
    [[], ['p'], [], []]
    >>> pptl.witness("p and not p") is None
    True
    """
    return automaton(formula_of(formula), exclusive=exclusive, cap=cap).shortest()


def satisfiable(formula: FormulaLike, *, exclusive: Iterable[Collection[str]] = (), cap: int = CAP) -> bool:
    """Is there a trace that makes the formula true?

    >>> from firesteel.logic import pptl
    >>> pptl.satisfiable("<> p and [] not p"), pptl.satisfiable("p and q", exclusive=[("p", "q")])
    (False, False)
    """
    return witness(formula, exclusive=exclusive, cap=cap) is not None


def equivalent(
    first: FormulaLike, second: FormulaLike, *, exclusive: Iterable[Collection[str]] = (), cap: int = CAP
) -> bool:
    """Are two formulas true of the same traces?

    >>> from firesteel.logic import pptl
    >>> pptl.equivalent("<> p", "true ; p"), pptl.equivalent("(p ; q)*", "p* ; q*")
    (True, False)

    A trace on which they differ is `pptl.witness(pptl.not_(pptl.iff(first, second)))`.
    """
    differ = Not(Iff(formula_of(first, "first"), formula_of(second, "second")))
    return not satisfiable(differ, exclusive=exclusive, cap=cap)
