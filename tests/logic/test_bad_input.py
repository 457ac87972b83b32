"""Every wrong use of the logic gives one clear error: the argument, its value and type, what to write instead."""

import pytest

import firesteel as fs
from firesteel import InvalidArgument, PredicateError


@pytest.mark.parametrize("bound", [0, -1, 1.5, "3", True, [1]])
@pytest.mark.parametrize(
    "make, argument",
    [
        (lambda n: fs.always(bool, during=n), "during"),
        (lambda n: fs.eventually(bool, within=n), "within"),
        (lambda n: fs.until(bool, bool, within=n), "within"),
        (lambda n: fs.release(bool, bool, during=n), "during"),
        (lambda n: fs.once(bool, within=n), "within"),
        (lambda n: fs.historically(bool, during=n), "during"),
        (lambda n: fs.since(bool, bool, within=n), "within"),
        (lambda n: fs.next_(bool, times=n), "times"),
    ],
)
def test_bounds(make, argument, bound):
    with pytest.raises(InvalidArgument) as error:
        make(bound)
    assert f"{argument}={bound!r} ({type(bound).__name__}) is not a" in str(error.value)
    assert "whole number from 1" in str(error.value)


def test_a_bound_of_another_integer_type_is_fine():
    numpy = pytest.importorskip("numpy")
    assert fs.always(bool, during=numpy.int64(3)).required_length == 3


@pytest.mark.parametrize("value", [None, 3, "x > 0", [True]])
def test_what_is_not_a_formula(value):
    with pytest.raises(
        InvalidArgument, match=r"formula=.* is not a formula: write a formula, True or False, or a function"
    ):
        fs.always(value)
    with pytest.raises(InvalidArgument, match="premise="):
        fs.implies(value, True)
    with pytest.raises(InvalidArgument, match="the right side of &"):
        fs.TRUE & value


@pytest.mark.parametrize("make", [fs.let, fs.consume, fs.now])
@pytest.mark.parametrize("value", [fs.TRUE, True, 3])
def test_functions_are_wanted_where_instants_are_handed_over(make, value):
    with pytest.raises(InvalidArgument, match=r"is not a function: write fs\."):
        make(value)


def test_a_predicate_that_raises():
    def broken(x):
        return x["missing"]

    with pytest.raises(
        PredicateError, match=r"the predicate broken raised KeyError\('missing'\) at instant 1"
    ) as error:
        fs.next_(broken).evaluate([{}, {}])
    assert isinstance(error.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "answer, hint",
    [
        (None, "is a `return` missing"),
        (1, "write bool"),
        ("yes", "write bool"),
        (fs.TRUE, "write fs.let"),
    ],
)
def test_a_predicate_that_does_not_answer(answer, hint):
    def odd(x):
        return answer

    with pytest.raises(PredicateError) as error:
        fs.always(odd).evaluate([1])
    said = "None" if answer is None else f"answer={answer!r} ({type(answer).__name__})"
    assert f"the predicate odd, at instant 0, returned {said}: " in str(error.value)
    assert hint in str(error.value)


def test_a_body_that_raises_or_does_not_answer():
    with pytest.raises(PredicateError, match=r"let\(1 / 0\) raised ZeroDivisionError.* at instant 0"):
        fs.let(lambda x: 1 / 0).evaluate([1])
    with pytest.raises(PredicateError, match=r"consume\(None\), at instant 0, returned None: is a `return` missing"):
        fs.consume(lambda x: None).evaluate([1])
    with pytest.raises(PredicateError, match="it has to return a formula, a bool or a Check"):
        fs.let(lambda x: lambda y: True).evaluate([1])


def test_numpys_bool_is_a_bool():
    numpy = pytest.importorskip("numpy")
    assert fs.always(lambda x: numpy.float64(x) > 0).evaluate([1.0])
    assert fs.let(lambda x: numpy.float64(x) > 0).evaluate([1.0])


def test_a_formula_in_a_boolean_context():
    with pytest.raises(TypeError, match=r"join formulas with &, \| and ~"):
        bool(fs.always(bool))
    with pytest.raises(TypeError, match="no truth value"):
        assert not (fs.TRUE and fs.FALSE)


def test_an_explanation_meets_the_same_errors():
    with pytest.raises(PredicateError, match="raised ZeroDivisionError"):
        fs.always(lambda x: 1 / x > 0).explain([0])
