"""Rows without an exact equal, compared with tolerances or by a function of the user.

Spark pairs what it can: rows that are close to the only row with the same values in all columns without floats. The
driver pairs the rest, if it is not too much.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from firesteel.evidence.frames import Difference, Odd, Undecided
from firesteel.spark.frames.forms import field_names
from firesteel.spark.frames.rows import COUNT, Places, Rows
from firesteel.values.equality import Equality
from firesteel.values.pairing import left_over
from firesteel.values.records import canonical

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

ON_DRIVER = 100_000
"""How many rows without an exact equal, of both sides together, are compared on the driver."""

_Sides: TypeAlias = tuple[Sequence[Odd], Sequence[Odd]]


def judged(uneven: Rows, both: Rows, equal: Equality) -> Difference | Undecided | None:
    """How two frames differ under an equality: `uneven` are the rows without an exact equal, `both` are all rows."""
    with ExitStack() as stack:
        apart = None if equal.exact else _without_close(uneven, equal)
        if apart is not None:
            uneven = stack.enter_context(replace(uneven, frame=apart).cached())
        if uneven.counts == (0, 0):
            return None
        if sum(uneven.counts) > ON_DRIVER:
            return Undecided(*uneven.counts, equal, ON_DRIVER)
        odd = uneven.all(in_order=True)
    if isinstance(uneven.order, Places):
        return _judged_by_place(odd, equal, uneven.order)
    return _judged_in_any_order(odd, both, equal)


def _judged_in_any_order(odd: _Sides, both: Rows, equal: Equality) -> Difference | None:
    alone = _alone(odd, equal)
    exact_first = None
    if any(alone) and not equal.exact:
        # A row's exact equal may be the only row that is close to a third one, so that it has to be paired with that.
        if both.frame.limit(ON_DRIVER + 1).count() <= ON_DRIVER:
            alone = _alone(both.all(), equal)
        else:
            exact_first = equal
    if not any(alone):
        return None
    return Difference(len(alone[0]), len(alone[1]), tuple(alone[0]), tuple(alone[1]), exact_first=exact_first)


def _alone(odd: _Sides, equal: Equality) -> tuple[list[Odd], list[Odd]]:
    """The rows for which there is no equal, one by one."""
    left, right = ([row.record for row in side for _ in range(row.times)] for side in odd)
    over = left_over(left, right, equal, typed=True)
    return [Odd(record) for record in over[0]], [Odd(record) for record in over[1]]


def _judged_by_place(odd: _Sides, equal: Equality, places: Places) -> Difference | None:
    """A row is compared only with the row at the same place."""
    left, right = ({_where(row, places): row for row in side} for side in odd)
    at = [where for where in left if where in right and equal.equal(left[where].record, right[where].record)]
    for where in at:
        del left[where], right[where]
    if not left and not right:
        return None
    rest = [tuple(sorted(side.values(), key=lambda row: row.place or 0)) for side in (left, right)]
    return Difference(len(left), len(right), rest[0], rest[1], places.key)


def _where(row: Odd, places: Places) -> Hashable:
    return row.place, tuple(canonical(row.record[name]) for name in places.key)


# --- what Spark can pair -------------------------------------------------------------------------


def _without_close(rows: Rows, equal: Equality) -> DataFrame | None:
    """The rows, less every pair of rows that are close, if no other row agrees with them in all firm columns.

    Firm are the place and the columns without floats. None if there is no firm column, or no other one.
    """
    from pyspark.sql import functions as F

    key = rows.order.key if isinstance(rows.order, Places) else ()
    floats = {
        name: pair.kind
        for name, pair in zip(rows.names, rows.pairs, strict=False)
        if _has_floats(pair.kind) and pair.name not in key
    }
    firm = [name for name in rows.keys if name not in floats]
    if not floats or not firm:
        return None
    count, values = F.col(COUNT), F.struct(*floats)
    groups = rows.frame.groupBy(*firm).agg(
        F.sum(F.greatest(count, F.lit(0))).alias("left"),
        F.sum(F.greatest(-count, F.lit(0))).alias("right"),
        F.first(F.when(count > 0, values), ignorenulls=True).alias("one"),
        F.first(F.when(count < 0, values), ignorenulls=True).alias("other"),
    )
    close = [_close(F.col("one")[name], F.col("other")[name], kind, equal) for name, kind in floats.items()]
    paired = (F.col("left") == 1) & (F.col("right") == 1) & reduce(lambda a, b: a & b, close)
    settled = groups.where(F.coalesce(paired, F.lit(False))).select(*(F.col(name).alias(f"{name}_") for name in firm))
    same = [F.col(name).eqNullSafe(F.col(f"{name}_")) for name in firm]
    return rows.frame.join(settled, same, "left_anti")


def _has_floats(kind: DataType) -> bool:
    """Does a tolerance apply to anything in values of this type? It does not apply to the keys of maps."""
    from pyspark.sql.types import ArrayType, DoubleType, FloatType, MapType, StructType

    match kind:
        case FloatType() | DoubleType():
            return True
        case ArrayType():
            return _has_floats(kind.elementType)
        case MapType():
            return _has_floats(kind.valueType)
        case StructType():
            return any(_has_floats(field.dataType) for field in kind.fields)
        case _:
            return False


def _close(one: Column, other: Column, kind: DataType, equal: Equality) -> Column:
    """What `Equality.equal` says of two values, as an expression of Spark over their forms."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, DoubleType, FloatType, MapType, StructType

    same = one.eqNullSafe(other)
    if not _has_floats(kind):
        return same
    match kind:
        case FloatType() | DoubleType():
            a, b = one.cast("double"), other.cast("double")
            largest = F.greatest(F.abs(a), F.abs(b))
            reach = F.greatest(largest * F.lit(equal.rel_tol), F.lit(equal.abs_tol))
            near = (largest < F.lit(float("inf"))) & (F.abs(a - b) <= reach)
        case ArrayType():
            near = _all_close(one, other, lambda a, b: _close(a, b, kind.elementType, equal))
        case MapType():
            near = _all_close(
                one,
                other,
                lambda a, b: a["key"].eqNullSafe(b["key"]) & _close(a["value"], b["value"], kind.valueType, equal),
            )
        case StructType():
            return _structs_close(one, other, kind, equal)
        case _:
            near = same
    return F.coalesce(same | near, F.lit(False))


def _all_close(one: Column, other: Column, close: Callable[[Column, Column], Column]) -> Column:
    from pyspark.sql import functions as F

    return (F.size(one) == F.size(other)) & F.forall(F.zip_with(one, other, close), lambda answer: answer)


def _structs_close(one: Column, other: Column, kind: StructType, equal: Equality) -> Column:
    from pyspark.sql import functions as F

    fields = [
        _close(one.getField(name), other.getField(name), field.dataType, equal)
        for name, field in zip(field_names(kind), kind.fields, strict=True)
    ]
    both = one.isNotNull() & other.isNotNull() & reduce(lambda x, y: x & y, fields)
    return F.coalesce((one.isNull() & other.isNull()) | both, F.lit(False))
