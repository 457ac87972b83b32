"""Simpler tests than one that refutes a property: fewer records, then simpler ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firesteel.operators.kinds import Family
from firesteel.operators.properties import About, Material

_MOST = 12
"""How many records are looked at closely."""


def simpler_materials(about: About, material: Material) -> Iterator[Material]:
    """Candidates, those with fewer records first."""
    if about.operator.kind.family is Family.GROUPS:
        yield from _simpler_groups(about, material)
        yield from _simpler_together(about, material)
        return
    size = len(material)
    if size > 4:
        yield material[size // 2 :]
        yield material[: size // 2]
    if size > 1:
        for at in range(size):
            yield (*material[:at], *material[at + 1 :])
    domain = about.inputs.record
    first = material[0]
    if any(each is not first and repr(each) != repr(first) for each in material[1:]):
        yield (first,) * size
    for at in range(min(size, _MOST)):
        for record in domain.simpler(material[at]):
            yield (*material[:at], record, *material[at + 1 :])
    yield from _simpler_together(about, material)


def _simpler_together(about: About, material: Material) -> Iterator[Material]:
    """A number or text that stands in several places is made simpler in all of them: a key, or a value that repeats."""
    groups = about.operator.kind.family is Family.GROUPS
    ports = about.inputs.ports

    def replaced(each: Any, old: Any, new: Any) -> Any:
        if not groups:
            return ports[0].replaced(each, old, new)
        return tuple(tuple(ports[port].replaced(row, old, new) for row in rows) for port, rows in enumerate(each))

    records = (
        [(port, row) for each in material for port, rows in enumerate(each) for row in rows]
        if groups
        else [(0, each) for each in material]
    )
    found: dict[tuple[type, Any], list[Any]] = {}
    for port, record in records[:_MOST]:
        for domain, leaf in ports[port].leaves(record):
            found.setdefault((type(leaf), leaf), []).append(domain)
    for (_, leaf), domains in found.items():
        if len(domains) > 1:
            for new in domains[0].simpler(leaf):
                yield tuple(replaced(each, leaf, new) for each in material)


def _simpler_groups(about: About, material: Material) -> Iterator[Material]:
    if len(material) > 1:
        for at in range(len(material)):
            yield (*material[:at], *material[at + 1 :])
    for at, group in enumerate(material):
        for other in _simpler_group(about, group):
            yield (*material[:at], other, *material[at + 1 :])


def _simpler_group(about: About, group: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    names = about.inputs.names
    keys = [names.index(str(each)) for each in about.operator.key if str(each) in names]
    for port, rows in enumerate(group):
        for at in range(len(rows)):
            fewer = (*rows[:at], *rows[at + 1 :])
            if fewer or len(group) > 1:
                changed = (*group[:port], fewer, *group[port + 1 :])
                if any(changed):
                    yield changed
    for port, rows in enumerate(group):
        for at, row in enumerate(rows):
            for simpler in about.inputs.ports[port].simpler(row):
                if all(simpler[place] == row[place] for place in keys):  # a group has one key
                    yield (*group[:port], (*rows[:at], simpler, *rows[at + 1 :]), *group[port + 1 :])
