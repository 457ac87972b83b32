"""Spark's DDL for schemas: a parser that needs no session, and the writer. Type hints are not here: see `hints`.

The grammar is that of Spark 4.3's `StructType.fromDDL`, compared with it on random texts. Left out on purpose: the
`system.builtin.` prefix of a collation, and a check that a collation's locale is one that Spark knows.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from firesteel.errors import InvalidArgument, described

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

# The types of one word, by the name of their class in pyspark.sql.types. The first word of a class is its canonical
# one. Classes are looked up by name because older PySparks lack some.
_WORDS = {
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
_CANONICAL = {name: word for word, name in reversed(_WORDS.items())}
_OTHER_WORDS = (
    *("DECIMAL", "DEC", "NUMERIC", "STRING", "CHAR", "CHARACTER", "VARCHAR", "TIME"),
    *("ARRAY", "MAP", "STRUCT", "GEOMETRY", "GEOGRAPHY"),
)
# What people write from other databases and from Python, that difflib would not lead home.
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

_MONTHS = ("YEAR", "MONTH")
_SECONDS = ("DAY", "HOUR", "MINUTE", "SECOND")

# Spark's own lexer: its blanks, names of ASCII letters and digits, two kinds of quoted text.
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]+|--(?:\\\n|[^\r\n])*)
      | (?P<text>[rR](?:'[^']*'|"[^"]*") | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*")
      | (?P<word>[A-Za-z0-9_]+)
      | (?P<quoted>`(?:[^`]|``)*`)
      | (?P<mark>[<>(),:])""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"\d+(?:[LSY]|(?:E\d+)?(?:F|D|BD)?)", re.IGNORECASE)  # looks like a name, but is a literal
_ESCAPE = re.compile(r"\\(?:([01][0-7]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_COLLATION = re.compile(
    r"(?P<binary>UTF8_BINARY|UTF8_LCASE)(?P<trim>_RTRIM)?"
    r"|(?P<locale>UNICODE|[A-Z]{2,3}(?:_[A-Z]{4})?(?:_[A-Z]{3})?)(?P<marks>(?:_(?:CI|CS|AI|AS|RTRIM))*)",
    re.IGNORECASE,
)


class _Token(NamedTuple):
    kind: str  # "text", "word", "quoted", "mark", or "end"
    text: str
    start: int


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
    return _Parser(text).schema()


class _Parser:
    """Recursive descent: one method for each rule of the grammar, which leaves the parser behind what it read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._scan())
        self.at = 0

    # --- tokens

    def _scan(self) -> Iterator[_Token]:
        position = 0
        while position < len(self.text):
            if self.text.startswith("/*", position) and not self.text.startswith("/*+", position):
                position = self._comment_end(position)
                continue
            found = _TOKEN.match(self.text, position)
            if found is None:
                raise self._mistake(_unscanned(self.text[position]), position)
            kind = str(found.lastgroup)
            if kind != "blank":
                yield _Token(kind, found.group(), position)
            position = found.end()
        yield _Token("end", "", len(self.text))

    def _comment_end(self, start: int) -> int:
        """The end of a bracketed comment, which may hold others."""
        depth = 0
        for mark in re.finditer(r"/\*|\*/", self.text[start:]):
            depth += 1 if mark.group() == "/*" else -1
            if depth == 0:
                return start + mark.end()
        raise self._mistake("expected */, the end of the comment that starts", start)

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def _take(self) -> _Token:
        token = self.next
        self.at += 1
        return token

    def _is_word(self, *words: str) -> bool:
        return self.next.kind == "word" and self.next.text.upper() in words

    def _skip(self, mark: str) -> bool:
        """Takes the mark or the word if it comes next."""
        if self._is_word(mark) or (self.next.kind == "mark" and self.next.text == mark):
            self.at += 1
            return True
        return False

    def _expect(self, mark: str, why: str) -> None:
        if not self._skip(mark):
            raise self._unlike(f"{mark} {why}".strip())

    def _unlike(self, expected: str, hint: str = "") -> InvalidArgument:
        found = "the end" if self.next.kind == "end" else repr(self.next.text)
        return self._mistake(f"expected {expected}", self.next.start, f", found {found}{hint}")

    def _mistake(self, problem: str, position: int, rest: str = "") -> InvalidArgument:
        before = self.text[:position]
        start = before.rfind("\n") + 1
        line, column = before.count("\n") + 1, position - start
        cut = max(0, column - 70)  # a long line shows only what is around the mistake
        shown = self.text[start:].split("\n")[0][cut : column + 30].replace("\t", " ")
        return InvalidArgument(
            f"{described('schema', self.text)} is not DDL: {problem} at line {line}, column {column + 1}{rest}\n"
            f"  {shown}\n  {' ' * (column - cut)}^"
        )

    # --- the grammar

    def schema(self) -> StructType:
        from pyspark.sql.types import StructType

        if self._is_word("STRUCT") and self.tokens[self.at + 1].text == "<":
            self._take()
            whole = self._struct()
        elif self.next.kind == "end":
            return StructType([])
        else:
            whole = StructType(self._columns())
        if self.next.kind != "end":
            raise self._unlike("a comma or the end")
        return whole

    def _columns(self) -> list[StructField]:
        columns = [self._column()]
        while self._skip(","):
            columns.append(self._column())
        return columns

    def _column(self) -> StructField:
        from pyspark.sql.types import StructField

        name = self._name("a column name")
        self._skip(":")
        if self.next.kind == "end" and name.upper() in _known_words():
            raise self._unlike(
                f"a type after the column name {name!r}", f"; if {name} is the type, write 'value {name}'"
            )
        kind = self._type()
        nullable = not self._skip("NOT")
        if not nullable:
            self._expect("NULL", "after NOT")
        metadata = {"comment": self._comment()} if self._skip("COMMENT") else None
        return StructField(name, kind, nullable, metadata)

    def _name(self, what: str) -> str:
        if self.next.kind == "quoted":
            return self._take().text[1:-1].replace("``", "`")
        if self.next.kind == "word" and not _NUMBER.fullmatch(self.next.text):
            return self._take().text
        raise self._unlike(what, "; other names than letters, digits and _ go in backquotes: `a name`")

    def _comment(self) -> str:
        if self.next.kind != "text":
            raise self._unlike("a text in quotes after COMMENT")
        parts = []
        while self.next.kind == "text":  # Spark joins texts that stand side by side
            parts.append(_unquoted(self._take().text))
        return "".join(parts)

    def _type(self) -> DataType:
        from pyspark.sql import types as spark

        token = self.next
        word = token.text.upper() if token.kind == "word" else ""
        if word not in _known_words():
            raise self._unlike("a type", _suggestion(word))
        self._take()
        match word:
            case "ARRAY":
                self._expect("<", "and the type of the elements")
                element = self._type()
                self._expect(">", "after the type of the elements")
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
                return spark.StringType(self._collation()) if self._skip("COLLATE") else spark.StringType()
            case "TIME":
                return self._time()
            case "TIMESTAMP" | "TIMESTAMP_LTZ" | "TIMESTAMP_NTZ":
                return self._timestamp(word)
            case "INTERVAL" if self._is_word(*_MONTHS, *_SECONDS):
                return self._interval()
            case "GEOMETRY" | "GEOGRAPHY":
                return self._spatial(word)
            case _:
                return _make(_WORDS[word])

    def _map(self) -> DataType:
        from pyspark.sql.types import MapType

        self._expect("<", "and the types of keys and values")
        key = self._type()
        self._expect(",", "and the type of the values")
        value = self._type()
        self._expect(">", "after the type of the values")
        return MapType(key, value, True)

    def _struct(self) -> StructType:
        from pyspark.sql.types import StructType

        self._expect("<", "and the fields")
        if self._skip(">"):
            return StructType([])
        fields = self._columns()
        self._expect(">", "or a comma after the field")
        return StructType(fields)

    def _whole(self, what: str, most: int) -> int:
        if not (self.next.kind == "word" and self.next.text.isdecimal() and int(self.next.text) <= most):
            raise self._unlike(f"{what}, a whole number up to {most}")
        return int(self._take().text)

    def _in_parentheses(self, what: str, most: int) -> int:
        self._expect("(", f"and {what}")
        number = self._whole(what, most)
        self._expect(")", f"after {what}")
        return number

    def _decimal(self) -> DataType:
        from pyspark.sql.types import DecimalType

        if not self._skip("("):
            return DecimalType(10, 0)
        precision = self._whole("the precision", 38)
        scale = self._whole("the scale", precision) if self._skip(",") else 0
        self._expect(")", "after precision and scale")
        return DecimalType(precision, scale)

    def _bounded_string(self, make: Any) -> DataType:
        length = self._in_parentheses("the length", 2**31 - 1)
        if self._skip("COLLATE"):
            self._collation()  # PySpark's CHAR and VARCHAR know no collation, so fromDDL drops it too
        kind: DataType = make(length)
        return kind

    def _collation(self) -> str:
        start = self.at
        name = _canonical_collation(self._name("a collation such as UNICODE_CI"))
        if name is None:
            self.at = start
            raise self._unlike("a collation such as UTF8_LCASE, UNICODE_CI or de_CI_AI")
        return name

    def _time(self) -> DataType:
        precision = self._in_parentheses("the digits of a second", 9) if self.next.text == "(" else 6
        if self._skip("WITHOUT"):
            self._time_zone("WITHOUT")
        return _make("TimeType", precision)

    def _time_zone(self, after: str) -> None:
        self._expect("TIME", f"ZONE after {after}")
        self._expect("ZONE", f"after {after} TIME")

    def _timestamp(self, word: str) -> DataType:
        if self.next.text == "(":
            start = self.at
            if self._in_parentheses("the digits of a second", 9) != 6:
                self.at = start + 1
                raise self._unlike("6, the only precision of a timestamp that PySpark knows")
        if word == "TIMESTAMP" and self._skip("WITHOUT"):
            self._time_zone("WITHOUT")
            return _make("TimestampNTZType")
        if word == "TIMESTAMP" and self._skip("WITH"):
            self._expect("LOCAL", "TIME ZONE after WITH")
            self._time_zone("LOCAL")
        return _make(_WORDS[word])

    def _interval(self) -> DataType:
        first = self._take().text.upper()
        fields = _MONTHS if first in _MONTHS else _SECONDS
        start = end = fields.index(first)
        if self._skip("TO"):
            finer = fields[start + 1 :]
            if not self._is_word(*finer):
                raise self._unlike(f"a field finer than {first} after TO ({', '.join(finer) or 'there is none'})")
            end = fields.index(self._take().text.upper())
        return _make("YearMonthIntervalType" if fields is _MONTHS else "DayTimeIntervalType", start, end)

    def _spatial(self, word: str) -> DataType:
        from pyspark.errors import IllegalArgumentException

        self._expect("(", "and the SRID, or ANY")
        start = self.at
        srid: int | str = "ANY" if self._skip("ANY") else self._whole("the SRID, or ANY", 2**31 - 1)
        try:
            kind = _make(word.title() + "Type", srid)
        except IllegalArgumentException:
            self.at = start
            raise self._unlike(f"an SRID that Spark knows for {word}, such as 4326, or ANY") from None
        self._expect(")", "after the SRID")
        return kind


def _make(name: str, *arguments: Any) -> DataType:
    from pyspark.sql import types as spark

    kind: DataType = getattr(spark, name)(*arguments)
    return kind


@cache
def _known_words() -> list[str]:
    """The words that start a type in this PySpark: TIME, VARIANT and the spatial types came late."""
    from pyspark.sql import types as spark

    late = {"TIME": "TimeType", "VARIANT": "VariantType", "GEOMETRY": "GeometryType", "GEOGRAPHY": "GeographyType"}
    return [word for word in [*_WORDS, *_OTHER_WORDS] if hasattr(spark, late.get(word, "DataType"))]


def _suggestion(word: str) -> str:
    close = [_FOREIGN[word]] if word in _FOREIGN else difflib.get_close_matches(word, _known_words(), 1, 0.5)
    return f"; did you mean {close[0]}?" if close else ""


def _unscanned(char: str) -> str:
    match char:
        case "`" | "'" | '"':
            return f"expected a closing {char} for the one"
        case _:
            return f"expected no {char!r} (names with it go in backquotes)"


def _unquoted(literal: str) -> str:
    if literal[0] in "rR":
        return literal[2:-1]
    quote, inside = literal[0], literal[1:-1]
    # A doubled quote is one; \' was an escape before it could be half of a pair.
    pattern = re.compile(_ESCAPE.pattern + f"|({quote}{quote})", re.DOTALL)
    return pattern.sub(lambda found: quote if found.group(5) else _unescaped(found), inside)


def _unescaped(found: re.Match[str]) -> str:
    octal, short, long, char = found.group(1, 2, 3, 4)
    if octal:
        return chr(int(octal, 8))
    if short or long:
        return chr(int(short or long, 16))
    return _ESCAPED.get(char, char)


def _canonical_collation(name: str) -> str | None:
    """The name as Spark gives it back: locale in its usual case, then _CI, _AI, _RTRIM; None if it is no such name."""
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


def to_ddl(schema: StructType) -> str:
    """The schema as DDL text with Spark's canonical type names, which `parse` reads back.

    DDL has no words for three things, which are left out: that an array or a map holds no nulls
    (`containsNull=False`), and metadata other than a comment.

    >>> to_ddl(parse_ddl("`a b` long not null comment 'x', c struct<d: array<int>>"))
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
        case name if name in _CANONICAL:
            return _CANONICAL[name]
        case _:
            raise InvalidArgument(f"{described('type', kind)} has no name in DDL: use the type that it is stored as")
