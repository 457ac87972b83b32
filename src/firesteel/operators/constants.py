"""The pool: constants of the code, its closure and the functions it calls."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime
from typing import Any

from firesteel.operators.domains import Pool
from firesteel.operators.kinds import inner_function
from firesteel.operators.watching import codes_of

_MOST = 60


def pool_of(functions: Iterable[Callable[..., Any]]) -> Pool:
    """The constants of some functions.

    >>> pool_of([lambda x: x == 48_611 or x == "red"])
    Pool(ints=(48611,), floats=(), strings=('red',), binaries=(), dates=(), moments=())
    """
    functions = list(functions)
    found: list[Any] = []
    for code in codes_of(functions):
        found += _flat(code.co_consts[1:] if _has_docstring(code) else code.co_consts)
    for function in functions:
        for part in _held(function):
            found += _flat(part)
    ints = _some(value for value in found if isinstance(value, int) and not isinstance(value, bool))
    texts = _some(value for value in found if isinstance(value, str))
    moments = [value for value in found if isinstance(value, datetime)]
    dates = [value for value in found if isinstance(value, date) and not isinstance(value, datetime)]
    dates += _dates_of(found)
    for text in texts:
        with suppress(ValueError):
            moments.append(datetime.fromisoformat(text))
            dates.append(moments[-1].date())
    return Pool(
        ints,
        _some(value for value in found if isinstance(value, float)),
        texts,
        _some(value for value in found if isinstance(value, bytes)),
        _some(dates),
        _some(moments),
    )


def _has_docstring(code: types.CodeType) -> bool:
    """Is the first constant what the function says about itself? A comprehension has its own constants there."""
    return bool(code.co_consts) and isinstance(code.co_consts[0], str) and not code.co_name.startswith("<")


def _some(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))[:_MOST]


def _dates_of(found: list[Any]) -> Iterator[date]:
    """The dates that may be written in code: Python keeps equal numbers once, so all combinations are tried."""
    numbers = _some(value for value in found if isinstance(value, int) and not isinstance(value, bool))
    days = [number for number in numbers if 1 <= number <= 31]
    for year in (number for number in numbers if 1900 <= number <= 2100):
        for month in (number for number in days if number <= 12):
            for day in days:
                with suppress(ValueError):
                    yield date(year, month, day)


def _held(function: Callable[..., Any]) -> Iterator[Any]:
    """What a function holds besides its code: closure, defaults, globals that are plain data, attributes."""
    yield getattr(function, "args", ())  # of a partial
    yield getattr(function, "keywords", {})
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        yield getattr(owner, "__dict__", {})
    yield getattr(function, "__dict__", {})
    inner = inner_function(function)
    yield getattr(inner, "__defaults__", None) or ()
    for cell in getattr(inner, "__closure__", None) or ():
        with suppress(ValueError):
            yield cell.cell_contents
    code = getattr(inner, "__code__", None)
    if isinstance(code, types.CodeType):
        for each in (code, *codes_of([function])):
            for name in each.co_names:
                if name in inner.__globals__:
                    yield inner.__globals__[name]


def _flat(value: Any, depth: int = 3) -> Iterator[Any]:
    match value:
        case int() | float() | str() | bytes() | date():
            yield value
        case tuple() | list() | set() | frozenset() if depth and len(value) <= 200:
            for each in value:
                yield from _flat(each, depth - 1)
        case dict() if depth and len(value) <= 200:
            for pair in value.items():
                yield from _flat(pair, depth - 1)
        case _:
            return
