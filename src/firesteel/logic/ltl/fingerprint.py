"""Is this the rule that it was? A digest of a formula: its operators, and the code of its functions.

Two rules with the same digest mean the same, as far as code can tell: the instructions of a function, its constants,
its defaults, and plain values that it takes from a closure or from its module are part of it. What functions that it
calls do is not.
"""

from __future__ import annotations

import functools
import hashlib
from types import CodeType, FunctionType, MethodType
from typing import Any

from firesteel.logic.ltl.formulas import Atom, Constant, Consume, Formula, Intervals, Let, children

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


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
    match function:
        case functools.partial():
            bound = (*function.args, *sorted(function.keywords.items()))
            return ("partial", _code_of(function.func), _value(bound))
        case MethodType():
            return ("method", _code_of(function.__func__), _value(function.__self__))
        case FunctionType():
            return _function(function, ())
        case _:
            return _value(function)


def _function(function: FunctionType, inside: tuple[CodeType, ...]) -> Any:
    code = function.__code__
    if code in inside:  # it refers to itself
        return code.co_name
    inside = (*inside, code)
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    used = [(name, function.__globals__[name]) for name in code.co_names if name in function.__globals__]
    return (
        _instructions(code),
        _value(function.__defaults__ or (), inside),
        _value(sorted((function.__kwdefaults__ or {}).items()), inside),
        tuple(_value(value, inside) for value in cells),
        tuple((name, _value(value, inside)) for name, value in used),
    )


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _instructions(code: CodeType) -> Any:
    return (code.co_code, code.co_names, tuple(_value(constant) for constant in code.co_consts))


def _value(value: Any, inside: tuple[CodeType, ...] = ()) -> Any:
    """A value as something whose repr is the same in every process."""
    match value:
        case CodeType():
            return _instructions(value)
        case FunctionType() if value.__module__ != "builtins":
            return _function(value, inside)
        case tuple() | list():
            return (type(value).__name__, *(_value(item, inside) for item in value))
        case set() | frozenset():
            return (type(value).__name__, *sorted(repr(_value(item, inside)) for item in value))
        case dict():
            return ("dict", *((_value(key, inside), _value(item, inside)) for key, item in value.items()))
        case _ if isinstance(value, _PLAIN):
            return repr(value)
        case _:
            kind = value if isinstance(value, type) else type(value)
            return (kind.__module__, kind.__qualname__)
