"""A formula of PPTL as the property of for_all: a wrong subject, the right look-alike, and one that says nothing."""

import pytest
from hypothesis import strategies as st

import firesteel as fs
from firesteel import Verdict
from firesteel import strategies as ss

numbers = ss.always(ss.batches(ss.records("n INT NOT NULL", n=st.integers(0, 9)), min_size=1, max_size=2), during=4)
alarmed = fs.pptl(
    "[] (hot -> alarm)",
    hot=lambda now: now.input.some(lambda record: record.n > 7),
    alarm=lambda now: now.output.some(lambda record: record.n > 7),
)
HOT = fs.Stream("n INT NOT NULL", [[(1,)], [(9,)], [(2,)], [(3,)]])


def alarms(frame):
    return frame.where("n > 5")


def misses_nine(frame):
    return frame.where("n > 5 AND n < 9 OR n < 3")


def test_a_wrong_subject_is_falsified_and_explained(spark):
    with pytest.raises(fs.Falsified) as failure:
        fs.for_all(numbers, misses_nine, alarmed, examples=[HOT], cases=5, spark=spark)
    found = failure.value.report.counterexample
    text = str(failure.value)
    at = len(found.trace) - 1
    assert text.startswith(f"the property is false in batch {at}\n")
    assert "[] (hot -> alarm) had to hold from batch 0 on" in text
    assert f"Batch {at} makes it false: alarm does not hold (none of " in text and "and hot holds" in text
    assert "property  pptl('[] (hot -> alarm)')" in text
    header = next(line for line in text.splitlines() if line.split()[:1] == ["batch"])
    assert header.split()[-2:] == ["alarm", "hot"], "a column for each predicate"
    last = next(line for line in text.splitlines() if "<- false here" in line)
    assert "NO" in last and "YES" in last
    steps = found.explanation.explanation.steps
    assert str(steps[0].open) == "[] (hot -> alarm)" and len(steps) == at + 1


def test_the_right_look_alike_passes(spark):
    report = fs.for_all(numbers, alarms, alarmed, examples=[HOT], cases=5, spark=spark)
    assert report.verdict is Verdict.TRUE


def test_a_premise_that_never_held_is_vacuous(spark):
    never = fs.pptl("[] (hot -> <> alarm)", hot=lambda now: len(now.input) > 99, alarm=lambda now: True)
    with pytest.raises(fs.Vacuous, match="the premise hot never held in any case"):
        fs.for_all(numbers, alarms, never, examples=[HOT], cases=2, spark=spark)
