"""What MSVL knows of Python's own functions and methods."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from firesteel.model.msvl import terms as e
from firesteel.model.msvl.python import TEXTS


class Untranslatable(Exception):
    """Something that has no translation; the message says what."""


# Functions of Python that are state functions under another name, with the same arguments.
SAME: dict[Any, str] = {
    len: "size",
    str: "text",
    repr: "shown",
    int: "toint",
    float: "tofloat",
    abs: "abs",
    round: "round",
    list: "tolist",
    tuple: "totuple",
    dict: "tomap",
    sum: "total",
    any: "any",
    all: "all",
    zip: "zip",
    enumerate: "enumerate",
    range: "between",
    ord: "ord",
    chr: "chr",
    iter: "tolist",
    format: "format",
    math.sqrt: "sqrt",
    math.floor: "floor",
    math.ceil: "ceil",
    math.log: "log",
    math.exp: "exp",
}
KNOWN = (*SAME, min, max, bool, sorted, reversed)
"""Functions of Python's own that have a translation."""
_METHODS = {"upper": "upper", "lower": "lower", "startswith": "startswith", "endswith": "endswith"}
_METHODS |= {"replace": "replace", "items": "items", "keys": "keys", "values": "values", "join": "joined"}
_METHODS |= {name: name for name in TEXTS}
_BOOLEAN = {"truth", "has", "any", "all", "startswith", "endswith", "contains"}
_BOOLEAN |= {name for name in TEXTS if name.startswith("is")}
_JOINED: dict[Any, Callable[[Any, Any], e.Expression]] = {
    operator.add: lambda a, b: e.Binary("+", a, b),
    operator.sub: lambda a, b: e.Binary("-", a, b),
    operator.mul: lambda a, b: e.Binary("*", a, b),
    operator.truediv: lambda a, b: e.Apply("divide", (a, b)),
    operator.floordiv: lambda a, b: e.Apply("floordiv", (a, b)),
    operator.mod: lambda a, b: e.Apply("mod", (a, b)),
    operator.and_: lambda a, b: e.Binary("AND", tested(a), tested(b)),
    operator.or_: lambda a, b: e.Binary("OR", tested(a), tested(b)),
}
NULL = e.Constant(None)


def boolean(tree: e.Expression) -> bool:
    """Is it true or false, whatever its variables are?"""
    match tree:
        case e.Binary(sign):
            return sign not in ("+", "-", "*", "/", "%")
        case e.Unary(sign):
            return sign == "!"
        case e.Constant(value):
            return isinstance(value, bool)
        case e.Apply(function):
            return function in _BOOLEAN
        case e.Conditional(_, then, otherwise):
            return boolean(then) and boolean(otherwise)
        case e.Let(_, _, body):
            return boolean(body)
        case _:
            return False


def tested(tree: e.Expression) -> e.Expression:
    """What Python takes a value for in a condition."""
    return tree if boolean(tree) else e.Apply("truth", (tree,))


def joined(function: Any, arguments: list[e.Expression]) -> e.Expression | None:
    """A call of a function of Python's own that has a translation by itself; None if it is not one."""
    if not _hashable(function):
        return None
    if function in _JOINED and len(arguments) == 2:
        return _JOINED[function](*arguments)
    if function in SAME:
        return e.Apply(SAME[function], tuple(arguments))
    if function in (min, max) and arguments:
        given = arguments if len(arguments) > 1 else [e.Apply("tolist", (arguments[0],))]
        return e.Apply(function.__name__, tuple(given))
    if function is bool and len(arguments) == 1:
        return tested(arguments[0])
    if function is sorted and len(arguments) == 1:
        return e.Apply("sorted", (e.Apply("tolist", tuple(arguments)),))
    if function is reversed and len(arguments) == 1:
        return e.Apply("reversed", (e.Apply("tolist", tuple(arguments)),))
    method = getattr(function, "__name__", "")
    if getattr(str, method, None) is function and arguments:
        return method_call(method, arguments[0], arguments[1:])
    return None


def _hashable(thing: Any) -> bool:
    try:
        hash(thing)
    except TypeError:
        return False
    return True


def method_call(name: str, whole: e.Expression, arguments: list[e.Expression]) -> e.Expression:
    """A call of a method of texts, lists or dicts."""
    count = len(arguments)
    match name:
        case "split" if count == 0:
            return e.Apply("words", (whole,))
        case "split" | "strip" if count == 1:
            return e.Apply({"split": "split", "strip": "strip_of"}[name], (whole, *arguments))
        case "split" if count == 2:
            return e.Apply("split_at_most", (whole, *arguments))
        case "strip" if count == 0:
            return e.Apply("strip", (whole,))
        case "get" if count in (1, 2):
            return e.Apply("get", (whole, *arguments, *([NULL] if count == 1 else [])))
        case _ if name in _METHODS:
            return e.Apply(_METHODS[name], (whole, *arguments))
    raise Untranslatable(f"the method {name} with {count} arguments")
