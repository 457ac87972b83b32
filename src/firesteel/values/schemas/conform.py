"""Values as firesteel holds them: structs as records, timestamps aware and in UTC, binary as bytes.

`fitter` refuses values that do not fit their schema (`firesteel.values.schemas.fit` says which do). `conformer` takes
values that are known to fit, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.values.records import Record, as_mapping, columns_of, make_record
from firesteel.values.schemas.fit import checker

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_Convert: TypeAlias = Callable[[Any], Any]


def in_utc(moment: datetime) -> datetime:
    """An aware datetime in UTC; one without a zone is taken to be in UTC.

    >>> in_utc(datetime(2030, 1, 1)).isoformat()
    '2030-01-01T00:00:00+00:00'
    """
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def conformer(
    schema: StructType, *, moment: Callable[[datetime], datetime] = in_utc
) -> Callable[[Sequence[Any]], Record]:
    """A function from a row's values, in order, to its record; `moment` says how timestamps become aware.

    >>> from firesteel.values import schemas
    >>> conformer(schemas.parse("id INT, at STRUCT<x: INT, y: INT>"))((1, (2, 3)))
    Record(id=1, at=Record(x=2, y=3))
    """
    names = tuple(schema.fieldNames())
    changes = [(name, change) for name, field in zip(names, schema.fields, strict=True)
               if (change := _change(field.dataType, moment)) is not None]  # fmt: skip

    def conform(values: Sequence[Any]) -> Record:
        columns = dict(zip(names, values, strict=True))
        for name, change in changes:
            if columns[name] is not None:
                columns[name] = change(columns[name])
        return make_record(columns)

    return conform


def _change(kind: DataType, moment: _Convert) -> _Convert | None:
    """How a value of this type that is not null is changed; None where it stays as it is."""
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType, TimestampType

    match kind:
        case TimestampType():
            return moment
        case BinaryType():
            return bytes
        case ArrayType(elementType=inner):
            return _array(_change(inner, moment))
        case MapType(keyType=key, valueType=value):
            return _map(_change(key, moment), _change(value, moment))
        case StructType():
            return _struct(kind, moment)
        case _:
            return None


def _array(change: _Convert | None) -> _Convert:
    if change is None:
        return list
    return lambda items: [item if item is None else change(item) for item in items]


def _map(change_key: _Convert | None, change_value: _Convert | None) -> _Convert:
    def changed(change: _Convert | None, item: Any) -> Any:
        return item if item is None or change is None else change(item)

    return lambda items: {changed(change_key, k): changed(change_value, v) for k, v in items.items()}


def _struct(kind: StructType, moment: _Convert) -> _Convert:
    conform = conformer(kind, moment=moment)
    names = kind.fieldNames()

    def convert(value: Any) -> Record:
        if isinstance(value, (Record, Mapping)):
            columns = as_mapping(value)
            return conform([columns[name] for name in names])
        return conform(value)

    return convert


# --- values that are not known to fit -------------------------------------------------------------

Fitter: TypeAlias = Callable[[Any, str], Record]


def fitter(schema: StructType) -> Fitter:
    """A function that makes a record of the schema from a tuple, a dict, a Row or a record, or says why it cannot.

    >>> from firesteel.values import schemas
    >>> fitter(schemas.parse("at TIMESTAMP, n INT"))((datetime(2030, 1, 1), 5), "record")
    Record(at=datetime.datetime(2030, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), n=5)
    """
    names = tuple(schema.fieldNames())
    misfit = checker(schema)
    conform = conformer(schema)

    def fit(record: Any, argument: str) -> Record:
        values = _values_in_order(record, names)
        why = misfit(values) if values is not None else f"it has to have {_columns(names)}"
        if values is None or why is not None:
            raise InvalidArgument(f"{described(argument, record)} does not fit the schema: {why}")
        return conform(values)

    return fit


def _values_in_order(record: Any, names: tuple[str, ...]) -> Sequence[Any] | None:
    """The record's values in the schema's order; None where its columns are others."""
    own = columns_of(record)
    if own is None and isinstance(record, Mapping):
        own = tuple(record)
    if own is None:
        return record if isinstance(record, (tuple, list)) and len(record) == len(names) else None
    if own == names:
        return tuple(record.values()) if isinstance(record, Mapping) else tuple(record)
    return [record[name] for name in names] if len(own) == len(names) and set(own) == set(names) else None


def _columns(names: Sequence[str]) -> str:
    return f"{len(names)} column{'' if len(names) == 1 else 's'}, {', '.join(names)}" if names else "no columns"
