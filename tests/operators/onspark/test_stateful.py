"""Processors and functions with state: what is refused, and a leak between keys on Spark."""

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

USUAL: dict[str, Any] = {"key": "k", "input": "k STRING, n INT", "output": "k STRING, n INT"}


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


@pytest.mark.slow
@pytest.mark.usefixtures("no_shrinking")
def test_state_in_python_on_spark(spark: Any) -> None:
    """A processor that leaks between keys through a class attribute, beside one that keeps its count as state."""
    from pyspark.sql.streaming import StatefulProcessor

    class Leaking(StatefulProcessor):
        seen = 0

        def init(self, handle: Any) -> None: ...

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
            Leaking.seen += sum(map(len, rows))
            yield pd.DataFrame({"k": [key[0]], "n": [Leaking.seen]})

        def close(self) -> None: ...

    class Counting(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.seen = handle.getValueState("seen", "n INT")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
            seen = (self.seen.get() or (0,))[0] + sum(map(len, rows))
            self.seen.update((seen,))
            yield pd.DataFrame({"k": [key[0]], "n": [seen]})

        def close(self) -> None: ...

    rows = [("a", 1), ("b", 1)]
    options: dict[str, Any] = {"sample": rows, "seconds": 40, "spark": spark}
    leaking = operators.processor(Leaking, **USUAL, output_mode="update")
    with pytest.raises(fs.Falsified, match="Leaking"):
        fs.holds(leaking, "partition_isolated", tests=8, **options)
    counting = operators.processor(Counting, **USUAL, output_mode="update")
    kept = fs.analyze(counting, "partition_isolated", tests=2, **options)["partition_isolated"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and kept.outputs and not kept.why


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
