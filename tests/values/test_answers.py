"""What counts as an answer of a user's function: a bool or a Check; a failed `assert` is a no; all else is refused."""

import runpy

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel import Batch, Check, PredicateError, Record
from firesteel.evidence.report import Report
from firesteel.report.reasons import sentence

NUMBERS = Batch([1, -2, 3])
QUESTIONS = {
    "every": lambda predicate: NUMBERS.every(predicate),
    "some": lambda predicate: NUMBERS.some(predicate),
    "none": lambda predicate: NUMBERS.none(predicate),
    "where": lambda predicate: NUMBERS.where(predicate),
}
every_question = pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)


def forgot(n):
    n > 0  # noqa: B015


def positive(n):
    if n <= 0:
        raise AssertionError(f"{n} is not positive")  # as `assert` does where pytest does not rewrite it
    return True


@every_question
@pytest.mark.parametrize(
    "predicate, said",
    [
        (forgot, "the predicate forgot, at 1, returned None: is a `return` missing?"),
        (lambda n: n, "returned answer=1 (int): it has to return a bool or a Check; write bool(...)"),
        (lambda n: "yes", "returned answer='yes' (str)"),
        (lambda n: [], "returned answer=[] (list)"),
        (lambda n: fs.TRUE, "returned answer=TRUE (Constant)"),
    ],
    ids=["None", "int", "str", "list", "formula"],
)
def test_what_is_not_an_answer_is_refused(ask, predicate, said):
    with pytest.raises(PredicateError) as refused:
        ask(predicate)
    assert said in str(refused.value)


def test_bools_numpys_bools_and_checks_are_answers():
    numpy = pytest.importorskip("numpy")
    for positive_ in (lambda n: n > 0, lambda n: numpy.int64(n) > 0, lambda n: Check(n > 0)):
        assert NUMBERS.where(positive_) == [1, 3]
        assert not NUMBERS.every(positive_) and NUMBERS.some(positive_) and not NUMBERS.none(positive_)
    assert Check(numpy.bool_(True)).holds is True


@pytest.mark.parametrize("holds", [None, 1, "yes", [1]])
def test_a_check_holds_or_does_not(holds):
    with pytest.raises(fs.InvalidArgument, match="is not an answer: write True or False"):
        Check(holds)


def test_a_failed_assertion_means_no_and_its_message_is_the_reason():
    check = NUMBERS.every(positive)
    assert check.records == (-2,) and check.reason == "1 of 3 records does not satisfy positive: -2 is not positive"
    assert NUMBERS.where(positive) == [1, 3]
    assert NUMBERS.none(positive).records == (1, 3)
    assert NUMBERS[1:2].some(positive).reason == "none of 1 records satisfies positive: -2 is not positive"
    twice = Batch([-1, -2]).every(positive).reason
    assert twice == "2 of 2 records do not satisfy positive; of the first it says: -1 is not positive"


def test_an_assertion_without_a_message_is_shown_as_pytest_does_or_as_it_stands(tmp_path):
    def rewritten(n):
        assert n > 0
        return True

    assert "assert -2 > 0" in Batch([-2]).every(rewritten).reason
    (tmp_path / "plain.py").write_text("def bare(n):\n    assert n > 0\n    return True\n")
    bare = runpy.run_path(str(tmp_path / "plain.py"))["bare"]
    assert Batch([-2]).every(bare).reason == "1 of 1 records does not satisfy bare: assert n > 0"


def test_a_failed_assertion_in_a_formula():
    def small(x):
        if x >= 5:
            raise AssertionError("too large")
        return True

    assert fs.always(small).evaluate([1, 2]) is fs.Verdict.TRUE
    formula = fs.always(small)
    assert formula.evaluate([1, 9]) is fs.Verdict.FALSE
    assert sentence(formula.explain([1, 9])) == "small had to hold in every batch. It does not in batch 1: too large."
    assert (~fs.now(small)).evaluate([9]) and fs.let(small).evaluate([9]) is fs.Verdict.FALSE
    assert "too large" in sentence(fs.let(small).explain([9]))
    either = fs.now(small) | fs.now(lambda x: False, name="never")
    assert sentence(either.explain([9])).endswith("Neither does; of small in batch 0: too large.")
    some_day = sentence(fs.eventually(small).explain([8, 9]))
    assert some_day.endswith("It does not in any of them; of small in batch 1: too large.")


def test_a_message_of_several_lines_is_a_block():
    def listed(x):
        raise AssertionError("first\n  second")

    assert sentence(fs.now(listed).explain([[2]])).splitlines()[1:3] == ["    first", "      second"]


def test_a_check_of_firesteel_inside_a_predicate_is_false_only_if_it_says_so():
    report = Report(fs.Verdict.FALSE, 1)

    def fails_as(kind):
        def predicate(x):
            raise kind("what it found", report)

        return fs.always(predicate)

    assert fails_as(fs.Falsified).evaluate([1]) is fs.Verdict.FALSE
    assert "what it found" in sentence(fails_as(fs.Falsified).explain([1]))
    for kind in (fs.SubjectError, fs.Inconclusive, fs.Vacuous):
        with pytest.raises(PredicateError, match="what it found") as refused:
            fails_as(kind).evaluate([1])
        assert isinstance(refused.value.__cause__, kind)


def test_a_dependence_that_asserts_is_not_taken_to_say_no():
    """There is no verdict in which the message could be told, and fewer dependences make more streams equal."""
    with pytest.raises(PredicateError, match="raised AssertionError"):
        fs.barrier(positive).depends_on(-1, 2)
    with pytest.raises(PredicateError, match="raised AssertionError"):
        fs.depends(lambda a, b: positive(a)).depends_on(-1, 2)


def test_a_predicate_within_a_predicate_is_named_once_and_keeps_the_users_exception():
    with pytest.raises(PredicateError) as refused:
        fs.always(lambda batch: batch.every(forgot)).evaluate([NUMBERS])
    assert str(refused.value).startswith(
        "the predicate batch.every(forgot), at instant 0: the predicate forgot, at 1, "
    )
    assert refused.value.__cause__ is None
    with pytest.raises(PredicateError) as refused:
        fs.always(lambda batch: batch.every(lambda r: r.m > 0)).evaluate([Batch([Record(n=1)])])
    assert isinstance(refused.value.__cause__, AttributeError)


def noisy(n):
    hypothesis.event("asked")
    hypothesis.note("asked")
    hypothesis.target(float(n), label=f"n={n}")
    return True


def test_hypothesis_may_be_called_where_no_example_runs():
    assert NUMBERS.every(noisy) and NUMBERS.every(noisy)
    assert fs.always(noisy).evaluate([1, 2, 1]) and fs.let(noisy).evaluate([1])
    assert fs.always(lambda batch: batch.every(noisy)).evaluate([NUMBERS, NUMBERS])
    assert not hypothesis.currently_in_test_context()
    with pytest.raises(hypothesis.errors.InvalidArgument):
        hypothesis.event("outside")


def test_in_an_example_they_count():
    seen = []

    @settings(max_examples=3, database=None)
    @given(st.just(NUMBERS))
    def example(batch):
        from hypothesis.control import current_build_context

        assert fs.always(lambda b: b.every(noisy)).evaluate([batch])
        data = current_build_context().data
        seen.append((dict(data.events), len(data.target_observations)))

    example()
    assert seen[0] == ({"asked": ""}, 3)
