"""Strategies for records and batches: `records` from a schema, `batches` of any elements.

Hypothesis gives one example a fixed budget of choices, so large batches cannot be drawn record by record. One is
drawn as its size alone; its records come from a pool and a seed that are drawn once for the example: the seed picks
from the pool, column by column, differently for every batch. Few choices are left, so shrinking is quick; and seed 0
repeats the pool in order, so a shrunk example shows its records as they were drawn.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice, pairwise, repeat
from math import isqrt
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from firesteel.errors import InvalidArgument, described
from firesteel.hypothesis_internals import strategies_inside
from firesteel.strategies.arguments import strategy_of, whole
from firesteel.strategies.values import values
from firesteel.values import schemas
from firesteel.values.batches import Batch, common_schema, make_batch
from firesteel.values.durations import START
from firesteel.values.records import Record, make_record, make_records
from firesteel.values.schemas.conform import fitter

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

S = TypeVar("S", bound=SearchStrategy[Any])

# What stands in a column of timestamps until it gets its own times. It is not drawn, because every draw costs.
_MOMENTS = {"TimestampType": START, "TimestampNTZType": START.replace(tzinfo=None)}
# A batch that may be larger than this is drawn as size, seed and pool.
LARGE = 32
# So is every further batch of an example that has drawn this many values one by one: Hypothesis's budget is finite.
_VALUES_ONE_BY_ONE = 800

_SCHEMAS: WeakKeyDictionary[SearchStrategy[Any], StructType] = WeakKeyDictionary()
# Of plain `records`, the strategies of their columns, and whether what they draw has to be checked.
_COLUMNS: WeakKeyDictionary[SearchStrategy[Any], tuple[list[SearchStrategy[Any]], bool]] = WeakKeyDictionary()


def records(schema: StructType | str | type, /, **columns: SearchStrategy[Any]) -> SearchStrategy[Record]:
    """Records of a schema: a StructType, DDL text, or a class with type hints.

    Every column has a strategy of its own, with the interesting values of its type, and null where the schema allows
    it; name a column to give it another.

    >>> from hypothesis import find, strategies as st
    >>> find(records("user BIGINT NOT NULL, honest BOOLEAN", user=st.integers(1, 50)), lambda r: r.user > 10)
    Record(user=11, honest=False)
    """
    parsed = schemas.parse(schema)
    if parsed is None:
        raise InvalidArgument(
            f"{described('schema', schema)} is not a schema: write DDL text such as 'user BIGINT NOT NULL'"
        )
    names = tuple(parsed.fieldNames())
    for name in columns:
        if name not in names:
            raise InvalidArgument(
                f"{name}={columns[name]!r} names no column: the schema has {', '.join(names) or 'no columns'}"
            )
    parts = []
    for field in parsed.fields:
        own = columns.get(field.name)
        if own is None:
            parts.append(values(field.dataType, field.nullable))
        else:
            parts.append(strategy_of(own, field.name, "a strategy such as st.integers()"))
    strategy = st.tuples(*parts).map(_maker(parsed, checked=bool(columns)))
    _SCHEMAS[strategy] = parsed
    _COLUMNS[strategy] = parts, bool(columns)
    return strategy


def batches(
    elements: SearchStrategy[Any],
    *,
    min_size: int = 0,
    max_size: int | None = None,
    schema: StructType | str | type | None = None,
) -> SearchStrategy[Batch]:
    """Batches of records, or of any elements. Large ones (hundreds of records) are fine.

    The schema comes from `records`; give it where the elements are mapped to something else.

    >>> from hypothesis import find, strategies as st
    >>> find(batches(st.integers(0, 9), min_size=2), lambda batch: sum(batch) > 5)
    Batch([0, 6])
    """
    strategy_of(elements, "elements", "a strategy such as ss.records(...)")
    least = whole(min_size, "min_size", 0)
    most = None if max_size is None else whole(max_size, "max_size", 0)
    if most is not None and most < least:
        raise InvalidArgument(f"{described('max_size', max_size)} is less than {described('min_size', min_size)}")
    drawn = schema_of(elements)
    given = schemas.parse(schema)
    if drawn is not None and given is not None and set(drawn.fieldNames()) != set(given.fieldNames()):
        raise InvalidArgument(
            f"{described('schema', schema)} does not fit the elements, which have the columns "
            f"{', '.join(drawn.fieldNames())}: leave schema= out"
        )
    largest = max(2 * least, least + 10) if most is None else most
    width = 1 if drawn is None else max(1, len(drawn.fields))
    recipe = _Recipe(
        elements=elements,
        most=most,
        small=st.lists(elements, min_size=least, max_size=most),
        least=least,
        largest=largest,
        sizes=st.integers(least, largest),
        large=max(least, most or 0) > LARGE,
        schema=given if given is not None else drawn,
        width=width,
        trusted=elements in _SCHEMAS and given is None,
        beside={},
    )
    strategy = _batches(recipe)
    remember_schema(strategy, recipe.schema)
    return strategy


def partitioned(
    batches: SearchStrategy[Batch], *, min_partitions: int = 1, max_partitions: int = 4
) -> SearchStrategy[Batch]:
    """Batches with the partitions that Spark gets them in: how many, and which records lie in which.

    For `engine="batch"` and `engine="dstream"`: the RDD or DataFrame that the subject is given has exactly these. Some
    of them may be empty. A batch that is put together from several, as `ss.overlay` does, is placed by Spark again.

    >>> from hypothesis import find, strategies as st
    >>> some = batches(st.integers(0, 9), min_size=3, max_size=3)
    >>> find(partitioned(some), lambda batch: len(batch.partitions) == 3 and min(batch.partitions) > 0)
    Batch([0, 0, 0], partitions=(1, 1, 1))
    """
    strategy_of(batches, "batches", "a strategy such as ss.batches(...)")
    least = whole(min_partitions, "min_partitions", 1)
    most = whole(max_partitions, "max_partitions", 1)
    if most < least:
        raise InvalidArgument(
            f"{described('max_partitions', max_partitions)} is less than {described('min_partitions', min_partitions)}"
        )
    return with_schema_of(_partitioned(batches, st.integers(least, most)), [batches])


@st.composite
def _partitioned(draw: DrawFn, batches: SearchStrategy[Batch], counts: SearchStrategy[int]) -> Batch:
    drawn: Any = draw(batches)
    if not isinstance(drawn, Batch):
        raise InvalidArgument(
            f"{described('batches', drawn)} was drawn, where a batch is meant: write ss.partitioned(ss.batches(...)), "
            "and streams around it: ss.always(ss.partitioned(...), during=3)"
        )
    size, count = len(drawn), draw(counts)
    # How many records come after each cut: at their simplest none, so that all lie in the first partition.
    after = draw(st.lists(st.integers(0, size), min_size=count - 1, max_size=count - 1))
    cuts = [0, *sorted(size - records for records in after), size]
    return make_batch(drawn.records, drawn.schema, tuple(end - start for start, end in pairwise(cuts)))


def schema_of(strategy: SearchStrategy[Any]) -> StructType | None:
    """The schema of what a strategy draws, where it was made by `records` or `batches`, also through `|` and filter."""
    if strategy in _SCHEMAS:
        return _SCHEMAS[strategy]
    # Hypothesis has no public way to look inside. Where nothing is found, the schema has to be given, and that is all.
    return common_schema(schema_of(inner) for inner in strategies_inside(strategy))


def with_schema_of(strategy: S, parts: Iterable[SearchStrategy[Any]]) -> S:
    """The strategy, with the schema of the parts that it puts together remembered; two schemas are refused.

    So a mistake in an argument that names a column shows where it is written, not where it is drawn.
    """
    schema = common_schema(map(_schema_or_none, parts))
    if schema is not None:
        _SCHEMAS[strategy] = schema
    return strategy


def _schema_or_none(strategy: SearchStrategy[Any]) -> StructType | None:
    try:
        return schema_of(strategy)
    except InvalidArgument:  # it draws one of several schemas, and which one is known only then
        return None


def remember_schema(strategy: SearchStrategy[Any], schema: StructType | None) -> None:
    """Remember the schema of what a strategy draws, where it is known."""
    if schema is not None:
        _SCHEMAS[strategy] = schema


def _without(
    elements: SearchStrategy[Any], column: str | None, beside: SearchStrategy[Any] | None = None
) -> SearchStrategy[Any]:
    """The same elements, but with nothing drawn for a column of timestamps if they are plain `records`.

    If something is drawn beside each element, they come as pairs. All is drawn in one tuple, because every layer of
    strategies costs as much as a value.
    """
    if elements not in _COLUMNS:
        return elements if beside is None else st.tuples(elements, beside)
    schema, (parts, checked) = _SCHEMAS[elements], _COLUMNS[elements]
    make = _maker(schema, checked=checked)
    kinds = [field.dataType.__class__.__name__ if field.name == column else "" for field in schema]
    place = next((place for place, kind in enumerate(kinds) if kind in _MOMENTS), len(parts))
    given = tuple(_MOMENTS[kind] for kind in kinds[place : place + 1])
    drawn = [part for at, part in enumerate(parts) if at != place]
    if beside is None:
        return st.tuples(*drawn).map(lambda values: make((*values[:place], *given, *values[place:])))
    return st.tuples(*drawn, beside).map(
        lambda values: (make((*values[:place], *given, *values[place:-1])), values[-1])
    )


def _maker(schema: StructType, *, checked: bool) -> Callable[[tuple[Any, ...]], Record]:
    """Makes records of drawn values. Values from strategies that the user gave are checked against the schema."""
    if checked:
        fit = fitter(schema)
        return lambda drawn: fit(drawn, "the drawn record")
    names = tuple(schema.fieldNames())
    return lambda drawn: make_record(dict(zip(names, drawn, strict=True)))


@dataclass(frozen=True, eq=False, repr=False)
class _Recipe:
    """How the batches of one call of `batches` are drawn."""

    elements: SearchStrategy[Any]
    most: int | None
    small: SearchStrategy[list[Any]]
    least: int
    largest: int
    sizes: SearchStrategy[int]
    large: bool
    schema: StructType | None
    width: int
    trusted: bool
    beside: dict[tuple[SearchStrategy[Any] | None, str | None], SearchStrategy[list[Any]]]

    def __repr__(self) -> str:
        # Hypothesis puts it into the text of every strategy around, and pytest shows that text where a test fails.
        return f"{self.least} to {self.largest} records"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # else Hypothesis would list the fields of a dataclass

    def batch(self, elements: Iterable[Any]) -> Batch:
        # Elements of `records` fit by construction.
        return make_batch(elements, self.schema) if self.trusted else Batch(elements, schema=self.schema)

    def small_with(self, beside: Beside) -> SearchStrategy[list[Any]]:
        """Small batches as pairs: an element, and something else."""
        key = beside.strategy, beside.column
        if key not in self.beside:
            pairs = _without(self.elements, beside.column, beside.strategy)
            self.beside[key] = st.lists(pairs, min_size=self.least, max_size=self.most)
        return self.beside[key]

    def pools_with(self, beside: Beside | None) -> SearchStrategy[list[Any]]:
        """What large batches are made of."""
        column = None if beside is None else beside.column
        if (None, column) not in self.beside:
            self.beside[None, column] = _pools(_without(self.elements, column), self.largest)
        return self.beside[None, column]


class Beside:
    """What is drawn beside each record of small batches, by `drawn_beside`.

    Hypothesis shrinks a list by taking choices out: what belongs to a record has to be drawn next to it, to go with it.
    It will stand in `column`, so that column need not be drawn.
    """

    def __init__(self, strategy: SearchStrategy[Any], width: int, column: str) -> None:
        self.strategy = strategy
        self.width = width
        self.column = column
        # By the record's id. The record is kept with its values, so that no other can have its id.
        self._values: dict[int, tuple[Any, deque[Any]]] = {}

    def note(self, batch: Batch, values: Iterable[Any]) -> None:
        """Remembers what was drawn beside the records of a batch."""
        for record, value in zip(batch.records, values, strict=True):
            self._values.setdefault(id(record), (record, deque()))[1].append(value)

    def taken(self, records: Sequence[Any]) -> list[Any | None]:
        """What was drawn beside each record; None where nothing was. One object may be drawn several times."""
        if not self._values:  # all batches are large
            return [None] * len(records)
        noted = (self._values.get(id(record), _NOTHING)[1] for record in records)
        return [values.popleft() if values else None for values in noted]


_NOTHING: tuple[Any, deque[Any]] = (None, deque())


class _Example:
    """What all batches of one example share: a budget of values drawn one by one, a seed, a pool for each recipe."""

    def __init__(self) -> None:
        self.budget = _VALUES_ONE_BY_ONE
        self.large_batches = 0
        self.seed: int | None = None
        self.pools: dict[_Recipe, list[Any]] = {}
        self.beside: Beside | None = None


# `st.shared` gives every batch of an example the same one. Its seed and pools are drawn when they are first needed,
# because a draw costs as much as making fifty records.
_examples = st.shared(st.builds(_Example), key="firesteel.strategies example")
_seeds = st.integers(0, 2**32 - 1)


@st.composite
def _batches(draw: DrawFn, recipe: _Recipe) -> Batch:
    example = draw(_examples)
    if not recipe.large and example.budget > 0:
        return _small(draw, recipe, example)
    if recipe not in example.pools:
        example.pools[recipe] = draw(recipe.pools_with(example.beside))
    if example.seed is None:
        example.seed = draw(_seeds)
    example.large_batches += 1
    size = recipe.least if recipe.least == recipe.largest else draw(recipe.sizes)
    seed = f"{example.seed} {example.large_batches}" if example.seed else None
    return recipe.batch(_expanded(example.pools[recipe], size, seed, by_column=recipe.trusted))


def _small(draw: DrawFn, recipe: _Recipe, example: _Example) -> Batch:
    beside = example.beside
    if beside is None:
        elements = draw(recipe.small)
        example.budget -= (len(elements) + 1) * recipe.width
        return recipe.batch(elements)
    pairs = draw(recipe.small_with(beside))
    example.budget -= (len(pairs) + 1) * (recipe.width + beside.width)
    batch = recipe.batch([element for element, _ in pairs])
    beside.note(batch, [value for _, value in pairs])
    return batch


def drawn_beside(draw: DrawFn, strategy: SearchStrategy[Any], beside: Beside) -> Any:
    """Draws from a strategy of batches or streams, with something drawn beside every record of small batches."""
    example = draw(_examples)
    outer, example.beside = example.beside, beside
    try:
        return draw(strategy)
    finally:
        example.beside = outer


def _pools(elements: SearchStrategy[Any], largest: int) -> SearchStrategy[list[Any]]:
    # Few enough that the largest batch has room for every pair of values (see _expanded).
    # By fours, because st.lists alone would rarely give more than a handful.
    most = min(6, max(1, isqrt(largest) // 4))
    fours = st.lists(st.tuples(elements, elements, elements, elements), min_size=1, max_size=most)
    return fours.map(lambda groups: [element for group in groups for element in group])


def _expanded(pool: list[Any], size: int, seed: str | None, *, by_column: bool) -> Iterable[Any]:
    """`size` elements from a pool: chosen at random by the seed, or in order where there is none.

    The columns of `records` are independent, and are chosen one by one. In order, that means the pool itself, then the
    pool with each column moved on by one more than the column before, and so on: every pair of values comes up
    without a random choice.
    """
    rng = None if seed is None else random.Random(seed)
    if not by_column:
        return islice(cycle(pool), size) if rng is None else rng.choices(pool, k=size)
    names, columns = tuple(pool[0].__dict__), list(zip(*pool, strict=True))
    if rng is None:
        chosen = [_turned(column, by, size) for by, column in enumerate(columns)]
    else:
        chosen = [rng.choices(column, k=size) for column in columns]
    return make_records(map(dict, map(zip, repeat(names), zip(*chosen, strict=True))))


def _turned(column: tuple[Any, ...], by: int, size: int) -> list[Any]:
    """The column over and over, each time moved on by `by` more places."""
    length = len(column)
    return [column[(at + by * (at // length)) % length] for at in range(size)]
