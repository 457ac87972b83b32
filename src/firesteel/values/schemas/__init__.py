"""Schemas without Spark: `parse` reads one, `to_ddl` writes it, `misfit` and `checker` judge values by it, `carried`
tells the types that PySpark can send to Spark and collect again.

The grammar lives in `firesteel.values.schemas.ddl`, type hints in `firesteel.values.schemas.hints`, values in
`firesteel.values.schemas.fit`. Nothing here needs a JVM; generated values are in `firesteel.strategies.values`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument, described
from firesteel.values.schemas.ddl import parse_ddl, to_ddl, type_ddl
from firesteel.values.schemas.fit import carried, checker, misfit
from firesteel.values.schemas.hints import from_hints

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["carried", "checker", "misfit", "parse", "to_ddl", "type_ddl"]


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
