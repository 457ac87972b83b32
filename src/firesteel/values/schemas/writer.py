"""Schemas and types as DDL text. Reading it is in `firesteel.values.schemas.ddl`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.values.schemas.words import CANONICAL

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType


def to_ddl(schema: StructType) -> str:
    """The schema as DDL text with Spark's canonical type names, which `parse` reads back.

    DDL has no words for three things, which are left out: that an array or a map holds no nulls
    (`containsNull=False`), and metadata other than a comment.

    >>> from firesteel.values.schemas import parse
    >>> to_ddl(parse("`a b` long not null comment 'x', c struct<d: array<int>>"))
    "`a b` BIGINT NOT NULL COMMENT 'x', c STRUCT<d: ARRAY<INT>>"
    """
    return ", ".join(_column_ddl(field, " ") for field in schema.fields)


def _column_ddl(field: StructField, between: str) -> str:
    comment = (field.metadata or {}).get("comment")
    return (
        f"{_name_ddl(field.name)}{between}{type_ddl(field.dataType)}"
        + ("" if field.nullable else " NOT NULL")
        + ("" if comment is None else f" COMMENT {_text_ddl(comment)}")
    )


def _name_ddl(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else "`" + name.replace("`", "``") + "`"


def _text_ddl(text: str) -> str:
    for char, escape in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"), ("\0", "\\u0000")):
        text = text.replace(char, escape)
    return f"'{text}'"


def type_ddl(kind: DataType) -> str:
    """One type as DDL text.

    >>> from pyspark.sql.types import ArrayType, LongType
    >>> type_ddl(ArrayType(LongType()))
    'ARRAY<BIGINT>'
    """
    # By the name of the class: its attributes differ from class to class, and older PySparks lack some classes.
    any_kind: Any = kind
    match type(kind).__name__:
        case "ArrayType":
            return f"ARRAY<{type_ddl(any_kind.elementType)}>"
        case "MapType":
            return f"MAP<{type_ddl(any_kind.keyType)}, {type_ddl(any_kind.valueType)}>"
        case "StructType":
            return f"STRUCT<{', '.join(_column_ddl(field, ': ') for field in any_kind.fields)}>"
        case "StringType" if any_kind.collation != "UTF8_BINARY":
            return f"STRING COLLATE {any_kind.collation}"
        case "StringType":
            return "STRING"
        case "TimeType" if any_kind.precision == 6:
            return "TIME"
        case "DecimalType":
            return f"DECIMAL({any_kind.precision},{any_kind.scale})"
        case "CharType" | "VarcharType" | "TimeType" | "GeometryType" | "GeographyType":
            return kind.simpleString().upper()
        case "YearMonthIntervalType" | "DayTimeIntervalType":
            return kind.simpleString().upper()
        case name if name in CANONICAL:
            return CANONICAL[name]
        case _:
            raise InvalidArgument(f"{described('type', kind)} has no name in DDL: use the type that it is stored as")
