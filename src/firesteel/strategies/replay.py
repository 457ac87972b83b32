"""Recorded streams: `replay` cuts a DataFrame, a file or a list of records into batches, and draws the recording.

Hypothesis begins with the simplest example there is, and makes failing ones simpler, so both have to be the same: the
recording without its records. The next examples are the whole recording, and then parts of it. All have as many
batches as the recording, at the same event times: only records are left out, so that a property which needs six
batches gets six. A check may run only a few cases, or one, so it asks for `choices_of_whole` and begins with them.

Which records are kept is drawn as a list of numbers, because Hypothesis knows how to take elements out of one. Where
there are too many for a list, there is one for each digit of their numbers (to a large base), and one for the rest that
a prime leaves: a record is kept if it is in all of these lists. Each may shrink without regard to the others. Where all
is kept, each of these choices has one outcome; they are drawn all the same, because then shrinking has lists to begin
with.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from firesteel.errors import InvalidArgument, described
from firesteel.strategies.arguments import whole
from firesteel.strategies.combinators import Streams
from firesteel.values import schemas
from firesteel.values.durations import duration, text
from firesteel.values.records import Record, columns_of
from firesteel.values.schemas.conform import conformer, in_utc
from firesteel.values.streams import Span, Stream, fitter, make_batch, make_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

# The base of the digits, so the length of a list; and the prime.
_BASE, _PRIME = 64, 61
# An event time far from all others would make batches without end, most of them empty.
_MOST_BATCHES = 10_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# What is drawn from the first strategy of each pair is possible for the second one as well: so Hypothesis can go from
# the whole recording to parts of it, and has the same choices still.
_MORE_TO_COME, _MORE = st.integers(1, 1), st.integers(0, 15)
_NO_MORE = st.integers(0, 0)
_ALL_LISTS = st.integers(0, 0)
_EXACTLY = [st.integers(number, number) for number in range(_BASE)]
_BELOW = [st.integers(0, max(0, count - 1)) for count in range(_BASE + 1)]

Recorded: TypeAlias = "DataFrame | str | os.PathLike[str] | Stream | Sequence[Any] | Any"
"""A DataFrame of PySpark or pandas, the path of a file, a stream, or a list of records."""


def replay(
    recorded: Recorded,
    *,
    every: str | timedelta | int,
    column: str | None = None,
    schema: StructType | str | type | None = None,
) -> Streams:
    """A recording as a stream, and parts of it: one batch for each stretch of event time, or for so many records.

    - `recorded`: a DataFrame (PySpark, pandas), the path of a file (.csv with a header, .json with an object a line,
      .parquet) or of a folder of such files, a stream, or a list of records.
    - `every`: a duration, such as "1 hour", and the `column` that holds the event time. Batches begin at whole
      multiples of it, as Spark's windows do; a stretch without records is an empty batch. Or a whole number of
      records, in the order in which they were recorded.
    - `schema`: what the columns are, where the recording does not say it, or not exactly. Others are left out.

    Times without a zone are taken to be in UTC. What is drawn has all batches of the recording, with all its records
    or with some: it shrinks to the records that matter. `fs.for_all` begins with all of them.

    >>> from hypothesis import find
    >>> clicks = Stream("user INT, at TIMESTAMP", [[(n, datetime(2030, 1, 1, 9, 50 * n // 10)) for n in range(9)]])
    >>> hours = replay(clicks, every="10 minutes", column="at")
    >>> [len(batch) for batch in find(hours, lambda stream: sum(map(len, stream)) == 9)]
    [2, 2, 2, 2, 1]
    >>> find(hours, lambda stream: any(record.user == 5 for record in stream[2])).batches[2].values("user")
    [5]
    """
    recording = _read(recorded, None if schema is None else schemas.parse(schema))
    if not recording.records:
        raise InvalidArgument(f"{recording.name} holds no records: there is nothing to replay")
    if isinstance(every, int):
        if column is not None:
            raise InvalidArgument(
                f"{described('every', every)} is a number of records, which needs no column, but "
                f"{described('column', column)} is given: write every='1 hour' to cut by event time, or leave it out"
            )
        size = whole(every, "every", 1)
        batch_of = [index // size for index in range(len(recording.records))]
        return _known(_Cut(recording, batch_of, batch_of[-1] + 1, None))
    return _known(_by_time(recording, duration(every, "every"), column))


def choices_of_whole(streams: Any) -> tuple[Any, ...] | None:
    """The choices by which Hypothesis draws the whole recording from what `replay` made; None for other strategies.

    >>> choices_of_whole(replay(["a", "b"], every=1))
    (True, 0, 1, 0, 1, 1, 0)
    """
    choices: tuple[Any, ...] | None = getattr(streams, _WHOLE, None)
    return choices


@dataclass(frozen=True, eq=False)
class _Recording:
    """Records in the order in which they were recorded; `name` and `place` are for messages."""

    records: Sequence[Any]
    schema: StructType | None
    name: str
    place: Callable[[int], str]


@dataclass(frozen=True, eq=False)
class _Cut:
    """A recording, and the batch that each of its records is in."""

    recording: _Recording
    batch_of: Sequence[int]
    batches: int
    span: Span | None

    def __repr__(self) -> str:
        return f"{self.recording.name}, {len(self.recording.records)} records in {self.batches} batches"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # else Hypothesis would list the fields of a dataclass


_WHOLE = "_firesteel_choices_of_whole"


def _known(cut: _Cut) -> Streams:
    """The strategy, with the choices of the whole recording beside it."""
    choices: list[Any] = [True, 0]
    for count, _ in _lists(len(cut.batch_of)):
        choices += [choice for number in range(count) for choice in (1, number)] + [0]
    strategy = _replayed(cut)
    setattr(strategy, _WHOLE, tuple(choices))
    return strategy


@st.composite
def _replayed(draw: DrawFn, cut: _Cut) -> Stream:
    everything = draw(st.booleans())
    lists = _lists(len(cut.batch_of))
    # Mostly one list is not complete: with several, next to nothing would be left.
    short = draw(_ALL_LISTS if everything else st.integers(0, len(lists)))
    kept: Iterable[int] = range(len(cut.batch_of))
    for place, (count, number_of) in enumerate(lists, start=1):
        complete = everything or short not in (0, place)
        chosen = _all_numbers(draw, count) if complete else _some_numbers(draw, count)
        kept = [index for index in kept if number_of(index) in chosen]
    batches: list[list[Any]] = [[] for _ in range(cut.batches)]
    for index in kept:
        batches[cut.batch_of[index]].append(cut.recording.records[index])
    schema = cut.recording.schema
    return make_stream((make_batch(batch, schema) for batch in batches), schema, cut.span)


def _lists(records: int) -> list[tuple[int, Callable[[int], int]]]:
    """For each list how many numbers there are, and which of them a record has."""
    if records <= _BASE:
        return [(records, lambda index: index)]
    lists: list[tuple[int, Callable[[int], int]]] = []
    weight = 1
    while weight < records:
        lists.append((min(_BASE, -(-records // weight)), _digit(weight)))
        weight *= _BASE
    return [*reversed(lists), (_PRIME, lambda index: index % _PRIME)]


def _digit(weight: int) -> Callable[[int], int]:
    return lambda index: index // weight % _BASE


def _all_numbers(draw: DrawFn, count: int) -> Container[int]:
    for number in range(count):
        draw(_MORE_TO_COME)
        draw(_EXACTLY[number])
    draw(_NO_MORE)
    return range(count)


def _some_numbers(draw: DrawFn, count: int) -> Container[int]:
    numbers = set()
    while draw(_MORE):
        numbers.add(draw(_BELOW[count]))
    return numbers


# --- event time ----------------------------------------------------------------------------------------------------


def _by_time(recording: _Recording, every: timedelta, column: str | None) -> _Cut:
    moments = list(_moments(recording, column))
    first, last = min(moments), max(moments)
    # Python's floor goes down before the epoch as well.
    start = _EPOCH + (first - _EPOCH) // every * every
    count = (last - start) // every + 1
    if count > _MOST_BATCHES:
        raise InvalidArgument(
            f"{recording.name} reaches from {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S}, which is {count} "
            f"batches of {text(every)}, more than {_MOST_BATCHES}: write a longer every, or take out the records that "
            f"lie far from the others"
        )
    span = (start, start + count * every)
    return _Cut(recording, [(moment - start) // every for moment in moments], count, span)


def _moments(recording: _Recording, column: str | None) -> Iterator[datetime]:
    """The event times of all records."""
    names = [] if recording.schema is None else recording.schema.fieldNames()
    if column is None:
        raise InvalidArgument(
            f"column is missing, which tells the event time that every= goes by: name one of {', '.join(names)}, or "
            "write a whole number of records, every=100"
        )
    if recording.schema is None or column not in names:
        raise InvalidArgument(
            f"{described('column', column)} names no column: {recording.name} has {', '.join(names) or 'none'}"
        )
    kind = recording.schema[column].dataType
    if type(kind).__name__ not in ("TimestampType", "TimestampNTZType"):
        raise InvalidArgument(
            f"{described('column', column)} is no timestamp, but {schemas.type_ddl(kind)}: name another column, or say "
            f"what it is with schema='..., {column} TIMESTAMP'"
        )
    for index, record in enumerate(recording.records):
        moment = record[column]
        if moment is None:
            raise InvalidArgument(
                f"{recording.place(index)} has no event time: its {column} is null. Take out such records first, or "
                "cut by their number, every=100"
            )
        yield in_utc(moment)


# --- what was recorded ---------------------------------------------------------------------------------------------


def _read(recorded: Any, schema: StructType | None) -> _Recording:
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
        f"{described('recorded', recorded)} is no recording: give a DataFrame of PySpark or pandas, the path of a "
        f"{_SUFFIXES} file, a Stream, or a list of records"
    )


def _of_spark(frame: Any, schema: StructType | None) -> _Recording:
    if frame.isStreaming:
        raise InvalidArgument(
            "recorded is a streaming DataFrame, which has no end: give one that was read with spark.read"
        )
    names = _unique(frame.columns, "the DataFrame")
    # PySpark collects timestamps as naive datetimes of the process's own zone.
    conform = conformer(frame.schema, moment=lambda moment: moment.astimezone(UTC))
    records = [conform(tuple(row)) for row in frame.collect()]
    if schema is None:
        return _Recording(records, frame.schema, "the DataFrame", lambda index: f"row {index} of the DataFrame")
    _has_columns(names, schema, "the DataFrame")
    rows = [{name: record[name] for name in schema.fieldNames()} for record in records]
    return _fitted(rows, "the DataFrame", lambda index: f"row {index} of the DataFrame", schema)


def _of_records(
    records: Sequence[Any], name: str, place: Callable[[int], str], schema: StructType | None
) -> _Recording:
    """Records of any kind. Without a schema, that of their values; those that are no records stay what they are."""
    if schema is not None:
        return _fitted(records, name, place, schema)
    rows = [_as_dict(record) for record in records]
    if not rows or not all(isinstance(row, dict) for row in rows):
        return _Recording(records, None, name, place)
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


def _fitted(rows: Sequence[Any], name: str, place: Callable[[int], str], schema: StructType) -> _Recording:
    fit = fitter(schema)
    return _Recording([fit(row, place(index)) for index, row in enumerate(rows)], schema, name, place)


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


def _of_path(path: Path, argument: str, schema: StructType | None) -> _Recording:
    if not path.exists():
        raise InvalidArgument(f"{argument} is no file that exists: give the path of a {_SUFFIXES} file")
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
    return _Recording(records, parts[0].schema, path.name, places.__getitem__)


def _of_file(file: Path, argument: str, schema: StructType | None) -> _Recording:
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
            what = f"{suffix!r} is no suffix that is known" if suffix else "a suffix has to tell its format"
            raise InvalidArgument(f"{argument}: {file.name} cannot be read, {what}: give a {_SUFFIXES} file")


_SUFFIXES = ".csv, .json, .jsonl, .ndjson or .parquet"


def _no_table() -> Any:
    import pyarrow as pa

    return pa.table({})


def _csv(file: Path, schema: StructType | None) -> Any:
    import pyarrow as pa
    import pyarrow.csv as pc  # type: ignore[import-untyped]

    # As Spark reads it: nothing between two commas is null, also in a column of strings; "" is an empty string.
    options = {"strings_can_be_null": True, "quoted_strings_can_be_null": False, "null_values": [""]}
    if schema is not None:
        options["column_types"] = {name: pa.string() for name in schema.fieldNames()}
    if not file.stat().st_size:
        return _no_table()
    with _arrow_errors(f"{file.name} cannot be read as CSV"):
        return pc.read_csv(file, convert_options=pc.ConvertOptions(**options))


def _of_json(file: Path, place: Callable[[int], str], schema: StructType) -> _Recording:
    read = [(name, _from_text(schema[name].dataType)) for name in schema.fieldNames()]
    rows = []
    columns: dict[str, None] = {}
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=Decimal)
        except ValueError as error:
            raise InvalidArgument(f"line {number} of {file.name} is no JSON: {error}; write an object a line") from None
        if not isinstance(row, dict):
            raise InvalidArgument(f"line {number} of {file.name} is no JSON object, but {described('value', row)}")
        columns.update(dict.fromkeys(row))
        rows.append({name: convert(row.get(name)) for name, convert in read})
    if rows:
        _has_columns(list(columns), schema, file.name)
    return _fitted(rows, file.name, place, schema)


def _of_table(
    table: Any, name: str, place: Callable[[int], str], schema: StructType | None, *, written: bool = False
) -> _Recording:
    """The rows of an Arrow table; `written` if its values are texts as in a file."""
    from pyspark.sql.pandas.types import from_arrow_schema

    _unique(table.column_names, name)
    table = _as_spark_has_it(table)
    if schema is None:
        with _arrow_errors(f"{name} holds values that Spark has no type for"):
            # Files rarely say whether a time without a zone is local to somewhere: Spark's own are in UTC.
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
    """Makes a value of this type from what a text file holds; what cannot be made is left for `fitter` to refuse."""
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
