"""The small language of field comparisons."""

import pytest

import firesteel as fs
from firesteel.history.expressions import ExpressionError, events_of, fields_of, holds, measures_of, parse

EVENT = {
    "Event": "SparkListenerTaskEnd",
    "Task Info": {"Attempt": 2, "Speculative": False, "Host": "a.b"},
    "Properties": {"spark.job.description": "nightly load", "n": None},
    "list": [1, 2],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`Task Info`.Attempt > 1", True),
        ("`Task Info`.Attempt > 2", False),
        ("`Task Info`.Attempt >= 2 and `Task Info`.Attempt <= 2", True),
        ("`Task Info`.Attempt != 3 and not `Task Info`.Attempt == 3", True),
        ('Event == "SparkListenerTaskEnd"', True),
        ("Event == 'SparkListenerTaskEnd'", True),
        ("`Task Info`.Speculative == false", True),
        ("`Task Info`.Speculative != true", True),
        ("`Task Info`.Attempt == true", False),  # 2 is not true, and 1 would not be either
        ('Properties.spark.job.description contains "load"', True),  # a name with dots
        ("list contains 2", True),
        ("exists `Task Info`.Host and not exists nothing", True),
        ("exists Properties.n", False),
        ("Properties.n == null", True),
        ("nothing == null", False),  # what is not there is not null
        ("nothing > 3 or nothing <= 3 or nothing != 3", False),
        ("nothing.deeper == 1", False),
        ("Event.deeper == 1", False),
        ("not (nothing > 3)", True),
        ("`Task Info`.Attempt > 5 or (Event == 'x' or `Task Info`.Host == 'a.b')", True),
        ("`Task Info`.Attempt > -1.5e3", True),
        ("stage.skew > 2", True),
        ("stage.skew > 3", False),
        ("query.late_rows >= 0", False),
    ],
)
def test_an_expression_holds_or_not(text, expected):
    assert holds(parse(text), EVENT, {"stage.skew": 2.5}) is expected


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("", "expected the name of a field", 0),
        ("a", "expected one of == != <= >= < > contains, found the end of the text", 1),
        ("a >", "expected a number, a text, true, false or null, found the end of the text", 3),
        ("a = 3", "write == to compare", 2),
        ("a > 3 b", "expected `and`, `or` or the end of the text, found 'b'", 6),
        ("(a > 3", "expected `)`, found the end of the text", 6),
        ("a > b", "expected a number, a text", 4),
        ("3 > a", "expected the name of a field", 0),
        ("a > 3 and", "expected the name of a field", 9),
        ("a.", "expected the name of a field", 2),
        ("__import__('os')", "expected one of ==", 10),
        ("a > 3; b", "';' means nothing here", 5),
        ("a >  ~3", "'~' means nothing here", 5),
        ('a == "open', "'\"' means nothing here", 5),
    ],
)
def test_a_text_that_cannot_be_read_says_where(text, message, position):
    with pytest.raises(ExpressionError) as error:
        parse(text)
    assert message in str(error.value) and error.value.position == position
    assert str(error.value).endswith(" " * (4 + position) + "^")


def test_a_comparison_that_makes_no_sense_names_the_field():
    with pytest.raises(fs.PredicateError) as error:
        holds(parse("`Task Info`.Host > 3"), EVENT, {})
    assert str(error.value) == "`Task Info`.Host='a.b' (str) cannot be compared with 3 (int) by >"


def test_what_an_expression_needs_is_known():
    assert events_of(parse("Event == 'A' and (Event == 'A' or Event == 'B')")) == {"A"}
    assert events_of(parse("Event == 'A' or n > 1")) is None
    assert events_of(parse("not Event == 'A'")) is None
    assert events_of(parse("stage.skew > 1")) == {"SparkListenerStageCompleted"}
    assert measures_of(parse("not (stage.skew > 1 or a > 2)")) == {"stage.skew"}
    assert [str(path) for path in fields_of(parse("stage.skew > 1 and `a b`.c > 2"))] == ["`a b`.c"]


def test_it_is_never_evaluated_as_python():
    with pytest.raises(ExpressionError):
        parse("().__class__.__bases__ == 1")
    with pytest.raises(fs.InvalidArgument, match="is not a text"):
        parse(3)


def test_a_long_expression_is_refused_and_not_a_crash():
    with pytest.raises(ExpressionError, match="too long"):
        parse("(" * 5000 + "a > 1" + ")" * 5000)
