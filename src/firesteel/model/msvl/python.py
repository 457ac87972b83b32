"""State functions that mean what Python means by them. Functions of a Spark program are translated into these.

They take and give values of a program: a tuple is a tuple, a list is a `List`, a dict is a `Map`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from firesteel.model.msvl.values import List, Map, lifted, plain


def _native(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python, for plain values."""
    return lambda *values: lifted(function(*map(plain, values)))


def _truth(value: Any) -> bool:
    return len(value) > 0 if isinstance(value, List | Map) else bool(value)


def _list(value: Any) -> List:
    return List(value)


def _sorted_by(pairs: Any, backwards: Any = False) -> List:
    """The second parts of pairs, in the order of their first parts. Equal ones stay in their order."""
    return List(pair[1] for pair in sorted(pairs, key=lambda pair: plain(pair[0]), reverse=bool(backwards)))


def _extreme_by(choose: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda pairs: choose(pairs, key=lambda pair: plain(pair[0]))[1]


def _element(whole: Any, place: Any) -> Any:
    """`whole[place]`, where a negative place counts from the end."""
    if isinstance(whole, Map):
        if place not in whole:
            raise KeyError(place)
        return whole.get(place)
    return list(whole)[place] if isinstance(whole, List) else whole[place]


def _sliced(whole: Any, start: Any, end: Any, step: Any = None) -> Any:
    part = slice(start, end, step)
    return List(list(whole)[part]) if isinstance(whole, List) else whole[part]


def _in(item: Any, whole: Any) -> bool:
    return item in (list(whole) if isinstance(whole, List) else whole)


def _sum(items: Any, start: Any = 0) -> Any:
    for item in items:
        start = start + item if not isinstance(start, List) else List([*start, *item])
    return start


def _extend(whole: Any, items: Any) -> List:
    """A list with more at its end, in the time that these take."""
    if not isinstance(whole, List):
        raise TypeError("it is not a list")
    made = whole
    for item in items:
        made = made.append(item)
    return made


def _flat(parts: Any) -> List:
    """All that is in the parts, in their order: what `flatMap` does."""
    return List(item for part in parts for item in part)


def _within(value: Any, low: Any, high: Any) -> Any:
    """A number, if it is not too large for its type; null bounds allow all."""
    if low is not None and not low <= value <= high:
        raise OverflowError(f"{value} is not between {low} and {high}")
    return value


def _substring(text: str, start: int, size: int) -> str:
    """A part of a text as SQL counts: from 1, or from the end where the start is negative."""
    first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[max(first, 0) : max(first + size, 0)]


# --- what PySpark does with keys ---

_MASK = (1 << 64) - 1


def _rotated(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (64 - bits))) & _MASK


def _signed(x: int) -> int:
    return x - (1 << 64) if x >> 63 else x


@lru_cache(maxsize=100_000)
def text_hash(text: str) -> int:
    """What Python's `hash` gives for a text where PYTHONHASHSEED is 0, as it is in Spark's workers: SipHash-1-3.

    >>> text_hash("spark")
    226417650480810963
    """
    if not text:
        return 0
    widest = max(map(ord, text))
    data = text.encode("latin-1" if widest < 256 else "utf-16-le" if widest < 65536 else "utf-32-le", "surrogatepass")
    v0, v1, v2, v3 = 0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573

    def round_(v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
        v0 = (v0 + v1) & _MASK
        v1 = _rotated(v1, 13) ^ v0
        v0 = _rotated(v0, 32)
        v2 = (v2 + v3) & _MASK
        v3 = _rotated(v3, 16) ^ v2
        v0 = (v0 + v3) & _MASK
        v3 = _rotated(v3, 21) ^ v0
        v2 = (v2 + v1) & _MASK
        v1 = _rotated(v1, 17) ^ v2
        v2 = _rotated(v2, 32)
        return v0, v1, v2, v3

    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[place : place + 8], "little") for place in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | ((len(data) & 0xFF) << 56))
    for word in words:
        v3 ^= word
        v0, v1, v2, v3 = round_(v0, v1, v2, v3)
        v0 ^= word
    v2 ^= 0xFF
    for _ in range(3):
        v0, v1, v2, v3 = round_(v0, v1, v2, v3)
    found = _signed(v0 ^ v1 ^ v2 ^ v3)
    return -2 if found == -1 else found


def key_hash(key: Any) -> int:
    """The hash by which PySpark chooses a key's partition.

    >>> key_hash(None), key_hash(7), key_hash(("a", 1)) == key_hash(("a", 1))
    (0, 7, True)
    """
    if key is None:
        return 0
    if isinstance(key, str):
        return text_hash(key)
    if isinstance(key, tuple):
        found = 0x345678
        for item in key:
            found ^= key_hash(item)
            found *= 1000003
            found &= (1 << 63) - 1
        found ^= len(key)
        return -2 if found == -1 else found
    return hash(key)


def _bounds(keys: Any, partitions: int) -> List:
    """Where a range partitioner that has seen all keys cuts them: pairs of what a key is compared by, and the key."""
    found = list(_sorted_by(keys))
    return List(found[len(found) * (i + 1) // partitions] for i in range(partitions - 1)) if found else List()


def _range_place(key: Any, bounds: Any, ascending: Any, partitions: int) -> int:
    """The partition of a key among the ranges."""
    from bisect import bisect_left

    place = bisect_left([plain(bound) for bound in bounds], plain(key))
    return place if ascending else partitions - 1 - place


def _text(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(*values: Any) -> Any:
        if not isinstance(values[0], str):
            raise TypeError("it is not a text")
        return lifted(make(*map(plain, values)))

    return made


TEXTS = (
    *("capitalize", "casefold", "center", "count", "find", "index", "isalnum", "isalpha", "isdigit", "islower"),
    *("isnumeric", "isspace", "isupper", "ljust", "lstrip", "partition", "removeprefix", "removesuffix", "rfind"),
    *("rjust", "rpartition", "rsplit", "rstrip", "splitlines", "swapcase", "title", "zfill"),
)
"""The methods of texts that are state functions under their own names, beside those in `functions`."""

PYTHON: dict[str, tuple[Callable[..., Any], int, int]] = {
    # name: the function, the fewest and the most arguments
    **{name: (_text(getattr(str, name)), 1, 3) for name in TEXTS},
    "count": (_native(lambda whole, item: whole.count(item)), 2, 2),
    "index": (_native(lambda whole, item: whole.index(item)), 2, 2),
    "truth": (_truth, 1, 1),
    "divide": (lambda a, b: a / b, 2, 2),
    "floordiv": (lambda a, b: a // b, 2, 2),
    "mod": (_native(lambda a, b: a % b), 2, 2),
    "power": (lambda a, b: a**b, 2, 2),
    "text": (_native(str), 1, 1),
    "shown": (_native(repr), 1, 1),
    "format": (_native(format), 1, 2),
    "round": (_native(round), 1, 2),
    "sqrt": (_native(math.sqrt), 1, 1),
    "floor": (_native(math.floor), 1, 1),
    "ceil": (_native(math.ceil), 1, 1),
    "log": (_native(math.log), 1, 2),
    "exp": (_native(math.exp), 1, 1),
    "ord": (_native(ord), 1, 1),
    "chr": (_native(chr), 1, 1),
    "words": (_text(str.split), 1, 1),
    "strip_of": (_text(str.strip), 2, 2),
    "split_at_most": (_text(str.split), 3, 3),
    "joined": (_native(lambda separator, items: separator.join(items)), 2, 2),
    "tolist": (_list, 1, 1),
    "totuple": (tuple, 1, 1),
    "tomap": (lambda pairs: Map(dict(pairs)) if not isinstance(pairs, Map) else pairs, 0, 1),
    "items": (lambda whole: List(whole.items()), 1, 1),
    "distinct": (lambda items: List(dict.fromkeys(items)), 1, 1),
    "element": (_element, 2, 2),
    "part": (_sliced, 3, 4),
    "has": (_in, 2, 2),
    "total": (_sum, 1, 2),
    "any": (lambda items: any(map(_truth, items)), 1, 1),
    "all": (lambda items: all(map(_truth, items)), 1, 1),
    "enumerate": (lambda items, first=0: List(enumerate(items, first)), 1, 2),
    "zip": (lambda *lists: List(zip(*lists, strict=False)), 1, 9),
    "between": (lambda *numbers: List(range(*numbers)), 1, 3),
    "sortedby": (_sorted_by, 1, 2),
    "minby": (_extreme_by(min), 1, 1),
    "maxby": (_extreme_by(max), 1, 1),
    "within": (_within, 3, 3),
    "substring": (_substring, 3, 3),
    "flat": (_flat, 1, 1),
    "extend": (_extend, 2, 2),
    "keyhash": (key_hash, 1, 1),
    "bounds": (_bounds, 2, 2),
    "rangeplace": (_range_place, 4, 4),
}
