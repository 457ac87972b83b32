"""Captured data: as an expression in the text of a program, and as JSON in a file beside it.

JSON has no tuples, and its keys are texts: `{"tuple": [...]}` and `{"map": [[key, value], ...]}` stand for them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from firesteel.model.msvl import terms as e
from firesteel.model.msvl.errors import MsvlError
from firesteel.model.msvl.values import List, Map


def expression_of(value: Any) -> e.Expression:
    """The expression whose value this is; TypeError for what a program does not know.

    >>> from firesteel.model.msvl.printing import expression_text
    >>> expression_text(expression_of([("a", 1), None, -2.5]))
    '[("a", 1), null, -2.5]'
    """
    match value:
        case None | bool() | int() | str():
            return e.Constant(_plain(value))
        case float():
            return _float(float(value))
        case list() | List():
            return e.ListOf(tuple(map(expression_of, value)))
        case tuple():
            return e.TupleOf(tuple(map(expression_of, value)))
        case dict() | Map():
            return e.MapOf(tuple((expression_of(key), expression_of(each)) for key, each in value.items()))
        case _:
            raise TypeError(f"{type(value).__name__} is not a type of MSVL")


def _plain(value: Any) -> Any:
    """Without a class of its own, such as that of an enumeration."""
    for kind in (bool, int, str):
        if isinstance(value, kind):
            return kind(value) if type(value) is not kind else value
    return value


def _float(value: float) -> e.Expression:
    """A number, or what cannot be written as one: infinity, and what is not a number."""
    if value - value != 0:
        return e.Apply("tofloat", (e.Constant(str(value)),))
    return e.Constant(value)


def value_of(tree: e.Expression) -> Any:
    """The value of an expression that reads nothing; the other way round."""
    match tree:
        case e.Constant(value):
            return value
        case e.ListOf(items):
            return List([value_of(item) for item in items])
        case e.TupleOf(items):
            return tuple([value_of(item) for item in items])
        case e.MapOf(items):
            return Map({value_of(key): value_of(item) for key, item in items})
        case e.Apply("tofloat", (e.Constant(str() as text),)):
            return float(text)
        case _:
            raise TypeError("it is not a plain value: numbers, texts, lists, tuples and maps")


def write(path: Path, inputs: dict[str, Any]) -> None:
    """Put inputs into a file."""
    path.write_text(json.dumps({name: encoded(value) for name, value in inputs.items()}), encoding="utf-8")


def read(path: Path, name: str) -> Any:
    """An input from a file."""
    try:
        return decoded(json.loads(path.read_text(encoding="utf-8"))[name])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MsvlError(f"the input {name!r} is in {str(path)!r}, which cannot be read: {error!r}") from None


def encoded(value: Any) -> Any:
    """A value as JSON knows it.

    >>> encoded([("a", 1)]), decoded(encoded([("a", 1)]))
    ([{'tuple': ['a', 1]}], [('a', 1)])
    """
    match value:
        case list() | List():
            return [encoded(item) for item in value]
        case tuple():
            return {"tuple": [encoded(item) for item in value]}
        case dict() | Map():
            return {"map": [[encoded(key), encoded(item)] for key, item in value.items()]}
        case _:
            return value


def decoded(value: Any) -> Any:
    """The other way round."""
    match value:
        case list():
            return [decoded(item) for item in value]
        case {"tuple": items}:
            return tuple([decoded(item) for item in items])
        case {"map": pairs}:
            return {decoded(key): decoded(item) for key, item in pairs}
        case _:
            return value
