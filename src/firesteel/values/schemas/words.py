"""The words that start a type in DDL, and the PySpark classes that they stand for."""

from __future__ import annotations

import difflib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

# The types of one word, by the name of their class in pyspark.sql.types. The first word of a class is its canonical
# one. Classes are looked up by name because older PySparks lack some.
WORDS = {
    "BOOLEAN": "BooleanType",
    "TINYINT": "ByteType",
    "BYTE": "ByteType",
    "SMALLINT": "ShortType",
    "SHORT": "ShortType",
    "INT": "IntegerType",
    "INTEGER": "IntegerType",
    "BIGINT": "LongType",
    "LONG": "LongType",
    "FLOAT": "FloatType",
    "REAL": "FloatType",
    "DOUBLE": "DoubleType",
    "DATE": "DateType",
    "TIMESTAMP": "TimestampType",
    "TIMESTAMP_LTZ": "TimestampType",
    "TIMESTAMP_NTZ": "TimestampNTZType",
    "BINARY": "BinaryType",
    "VOID": "NullType",
    "VARIANT": "VariantType",
    "INTERVAL": "CalendarIntervalType",
}
CANONICAL = {name: word for word, name in reversed(WORDS.items())}
_OTHER_WORDS = (
    *("DECIMAL", "DEC", "NUMERIC", "STRING", "CHAR", "CHARACTER", "VARCHAR", "TIME"),
    *("ARRAY", "MAP", "STRUCT", "GEOMETRY", "GEOGRAPHY"),
)
# Types of other databases and of Python, for which difflib would find no close match.
_FOREIGN = {
    "TEXT": "STRING",
    "STR": "STRING",
    "BOOL": "BOOLEAN",
    "BYTES": "BINARY",
    "DATETIME": "TIMESTAMP",
    "NUMBER": "DECIMAL",
    "JSON": "VARIANT",
    "LIST": "ARRAY",
    "DICT": "MAP",
    "NULL": "VOID",
}


def make_type(name: str, *arguments: Any) -> DataType:
    """A type of PySpark, by the name of its class."""
    from pyspark.sql import types as spark

    kind: DataType = getattr(spark, name)(*arguments)
    return kind


@cache
def known_words() -> list[str]:
    """The words that start a type in this PySpark: older ones lack TIME, VARIANT and the spatial types."""
    from pyspark.sql import types as spark

    late = {"TIME": "TimeType", "VARIANT": "VariantType", "GEOMETRY": "GeometryType", "GEOGRAPHY": "GeographyType"}
    return [word for word in [*WORDS, *_OTHER_WORDS] if hasattr(spark, late.get(word, "DataType"))]


def suggestion(word: str) -> str:
    """The end of a message about a word that is not a type: the type that may be meant, or nothing."""
    close = [_FOREIGN[word]] if word in _FOREIGN else difflib.get_close_matches(word, known_words(), 1, 0.5)
    return f"; did you mean {close[0]}?" if close else ""
