"""Streams as plain values: `Batch`, `Stream`, `Instant`, `Trace`, of records (`firesteel.values.records`).

These are what strategies generate, what runs on Spark record, and what formulas are judged on. They hold no Spark
objects: schemas are parsed, and PySpark's types imported, only when a schema is given.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from firesteel.errors import InvalidArgument, described
from firesteel.names import name_of
from firesteel.values.checks import Check
from firesteel.values.equality import Equality
from firesteel.values.pairing import left_over
from firesteel.values.records import Record, brief, columns_of, freeze, make_record, same, shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["Batch", "Check", "Instant", "Record", "Stream", "Trace"]

Span: TypeAlias = tuple[datetime, datetime]
"""From a moment, up to before another."""


class Batch(Sequence[Any]):
    """The records of one instant. `==` compares as a multiset (NaN equals NaN); `.records` has Spark's order.

    With a schema, tuples and dicts become records of it, and a record that does not fit is refused.

    >>> batch = Batch([(15, False), (1, True)], schema="user BIGINT NOT NULL, honest BOOLEAN")
    >>> batch.values("user")
    [15, 1]
    >>> batch == [(1, True), (15, False)]
    True
    >>> Batch([("x",)], schema="user BIGINT")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: records[0]=('x',) (tuple) does not fit the schema: user: ...

    `partitions` says how many records, in order, each partition holds that the batch is handed to Spark with, by
    `engine="dstream"` and `engine="batch"`. None, as of every batch that is made from others: Spark decides.

    >>> Batch(["a", "b", "c"], partitions=(2, 0, 1))
    Batch(['a', 'b', 'c'], partitions=(2, 0, 1))
    """

    __slots__ = ("_partitions", "records", "schema")

    def __init__(
        self,
        records: Iterable[Any] = (),
        *,
        schema: StructType | str | None = None,
        partitions: Iterable[int] | None = None,
    ) -> None:
        parsed = _parsed(schema)
        items = tuple(records)
        object.__setattr__(self, "schema", parsed)
        if parsed is not None:
            fit = fitter(parsed)
            items = tuple(fit(record, f"records[{index}]") for index, record in enumerate(items))
        object.__setattr__(self, "records", items)
        object.__setattr__(self, "_partitions", _sizes(partitions, len(items)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a batch cannot be changed: make a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (make_batch, (self.records, self.schema, self.partitions))

    if TYPE_CHECKING:
        records: tuple[Any, ...]
        schema: StructType | None

    @property
    def partitions(self) -> tuple[int, ...] | None:
        """The number of records in each partition; None where Spark decides."""
        return getattr(self, "_partitions", None)  # a batch that stays in Spark has none of its own

    def __getitem__(self, index: Any) -> Any:
        return make_batch(self.records[index], self.schema) if isinstance(index, slice) else self.records[index]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.records)

    def __contains__(self, record: object) -> bool:
        return any(same(mine, record) for mine in self.records)

    def __add__(self, other: Batch) -> Batch:
        if not isinstance(other, Batch):
            return NotImplemented
        return together((self, other))

    def joined(self, parts: Sequence[Batch]) -> Batch:
        """Some batches, this one among them, as one."""
        return together(parts)

    def lifted(self, batch: Batch) -> Batch:
        """Another batch, held where this one is."""
        return batch

    @property
    def df(self) -> DataFrame:
        """The records as a Spark DataFrame, in the active session (made with `fs.session()` if there is none)."""
        # The one step upwards, and only when somebody asks for it: these are plain values that know no Spark.
        frames = import_module("firesteel.spark.engines.source")
        frame: DataFrame = frames.frame_of(self)
        return frame

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Batch) and type(other) is not type(self):
            return bool(other.same_as(self))
        if isinstance(other, (Batch, list, tuple)):
            return _same_multiset(self.records, tuple(other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(Counter(map(freeze, self.records)).items()))

    def __repr__(self) -> str:
        schema = "" if self.schema is None else f", schema={_schema_text(self.schema)}"
        return f"Batch({_records_text(self)}{schema}{_partitions_text(self)})"

    def values(self, column: str, *more: str) -> list[Any]:
        """The values of one column, or tuples of several.

        >>> Batch([Record(a=1, b=2), Record(a=3, b=4)]).values("a", "b")
        [(1, 2), (3, 4)]
        """
        if more:
            return [tuple(record[name] for name in (column, *more)) for record in self.records]
        return [record[column] for record in self.records]

    def where(self, predicate: Callable[[Any], bool]) -> Batch:
        """The records that satisfy the predicate, as a batch.

        >>> Batch([1, 2, 3]).where(lambda n: n > 1)
        Batch([2, 3])
        """
        return make_batch(tuple(record for record in self.records if predicate(record)), self.schema)

    def within(self, column: str, spans: Sequence[Span]) -> tuple[list[Batch], Batch]:
        """The records whose event time, in `column`, lies in each of some spans, and those that lie in none.

        The spans are in order: each starts, and ends, no earlier than the one before it. They may overlap.

        >>> day = Batch([(datetime(2030, 1, 1, 9),), (datetime(2030, 1, 1, 15),)], schema="at TIMESTAMP")
        >>> parts, rest = day.within("at", [(datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, 12, tzinfo=UTC))])
        >>> len(parts[0]), rest
        (1, Batch([(datetime.datetime(2030, 1, 1, 15, 0, tzinfo=datetime.timezone.utc),)], schema='at TIMESTAMP'))
        """
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        parts: list[list[Any]] = [[] for _ in spans]
        rest: list[Any] = []
        for record, moment in zip(self.records, moments(self, column), strict=True):
            if moment is None:
                rest.append(record)
                continue
            begun = place = bisect_right(starts, moment)
            while place and moment < ends[place - 1]:
                place -= 1
                parts[place].append(record)
            if place == begun:
                rest.append(record)
        return [make_batch(part, self.schema) for part in parts], make_batch(rest, self.schema)

    def every(self, predicate: Callable[[Any], bool]) -> Check:
        """Does every record satisfy the predicate? The offending records are those that do not."""
        offending = tuple(record for record in self.records if not predicate(record))
        if not offending:
            return Check(True)
        return Check(False, f"{_count(offending, self)} not satisfy {name_of(predicate)}", offending)

    def some(self, predicate: Callable[[Any], bool]) -> Check:
        """Does at least one record satisfy the predicate? Then those records are remembered, else all.

        >>> Batch([1, 2]).some(lambda n: n > 2).reason
        'none of 2 records satisfies n > 2'
        """
        found = tuple(record for record in self.records if predicate(record))
        if found:
            return Check(True, "", found)
        return Check(False, f"none of {len(self)} records satisfies {name_of(predicate)}", self.records)

    def none(self, predicate: Callable[[Any], bool]) -> Check:
        """Does no record satisfy the predicate? The offending records are those that do."""
        offending = tuple(record for record in self.records if predicate(record))
        if not offending:
            return Check(True)
        verb = "satisfies" if len(offending) == 1 else "satisfy"
        return Check(False, f"{len(offending)} of {len(self)} records {verb} {name_of(predicate)}", offending)

    def unique(self, *columns: str) -> Check:
        """Are the records (or their values in `columns`) all different? The offending records are the repeated ones.

        >>> Batch([Record(id=1, n=0), Record(id=1, n=1)]).unique("id")
        Check(holds=False, reason='id=1 comes 2 times', records=(Record(id=1, n=0), Record(id=1, n=1)))
        """
        groups: dict[Hashable, list[Any]] = {}
        for record in self.records:
            groups.setdefault(freeze(key_of(record, columns)), []).append(record)
        repeated = [group for group in groups.values() if len(group) > 1]
        if not repeated:
            return Check(True)
        times = f"comes {len(repeated[0])} times"
        more = f", and {len(repeated) - 1} more repeat" if len(repeated) > 1 else ""
        return Check(False, f"{keyed(repeated[0][0], columns)} {times}{more}", tuple(r for g in repeated for r in g))

    def sorted_by(self, *columns: str) -> Check:
        """Are the records in ascending order of `columns` (nulls first, NaN last, as Spark sorts)?

        >>> Batch([Record(n=2), Record(n=1)]).sorted_by("n").records
        (Record(n=2), Record(n=1))
        """
        keys = [sort_key(key_of(record, columns)) for record in self.records]
        for index in range(1, len(keys)):
            if keys[index] < keys[index - 1]:
                return out_of_order(index, columns, self.records[index - 1 : index + 1])
        return Check(True)

    def same_as(self, other: Iterable[Any], *, equal: Equality | None = None) -> Check:
        """The same records as `other`, each as often, in any order? `equal` says which records count as equal.

        >>> Batch([1, 1, 2]).same_as([1, 2, 3])
        Check(holds=False, reason='1 missing: 3; 1 too many: 1', records=(3, 1))
        >>> bool(Batch([Record(n=1, x=0.5)]).same_as([(1, 0.5000001)], equal=Equality(abs_tol=1e-6)))
        True
        """
        if _in_spark(other):
            lifted = other.lifted(self)
            return lifted.same_as(other) if equal is None else lifted.same_as(other, equal=equal)
        theirs = tuple(other)
        if equal is not None:
            return _same_by(self.records, theirs, equal)
        if _same_multiset(self.records, theirs):
            return Check(True)
        return difference(missing=_minus(theirs, self.records), extra=_minus(self.records, theirs))

    def same_set_as(self, other: Iterable[Any]) -> Check:
        """The same records as `other`, however often each comes?"""
        if _in_spark(other):
            return other.lifted(self).same_set_as(other)
        mine, theirs = _distinct(self.records), _distinct(other)
        return difference(missing=_minus(theirs, mine), extra=_minus(mine, theirs))

    def contains(self, other: Iterable[Any]) -> Check:
        """Every record of `other`, at least as often?"""
        if _in_spark(other):
            return other.lifted(self).contains(other)
        return difference(missing=_minus(tuple(other), self.records), extra=())


class Stream(Sequence[Batch]):
    """A finite sequence of batches: a prefix of an unbounded stream.

    >>> stream = Stream("user BIGINT NOT NULL", [[(1,), (2,)], []])
    >>> len(stream), stream[0] == [(2,), (1,)], len(stream[1])
    (2, True, 0)
    >>> stream
    Stream('user BIGINT NOT NULL', [[(1,), (2,)], []])

    `span` is the event time that the stream covers, from a moment up to before another, whether or not records lie
    at its edges; `ss.timed` sets it. Windows (`over=`) then begin and end with it.
    """

    __slots__ = ("batches", "schema", "span")

    def __init__(
        self, schema: StructType | str | None, batches: Iterable[Iterable[Any]], *, span: Span | None = None
    ) -> None:
        parsed = _parsed(schema)
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
        text = "None" if self.schema is None else _schema_text(self.schema)
        span = "" if self.span is None else f", span={shown(self.span)}"
        return f"Stream({text}, [{', '.join(map(_rows, self.batches))}]{span})"


def _no_batches() -> Mapping[str, Batch]:
    return {}


@dataclass(frozen=True)
class Instant:
    """What is seen at one moment: the batch of every input and output, with index, time and watermark.

    >>> now = Instant(0, {"input": Batch([1, 2])}, {"output": Batch([3])})
    >>> now.input, now["output"]
    (Batch([1, 2]), Batch([3]))
    """

    index: int
    """0, 1, 2, ...: the input batch, or the window."""
    inputs: Mapping[str, Batch] = field(default_factory=_no_batches)
    outputs: Mapping[str, Batch] = field(default_factory=_no_batches)
    time: datetime | None = None
    """Start of the window with `over=`, else the batch's time; aware, UTC."""
    watermark: datetime | None = None
    """In force while this batch ran: Spark's stateful operators drop what is not after it (an aggregation goes by the
    end of a record's window); aware, UTC. None before any, and of windows (`over=`)."""
    dropped: int = 0
    """Records that Spark dropped as late (in an aggregation: groups of them, after its first, partial step)."""
    recorded_state: Batch | None = field(default=None, repr=False)
    """What `state` gives, where it was recorded."""
    drawn: Record = field(default_factory=Record, repr=False)
    """What was drawn with the case's streams: `fs.Case(stream, n=3)` gives `drawn.n`."""
    previous: Instant | None = field(default=None, repr=False, compare=False)
    """The instant before this one in its trace; `so_far` looks back through it."""

    def after(self, previous: Instant | None) -> Instant:
        """This instant, with `previous` as the one before it; None makes it the first of a trace.

        >>> first, second = Instant(0, {"input": Batch([1])}), Instant(1, {"input": Batch([2])})
        >>> second.after(first).so_far.input
        Batch([1, 2])
        """
        return self if self.previous is previous else replace(self, previous=previous)

    def __getitem__(self, name: str) -> Batch:
        for batches in (self.inputs, self.outputs):
            if name in batches:
                return batches[name]
        raise KeyError(f"no stream {name!r}; this instant has {_listed([*self.inputs, *self.outputs])}")

    @property
    def input(self) -> Batch:
        """The input's batch, where there is one input."""
        return _only(self.inputs, "input")

    @property
    def output(self) -> Batch:
        """The output's batch, where there is one output."""
        return _only(self.outputs, "output")

    @property
    def state(self) -> Batch:
        """The subject's state after this instant, as Spark keeps it: one record for every key, with `key` and `value`.

        Only where it was asked for: `fs.run(..., state=True)`.
        """
        if self.recorded_state is None:
            raise AttributeError(
                "the state of the subject was not recorded: ask for it with state=True, as in fs.run(..., state=True)"
            )
        return self.recorded_state

    @cached_property
    def so_far(self) -> Instant:
        """The same names, with batches 0 to this one together.

        >>> trace = Trace([Instant(0, {"input": Batch([1])}), Instant(1, {"input": Batch([2])})])
        >>> trace[1].so_far.input
        Batch([1, 2])
        """
        past: list[Instant] = [self]
        while past[-1].previous is not None:
            past.append(past[-1].previous)
        past.reverse()
        return replace(
            self,
            inputs={name: together(instant.inputs[name] for instant in past) for name in self.inputs},
            outputs={name: together(instant.outputs[name] for instant in past) for name in self.outputs},
            dropped=sum(instant.dropped for instant in past),
            previous=None,
        )


class Trace(Sequence[Instant]):
    """The instants of one run.

    >>> trace = Trace([Instant(0, {}, {"output": Batch([1])}), Instant(1, {}, {"output": Batch([2])})])
    >>> len(trace), trace.output
    (2, Batch([1, 2]))
    """

    __slots__ = ("instants", "outside")

    def __init__(self, instants: Iterable[Instant], *, outside: Mapping[str, Batch] | None = None) -> None:
        linked: list[Instant] = []
        for instant in instants:
            linked.append(instant.after(linked[-1] if linked else None))
        object.__setattr__(self, "instants", tuple(linked))
        object.__setattr__(self, "outside", dict(outside or {}))

    if TYPE_CHECKING:
        instants: tuple[Instant, ...]
        outside: Mapping[str, Batch]
        """With `over=`: output, by name, whose event time lies in none of the input's windows."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a trace cannot be changed: make a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_trace, (self.instants, self.outside))

    def __getitem__(self, index: Any) -> Any:
        return self.instants[index]

    def __len__(self) -> int:
        return len(self.instants)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Trace, list, tuple)):
            outside = other.outside if isinstance(other, Trace) else {}
            return list(self) == list(other) and self.outside == outside
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(instant.index for instant in self.instants))

    def __repr__(self) -> str:
        outside = f", outside={self.outside!r}" if self.outside else ""
        return f"Trace([{', '.join(map(repr, self.instants))}]{outside})"

    @property
    def output(self) -> Batch:
        """Everything that came out, in order."""
        return together(instant.output for instant in self.instants)


def _trace(instants: Iterable[Instant], outside: Mapping[str, Batch]) -> Trace:
    return Trace(instants, outside=outside)


# --- making batches and streams from parts that are known to be right --------------------------


def make_batch(records: Iterable[Any], schema: StructType | None, partitions: tuple[int, ...] | None = None) -> Batch:
    """A batch of records that are known to fit the schema: for code that makes many."""
    batch = Batch.__new__(Batch)
    object.__setattr__(batch, "records", tuple(records))
    object.__setattr__(batch, "schema", schema)
    object.__setattr__(batch, "_partitions", partitions)
    return batch


def make_stream(batches: Iterable[Batch], schema: StructType | None, span: Span | None = None) -> Stream:
    """A stream of batches that are known to fit the schema."""
    stream = Stream.__new__(Stream)
    object.__setattr__(stream, "batches", tuple(batches))
    object.__setattr__(stream, "schema", schema)
    object.__setattr__(stream, "span", span)
    return stream


def common_span(spans: Iterable[Span | None]) -> Span | None:
    """The event time that several streams cover together; None where none of them says."""
    known = [span for span in spans if span is not None]
    return (min(start for start, _ in known), max(end for _, end in known)) if known else None


def moments(batch: Batch, column: str) -> list[datetime | None]:
    """The event times of a batch's records, aware and in UTC; one without a zone is taken to be in UTC.

    >>> moments(Batch([Record(at=datetime(2030, 1, 1)), Record(at=None)]), "at")
    [datetime.datetime(2030, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), None]
    """
    from firesteel.values.schemas.conform import in_utc

    try:  # past Record.__getitem__, which costs more than all else here
        found = [record.__dict__[column] for record in batch.records]
    except (AttributeError, KeyError):
        found = batch.values(column)
    return [moment if moment is None or moment.tzinfo is UTC else in_utc(moment) for moment in found]


def together(batches: Iterable[Batch]) -> Batch:
    """All records of some batches, in order, as one batch.

    >>> together([Batch([1]), Batch(), Batch([2])])
    Batch([1, 2])
    """
    parts = list(batches)
    if len(parts) == 1:
        return parts[0]
    # A batch that stays in Spark is no tuple of records, and knows itself how to be joined.
    large = next((part for part in parts if type(part) is not Batch), None)
    if large is not None:
        return large.joined(parts)
    schema = common_schema(part.schema for part in parts)
    return make_batch((r for part in parts for r in with_schema(part, schema).records), schema)


def with_schema(batch: Batch, schema: StructType | None) -> Batch:
    """The batch with records of the schema, which it takes on if it has none of its own."""
    if schema is None or batch.schema is not None:
        return batch
    return Batch(batch.records, schema=schema, partitions=batch.partitions)


def common_schema(schemas: Iterable[StructType | None]) -> StructType | None:
    """The one schema among some that may be missing; two different ones are refused."""
    found: StructType | None = None
    for schema in schemas:
        if schema is None or schema is found:
            continue
        if found is not None and schema != found:
            raise InvalidArgument(
                "records of two schemas cannot stand in one stream: "
                f"{_schema_text(found)} and {_schema_text(schema)}. Give both parts the same schema, "
                "or make two streams: a dict of streams, one input each"
            )
        found = schema
    return found


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


# --- records of a schema -------------------------------------------------------------------------

Fitter: TypeAlias = Callable[[Any, str], Record]


def fitter(schema: StructType) -> Fitter:
    """A function that makes a record of the schema from a tuple, a dict, a Row or a record, or says why it cannot.

    >>> from firesteel.values import schemas
    >>> fitter(schemas.parse("at TIMESTAMP, n INT"))((datetime(2030, 1, 1), 5), "record")
    Record(at=datetime.datetime(2030, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), n=5)
    """
    from firesteel.values.schemas import checker
    from firesteel.values.schemas.conform import conformer

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


def _parsed(schema: StructType | str | None) -> StructType | None:
    if schema is None:
        return None
    from firesteel.values import schemas

    return schemas.parse(schema)


# --- how batches compare and read --------------------------------------------------------------


def _in_spark(other: Iterable[Any]) -> TypeGuard[Batch]:
    """A batch that stays in Spark: it is asked, never iterated over."""
    return isinstance(other, Batch) and type(other) is not Batch


def _same_multiset(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and not _minus(left, right)


def _same_by(mine: Sequence[Any], theirs: Sequence[Any], equal: Equality) -> Check:
    """The answer of `same_as` with an equality, which goes by names: plain tuples take those of the other side."""
    if not isinstance(equal, Equality):
        raise InvalidArgument(f"{described('equal', equal)} is no equality: write fs.equality(rel_tol=1e-9)")
    extra, missing = left_over(_with_names(mine, like=theirs), _with_names(theirs, like=mine), equal)
    return difference(missing=missing, extra=extra)


def _with_names(records: Sequence[Any], *, like: Sequence[Any]) -> list[Any]:
    names = next((columns for record in like if (columns := columns_of(record)) is not None), None)
    return [
        make_record(dict(zip(names, record, strict=True)))
        if names is not None and type(record) is tuple and len(record) == len(names)
        else record
        for record in records
    ]


def _minus(left: Sequence[Any], right: Sequence[Any]) -> tuple[Any, ...]:
    """The records of `left` that are left over when each record of `right` has taken one of its equals away."""
    waiting: dict[Hashable, list[Any]] = {}
    for record in _as_records(right, like=left):
        waiting.setdefault(freeze(record), []).append(record)
    over = []
    for record in _as_records(left, like=right):
        equals = waiting.get(freeze(record), [])
        taken = next((index for index, equal in enumerate(equals) if same(equal, record)), None)
        if taken is None:
            over.append(record)
        else:
            del equals[taken]
    return tuple(over)


def _as_records(records: Sequence[Any], *, like: Sequence[Any]) -> Iterator[Any]:
    """The records, with dicts as records of the other side's columns: a dict has no order of its own."""
    names = next((columns for record in like if (columns := columns_of(record)) is not None), ())
    for record in records:
        if isinstance(record, Mapping) and set(record) == set(names):
            yield make_record({name: record[name] for name in names})
        else:
            yield record


def _distinct(records: Iterable[Any]) -> tuple[Any, ...]:
    return tuple({(freeze(record), columns_of(record)): record for record in records}.values())


def difference(*, missing: Sequence[Any], extra: Sequence[Any], counts: tuple[int, int] | None = None) -> Check:
    """How two batches differ; `counts` where only some of the records that do are at hand."""
    if not missing and not extra:
        return Check(True)
    many, more = counts if counts is not None else (len(missing), len(extra))
    parts = [
        f"{count} {word}: {_some_shown(records)}"
        for count, word, records in ((many, "missing", missing), (more, "too many", extra))
        if records
    ]
    return Check(False, "; ".join(parts), (*missing, *extra))


def _some_shown(records: Sequence[Any], most: int = 3) -> str:
    text = ", ".join(brief(record) for record in records[:most])
    return text if len(records) <= most else f"{text}, ..."


def key_of(record: Any, columns: Sequence[str]) -> Any:
    """The record's values in these columns, or the record."""
    return tuple(record[column] for column in columns) if columns else record


def keyed(record: Any, columns: Sequence[str]) -> str:
    """The record's values in these columns, in words."""
    if not columns:
        return brief(record)
    return ", ".join(f"{column}={brief(record[column])}" for column in columns)


def out_of_order(index: int, columns: Sequence[str], pair: tuple[Any, ...]) -> Check:
    """Record `index` should have come before the one in front of it."""
    by = ", ".join(columns) or "all columns"
    return Check(False, f"record {index} comes before record {index - 1} by {by}", pair)


def sort_key(value: Any) -> Any:
    """Spark's ascending order: nulls first, NaN after every number."""
    match value:
        case None:
            return (0,)
        case float() if value != value:
            return (2,)
        case tuple() | list() | Record():
            return (1, tuple(map(sort_key, value)))
        case _:
            return (1, value)


def _count(offending: Sequence[Any], batch: Batch) -> str:
    return f"{len(offending)} of {len(batch)} records {'does' if len(offending) == 1 else 'do'}"


def _sizes(partitions: Iterable[int] | None, records: int) -> tuple[int, ...] | None:
    """The sizes of a batch's partitions, if they are ones that its records fill."""
    if partitions is None:
        return None
    sizes = tuple(partitions) if isinstance(partitions, Iterable) else ()
    whole = all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes)
    if not sizes or not whole or sum(sizes) != records:
        raise InvalidArgument(
            f"{described('partitions', partitions)} does not place {records} records: write the number of records in "
            f"each partition, such as ({records},) for one"
        )
    return sizes


def _rows(batch: Batch) -> str:
    """A batch of a stream as the shortest text that evaluates: a list where only its records matter."""
    text = _records_text(batch)
    return text if batch.partitions is None else f"Batch({text}{_partitions_text(batch)})"


def _partitions_text(batch: Batch) -> str:
    return "" if batch.partitions is None else f", partitions={batch.partitions!r}"


def _records_text(batch: Batch) -> str:
    """A batch's records as the shortest text that evaluates: tuples where a schema gives the names."""
    if batch.schema is None:
        return shown(list(batch.records))
    return shown([tuple(record) if isinstance(record, Record) else record for record in batch.records])


def _schema_text(schema: StructType) -> str:
    from firesteel.values.schemas import to_ddl

    return repr(to_ddl(schema))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _only(batches: Mapping[str, Batch], kind: str) -> Batch:
    if len(batches) == 1:
        return next(iter(batches.values()))
    raise AttributeError(
        f"this instant has {len(batches)} {kind}s ({_listed(list(batches))}): "
        f"name the one you mean, now[{next(iter(batches), 'name')!r}]"
    )
