"""Which dependences are lawful, and the records that show which are not."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import strategies as st

from firesteel.equivalence.lawful import check_dependence
from firesteel.errors import PredicateError
from firesteel.values.dependence import Barrier, barrier, depends, same_key
from firesteel.values.equality import equality
from firesteel.values.records import Record
from tests.equivalence.random_streams import dependences, record

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
