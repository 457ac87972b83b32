"""`score=`, and the score that firesteel makes by itself: the search goes to where trouble is, in bulk."""

import math

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel import strategies as ss
from tests.properties.test_aiming import too_much
from tests.properties.test_bulk import runs  # noqa: F401

numbers = ss.always(ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 999)), max_size=6), during=1)
nothing_comes_out = fs.always(lambda now: now.output == [])
UNSHRUNK = settings(database=None, phases=[Phase.generate, Phase.target])


def total(trace):
    return sum(trace[0].input.values("n"))


@pytest.mark.slow
def test_a_score_is_followed_in_bulk(spark, runs):  # noqa: F811
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, too_much, nothing_comes_out, cases=600, score=total, settings=UNSHRUNK)
    report = failure.value.report
    assert sum(report.counterexample.inputs["input"][0].values("n")) > 4000
    assert 600 <= runs["together"][0] <= 606 and len(runs["together"]) > 1, "generations after the first"
    assert sum(runs["alone"]) <= 10


event = ss.records("kind STRING NOT NULL", kind=st.sampled_from("abcdefghijkl"))


def has(kind):
    return fs.now(lambda now: kind in now.input.values("kind"), name=f"has_{kind}")


@pytest.mark.slow
def test_premises_lead_to_trouble_by_themselves(spark, runs):  # noqa: F811
    """At random one case in some ten thousand has all of them."""
    streams = ss.always(ss.batches(event, max_size=6), during=1)
    premise = has("a") & has("b") & has("c") & has("d") & has("e")
    lost = fs.implies(premise, lambda now: now.output.same_as(now.input))
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(streams, lambda frame: frame.where("kind <> 'c'"), lost, cases=1_000, settings=UNSHRUNK)
    assert set("abcde") <= set(failure.value.report.counterexample.inputs["input"][0].values("kind"))
    assert len(runs["together"]) > 1 and sum(runs["alone"]) <= 10


@pytest.mark.parametrize(
    "score, message",
    [
        (lambda trace: "high", "returned answer='high' \\(str\\): it has to return a number"),
        (lambda trace: math.nan, "it has to return a number"),
        (lambda trace: True, "it has to return a number"),
        (lambda trace: 1 / 0, "raised ZeroDivisionError"),
    ],
    ids=["text", "nan", "bool", "raises"],
)
def test_scores_that_are_none(spark, score, message):
    with pytest.raises(fs.PredicateError, match=f"score=.*{message}"):
        fs.for_all(numbers, lambda frame: frame, fs.always(lambda now: True), cases=2, score=score, settings=UNSHRUNK)
