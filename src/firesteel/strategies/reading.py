"""Reads what was recorded: DataFrames of PySpark and pandas, files, streams and lists become a `Recording`.

A recording has its records in the order in which they were recorded, fitted to a schema.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.values.records import Record, columns_of
from firesteel.values.schemas.conform import conformer, fitter
from firesteel.values.streams import Stream

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


@dataclass(frozen=True, eq=False)
class Recording:
    """Records in the order in which they were recorded; `name` and `place` are for messages."""

    records: Sequence[Any]
    schema: StructType | None
    name: str
    place: Callable[[int], str]


def recording_of(recorded: Any, schema: StructType | None) -> Recording:
    """What was recorded, with the given schema or that of its values."""
    match recorded:
        case str() | os.PathLike():
            return _of_path(Path(recorded), described("recorded", recorded), schema)
        case Stream():
            records = [record for batch in recorded for record in batch]
            return _of_records(records, "the stream", lambda index: f"record {index}", schema or recorded.schema)
        case list() | tuple():
            return _of_records(recorded, "the list", lambda index: f"recorded[{index}]", schema)
        case _ if type(recorded).__module__.partition(".")[0] == "pandas" and hasattr(recorded, "columns"):
            import pyarrow as pa  # type: ignore[import-untyped]

            with _arrow_errors("the DataFrame cannot be converted"):
                table = pa.Table.from_pandas(recorded, preserve_index=False)
            return _of_table(table, "the DataFrame", lambda index: f"row {index} of the DataFrame", schema)
        case _ if hasattr(recorded, "isStreaming") and hasattr(recorded, "collect"):
            return _of_spark(recorded, schema)
    raise InvalidArgument(
        f"{described('recorded', recorded)} is not a recording: give a DataFrame of PySpark or pandas, the path of a "
        f"{_SUFFIXES} file, a Stream, or a list of records"
    )


def _of_spark(frame: Any, schema: StructType | None) -> Recording:
    if frame.isStreaming:
        raise InvalidArgument(
            "recorded is a streaming DataFrame, which has no end: give one that was read with spark.read"
        )
    names = _unique(frame.columns, "the DataFrame")
    # PySpark collects timestamps as naive datetimes of the process's own zone.
    conform = conformer(frame.schema, moment=lambda moment: moment.astimezone(UTC))
    records = [conform(tuple(row)) for row in frame.collect()]
    if schema is None:
        return Recording(records, frame.schema, "the DataFrame", lambda index: f"row {index} of the DataFrame")
    _has_columns(names, schema, "the DataFrame")
    rows = [{name: record[name] for name in schema.fieldNames()} for record in records]
    return _fitted(rows, "the DataFrame", lambda index: f"row {index} of the DataFrame", schema)


def _of_records(records: Sequence[Any], name: str, place: Callable[[int], str], schema: StructType | None) -> Recording:
    """Records of any kind, with the given schema or that of their values. Elements without columns stay as they are."""
    if schema is not None:
        return _fitted(records, name, place, schema)
    rows = [_as_dict(record) for record in records]
    if not rows or not all(isinstance(row, dict) for row in rows):
        return Recording(records, None, name, place)
    import pyarrow as pa

    with _arrow_errors(f"the columns of {name} cannot be told from its records, give schema='...'"):
        columns = list(dict.fromkeys(column for row in rows for column in row))
        table = pa.table({column: [row.get(column) for row in rows] for column in columns})
    return _of_table(table, name, place, None)


def _as_dict(record: Any) -> Any:
    """A record as plain dicts at any depth, which Arrow takes for structs."""
    match record:
        case Record():
            return {name: _as_dict(value) for name, value in record.__dict__.items()}
        case tuple() if (names := columns_of(record)) is not None:
            return {name: _as_dict(value) for name, value in zip(names, record, strict=True)}
        case Mapping():
            return {name: _as_dict(value) for name, value in record.items()}
        case list():
            return [_as_dict(item) for item in record]
        case _:
            return record


def _fitted(rows: Sequence[Any], name: str, place: Callable[[int], str], schema: StructType) -> Recording:
    fit = fitter(schema)
    return Recording([fit(row, place(index)) for index, row in enumerate(rows)], schema, name, place)


def _unique(names: Sequence[str], name: str) -> Sequence[str]:
    for index, column in enumerate(names):
        if column in names[:index]:
            raise InvalidArgument(f"{name} has two columns of the name {column!r}: rename one of them")
    return names


def _has_columns(names: Sequence[str], schema: StructType, name: str) -> None:
    for column in schema.fieldNames():
        if column not in names:
            raise InvalidArgument(
                f"the schema does not fit: {name} has no column {column!r}, only {', '.join(names) or 'none'}"
            )


# --- files ---------------------------------------------------------------------------------------------------------


def _of_path(path: Path, argument: str, schema: StructType | None) -> Recording:
    if not path.exists():
        raise InvalidArgument(f"{argument} is not a file that exists: give the path of a {_SUFFIXES} file")
    # Spark writes a folder, with files of its own beside those of data.
    files = sorted(file for file in path.iterdir() if file.name[0] not in "._") if path.is_dir() else [path]
    parts = [_of_file(file, argument, schema) for file in files]
    if not parts:
        raise InvalidArgument(f"{argument} is an empty folder: give the path of a {_SUFFIXES} file")
    if len(parts) == 1:
        return parts[0]
    for file, part in zip(files, parts, strict=True):
        if part.schema != parts[0].schema:
            raise InvalidArgument(
                f"{file.name} has other columns than {files[0].name}: give schema='...' to read all files alike"
            )
    places = [part.place(index) for part in parts for index in range(len(part.records))]
    records = [record for part in parts for record in part.records]
    return Recording(records, parts[0].schema, path.name, places.__getitem__)


def _of_file(file: Path, argument: str, schema: StructType | None) -> Recording:
    def place(index: int) -> str:
        return f"row {index + 1} of {file.name}"

    match file.suffix.lower():
        case ".parquet":
            import pyarrow.parquet as pq  # type: ignore[import-untyped]

            with _arrow_errors(f"{file.name} cannot be read as Parquet"):
                return _of_table(pq.ParquetFile(file).read(), file.name, place, schema)
        case ".csv":
            return _of_table(_csv(file, schema), file.name, place, schema, written=True)
        case ".json" | ".jsonl" | ".ndjson" if schema is not None:
            return _of_json(file, place, schema)
        case ".json" | ".jsonl" | ".ndjson":
            import pyarrow.json as pj  # type: ignore[import-untyped]

            with _arrow_errors(f"{file.name} cannot be read as JSON, which has an object in every line"):
                return _of_table(pj.read_json(file) if file.stat().st_size else _no_table(), file.name, place, None)
        case suffix:
            what = f"{suffix!r} is not a suffix that is known" if suffix else "a suffix has to tell its format"
            raise InvalidArgument(f"{argument}: {file.name} cannot be read, {what}: give a {_SUFFIXES} file")


_SUFFIXES = ".csv, .json, .jsonl, .ndjson or .parquet"


def _no_table() -> Any:
    import pyarrow as pa

    return pa.table({})


def _csv(file: Path, schema: StructType | None) -> Any:
    import pyarrow as pa
    import pyarrow.csv as pc  # type: ignore[import-untyped]

    # As Spark reads it: if there is nothing between two commas, that is null, even in a column of strings; "" is an
    # empty string.
    options = {"strings_can_be_null": True, "quoted_strings_can_be_null": False, "null_values": [""]}
    if schema is not None:
        options["column_types"] = {name: pa.string() for name in schema.fieldNames()}
    if not file.stat().st_size:
        return _no_table()
    with _arrow_errors(f"{file.name} cannot be read as CSV"):
        return pc.read_csv(file, convert_options=pc.ConvertOptions(**options))


def _of_json(file: Path, place: Callable[[int], str], schema: StructType) -> Recording:
    read = [(name, _from_text(schema[name].dataType)) for name in schema.fieldNames()]
    rows = []
    columns: dict[str, None] = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=Decimal)
        except ValueError as error:
            raise InvalidArgument(
                f"line {number} of {file.name} is not JSON: {error}; write an object a line"
            ) from None
        if not isinstance(row, dict):
            raise InvalidArgument(f"line {number} of {file.name} is not a JSON object, but {described('value', row)}")
        columns.update(dict.fromkeys(row))
        rows.append({name: convert(row.get(name)) for name, convert in read})
    if rows:
        _has_columns(list(columns), schema, file.name)
    return _fitted(rows, file.name, place, schema)


def _of_table(
    table: Any, name: str, place: Callable[[int], str], schema: StructType | None, *, written: bool = False
) -> Recording:
    """The rows of an Arrow table. `written` says that its values are text, as in a file."""
    from pyspark.sql.pandas.types import from_arrow_schema

    _unique(table.column_names, name)
    table = _as_spark_has_it(table)
    if schema is None:
        with _arrow_errors(f"{name} holds values that Spark has no type for"):
            # Files rarely say what zone their times are in. Those that Spark writes are in UTC.
            schema = from_arrow_schema(table.schema, prefer_timestamp_ntz=False)
        return _fitted(_rows(table), name, place, schema)
    if table.num_rows:
        _has_columns(table.column_names, schema, name)
        table = table.select(schema.fieldNames())
    rows = _rows(table)
    if written:
        read = [(column, _from_text(schema[column].dataType)) for column in schema.fieldNames()]
        rows = [{column: convert(row[column]) for column, convert in read} for row in rows]
    return _fitted(rows, name, place, schema)


def _rows(table: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table.to_pylist(maps_as_pydicts="strict")
    return rows


def _as_spark_has_it(table: Any) -> Any:
    """The table with times in microseconds, and other columns in the nearest type that Spark has."""
    import pyarrow as pa
    from pyarrow import types

    fields = []
    for field in table.schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_timestamp(kind):
            kind = pa.timestamp("us", tz=None if kind.tz is None else "UTC")
        elif types.is_date(kind):
            kind = pa.date32()
        elif types.is_unsigned_integer(kind):
            kind = pa.int64()
        elif types.is_float16(kind):
            kind = pa.float32()
        fields.append(pa.field(field.name, kind, field.nullable))
    with _arrow_errors("a column cannot be read"):
        return table.cast(pa.schema(fields), safe=False)


@contextmanager
def _arrow_errors(what: str) -> Iterator[None]:
    """Arrow's errors as ours: `what` says what could not be done."""
    import pyarrow as pa
    from pyspark.errors import PySparkException

    try:
        yield
    except (pa.ArrowException, PySparkException) as error:
        raise InvalidArgument(f"{what}: {' '.join(str(error).split())}") from error


# --- text to values ------------------------------------------------------------------------------------------------


def _from_text(kind: DataType) -> Callable[[Any], Any]:
    """Makes a value of this type from the text of a file. What cannot be made is left for `fitter` to refuse."""
    make = _maker(kind)

    def convert(value: Any) -> Any:
        try:
            return None if value is None else make(value)
        except (ValueError, ArithmeticError):
            return value

    return convert


def _maker(kind: Any) -> Callable[[Any], Any]:
    match type(kind).__name__:
        case "ByteType" | "ShortType" | "IntegerType" | "LongType":
            return lambda value: int(value) if isinstance(value, str) else value
        case "DoubleType":
            return lambda value: value if isinstance(value, bool) else float(value)
        case "FloatType":
            return lambda value: value if isinstance(value, bool) else _single(float(value))
        case "DecimalType":
            return lambda value: value if isinstance(value, bool) else Decimal(value)
        case "BooleanType":
            return lambda value: {"true": True, "false": False}.get(value.lower(), value) if _is_text(value) else value
        case "DateType":
            return lambda value: date.fromisoformat(value) if _is_text(value) else value
        case "TimestampType" | "TimestampNTZType":
            return lambda value: datetime.fromisoformat(value.strip()) if _is_text(value) else value
        case "ArrayType":
            element = _from_text(kind.elementType)
            return lambda value: [element(item) for item in value] if isinstance(value, list) else value
        case "MapType":
            item = _from_text(kind.valueType)
            return lambda value: {key: item(i) for key, i in value.items()} if isinstance(value, dict) else value
        case "StructType":
            fields = [(field.name, _from_text(field.dataType)) for field in kind.fields]
            return lambda value: (
                {name: convert(value.get(name)) for name, convert in fields} if isinstance(value, dict) else value
            )
        case _:
            return lambda value: value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _single(number: float) -> float:
    """The nearest number that a FLOAT can hold."""
    nearest: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return nearest
