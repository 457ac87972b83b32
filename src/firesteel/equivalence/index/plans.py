"""Which index a dependence needs."""

from __future__ import annotations

from firesteel.equivalence.index.arrival import Scan
from firesteel.equivalence.index.counted import Count
from firesteel.equivalence.index.epochs import Epochs
from firesteel.equivalence.index.keyed import Keyed, Partition
from firesteel.equivalence.index.queued import Queue
from firesteel.equivalence.index.sides import Plan
from firesteel.values.dependence import (
    Barrier,
    Both,
    Dependence,
    Either,
    Ordered,
    SameKey,
    Unordered,
    both,
    either,
)
from firesteel.values.equality import EXACT, Equality


def plan(dependence: Dependence, equality: Equality = EXACT) -> Plan:
    """The fastest index that gives the same verdict as the general algorithm, at the same record.

    >>> from firesteel.values.dependence import same_key
    >>> plan(same_key("user") & same_key("day"))
    Keyed(columns=('user', 'day'), equality=equality())
    """
    match dependence:
        case Ordered():
            return Queue(equality)
        case Unordered():
            return Count(equality) if equality.exact else Scan(dependence, equality)
    columns = confined_to(dependence)
    if columns:
        inner = _within(dependence, frozenset(columns))
        return Keyed(columns, equality) if inner == Ordered() else Partition(columns, equality, plan(inner, equality))
    barriers = _barriers_of(dependence)
    if barriers:
        return Epochs(barriers, equality, plan(_between(dependence, barriers), equality))
    return Scan(dependence, equality)


def confined_to(dependence: Dependence) -> tuple[str, ...]:
    """Columns in which all dependent records agree."""
    match dependence:
        case SameKey(columns):
            return columns
        case Both(a, b):
            return tuple(dict.fromkeys((*confined_to(a), *confined_to(b))))
        case Either(a, b):
            others = confined_to(b)
            return tuple(column for column in confined_to(a) if column in others)
        case _:
            return ()


def _within(dependence: Dependence, columns: frozenset[str]) -> Dependence:
    """What is left of a dependence among records that agree in some columns."""
    match dependence:
        case SameKey(own):
            rest = tuple(column for column in own if column not in columns)
            return SameKey(rest) if rest else Ordered()
        case Both(a, b):
            return both(_within(a, columns), _within(b, columns))
        case Either(a, b):
            return either(_within(a, columns), _within(b, columns))
        case _:
            return dependence


def _barriers_of(dependence: Dependence) -> tuple[Barrier, ...]:
    """Barriers that are in order with every record, whatever else holds."""
    match dependence:
        case Barrier():
            return (dependence,)
        case Either(a, b):
            own = _barriers_of(a)
            return (*own, *(barrier for barrier in _barriers_of(b) if barrier not in own))
        case Both(a, b):
            others = _barriers_of(b)
            return tuple(barrier for barrier in _barriers_of(a) if barrier in others)
        case _:
            return ()


def _between(dependence: Dependence, barriers: tuple[Barrier, ...]) -> Dependence:
    """What is left of a dependence among records that are not one of these barriers."""
    match dependence:
        case Barrier() if dependence in barriers:
            return Unordered()
        case Both(a, b):
            return both(_between(a, barriers), _between(b, barriers))
        case Either(a, b):
            return either(_between(a, barriers), _between(b, barriers))
        case _:
            return dependence
