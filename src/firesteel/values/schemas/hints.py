"""Schemas from classes with type hints: dataclasses, NamedTuples, TypedDicts, or any class with annotations."""

from __future__ import annotations

import datetime
import decimal
import types
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, ClassVar, Union, get_args, get_origin, get_type_hints

from firesteel.errors import InvalidArgument

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

# A hint, and what makes the Spark type: the name of its class in pyspark.sql.types, and its arguments.
_ATOMS: dict[Any, tuple[str, tuple[int, ...]]] = {
    bool: ("BooleanType", ()),
    int: ("LongType", ()),
    float: ("DoubleType", ()),
    str: ("StringType", ()),
    bytes: ("BinaryType", ()),
    datetime.date: ("DateType", ()),
    datetime.datetime: ("TimestampType", ()),
    datetime.time: ("TimeType", ()),
    datetime.timedelta: ("DayTimeIntervalType", (0, 3)),
    decimal.Decimal: ("DecimalType", (38, 18)),
}


def from_hints(cls: type) -> StructType:
    """The schema that a class's type hints describe: `X | None` is nullable, all else is NOT NULL.

    >>> class User:
    ...     name: str
    ...     tags: list[str] | None
    >>> from_hints(User).simpleString()
    'struct<name:string,tags:array<string>>'
    """
    return _struct(cls, cls.__qualname__, ())


def _struct(cls: type, path: str, inside: tuple[type, ...]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    if cls in inside:
        raise InvalidArgument(f"{path}: {cls.__qualname__} holds itself, and no Spark type does: break the cycle")
    fields = []
    for name, hint in _hints(cls, path).items():
        kind, nullable = _type(hint, f"{path}.{name}", (*inside, cls))
        fields.append(StructField(name, kind, nullable))
    return StructType(fields)


def _hints(cls: type, path: str) -> dict[str, Any]:
    """The hints that stand for columns: constants of the class and the `_: KW_ONLY` mark do not."""
    try:
        hints = get_type_hints(cls)
    except NameError as error:
        raise InvalidArgument(
            f"{path}: a type hint cannot be read ({error}): define the class it names at the top level of its module"
        ) from error
    columns = {name: hint for name, hint in hints.items() if hint is not KW_ONLY and not _is_constant(hint)}
    if not columns:
        raise InvalidArgument(
            f"{path}: {cls!r} has no type hints, so it describes no columns: "
            "write a dataclass such as `class Click: user: int`, or DDL text such as 'user BIGINT'"
        )
    return columns


def _is_constant(hint: Any) -> bool:
    return hint is ClassVar or get_origin(hint) is ClassVar


def _type(hint: Any, path: str, inside: tuple[type, ...]) -> tuple[DataType, bool]:
    """The Spark type of one hint, and whether it is nullable."""
    from pyspark.sql.types import ArrayType, MapType

    if get_origin(hint) in (Union, types.UnionType):
        rest = [arg for arg in get_args(hint) if arg is not type(None)]
        if len(rest) == 1 and len(get_args(hint)) == 2:
            return _type(rest[0], path, inside)[0], True
        raise _unknown(hint, path)
    if hint in _ATOMS:
        return _atom(hint, path), False
    match get_origin(hint), get_args(hint):
        case origin, (item,) if origin is list:
            element, nulls = _type(item, f"{path}[]", inside)
            return ArrayType(element, nulls), False
        case origin, (key_hint, value_hint) if origin is dict:
            key, null_keys = _type(key_hint, f"{path}.key", inside)
            if null_keys:
                raise InvalidArgument(f"{path}: the keys of a map are never null: write {path} without `| None` there")
            value, nulls = _type(value_hint, f"{path}.value", inside)
            return MapType(key, value, nulls), False
        case None, () if isinstance(hint, type) and getattr(hint, "__annotations__", None):
            return _struct(hint, path, inside), False
        case _:
            raise _unknown(hint, path)


def _atom(hint: Any, path: str) -> DataType:
    from pyspark.sql import types as spark

    name, arguments = _ATOMS[hint]
    make = getattr(spark, name, None)
    if make is None:
        raise InvalidArgument(
            f"{path}: this PySpark has no {name}, the type of {hint!r}: use datetime.datetime, or str"
        )
    kind: DataType = make(*arguments)
    return kind


def _unknown(hint: Any, path: str) -> InvalidArgument:
    known = ", ".join(sorted(atom.__name__ for atom in _ATOMS))
    return InvalidArgument(
        f"{path}: no Spark type for the hint {hint!r}: use {known}, list[T], dict[K, V], a class with hints, "
        "or T | None where nulls are allowed"
    )
