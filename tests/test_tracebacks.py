"""What a user sees of an error: their own frames, once, in pytest's short and long form."""

import traceback

import pytest

from firesteel.errors import InvalidArgument, PredicateError
from firesteel.tracebacks import with_users_frames

TEST = """
import firesteel as fs
from firesteel import strategies as ss

def broken(now):
    return now.output.every(lambda r: r.cnt > 0)

def test_wrong():
    formula = fs.always(broken)
    fs.for_all(ss.always(ss.batches(ss.records("n INT")), during=1), len, formula, cases=0)

def test_predicate():
    from firesteel.logic.ltl.monitor import Monitor
    from firesteel.tracebacks import with_users_frames
    with_users_frames(Monitor(fs.always(broken)).step)(fs.Instant(0, {}, {"output": fs.Batch([fs.Record(n=1)])}))
"""


@pytest.mark.parametrize("style", [[], ["--tb=short"]], ids=["default", "short"])
def test_pytest_shows_the_users_lines_and_none_of_firesteels(pytester, style):
    pytester.makepyfile(test_it=TEST)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *style)
    result.assert_outcomes(failed=2)
    text = result.stdout.str()
    assert "src/firesteel" not in text and "hypothesis" not in text.split("test session starts")[1].split("FAILURES")[1]
    assert "fs.for_all(ss.always" in text and "lambda r: r.cnt > 0" in text and "no column 'cnt'" in text
    assert "cases=0 (int) is not possible" in text and text.count("The above exception was") == 1
    assert len(result.outlines) < 75


def raises(error, cause=None):
    raise error from cause


def frames(error):
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_errors_that_are_not_meant_keep_all_frames():
    inner = vars(__import__("firesteel.errors", fromlist=["errors"])).copy()
    exec("def deep(raises, error, cause):\n    raises(error, cause)", inner)  # a frame of firesteel's own
    with pytest.raises(ZeroDivisionError) as caught:
        divmod(1, 0)
    cause = caught.value
    for error, names in (
        (InvalidArgument("wrong"), ["raises"]),
        (KeyError("x"), ["called", "deep", "raises"]),
    ):
        with pytest.raises(type(error)) as raised:
            with_users_frames(inner["deep"])(raises, error, cause)
        assert [name for name in frames(raised.value) if not name.startswith("test_")] == names
        assert raised.value.__cause__ is cause and frames(cause)


def test_errors_that_cause_each_other_in_a_circle_end():
    first, second = PredicateError("a"), PredicateError("b")
    first.__context__, second.__context__ = second, first
    with pytest.raises(PredicateError):
        with_users_frames(raises)(first)
