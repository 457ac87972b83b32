"""Strategies for records and batches: `records` from a schema, `batches` of any elements.

Hypothesis gives one example a fixed budget of choices, so large batches cannot be drawn record by record. They are
drawn as a size, a seed, and a pool of records shared by all large batches of the example: the seed expands the pool,
mixing its columns. Seed 0 repeats the pool in order, so a shrunk example shows its records as they were drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle, islice, repeat
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from firesteel import schemas
from firesteel.errors import InvalidArgument, described
from firesteel.records import Record, make_record
from firesteel.strategies.arguments import strategy_of, whole
from firesteel.strategies.values import values
from firesteel.streams import Batch, common_schema, fitter, make_batch

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

# A batch that may be larger than this is drawn as size, seed and pool.
LARGE = 32
# So is every batch of an example that has drawn this many values record by record: Hypothesis's budget is finite.
_VALUES_ONE_BY_ONE = 800
_VALUES_IN_A_POOL = 64

_SCHEMAS: WeakKeyDictionary[SearchStrategy[Any], StructType] = WeakKeyDictionary()


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
        raise InvalidArgument(f"{described('schema', schema)} is no schema: write DDL text such as 'user BIGINT NOT NULL'")
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
    width = 1 if drawn is None else max(1, len(drawn.fields))
    plan = _Plan(
        small=st.lists(elements, min_size=least, max_size=most),
        pool=st.shared(_pools(elements, max(4, _VALUES_IN_A_POOL // width)), key=object()),
        sizes=st.integers(least, max(2 * least, least + 10) if most is None else most),
        large=max(least, most or 0) > LARGE,
        schema=given if given is not None else drawn,
        width=width,
        trusted=elements in _SCHEMAS and given is None,
    )
    strategy = _batches(plan)
    if plan.schema is not None:
        _SCHEMAS[strategy] = plan.schema
    return strategy


def schema_of(strategy: SearchStrategy[Any]) -> StructType | None:
    """The schema of what a strategy draws, where it was made by `records` or `batches`, also through `|` and filter."""
    if strategy in _SCHEMAS:
        return _SCHEMAS[strategy]
    return common_schema(schema_of(inner) for inner in _inside(strategy))


def _inside(strategy: SearchStrategy[Any]) -> Iterator[SearchStrategy[Any]]:
    """The strategies that draw the same values as this one. Hypothesis has no public way to ask: none is no harm."""
    for name in ("original_strategies", "filtered_strategy", "wrapped_strategy"):
        found = getattr(strategy, name, None)
        for inner in found if isinstance(found, (list, tuple)) else (found,):
            if isinstance(inner, SearchStrategy):
                yield inner


def _maker(schema: StructType, *, checked: bool) -> Callable[[tuple[Any, ...]], Record]:
    """Makes records of drawn values; those of strategies that the user gave are held against the schema."""
    if checked:
        fit = fitter(schema)
        return lambda drawn: fit(drawn, "the drawn record")
    names = tuple(schema.fieldNames())
    return lambda drawn: make_record(dict(zip(names, drawn, strict=True)))


@dataclass(frozen=True, eq=False)
class _Plan:
    """How the batches of one call of `batches` are drawn."""

    small: SearchStrategy[list[Any]]
    pool: SearchStrategy[list[Any]]
    sizes: SearchStrategy[int]
    large: bool
    schema: StructType | None
    width: int
    trusted: bool

    def batch(self, elements: Iterable[Any]) -> Batch:
        # Elements of `records` fit by construction.
        return make_batch(elements, self.schema) if self.trusted else Batch(elements, schema=self.schema)


class _Budget:
    """How many values this example may still draw one by one."""

    def __init__(self) -> None:
        self.left = _VALUES_ONE_BY_ONE


_budgets = st.shared(st.builds(_Budget), key="firesteel.strategies budget")
_seeds = st.integers(0, 2**32 - 1)


@st.composite
def _batches(draw: DrawFn, plan: _Plan) -> Batch:
    if not plan.large:
        budget = draw(_budgets)
        if budget.left > 0:
            elements = draw(plan.small)
            budget.left -= (len(elements) + 1) * plan.width
            return plan.batch(elements)
    size = draw(plan.sizes)
    if size == 0:
        return plan.batch(())
    return plan.batch(_expanded(draw(plan.pool), size, draw(_seeds)))


@st.composite
def _pools(draw: DrawFn, elements: SearchStrategy[Any], most: int) -> list[Any]:
    # A wanted size is drawn first, because st.lists alone would rarely give more than a handful.
    least = draw(st.sampled_from([1, most // 2, most]))
    return draw(st.lists(elements, min_size=least, max_size=most))


def _expanded(pool: list[Any], size: int, seed: int) -> Iterable[Any]:
    """`size` elements from a pool: repeated in order for seed 0, else chosen at random, records column by column."""
    if seed == 0:
        return islice(cycle(pool), size)
    rng = random.Random(seed)
    if not isinstance(pool[0], Record):
        return rng.choices(pool, k=size)
    columns = list(zip(*pool, strict=True))
    names = tuple(pool[0].__dict__)
    chosen = [rng.choices(column, k=size) for column in columns]
    return map(make_record, map(dict, map(zip, repeat(names), zip(*chosen, strict=True))))
