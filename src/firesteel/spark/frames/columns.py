"""The columns of two DataFrames: how their names and types differ, and which column is compared with which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firesteel.evidence.frames import ColumnTypes
from firesteel.spark.engines.recorded import with_unique_names
from firesteel.spark.frames.stored import storage
from firesteel.values.schemas import type_ddl

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


@dataclass(frozen=True)
class Pair:
    """A column of the left frame and the column of the right one that it is compared with."""

    name: str
    index: tuple[int, int]
    """Where the column stands in each frame."""
    kinds: tuple[DataType, DataType]
    layouts: tuple[DataType, DataType]
    """The order of struct fields in which the values of each side are compared."""

    @property
    def kind(self) -> DataType:
        """The type as which values are read back."""
        return self.kinds[0]


def by_name(left: StructType, right: StructType, ignore: Sequence[str] = ()) -> tuple[Pair, ...]:
    """Columns of the same name, in the left frame's order, and the fields of structs likewise."""
    mine, theirs = named_kinds(left, ignore), named_kinds(right, ignore)
    places = [with_unique_names(schema).fieldNames().index for schema in (left, right)]
    return tuple(
        Pair(name, (places[0](name), places[1](name)), (kind, theirs[name]), (kind, kind))
        for name, kind in mine.items()
    )


def by_position(left: StructType, right: StructType) -> tuple[Pair, ...]:
    """The first column with the first, the second with the second, and the fields of structs likewise."""
    kinds = [(mine.dataType, other.dataType) for mine, other in zip(left.fields, right.fields, strict=True)]
    names = with_unique_names(left).fieldNames()
    return tuple(Pair(name, (index, index), kinds[index], kinds[index]) for index, name in enumerate(names))


def named_kinds(schema: StructType, ignore: Sequence[str] = ()) -> dict[str, DataType]:
    """The types of a schema's columns, or of a struct's fields, by name; a name that comes again gets a number."""
    unique = with_unique_names(schema)
    return {
        field.name: field.dataType
        for field, given in zip(unique.fields, schema.fields, strict=True)
        if given.name not in ignore
    }


def schema_difference(left: StructType, right: StructType, ignore: Sequence[str] = ()) -> tuple[ColumnTypes, ...]:
    """The columns that two schemas do not share. The order of columns does not count, nor whether they allow nulls.

    >>> from firesteel.values import schemas
    >>> for column in schema_difference(schemas.parse("a INT, b STRING, c INT"), schemas.parse("c INT, a BIGINT")):
    ...     print(column)
    ColumnTypes(name='a', left='INT', right='BIGINT')
    ColumnTypes(name='b', left='STRING', right=None)
    """
    mine, theirs = named_kinds(left, ignore), named_kinds(right, ignore)
    return tuple(
        ColumnTypes(name, _ddl(mine, name), _ddl(theirs, name))
        for name in dict.fromkeys((*mine, *theirs))
        if name not in mine or name not in theirs or not _agree(mine[name], theirs[name])
    )


def _ddl(kinds: dict[str, DataType], name: str) -> str | None:
    if name not in kinds:
        return None
    kind = kinds[name]
    return type_ddl(kind) if storage(kind) == kind else kind.simpleString()


def _agree(left: DataType, right: DataType) -> bool:
    """The same type, whether or not it allows nulls, and in whatever order the fields of its structs come."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match left, right:
        case ArrayType(), ArrayType():
            return _agree(left.elementType, right.elementType)
        case MapType(), MapType():
            return _agree(left.keyType, right.keyType) and _agree(left.valueType, right.valueType)
        case StructType(), StructType():
            mine, theirs = named_kinds(left), named_kinds(right)
            return mine.keys() == theirs.keys() and all(_agree(kind, theirs[name]) for name, kind in mine.items())
        case _:
            return left == right
