"""`Stream`: a finite sequence of batches (`firesteel.values.batches`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.values import schemas
from firesteel.values.batches import Batch, common_schema, make_batch, rows_text, with_schema
from firesteel.values.event_time import Span, common_span
from firesteel.values.records import Record, shown
from firesteel.values.schemas.conform import Fitter, fitter

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


__all__ = ["Stream"]


class Stream(Sequence[Batch]):
    """A finite sequence of batches: a prefix of an unbounded stream.

    >>> stream = Stream("user BIGINT NOT NULL", [[(1,), (2,)], []])
    >>> len(stream), stream[0] == [(2,), (1,)], len(stream[1])
    (2, True, 0)
    >>> stream
    Stream('user BIGINT NOT NULL', [[(1,), (2,)], []])

    `span` is the event time that the stream covers, whether or not records lie at its edges: from its first moment, up
    to but not including its second. `ss.timed` sets it, and windows (`over=`) then begin and end with it.
    """

    __slots__ = ("batches", "schema", "span")

    def __init__(
        self, schema: StructType | str | None, batches: Iterable[Iterable[Any]], *, span: Span | None = None
    ) -> None:
        parsed = None if schema is None else schemas.parse(schema)
        fit = None if parsed is None else fitter(parsed)
        made = tuple(_as_batch(batch, index, parsed, fit) for index, batch in enumerate(batches))
        object.__setattr__(self, "schema", parsed if parsed is not None else common_schema(b.schema for b in made))
        object.__setattr__(self, "batches", made)
        object.__setattr__(self, "span", span)

    if TYPE_CHECKING:
        batches: tuple[Batch, ...]
        schema: StructType | None
        span: Span | None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a stream cannot be changed: make a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (make_stream, (self.batches, self.schema, self.span))

    def __getitem__(self, index: Any) -> Any:
        return make_stream(self.batches[index], self.schema) if isinstance(index, slice) else self.batches[index]

    def __len__(self) -> int:
        return len(self.batches)

    def __add__(self, other: Stream) -> Stream:
        if not isinstance(other, Stream):
            return NotImplemented
        schema = common_schema((self.schema, other.schema))
        batches = (with_schema(batch, schema) for batch in (*self.batches, *other.batches))
        return make_stream(batches, schema, common_span((self.span, other.span)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Stream, list, tuple)):
            return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.batches)

    def __repr__(self) -> str:
        text = "None" if self.schema is None else repr(schemas.to_ddl(self.schema))
        span = "" if self.span is None else f", span={shown(self.span)}"
        return f"Stream({text}, [{', '.join(map(rows_text, self.batches))}]{span})"


def make_stream(batches: Iterable[Batch], schema: StructType | None, span: Span | None = None) -> Stream:
    """A stream of batches that are known to fit the schema."""
    stream = Stream.__new__(Stream)
    object.__setattr__(stream, "batches", tuple(batches))
    object.__setattr__(stream, "schema", schema)
    object.__setattr__(stream, "span", span)
    return stream


def _as_batch(batch: Any, index: int, schema: StructType | None, fit: Fitter | None) -> Batch:
    if isinstance(batch, Batch) and (schema is None or batch.schema == schema):
        return batch
    if isinstance(batch, (str, bytes, Record, Mapping)) or not isinstance(batch, Iterable):
        raise InvalidArgument(f"{described(f'batches[{index}]', batch)} is not a batch: {_STREAM_SHAPE}")
    records = tuple(batch)
    partitions = batch.partitions if isinstance(batch, Batch) else None
    if schema is None or fit is None:
        return make_batch(records, None, partitions)
    if records and not any(isinstance(record, (Record, Mapping, Sequence)) for record in records):
        raise InvalidArgument(
            f"{described(f'batches[{index}]', batch)} looks like one record, where a batch is meant: {_STREAM_SHAPE}"
        )
    return make_batch((fit(r, f"batches[{index}][{place}]") for place, r in enumerate(records)), schema, partitions)


_STREAM_SHAPE = (
    "a stream is a list of batches, and a batch a list of records; write Stream(schema, [[record, record], [record]])"
)
