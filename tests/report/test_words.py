"""What evidence says in words, made from its data alone."""

import pytest

import firesteel as fs
from firesteel import Batch, Instant, Report, Stream, Trace, Verdict, perturb
from firesteel.evidence.nothing import Missing, Nothing
from firesteel.evidence.runs import Broken, NothingChanged, Open, OutsideWindows, Raised, SeenOnce, TooShort
from firesteel.report.text import render
from firesteel.report.words import nothing_checked, reason_of, worded

CASE = fs.Case(Stream("n INT", [[(1,)]]))
TRACE = Trace([Instant(0, {"input": CASE["input"][0]}, {"output": Batch([2])})])
STRAY = Trace(TRACE, outside={"output": Batch([1, 2, 3, 4])})
FIRST = Trace([Instant(0, {}, {"output": Batch([9])})])


@pytest.mark.parametrize(
    "why, text",
    [
        (TooShort(3, 9, 9, False), "a stream of 3 batches is too short to decide the property: 9 are always enough"),
        (TooShort(3, 5, None, True), "a stream of 3 batches is too short to decide the property: it needs 5 at the"),
        (
            TooShort(1, 0, None, False),
            "a stream of 1 batch is too short to decide the property: it looks further",
        ),
        (TooShort(1, 0, None, True), "an operator without a bound is never sure about its last batch: give it one"),
        (NothingChanged(1, (perturb.restart(),)), "none of [restart()] changes anything in a stream of 1 batch"),
        (OutsideWindows(), "4 output records lie in none of the input's windows, so the property never saw them: "),
        (SeenOnce(FIRST), "only the first run broke the property: the subject gives different outputs for it"),
        (SeenOnce(FIRST), "First run: batch 0 output=Batch([9])"),
        (SeenOnce(FIRST, "boom"), "the same input was run twice, and only the first run failed: boom"),
    ],
)
def test_why_it_is_open(why, text):
    assert text in reason_of(Open(inputs=CASE, trace=STRAY, why=why))


def test_a_bound_is_not_asked_for_where_all_have_one():
    assert "give it one" not in reason_of(Open(inputs=CASE, trace=TRACE, why=TooShort(1, 0, None, False)))


def test_windows_are_called_windows():
    found = Open(inputs=CASE, trace=TRACE, unit="window", why=TooShort(2, 5, None, False))
    assert "a stream of 2 windows" in reason_of(found)


def test_one_record_in_no_window():
    trace = Trace(TRACE, outside={"output": Batch([7])})
    assert "1 output record lies in none" in reason_of(Open(inputs=CASE, trace=trace, why=OutsideWindows()))


@pytest.mark.parametrize(
    "found, text",
    [
        (Nothing(Missing.CASES), "every case was refused by an assumption"),
        (Nothing(Missing.INPUT), "the generator made only empty batches"),
        (Nothing(Missing.OUTPUT), "the subject put out nothing at all"),
        (Nothing(Missing.PREMISE, fs.now(len, name="busy")), "the premise busy never held in any case"),
        (Nothing(Missing.PREMISE), "the premise of an implication made by let or consume never held"),
    ],
)
def test_why_nothing_was_checked(found, text):
    assert text in nothing_checked(found)
    assert text in render(Report(Verdict.INCONCLUSIVE, 5, found))


def test_the_reason_is_in_the_report_that_a_test_gets():
    formula = fs.always(fs.now(lambda now: False, name="never"))
    broken = Broken(inputs=CASE, trace=TRACE, explanation=formula.explain(TRACE))
    report = worded(Report(Verdict.FALSE, 1, broken))
    assert report.counterexample.reason == "never had to hold in every batch. It does not in batch 0."
    raised = worded(Report(Verdict.INCONCLUSIVE, 1, Raised(inputs=CASE, trace=TRACE, message="it raised")))
    assert raised.counterexample.reason == "it raised"


def test_output_in_no_window_is_noted_where_the_check_passes():
    report = worded(Report(Verdict.TRUE, 1, outside={"output": Batch([7])}))
    assert len(report.notes) == 1 and "1 output record lies in none" in report.notes[0]
    assert "1 output record lies in none" in render(report)


def test_a_subject_that_failed_is_shown_with_the_batch_that_it_failed_on():
    stream = Stream("n INT", [[(1,)], [(2,)], [(3,)]])
    trace = Trace([Instant(0, {"input": stream[0]}, {"output": stream[0]})])
    text = render(Report(Verdict.INCONCLUSIVE, 1, Raised(inputs=fs.Case(stream), trace=trace, message="it raised")))
    assert text.startswith("the subject failed\n\nit raised\n\n")
    assert "1      n=2    (failed)" in text
