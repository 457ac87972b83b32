"""Is a dependence lawful? Symmetric, and compatible with the equality: equal records depend on the same ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.values.checks import Check
from firesteel.values.dependence import Dependence, as_records, different, require_dependence
from firesteel.values.equality import EXACT, Equality
from firesteel.values.records import Record, brief, canonical, named

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

EXAMPLES = 200
"""How many lists of records are drawn from a strategy."""
AT_MOST = 40
"""How many of the given records are compared with each other: the first ones that differ."""


def check_dependence(
    dependence: Dependence, equal: Equality | None, records: SearchStrategy[Any] | Iterable[Any]
) -> Check:
    """Looks for records that break a law of dependences; the answer holds them.

    `records` is a strategy of records, or a list. Records that differ from these only in what the equality ignores are
    tried as well.

    >>> from firesteel.values.equality import equality
    >>> from firesteel.values.dependence import depends, same_key
    >>> check_dependence(depends(lambda a, b: a < b), None, [1, 2]).reason
    'depends(a < b) is not symmetric: 1 depends on 2, and 2 does not depend on 1'
    >>> rides = [Record(taxi=1, seen=1), Record(taxi=1, seen=2)]
    >>> check = check_dependence(same_key("seen"), equality(ignore=["seen"]), rides)
    >>> bool(check), len(check.records)
    (False, 3)
    """
    require_dependence(dependence)
    equality = EXACT if equal is None else equal
    if not isinstance(equality, Equality):
        raise InvalidArgument(f"{described('equal', equal)} is not an equality: write fs.equality(...)")
    if hasattr(records, "example") and hasattr(records, "map"):
        return _searched(dependence, equality, records)
    return broken_law(dependence, equality, as_records(records))


def _searched(dependence: Dependence, equality: Equality, records: Any) -> Check:
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st

    found: list[Check] = []

    class Broken(Exception):
        pass

    @settings(
        max_examples=EXAMPLES,
        database=None,
        derandomize=True,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(st.lists(records, min_size=1, max_size=5))
    def search(drawn: list[Any]) -> None:
        check = broken_law(dependence, equality, drawn)
        if not check:
            found.append(check)
            raise Broken

    try:
        search()
    except Broken:
        return found[-1]
    return Check(True)


def broken_law(dependence: Dependence, equality: Equality, records: Sequence[Any]) -> Check:
    """The first of these records that break a law."""
    pool = different(records)[:AT_MOST]
    for first in pool:
        for second in pool:
            forth, back = dependence.depends_on(first, second), dependence.depends_on(second, first)
            if forth != back:
                (a, b) = (first, second) if forth else (second, first)
                return Check(
                    False,
                    f"{dependence!r} is not symmetric: {brief(a)} depends on {brief(b)}, and {brief(b)} does not "
                    f"depend on {brief(a)}",
                    (a, b),
                )
    for record in pool:
        for twin in _twins(record, pool, equality):
            for other in (record, twin, *pool):
                if dependence.depends_on(record, other) != dependence.depends_on(twin, other):
                    (a, b) = (record, twin) if dependence.depends_on(record, other) else (twin, record)
                    return Check(
                        False,
                        f"{dependence!r} does not respect {equality!r}: {brief(a)} and {brief(b)} are equal, and "
                        f"{brief(a)} depends on {brief(other)} while {brief(b)} does not",
                        (a, b, other),
                    )
    return Check(True)


def _twins(record: Any, pool: Sequence[Any], equality: Equality) -> Iterator[Any]:
    """Records that equal this one and are not the same: from the pool, and made by changing one column."""
    for other in (*pool, *_variants(record, pool, equality)):
        if canonical(other) != canonical(record) and equality.equal(record, other):
            yield other


def _variants(record: Any, pool: Sequence[Any], equality: Equality) -> Iterator[Any]:
    if isinstance(record, float):
        yield from _nudged(record, equality)
    columns = named(record)
    if columns is None:
        return
    for name, value in columns.items():
        others = [theirs[name] for other in pool if (theirs := named(other)) is not None and name in theirs]
        nudged = list(_nudged(value, equality)) if isinstance(value, float) else []
        for changed in (*others, *nudged):
            yield _like(record, {**columns, name: changed})


def _nudged(value: float, equality: Equality) -> Iterator[float]:
    """Floats that are only just within the tolerance."""
    if not equality.exact and math.isfinite(value):
        reach = max(equality.abs_tol, equality.rel_tol * abs(value)) * 0.99
        yield value + reach
        yield value - reach


def _like(record: Any, columns: dict[str, Any]) -> Any:
    return columns if isinstance(record, dict) else Record(columns)
