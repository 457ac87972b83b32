"""One row as a value: `Record`, and the equality that rows are compared with (NaN equals NaN, order of columns kept).

Nothing here knows Spark; `firesteel.values.streams` builds batches from these.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from keyword import iskeyword
from typing import Any

# Types compared with plain ==: what most columns hold, so it is worth a short way.
_PLAIN = frozenset({int, str, bool, type(None), bytes, date, datetime, Decimal})


class Record:
    """One row. A column wins over every method: `r.count` is the column.

    A record equals a tuple, a dict or a Spark `Row` of the same values, and another record if the columns agree as
    well. It is hashable, and NaN equals NaN.

    >>> r = Record(user=15, count=2)
    >>> r.user, r["count"], r.count
    (15, 2, 2)
    >>> r == (15, 2), r == {"user": 15, "count": 2}, r == Record(a=15, b=2)
    (True, True, False)
    >>> Record({"a name with spaces": 1})
    Record({'a name with spaces': 1})
    """

    # The columns are the instance's own __dict__: an instance attribute wins over a method of the class,
    # and a record costs no more than its dict.
    __slots__ = ("__dict__",)

    def __init__(self, /, *args: Any, **columns: Any) -> None:
        if len(args) > 1 or (args and not isinstance(args[0], Mapping)):
            raise TypeError(
                f"Record takes columns by name, got {args!r}: write Record(user=15) or Record({{'user': 15}})"
            )
        if args:
            columns = {**args[0], **columns}
        object.__setattr__(self, "__dict__", columns)

    def __getitem__(self, column: str | int) -> Any:
        if isinstance(column, str):
            try:
                return self.__dict__[column]
            except KeyError:
                raise KeyError(_no_column(self, column)) from None
        return tuple(self.__dict__.values())[column]

    def __getattr__(self, column: str) -> Any:  # only called where the column is missing
        raise AttributeError(_no_column(self, column))

    def __setattr__(self, column: str, value: Any) -> None:
        raise AttributeError(f"a record cannot be changed: make a new one instead of setting {column!r}")

    def __delattr__(self, column: str) -> None:
        raise AttributeError(f"a record cannot be changed: make a new one instead of deleting {column!r}")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__dict__.values())

    def __len__(self) -> int:
        return len(self.__dict__)

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    def __hash__(self) -> int:
        return hash(freeze(self))

    def __repr__(self) -> str:
        columns = self.__dict__
        if all(name.isidentifier() and not iskeyword(name) for name in columns):
            return f"Record({', '.join(f'{name}={shown(value)}' for name, value in columns.items())})"
        return f"Record({shown(columns)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Record, (dict(self.__dict__),))

    def __dir__(self) -> list[str]:
        return [*self.__dict__, *object.__dir__(self)]


def make_record(columns: Mapping[str, Any]) -> Record:
    """A record that owns `columns`, unchecked: for code that makes many."""
    record = Record.__new__(Record)
    object.__setattr__(record, "__dict__", columns)
    return record


def make_records(columns: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Records that own their `columns`, unchecked."""
    made = []
    new, set_ = Record.__new__, object.__setattr__  # looked up once: there may be a million
    for each in columns:
        record = new(Record)
        set_(record, "__dict__", each)
        made.append(record)
    return made


def columns_of(record: Any) -> tuple[str, ...] | None:
    """The names of a record's or a Spark Row's columns; None for a value that has none."""
    if isinstance(record, Record):
        return tuple(record.__dict__)
    names = getattr(record, "__fields__", None) if isinstance(record, tuple) else None
    return tuple(names) if names is not None else None


def same(left: Any, right: Any) -> bool:
    """Equality of records and of what stands in them: NaN equals NaN, lists equal tuples of the same values.

    >>> same(float("nan"), float("nan")), same([1, None], (1, None)), same(0.0, 1)
    (True, True, False)
    """
    if left is right:
        return True
    if type(left) in _PLAIN:
        return bool(left == right)
    match left, right:
        case float(), float():
            return left == right or (left != left and right != right)
        case (Record(), Mapping()) | (Mapping(), Record()):
            return _same_mapping(as_mapping(left), as_mapping(right))
        case (Record() | list() | tuple(), Record() | list() | tuple()):
            names, other_names = columns_of(left), columns_of(right)
            if names is not None and other_names is not None and names != other_names:
                return False
            return len(left) == len(right) and all(map(same, left, right))
        case Mapping(), Mapping():
            return _same_mapping(left, right)
        case (Record(), _) | (_, Record()):
            return False
        case _ if type(left) is type(right) and _compares_by_identity(left):
            return _same_mapping(vars(left), vars(right))
        case _:
            return bool(left == right)


def as_mapping(record: Any) -> Mapping[Any, Any]:
    """A record's columns as a mapping; a mapping as it is."""
    return record.__dict__ if isinstance(record, Record) else record


def freeze(value: Any) -> Hashable:
    """A hashable stand-in: two values that are `same` freeze alike. A record freezes as the tuple of its values.

    Only a record and a mapping, which has no order of columns, can be the same and freeze differently.

    >>> freeze(Record(a=1, b=[2, float("nan")])) == freeze((1, [2, float("nan")]))
    True
    """
    if type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    match value:
        case float() if value != value:
            return _NAN
        case Record() | list() | tuple():
            return tuple(map(freeze, value))
        case Mapping():
            return frozenset((freeze(key), freeze(item)) for key, item in value.items())
        case set() | frozenset():
            return frozenset(map(freeze, value))
        case bytearray():
            return bytes(value)
        case _ if _compares_by_identity(value):
            return freeze(vars(value))
        case _ if isinstance(value, Hashable):
            return value
        case _:
            return freeze(vars(value)) if hasattr(value, "__dict__") else repr(value)


def shown(value: Any) -> str:
    """Text that evaluates to the value, given `Record`, `Decimal` and `datetime`.

    >>> shown([float("nan"), float("-inf"), {"a": (1,)}])
    "[float('nan'), float('-inf'), {'a': (1,)}]"
    """
    match value:
        case float() if not math.isfinite(value):
            return f"float('{value}')"
        case list():
            return f"[{', '.join(map(shown, value))}]"
        case tuple() if type(value) is tuple:
            return f"({', '.join(map(shown, value))}{',' if len(value) == 1 else ''})"
        case dict():
            return f"{{{', '.join(f'{shown(key)}: {shown(item)}' for key, item in value.items())}}}"
        case datetime() if value.tzinfo is UTC:
            return f"{value.replace(tzinfo=None)!r}".removesuffix(")") + ", tzinfo=datetime.timezone.utc)"
        case _:
            return repr(value)


def brief(value: Any) -> str:
    """A value as a message shows it: moments without their class, and without their zone, which is UTC.

    >>> brief((1, datetime(2030, 1, 1, 9, 30, tzinfo=UTC))), brief(Record(at=datetime(2030, 1, 1)))
    ('(1, 2030-01-01 09:30:00)', 'Record(at=2030-01-01 00:00:00)')
    """
    match value:
        case datetime():
            return value.replace(tzinfo=None).isoformat(" ")
        case Record():
            return f"Record({', '.join(f'{name}={brief(item)}' for name, item in value.__dict__.items())})"
        case tuple() if type(value) is tuple:
            return f"({', '.join(map(brief, value))}{',' if len(value) == 1 else ''})"
        case _:
            return shown(value)


def _compares_by_identity(value: Any) -> bool:
    """A plain object with no equality of its own, as PySpark's VariantVal: it is compared by its attributes."""
    equality: object = type(value).__eq__
    return equality is object.__eq__ and hasattr(value, "__dict__") and not callable(value)


class _NotANumber:
    """What NaN freezes to: Python gives every NaN a hash of its own."""

    def __repr__(self) -> str:
        return "nan"


_NAN = _NotANumber()


def _same_mapping(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
    if len(left) != len(right):
        return False
    if left.keys() == right.keys():
        return all(same(item, right[key]) for key, item in left.items())
    return freeze(dict(left)) == freeze(dict(right))  # keys that are NaN, or unhashable


def _no_column(record: Record, column: str) -> str:
    return f"no column {column!r}; the record has {', '.join(map(repr, record.__dict__)) or 'no columns'}"
