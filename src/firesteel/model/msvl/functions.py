"""The state functions: what an expression may apply to values. They take no state."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from firesteel.model.msvl.python import PYTHON
from firesteel.model.msvl.values import List, Map, Record, plain


class Misfit(Exception):
    """Values that an operation cannot use; the caller knows the line and the state."""


def text_of(value: Any) -> str:
    """A value as text, as `str` gives it in a program."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def kind(value: Any) -> str:
    """The type of a value, as a program names it."""
    match value:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "string"
        case List():
            return "list"
        case Map():
            return "map"
        case tuple():
            return "tuple"
        case None:
            return "null"
        case Record():
            return f"struct {value.name}"
        case _:
            return "no value"


def _numbers(sign: str, *values: Any) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Misfit(f"{sign} needs numbers, and has {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(plain(value))
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({kind(value)})"


def plus(a: Any, b: Any) -> Any:
    if type(a) is int and type(b) is int:
        return a + b
    if isinstance(a, str) and isinstance(b, str):
        return a + b
    if isinstance(a, List) and isinstance(b, List):
        return List([*a, *b])
    if isinstance(a, tuple) and isinstance(b, tuple):
        return a + b
    _numbers("+", a, b)
    return a + b


def minus(a: Any, b: Any) -> Any:
    _numbers("-", a, b)
    return a - b


def times(a: Any, b: Any) -> Any:
    if isinstance(a, str | tuple | List) and type(b) is int:
        return List(list(a) * b) if isinstance(a, List) else a * b
    _numbers("*", a, b)
    return a * b


def divided(a: Any, b: Any) -> Any:
    """Whole numbers are divided as in C: the result is cut towards 0."""
    _numbers("/", a, b)
    if b == 0:
        raise Misfit("a division by 0")
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) is (b < 0) else -1)
    return a / b


def remainder(a: Any, b: Any) -> Any:
    _numbers("%", a, b)
    if b == 0:
        raise Misfit("a division by 0")
    return a - b * divided(a, b) if isinstance(a, int) and isinstance(b, int) else a % b


def compared(sign: str, test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def decided(a: Any, b: Any) -> bool:
        if type(a) is type(b) and type(a) in (int, float, str):
            return test(a, b)
        if (isinstance(a, List) and isinstance(b, List)) or (isinstance(a, tuple) and isinstance(b, tuple)):
            try:
                return test(plain(a), plain(b))
            except TypeError:
                raise Misfit(f"{sign} cannot compare {_shown(a)} and {_shown(b)}") from None
        _numbers(sign, a, b)
        return test(a, b)

    return decided


def _of(name: str, value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        wanted = " or ".join(
            {List: "a list", Map: "a map", str: "a text", int: "a whole number", tuple: "a tuple"}[k] for k in kinds
        )
        raise Misfit(f"{name} needs {wanted}, and has {_shown(value)}")
    return value


def _size(whole: Any) -> int:
    if type(whole) is List:
        return len(whole)
    return len(_of("size", whole, List, Map, str, tuple))


def _append(whole: Any, item: Any) -> List:
    if type(whole) is not List:
        _of("append", whole, List)
    return whole.append(item)  # type: ignore[no-any-return]


def _put(whole: Any, key: Any, item: Any) -> Any:
    if isinstance(whole, Map):
        return whole.put(_key("put", key), item)
    return _of("put", whole, List, Map).put(index("put", whole, key), item)


def index(name: str, whole: Any, place: Any) -> int:
    """The place in a list or text, if it is there."""
    if isinstance(place, bool) or not isinstance(place, int):
        raise Misfit(f"{name} needs a whole number, and has {_shown(place)}")
    if not 0 <= place < len(whole):
        raise Misfit(f"{name} has the place {place}, and there are {len(whole)}, from 0")
    return place


KEYS = (str, int, float, tuple, type(None))
"""What a key of a map may be."""


def items_of(name: str, whole: Any) -> Iterable[Any]:
    """What is in a list, a tuple or a text; of a map, its keys."""
    if isinstance(whole, List | tuple | str | Map):
        return whole
    raise Misfit(f"{name} needs a list, and has {_shown(whole)}")


def _key(name: str, key: Any) -> Any:
    if not isinstance(key, KEYS):
        raise Misfit(f"{name} needs a key that is a number, a text, a bool or a tuple, and has {_shown(key)}")
    return key


def _get(whole: Any, key: Any, default: Any) -> Any:
    if isinstance(whole, Map):
        return whole.get(_key("get", key), default)
    items = list(_of("get", whole, List, Map, tuple))
    return items[key] if isinstance(key, int) and 0 <= key < len(items) else default


def _contains(whole: Any, item: Any) -> bool:
    if isinstance(whole, str):
        return _of("contains", item, str) in whole
    if isinstance(whole, Map):
        return _key("contains", item) in whole
    return item in list(_of("contains", whole, List, Map, str, tuple))


def _remove(whole: Any, key: Any) -> Any:
    if isinstance(whole, Map):
        return whole.without(_key("remove", key))
    items = list(_of("remove", whole, List, Map))
    del items[index("remove", items, key)]
    return List(items)


def _slice(whole: Any, start: Any, end: Any) -> Any:
    _of("slice", whole, List, str, tuple)
    first, last = _of("slice", start, int), _of("slice", end, int)
    return whole[first:last] if isinstance(whole, str | tuple) else List(list(whole)[first:last])


def _sorted(whole: Any) -> List:
    try:
        return List(sorted(_of("sorted", whole, List), key=plain))
    except TypeError:
        raise Misfit(f"sorted cannot order {_shown(whole)}") from None


def _sum(whole: Any) -> Any:
    total: Any = 0
    for item in _of("sum", whole, List):
        total = plus(total, item)
    return total


def _extreme(name: str, choose: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(*values: Any) -> Any:
        items = list(values[0]) if len(values) == 1 and isinstance(values[0], List) else list(values)
        if not items:
            raise Misfit(f"{name} has nothing to choose from")
        try:
            return choose(items, key=plain)
        except TypeError:
            raise Misfit(f"{name} cannot compare {', '.join(map(_shown, items[:3]))}") from None

    return chosen


def _int(value: Any) -> int:
    try:
        return int(value) if isinstance(value, str | int | float) else int(None)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise Misfit(f"int cannot read {_shown(value)}") from None


def _float(value: Any) -> float:
    try:
        return float(value) if isinstance(value, str | int | float) else float(None)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise Misfit(f"float cannot read {_shown(value)}") from None


def _hash(value: Any) -> int:
    """The same in every process, unlike Python's."""
    return int.from_bytes(hashlib.blake2b(repr(plain(value)).encode(), digest_size=4).digest(), "big")


def _absolute(value: Any) -> Any:
    _numbers("abs", value)
    return abs(value)


def _texts(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*values: Any) -> Any:
        for value in values:
            _of(name, value, str)
        return make(*values)

    return made


def _join(separator: Any, items: Any) -> str:
    return str(_of("join", separator, str)).join(map(text_of, _of("join", items, List)))


def _split(text: str, separator: str) -> List:
    if not separator:
        raise Misfit("split needs a separator of at least one character")
    return List(text.split(separator))


FUNCTIONS: dict[str, tuple[Callable[..., Any], int, int]] = {
    # name: the function, the fewest and the most arguments
    "abs": (_absolute, 1, 1),
    "min": (_extreme("min", min), 1, 9),
    "max": (_extreme("max", max), 1, 9),
    "sum": (_sum, 1, 1),
    "hash": (_hash, 1, 1),
    "toint": (_int, 1, 1),
    "tofloat": (_float, 1, 1),
    "str": (text_of, 1, 1),
    "size": (_size, 1, 1),
    "append": (_append, 2, 2),
    "put": (_put, 3, 3),
    "get": (_get, 3, 3),
    "contains": (_contains, 2, 2),
    "remove": (_remove, 2, 2),
    "slice": (_slice, 3, 3),
    "sorted": (_sorted, 1, 1),
    "reversed": (lambda whole: List(list(_of("reversed", whole, List))[::-1]), 1, 1),
    "range": (lambda n: List(range(_of("range", n, int))), 1, 1),
    "keys": (lambda whole: List(_of("keys", whole, Map)), 1, 1),
    "values": (lambda whole: List(item for _, item in _of("values", whole, Map).items()), 1, 1),
    "split": (_texts("split", _split), 2, 2),
    "join": (_join, 2, 2),
    "upper": (_texts("upper", str.upper), 1, 1),
    "lower": (_texts("lower", str.lower), 1, 1),
    "strip": (_texts("strip", str.strip), 1, 1),
    "startswith": (_texts("startswith", str.startswith), 2, 2),
    "endswith": (_texts("endswith", str.endswith), 2, 2),
    "replace": (_texts("replace", str.replace), 3, 3),
}


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python whose errors are told as those of a program."""

    def called(*values: Any) -> Any:
        try:
            return function(*values)
        except Exception as error:
            raise Misfit(f"{type(error).__name__}: {error}, with {', '.join(map(_shown, values))}") from None

    return called


FUNCTIONS |= {name: (_guarded(function), fewest, most) for name, (function, fewest, most) in PYTHON.items()}
