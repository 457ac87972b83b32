"""Processors and functions with state: what is refused, and a leak between keys on Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import firesteel as fs
from firesteel import operators
from firesteel.errors import InvalidArgument

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
    kept = fs.analyze(counting, "partition_isolated", tests=4, **options)["partition_isolated"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and kept.outputs and not kept.why
