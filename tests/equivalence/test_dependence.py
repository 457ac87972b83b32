"""Dependences as values: what they say, how they read and are drawn, and what is found wrong with them."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import strategies as st

from firesteel.equivalence.dependence import (
    Barrier,
    Both,
    Either,
    Ordered,
    SameKey,
    Unordered,
    barrier,
    depends,
    ordered,
    same_key,
    unordered,
)
from firesteel.equivalence.lawful import check_dependence
from firesteel.equivalence.pictures import dot, drawn, right_after
from firesteel.errors import InvalidArgument, PredicateError
from firesteel.values.equality import equality
from firesteel.values.records import Record
from tests.equivalence import brute_force
from tests.equivalence.random_streams import dependences, is_mark, record


def near(a, b):
    return abs(a - b) < 2


def test_repr():
    assert repr(same_key("taxi") | barrier(is_mark)) == "same_key('taxi') | barrier(is_mark)"
    assert repr((same_key("a", "b") | depends(near)) & barrier(is_mark)) == (
        "(same_key('a', 'b') | depends(near)) & barrier(is_mark)"
    )
    assert repr(same_key("a") & depends(near) | barrier(is_mark)) == "same_key('a') & depends(near) | barrier(is_mark)"
    assert repr([ordered(), unordered()]) == "[ordered(), unordered()]"


def test_repr_evaluates_to_an_equal_value():
    names = {"same_key": same_key, "barrier": barrier, "depends": depends, "ordered": ordered, "unordered": unordered}
    for dependence in (
        same_key("a") & depends(near) | barrier(is_mark),
        same_key("a") & (depends(near) | barrier(is_mark)),
        ordered(),
    ):
        assert eval(repr(dependence), {**names, "near": near, "is_mark": is_mark}) == dependence


def test_what_is_joined_is_simplified():
    key, mark = same_key("a"), barrier(is_mark)
    assert ordered() | key == key | ordered() == Ordered() and ordered() & key == key & ordered() == key
    assert unordered() | key == key | unordered() == key and unordered() & key == key & unordered() == Unordered()
    assert key & same_key("b", "a") == SameKey(("a", "b"))
    assert key | same_key("b", "a") == same_key("b", "a") | key == key
    assert key | key == key & key == key
    assert key | mark == Either(key, mark) and key & mark == Both(key, mark)
    assert key | same_key("b") == Either(key, same_key("b"))
    assert same_key("a", "a") == key


def test_joined_dependences_say_what_their_parts_say():
    random = Random(5)
    parts = list(dependences(random).values())
    records = [record(random) for _ in range(6)]
    for a in parts:
        for b in parts:
            for x in records:
                for y in records:
                    forth, back = a.depends_on(x, y), b.depends_on(x, y)
                    assert (a | b).depends_on(x, y) == (forth or back)
                    assert (a & b).depends_on(x, y) == (forth and back)


def test_keys_compare_as_records_do():
    nan = float("nan")
    key = same_key("k")
    assert key.depends_on(Record(k=nan), {"k": float("nan")}) and key.depends_on(Record(k=None), Record(k=None))
    assert key.depends_on(Record(k=[1, nan]), Record(k=[1, nan])) and not key.depends_on(Record(k=1), Record(k="1"))


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda: same_key(3), r"column=3 \(int\) is not a column: write a name, as same_key\('user'\)"),
        (lambda: same_key("a", None), r"column=None \(NoneType\)"),
        (lambda: barrier("day"), r"predicate='day' \(str\) is not a function: write barrier\(lambda record"),
        (lambda: depends(True), r"function=True \(bool\) is not a function: write depends\(lambda a, b"),
        (lambda: drawn("taxi", [1]), r"dependence='taxi' \(str\) is not a dependence"),
        (lambda: drawn(ordered(), "abc"), r"records='abc' \(str\) is not a list of records"),
        (lambda: dot(ordered(), Record(a=1)), r"is not a list of records: write \[record, record\]"),
        (lambda: check_dependence(ordered(), max, []), r"equal=<built-in function max> .* is not an equality"),
    ],
)
def test_bad_arguments(make, expected):
    with pytest.raises(InvalidArgument, match=expected):
        make()


def test_or_and_and_are_refused():
    with pytest.raises(TypeError, match=r"join dependences with \| and &"):
        same_key("a") or barrier(is_mark)
    with pytest.raises(TypeError, match="unsupported operand"):
        same_key("a") | is_mark


def test_a_function_that_raises_is_named_with_the_records():
    with pytest.raises(PredicateError, match=r"depends\(near\) raised TypeError.* at 'a' and 1") as caught:
        depends(near).depends_on("a", 1)
    assert isinstance(caught.value.__cause__, TypeError)
    with pytest.raises(PredicateError, match=r"depends\(a - b\) returned answer=1 \(int\) at 3 and 2: .*True or False"):
        depends(lambda a, b: a - b).depends_on(3, 2)


# --- drawings --------------------------------------------------------------------------------------


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


# --- laws ------------------------------------------------------------------------------------------

RECORDS = st.builds(lambda k, x, tag: Record(k=k, x=x, tag=tag), st.integers(0, 9), st.floats(0, 9), st.integers(0, 9))


@pytest.mark.parametrize("kind", list(dependences(Random(0))))
def test_lawful_dependences_pass(kind):
    random = Random(f"laws {kind}")
    dependence = dependences(random)[kind]
    assert check_dependence(dependence, equality(ignore=["tag"]), [record(random) for _ in range(20)])


def test_lawful_dependences_pass_a_search():
    assert check_dependence(same_key("k"), None, RECORDS)
    assert check_dependence(same_key("k") | barrier(lambda r: r.x > 5), equality(ignore=["tag"]), RECORDS)


def test_what_is_not_symmetric_is_shown_small():
    check = check_dependence(depends(lambda a, b: a.k < b.k), None, RECORDS)
    assert not check and "is not symmetric" in check.reason
    first, second = check.records
    assert (first.k, second.k) == (0, 1), "shrunk"


@pytest.mark.parametrize(
    "dependence, equal",
    [
        (depends(lambda a, b: a.tag == b.tag), equality(ignore=["tag"])),
        (barrier(lambda r: r.tag == 3), equality(by=lambda r: (r.k, r.x))),
        (barrier(lambda r: r.x > 4.5), equality(abs_tol=0.25)),
        (barrier(lambda r: r.x > 4.5), equality(rel_tol=0.1, ignore=["tag"])),
        (same_key("k") | depends(lambda a, b: a.tag + b.tag > 11), equality(ignore=["tag"])),
    ],
    ids=lambda value: repr(value),
)
def test_what_does_not_respect_the_equality(dependence, equal):
    # Few values, so that what has to meet does meet, whatever else Hypothesis is told by the modules it finds.
    few = st.builds(
        lambda k, x, tag: Record(k=k, x=x / 10, tag=tag), st.integers(0, 1), st.integers(42, 48), st.integers(2, 9)
    )
    check = check_dependence(dependence, equal, few)
    assert not check and "does not respect" in check.reason
    one, twin, other = check.records
    assert equal.equal(one, twin)
    assert dependence.depends_on(one, other) and not dependence.depends_on(twin, other)


def test_a_search_is_the_same_every_time():
    dependence = depends(lambda a, b: a.k + 2 * b.k > 7)
    assert check_dependence(dependence, None, RECORDS) == check_dependence(dependence, None, RECORDS)


def test_given_records_that_break_a_law():
    check = check_dependence(depends(lambda a, b: a > b), None, [3, 3, 4])
    assert not check and check.records == (4, 3)
    assert check_dependence(depends(lambda a, b: a > b), None, [3, 3])
    assert check_dependence(depends(lambda a, b: a > b), None, [])


def test_a_function_that_raises_in_a_search():
    with pytest.raises(PredicateError, match=r"barrier\(r.day\) raised"):
        check_dependence(Barrier(lambda r: r.day), None, RECORDS)
