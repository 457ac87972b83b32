"""Properties whose tests are more than two ways to feed the same records: blocking, late records, growing state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from firesteel.evidence.onspark import Grew, OnSpark, Step, Unlike
from firesteel.operators.onspark.feeds import LONG, Feed, Gave, Material, distinct, one_by_one
from firesteel.operators.onspark.model import (
    About,
    Asking,
    Question,
    batch_independent,
    clock_free,
    commutative,
    deterministic,
    in_time,
    one_to_one,
    order_independent,
    partition_independent,
    partition_isolated,
    prolific,
    restart_safe,
    selective,
    stateless,
)
from firesteel.operators.onspark.operator import Port
from firesteel.operators.onspark.records import keeps_columns, null_safe, total
from firesteel.values.records import canonical, named
from firesteel.values.schemas.fit import misfit

_LONG_AGO = timedelta(days=3650)
_APART = timedelta(days=500)
"""No window, watermark or TTL that anybody writes is as long. All keys together lie within the years of pandas."""
_BATCHES, _AT_ONCE = 8, 16
"""A batch has several keys, so that what keeps a fixed number of them, up to 64, is full after half of the batches."""
FEW_KEYS = _BATCHES // 4 * _AT_ONCE


def non_blocking(about: About, material: Material) -> Iterator[Question]:
    """A port puts out its rows without waiting for a record on another port. Rows made of both are not waiting.

    An inner join has it. A semi join does not have it: it holds a row back until its key comes on the other side.
    """
    for port in about.operator.ports:
        mine = tuple(step for step in material if step[0] == port.name)
        mine = mine if len(mine) > LONG else mine[:2]
        for other in about.operator.ports:
            theirs = [step for step in material if step[0] == other.name]
            if other is not port and mine:
                for record in distinct((*theirs[:1], *theirs[-1:])):
                    yield _withheld(about, port, mine, record, other)


def _withheld(about: About, port: Port, mine: Material, record: Step, other: Port) -> Question:
    """Rows of one port alone; then a record on the other; then another in its place, with the same key and time.

    What is released has to be the same whatever the record holds: else it is made of it. And no record on the port
    itself may release it.
    """
    same_in = about.operator.key or port.columns  # a record with another key would meet none of the port's
    changed = (other.name, _changed(record[1], other, same_in))
    is_another = all(
        name in same_in or canonical(new) != canonical(old)
        for name, new, old in zip(other.columns, changed[1], record[1], strict=True)
    )
    own_time = _at_the_time_of(mine[-1], port, record, other)
    first = one_by_one(mine)
    held = about.firing((*first, (record,)))
    again = about.firing((*first, (changed,)))
    alone = about.firing(((record,),))
    itself = about.firing((*first, (own_time,)))
    before = about.firing(first)

    def judge(gave: Sequence[Gave]) -> OnSpark | None:
        released = Counter(map(canonical, gave[0].instants[-1]))
        others = [Counter(map(canonical, each.instants[-1])) for each in gave[1:4]]
        rows, passed = gave[0].instants[-1], gave[4].rows
        from_port = _are_of((*passed, *rows), mine, port)
        if passed and not from_port:
            return None  # what the port puts out by itself is no sign that it waits
        if not released or released & others[1] or released & others[2]:
            return None
        if any(_are_of((row,), (record,), other) for row in rows):
            return None  # it may be the record that came last
        # A row may carry any value of the record that stayed as it was.
        same = changed != record and is_another and released == others[0]
        if not same and not (from_port and not _only_of(other, port) & _columns(rows)):
            return None
        return Unlike(before.fed(about.operator, gave[4].rows), held.fed(about.operator, rows))

    return Question((held, again, alone, itself, before), judge, port.name)


def _changed(row: tuple[Any, ...], port: Port, kept: Sequence[str]) -> tuple[Any, ...]:
    """The row with other values in the columns that are not kept, and another time."""
    return tuple(
        value if field.name in kept and place != port.time else another(value, field.dataType)
        for place, (field, value) in enumerate(zip(port.schema.fields, row, strict=True))
    )


def another(value: Any, kind: Any) -> Any:
    """Another value of a type; the same one where none is known."""
    found = (each for each in _others(value) if canonical(each) != canonical(value))
    return next((each for each in found if misfit(each, kind, nullable=False) is None), value)


def _others(value: Any) -> tuple[Any, ...]:
    """Values that are not this one, most of them; one of them fits the type."""
    match value:
        case bool():
            return (not value,)
        case int():
            return value + 1, value - 1
        case float():
            return value + 1, 0.0, 1.0
        case Decimal():
            return value + 1, Decimal(0), Decimal("0.1")
        case str():
            return f"{value}z", value[:-1]
        case bytes() | bytearray():
            return (bytes(value) + b"z",)
        case datetime():
            return value + timedelta(seconds=1), value - timedelta(seconds=1)
        case date():
            return value + timedelta(days=1), value - timedelta(days=1)
        case list() | tuple():
            return ([*value, value[-1]], []) if value else ()
        case dict():
            return ({},)
        case _:
            return ()


def _at_the_time_of(step: Step, port: Port, record: Step, other: Port) -> Step:
    if port.time is None or other.time is None:
        return step
    moved = list(step[1])
    moved[port.time] = record[1][other.time]
    return step[0], tuple(moved)


def _columns(rows: Sequence[Any]) -> set[str]:
    found = [named(row) for row in rows]
    return {name for columns in found if columns is not None for name in columns}


def _only_of(other: Port, port: Port) -> set[str]:
    return set(other.columns) - set(port.columns)


def _are_of(rows: Sequence[Any], steps: Material, port: Port) -> bool:
    """Are rows the port's own records, or some columns of them, each at most once?"""
    columns = [named(row) for row in rows]
    names = tuple(columns[0]) if columns and columns[0] else ()
    if (
        not names
        or not set(names) <= set(port.columns)
        or any(each is None or tuple(each) != names for each in columns)
    ):
        return False
    places = [port.columns.index(name) for name in names]
    records = Counter(canonical(tuple(record[place] for place in places)) for _, record in steps)
    found = Counter(canonical(tuple(each.values())) for each in columns if each is not None)
    return not found - records


def late_safe(about: About, material: Material) -> Iterator[Question]:
    """Records that come behind the watermark are dropped (`late="dropped"`), or counted (`late="counted"`).

    A windowed count with a watermark drops them. `withWatermark` and then `select` does not: nothing there is dropped.
    """
    operator = about.operator
    ordered = in_time(operator, material)
    for step in ordered[-1:]:
        port = operator.port(step[0])
        if port.time is None or step[1][port.time] is None:
            continue
        moved = list(step[1])
        moved[port.time] = moved[port.time] - _LONG_AGO
        late: Step = (step[0], tuple(moved))
        after = about.feed(one_by_one((*ordered, late)))
        other = about.feed(one_by_one(ordered if about.late == "dropped" else (late, *ordered)))

        def judge(gave: Sequence[Gave], after: Feed = after, other: Feed = other) -> OnSpark | None:
            mine, theirs = about.in_the_end(gave[0]), about.in_the_end(gave[1])
            if not gave[0].watermark or not about.differ(mine, theirs):
                return None
            return Unlike(other.fed(operator, theirs), after.fed(operator, mine))

        yield Question((after, other), judge)


def state_bounded(about: About, material: Material) -> Iterator[Question]:
    """As much state is kept after four times as many keys that are over: a watermark or a TTL lets it go. State that
    grows up to some number of keys and then no more is bounded, if that is reached within the keys of the test.

    `dropDuplicatesWithinWatermark` has it. `dropDuplicates` without the event time among its columns does not have it.
    """
    first = {name: (name, row) for name, row in reversed(material)}
    if len(first) < len(about.operator.ports):
        return  # a watermark moves only with records on every port
    batches = [
        tuple(_moved(about, step, _AT_ONCE * batch + key) for key in range(_AT_ONCE) for step in first.values())
        for batch in range(_BATCHES)
    ]
    feed = replace(about.firing(tuple(batches)), state=True, interval=_APART)

    def judge(gave: Sequence[Gave]) -> OnSpark | None:
        sizes = gave[0].state[_BATCHES // 4 - 1 :: _BATCHES // 4]
        if len(sizes) < 4 or not sizes[0] < sizes[1] < sizes[2] < sizes[3]:
            return None  # it does not grow, or has grown to what it keeps
        return Grew(feed.fed(about.operator, ()), FEW_KEYS, sizes[0], sizes[3])

    yield Question((feed,), judge)


def _moved(about: About, step: Step, number: int) -> Step:
    """A record with a key of its own, long after those before it."""
    port = about.operator.port(step[0])
    keys = about.operator.key or tuple(name for place, name in enumerate(port.columns) if place != port.time)
    row = list(step[1])
    for place, name in enumerate(port.columns):
        if place == port.time:
            row[place] = row[place].replace(year=2000, month=1, day=1) + number * _APART
        elif name in keys:
            row[place] = _numbered(row[place], number)
    return step[0], tuple(row)


def _numbered(value: Any, number: int) -> Any:
    match value:
        case bool() | None:
            return value
        case int():
            return number
        case float():
            return float(number)
        case str():
            return f"k{number}"
        case _:
            return value


QUESTIONS: dict[str, Asking] = {
    each.__name__: each
    for each in (
        deterministic,
        clock_free,
        one_to_one,
        selective,
        prolific,
        non_blocking,
        stateless,
        commutative,
        partition_isolated,
        batch_independent,
        partition_independent,
        order_independent,
        restart_safe,
        late_safe,
        state_bounded,
        keeps_columns,
        null_safe,
        total,
    )
}
