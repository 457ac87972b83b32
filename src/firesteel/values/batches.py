"""`Batch`: the records of one instant, and functions that make batches.

A batch holds no Spark objects. PySpark's types are imported only where a schema is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeGuard

from firesteel.errors import InvalidArgument, described
from firesteel.values import schemas
from firesteel.values.answers import asked_about, asking, reason_of
from firesteel.values.checks import (
    Check,
    answer_every,
    answer_none,
    difference,
    no_record_satisfies,
    not_unique,
    out_of_order,
)
from firesteel.values.equality import Equality
from firesteel.values.event_time import Span, divided, moments
from firesteel.values.pairing import distinct, left_over, minus, same_multiset, with_names
from firesteel.values.reading_order import order_is_read
from firesteel.values.records import Record, freeze, same, shown
from firesteel.values.schemas.conform import fitter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["Batch"]


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

    `partitions` says how `engine="dstream"` and `engine="batch"` hand the batch to Spark: the number of records in each
    partition, in order. None means that Spark decides. A batch that is made from others has none.

    >>> Batch(["a", "b", "c"], partitions=(2, 0, 1))
    Batch(['a', 'b', 'c'], partitions=(2, 0, 1))
    """

    __slots__ = ("_items", "_partitions", "schema")

    def __init__(
        self,
        records: Iterable[Any] = (),
        *,
        schema: StructType | str | None = None,
        partitions: Iterable[int] | None = None,
    ) -> None:
        parsed = None if schema is None else schemas.parse(schema)
        items = tuple(records)
        object.__setattr__(self, "schema", parsed)
        if parsed is not None:
            fit = fitter(parsed)
            items = tuple(fit(record, f"records[{index}]") for index, record in enumerate(items))
        object.__setattr__(self, "_items", items)
        object.__setattr__(self, "_partitions", _sizes(partitions, len(items)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a batch cannot be changed: make a new one instead of setting {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (make_batch, (self.records, self.schema, self.partitions))

    if TYPE_CHECKING:
        _items: tuple[Any, ...]
        schema: StructType | None
        _partitions: tuple[int, ...] | None

    # --- where the records are ---
    # `firesteel.spark.frames.large.LargeBatch` is a batch whose records stay in Spark. It overrides the six members
    # below, answers the questions further down with Spark jobs, and refuses what would bring all records to the driver.

    @property
    def records(self) -> tuple[Any, ...]:
        """The records, in the order in which Spark put them out."""
        order_is_read(self)
        return self._items

    @property
    def stays_in_spark(self) -> bool:
        """Whether the records are in Spark only: then the batch is asked questions, and never iterated over."""
        return False

    @property
    def partitions(self) -> tuple[int, ...] | None:
        """The number of records in each partition; None where Spark decides."""
        return self._partitions

    @property
    def df(self) -> DataFrame:
        """The records as a Spark DataFrame, in the active session (made with `fs.session()` if there is none)."""
        # The only import upwards, and only when somebody asks: batches are plain values that do not know Spark.
        source = import_module("firesteel.spark.engines.source")
        frame: DataFrame = source.frame_of(self)
        return frame

    def joined(self, parts: Sequence[Batch]) -> Batch:
        """All records of some batches, this one among them, in order; they are kept where this batch keeps its own."""
        schema = common_schema(part.schema for part in parts)
        return make_batch((record for part in parts for record in with_schema(part, schema)._items), schema)

    def lifted(self, batch: Batch) -> Batch:
        """Another batch, moved to where this one keeps its records, so that the two can be compared."""
        return batch

    # --- as a sequence ---

    def __getitem__(self, index: Any) -> Any:
        return make_batch(self.records[index], self.schema) if isinstance(index, slice) else self.records[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __contains__(self, record: object) -> bool:
        return any(same(mine, record) for mine in self._items)

    def __add__(self, other: Batch) -> Batch:
        if not isinstance(other, Batch):
            return NotImplemented
        return together((self, other))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Batch, list, tuple)):
            return NotImplemented
        if self.stays_in_spark or _in_spark(other):
            return bool(self.same_as(other))
        return same_multiset(self._items, tuple(other))

    def __hash__(self) -> int:
        return hash(frozenset(Counter(map(freeze, self._items)).items()))

    def __repr__(self) -> str:
        schema = "" if self.schema is None else f", schema={schemas.to_ddl(self.schema)!r}"
        return f"Batch({_records_text(self)}{schema}{_partitions_text(self)})"

    # --- parts ---

    def values(self, column: str, *more: str) -> list[Any]:
        """The values of one column, or tuples of several.

        >>> Batch([Record(a=1, b=2), Record(a=3, b=4)]).values("a", "b")
        [(1, 2), (3, 4)]
        """
        if more:
            return [tuple(record[name] for name in (column, *more)) for record in self._items]
        return [record[column] for record in self._items]

    def where(self, predicate: Callable[[Any], bool | Check]) -> Batch:
        """The records that satisfy the predicate, as a batch.

        >>> Batch([1, 2, 3]).where(lambda n: n > 1)
        Batch([2, 3])
        """
        return make_batch((record for record, answer in self._asked(predicate) if answer), self.schema)

    def within(self, column: str, spans: Sequence[Span]) -> tuple[list[Batch], Batch]:
        """The records whose event time, in `column`, lies in each of some spans, and those that lie in none.

        The spans are in order: each starts, and ends, no earlier than the one before it. They may overlap.

        >>> from datetime import UTC, datetime
        >>> day = Batch([(datetime(2030, 1, 1, 9),), (datetime(2030, 1, 1, 15),)], schema="at TIMESTAMP")
        >>> parts, rest = day.within("at", [(datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, 12, tzinfo=UTC))])
        >>> len(parts[0]), rest
        (1, Batch([(datetime.datetime(2030, 1, 1, 15, 0, tzinfo=datetime.timezone.utc),)], schema='at TIMESTAMP'))
        """
        parts, rest = divided(self._items, moments(self, column), spans)
        return [make_batch(part, self.schema) for part in parts], make_batch(rest, self.schema)

    # --- questions ---
    # A predicate answers with a bool or a Check; all else is a PredicateError. One that fails an `assert` says no.

    def _asked(self, predicate: Callable[[Any], bool | Check]) -> list[tuple[Any, bool | Check]]:
        """Every record with what a predicate says about it."""
        with asking():
            return [(record, asked_about(predicate, record)) for record in self._items]

    def every(self, predicate: Callable[[Any], bool | Check]) -> Check:
        """Does every record satisfy the predicate? The offending records are those that do not.

        >>> def paid(order):
        ...     assert order.cents > 0, "not paid"
        ...     return True
        >>> Batch([Record(cents=0)]).every(paid).reason
        '1 of 1 records does not satisfy paid: not paid'
        """
        odd = [(record, answer) for record, answer in self._asked(predicate) if not answer]
        why = reason_of(odd[0][1]) if odd else ""
        offending = tuple(record for record, _ in odd)
        return answer_every(predicate, offending=offending, count=len(odd), total=len(self), why=why)

    def some(self, predicate: Callable[[Any], bool | Check]) -> Check:
        """Does at least one record satisfy the predicate? The answer remembers those that do, or else all.

        >>> Batch([1, 2]).some(lambda n: n > 2).reason
        'none of 2 records satisfies n > 2'
        """
        asked = self._asked(predicate)
        found = tuple(record for record, answer in asked if answer)
        if found:
            return Check(True, "", found)
        why = reason_of(asked[0][1]) if asked else ""
        return no_record_satisfies(predicate, records=self._items, total=len(self), why=why)

    def none(self, predicate: Callable[[Any], bool | Check]) -> Check:
        """Does no record satisfy the predicate? The offending records are those that do."""
        offending = tuple(record for record, answer in self._asked(predicate) if answer)
        return answer_none(predicate, offending=offending, count=len(offending), total=len(self))

    def unique(self, *columns: str) -> Check:
        """Are the records (or their values in `columns`) all different? The offending records are the repeated ones.

        >>> Batch([Record(id=1, n=0), Record(id=1, n=1)]).unique("id")
        Check(holds=False, reason='id=1 comes 2 times', records=(Record(id=1, n=0), Record(id=1, n=1)))
        """
        groups: dict[Hashable, list[Any]] = {}
        for record in self._items:
            groups.setdefault(freeze(key_of(record, columns)), []).append(record)
        repeated = [group for group in groups.values() if len(group) > 1]
        if not repeated:
            return Check(True)
        records = tuple(record for group in repeated for record in group)
        return not_unique(columns, repeated=records, times=len(repeated[0]), groups=len(repeated))

    def sorted_by(self, *columns: str) -> Check:
        """Are the records in ascending order of `columns` (nulls first, NaN last, as Spark sorts)?

        >>> Batch([Record(n=2), Record(n=1)]).sorted_by("n").records
        (Record(n=2), Record(n=1))
        """
        keys = [sort_key(key_of(record, columns)) for record in self.records]
        for index in range(1, len(keys)):
            if keys[index] < keys[index - 1]:
                return out_of_order(index, columns, self._items[index - 1 : index + 1])
        return Check(True)

    def same_as(self, other: Iterable[Any], *, equal: Equality | None = None) -> Check:
        """The same records as `other`, each as often, in any order? `equal` says which records count as equal.

        >>> Batch([1, 1, 2]).same_as([1, 2, 3])
        Check(holds=False, reason='1 missing: 3; 1 too many: 1', records=(3, 1))
        >>> bool(Batch([Record(n=1, x=0.5)]).same_as([(1, 0.5000001)], equal=Equality(abs_tol=1e-6)))
        True
        """
        if _in_spark(other):
            return other.lifted(self).same_as(other, equal=equal)
        theirs = tuple(other)
        if equal is not None:
            return _same_by(self._items, theirs, equal)
        if same_multiset(self._items, theirs):
            return Check(True)
        return difference(missing=minus(theirs, self._items), extra=minus(self._items, theirs))

    def same_set_as(self, other: Iterable[Any]) -> Check:
        """The same records as `other`, however often each comes?"""
        if _in_spark(other):
            return other.lifted(self).same_set_as(other)
        mine, theirs = distinct(self._items), distinct(other)
        return difference(missing=minus(theirs, mine), extra=minus(mine, theirs))

    def contains(self, other: Iterable[Any]) -> Check:
        """Every record of `other`, at least as often?"""
        if _in_spark(other):
            return other.lifted(self).contains(other)
        return difference(missing=minus(tuple(other), self._items), extra=())


def _in_spark(other: object) -> TypeGuard[Batch]:
    return isinstance(other, Batch) and other.stays_in_spark


def _same_by(mine: Sequence[Any], theirs: Sequence[Any], equal: Equality) -> Check:
    """The answer of `same_as` with an equality. It goes by names, so plain tuples take those of the other side."""
    if not isinstance(equal, Equality):
        raise InvalidArgument(f"{described('equal', equal)} is not an equality: write fs.equality(rel_tol=1e-9)")
    extra, missing = left_over(with_names(mine, like=theirs), with_names(theirs, like=mine), equal)
    return difference(missing=missing, extra=extra)


# --- making batches from parts that are known to be right ---------------------------------------


def make_batch(records: Iterable[Any], schema: StructType | None, partitions: tuple[int, ...] | None = None) -> Batch:
    """A batch of records that are known to fit the schema: for code that makes many."""
    batch = Batch.__new__(Batch)
    object.__setattr__(batch, "_items", tuple(records))
    object.__setattr__(batch, "schema", schema)
    object.__setattr__(batch, "_partitions", partitions)
    return batch


def together(batches: Iterable[Batch]) -> Batch:
    """All records of some batches, in order, as one batch. It stays in Spark where one of them does.

    >>> together([Batch([1]), Batch(), Batch([2])])
    Batch([1, 2])
    """
    parts = list(batches)
    if len(parts) < 2:
        return parts[0] if parts else Batch()
    return next((part for part in parts if part.stays_in_spark), parts[0]).joined(parts)


def with_schema(batch: Batch, schema: StructType | None) -> Batch:
    """The batch with records of the schema, which it takes on if it has none of its own."""
    if schema is None or batch.schema is not None:
        return batch
    return Batch(batch._items, schema=schema, partitions=batch.partitions)


def common_schema(found: Iterable[StructType | None]) -> StructType | None:
    """The one schema among some that may be missing; two different ones are refused."""
    common: StructType | None = None
    for schema in found:
        if schema is None or schema is common:
            continue
        if common is not None and schema != common:
            raise InvalidArgument(
                "records of two schemas cannot stand in one stream: "
                f"{schemas.to_ddl(common)!r} and {schemas.to_ddl(schema)!r}. Give both parts the same schema, "
                "or make two streams: a dict of streams, one input each"
            )
        common = schema
    return common


def _sizes(partitions: Iterable[int] | None, records: int) -> tuple[int, ...] | None:
    """The sizes of a batch's partitions, if its records fill them exactly."""
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


# --- keys and texts ------------------------------------------------------------------------------


def key_of(record: Any, columns: Sequence[str]) -> Any:
    """The record's values in these columns; without columns, the record."""
    return tuple(record[column] for column in columns) if columns else record


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


def rows_text(batch: Batch) -> str:
    """A batch of a stream as the shortest text that evaluates: a list, unless the batch has partitions."""
    text = _records_text(batch)
    return text if batch.partitions is None else f"Batch({text}{_partitions_text(batch)})"


def _partitions_text(batch: Batch) -> str:
    return "" if batch.partitions is None else f", partitions={batch.partitions!r}"


def _records_text(batch: Batch) -> str:
    """A batch's records as the shortest text that evaluates: tuples where a schema gives the names."""
    named = batch.schema is not None
    return shown([tuple(record) if named and isinstance(record, Record) else record for record in batch._items])
