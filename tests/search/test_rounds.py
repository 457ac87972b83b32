"""Shrinking in rounds, without Spark: the draw is Hypothesis's or a stand-in, the failure a plain function."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.search.rounds import (
    ROUND,
    Candidate,
    Rounds,
    _apart,
    _changed,
    _edits,
    _few_kept,
    _isolated,
    _kept,
    _tails,
    _weight,
)


def numbers(choices):
    """What choices draw: a boolean says whether a number follows, as Hypothesis draws lists."""
    made, place = [], 0
    while place < len(choices) and choices[place] is True:
        place += 1
        if place < len(choices) and type(choices[place]) is int:
            made.append(choices[place])
            place += 1
        else:
            made.append(0)
    return made


def searched(choices, fails):
    """The search, and how many rounds it took; every candidate is counted."""
    sizes = []

    def draw(wanted):
        sizes.append(len(wanted))
        return [candidate(choices) for choices in wanted]

    def candidate(asked):
        drawn = numbers(asked)
        exact = (*tuple(part for number in drawn for part in (True, number)), False)
        return Candidate(exact, drawn, (len(drawn),), tuple(asked))

    search = Rounds(candidate(choices), draw, lambda found: [each for each in found if fails(each.value)])
    rounds = 0
    while search.round():
        rounds += 1
        assert rounds < 100
    return search.found.value, rounds, sizes


def as_choices(values):
    return (*tuple(part for value in values for part in (True, value)), False)


def test_one_number_among_many_is_found_in_few_rounds():
    found, rounds, sizes = searched(as_choices(range(100, 400)), lambda values: any(v >= 317 for v in values))
    assert found == [317]
    assert rounds <= 12 and max(sizes) <= ROUND, (rounds, sizes)


def test_two_numbers_that_belong_together():
    fails = lambda values: any(v > 150 for v in values) and any(v == 123 for v in values)  # noqa: E731
    found, rounds, _ = searched(as_choices(range(100, 200)), fails)
    assert sorted(found) == [123, 151] and rounds <= 15


@given(st.lists(st.integers(0, 300), min_size=1, max_size=40), st.integers(1, 300))
def test_what_is_found_fails_and_is_never_larger(values, least):
    fails = lambda found: sum(found) >= least  # noqa: E731
    if not fails(values):
        return
    found, _, _ = searched(as_choices(values), fails)
    assert fails(found) and len(found) <= len(values) and sum(found) <= sum(values)
    assert sum(found) == least or len(found) == 1, "no single number can be made smaller by one"


def test_nothing_smaller_fails():
    assert searched(as_choices([7]), lambda values: list(values) == [7])[0] == [7]


@given(st.lists(st.one_of(st.booleans(), st.integers(-50, 50), st.floats(-50, 50), st.binary(max_size=2)), max_size=30))
def test_every_edit_changes_something_inside(choices):
    floor = tuple(choice if isinstance(choice, bool) else type(choice)() for choice in choices)
    for start, stop, instead in _edits(tuple(choices), floor):
        assert 0 <= start < stop <= len(choices)
        assert tuple(choices[start:stop]) != instead or any(c != c for c in choices)


def test_what_is_at_its_simplest_is_left_alone():
    choices = (True, 4.0, True, 7.5, False)
    values = [edit for edit in _edits(choices, (True, 4.0, True, 4.0, False)) if edit[2] and edit[1] - edit[0] == 1]
    assert values and {place for place, _, _ in values} == {3}


def test_lists_are_cut_at_their_end():
    choices = (True, 1, True, 2, False, True, 3, True, 4, False)
    assert list(_tails(choices)) == [(0, 4), (2, 4), (5, 9), (7, 9)]


def test_a_stretch_is_kept_and_the_rest_is_simple():
    choices = tuple(part for number in range(1, 41) for part in (True, number, True, number, False))
    floor = tuple(choice if isinstance(choice, bool) else 0 for choice in choices)
    kept, isolated = list(_kept(choices, floor)), list(_isolated(choices, floor))
    assert len(kept) == len(isolated) > 24
    seen = set()
    for made in kept:
        places = [place for place, choice in enumerate(made) if choice and choice is not True]
        seen |= set(places)
        assert made == floor[: places[0]] + choices[places[0] : places[-1] + 1] + floor[places[-1] + 1 :]
    assert seen == {place for place, choice in enumerate(choices) if not isinstance(choice, bool)}, "no gaps"
    assert min(sum(type(choice) is int and choice > 0 for choice in made) for made in kept) <= 8
    assert not list(_kept(floor, floor)) and not list(_isolated(floor, floor)), "nothing to keep"


def test_lists_outside_of_the_stretch_are_as_short_as_the_shortest():
    short, long = (True, 5, False), (True, 5, True, 6, True, 7, False)
    choices = (short + long) * 10
    floor = tuple(choice if isinstance(choice, bool) else 0 for choice in choices)
    shortest = min(_isolated(choices, floor), key=len)
    assert len(shortest) <= 18 * 3 + len(short + long + long)
    assert any(type(choice) is int and choice > 0 for choice in shortest)
    for made in _isolated(choices, floor):
        assert sum(choice is False for choice in made) == 20, "every list is there"
        assert sum(choice is True for choice in made) >= 20, "and none is shorter than the shortest"


@pytest.mark.parametrize("mended", [False, True])
def test_only_what_was_drawn_as_asked_is_put_together(mended):
    """What Hypothesis had to mend may have moved everything behind it."""

    def draw(wanted):
        # A mended one has one choice more than was asked for.
        drawn = [(*asked, *([0] if mended else [])) for asked in wanted]
        return [Candidate(c, numbers(c), (len(numbers(c)),), a) for c, a in zip(drawn, wanted, strict=True)]

    first = as_choices([9, 8, 7])
    search = Rounds(Candidate(first, [9, 8, 7], (3,), first), draw, list)
    search._first = []  # what comes before the edits
    assert search.round() and len(search.found.choices) < len(first)
    assert bool(search._together) is not mended


def test_the_same_among_simple_ones():
    found, rounds, _ = searched(as_choices([5] * 30 + [77] + [6] * 40), lambda values: 77 in values)
    assert found == [77] and rounds <= 8


def test_edits_put_together_do_not_overlap():
    edits = [(0, 4, ()), (2, 6, (0,)), (6, 8, (1, 1)), (7, 9, ())]
    assert _apart(edits) == [(0, 4, ()), (6, 8, (1, 1))]
    assert _changed(tuple(range(10)), _apart(edits)) == (4, 5, 1, 1, 8, 9)


def test_weights():
    assert _weight(3) < _weight(-7) and _weight(False) < _weight(True)
    assert _weight(2.0) < _weight(2.25) and _weight(b"") < _weight(b"\x00") < _weight(b"\x01")
    assert _weight("") < _weight("a") < _weight("b")


def test_numbers_far_apart_go_together():
    """Of two that have to agree, neither can be made simpler alone; one between them matters."""
    found, rounds, _ = searched(as_choices([1, 9, 1]), lambda ns: len(ns) == 3 and ns[0] == ns[2] and ns[1] > 8)
    assert found == [0, 9, 0] and rounds <= 4


def test_of_few_choices_three_that_matter_are_found_in_one_round():
    floor = (0,) * 10
    choices = tuple(range(1, 11))
    made = set(_few_kept(choices, floor))
    assert len(made) == 10 + 45 + 120 and (0, 2, 0, 0, 5, 0, 0, 8, 0, 0) in made
    assert not list(_few_kept((*choices, 1), (*floor, 0))), "more than a round would take"
