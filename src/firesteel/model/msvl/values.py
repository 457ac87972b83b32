"""The values of a program: numbers, texts, bools, null, tuples, and lists, maps and structures that never change.

A changed list or map is a new value, and the old one stays as it was. Both share one Python list or dict, which belongs
to the newest of them; an older one remembers what is different. So the newest value is changed and read in constant
time, however long it is, and older ones are there for `previous`, for traces, and for the choices of `or`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

UNSET = type("Unset", (), {"__repr__": lambda self: "(no value)", "__slots__": ()})()
"""The element of an array, or the field of a structure, that has no value."""

_ABSENT = object()

# How many steps an old value looks ahead before it takes a copy of its own.
_NEAR = 8


class _Shared:
    """A value that shares its content with older and newer ones."""

    __slots__ = ("_content", "_newer")
    _content: Any
    _newer: tuple[Any, Any, Any] | None

    def _own(self) -> Any:
        """The content, for reading and changing: an old value takes a copy of its own."""
        if self._newer is None:
            return self._content
        changes: list[tuple[Any, Any]] = []
        value: Any = self
        while value._newer is not None:
            newer, key, old = value._newer
            changes.append((key, old))
            value = newer
        content = value._content.copy()
        for key, old in reversed(changes):
            self._undo(content, key, old)
        self._content, self._newer = content, None
        return content

    def _undo(self, content: Any, key: Any, old: Any) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        return repr(plain(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._own(),)


class List(_Shared):
    """A list.

    >>> short = List([1, 2])
    >>> long = short.append(3)
    >>> short, long, long.at(2)
    ([1, 2], [1, 2, 3], 3)
    """

    __slots__ = ()

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._content, self._newer = list(items), None

    def append(self, item: Any) -> List:
        content = self._content if self._newer is None else self._own()
        content.append(item)
        return self._succeeded(content, None, None)

    def put(self, index: int, item: Any) -> List:
        content = self._own()
        old, content[index] = content[index], item
        return self._succeeded(content, index, old)

    def _succeeded(self, content: list[Any], key: Any, old: Any) -> List:
        newer = List.__new__(List)
        newer._content, newer._newer = content, None
        self._newer = (newer, key, old)
        return newer

    def _undo(self, content: Any, key: Any, old: Any) -> None:
        if key is None:
            content.pop()
        else:
            content[key] = old

    def at(self, index: int) -> Any:
        if self._newer is None:
            return self._content[index]
        value: Any = self
        for _ in range(_NEAR):
            if value._newer is None:
                return value._content[index]
            value, key, old = value._newer
            if key == index:
                return old
        return self._own()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._own())

    def __len__(self) -> int:
        if self._newer is None:
            return len(self._content)
        value: Any = self
        appended = 0
        for _ in range(_NEAR):
            if value._newer is None:
                return len(value._content) - appended
            value, key, _ = value._newer
            appended += key is None
        return len(self._own())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, List) and self._own() == other._own())

    __hash__ = None  # type: ignore[assignment]


class Map(_Shared):
    """A map, in the order in which its keys came.

    >>> one = Map({"a": 1})
    >>> two = one.put("b", 2)
    >>> one, two
    ({'a': 1}, {'a': 1, 'b': 2})
    """

    __slots__ = ()

    def __init__(self, items: Mapping[Any, Any] | None = None) -> None:
        self._content, self._newer = dict(items or {}), None

    def put(self, key: Any, value: Any) -> Map:
        content = self._own()
        old = content.get(key, _ABSENT)
        content[key] = value
        newer = Map.__new__(Map)
        newer._content, newer._newer = content, None
        self._newer = (newer, key, old)
        return newer

    def _undo(self, content: Any, key: Any, old: Any) -> None:
        if old is _ABSENT:
            del content[key]
        else:
            content[key] = old

    def without(self, key: Any) -> Map:
        return Map({k: v for k, v in self._own().items() if k != key})

    def get(self, key: Any, default: Any = None) -> Any:
        return self._own().get(key, default)

    def __contains__(self, key: Any) -> bool:
        return key in self._own()

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self._own().items()  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._own())

    def __len__(self) -> int:
        return len(self._own())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Map) and self._own() == other._own())

    __hash__ = None  # type: ignore[assignment]


class Record:
    """A structure: its name, and a value for each field."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: Mapping[str, Any]) -> None:
        self.name, self.fields = name, dict(fields)

    def put(self, field: str, value: Any) -> Record:
        return Record(self.name, {**self.fields, field: value})

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Record) and self.name == other.name and self.fields == other.fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(plain(self))


def plain(value: Any) -> Any:
    """The value as a user of Python knows it: a structure is a dict, and what has no value is None.

    >>> plain(List([Record("P", {"x": 1}), UNSET]))
    [{'x': 1}, None]
    """
    match value:
        case str() | int() | float():
            return value
        case List():
            return [plain(item) for item in value]
        case tuple():
            return tuple(plain(item) for item in value)
        case Map():
            return {key: plain(item) for key, item in value.items()}
        case Record():
            return {name: plain(item) for name, item in value.fields.items()}
        case _:
            return None if value is UNSET else value


def lifted(value: Any) -> Any:
    """A value of Python as one of a program; TypeError for what a program does not know.

    >>> lifted([1, {"a": 2}])
    [1, {'a': 2}]
    """
    match value:
        case bool() | int() | float() | str() | None | List() | Map() | Record():
            return value
        case list():
            return List([lifted(item) for item in value])
        case tuple():
            return tuple([lifted(item) for item in value])
        case Mapping():
            if not all(isinstance(key, str | int | float | bool | tuple | None) for key in value):
                raise TypeError("a map has keys that are neither texts nor numbers nor tuples")
            return Map({key: lifted(item) for key, item in value.items()})
        case _:
            raise TypeError(f"{type(value).__name__} is not a type of MSVL")


def same(left: Any, right: Any) -> bool:
    """Are two values the same? `true` is not 1 here, though 1 equals 1.0."""
    if left is right:
        return True
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    return bool(left == right)
