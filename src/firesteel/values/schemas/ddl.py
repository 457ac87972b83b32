"""Reads schemas in Spark's DDL, without a session. `firesteel.values.schemas.writer` writes them.

The grammar is that of Spark 4.3's `StructType.fromDDL`, compared with it on random texts. Left out on purpose: the
`system.builtin.` prefix of a collation, and a check that a collation's locale is one that Spark knows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from firesteel.values.schemas.tokens import NUMBER, Tokens, unquoted
from firesteel.values.schemas.words import WORDS, known_words, make_type, suggestion

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

_MONTHS = ("YEAR", "MONTH")
_SECONDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_COLLATION = re.compile(
    r"(?P<binary>UTF8_BINARY|UTF8_LCASE)(?P<trim>_RTRIM)?"
    r"|(?P<locale>UNICODE|[A-Z]{2,3}(?:_[A-Z]{4})?(?:_[A-Z]{3})?)(?P<marks>(?:_(?:CI|CS|AI|AS|RTRIM))*)",
    re.IGNORECASE,
)


def parse_ddl(text: str) -> StructType:
    """The schema that a DDL text describes.

    >>> parse_ddl("user BIGINT NOT NULL, tags ARRAY<STRING>").simpleString()
    'struct<user:bigint,tags:array<string>>'
    >>> parse_ddl("user BIGNIT")
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: schema='user BIGNIT' (str) is not DDL: expected a type at line 1, column 6, \
found 'BIGNIT'; did you mean BIGINT?
      user BIGNIT
           ^
    """
    return Parser(text).schema()


class Parser(Tokens):
    """Recursive descent: a method for each rule of the grammar, which reads the tokens of that rule."""

    def schema(self) -> StructType:
        from pyspark.sql.types import StructType

        if self.is_word("STRUCT") and self.tokens[self.at + 1].text == "<":
            self.take()
            whole = self._struct()
        elif self.next.kind == "end":
            return StructType([])
        else:
            whole = StructType(self._columns())
        if self.next.kind != "end":
            raise self.unlike("a comma or the end")
        return whole

    def _columns(self) -> list[StructField]:
        columns = [self._column()]
        while self.skip(","):
            columns.append(self._column())
        return columns

    def _column(self) -> StructField:
        from pyspark.sql.types import StructField

        name = self._name("a column name")
        self.skip(":")
        if self.next.kind == "end" and name.upper() in known_words():
            raise self.unlike(
                f"a type after the column name {name!r}", f"; if {name} is the type, write 'value {name}'"
            )
        kind = self._type()
        nullable = not self.skip("NOT")
        if not nullable:
            self.expect("NULL", "after NOT")
        metadata = {"comment": self._comment()} if self.skip("COMMENT") else None
        return StructField(name, kind, nullable, metadata)

    def _name(self, what: str) -> str:
        if self.next.kind == "quoted":
            return self.take().text[1:-1].replace("``", "`")
        if self.next.kind == "word" and not NUMBER.fullmatch(self.next.text):
            return self.take().text
        raise self.unlike(what, "; other names than letters, digits and _ go in backquotes: `a name`")

    def _comment(self) -> str:
        if self.next.kind != "text":
            raise self.unlike("a text in quotes after COMMENT")
        parts = []
        while self.next.kind == "text":  # Spark joins texts that stand side by side
            parts.append(unquoted(self.take().text))
        return "".join(parts)

    def _type(self) -> DataType:
        from pyspark.sql import types as spark

        token = self.next
        word = token.text.upper() if token.kind == "word" else ""
        if word not in known_words():
            raise self.unlike("a type", suggestion(word))
        self.take()
        match word:
            case "ARRAY":
                self.expect("<", "and the type of the elements")
                element = self._type()
                self.expect(">", "after the type of the elements")
                return spark.ArrayType(element, True)
            case "MAP":
                return self._map()
            case "STRUCT":
                return self._struct()
            case "DECIMAL" | "DEC" | "NUMERIC":
                return self._decimal()
            case "CHAR" | "CHARACTER" | "VARCHAR":
                return self._bounded_string(spark.VarcharType if word == "VARCHAR" else spark.CharType)
            case "STRING":
                return spark.StringType(self._collation()) if self.skip("COLLATE") else spark.StringType()
            case "TIME":
                return self._time()
            case "TIMESTAMP" | "TIMESTAMP_LTZ" | "TIMESTAMP_NTZ":
                return self._timestamp(word)
            case "INTERVAL" if self.is_word(*_MONTHS, *_SECONDS):
                return self._interval()
            case "GEOMETRY" | "GEOGRAPHY":
                return self._spatial(word)
            case _:
                return make_type(WORDS[word])

    def _map(self) -> DataType:
        from pyspark.sql.types import MapType

        self.expect("<", "and the types of keys and values")
        key = self._type()
        self.expect(",", "and the type of the values")
        value = self._type()
        self.expect(">", "after the type of the values")
        return MapType(key, value, True)

    def _struct(self) -> StructType:
        from pyspark.sql.types import StructType

        self.expect("<", "and the fields")
        if self.skip(">"):
            return StructType([])
        fields = self._columns()
        self.expect(">", "or a comma after the field")
        return StructType(fields)

    def _whole(self, what: str, most: int) -> int:
        if not (self.next.kind == "word" and self.next.text.isdecimal() and int(self.next.text) <= most):
            raise self.unlike(f"{what}, a whole number up to {most}")
        return int(self.take().text)

    def _in_parentheses(self, what: str, most: int) -> int:
        self.expect("(", f"and {what}")
        number = self._whole(what, most)
        self.expect(")", f"after {what}")
        return number

    def _decimal(self) -> DataType:
        from pyspark.sql.types import DecimalType

        if not self.skip("("):
            return DecimalType(10, 0)
        precision = self._whole("the precision", 38)
        scale = self._whole("the scale", precision) if self.skip(",") else 0
        self.expect(")", "after precision and scale")
        return DecimalType(precision, scale)

    def _bounded_string(self, make: Any) -> DataType:
        length = self._in_parentheses("the length", 2**31 - 1)
        if self.skip("COLLATE"):
            self._collation()  # PySpark's CHAR and VARCHAR have no collation, and fromDDL drops it too
        kind: DataType = make(length)
        return kind

    def _collation(self) -> str:
        start = self.at
        name = _canonical_collation(self._name("a collation such as UNICODE_CI"))
        if name is None:
            self.at = start
            raise self.unlike("a collation such as UTF8_LCASE, UNICODE_CI or de_CI_AI")
        return name

    def _time(self) -> DataType:
        precision = self._in_parentheses("the digits of a second", 9) if self.next.text == "(" else 6
        if self.skip("WITHOUT"):
            self._time_zone("WITHOUT")
        return make_type("TimeType", precision)

    def _time_zone(self, after: str) -> None:
        self.expect("TIME", f"ZONE after {after}")
        self.expect("ZONE", f"after {after} TIME")

    def _timestamp(self, word: str) -> DataType:
        if self.next.text == "(":
            start = self.at
            if self._in_parentheses("the digits of a second", 9) != 6:
                self.at = start + 1
                raise self.unlike("6, the only precision of a timestamp that PySpark knows")
        if word == "TIMESTAMP" and self.skip("WITHOUT"):
            self._time_zone("WITHOUT")
            return make_type("TimestampNTZType")
        if word == "TIMESTAMP" and self.skip("WITH"):
            self.expect("LOCAL", "TIME ZONE after WITH")
            self._time_zone("LOCAL")
        return make_type(WORDS[word])

    def _interval(self) -> DataType:
        first = self.take().text.upper()
        fields = _MONTHS if first in _MONTHS else _SECONDS
        start = end = fields.index(first)
        if self.skip("TO"):
            finer = fields[start + 1 :]
            if not self.is_word(*finer):
                raise self.unlike(f"a field finer than {first} after TO ({', '.join(finer) or 'there is none'})")
            end = fields.index(self.take().text.upper())
        return make_type("YearMonthIntervalType" if fields is _MONTHS else "DayTimeIntervalType", start, end)

    def _spatial(self, word: str) -> DataType:
        from pyspark.errors import IllegalArgumentException

        self.expect("(", "and the SRID, or ANY")
        start = self.at
        srid: int | str = "ANY" if self.skip("ANY") else self._whole("the SRID, or ANY", 2**31 - 1)
        try:
            kind = make_type(word.title() + "Type", srid)
        except IllegalArgumentException:
            self.at = start
            raise self.unlike(f"an SRID that Spark knows for {word}, such as 4326, or ANY") from None
        self.expect(")", "after the SRID")
        return kind


def _canonical_collation(name: str) -> str | None:
    """The name as Spark gives it back: locale in its usual case, then _CI, _AI, _RTRIM; None for other names."""
    found = _COLLATION.fullmatch(name)
    if found is None:
        return None
    if found["binary"]:
        return name.upper()
    marks = [mark for mark in found["marks"].upper().split("_") if mark]
    for pair in ({"CI", "CS"}, {"AI", "AS"}, {"RTRIM"}):
        if sum(mark in pair for mark in marks) > 1:
            return None
    return "_".join([_canonical_locale(found["locale"]), *(mark for mark in ("CI", "AI", "RTRIM") if mark in marks)])


def _canonical_locale(locale: str) -> str:
    if locale.upper() == "UNICODE":
        return "UNICODE"
    language, *rest = locale.split("_")
    return "_".join([language.lower(), *(part.title() if len(part) == 4 else part.upper() for part in rest)])
