"""Declared types: does a value fit, and what is an array or a structure before it has values?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.errors import MsvlError
from firesteel.model.msvl.functions import kind
from firesteel.model.msvl.scopes import Scope
from firesteel.model.msvl.values import UNSET, List, Map, Record, plain

if TYPE_CHECKING:
    from firesteel.model.msvl.machine import Machine


class Fits:
    """Refuses a value that does not fit a declared type."""

    __slots__ = ("name", "type")

    def __init__(self, type_: t.Type, name: str) -> None:
        self.type, self.name = type_, name

    def __call__(self, machine: Machine, value: Any, line: int) -> None:
        if not fits(value, self.type):
            raise machine.unusable(
                f"{self.name} is declared as {spelled(self.type)}, and {plain(value)!r} ({kind(value)}) is assigned",
                line,
            )


def spelled(type_: t.Type) -> str:
    return f"struct {type_.name}" if type_.struct else type_.name


def fits(value: Any, type_: t.Type) -> bool:
    """Has a value this type?"""
    if type_.struct:
        return isinstance(value, Record) and value.name == type_.name
    match type_.name:
        case "int":
            return type(value) is int
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "bool":
            return isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "list":
            return isinstance(value, List)
        case _:
            return isinstance(value, Map)


def fitting(location: e.Location, scope: Scope) -> Fits | None:
    """What may be assigned to a location, as far as its declaration says."""
    declared = _declaration(location, scope)
    if declared is None or declared.sizes:
        return None
    return Fits(declared.type, _written(location))


def _declaration(location: e.Expression, scope: Scope) -> t.Declared | None:
    """The declaration of a location: of a variable, less one size for an index, or of a field."""
    match location:
        case e.Variable(name):
            found = scope.names.get(name)
            return None if found is None else found.declared
        case e.Index(whole):
            outer = _declaration(whole, scope)
            if outer is None or not outer.sizes:
                return None
            return t.Declared(outer.type, outer.name, outer.sizes[1:])
        case e.Field(whole, name):
            outer = _declaration(whole, scope)
            if outer is None or outer.sizes or not outer.type.struct:
                return None
            return next((field for field in struct_of(outer.type, scope).fields if field.name == name), None)
    return None


def _written(location: e.Expression) -> str:
    match location:
        case e.Index(whole):
            return f"{_written(whole)}[...]"
        case e.Field(whole, name):
            return f"{_written(whole)}.{name}"
        case e.Variable(name):
            return name
    return "..."


def struct_of(type_: t.Type, scope: Scope) -> t.Struct:
    if type_.name not in scope.structs:
        raise MsvlError(f"there is no struct {type_.name!r}: write struct {type_.name} {{int x and ...}};")
    return scope.structs[type_.name]


Blank = Callable[["Machine", dict[str, Any]], Any]


def blank(declared: t.Declared, scope: Scope) -> Blank | None:
    """What a declared variable is before it has values: None for one that is neither an array nor a structure."""
    from firesteel.model.msvl.expressions import Expr

    if not declared.sizes and not declared.type.struct:
        return None
    sizes = [Expr(size, scope) for size in declared.sizes]
    fields: list[tuple[str, Blank | None]] = []
    if declared.type.struct:
        fields = [(field.name, blank(field, scope)) for field in struct_of(declared.type, scope).fields]

    def element(machine: Machine, activation: dict[str, Any]) -> Any:
        if not declared.type.struct:
            return UNSET
        return Record(
            declared.type.name,
            {name: UNSET if make is None else make(machine, activation) for name, make in fields},
        )

    def made(machine: Machine, activation: dict[str, Any], depth: int = 0) -> Any:
        if depth == len(sizes):
            return element(machine, activation)
        size = sizes[depth].value(machine, activation)
        if type(size) is not int or size < 0:
            raise machine.unusable(f"{declared.name} has the size {size!r}, which is not a whole number", declared.line)
        return List(made(machine, activation, depth + 1) for _ in range(size))

    return made


def shaped(value: Any, type_: t.Type, sizes: tuple[int, ...], scope: Scope) -> Any:
    """A value from outside as its declaration wants it: a dict for a structure becomes one. TypeError if it does not
    fit."""
    if sizes:
        if not isinstance(value, List) or len(value) != sizes[0]:
            raise TypeError(f"it needs a list of {sizes[0]}")
        return List(shaped(item, type_, sizes[1:], scope) for item in value)
    if type_.struct and isinstance(value, Map):
        fields = struct_of(type_, scope).fields
        if sorted(map(str, value)) != sorted(field.name for field in fields):
            raise TypeError(f"struct {type_.name} has the fields {', '.join(field.name for field in fields)}")
        made = {}
        for field in fields:
            inner = tuple(size.value for size in field.sizes if isinstance(size, e.Constant))
            made[field.name] = shaped(value.get(field.name), field.type, inner, scope)  # type: ignore[arg-type]
        return Record(type_.name, made)
    if not fits(value, type_):
        raise TypeError(f"{kind(value)} is not {spelled(type_)}")
    return value
