"""Programs that do the same thing however Spark runs them, and the wrong thing: `property=` is what says so."""

import pytest
from hypothesis import strategies as st

import firesteel as fs
from firesteel import perturb

STREAM = fs.Stream("k INT NOT NULL, n INT NOT NULL", [[(0, 4), (1, 7), (0, 3)], [(1, 3)]])
ROWS = [perturb.row_order()]


def from_three(frame):
    return frame.where("n >= 3")


def after_three(frame):
    """Wrong: 3 counts too."""
    return frame.where("n > 3")


def all_from_three(now):
    return now.output.same_as(fs.Batch([r for r in now.input if r.n >= 3], schema=now.input.schema))


@pytest.fixture(scope="module")
def streams():
    return st.just(STREAM)


@pytest.mark.slow
def test_an_answer_that_is_always_wrong(spark, streams):
    nothing_goes = lambda now, left, right: False  # noqa: E731
    assert fs.stable(streams, after_three, under=ROWS, accept=nothing_goes, cases=1).verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified) as failure:
        fs.stable(streams, after_three, under=ROWS, property=all_from_three, cases=1)
    message, report = str(failure.value), failure.value.report
    assert message.startswith("the property is false in batch 0 of the run 'as it is'")
    assert "property  always(all_from_three)" in message and "<- false here" in message
    assert "seen again when run alone" in message and report.found.seen_again
    assert report.counterexample.run == "as it is" and report.counterexample.trace[0].input == STREAM[0]
    assert fs.stable(streams, from_three, under=ROWS, property=all_from_three, cases=1).verdict is fs.Verdict.TRUE


@pytest.mark.slow
def test_an_answer_that_is_wrong_in_one_run_and_accepted(spark, streams):
    """What `accept` lets pass, the property still has to hold for: here only the rows of a batch that is reversed."""
    first = lambda frame: frame.limit(1)  # noqa: E731
    whatever = lambda now, left, right: True  # noqa: E731
    named = fs.always(lambda now: now.output.every(lambda r: r.k == 0), during=1)
    case = st.just(fs.Stream("k INT NOT NULL", [[(0,), (1,)]]))
    options = {"accept": whatever, "engine": "batch", "cases": 1}
    assert fs.stable(case, first, under=ROWS, **options).verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified, match="false in batch 0 of the run 'rows reversed'") as failure:
        fs.stable(case, first, under=ROWS, property=named, **options)
    assert failure.value.report.counterexample.trace[0].input.values("k") == [1, 0], "as it was fed"
    kept = [perturb.row_order(keeping=fs.ordered())]
    assert fs.stable(case, first, under=kept, property=named, **options).verdict is fs.Verdict.TRUE


def test_two_programs_that_are_wrong_alike(spark, streams):
    also = lambda frame: frame.where("NOT n <= 3")  # noqa: E731
    assert fs.equivalent(streams, after_three, also, cases=1).verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified, match="false in batch 0 of the run 'reference'"):
        fs.equivalent(streams, after_three, also, property=all_from_three, cases=1)
    with pytest.raises(fs.Falsified, match="false in batch 0 of the run 'candidate'"):
        fs.equivalent(streams, from_three, also, property=all_from_three, cases=1)


def test_a_property_that_says_nothing_or_needs_more(spark, streams):
    never = fs.always(fs.implies(lambda now: now.input.some(lambda r: r.n == 99), lambda now: False))
    with pytest.raises(fs.Vacuous, match=r"the premise now.input.some\(.*\) never held"):
        fs.stable(streams, from_three, under=ROWS, property=never, cases=1)
    longer = fs.always(all_from_three, during=3)
    with pytest.raises(fs.Inconclusive, match="a stream of 2 batches is too short to decide the property"):
        fs.stable(streams, from_three, under=ROWS, property=longer, cases=1)
