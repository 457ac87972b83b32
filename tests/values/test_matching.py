"""Pairs of close records, held against brute force."""

import random
from collections import Counter

import pytest

from firesteel import Record
from firesteel.values import matching
from firesteel.values.equality import equality
from firesteel.values.pairing import left_over
from firesteel.values.records import canonical


def most_pairs(left, right, equal):
    """The number of pairs in a maximum matching, from all pairs of records."""
    close = [[at for at, other in enumerate(right) if equal.equal(record, other)] for record in left]
    partner = {}

    def found(index, seen):
        for other in close[index]:
            if other not in seen:
                seen.add(other)
                if other not in partner or found(partner[other], seen):
                    partner[other] = index
                    return True
        return False

    return sum(found(index, set()) for index in range(len(left)))


def drawn(random_, size, shape):
    """Records whose numbers are nearly constant, in chains, in clusters, or of any size and sign."""
    numbers = {
        "constant": lambda: 5.0 + random_.randint(0, 2) * 1e-3,
        "chain": lambda: random_.randint(0, 3 * size) / 20,
        "cluster": lambda: random_.randint(0, 4) * 3 + random_.random() / 5,
        "any": lambda: random_.choice([-1, 1]) * 10 ** random_.randint(-3, 3) * (1 + random_.randint(0, 8) / 50),
        "zero": lambda: random_.choice([0.0, -0.0, 0.05, -0.05, 0.1, float("nan"), float("inf")]),
    }
    return [Record({f"x{at}": numbers[kind]() for at, kind in enumerate(shape)}) for _ in range(size)]


@pytest.mark.parametrize("seed", range(60))
def test_as_many_pairs_as_there_can_be_and_equals_first(seed):
    random_ = random.Random(seed)
    kinds = ["constant", "chain", "cluster", "any", "zero"]
    shape = random_.choices(kinds, k=random_.randint(1, 5))
    left, right = (drawn(random_, random_.randint(0, 40), shape) for _ in range(2))
    right += random_.sample(left, len(left) // 3)
    equal = equality(
        **random_.choice([{"abs_tol": 0.1}, {"rel_tol": 0.03}, {"rel_tol": 0.7}, {"rel_tol": 0.01, "abs_tol": 0.06}])
    )
    over = left_over(left, right, equal, typed=True)
    pairs = most_pairs(left, right, equal)
    assert [len(side) for side in over] == [len(left) - pairs, len(right) - pairs]
    mine, theirs, *alone = (Counter(map(canonical, side)) for side in (left, right, *over))
    assert not alone[0] - (mine - theirs) and not alone[1] - (theirs - mine)


def test_whole_numbers_too_large_for_a_float_and_keys_of_maps():
    equal = equality(abs_tol=0.1)
    huge = [[10**400, 1.0], [10**400 + 1, 1.0]]
    assert left_over(huge, [[10**400, 1.05]], equal) == ([huge[1]], [])
    maps = [{1: 1.0, 2: 5.0}, {1: 2.0, 2: 6.0}]
    assert left_over(maps, [{2: 6.05, 1: 2.05}, {2: 5.0, 1: 1.2}], equal) == ([maps[0]], [{2: 5.0, 1: 1.2}])


@pytest.mark.parametrize("shape", [("chain",), ("any", "any"), ("constant", "constant", "chain")])
def test_few_records_are_compared(shape, monkeypatch):
    """Not all with all: what is compared grows with the records, also where the first column is nearly constant."""
    asked = 0

    class Counting(type(equality())):
        def equal(self, left, right):
            nonlocal asked
            asked += 1
            return super().equal(left, right)

    size = 600
    left = drawn(random.Random(1), size, ("constant", *shape))
    right = drawn(random.Random(2), size, ("constant", *shape))
    left_over(left, right, Counting(abs_tol=0.01), typed=True)
    assert 0 < asked < 30 * size


def test_records_that_are_all_close_are_not_compared_with_one_another():
    """More on one side than on the other, and all alike: nobody walks past those who are taken."""
    asked = 0

    class Counting(type(equality())):
        def equal(self, left, right):
            nonlocal asked
            asked += 1
            return super().equal(left, right)

    left = [Record(x=1 + n * 1e-9, y=2.0) for n in range(700)]
    right = [Record(x=1.5 + n * 1e-9, y=2.0) for n in range(500)]
    over = left_over(left, right, Counting(abs_tol=1.0), typed=True)
    assert (len(over[0]), len(over[1])) == (200, 0) and asked < 10 * 700


def test_axes_are_the_numbers_that_tell_most():
    reach = matching._Reach(0.0, 0.1)
    placed = [matching.Placed((5.0, n % 7, n, 5.0), n, None) for n in map(float, range(100))]
    assert matching._telling(placed, placed, reach)[0] == 2
