"""The form of a value: one that is equal, for Spark, to the form of every equal value. And back, from form to value.

Spark can group and sort by forms. A map becomes its sorted entries, a struct gets its fields in a given order, a moment
or a day becomes a number, and a value of a type that Spark cannot group becomes text. All other values are their own
form.

NaN equals NaN, null equals null and -0.0 equals 0.0, at any depth: Spark groups so, and `values.equality` agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.spark.engines.recorded import from_local
from firesteel.spark.frames import moments
from firesteel.spark.frames.columns import named_kinds
from firesteel.values.records import Record, make_record

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

_Convert: TypeAlias = Callable[[Any], Any]

# Types that Spark cannot group, or that PySpark cannot collect. By the names of their classes: older versions of
# PySpark lack some of them.
_INTERVALS = ("CalendarIntervalType", "YearMonthIntervalType")
_SPATIAL = ("GeometryType", "GeographyType")
_VARIANT = "VariantType"
_MOMENTS = ("TimestampType", "TimestampNTZType", "DateType")


def form(column: Column, own: DataType, layout: DataType) -> Column:
    """The form of a column's values, which are of type `own`, with the fields of structs in the order of `layout`."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    if _is_plain(own) and _same_layout(own, layout):
        return column
    match own, layout:
        case ArrayType(), ArrayType():
            return F.transform(column, lambda item: form(item, own.elementType, layout.elementType))
        case MapType(), MapType():
            return F.sort_array(
                F.transform(
                    F.map_entries(column),
                    lambda entry: F.struct(
                        form(entry["key"], own.keyType, layout.keyType).alias("key"),
                        form(entry["value"], own.valueType, layout.valueType).alias("value"),
                    ),
                )
            )
        case StructType(), StructType():
            return _struct_form(column, own, layout)
        case StringType(), _:
            return F.collate(column, "UTF8_BINARY")
        case _:
            number = moments.as_number(column, type(own).__name__)
            return _text_form(column, own) if number is None else number


def is_lossy(kind: DataType) -> bool:
    """Is there anything in values of this type whose form is a text that PySpark would collect as a value?"""
    return _has(kind, (*_SPATIAL, _VARIANT))


def has_moments(kind: DataType) -> bool:
    """Is there a moment or a day in values of this type?"""
    return _has(kind, _MOMENTS)


def _has(kind: DataType, names: Sequence[str]) -> bool:
    """Is a type one of these classes, or made of one?"""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match kind:
        case ArrayType():
            return _has(kind.elementType, names)
        case MapType():
            return _has(kind.keyType, names) or _has(kind.valueType, names)
        case StructType():
            return any(_has(field.dataType, names) for field in kind.fields)
        case _:
            return type(kind).__name__ in names


def field_names(layout: StructType) -> list[str]:
    """The names of a struct's fields in its form."""
    return layout.fieldNames() if _is_plain(layout) else [f"f{index}" for index in range(len(layout.fields))]


def _is_plain(kind: DataType) -> bool:
    """Are values of this type their own form?"""
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    match kind:
        case ArrayType():
            return _is_plain(kind.elementType)
        case StructType():
            names = {name.lower() for name in kind.fieldNames()}  # Spark finds a field by its name in any case
            return len(names) == len(kind.fields) and all(_is_plain(field.dataType) for field in kind.fields)
        case StringType():
            return kind == StringType()  # strings that only a collation calls equal are different here
        case MapType():
            return False
        case _:
            return type(kind).__name__ not in (*_INTERVALS, *_SPATIAL, _VARIANT, *_MOMENTS)


def _same_layout(own: DataType, layout: DataType) -> bool:
    from pyspark.sql.types import ArrayType, StructType

    match own, layout:
        case ArrayType(), ArrayType():
            return _same_layout(own.elementType, layout.elementType)
        case StructType(), StructType():
            return own.fieldNames() == layout.fieldNames() and all(
                _same_layout(mine.dataType, other.dataType)
                for mine, other in zip(own.fields, layout.fields, strict=True)
            )
        case _:
            return True


def _text_form(column: Column, own: DataType) -> Column:
    from pyspark.sql import functions as F

    match type(own).__name__:
        case name if name == _VARIANT:
            return _variant_form(column)
        case name if name in _SPATIAL:
            shape = F.hex(F.call_function("st_asbinary", column))
            text = F.concat(shape, F.lit(" (SRID "), F.call_function("st_srid", column).cast("string"), F.lit(")"))
            return F.when(column.isNotNull(), text)
        case _:
            return column.cast("string")


def _variant_form(column: Column) -> Column:
    """A variant by its meaning, not by its bytes: the same object can be encoded in several ways.

    In JSON a date looks like a text, so the types are told as well. Spark tells no type for the items of an array that
    have several: then these are told one by one, and the items of them, down to the last.
    """
    from pyspark.sql import functions as F

    json, kind = F.to_json(column), F.call_function("schema_of_variant", column)
    depth = F.length(json) - F.length(F.translate(json, "[{", "")) + 1  # as many levels as there are brackets at most
    levels = F.aggregate(
        F.sequence(F.lit(1), F.when(kind.contains("VARIANT"), depth).otherwise(F.lit(1))),
        F.struct(_children(column).alias("items"), F.array().cast("array<string>").alias("types")),
        lambda so_far, _: F.struct(
            F.flatten(F.transform(so_far["items"], _children)).alias("items"),
            F.concat(
                so_far["types"],
                F.transform(so_far["items"], lambda item: F.call_function("schema_of_variant", item)),
            ).alias("types"),
        ),
        lambda told: F.array_join(told["types"], ", "),
    )
    types = F.when(kind.contains("VARIANT"), F.concat(kind, F.lit(": "), levels)).otherwise(kind)
    return F.when(column.isNotNull(), F.concat(json, F.lit(" ("), types, F.lit(")")))


def _children(variant: Column) -> Column:
    """The items of a variant that is an array or an object; none of another."""
    from pyspark.sql import functions as F

    return F.coalesce(
        F.try_variant_get(variant, "$", "array<variant>"),
        F.map_values(F.try_variant_get(variant, "$", "map<string,variant>")),
        F.array().cast("array<variant>"),
    )


def _struct_form(column: Column, own: StructType, layout: StructType) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructField, StructType

    # Fields are read by number, as two names may be the same, or differ only in case. A cast goes by position.
    numbered = StructType([StructField(f"f{index}", field.dataType) for index, field in enumerate(own.fields)])
    places = {name: index for index, name in enumerate(named_kinds(own))}
    cast = column.cast(numbered)
    fields = [
        form(cast.getField(f"f{places[name]}"), own.fields[places[name]].dataType, kind).alias(field)
        for (name, kind), field in zip(named_kinds(layout).items(), field_names(layout), strict=True)
    ]
    return F.when(column.isNotNull(), F.struct(*fields))


# --- and back ------------------------------------------------------------------------------------


def collected(frame: DataFrame) -> list[Any]:
    """All rows of a frame; with text for moments in them if Python cannot hold one (years outside 1 to 9999)."""
    from pyspark.sql import functions as F

    try:
        return frame.collect()
    except (ValueError, OverflowError):
        return frame.select(
            *(F.col(field.name).cast(_times_as_text(field.dataType)).alias(field.name) for field in frame.schema.fields)
        ).collect()


def reader(kinds: Sequence[tuple[str, DataType]]) -> Callable[[Sequence[Any]], Record]:
    """A function that makes a record, with columns of these names and types, of the collected forms of its values."""
    changes = [(name, _back(kind)) for name, kind in kinds]

    def record(forms: Sequence[Any]) -> Record:
        # A row may hold more than the record: a count, or a place.
        return make_record(
            {name: _item_back(change, item) for (name, change), item in zip(changes, forms, strict=False)}
        )

    return record


def moment(collected: Any) -> Any:
    """A timestamp that was not in its form, as records hold it; or the text that `collected` gave for it."""
    return from_local(collected) if isinstance(collected, datetime) else collected


def _times_as_text(kind: DataType) -> DataType:
    from pyspark.sql.types import ArrayType, MapType, StringType, StructField, StructType

    match kind:
        case ArrayType():
            return ArrayType(_times_as_text(kind.elementType))
        case MapType():
            return MapType(_times_as_text(kind.keyType), _times_as_text(kind.valueType))
        case StructType():
            return StructType([StructField(field.name, _times_as_text(field.dataType)) for field in kind.fields])
        case _:
            return StringType() if type(kind).__name__ in _MOMENTS else kind


def _back(kind: DataType) -> _Convert | None:
    """From a collected form to the value; None where they are the same."""
    from pyspark.sql.types import ArrayType, BinaryType, DateType, MapType, StructType, TimestampNTZType, TimestampType

    match kind:
        case TimestampType():
            return moments.moment
        case TimestampNTZType():
            return moments.local_moment
        case DateType():
            return moments.day
        case BinaryType():
            return bytes
        case ArrayType(elementType=inner):
            return _list_back(_back(inner))
        case MapType(keyType=key, valueType=value):
            return _map_back(_back(key), _back(value))
        case StructType():
            return reader(list(named_kinds(kind).items()))
        case _:
            return None


def _item_back(change: _Convert | None, item: Any) -> Any:
    return item if item is None or change is None else change(item)


def _list_back(change: _Convert | None) -> _Convert:
    return lambda items: [_item_back(change, item) for item in items]


def _map_back(key: _Convert | None, value: _Convert | None) -> _Convert:
    return lambda entries: {_hashable(_item_back(key, entry[0])): _item_back(value, entry[1]) for entry in entries}


def _hashable(key: Any) -> Any:
    return tuple(map(_hashable, key)) if isinstance(key, list) else key
