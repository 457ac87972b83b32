"""What a matcher answers, and what it says about bad input."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from firesteel.equivalence.matcher import Counts, Matcher, general_matcher
from firesteel.errors import InvalidArgument, PredicateError
from firesteel.logic.verdicts import Verdict
from firesteel.values.dependence import barrier, depends, ordered, same_key, unordered
from firesteel.values.equality import equality
from firesteel.values.records import Record

NAN = float("nan")
STRUCTURED = [ordered(), unordered(), same_key("k"), barrier(lambda r: r["k"] == 1)]


def both_ways(dependence, equal=None):
    return [Matcher(dependence, equal=equal), general_matcher(dependence, equal=equal)]


def test_the_sketch():
    matcher = Matcher(same_key("taxi"))
    matcher.left({"taxi": 1, "pos": 0.0})
    matcher.right({"taxi": 1, "pos": 0.0})
    assert matcher.finish()


def test_nothing_on_either_side_is_equivalent():
    assert Matcher(ordered()).finish() is Verdict.TRUE


@pytest.mark.parametrize(
    "dependence", [ordered(), unordered(), same_key("k"), barrier(lambda r: r["k"] == 1)], ids=repr
)
@pytest.mark.parametrize(
    "left, right",
    [
        (Record(k=1, x=NAN), Record(k=1, x=float("nan"))),
        (Record(k=NAN, x=None), Record(k=float("nan"), x=None)),
        (Record(k=[1, NAN], x={"a": [NAN]}), Record(k=[1, float("nan")], x={"a": [float("nan")]})),
        (Record(k=None, x=float("inf")), {"x": float("inf"), "k": None}),
        (Record(k=1, x=2), Record(x=2, k=1)),
        (Record(k=True, x=2.0), Record(k=1, x=2)),
    ],
)
def test_equal_records_of_every_shape(dependence, left, right):
    for matcher in both_ways(dependence):
        for _ in range(2):
            matcher.left(left)
            assert matcher.right(right) is Verdict.INCONCLUSIVE
        assert matcher.finish() is Verdict.TRUE and matcher.reason == "" and matcher.mismatch is None


@pytest.mark.parametrize(
    "dependence", [ordered(), unordered(), same_key("k"), barrier(lambda r: r["k"] == 1)], ids=repr
)
@pytest.mark.parametrize(
    "left, right",
    [
        (Record(k=1, x=NAN), Record(k=1, x=None)),
        (Record(k=1, x=float("inf")), Record(k=1, x=float("-inf"))),
        (Record(k=1, x=[1, 2]), Record(k=1, x=[2, 1])),
        (Record(k=1, x=1), Record(k=1, y=1)),
    ],
)
def test_different_records_of_every_shape(dependence, left, right):
    for matcher in both_ways(dependence):
        matcher.left(left)
        matcher.right(right)
        assert matcher.finish() is Verdict.FALSE


def test_records_of_other_classes():
    for matcher in both_ways(same_key("k")):
        matcher.left(SimpleNamespace(k=1, x=[1]))
        assert matcher.right(SimpleNamespace(k=1, x=[1])) is Verdict.INCONCLUSIVE
        assert matcher.finish() is Verdict.TRUE
    spark_row = type("Row", (tuple,), {"__fields__": ["k", "x"]})
    for matcher in both_ways(same_key("k")):
        matcher.left(spark_row((1, 2)))
        matcher.right(Record(k=1, x=2))
        assert matcher.finish() is Verdict.TRUE


def test_rows_among_records():
    """All that Python knows of a Row's own attributes is its names: they say nothing of its values."""
    for matcher in both_ways(same_key("k")):
        matcher.left(Record(k=1, x=1))
        matcher.right(Record(k=1, x=1))
        row = type("Row", (tuple,), {})
        for side, values in ((matcher.left, (1, 2)), (matcher.right, (1, 3))):
            record = row(values)
            record.__fields__ = ["k", "x"]
            verdict = side(record)
        assert verdict is Verdict.FALSE


@pytest.mark.parametrize("dependence", STRUCTURED, ids=repr)
def test_a_struct_is_not_a_list(dependence):
    """`Record(a=1) == (1,)`, but a struct with a name and a list without one are not the same output."""
    for matcher in both_ways(dependence):
        matcher.left(Record(k=1, x=[Record(a=1)]))
        matcher.right(Record(k=1, x=[(1,)]))
        assert matcher.finish() is Verdict.FALSE


def test_duplicates_count():
    for matcher in both_ways(unordered()):
        for record in ("a", "a", "b"):
            matcher.left(record)
        for record in ("b", "a"):
            matcher.right(record)
        assert matcher.waiting == ([(1, "a")], [])
        matcher.finish()
        assert matcher.reason.splitlines() == [
            "left record 1, 'a', is left over: 'right' has no match for it.",
            "left: 3 records, 1 left over; right: 2 records, 0 left over; 2 matched.",
        ]


def test_counts():
    matcher = Matcher(unordered())
    for record in "abc":
        matcher.left(record)
    for record in "cb":
        matcher.right(record)
    assert matcher.counts == Counts(left=3, right=2, matched=2, unmatched=1, most_unmatched=3)


def test_counts_after_the_verdict_do_not_move():
    for matcher in both_ways(same_key("k")):
        matcher.left(Record(k=1, n=1))
        matcher.right(Record(k=1, n=2))
        counts, unmatched = matcher.counts, matcher.unmatched
        assert counts == Counts(left=1, right=1, matched=0, unmatched=2, most_unmatched=2)
        assert matcher.left(Record(k=2, n=2)) is Verdict.FALSE is matcher.right(Record(k=1, n=1))
        assert matcher.counts == counts and matcher.unmatched == unmatched == ((Record(k=1, n=1),), (Record(k=1, n=2),))
        assert matcher.finish() is Verdict.FALSE


def test_the_methods_may_be_kept():
    """The class's methods and the instance's are one."""
    matcher = Matcher(ordered())
    left, right = matcher.left, matcher.right
    left(1)
    Matcher.left(matcher, 2)
    assert Matcher.right(matcher, 1) is Verdict.INCONCLUSIVE
    assert right(3) is Verdict.FALSE is left(2)


def test_a_reason_names_both_records_and_their_places():
    matcher = Matcher(same_key("taxi"))
    for pos in (0.0, 1.0):
        matcher.left(Record(taxi=7, pos=pos))
    matcher.right(Record(taxi=8, pos=0.0))
    matcher.right(Record(taxi=7, pos=9.0))
    assert matcher.reason.splitlines() == [
        "right record 1, Record(taxi=7, pos=9.0), came before an equal of left record 0, Record(taxi=7, pos=0.0), on "
        "which it depends: same_key('taxi').",
        "No equal of it waits in 'left', and the next record there comes after record 0.",
    ]
    mismatch = matcher.mismatch
    assert (mismatch.side, mismatch.position, mismatch.blocked_by) == ("right", 1, (0, Record(taxi=7, pos=0.0)))
    assert mismatch.said("reference", "candidate").startswith(
        "candidate record 1, Record(taxi=7, pos=9.0), came before"
    )


def test_barriers_of_two_epochs_ahead():
    for matcher in both_ways(barrier(lambda x: x == "|")):
        for letter in "ab|cd|e":
            assert matcher.left(letter) is Verdict.INCONCLUSIVE
        for letter in "ba|dc":
            assert matcher.right(letter) is Verdict.INCONCLUSIVE
        assert matcher.unmatched == (("|", "e"), ())
        assert matcher.right("e") is Verdict.FALSE
        assert matcher.mismatch.blocked_by == (5, "|") and matcher.mismatch.equal_at == 6


def test_tolerances():
    for matcher in both_ways(unordered(), equality(rel_tol=0.01)):
        matcher.left(Record(k="a", x=100.0))
        matcher.left(Record(k="b", x=[NAN, 100.0]))
        matcher.right(Record(k="b", x=[NAN, 100.5]))
        matcher.right(Record(k="a", x=99.5))
        assert matcher.finish() is Verdict.TRUE


def test_tolerances_are_mentioned_in_the_reason():
    matcher = Matcher(unordered(), equal=equality(abs_tol=0.1))
    matcher.left(1.0)
    matcher.finish()
    assert matcher.reason.splitlines()[2].startswith(
        "equality(abs_tol=0.1): each record was matched with the first one"
    )


# --- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Matcher, general_matcher])
@pytest.mark.parametrize(
    "record, expected",
    [
        (Record(user=1, n=2), "asks for the column 'taxi': Record(user=1, n=2) does not have it; it has 'user', 'n'"),
        ({"user": 1}, "does not have it; it has 'user'"),
        ((1, 2), "record=(1, 2) (tuple) has no columns: give records with names, as Record(taxi=...)"),
        (5, "record=5 (int) has no columns"),
    ],
)
def test_a_key_column_that_is_not_there(make, record, expected):
    for dependence in (same_key("taxi"), same_key("taxi", "n"), same_key("taxi") | same_key("n")):
        matcher = make(dependence)
        with pytest.raises(InvalidArgument) as caught:
            matcher.left(record)
        assert expected in str(caught.value) and matcher.counts.left == 0


def test_a_function_that_raises_leaves_the_matcher_as_it_was():
    def brittle(a, b):
        return a["n"] < b["m"]

    matcher = Matcher(depends(brittle))
    matcher.left({"n": 1})
    with pytest.raises(PredicateError, match=r"depends\(brittle\) raised KeyError\('m'\) at {'n': 1} and {'n': 2}"):
        matcher.right({"n": 2})
    assert matcher.counts == Counts(1, 0, 0, 1, 1) and matcher.verdict is Verdict.INCONCLUSIVE
    assert matcher.right({"n": 1}) is Verdict.INCONCLUSIVE and matcher.finish() is Verdict.TRUE


def test_a_predicate_that_raises_or_gives_no_answer():
    with pytest.raises(PredicateError, match=r"barrier\(r.day\) raised .* at Record\(n=1\)"):
        Matcher(barrier(lambda r: r.day)).left(Record(n=1))
    with pytest.raises(PredicateError, match=r"barrier\(print\), at 1, returned None: is a `return` missing"):
        Matcher(barrier(print)).left(1)
    with pytest.raises(PredicateError, match=r"equality\(by=x.lower\(\)\) raised .* at 5"):
        Matcher(unordered(), equal=equality(by=lambda x: x.lower())).left(5)


@pytest.mark.parametrize(
    "dependence, expected",
    [
        (lambda a, b: True, r"dependence=<function .* \(function\) is not a dependence: write fs.depends\(function\)"),
        ("taxi", r"dependence='taxi' \(str\) is not a dependence: write fs.same_key"),
        (None, r"dependence=None \(NoneType\) is not a dependence"),
    ],
)
def test_what_is_not_a_dependence(dependence, expected):
    with pytest.raises(InvalidArgument, match=expected):
        Matcher(dependence)


@pytest.mark.parametrize("equal, expected", [(lambda r: r, r"fs.equality\(by=function\)"), (0.1, "fs.equality")])
def test_what_is_not_an_equality(equal, expected):
    with pytest.raises(InvalidArgument, match=expected):
        Matcher(ordered(), equal=equal)


def test_keys_that_the_equality_does_not_respect():
    for dependence in (same_key("a", "at"), same_key("at") | barrier(len), same_key("at") & depends(max)):
        with pytest.raises(InvalidArgument, match=r"does not go with equality\(ignore=\['at'\]\): .*'at' alone"):
            Matcher(dependence, equal=equality(ignore=["at"]))
    for dependence in (same_key("x"), same_key("x") | same_key("k"), same_key("x") & barrier(lambda r: False)):
        with pytest.raises(InvalidArgument, match=r"'x' is a float in Record\(k=1, x=1.5\)"):
            Matcher(dependence, equal=equality(abs_tol=0.1)).left(Record(k=1, x=1.5))


def test_a_finished_matcher():
    matcher = Matcher(ordered())
    matcher.left(1)
    assert matcher.finish() is Verdict.FALSE is matcher.finish()
    with pytest.raises(RuntimeError, match="this matcher is finished"):
        matcher.right(1)


def test_repr():
    assert (
        repr(Matcher(same_key("a"), equal=equality(ignore=["b"])))
        == "Matcher(same_key('a'), equal=equality(ignore=['b']))"
    )
    assert repr(Matcher(ordered())) == "Matcher(ordered())"
