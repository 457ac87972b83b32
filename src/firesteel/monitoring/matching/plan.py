"""How two streams are compared, and how their rows are spread over tasks: by the structure of the dependence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from firesteel.equivalence.index import Count, Epochs, Keyed, Partition, Plan, Queue, confined_to, key_columns, plan
from firesteel.equivalence.matcher import Matcher
from firesteel.errors import InvalidArgument, described
from firesteel.logic.ltl.fingerprint import digest
from firesteel.monitoring.matching.step import Pairing
from firesteel.values.dependence import Barrier, Both, Dependence, Depends, Either, Unordered
from firesteel.values.equality import Equality
from firesteel.values.records import listed

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


@dataclass(frozen=True)
class Spread:
    """How two streams are compared, and by which columns their rows find each other; none: in one task."""

    pairing: Pairing
    columns: tuple[str, ...]
    groups: int


def spread(
    schema: StructType,
    dependence: Any,
    equal: Any,
    *,
    event_time: str | None,
    at_most: int | None,
    overflow: Literal["shed", "stop"],
    progress: bool,
    groups: int,
    resets: bool = False,
) -> Spread:
    """The way for a dependence; refuses what does not go together."""
    matcher = Matcher(dependence, equal=equal)  # refuses what is not a dependence or an equality
    dependence, equality = matcher.dependence, matcher.equality
    kinds = {field.name: field.dataType for field in schema.fields}
    for column in (*key_columns(dependence), *equality.ignore):
        if column not in kinds:
            asking = dependence if column in key_columns(dependence) else equality
            raise InvalidArgument(f"{asking!r} asks for the column {column!r}: the frames have {listed(kinds)}")
    unordered = isinstance(dependence, Unordered)
    if unordered and event_time is None:
        raise InvalidArgument(
            "dependence=unordered() needs watermark=: what comes later could match whatever waits, so without a "
            "watermark nothing would ever be reported; write watermark=('ts', '10 minutes')"
        )
    key = confined_to(dependence)
    exact = tuple(
        name
        for name, kind in kinds.items()
        if name not in equality.ignore and (equality.exact or not _holds_floats(kind))
    )
    for column in key:
        if column not in exact:
            raise InvalidArgument(
                f"{dependence!r} does not go with {equality!r}: {column!r} holds floats, so rows that count as equal "
                "could have different keys. Take another key, or no tolerances"
            )
    compared = () if equality.by is not None else exact
    if event_time in kinds and event_time not in compared:
        _refuse_times_that_differ(
            equality, event_time, sheds=unordered and at_most is not None and overflow == "shed", resets=resets
        )
    index = plan(dependence, equality)
    barriers, between = _barriers(index)
    by_columns = equality.exact and isinstance(between, Keyed | Count | Queue)
    columns = tuple(name for name in (compared if unordered else key) if _can_be_hashed(kinds[name]))
    groups = groups if columns else 1
    about = (_parts(dependence), equality.rel_tol, equality.abs_tol, equality.ignore, equality.by, event_time, groups)
    pairing = Pairing(
        schema,
        dependence,
        equality,
        key,
        compared,
        unordered,
        by_columns,
        barriers if by_columns else (),
        _queue(between, compared),
        event_time,
        None if at_most is None else -(-at_most // groups),
        overflow,
        progress,
        digest(schema.simpleString(), *about),
    )
    return Spread(pairing, columns, groups)


def _refuse_times_that_differ(equality: Equality, event_time: str, *, sheds: bool, resets: bool) -> None:
    """Refuse what leaves rows out by their event time, where equal rows may have different ones.

    A row would be left out, and its match on the other side would not: a false alarm.
    """
    why = f"{equality!r} lets rows be equal that have different event times ({event_time!r})"
    if sheds:
        raise InvalidArgument(
            f"unmatched_at_most=... cannot shed rows here: {why}, so the match of a row that was dropped would be "
            "reported; write overflow='stop', or compare the event time"
        )
    if resets:
        raise InvalidArgument(
            f"resets=... does not go with watermark= here: {why}, so a reset could take one of two equal rows and "
            "leave out the other; compare the event time, or leave watermark= out"
        )


def _barriers(index: Plan) -> tuple[tuple[Barrier, ...], Plan]:
    """The barriers of an index, and the index of what lies between two of them."""
    match index:
        case Epochs(barriers=barriers, inner=inner) | Partition(inner=Epochs(barriers=barriers, inner=inner)):
            return barriers, inner
        case _:
            return (), index


def _queue(index: Plan, compared: tuple[str, ...]) -> tuple[str, ...]:
    """Rows that agree in these columns are matched in order."""
    match index:
        case Keyed(columns=columns):
            return columns
        case Count():
            return compared
        case _:
            return ()


def _parts(dependence: Dependence) -> Any:
    """A dependence as values and functions."""
    name = type(dependence).__name__
    match dependence:
        case Barrier(function) | Depends(function):
            return [name, function]
        case Either(a, b) | Both(a, b):
            return [name, _parts(a), _parts(b)]
        case _:
            return [name, *confined_to(dependence)]


def _holds_floats(kind: DataType) -> bool:
    from pyspark.sql.types import ArrayType, DoubleType, FloatType, MapType, StructType

    match kind:
        case FloatType() | DoubleType():
            return True
        case ArrayType():
            return _holds_floats(kind.elementType)
        case MapType():
            return _holds_floats(kind.keyType) or _holds_floats(kind.valueType)
        case StructType():
            return any(_holds_floats(field.dataType) for field in kind.fields)
        case _:
            return False


def _can_be_hashed(kind: DataType) -> bool:
    """Does Spark hash equal values alike?"""
    from pyspark.sql import types as T

    plain = (T.IntegralType, T.BooleanType, T.DateType, T.TimestampType, T.TimestampNTZType, T.DecimalType)
    return isinstance(kind, (*plain, T.BinaryType, T.FloatType, T.DoubleType)) or kind == T.StringType()


def require_count(name: str, value: Any) -> int:
    """A whole number above zero."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidArgument(f"{described(name, value)} is not a number of rows or groups: write one from 1 on")
    return value
