"""The paper's examples 4.1 to 4.4, and the tests of its implementation that need no engine."""

from __future__ import annotations

from itertools import accumulate, permutations
from random import Random

import pytest

from firesteel.equivalence.matcher import Matcher, general_matcher
from firesteel.equivalence.pictures import dot, drawn, right_after
from firesteel.logic.verdicts import Verdict
from firesteel.values.dependence import barrier, depends, ordered, same_key, unordered
from firesteel.values.equality import equality
from firesteel.values.records import Record


def between(*pairs):
    """A dependence of letters."""
    return depends(lambda a, b: (a, b) in pairs or (b, a) in pairs)


def verdict(dependence, left, right, *, equal=None):
    """All of the left, then all of the right; then the other way round, and one by one: the end is the same."""
    ends = set()
    for order in ("left first", "right first", "in turn"):
        matcher = Matcher(dependence, equal=equal)
        match order:
            case "left first":
                steps = [("left", x) for x in left] + [("right", x) for x in right]
            case "right first":
                steps = [("right", x) for x in right] + [("left", x) for x in left]
            case _:
                pairs = zip(left, right, strict=False)
                steps = [step for a, b in pairs for step in (("left", a), ("right", b))]
                shorter = min(len(left), len(right))
                steps += [("left", x) for x in left[shorter:]] + [("right", x) for x in right[shorter:]]
        for side, record in steps:
            getattr(matcher, side)(record)
        ends.add(matcher.finish())
    (end,) = ends
    return end is Verdict.TRUE


def test_example_4_1_logical_order():
    after = right_after(between(("a", "b")), "aabaaabb")
    assert after == [[], [], [0, 1], [2], [2], [2], [3, 4, 5], [3, 4, 5]]


def test_example_4_2_equivalent():
    assert verdict(between(("a", "b"), ("c", "b")), "acb", "cab")
    assert not verdict(between(("a", "b"), ("c", "b"), ("a", "c")), "acb", "cab")


def test_example_4_2_all_orders():
    """b depends on a and c: what counts is that it stays last."""
    dependence = between(("a", "b"), ("c", "b"))
    assert [p for p in permutations("acb") if verdict(dependence, "acb", p)] == [("a", "c", "b"), ("c", "a", "b")]


@pytest.mark.parametrize("make", [Matcher, general_matcher])
def test_example_4_3_refuted_before_the_end(make):
    matcher = make(between(("a", "b")))
    for letter in "aab":
        assert matcher.left(letter) is Verdict.INCONCLUSIVE
    assert matcher.right("a") is Verdict.INCONCLUSIVE
    assert matcher.right("b") is Verdict.FALSE
    said = repr(matcher.dependence)
    assert matcher.reason.splitlines() == [
        f"right record 1, 'b', came before an equal of left record 1, 'a', on which it depends: {said}.",
        "In 'left' the order is: record 1, then record 2, which equals it.",
    ]


def test_unbounded_streams_that_nothing_decides():
    """a on the one side, b on the other, independent: no prefix is enough."""
    matcher = Matcher(unordered())
    for _ in range(100):
        assert matcher.left("a") is Verdict.INCONCLUSIVE and matcher.right("b") is Verdict.INCONCLUSIVE
    assert matcher.counts.most_unmatched == 200 and matcher.finish() is Verdict.FALSE


def test_example_4_4_step_by_step():
    matcher = Matcher(between(("a", "b"), ("c", "b")))
    matcher.left("a")
    matcher.right("c")
    assert matcher.unmatched == (("a",), ("c",))
    matcher.left("c")
    assert matcher.unmatched == (("a",), ())
    matcher.left("b")
    assert matcher.unmatched == (("a", "b"), ())
    matcher.right("a")
    assert matcher.unmatched == (("b",), ())
    assert matcher.right("b") is Verdict.INCONCLUSIVE and matcher.unmatched == ((), ())
    assert matcher.finish() is Verdict.TRUE


def test_example_4_4_with_one_more_dependence_ends_at_the_second_record():
    matcher = Matcher(between(("a", "b"), ("c", "b"), ("a", "c")))
    assert matcher.left("a") is Verdict.INCONCLUSIVE
    assert matcher.right("c") is Verdict.FALSE


# --- section 3: the figures -------------------------------------------------------------------------


def event(kind, taxi=None, n=0):
    return Record(kind=kind, taxi=taxi, n=n)


BY_TAXI = same_key("taxi")  # figure 4
DAYS_AND_MONTHS = barrier(lambda e: e.kind == "day") | depends(  # figure 5
    lambda a, b: (a.kind == b.kind == "month") or (a.kind == b.kind == "ride" and a.taxi == b.taxi)
)
NEAR = depends(lambda a, b: abs(a - b) < 1)  # figure 6
PUNCTUATED = depends(  # figure 7
    lambda a, b: (a.kind == "until") != (b.kind == "until") and (a.n < b.n if b.kind == "until" else b.n < a.n)
)


def test_figure_4_one_taxi_after_the_other():
    one, two, other = (Record(taxi=taxi, pos=pos) for taxi, pos in ((1, 0), (1, 5), (2, 0)))
    assert verdict(BY_TAXI, [one, other, two], [other, one, two])
    assert not verdict(BY_TAXI, [one, other, two], [two, other, one])


def lines(text):
    """The lines between nodes of a graph in DOT."""
    return [line.strip() for line in text.splitlines() if "--" in line or "->" in line]


@pytest.mark.parametrize(
    "dependence, records, related, arrows",
    [
        (
            BY_TAXI,
            [Record(taxi=taxi, pos=pos) for taxi, pos in ((1, 0), (1, 5), (2, 0), (2, 5))],
            ["0 -- 0", "0 -- 1", "1 -- 1", "2 -- 2", "2 -- 3", "3 -- 3"],
            ["0 -> 1", "2 -> 3"],
        ),
        (
            DAYS_AND_MONTHS,
            [event("ride", 1), event("ride", 2), event("day"), event("month"), event("ride", 1, 1)],
            ["0 -- 0", "0 -- 2", "0 -- 4", "1 -- 1", "1 -- 2", "2 -- 2", "2 -- 3", "2 -- 4", "3 -- 3", "4 -- 4"],
            ["0 -> 2", "1 -> 2", "2 -> 3", "2 -> 4"],
        ),
        (
            NEAR,
            [0.0, 0.7, 1.4, 9.0],
            ["0 -- 0", "0 -- 1", "1 -- 1", "1 -- 2", "2 -- 2", "3 -- 3"],
            ["0 -> 1", "1 -> 2"],
        ),
        (
            PUNCTUATED,
            [event("ride", 1, 1), event("ride", 2, 9), event("until", n=5), event("until", n=10)],
            ["0 -- 2", "0 -- 3", "1 -- 3"],
            ["0 -> 2", "0 -> 3", "1 -> 3"],
        ),
    ],
    ids=["figure 4", "figure 5", "figure 6", "figure 7"],
)
def test_the_figures_are_drawn(dependence, records, related, arrows):
    """As graphs of the relation, as the paper does, and of the order that it gives to these records; both ways."""
    assert lines(dot(dependence, records, order=False)) == related
    assert lines(dot(dependence, records)) == arrows
    _, *rows = drawn(dependence, records, order=False).splitlines()
    pairs = {tuple(map(int, line.split(" -- "))) for line in related}
    for number, row in enumerate(rows):
        told = [name for n, m in sorted(pairs) if number in (n, m) for name in {n, m} - {number}]
        mine = [str(other) for other in sorted(told)] + ["itself"] * ((number, number) in pairs)
        assert row.startswith(f"{number} ") and (not mine or row.endswith(", ".join(mine))), row


def test_figure_5_days_and_months():
    """An end of month may move between two ends of day; a ride may not cross an end of day."""
    dependence, day, month = DAYS_AND_MONTHS, event("day"), event("month")
    one, two, other = event("ride", 1, 0), event("ride", 1, 1), event("ride", 2)
    assert verdict(dependence, [one, two, other, day, month, one, day], [other, one, two, day, one, month, day])
    assert not verdict(dependence, [one, two, day], [two, one, day])
    assert not verdict(dependence, [one, day, month], [one, month, day])
    assert not verdict(dependence, [one, other, day], [one, day, other])


def test_figure_6_near_each_other():
    assert verdict(NEAR, [0.0, 5.0, 0.5], [5.0, 0.0, 0.5])
    assert not verdict(NEAR, [0.0, 5.0, 0.5], [0.5, 5.0, 0.0])


def test_figure_7_punctuation():
    """A punctuation depends on events that are earlier than its time, not on later ones."""
    dependence = PUNCTUATED
    early, late, until = event("ride", 1, 1), event("ride", 1, 9), event("until", n=5)
    assert verdict(dependence, [early, until, late], [late, early, until])
    assert not verdict(dependence, [early, until, late], [until, early, late])


# --- the tests of the paper's implementation ---------------------------------------------------------


def test_increments():
    numbers = list(range(50))
    assert verdict(ordered(), [n + 1 for n in numbers], [n + 1 for n in numbers])
    assert not verdict(ordered(), [n + 1 for n in numbers], [n + 2 for n in numbers])
    assert not verdict(unordered(), [n + 1 for n in numbers], [n + 2 for n in numbers])


def test_sums():
    """Running sums of one input in another order end alike, and differ on the way."""
    numbers = [3, 1, 4, 1, 5, 9, 2, 6]
    shuffled = Random(7).sample(numbers, len(numbers))
    assert verdict(ordered(), [sum(numbers)], [sum(shuffled)])
    assert not verdict(ordered(), list(accumulate(numbers)), list(accumulate(shuffled)))


def rides(random):
    return [Record(taxi=random.randrange(4), pos=float(n)) for n in range(60)]


def merged_from_partitions(random, streams):
    """What arrives where each partition keeps its order and they are merged somehow."""
    waiting = [list(stream) for stream in streams]
    found = []
    while any(waiting):
        stream = random.choice([stream for stream in waiting if stream])
        found.append(stream.pop(0))
    return found


def test_taxi_key_then_project_keeps_what_matters():
    random = Random(3)
    source = rides(random)
    by_key = merged_from_partitions(random, [[r for r in source if r.taxi == taxi] for taxi in range(4)])
    assert verdict(same_key("taxi"), source, by_key) and not verdict(ordered(), source, by_key)


def test_taxi_project_then_key_loses_it():
    random = Random(3)
    source = rides(random)
    dealt = merged_from_partitions(random, [source[n::4] for n in range(4)])
    assert not verdict(same_key("taxi"), source, dealt) and verdict(unordered(), source, dealt)


def test_hourly_tips_of_all_against_tips_by_key():
    """The maximum of a window over all keys is one record; by key it is several."""
    tips = [Record(hour=0, driver=1, tip=5.0), Record(hour=0, driver=2, tip=9.0), Record(hour=1, driver=1, tip=2.0)]
    overall = [tips[1], tips[2]]
    assert not verdict(same_key("hour"), overall, tips) and verdict(same_key("hour"), overall, overall)


def test_str_concat():
    """As one text the order shows; as a set of words, or as a stream without order, it does not."""
    words = ["fire", "steel", "flint"]
    shuffled = ["flint", "fire", "steel"]
    joined, joined_too = [" ".join(words)], [" ".join(shuffled)]
    assert not verdict(ordered(), joined, joined_too)
    assert verdict(ordered(), joined, joined_too, equal=equality(by=lambda text: frozenset(text.split())))
    assert not verdict(ordered(), words, shuffled)
    assert verdict(unordered(), words, shuffled)


def test_single_item_index_value_pair_max_row_first_n():
    """The reducers of figure 12, on input where order shows and on input where it does not."""
    good, bad = [(1, "a"), (2, "b"), (1, "a")], [(1, "a"), (2, "b"), (1, "c")]
    reducers = {
        "SingleItem": lambda rows: [next(row for row in rows if row[0] == 1)],
        "IndexValuePair": lambda rows: sorted(dict(rows).items()),
        "MaxRow": lambda rows: [max([r for r in rows if r[0] == 1], key=lambda row: row[0])],
        "FirstN": lambda rows: [row for row in rows if row[0] == 1][:1],
    }
    for name, reduce in reducers.items():
        assert verdict(unordered(), reduce(good), reduce(good[::-1])), name
        assert not verdict(unordered(), reduce(bad), reduce(bad[::-1])), name
