"""Pictures of dependences: the order of some records, and the relation itself."""

from __future__ import annotations

from random import Random

import pytest

from firesteel.equivalence.pictures import dot, drawn, right_after
from firesteel.values.dependence import barrier, ordered, same_key, unordered
from firesteel.values.records import Record
from tests.equivalence import brute_force
from tests.equivalence.random_streams import dependences, record

RIDES = [
    Record(taxi=1, kind="ride"),
    Record(taxi=2, kind="ride"),
    Record(taxi=1, kind="ride"),
    Record(taxi=0, kind="day"),
    Record(taxi=2, kind="ride"),
]
DAYS = same_key("taxi") | barrier(lambda r: r.kind == "day")


def test_drawn_order():
    assert drawn(DAYS, RIDES).splitlines() == [
        "step  record                           after",
        "1     0 Record(taxi=1, kind='ride')",
        "1     1 Record(taxi=2, kind='ride')",
        "2     2 Record(taxi=1, kind='ride')    0",
        "3     3 Record(taxi=0, kind='day')     1, 2",
        "4     4 Record(taxi=2, kind='ride')    3",
    ]


def test_drawn_relation():
    assert drawn(DAYS, RIDES, order=False).splitlines() == [
        "record                           depends on",
        "0 Record(taxi=1, kind='ride')    2, itself",
        "1 Record(taxi=2, kind='ride')    2, itself",
        "2 Record(taxi=0, kind='day')     0, 1, itself",
    ]


def test_dot():
    assert dot(DAYS, RIDES[1:4]).splitlines() == [
        "digraph {",
        "  rankdir=LR",
        "  0 [label=\"Record(taxi=2, kind='ride')\"]",
        "  1 [label=\"Record(taxi=1, kind='ride')\"]",
        "  2 [label=\"Record(taxi=0, kind='day')\"]",
        "  0 -> 2",
        "  1 -> 2",
        "}",
    ]
    assert dot(unordered(), ['"'], order=False).splitlines() == ["graph {", '  0 [label="\'\\"\'"]', "}"]
    assert "  0 -- 0" in dot(ordered(), ["a"], order=False)


def test_nothing_to_draw():
    assert drawn(ordered(), []) == "step  record    after" and dot(ordered(), []) == "digraph {\n  rankdir=LR\n}"


@pytest.mark.parametrize("kind", list(dependences(Random(0))))
def test_the_drawn_order_is_the_smallest_with_the_same_closure(kind):
    random = Random(f"drawing {kind}")
    for _ in range(30):
        dependence = dependences(random)[kind]
        records = [record(random) for _ in range(7)]
        order = brute_force.precedes(records, dependence.depends_on)
        size = range(len(records))
        direct = [[i for i in size if order[i][j] and not any(order[i][k] and order[k][j] for k in size)] for j in size]
        assert right_after(dependence, records) == direct
