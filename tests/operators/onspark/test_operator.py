"""Operators on Spark as values: what is refused, before Spark starts."""

from __future__ import annotations

from typing import Any

import pytest

import firesteel as fs
from firesteel import operators
from firesteel.errors import InvalidArgument

TWO = {"left": "k INT, a INT", "right": "k INT, b INT"}


def same(frame: Any) -> Any:
    return frame


@pytest.mark.parametrize(
    "given, said",
    [
        ({"function": 3, "input": "n INT"}, "function=3"),
        ({"input": 3}, "is not a schema"),
        ({"input": {}}, "names no port"),
        ({"input": {"a b": "n INT"}}, "is not the name of a port"),
        ({"input": "n INT", "key": "user"}, "port 'input' does not have: it has n"),
        ({"input": TWO, "key": "a"}, "port 'right' does not have"),
        ({"input": "n INT", "key": 3}, "is not a key"),
        ({"input": "n INT", "output_mode": "all"}, "is not an output mode"),
        ({"input": "n INT", "engine": "flink"}, "is not an engine"),
        ({"input": "n INT", "engine": "batch", "output_mode": "update"}, "means nothing"),
    ],
)
def test_a_wrong_argument_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        operators.transformation(**{"function": same, **given})


@pytest.mark.parametrize(
    "made, name, said",
    [
        ({}, "associative", "is not a property"),
        ({}, "partition_isolated", 'key="user"'),
        ({}, "non_blocking", "one port"),
        ({}, "late_safe", "TIMESTAMP"),
        ({"engine": "batch"}, "stateless", "does not apply"),
        ({"output_mode": "update"}, "batch_independent", "the last row of each key"),
    ],
)
def test_a_property_that_makes_no_sense_is_refused(made: dict[str, Any], name: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        fs.analyze(operators.transformation(same, input="n INT", **made), name)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"late": "lost"}, "late='lost'"),
        ({"delays": ["soon"]}, "delays='soon'"),
        ({"inputs": 3}, "sample="),
        ({"replay": "nothing"}, "is not a line"),
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        fs.analyze(operators.transformation(same, input="n INT, ts TIMESTAMP"), "late_safe", **options)


def test_delays_are_for_operators_on_spark() -> None:
    with pytest.raises(InvalidArgument, match="is for operators on Spark"):
        fs.analyze(operators.reducer(max), delays=["1 minute"])


# --- sinks ---


def write(frame: Any, batch_id: int, place: Any) -> None: ...


@pytest.mark.parametrize(
    "given, said",
    [
        ({"function": 3}, "function=3"),
        ({"input": TWO}, "a sink has one"),
        ({"read": 3}, "read=3"),
        ({"fresh": "/tmp"}, "fresh='/tmp'"),
    ],
)
def test_a_wrong_argument_of_a_sink_is_named(given: dict[str, Any], said: str) -> None:
    usual = {"function": write, "input": "n INT", "read": list, "fresh": list}
    with pytest.raises(InvalidArgument, match=said):
        operators.sink(**{**usual, **given})


def test_a_place_that_is_not_empty_is_refused_before_anything_is_written() -> None:
    written: list[Any] = []

    def append(frame: Any, batch_id: int) -> None:
        written.append(batch_id)

    used = operators.sink(append, input="n INT", read=lambda place: [(1,)], fresh=lambda: "here")
    with pytest.raises(InvalidArgument, match="not empty, 'here'"):
        fs.holds(used, "replay_safe")
    assert not written


def test_what_a_sink_is_asked_for() -> None:
    empty = operators.sink(write, input="n INT", read=list, fresh=list)
    for name in ("one_to_one", "late_safe"):
        with pytest.raises(InvalidArgument, match="does not apply"):
            fs.analyze(empty, name)
    with pytest.raises(InvalidArgument, match="does not apply"):
        fs.analyze(operators.transformation(same, input="n INT"), "replay_safe")
