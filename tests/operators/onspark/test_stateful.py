"""Processors and functions with state: what is refused; timers, time-outs and an initial state on Spark."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from pyspark import cloudpickle

import firesteel as fs
from firesteel import operators
from firesteel.errors import InvalidArgument
from firesteel.operators.onspark.feeds import Feed, Gave, Material, one_by_one
from firesteel.operators.onspark.running import Runner
from firesteel.operators.onspark.trying import Trying, imitation_of
from tests.operators.onspark import test_imitation as imitated

KEYED = "k STRING, n INT"
USUAL: dict[str, Any] = {"key": "k", "input": KEYED, "output": KEYED}


@pytest.mark.parametrize(
    "given, said",
    [
        ({"factory": 3}, "is not the class of a processor"),
        ({"key": None}, "state belongs to a key"),
        ({"key": "user"}, "does not have"),
        ({"input": {"a": "k INT", "b": "k INT"}, "key": "k"}, "it has one"),
        ({"output": 3}, "output=3"),
        ({"output_mode": "complete"}, "'append' or 'update'"),
        ({"time_mode": "wall"}, "'processingTime'"),
        ({"time_mode": "eventTime"}, "needs a TIMESTAMP column"),
        ({"initial_state": 3}, "initial_state=3"),
    ],
)
def test_a_wrong_argument_of_a_processor_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        operators.processor(**{"factory": dict, **USUAL, **given})


def test_a_wrong_argument_of_a_state_function_is_named() -> None:
    with pytest.raises(InvalidArgument, match="state=3"):
        operators.state_function(max, **USUAL, state=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="function=3"):
        operators.state_function(3, **USUAL, state="n INT")  # type: ignore[arg-type]


def test_the_constants_of_a_processor_are_tried() -> None:
    class Gate:
        def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Any:
            return key == "open sesame"

    assert "open sesame" in repr(operators.processor(Gate, **USUAL).functions[0].__code__.co_consts)


def _at(minute: int) -> datetime:
    return datetime(2000, 1, 1, 0, minute, tzinfo=UTC)


@pytest.mark.slow
@pytest.mark.usefixtures("no_shrinking")
def test_timers_ttl_and_timeouts_on_spark_and_in_python(spark: Any) -> None:
    """A TTL of an hour, a timer of two minutes by the clock and by event time, a time-out of an hour; rows in place of
    frames."""
    cloudpickle.register_pickle_by_value(imitated)
    try:
        _compare(spark)
    finally:
        cloudpickle.unregister_pickle_by_value(imitated)


def _compare(spark: Any) -> None:
    by_clock: dict[str, Any] = {**USUAL, "time_mode": "processingTime"}
    forgetting = operators.processor(imitated.Forgetting, **by_clock)
    waiting = operators.processor(imitated.Waiting, **by_clock)
    idle = operators.state_function(imitated.idle, **by_clock, state="n INT")
    timed = {"key": "k", "input": "k STRING, ts TIMESTAMP", "output": "k STRING, n INT", "time_mode": "eventTime"}
    by_event = operators.processor(imitated.Waiting, **timed, watermark="1 minute")  # type: ignore[arg-type]
    rows: Material = tuple(("input", row) for row in (("a", 1), ("b", 1), ("a", 1)))
    moments: Material = tuple(("input", row) for row in (("a", _at(0)), ("b", _at(5)), ("a", _at(1))))
    in_rows = operators.processor(imitated.InRows, **{**timed, "time_mode": "none"}, rows=True)  # type: ignore[arg-type]
    day = timedelta(days=1)
    expected = [
        (in_rows, Feed(one_by_one(moments)), [["a1"], ["b1"], ["a2"]]),
        (forgetting, Feed(one_by_one(rows), interval=day), [["a1"], ["b1"], ["a1"]]),
        (waiting, Feed(one_by_one(rows), interval=day), [[], ["a1"], ["b1"]]),
        (idle, Feed(one_by_one(rows), interval=day), [["a1"], ["a-1", "b1"], ["a1", "b-1"]]),
        (by_event, Feed(one_by_one(moments)), [[], ["a1"], ["b1"]]),
    ]
    for operator, feed, wanted in expected:
        on_spark = Runner(spark, operator).alone(feed)
        assert isinstance(on_spark, Gave), on_spark
        assert [sorted(f"{row.k}{row.n}" for row in rows) for rows in on_spark.instants] == wanted, operator
        made = imitation_of(operator)
        assert made is not None
        trying = Trying(operator, made)
        try:
            (in_python,) = trying.results([feed]) if trying.is_possible else [None]
        finally:
            trying.end()
        assert isinstance(in_python, Gave), in_python
        assert [sorted(map(repr, rows)) for rows in in_python.instants] == [
            sorted(map(repr, rows)) for rows in on_spark.instants
        ]


@pytest.mark.slow
@pytest.mark.usefixtures("no_shrinking")
def test_initial_state_on_spark(spark: Any) -> None:
    from pyspark.sql.streaming import StatefulProcessor

    class Started(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.seen = handle.getValueState("seen", "n INT")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
            self.seen.update(((self.seen.get() or (0,))[0] + sum(map(len, rows)),))
            yield pd.DataFrame({"k": [key[0]], "n": [self.seen.get()[0]]})

        def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:
            self.seen.update((int(initialState["n"].iloc[0]),))

        def close(self) -> None: ...

    operator = operators.processor(
        Started,
        **USUAL,
        output_mode="update",
        initial_state=lambda spark: spark.createDataFrame([("a", 100)], "k STRING, n INT"),
    )
    fed = Feed(one_by_one((("input", ("a", 1)), ("input", ("b", 1)))))
    gave = Runner(spark, operator).alone(fed)
    assert isinstance(gave, Gave) and [row.n for row in gave.rows] == [101, 1]
    found = fs.analyze(operator, "stateless", sample=[("a", 1)], tests=1, spark=spark)["stateless"]
    assert found.verdict is fs.Verdict.FALSE and "n=101" in found.evidence


@pytest.mark.slow
@pytest.mark.usefixtures("no_shrinking")
def test_a_time_out_that_only_delays_outwait(spark: Any) -> None:
    def slow_to_notice(key: Any, frames: Any, state: Any) -> Iterator[pd.DataFrame]:
        """Says 1 where the key was not heard of for two minutes, else 0."""
        now = state.getCurrentProcessingTimeMs()
        away = state.exists and now - state.get[0] > 120_000
        state.update((now,))
        yield pd.DataFrame({"k": [key[0]], "n": [int(away)]})

    def noticing(frame: Any) -> Any:
        states = frame.groupBy("k")
        return states.applyInPandasWithState(slow_to_notice, KEYED, "at LONG", "append", "ProcessingTimeTimeout")

    operator = operators.transformation(noticing, input=KEYED, key="k")
    options: dict[str, Any] = {"sample": [("a", 1)], "tests": 4, "seconds": 30, "spark": spark}
    at_once = fs.analyze(operator, "stateless", **options)["stateless"]
    assert at_once.verdict is fs.Verdict.INCONCLUSIVE and at_once.outputs and not at_once.why
    waited = fs.analyze(operator, "stateless", delays=["3 minutes"], **options)["stateless"]
    assert waited.verdict is fs.Verdict.FALSE and "3 minutes between batches" in waited.evidence
