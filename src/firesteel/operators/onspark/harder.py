"""Properties whose tests are more than two ways to feed the same records: blocking, late records, growing state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
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

_LONG_AGO = timedelta(days=3650)
_APART = timedelta(days=1000)
"""No window, watermark or TTL that anybody writes is as long."""
FEW_KEYS = 2


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
    changed = (other.name, _changed(record[1], other, port.columns))
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
        same = changed != record and released == others[0]
        if not same and not (from_port and not _only_of(other, port) & _columns(rows)):
            return None
        return Unlike(before.fed(about.operator, gave[4].rows), held.fed(about.operator, rows))

    return Question((held, again, alone, itself, before), judge, port.name)


def _changed(row: tuple[Any, ...], port: Port, shared: Sequence[str]) -> tuple[Any, ...]:
    """The row with other values in the columns that the ports do not share."""
    return tuple(
        value if name in shared and place != port.time else _another(value)
        for place, (name, value) in enumerate(zip(port.columns, row, strict=True))
    )


def _another(value: Any) -> Any:
    match value:
        case bool() | None:
            return value
        case int() | float():
            return value + 1
        case str():
            return f"{value}z"
        case _ if hasattr(value, "year") and hasattr(value, "hour"):
            return value + timedelta(seconds=1)
        case _:
            return value


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
    """As much state is kept after four times as many keys that are over: a watermark or a TTL lets it go.

    `dropDuplicatesWithinWatermark` has it. `dropDuplicates` without the event time among its columns does not have it.
    """
    first = {name: (name, row) for name, row in reversed(material)}
    if len(first) < len(about.operator.ports):
        return  # a watermark moves only with records on every port
    batches = [tuple(_moved(about, step, number) for step in first.values()) for number in range(4 * FEW_KEYS)]
    feed = replace(about.firing(tuple(batches)), state=True, interval=_APART / 10)

    def judge(gave: Sequence[Gave]) -> OnSpark | None:
        sizes = gave[0].state
        if not sizes or sizes[-1] <= sizes[FEW_KEYS - 1]:
            return None
        return Grew(feed.fed(about.operator, ()), FEW_KEYS, sizes[FEW_KEYS - 1], sizes[-1])

    yield Question((feed,), judge)


def _moved(about: About, step: Step, number: int) -> Step:
    """A record with a key of its own, long after those before it."""
    port = about.operator.port(step[0])
    keys = about.operator.key or tuple(name for place, name in enumerate(port.columns) if place != port.time)
    row = list(step[1])
    for place, name in enumerate(port.columns):
        if place == port.time:
            start = row[place].replace(year=2000, month=1, day=1)
            row[place] = start + number * _APART
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
