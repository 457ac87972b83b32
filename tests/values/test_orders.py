"""The orders that a dependence allows, compared with brute force over all permutations."""

from collections import Counter
from itertools import permutations
from random import Random

import pytest

from firesteel import InvalidArgument
from firesteel.values.dependence import barrier, depends, ordered, same_key, unordered
from firesteel.values.orders import Orders
from tests.equivalence.random_streams import dependences, record


def allowed(records, dependence):
    """All orders in which no two records that depend on each other have changed places, by definition."""
    kept = [(i, j) for j in range(len(records)) for i in range(j) if dependence.depends_on(records[i], records[j])]
    return {
        order for order in permutations(range(len(records))) if all(order.index(i) < order.index(j) for i, j in kept)
    }


def all_walks(orders):
    """All orders that can be chosen step by step."""

    def extend(chosen):
        walk = orders.walk()
        for place in chosen:
            walk.take(place)
        if not walk.ready:
            yield tuple(chosen)
        for place in sorted(walk.ready):
            yield from extend([*chosen, place])

    return list(extend([]))


@pytest.mark.parametrize("seed", range(6))
def test_every_order_that_is_allowed_and_no_other(seed):
    random = Random(seed)
    for name, dependence in dependences(random).items():
        records = [record(random) for _ in range(random.randint(0, 5))]
        right = allowed(records, dependence)
        orders = Orders(records, dependence)
        walks = all_walks(orders)
        assert len(walks) == len(set(walks)) and set(walks) == right, (name, records)
        assert tuple(orders.latest_first()) in right
        assert {tuple(orders.shuffled(number)) for number in range(20)} <= right
        groups = orders.groups()
        assert sorted(place for group in groups for place in group) == list(range(len(records)))
        group_of = {place: number for number, group in enumerate(groups) for place in group}
        for j in range(len(records)):
            for i in range(j):
                assert not dependence.depends_on(records[i], records[j]) or group_of[i] == group_of[j]


def test_a_group_holds_nothing_that_does_not_belong_to_it():
    near = depends(lambda a, b: abs(a - b) == 1)
    assert Orders([1, 5, 3, 2, 9, 6], near).groups() == [[0, 2, 3], [1, 5], [4]], "2 joins 1 and 3"


def test_the_most_different_order():
    assert Orders("abcd", unordered()).latest_first() == [3, 2, 1, 0]
    assert Orders("abcd", ordered()).latest_first() == [0, 1, 2, 3]
    assert Orders("abEcd", barrier(lambda x: x == "E")).latest_first() == [1, 0, 2, 4, 3]


def test_all_orders_are_equally_likely_where_keys_are_kept():
    """5! / (3! 2!) = 10 orders of two keys; and with a barrier, those on both sides of it."""
    rides = [{"taxi": taxi} for taxi in (1, 1, 2, 1, 2)]
    counts = Counter(tuple(Orders(rides, same_key("taxi")).shuffled(seed)) for seed in range(3_000))
    assert len(counts) == 10 and 220 < min(counts.values()) <= max(counts.values()) < 380, "300 each, sd 16"
    split = Counter(tuple(Orders("abEcd", barrier(lambda x: x == "E")).shuffled(seed)) for seed in range(400))
    assert len(split) == 4 and min(split.values()) > 60, "100 each, sd 9"


def test_many_records_with_a_key_are_not_compared_in_pairs():
    asked = 0

    def counted(a, b):
        nonlocal asked
        asked += 1
        return a["n"] == b["n"]

    rows = [{"k": n % 1_000, "n": n % 3} for n in range(4_000)]
    order = Orders(rows, same_key("k") & depends(counted)).latest_first()
    assert sorted(order) == list(range(4_000)) and asked == 2 * 1_000 * 6, "four rows of a key are six pairs"


def test_a_relation_that_is_not_symmetric_is_refused():
    with pytest.raises(InvalidArgument, match=r"depends\(a < b\) is not a dependence: it says of 1 and 2"):
        Orders([1, 2], depends(lambda a, b: a < b))
