"""The properties: what each means for each kind of operator, as runs that have to agree.

A material is what a test is made of: calls, values of a fold, rows, or groups. A property makes pairs of runs of it.
One pair whose results differ, each seen twice in new processes, refutes the property.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from firesteel.operators.comparing import Look, Pair, Side
from firesteel.operators.inputs import Inputs
from firesteel.operators.kinds import Family, Kind, Operator
from firesteel.operators.outcomes import Twice

Property: TypeAlias = Literal[
    "deterministic",
    "one_to_one",
    "selective",
    "prolific",
    "non_blocking",
    "stateless",
    "commutative",
    "partition_isolated",
    "associative",
    "zero_is_identity",
    "seq_comb_agree",
    "idempotent",
    "row_wise",
    "batch_independent",
    "keeps_columns",
    "null_safe",
    "nan_safe",
    "pure",
    "total",
    "picklable",
]
Material: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class About:
    """What a property needs to know to make runs of a material."""

    operator: Operator
    inputs: Inputs

    def key_of(self, record: Any) -> Any:
        """The key of a call's arguments, or of a row."""
        return tuple(self._part(record, each) for each in self.operator.key)

    def _part(self, record: Any, key: str | int) -> Any:
        if isinstance(key, int):
            whole = record[0] if len(record) == 1 and isinstance(record[0], tuple | list) else record
            return whole[key]
        if key in self.inputs.names and len(self.inputs.names) == len(record):
            return record[self.inputs.names.index(key)]
        first = record[0]
        return first[key] if isinstance(first, dict) else getattr(first, key)


def deterministic(about: About, material: Material) -> Iterator[Pair]:
    """The same inputs give the same outputs: in another process, with another hash seed, on another day, with delays.

    `len` has it. `hash` of a string does not have it: every process has its own hash seed.
    """
    run = feed(about, material)
    yield Pair(Side(run), Side(run, elsewhere=True))


def stateless(about: About, material: Material) -> Iterator[Pair]:
    """The output does not depend on what was fed before: earlier calls, folds, groups; for column functions other rows.

    `lambda x: x + 1` has it. A function that counts its calls in a global, and returns the count, does not have it.
    """
    match about.operator.kind.family:
        case Family.CALLS | Family.GROUPS:
            last = material[-1]
            alone = Side((last,), Look((0,)))
            yield Pair(alone, Side(material, Look((len(material) - 1,))))
            yield Pair(alone, Side((last, last), Look((1,))))
        case Family.FOLDS:
            half = max(1, len(material) // 2)
            earlier, fold = fold_of(about, material[:half]), fold_of(about, material[half:] or material)
            alone = Side((fold,))
            yield Pair(alone, Side((earlier, fold), Look((1,))))
            yield Pair(alone, Side((fold, fold), Look((1,))))
        case Family.COLUMNS:
            yield from _rows_alone(about, material)
            if about.operator.kind.scalar_columns:
                one = ((material[-1],),)
                yield Pair(Side((one,), Look((0,))), Side(((tuple(material),), one), Look((1,))))


def _rows_alone(about: About, rows: Material) -> Iterator[Pair]:
    """Rows together, and each of them alone."""
    whole = ((tuple(rows),),)
    if about.operator.kind.scalar_columns:
        for place in dict.fromkeys((0, len(rows) - 1)):
            yield Pair(Side((((rows[place],),),)), Side(whole, Look(None, (place,))))
    else:
        yield Pair(Side(tuple(((row,),) for row in rows)), Side(whole))


def row_wise(about: About, material: Material) -> Iterator[Pair]:
    """The result for a row depends on that row alone: not on other rows, the index, or how Arrow cuts batches.

    `lambda price: price * 2` has it. `lambda price: price - price.mean()` does not: the mean is that of a batch.
    """
    yield from _rows_alone(about, material)
    yield from _cuts(material, ordered=True)
    if not about.inputs.nullable:
        return
    nothing = tuple(None for _ in material[0])
    alone = Side((((material[0],),),))
    yield Pair(alone, Side((((material[0], nothing),),), Look(None, (0,))))


def batch_independent(about: About, material: Material) -> Iterator[Pair]:
    """How Arrow cuts a partition into batches does not show in the output.

    A function that filters each batch has it. One that puts out the number of rows of each batch does not have it.
    """
    yield from _cuts(material, ordered=False)


def _cuts(rows: Material, *, ordered: bool) -> Iterator[Pair]:
    whole = Side(((tuple(rows),),))
    for cut in dict.fromkeys((1, len(rows) // 2, len(rows) - 1)):
        if 0 < cut < len(rows):
            yield Pair(whole, Side(((tuple(rows[:cut]), tuple(rows[cut:])),)), ordered)


def commutative(about: About, material: Material) -> Iterator[Pair]:
    """The output does not depend on the order: of two values for a reducer, of values and merged partitions for an
    aggregate, of calls for a function, of rows for a column or a grouped function. Outputs are compared as multisets.

    `lambda a, b: a + b` of whole numbers has it. `lambda a, b: a - b` does not have it.
    """
    operator = about.operator
    match operator.kind.family:
        case Family.CALLS:
            for other in _orders(material):
                yield Pair(Side(material), Side(other))
        case Family.COLUMNS:
            whole = Side(((tuple(material),),))
            for other in _orders(material):
                yield Pair(whole, Side(((other,),)))
        case Family.GROUPS:
            group = material[-1]
            whole = Side((group,))
            for port in range(len(group)):
                for other in _orders(group[port]):
                    swapped = (*group[:port], other, *group[port + 1 :])
                    yield Pair(whole, Side((swapped,)), port=port_name(about, port))
        case Family.FOLDS:
            yield from _folds_in_other_orders(operator, material)


def _folds_in_other_orders(operator: Operator, material: Material) -> Iterator[Pair]:
    values = material[:2] if operator.kind is Kind.REDUCER else material
    whole = Side((((values,),),))
    for other in _orders(values):
        yield Pair(whole, Side((((other,),),)))
    if operator.kind in (Kind.AGGREGATE, Kind.COMBINER) and len(values) > 1:
        half = len(values) // 2
        parts = (tuple(values[:half]), tuple(values[half:]))
        yield Pair(Side(((parts,),)), Side(((parts[::-1],),)))


def _orders(items: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """A few other orders: turned round, moved on by one, the first two exchanged."""
    held = tuple(items)
    if len(held) > 1:
        found: list[tuple[Any, ...]] = []
        for order in (held[::-1], (*held[1:], held[0]), (held[1], held[0], *held[2:])):
            if order not in found:
                found.append(order)
        yield from found


def associative(about: About, material: Material) -> Iterator[Pair]:
    """Merging (a, b) with c gives what merging a with (b, c) gives. Of an aggregate, a, b and c are partitions.

    `max` has it. `lambda a, b: (a + b) / 2`, an average of averages, does not have it.
    """
    a, b, c = (((value,),) for value in (*material, *material, *material)[:3])
    # What stands together in the first level is merged first.
    yield Pair(Side(((a + b, c),)), Side(((a, b + c),)))


def zero_is_identity(about: About, material: Material) -> Iterator[Pair]:
    """Merging with the zero changes nothing: Spark uses it once for every partition, empty ones too.

    `aggregate(0, add, add)` has it. `aggregate(1, add, add)` does not have it: each partition adds one.
    """
    part, nothing = tuple(material), ()
    alone = Side((((part,),),))
    yield Pair(alone, Side((((nothing, part),),)))
    yield Pair(alone, Side((((part, nothing),),)))


def seq_comb_agree(about: About, material: Material) -> Iterator[Pair]:
    """How values lie in partitions does not show: adding them one by one gives what merging partitions gives.

    A sum whose partitions are added has it. A count whose partitions are merged with `max` does not have it.
    """
    values = tuple(material)
    whole = Side((((values,),),))
    for cut in dict.fromkeys((1, len(values) // 2)):
        if 0 < cut < len(values):
            yield Pair(whole, Side((((values[:cut], values[cut:]),),)))


def idempotent(about: About, material: Material) -> Iterator[Pair]:
    """Once more changes nothing: f(f(x)) = f(x); of a reducer f(x, x) = x.

    `abs` and `max` have it. `lambda x: x + 1` and `lambda a, b: a + b` do not have it.
    """
    first = material[0]
    if about.operator.kind is Kind.REDUCER:
        yield Pair(Side(((((first,),),),)), Side(((((first, first),),),)))
    else:
        yield Pair(Side((first,)), Side((Twice(first),)))


def partition_isolated(about: About, material: Material) -> Iterator[Pair]:
    """The output for a key does not depend on records with other keys. The key is named: `key="user"`.

    A count of calls per user has it. A count of all calls does not have it.
    """
    family = about.operator.kind.family
    if family is Family.GROUPS:
        own = material[-1]
        others = [group for group in material[:-1] if _group_key(about, group) != _group_key(about, own)]
        if others:
            yield Pair(Side((own,), Look((0,))), Side((*others, own), Look((len(others),))))
        return
    key = about.key_of(material[-1])
    own_places = tuple(place for place, record in enumerate(material) if about.key_of(record) == key)
    if len(own_places) == len(material):
        return
    own = tuple(material[place] for place in own_places)
    if family is Family.CALLS:
        yield Pair(Side(own), Side(material, Look(own_places)), ordered=True)
        return
    alone, mixed = ((own,),), ((tuple(material),),)
    if about.operator.kind.scalar_columns:
        yield Pair(Side(alone), Side(mixed, Look(None, own_places)), ordered=True)
    else:
        where = Look(None, None, tuple(zip(map(str, about.operator.key), key, strict=True)))
        yield Pair(Side(alone, where), Side(mixed, where))


def _group_key(about: About, group: Sequence[Sequence[Any]]) -> Any:
    first = next((rows[0] for rows in group if rows), None)
    return None if first is None else about.key_of(first)


def feed(about: About, material: Material) -> tuple[Any, ...]:
    """A material as it is fed when nothing special is asked."""
    match about.operator.kind.family:
        case Family.FOLDS:
            return (fold_of(about, material),)
        case Family.COLUMNS:
            half = max(1, len(material) // 2)
            batches = (tuple(material[:half]), tuple(material[half:])) if len(material) > 1 else (tuple(material),)
            return (batches,)
        case _:
            return material


def fold_of(about: About, values: Sequence[Any]) -> Any:
    """A fold of values, in one partition."""
    return ((tuple(values),),)


def port_name(about: About, port: int) -> str | None:
    """What a port is called; None where there is only one."""
    return None if len(about.operator.inputs) == 1 else ("left", "right")[port]


Pairs: TypeAlias = Callable[[About, Material], Iterator[Pair]]
PAIRED: dict[str, Pairs] = {
    each.__name__: each
    for each in (
        deterministic,
        stateless,
        commutative,
        partition_isolated,
        associative,
        zero_is_identity,
        seq_comb_agree,
        idempotent,
        row_wise,
        batch_independent,
    )
}
