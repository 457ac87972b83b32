"""Compiles what `define` defines, each definition after those that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.binding import Definition
from firesteel.model.msvl.errors import MsvlError
from firesteel.model.msvl.expressions import Expr
from firesteel.model.msvl.functions import FUNCTIONS
from firesteel.model.msvl.scopes import Scope


def define(definitions: Sequence[t.Define], scope: Scope) -> None:
    """Compile the definitions of a program."""
    trees = {each.name: each for each in definitions}
    for each in definitions:
        if each.name in FUNCTIONS:
            raise MsvlError(f"line {each.line}: {each.name} is a state function: give the definition another name")
        _compile(each, trees, scope)


def _compile(tree: t.Define, trees: dict[str, t.Define], scope: Scope) -> None:
    found: Definition = scope.definitions[tree.name]
    if found.body is not None:
        return
    if found.entered:
        raise MsvlError(
            f"line {tree.line}: {tree.name} is defined by itself. A definition takes no state, so it cannot repeat: "
            "write a function with while"
        )
    found.entered = True
    for part in e.parts_of(tree.body):
        if isinstance(part, e.Apply) and part.function in trees:
            _compile(trees[part.function], trees, scope)
        if isinstance(part, e.Previous | e.Following):
            raise MsvlError(f"line {tree.line}: {tree.name} looks at another state, and a definition must not")
    made = Expr(tree.body, scope)
    found.body, found.names = made.value, made.names


def refuse_twice(kind: str, names: Iterable[str]) -> None:
    """Refuse names that are given twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise MsvlError(f"there are two of {kind} {name}: names have to differ")
        seen.add(name)
