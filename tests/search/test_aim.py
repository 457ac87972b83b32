"""Aiming: later cases come closer to what the user's predicates aim for, in generations that can be run in bulk."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from firesteel.search.aim import Aim
from firesteel.search.drawing import Drawing
from firesteel.search.wanted import Wanted

numbers = st.lists(st.lists(st.integers(0, 999), max_size=6), min_size=3, max_size=3)


def total(batches):
    return sum(map(sum, batches))


def drawing_of(seed, cases):
    return Drawing(Wanted(numbers, f"climb {seed}", cases, settings(database=None)))


def climbed(seed, generations=4, size=25):
    """The best total of 50 drawn cases, and after some generations; cases that no generator makes are not drawn."""
    drawing = drawing_of(seed, 50)
    aim = Aim(drawing.seed)
    best = 0
    for candidate in drawing.to_come():
        aim.see(candidate.choices, {"total": float(total(candidate.value))})
        best = max(best, total(candidate.value))
    later = best
    for _ in range(generations):
        for candidate in drawing.of_choices(aim.generation(size)):
            assert len(candidate.value) == 3 and all(len(batch) <= 6 for batch in candidate.value)
            assert all(0 <= number <= 999 for batch in candidate.value for number in batch)
            aim.see(candidate.choices, {"total": float(total(candidate.value))})
            later = max(later, total(candidate.value))
    return best, later


@pytest.mark.slow
def test_generations_come_closer():
    results = [climbed(seed, generations=12) for seed in range(6)]
    first, later = sum(best for best, _ in results), sum(best for _, best in results)
    # As many cases drawn at random come closer as well, but not so far.
    random = sum(
        max(total(candidate.value) for candidate in drawing_of(seed, 50 + 12 * 25).to_come()) for seed in range(6)
    )
    assert later > 1.3 * first and later > random, (first, later, random)


def test_the_same_seed_gives_the_same_generations():
    assert climbed(1) == climbed(1)


def test_each_label_has_its_own_best():
    aim = Aim(0)
    aim.see((1,), {"a": 1.0, "b": 9.0})
    aim.see((2,), {"a": 2.0})
    assert aim and not Aim(0)
    children = aim.generation(20)
    assert len(children) == len(set(children)) > 1
    assert aim.generation(0) == []


def test_a_list_may_get_longer():
    aim = Aim(0)
    aim.see((False,), {"a": 1.0})
    aim.see((False,), {"a": 2.0})
    assert (True,) in aim.generation(20)


def test_nothing_to_change_ends():
    aim = Aim(0)
    aim.see((), {"a": 1.0})
    aim.see((), {"a": 2.0})
    assert aim.generation(5) == [()]


def test_what_all_score_alike_is_not_aimed_for():
    aim = Aim(0)
    aim.see((1,), {"a": 1.0})
    aim.see((2,), {"a": 1.0})
    assert not aim and aim.generation(5) == []
    aim.see((3,), {"a": 0.5})
    assert aim and len(aim.generation(5)) == 5
