"""The cases that the zoo is run with: streams that are chosen to differ in what could mix them up."""

from datetime import UTC, datetime, timedelta

import firesteel as fs
from firesteel.values.cases import Case


def one(schema, *streams):
    """Cases with one input."""
    return [Case({"input": fs.Stream(schema, batches)}) for batches in streams]


def two(left, right, *streams):
    """Cases with two inputs."""
    return [Case({"left": fs.Stream(left, a), "right": fs.Stream(right, b)}) for a, b in streams]


def at(minutes):
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)


# Different lengths, empty batches, an empty first one, a case of nothing, null keys, duplicates in and over batches.
KEYED = one(
    "k INT, n INT, s STRING, xs ARRAY<INT>",
    [[(0, 1, "a", [1, 2]), (None, 2, "b", []), (0, 1, "a", [1, 2])], [], [(0, 5, "b", None), (None, 3, "a", [3])]],
    [[], [(0, 4, "a", [1]), (1, None, None, [2, None]), (0, 4, "a", [1])]],
    [[]],
)

# Records of several cases in every batch: what looks at whole columns must not see them together.
MIXED = one(
    "k INT, n INT, s STRING, xs ARRAY<INT>",
    [[(0, 1, "a", [1]), (1, 9, "b", None)], [(0, 5, "b", None), (2, None, "a", [3]), (0, 7, None, [])]],
    [[(0, 40, "a", [1]), (1, 2, None, [2, None]), (3, 4, "a", [1])], [(1, 100, "c", [])]],
    [[(5, 3, "d", [])], [(6, 8, "e", None)]],
)

NESTED = one(
    "id INT, p STRUCT<a: INT, b: STRING>, m MAP<STRING, INT>, ps ARRAY<STRUCT<x: INT, y: STRING>>",
    [[(1, (1, "x"), {"u": 1, "v": 2}, [(1, "p"), (2, None)])], [], [(2, None, None, None), (3, (None, "x"), {}, [])]],
    [[], [(1, (1, "x"), {"u": 3}, [(1, "p")]), (1, (2, None), {"w": None}, [(None, "q")])]],
    [[]],
)

TAKEN = one(
    "__case0 INT, __case STRING",
    [[(1, "a"), (None, "b")], [], [(1, "c")]],
    [[], [(1, "a"), (1, "a"), (2, None)]],
    [[]],
)

# Without a watermark any times will do.
TIMES = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(1), 0, 1), (at(31), None, 2), (at(2), 0, 3)], [], [(at(-200), 0, 4), (None, 0, 5)]],
    [[], [(at(1), 0, 6), (at(900), 1, 7), (at(10), 0, 8)]],
    [[]],
)

# The latest event time of every batch is the same in all cases: 9, 19, 29. Watermarks of 5 minutes drop none.
ALIGNED = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(9), 0, 1), (at(2), 0, 1), (at(5), None, 2)], [(at(19), 0, 1), (at(6), 0, 3)], [(at(29), None, 2)]],
    [[(at(9), 1, 7)], [(at(19), 0, 1), (at(18), 0, 1)], [(at(29), 0, 1), (at(16), 0, 1), (at(28), None, 9)]],
    [[(at(9), None, 0)], [(at(19), None, 0)], [(at(29), None, 0)]],
)

# As before, with a batch that is empty everywhere.
GAPS = one(
    "ts TIMESTAMP, k INT, n INT",
    [[], [(at(9), 0, 1), (at(2), 0, 1), (at(5), None, 2)], [(at(29), 0, 1), (at(20), 0, 2)]],
    [[], [(at(9), 1, 1), (at(1), 0, 5)], [(at(29), None, 1)]],
    [[], [(at(9), None, 1)], [(at(29), 1, 1), (at(28), 1, 1), (at(12), 1, 1)]],
)

# The latest event times differ, but never by an hour's end: 0:30 to 0:55, 2:05 to 2:50, 3:10 to 3:40.
HOURS = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(30), 0, 1), (at(1), 0, 2), (at(29), None, 3)], [(at(170), 0, 1), (at(61), 1, 1)], [(at(200), 0, 1)]],
    [[(at(55), 1, 1)], [(at(125), 1, 4), (at(124), None, 2)], [(at(220), 0, 1), (at(190), 1, 1), (at(127), 1, 1)]],
    [[(at(42), 0, 9), (at(42), 0, 9)], [(at(150), None, 9)], [(at(190), None, 9)]],
)

# One case has nothing at all, and so no watermark; another one has a record that comes late.
LATE = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(9), 0, 1)], [(at(19), 0, 1), (at(6), 0, 3)], [(at(29), None, 2)]],
    [[(at(9), 1, 7)], [(at(19), 0, 1), (at(18), 0, 1)], [(at(29), 0, 1), (at(16), 0, 1)]],
    [[(at(9), 0, 1)], [(at(19), 0, 1), (at(1), 0, 3)], [(at(29), 0, 2)]],
    [[], [], []],
)

# Watermarks differ from case to case.
APART = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(9), 0, 1)], [(at(19), 0, 1)]],
    [[(at(8), 0, 1)], [(at(20), 0, 1)]],
    [[(at(7), 0, 1)], [(at(21), 0, 1)]],
)

PAIRED = two(
    "k INT, a INT",
    "k INT, b INT",
    ([[(0, 1), (1, 2), (None, 3)], [], [(0, 4)]], [[(0, 10), (None, 30)], [(1, 20), (0, 11)], []]),
    ([[], [(0, 5), (0, 5)]], [[(0, 12)], [(0, 13), (2, 14)]]),
    ([[]], [[(0, 15)]]),
)

# Both sides have the same latest event time in each batch, in all cases.
PAIRED_IN_TIME = two(
    "k INT, ts TIMESTAMP, a INT",
    "k INT, us TIMESTAMP, b INT",
    (
        [[(0, at(9), 1), (1, at(5), 2)], [(0, at(19), 3)], [(5, at(59), 4)]],
        [[(0, at(9), 10), (2, at(8), 20)], [(0, at(19), 11), (1, at(10), 12)], [(6, at(59), 13)]],
    ),
    (
        [[(0, at(9), 1), (None, at(2), 2)], [(1, at(19), 3), (1, at(19), 3)], [(5, at(59), 4), (0, at(40), 6)]],
        [[(1, at(9), 10), (None, at(2), 9)], [(1, at(19), 11), (7, at(16), 15)], [(5, at(59), 13), (0, at(58), 13)]],
    ),
)

SWAPPED = two(
    "k INT, ts TIMESTAMP, a INT",
    "k INT, us TIMESTAMP, b INT",
    ([[(0, at(100), 1), (0, at(20), 7)], [(0, at(200), 2)]], [[(0, at(10), 8)], [(0, at(200), 9)]]),
    ([[(0, at(10), 1)], [(0, at(200), 2)]], [[(0, at(100), 8)], [(0, at(200), 9)]]),
)

NULLS_LAST = two(
    "k INT, ts TIMESTAMP, a INT",
    "k INT, us TIMESTAMP, b INT",
    ([[(0, at(5), 1), (None, at(55), 1)], [(0, at(56), 2)]], [[(None, at(55), 8), (0, at(5), 3)], [(0, at(56), 9)]]),
    ([[(0, at(5), 1), (3, at(55), 1)], [(0, at(56), 2)]], [[(3, at(55), 8), (0, at(5), 3)], [(0, at(56), 9)]]),
)

# The latest record of the first case is one that a filter, or a join, leaves out.
LEFT_OUT = one(
    "ts TIMESTAMP, k INT, n INT",
    [[(at(5), 0, 1), (at(55), None, -1)], [(at(56), 0, 1)]],
    [[(at(5), 0, 1), (at(55), 0, 1)], [(at(56), 0, 1)]],
)
