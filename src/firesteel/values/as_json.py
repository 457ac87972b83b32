"""Values as JSON, and back, exactly: all that a column of Spark's types can hold, and Python's own plain values.

What JSON has, stands for itself: null, booleans, whole numbers, finite floats, text and lists. Everything else is an
object with one key, its tag: `{"date": "2030-01-01"}`. Reading makes these values and calls nothing else.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from firesteel.errors import described
from firesteel.values.records import Record

# Python reads and writes whole numbers of at most 4,300 digits; longer ones are written by their bits.
_LONG = 10**4_000


class NotJson(ValueError):
    """A value that cannot be written."""


def to_json(value: Any) -> Any:
    """A value as what `json.dumps` takes; `NotJson` where there is no way back.

    >>> to_json([1, (2.5, Decimal("1.50"))])
    [1, {'tuple': [2.5, {'decimal': '1.50'}]}]
    """
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if -_LONG < value < _LONG else {"int": hex(value)}
    if kind is float:
        return value if value - value == 0 else {"float": str(value)}  # else it is infinite, or NaN
    if kind is list:
        return [to_json(item) for item in value]
    for tag, (wanted, write, _) in _TAGS.items():
        if kind is wanted:
            return {tag: write(value)}
    if kind.__module__ in ("pyspark.sql.types", "pyspark.sql") and kind.__name__ in _SPARK:
        tag, write, _ = _SPARK[kind.__name__]
        return {tag: write(value)}
    raise NotJson(f"{described('value', value)} cannot be written as JSON")


def of_json(written: Any) -> Any:
    """The value that `to_json` wrote; `ValueError` and the like where it did not.

    >>> of_json({"tuple": [2.5, {"decimal": "1.50"}]})
    (2.5, Decimal('1.50'))
    """
    if isinstance(written, list):
        return [of_json(item) for item in written]
    if not isinstance(written, dict):
        return written
    ((tag, inside),) = written.items()
    return _READ[tag](inside)


def _pairs(mapping: Mapping[Any, Any]) -> list[list[Any]]:
    return [[to_json(key), to_json(item)] for key, item in mapping.items()]


def _of_pairs(pairs: list[list[Any]]) -> dict[Any, Any]:
    return {of_json(key): of_json(item) for key, item in pairs}


def _items(values: Any) -> list[Any]:
    return [to_json(item) for item in values]


def _sorted_items(values: Any) -> list[Any]:
    """A set's items, in an order that is the same in every process."""
    return sorted(_items(values), key=json.dumps)


def _bytes(value: bytes | bytearray) -> str:
    return base64.b64encode(value).decode()


def _of_bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


# --- moments -------------------------------------------------------------------------------------


def _moment(value: datetime | time) -> Any:
    """ISO 8601, and what that leaves out: the name of a zone, and which of two equal clock times is meant."""
    zone = _zone(value.tzinfo)
    if zone is None and not value.fold:
        return value.isoformat()
    return [value.replace(tzinfo=None).isoformat(), zone, value.fold]


def _zone(zone: tzinfo | None) -> str | None:
    """The name of a zone that has one; None where the offset says all."""
    if zone is None or type(zone) is timezone:
        return None
    if type(zone) is ZoneInfo and zone.key is not None:
        return zone.key
    raise NotJson(f"{described('tzinfo', zone)} cannot be written as JSON: use datetime.UTC, or a zoneinfo.ZoneInfo")


def _of_moment(kind: Any) -> Callable[[Any], Any]:
    def read(written: Any) -> Any:
        if isinstance(written, str):
            return kind.fromisoformat(written)
        text, zone, fold = written
        moment = kind.fromisoformat(text).replace(fold=fold)
        return moment if zone is None else moment.replace(tzinfo=ZoneInfo(zone))

    return read


def _duration(value: timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


# --- PySpark's own classes ------------------------------------------------------------------------


def _row(row: Any) -> list[Any]:
    return [list(row.__fields__) if hasattr(row, "__fields__") else None, _items(row)]


def _of_row(written: list[Any]) -> Any:
    from pyspark.sql import Row

    names, values = written
    row = Row(*map(of_json, values))
    if names is not None:
        row.__fields__ = list(map(str, names))
    return row


def _of_spark(name: str) -> Callable[[list[Any]], Any]:
    """Reads an object of PySpark's types from its bytes, and from more bytes or a number."""

    def read(written: list[Any]) -> Any:
        from pyspark.sql import types

        first, second = written
        return getattr(types, name)(_of_bytes(first), _of_bytes(second) if isinstance(second, str) else int(second))

    return read


_TAGS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tuple": (tuple, _items, lambda items: tuple(map(of_json, items))),
    "record": (Record, lambda record: _pairs(record.__dict__), lambda pairs: Record(_of_pairs(pairs))),
    "map": (dict, _pairs, _of_pairs),
    "bytes": (bytes, _bytes, _of_bytes),
    "decimal": (Decimal, str, Decimal),
    "date": (date, date.isoformat, date.fromisoformat),
    "at": (datetime, _moment, _of_moment(datetime)),
    "time": (time, _moment, _of_moment(time)),
    "span": (timedelta, _duration, lambda parts: timedelta(*parts)),
    "set": (set, _sorted_items, lambda items: set(map(of_json, items))),
    "frozenset": (frozenset, _sorted_items, lambda items: frozenset(map(of_json, items))),
    "bytearray": (bytearray, _bytes, lambda text: bytearray(_of_bytes(text))),
    "complex": (complex, lambda z: _items((z.real, z.imag)), lambda parts: complex(*map(of_json, parts))),
}
_SPARK: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "VariantVal": ("variant", lambda v: [_bytes(v.value), _bytes(v.metadata)], _of_spark("VariantVal")),
    "Geometry": ("geometry", lambda g: [_bytes(g.wkb), g.srid], _of_spark("Geometry")),
    "Geography": ("geography", lambda g: [_bytes(g.wkb), g.srid], _of_spark("Geography")),
    "Row": ("row", _row, _of_row),
}
_READ: dict[str, Callable[[Any], Any]] = {
    "int": lambda text: int(text, 16),
    "float": float,
    **{tag: read for tag, (_, _, read) in _TAGS.items()},
    **{tag: read for tag, _, read in _SPARK.values()},
}
