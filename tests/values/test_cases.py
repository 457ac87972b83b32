"""Cases as values: streams by name, and what was drawn with them; no Spark."""

import copy
import pickle
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pytest

from firesteel import Batch, Case, InvalidArgument, Record, Stream
from firesteel.runs.replay import decoded, encoded

ONE, TWO = Stream("n INT", [[(1,)], []]), Stream("n INT", [[(2,)]])


def test_a_stream_by_itself_is_called_input():
    case = Case(ONE)
    assert list(case) == ["input"] and case["input"] is ONE and len(case) == 1 and case.length == 2
    assert case == {"input": ONE} and case == Case({"input": ONE}) and case != Case(TWO)
    assert case.drawn == Record() and repr(case) == f"Case({ONE!r})"


def test_streams_by_name_and_what_was_drawn():
    case = Case({"left": ONE, "right": TWO}, n=3, tags=["a", "b"])
    assert dict(case) == {"left": ONE, "right": TWO}
    assert (case.drawn.n, case.drawn["tags"]) == (3, ["a", "b"])
    assert repr(case) == f"Case({{'left': {ONE!r}, 'right': {TWO!r}}}, n=3, tags=['a', 'b'])"
    assert case == Case({"left": ONE, "right": TWO}, n=3, tags=["a", "b"])
    assert case != Case({"left": ONE, "right": TWO}, n=4, tags=["a", "b"]) and case != dict(case)
    assert Case(case, m=1).drawn == {"n": 3, "tags": ["a", "b"], "m": 1}


def test_it_cannot_be_changed():
    case = Case(ONE, n=3)
    with pytest.raises(AttributeError, match="a case cannot be changed"):
        case.drawn = Record()
    with pytest.raises(TypeError):
        hash(case)
    assert pickle.loads(pickle.dumps(case)) == copy.deepcopy(case) == case


def test_with_each_stream_changed():
    case = Case({"left": ONE, "right": TWO}, n=3).with_each(lambda stream: stream[:1])
    assert case == Case({"left": ONE[:1], "right": TWO}, n=3)


DATA = [
    None, True, 3, 1.5, "x", b"x", date(2030, 1, 1), datetime(2030, 1, 1, tzinfo=UTC), time(9), timedelta(hours=1),
    Decimal("1.10"), [1, [2]], (1, "a"), {"a": {1, 2}}, frozenset({1}), Record(a=1, b=[None]),
]  # fmt: skip


@pytest.mark.parametrize("value", DATA, ids=repr)
def test_a_replay_line_keeps_what_was_drawn(value):
    case = Case(ONE, value=value)
    again = decoded(encoded(case))
    assert again == case and type(again.drawn.value) is type(value)
    assert encoded(case) != encoded(Case(ONE, value="other"))


@pytest.mark.parametrize("value", [object(), len, [lambda: 1], {1: object()}, Stream(None, [])])
def test_what_was_drawn_is_data(value):
    with pytest.raises(InvalidArgument, match=r"n=.* is not data, so a report could not show it"):
        Case(ONE, n=value)


def test_bad_cases():
    with pytest.raises(InvalidArgument, match="'left' is the name of a stream already"):
        Case({"left": ONE}, left=1)
    with pytest.raises(InvalidArgument, match="'input' is the name of a stream already"):
        Case(ONE, input=1)
    with pytest.raises(InvalidArgument, match="is a batch, where a stream is meant"):
        Case(Batch([1]))
    for wrong in (3, {}, {"left": [1]}):
        with pytest.raises(InvalidArgument, match="is not a stream"):
            Case(wrong)
