"""Compiled expressions that are made of others: conditions, lists, tuples, maps and structures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.model.msvl import terms as e
from firesteel.model.msvl.errors import MsvlError
from firesteel.model.msvl.scopes import Activation, Scope
from firesteel.model.msvl.values import List, Map, Record

if TYPE_CHECKING:
    from firesteel.model.msvl.machine import Machine

Evaluate: TypeAlias = Callable[["Machine", Activation], Any]


def negated(body: Evaluate, line: int) -> Evaluate:
    def value(m: Machine, a: Activation) -> bool:
        given = body(m, a)
        if given is True or given is False:
            return not given
        raise m.unusable(f"! needs true or false, and has {given!r}", line)

    return value


def logical(settles: bool, left: Evaluate, right: Evaluate, line: int) -> Evaluate:
    """AND and OR: the right side is asked only where the left does not settle it."""

    def decided(m: Machine, a: Activation) -> bool:
        first = left(m, a)
        if first is settles:
            return bool(settles)
        second: Any = right(m, a) if first is (not settles) else first
        if second is True or second is False:
            return bool(second)
        raise m.unusable(f"{'OR' if settles else 'AND'} needs true or false, and has {second!r}", line)

    return decided


def made_tuple(items: list[Evaluate]) -> Evaluate:
    if len(items) == 2:
        one, two = items
        return lambda m, a: (one(m, a), two(m, a))
    return lambda m, a: tuple([item(m, a) for item in items])


def made_list(items: list[Evaluate]) -> Evaluate:
    return lambda m, a: List([item(m, a) for item in items])


def made_map(items: list[tuple[Evaluate, Evaluate]], tree: e.MapOf) -> Evaluate:
    def made(m: Machine, a: Activation) -> Map:
        try:
            return Map({key(m, a): value(m, a) for key, value in items})
        except TypeError:
            raise m.unusable("a map has keys that are numbers, texts, bools or tuples", 0) from None

    return made


def made_struct(name: str, fields: dict[str, Evaluate], scope: Scope, line: int) -> Evaluate:
    struct = scope.structs.get(name)
    if struct is None:
        raise MsvlError(f"line {line}: there is no struct {name!r}")
    wanted = {field.name for field in struct.fields}
    if wanted != fields.keys():
        raise MsvlError(
            f"line {line}: struct {name} has the fields {', '.join(sorted(wanted))}; write each of them once"
        )
    return lambda m, a: Record(name, {field: value(m, a) for field, value in fields.items()})
