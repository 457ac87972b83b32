"""Dependences as values: what they say, how they read, and what is refused."""

from __future__ import annotations

from random import Random

import pytest

from firesteel.equivalence.lawful import check_dependence
from firesteel.equivalence.pictures import dot, drawn
from firesteel.errors import InvalidArgument, PredicateError
from firesteel.values.dependence import (
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
from firesteel.values.records import Record
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
    with pytest.raises(
        PredicateError, match=r"depends\(a - b\), at 3 and 2, returned answer=1 \(int\): .*True or False"
    ):
        depends(lambda a, b: a - b).depends_on(3, 2)
