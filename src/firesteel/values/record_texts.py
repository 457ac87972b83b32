"""Records as lines of text without their names, and back, exactly: what a monitor keeps and sends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from firesteel.values.as_json import of_json, to_json
from firesteel.values.records import Record, make_record

_encode = json.JSONEncoder(separators=(",", ":")).encode  # made once: there may be a million records
_AS_THEY_ARE = frozenset({str, bool, type(None)})


def record_text(record: Record) -> str:
    """A record's values, in the order of its columns.

    >>> record_text(Record(user=15, at=[1.5]))
    '[15,[1.5]]'
    """
    return _encode([value if type(value) in _AS_THEY_ARE else to_json(value) for value in record])


def record_reader(names: Sequence[str]) -> Callable[[str], Record]:
    """The way back of `record_text`, for records with these columns.

    >>> record_reader(["user", "at"])('[15,[1.5]]')
    Record(user=15, at=[1.5])
    """
    return lambda text: make_record(dict(zip(names, map(of_json, json.loads(text)), strict=True)))
