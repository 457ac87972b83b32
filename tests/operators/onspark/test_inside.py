"""Operators inside a query: what is refused, and table functions, expressions and aggregates on Spark."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import operators
from firesteel.errors import InvalidArgument
from firesteel.operators.onspark.feeds import Feed, Gave
from firesteel.operators.onspark.making import constants_of
from firesteel.operators.onspark.running import Runner
from firesteel.values.records import Record

KEYED = "k STRING, n INT"
ROWS = [("a", 1), ("a", 2), ("b", 1)]
FED = Feed((tuple(("input", row) for row in ROWS),))


@pytest.fixture(autouse=True)
def sent_by_value() -> Iterator[None]:
    """Spark's Python processes cannot import this file, so its functions are sent with their code."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


class Words:
    def eval(self, text: str) -> Any: ...


@pytest.mark.parametrize(
    "given, said",
    [
        ({"function": 3}, "function=3"),
        ({"function": Words()}, "without making an object"),
        ({"output": None}, "say what comes out"),
        ({"output": 3}, "output=3"),
        ({"input": {"a": "k INT", "b": "k INT"}}, "a table function has one"),
        ({"engine": "rdd"}, "'structured' or 'batch'"),
        ({"engine": "structured", "table": True}, "in jobs only"),
        ({"key": "user"}, "does not have"),
    ],
)
def test_a_wrong_argument_of_a_table_function_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        operators.udtf(**{"function": Words, "input": "text STRING", "output": "word STRING", **given})


@pytest.mark.parametrize(
    "given, said",
    [
        ({"expression": 3}, "expression=3"),
        ({"input": {"a": "k INT", "b": "k INT"}}, "an expression has one"),
        ({"engine": "dstream"}, "'structured' or 'batch'"),
        ({"key": "user"}, "does not have"),
    ],
)
def test_a_wrong_argument_of_an_expression_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        operators.expression(**{"expression": "n + 1", "input": "n INT", **given})


def test_modes_and_constants_of_expressions() -> None:
    def total(**more: Any) -> Any:
        return operators.expression("sum(n)", input=KEYED, aggregate=True, **more)

    assert (total().engine, total().output_mode) == ("batch", "append")
    assert (total(engine="structured", key="k").output_mode, total(engine="structured").output_mode) == (
        "update",
        "complete",
    )
    made = operators.expression("if(n > 4711, 'red', k)", input=KEYED)
    pool, _ = constants_of(made)
    assert 4711 in pool.ints and "red" in pool.strings and made.name == "\"if(n > 4711, 'red', k)\""


class Repeating:
    """Puts out the key as often as the number says."""

    def eval(self, k: str, n: int) -> Any:
        for number in range(n):
            yield k, number


class Running:
    """Keeps a sum of whatever comes to its partition."""

    def __init__(self) -> None:
        self.total = 0

    def eval(self, k: str, n: int) -> Any:
        self.total += n
        yield (self.total,)


class Largest:
    """Of a whole table: the largest number of each key."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def eval(self, row: Any) -> None:
        self.rows.append(row)

    def terminate(self) -> Any:
        if self.rows:
            yield self.rows[0]["k"], max(row["n"] for row in self.rows)


@pytest.mark.slow
@pytest.mark.usefixtures("no_shrinking")
def test_table_functions_on_spark(spark: Any) -> None:
    def rows(operator: Any) -> Any:
        gave = Runner(spark, operator).alone(FED)
        assert isinstance(gave, Gave), gave
        return sorted(gave.rows, key=repr)

    kind = {"input": KEYED, "key": "k"}
    repeating = [Record(k="a", i=0), Record(k="a", i=0), Record(k="a", i=1), Record(k="b", i=0)]
    assert rows(operators.udtf(Repeating, output="k STRING, i INT", **kind)) == repeating
    assert rows(operators.udtf(Repeating, output="k STRING, i INT", engine="structured", **kind)) == repeating
    made = F.udtf(Repeating, returnType="j STRING, i INT")
    assert [row.k for row in rows(operators.udtf(made, **kind))] == ["a", "a", "a", "b"], "the key of the row is kept"
    largest = operators.udtf(Largest, output="k STRING, n INT", table=True, **kind)
    assert rows(largest) == [Record(k="a", n=2), Record(k="b", n=1)]
    options: dict[str, Any] = {"sample": ROWS, "seconds": 90, "spark": spark}
    running = operators.udtf(Running, output="total INT", **kind)
    with pytest.raises(fs.Falsified, match="Running"):
        fs.holds(running, "partition_independent", tests=4, **options)
    kept = fs.analyze(largest, "partition_independent", tests=2, **options)["partition_independent"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and kept.outputs and not kept.why


@pytest.mark.slow
@pytest.mark.usefixtures("no_shrinking")
def test_expressions_on_spark(spark: Any) -> None:
    @F.pandas_udf("int")
    def head(n: pd.Series) -> int:
        return int(n.iloc[0])

    @F.pandas_udf("int")
    def most(n: pd.Series) -> int:
        return int(n.max())

    options: dict[str, Any] = {"sample": ROWS, "seconds": 90, "spark": spark}
    of_key: dict[str, Any] = {"input": KEYED, "key": "k", "aggregate": True}
    for wrong, right in (("first(n)", "max(n)"), (head, most)):
        with pytest.raises(fs.Falsified):
            fs.holds(operators.expression(wrong, **of_key), "order_independent", tests=4, **options)
        kept = fs.analyze(operators.expression(right, **of_key), "order_independent", tests=2, **options)
        assert kept["order_independent"].outputs and not kept["order_independent"].why
        assert kept["order_independent"].verdict is fs.Verdict.INCONCLUSIVE
    table = fs.analyze(
        operators.expression("n + 1", input="n INT"), "one_to_one", "total", "null_safe", **options_of(spark)
    )
    assert table["total"].verdict is fs.Verdict.FALSE and "2147483647" in table["total"].evidence
    assert table["one_to_one"].verdict is table["null_safe"].verdict is fs.Verdict.INCONCLUSIVE
    column = operators.expression(lambda: F.col("n") * 2, input="n INT")
    assert Runner(spark, column).alone(Feed((((("input", (4,)),)),))).rows == (Record(value=8),)  # type: ignore[union-attr]


def options_of(spark: Any) -> dict[str, Any]:
    return {"sample": [(2147483647,), (0,)], "tests": 4, "seconds": 90, "spark": spark}
