"""Indexed matchers against the general one, and the general one against all bijections: verdict and position."""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from random import Random

import pytest

from firesteel.equivalence.index import Count, Epochs, Keyed, Partition, Queue, Scan, plan
from firesteel.equivalence.matcher import Matcher, general_matcher
from firesteel.logic.verdicts import Verdict
from firesteel.values.dependence import barrier, depends, ordered, same_key, unordered
from firesteel.values.equality import equality
from firesteel.values.records import Record
from tests.equivalence import brute_force
from tests.equivalence.random_streams import JOINED, LEAVES, Case, case, dependences, is_mark, is_other_mark

KINDS = list(dependences(Random(0)))
AGAINST_BIJECTIONS = 600  # interleavings of each of 18 kinds
AGAINST_GENERAL = 580


def refuted_at(matcher: Matcher, judged: Case) -> int | None:
    """Feeds all records; the number of the first at which the verdict is false, if there is one."""
    at = None
    for number, (side, record) in enumerate(judged.steps):
        verdict = (matcher.left if side == "left" else matcher.right)(record)
        assert verdict is matcher.verdict
        if verdict is Verdict.FALSE and at is None:
            at = number
        assert (verdict is Verdict.FALSE) == (at is not None), "a verdict is given once, and true only at the end"
    return at


def by_definition(judged: Case) -> tuple[int | None, bool]:
    """The same by brute force, and whether the whole streams are equivalent."""
    left: tuple[tuple[int, int], ...] = ()
    right: tuple[tuple[int, int], ...] = ()
    at = None
    for number, (side, record) in enumerate(judged.steps):
        if side == "left":
            left = (*left, (record.k, record.v))
        else:
            right = (*right, (record.k, record.v))
        if _refuted(judged.dependence, left, right):
            at = number
            break
    values = [tuple((r.k, r.v) for r in records) for records in (judged.left, judged.right)]
    return at, _equivalent(judged.dependence, *values)


# Brute force over records as pairs of key and value, remembered: short streams of few values come again.


@cache
def _depends(dependence, a, b):
    return dependence.depends_on(Record(k=a[0], v=a[1]), Record(k=b[0], v=b[1]))


@lru_cache(maxsize=200_000)
def _refuted(dependence, left, right):
    return brute_force.refuted(left, right, lambda a, b: a == b, lambda a, b: _depends(dependence, a, b))


@lru_cache(maxsize=200_000)
def _equivalent(dependence, left, right):
    return brute_force.equivalent(left, right, lambda a, b: a == b, lambda a, b: _depends(dependence, a, b))


@pytest.mark.parametrize("kind", KINDS)
def test_general_against_all_bijections(kind):
    random = Random(f"bijections {kind}")
    equivalents = 0
    for number in range(AGAINST_BIJECTIONS):
        if number % 20 == 0:
            dependence = dependences(random)[kind]
        judged = case(random, dependence, 4)
        at, equivalent = by_definition(judged)
        for matcher in (general_matcher(dependence, equal=judged.equal), Matcher(dependence, equal=judged.equal)):
            assert refuted_at(matcher, judged) == at, judged
            assert matcher.finish() is (Verdict.TRUE if equivalent else Verdict.FALSE), judged
            assert bool(matcher.reason) != equivalent
        equivalents += equivalent
    assert equivalents >= 0.3 * AGAINST_BIJECTIONS


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_indexed_against_general(kind):
    random = Random(f"general {kind}")
    equivalents = 0
    for number in range(AGAINST_GENERAL):
        if number % 20 == 0:
            dependence = dependences(random)[kind]
        judged = case(random, dependence, 20)
        indexed = Matcher(dependence, equal=judged.equal)
        general = general_matcher(dependence, equal=judged.equal)
        for side, record in judged.steps:
            for matcher in (indexed, general):
                (matcher.left if side == "left" else matcher.right)(record)
            assert indexed.verdict is general.verdict, judged
            assert indexed.unmatched == general.unmatched
            assert indexed.waiting == general.waiting
            assert indexed.counts == general.counts
            assert indexed.mismatch == general.mismatch
        equivalents += indexed.finish() is Verdict.TRUE
        assert indexed.finish() is general.finish()
        assert indexed.mismatch == general.mismatch and indexed.reason == general.reason
    assert equivalents >= 0.3 * AGAINST_GENERAL


def test_the_promised_number_of_interleavings():
    assert AGAINST_BIJECTIONS * len(KINDS) >= 10_000 and AGAINST_GENERAL * len(KINDS) >= 10_000


@pytest.mark.parametrize(
    "dependence, expected",
    [
        (unordered(), Count),
        (ordered(), Queue),
        (same_key("k"), Keyed),
        (same_key("k") & same_key("v"), Keyed),
        (barrier(is_mark), Epochs),
        (JOINED["key | barrier"], Epochs),
        (JOINED["key & barrier"], Partition),
        (JOINED["two barriers"], Epochs),
        (JOINED["barriers & key"], Partition),
        (JOINED["key | inner key & barrier"], Partition),
        (JOINED["barrier in both"], Epochs),
        (JOINED["key or key"], Scan),
        (depends(lambda a, b: True), Scan),
        (depends(lambda a, b: True) & same_key("k"), Partition),
    ],
)
def test_the_plan_keeps_an_index_where_it_can(dependence, expected):
    assert type(plan(dependence)) is expected


def test_plans_of_plans():
    exact = equality()
    assert plan(same_key("k") | barrier(is_mark)) == Epochs((barrier(is_mark),), exact, Keyed(("k",), exact))
    assert plan(JOINED["key | inner key & barrier"]) == Partition(
        ("k",), exact, Epochs((barrier(is_mark),), exact, Keyed(("v",), exact))
    )
    assert plan(JOINED["barrier in both"]) == Epochs((barrier(is_mark),), exact, Keyed(("k", "v"), exact))
    assert plan(JOINED["barrier | key & barrier"]) == Epochs(
        (barrier(is_mark),), exact, Partition(("k",), exact, Epochs((barrier(is_other_mark),), exact, Count(exact)))
    )


def test_tolerances_are_never_counted():
    close = equality(abs_tol=0.1)
    assert plan(unordered(), close) == Scan(unordered(), close)
    assert plan(barrier(is_mark), close) == Epochs((barrier(is_mark),), close, Scan(unordered(), close))
    assert plan(ordered(), close) == Queue(close) and plan(same_key("k"), close) == Keyed(("k",), close)


@pytest.mark.parametrize("kind", [*LEAVES, *JOINED])
def test_indexed_against_general_with_tolerances(kind):
    """Values far apart compared with the tolerance, so that it is an equivalence on them."""
    random = Random(f"tolerances {kind}")
    dependence, close = {**LEAVES, **JOINED}[kind], equality(abs_tol=0.1, ignore=["tag"])
    for _ in range(100):
        judged = case(random, dependence, 12)
        exact, indexed = Matcher(dependence, equal=judged.equal), Matcher(dependence, equal=close)
        general = general_matcher(dependence, equal=close)
        for side, record in judged.steps:
            noisy = Record(k=record.k, v=record.v, x=record.v + random.uniform(-0.04, 0.04), tag=0)
            for matcher, shown in ((exact, record), (indexed, noisy), (general, noisy)):
                (matcher.left if side == "left" else matcher.right)(shown)
            assert exact.verdict is indexed.verdict is general.verdict
        assert exact.finish() is indexed.finish() is general.finish()
        assert indexed.mismatch == general.mismatch


def test_state_is_what_is_unmatched_and_little_more():
    """Keys that never come again leave nothing behind."""
    matcher = Matcher(same_key("k"))
    for n in range(20_000):
        matcher.left(Record(k=n))
        matcher.right(Record(k=n))
    assert len(matcher._left.groups.queues) <= 1024
    partitioned = Matcher(same_key("k") & barrier(is_mark))
    for n in range(100):
        partitioned.left(Record(k=n, v=n % 2))
        partitioned.right(Record(k=n, v=n % 2))
    assert not partitioned._left.parts and partitioned.counts.most_unmatched == 1


@pytest.mark.parametrize("answer", [True, False])
def test_the_general_algorithm_is_not_cubic(answer):
    """A backlog asks the function of the user as often as there are records, not more, where they come in order."""
    asked = Counter()

    def function(a, b):
        asked["times"] += 1
        return answer

    matcher = Matcher(depends(function))
    for n in range(2_000):
        matcher.left(n)
    for n in range(2_000):
        matcher.right(n)
    assert matcher.finish() and asked["times"] <= 2_000


def test_the_general_algorithm_is_at_most_quadratic():
    asked = Counter()

    def function(a, b):
        asked["times"] += 1
        return False

    matcher = Matcher(depends(function))
    for n in range(300):
        matcher.left(n)
    for n in reversed(range(300)):
        matcher.right(n)
    assert matcher.finish() and asked["times"] == 300 * 299 // 2
