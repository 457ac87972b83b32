"""Schemas without Spark: `parse` reads one, `to_ddl` writes it, `misfit` and `checker` judge values by it, and
`why_not_carried` says which types PySpark cannot send to Spark and collect again.

Schemas are read by `ddl` (of `tokens`, with the `words` for types) and `hints`, and written by `writer`. `fit` says
which values fit a type (`atoms` for the types that hold no others), and `conform` makes records of them. Nothing here
needs a JVM. Strategies for values of a type are in `firesteel.strategies.values`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument, described
from firesteel.values.schemas.carrying import why_not_carried
from firesteel.values.schemas.ddl import parse_ddl
from firesteel.values.schemas.fit import checker, misfit
from firesteel.values.schemas.hints import from_hints
from firesteel.values.schemas.writer import to_ddl, type_ddl

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["checker", "misfit", "parse", "to_ddl", "type_ddl", "why_not_carried"]

carried = why_not_carried  # its old name, until everybody calls it by the new one


def parse(schema: StructType | str | type | None) -> StructType | None:
    """A schema from DDL text, or from a class with type hints; a `StructType` or None passes unchanged.

    >>> parse("user BIGINT NOT NULL, tags ARRAY<STRING>").simpleString()
    'struct<user:bigint,tags:array<string>>'
    >>> class Click:
    ...     user: int
    ...     page: str | None
    >>> to_ddl(parse(Click))
    'user BIGINT NOT NULL, page STRING'
    """
    from pyspark.sql.types import StructType

    match schema:
        case None | StructType():
            return schema
        case str():
            return parse_ddl(schema)
        case type():
            return from_hints(schema)
        case _:
            raise InvalidArgument(
                f"{described('schema', schema)} is not a schema: write DDL text such as 'user BIGINT NOT NULL', "
                "a StructType, or a class with type hints"
            )
