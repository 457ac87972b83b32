"""Domains from what a user hands over: a schema, a strategy, a sample of rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.operators import domains as d

_DRAWN = 200
"""How many values of a strategy are drawn, to be combined."""


def from_strategy(given: Any) -> d.Samples:
    """Values of a Hypothesis strategy, the simplest first: nothing else is fed."""
    from hypothesis import HealthCheck, Phase, seed, settings
    from hypothesis import given as each
    from hypothesis.strategies import SearchStrategy

    if not isinstance(given, SearchStrategy):
        raise InvalidArgument(
            f"{described('inputs', given)} is not a strategy: write inputs=st.integers(); for rows, use sample=[...]"
        )
    drawn: list[Any] = []

    @seed(0)
    @settings(
        max_examples=_DRAWN,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=_quiet(),
    )
    @each(given)
    def collect(value: Any) -> None:
        drawn.append(value)

    collect()
    if not drawn:
        raise InvalidArgument(f"{described('inputs', given)} draws no value at all")
    return d.Samples(tuple(sorted(drawn, key=lambda value: len(repr(value)))), "inputs=")


def _quiet() -> Any:
    from hypothesis import Verbosity

    return Verbosity.quiet


def from_sample(sample: Any) -> d.Samples:
    """Rows of a Spark or pandas DataFrame, or of a list."""
    if hasattr(sample, "limit") and hasattr(sample, "collect"):
        rows: Sequence[Any] = sample.limit(_DRAWN).collect()
    elif hasattr(sample, "to_dict") and hasattr(sample, "columns"):
        rows = sample.head(_DRAWN).to_dict("records")
    elif isinstance(sample, Sequence) and not isinstance(sample, str | bytes):
        rows = list(sample[:_DRAWN])
    else:
        raise InvalidArgument(f"{described('sample', sample)} is not a sample: write a list of rows, or a DataFrame")
    if not len(rows):
        raise InvalidArgument(f"{described('sample', sample)} is empty: hand over one row at the least")
    return d.Samples(tuple(rows), "sample=")


def from_schema(schema: Any) -> tuple[d.Rows, tuple[tuple[str, str], ...], bool]:
    """The domain of a schema's rows, its columns with their pandas types, and whether all of them may be null."""
    from firesteel.values import schemas

    parsed: Any = schemas.parse(schema)
    names = tuple(parsed.fieldNames())
    fields = [of_type(each.dataType) for each in parsed.fields]
    columns = tuple((each.name, _pandas_of(each.dataType)) for each in parsed.fields)
    return d.Rows(tuple(fields), None, names), columns, all(each.nullable for each in parsed.fields)


def of_type(kind: Any) -> d.Domain:
    """The domain of a Spark type. Nulls are left to `null_safe`, as NaN is to `nan_safe`."""
    match kind.__class__.__name__:
        case "ByteType":
            return d.Ints(-128, 127)
        case "ShortType":
            return d.Ints(-(2**15), 2**15 - 1)
        case "IntegerType":
            return d.Ints()
        case "LongType":
            return d.Ints(-(2**53), 2**53)
        case "FloatType":
            return d.Floats(single=True)
        case "DoubleType":
            return d.Floats()
        case "DecimalType":
            return d.Decimals(kind.scale, kind.precision)
        case "StringType":
            return d.Texts()
        case "BinaryType":
            return d.Binaries()
        case "BooleanType":
            return d.Few((False, True), "bool")
        case "DateType":
            return d.Dates()
        case "TimestampType" | "TimestampNTZType":
            return d.Moments()
        case "ArrayType":
            return d.Lists(of_type(kind.elementType))
        case "MapType":
            return d.Maps(of_type(kind.keyType), of_type(kind.valueType))
        case "StructType":
            names = tuple(kind.fieldNames())
            make = lambda items: dict(zip(names, items, strict=True))  # noqa: E731  it holds the names
            return d.Rows(tuple(of_type(each.dataType) for each in kind.fields), make, names)
        case other:
            raise InvalidArgument(f"values of {other} are not made here: hand over rows with sample=[...]")


def _pandas_of(kind: Any) -> str:
    match kind.__class__.__name__:
        case "ByteType" | "ShortType" | "IntegerType" | "LongType":
            return "int64"
        case "FloatType" | "DoubleType":
            return "float64"
        case "BooleanType":
            return "bool"
        case "TimestampType" | "TimestampNTZType":
            return "datetime64[ns]"
        case _:
            return "object"


def pandas_type(values: Sequence[Any]) -> str:
    """The pandas type of a column whose values are known."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int64"
    if kinds and kinds <= {int, float}:
        return "float64"
    if kinds == {datetime}:
        return "datetime64[ns]"
    return "object"
