"""Parts of values: elements of lists and maps, and fields of structures, by a path of steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from firesteel.model.msvl.functions import KEYS, Misfit, index
from firesteel.model.msvl.values import UNSET, List, Map, Record


class Dot:
    """The step to a field; the step to an element is its index or key, a plain value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dot) and other.name == self.name

    def __hash__(self) -> int:
        return hash(("dot", self.name))


def part_of(whole: Any, path: Iterable[Any]) -> Any:
    """The part of a value that a path leads to; it may be UNSET.

    >>> part_of(List([Record("P", {"x": 7})]), (0, Dot("x")))
    7
    """
    for step in path:
        whole = _one(whole, step)
    return whole


def _one(whole: Any, step: Any) -> Any:
    if type(whole) is List:
        return whole.at(index("an index", whole, step))
    if type(step) is Dot:
        if not isinstance(whole, Record) or step.name not in whole.fields:
            raise Misfit(f"{whole!r} has no field {step.name!r}")
        return whole.fields[step.name]
    if isinstance(whole, Map):
        found = whole.get(step, UNSET) if isinstance(step, KEYS) else UNSET
        if found is UNSET:
            raise Misfit(f"a map has no key {step!r}")
        return found
    if isinstance(whole, str | tuple):
        return whole[index("an index", whole, step)]
    raise Misfit(f"{whole!r} has no elements")


def changed(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A value with another part.

    >>> changed(List([1, 2]), (1,), 9)
    [1, 9]
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(whole, Map) and not rest and isinstance(step, KEYS):
        return whole.put(step, value)
    inner = changed(_one(whole, step), rest, value)
    if isinstance(whole, Record):
        return whole.put(step.name, inner)
    if isinstance(whole, List | Map):
        return whole.put(step, inner)
    raise Misfit(f"{whole!r} has no elements that can be assigned")


def written(path: tuple[Any, ...]) -> str:
    """A path as it is written: `[0].order`."""
    return "".join(f".{step.name}" if isinstance(step, Dot) else f"[{step!r}]" for step in path)


def overlap(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    """Is one of two parts inside the other, or are they the same?"""
    shorter = min(len(one), len(two))
    return one[:shorter] == two[:shorter]
