"""Is this the rule that it was? A digest of a formula: its operators, and the code of its functions.

Two rules with the same digest mean the same, as far as code can tell. These are part of it: the instructions of a
function, its constants, its defaults, and the plain values that it takes from a closure or from its module, also inside
functions that it holds. So are the Python functions that it calls by their names, in the same way. What is behind an
attribute, as in `module.name`, and inside objects and classes is not.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from datetime import date, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import CodeType, FunctionType, MethodType
from typing import Any
from uuid import UUID

from firesteel.logic.ltl.formulas import Atom, Constant, Consume, Formula, Intervals, Let, children

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range)
_BY_VALUE = (date, time, timedelta, timezone, Decimal, Fraction, UUID)
"""Classes whose `repr` tells the whole value. A datetime is a date."""

_Numbers = dict[int, int]
"""Functions that were written down already, by their identity: each is written once, and may refer to itself."""


def fingerprint(formula: Formula) -> str:
    """A digest that changes when the meaning of a rule may have changed.

    >>> import firesteel as fs
    >>> fingerprint(fs.always(lambda x: x > 1)) == fingerprint(fs.always(lambda x: x > 1))
    True
    >>> fingerprint(fs.always(lambda x: x > 1)) == fingerprint(fs.always(lambda x: x > 2))
    False
    """
    return _digest(_written(formula, {}, with_code=True))


def shape(formula: Formula) -> str:
    """A digest of the operators alone: what a `let` returns has new functions every time.

    >>> import firesteel as fs
    >>> shape(fs.always(lambda x: x > 1)) == shape(fs.always(lambda x: x > 2)) != shape(fs.eventually(lambda x: x > 1))
    True
    """
    return _digest(_written(formula, {}, with_code=False))


def digest(*values: Any) -> str:
    """A digest of plain values and of the code of functions, the same in every process.

    >>> digest("barrier", lambda x: x > 1) == digest("barrier", lambda x: x > 1) != digest("barrier", lambda x: x > 2)
    True
    """
    return _digest(tuple(_code_of(value) for value in values))


def _digest(written: Any) -> str:
    return hashlib.sha256(repr(written).encode()).hexdigest()[:20]


def _written(formula: Formula, seen: dict[int, int], *, with_code: bool) -> Any:
    """The formula as nested tuples. One that stands in two places is told apart from two that are alike: what is
    remembered of it is kept once."""
    number = seen.setdefault(id(formula), len(seen))
    inside = tuple(_written(child, seen, with_code=with_code) for child in children(formula))
    return (number, type(formula).__name__, *_details(formula, with_code), inside)


def _details(formula: Formula, with_code: bool) -> tuple[Any, ...]:
    match formula:
        case Constant(verdict):
            return (verdict.value,)
        case Atom(predicate):
            return (_code_of(predicate),) if with_code else ()
        case Let(body) | Consume(body):
            return (_code_of(body),) if with_code else ()
        case Intervals():
            whole = formula.automaton
            return (str(formula.formula), whole.accepting, tuple(verdict.value for verdict in whole.verdicts))
        case _:
            return (getattr(formula, "bound", None), getattr(formula, "times", None))


def _code_of(function: Any) -> Any:
    return _value(function, {})


def _function(function: FunctionType, seen: _Numbers) -> Any:
    if id(function) in seen:
        return ("function", seen[id(function)])
    seen[id(function)] = len(seen)
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    used = [(name, function.__globals__[name]) for name in _names(code) if name in function.__globals__]
    return (
        _value(code, seen),
        _value(function.__defaults__ or (), seen),
        _value(sorted((function.__kwdefaults__ or {}).items()), seen),
        tuple(_value(value, seen) for value in cells),
        tuple((name, _value(value, seen)) for name, value in used),
    )


def _names(code: CodeType) -> list[str]:
    """The names that a function asks its module for, also inside the functions that it holds; and attributes."""

    def walk(code: CodeType) -> Iterator[str]:
        yield from code.co_names
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from walk(constant)

    return list(dict.fromkeys(walk(code)))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _value(value: Any, seen: _Numbers) -> Any:
    """A value as something whose repr is the same in every process."""
    match value:
        case CodeType():
            return (value.co_code, value.co_names, tuple(_value(constant, seen) for constant in value.co_consts))
        case FunctionType() if value.__module__ != "builtins":
            return _function(value, seen)
        case MethodType():
            return ("method", _value(value.__func__, seen), _value(value.__self__, seen))
        case functools.partial():
            bound = (*value.args, *sorted(value.keywords.items()))
            return ("partial", _value(value.func, seen), _value(bound, seen))
        case tuple() | list():
            return (type(value).__name__, *(_value(item, seen) for item in value))
        case set() | frozenset():
            return (type(value).__name__, *sorted(repr(_value(item, dict(seen))) for item in value))  # in no order
        case dict():
            return ("dict", *((_value(key, seen), _value(item, seen)) for key, item in value.items()))
        case Enum():
            return (*_name_of(type(value)), value.name, _value(value.value, seen))
        case _ if isinstance(value, _PLAIN):
            return repr(value)
        case _ if isinstance(value, _BY_VALUE):
            return (*_name_of(type(value)), repr(value))
        case _:
            return _name_of(value if isinstance(value, type) else type(value))


def _name_of(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__
