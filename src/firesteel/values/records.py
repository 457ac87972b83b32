"""`Record`: one row as a value. And when two values are equal, which everything else that compares records goes by.

Nothing here knows Spark. Batches of records are in `firesteel.values.batches`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from keyword import iskeyword
from operator import itemgetter
from typing import Any, TypeAlias

_PLAIN = frozenset({int, str, bool, type(None), bytes, date, datetime, time, timedelta})
"""Types that can be hashed and compared with `==`. Floats and decimals cannot: NaN is not equal to itself."""
FLAT = _PLAIN | {float, Decimal}
"""Types that hold no other values: where Python calls two of these equal, they are."""
_NAMELESS = frozenset({float, Decimal, list})
"""Types, common in columns, whose values have no names."""


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
    """A record that takes over `columns` without a check: for code that makes many."""
    record = Record.__new__(Record)
    object.__setattr__(record, "__dict__", columns)
    return record


def make_records(columns: Iterable[Mapping[str, Any]]) -> list[Record]:
    """Records that take over their `columns` without a check."""
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


def as_mapping(record: Any) -> Mapping[Any, Any]:
    """A record's columns as a mapping; a mapping as it is."""
    return record.__dict__ if isinstance(record, Record) else record


def named(record: Any) -> Mapping[str, Any] | None:
    """A record's columns by name; None for a value that has none.

    >>> named(Record(a=1)), named({"a": 1}), named((1,))
    ({'a': 1}, {'a': 1}, None)
    """
    match record:
        case Record():
            return record.__dict__
        case Mapping():
            return record if all(isinstance(name, str) for name in record) else None
        case tuple():
            names = columns_of(record)
            return None if names is None else dict(zip(names, record, strict=True))
        case _:
            return None


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
    """A value as a message shows it: a moment without its class, and without its zone, which is UTC.

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


def listed(names: Iterable[str]) -> str:
    """Names as a message lists them: `'a', 'b'`, or `none`."""
    return ", ".join(map(repr, names)) or "none"


def _no_column(record: Record, column: str) -> str:
    return f"no column {column!r}; the record has {', '.join(map(repr, record.__dict__)) or 'no columns'}"


# --- when two values are equal -------------------------------------------------------------------
#
# There is one definition for what a record can hold, `_stand_in`: NaN equals NaN, 0.0 equals -0.0, a list equals a
# tuple of the same values, the order of a map or a set does not count, and an object without an equality of its own,
# such as PySpark's VariantVal, is compared by its attributes.
#
# Rows can be compared in two ways. `==` of records and batches goes by position (`same`, `freeze`): a record equals a
# tuple of its values, and two records must have the same columns in the same order. An `Equality` goes by name
# (`canonical`): the order of columns does not count, and a tuple without names does not equal a record. For records of
# one schema both give the same answer.


def same(left: Any, right: Any) -> bool:
    """Equality of records and of what they hold: NaN equals NaN, lists equal tuples of the same values.

    >>> same(float("nan"), float("nan")), same([1, None], (1, None)), same(0.0, 1)
    (True, True, False)
    """
    if left is right:
        return True
    if type(left) in FLAT:
        return bool(left == right or (left != left and right != right))
    match left, right:
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
        case (set() | frozenset(), set() | frozenset()):
            return left == right or (freeze(left) == freeze(right) and all(_is_in(item, right) for item in left))
        case _:
            return freeze(left) == freeze(right)


def _same_mapping(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
    if len(left) != len(right):
        return False
    if left.keys() == right.keys():
        return all(same(item, right[key]) for key, item in left.items())
    return freeze(dict(left)) == freeze(dict(right))  # keys that are NaN, or unhashable


def _is_in(value: Any, others: Iterable[Any]) -> bool:
    return any(same(value, other) for other in others)


def freeze(value: Any) -> Hashable:
    """A hashable value in place of this one: two values that are `same` have equal ones.

    A record gives the tuple of its values, without the names of its columns. A record and a mapping may be `same` and
    yet freeze differently, because a mapping has no order of columns.

    >>> freeze(Record(a=1, b=[2, float("nan")])) == freeze((1, [2, float("nan")]))
    True
    """
    if type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    if type(value) is Record:
        return tuple(map(freeze, value.__dict__.values()))
    return _stand_in(value, freeze)


def canonical(value: Any) -> Hashable:
    """A hashable value that stands for all values equal to this one, by the names of columns in any order.

    >>> canonical(Record(a=1, b=[float("nan")])) == canonical({"b": [float("nan")], "a": 1})
    True
    >>> canonical(Record(a=1)) == canonical(Record(b=1))
    False
    """
    if type(value) is Record:
        return _named_form(value.__dict__)
    if type(value) in _PLAIN:
        return value  # type: ignore[no-any-return]
    if type(value) not in _NAMELESS and (columns := named(value)) is not None:
        return _named_form(columns)
    return _stand_in(value, canonical)


def _stand_in(value: Any, inner: Callable[[Any], Hashable]) -> Hashable:
    """A hashable value that equal values share; `inner` makes those of the values inside."""
    match value:
        case float():
            return value if value == value else NotANumber
        case Decimal():
            return NotANumber if value.is_nan() else value
        case list() | tuple() | Record():
            return tuple(map(inner, value))
        case Mapping():
            return dict, frozenset([(inner(key), inner(item)) for key, item in value.items()])
        case set() | frozenset():
            return set, frozenset(map(inner, value))
        case bytearray():
            return bytes(value)
        case _ if is_numpy(value):
            return inner(value.tolist())
        case _ if _has_equality(type(value)) and isinstance(value, Hashable):
            return value
        case _ if hasattr(value, "__dict__") and not callable(value):
            return type(value), inner(vars(value))
        case _:
            return value if isinstance(value, Hashable) else (type(value), repr(value))


class NotANumber:
    """What stands for every NaN: the class itself, which stays one and the same when pickled."""


def is_numpy(value: Any) -> bool:
    """A value of numpy's that has a form in plain Python, `value.tolist()`?"""
    return type(value).__module__ == "numpy" and hasattr(value, "tolist")


def is_numpy_bool(value: Any) -> bool:
    """Comparisons of pandas and numpy values give numpy's own bool, which is not a bool to Python."""
    return type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


def _has_equality(kind: type) -> bool:
    own: object = kind.__eq__
    return own is not object.__eq__


# Canonical forms of rows are asked for by the million, so how to read rows of the same columns is remembered: their
# names in order, marked as names, and a function that takes out the values.
_Layout: TypeAlias = tuple[tuple[Any, ...], Callable[[Mapping[str, Any]], tuple[Any, ...]]]
_layouts: dict[tuple[str, ...], _Layout] = {}


def _named_form(columns: Mapping[str, Any]) -> Hashable:
    layout = _layouts.get(tuple(columns)) or _layout(columns)
    values = layout[1](columns)
    for value in values:
        if type(value) not in _PLAIN and (type(value) is not float or value != value):
            return layout[0], tuple(map(canonical, values))
    return layout[0], values


def _layout(columns: Mapping[str, Any]) -> _Layout:
    if len(_layouts) > 1000:  # maps with text for keys come in any number of layouts
        _layouts.clear()
    names = tuple(sorted(columns))
    values_of: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    match names:
        case ():
            values_of = _no_values
        case (name,):
            values_of = _OneValue(name)
        case _:
            values_of = itemgetter(*names)
    layout = _layouts[tuple(columns)] = ((Record, *names), values_of)
    return layout


def _no_values(columns: Mapping[str, Any]) -> tuple[Any, ...]:
    return ()


@dataclass(frozen=True)
class _OneValue:
    name: str

    def __call__(self, columns: Mapping[str, Any]) -> tuple[Any, ...]:
        return (columns[self.name],)
