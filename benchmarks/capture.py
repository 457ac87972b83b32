"""A program of 200 operations with and without a capture, and a capture of a plan of 2,000 nodes.

Both sides run in one session, one after the other, several times; the quickest round of each counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import reduce
from typing import Any

from run import Bound

import firesteel as fs

OPERATIONS, NODES, ROUNDS = 200, 2_000, 5


def measure() -> dict[str, Bound]:
    """Both bounds."""
    spark = fs.session()
    program(spark)  # everything is compiled and loaded
    with fs.capture(spark):
        program(spark)
    plain, captured = [], []
    for _ in range(ROUNDS):
        plain.append(seconds(lambda: program(spark), lambda: nullcontext()))
        captured.append(seconds(lambda: program(spark), lambda: fs.capture(spark)))
    print(f"{OPERATIONS} operations: {min(plain):.2f} s, with a capture {min(captured):.2f} s (best of {ROUNDS})")
    frame = wide_plan(spark)
    started = time.perf_counter()
    with fs.capture(spark) as dag:
        last = frame.filter("id >= 0")
    took = time.perf_counter() - started
    found = sum(1 for _ in dag.operations[-1].plan.walk())  # type: ignore[union-attr]
    print(f"a plan of {found} nodes: {took:.2f} s")
    assert found >= NODES and last is not None
    return {
        "200 operations, with a capture / without": Bound(min(captured) / min(plain), at_most=1.1),
        "seconds for a plan of 2,000 nodes": Bound(took, at_most=3),
    }


def program(spark: Any) -> None:
    """200 operations: chains of RDDs and of DataFrames, with a few shuffles and four actions."""
    numbers = spark.sparkContext.parallelize(range(1_000), 2)
    for number in range(OPERATIONS // 2 - 4):
        numbers = numbers.map(lambda x, number=number: x + number) if number % 2 else numbers.filter(lambda x: x >= 0)
    pairs = numbers.map(lambda x: (x % 10, x))
    pairs.reduceByKey(max, 2).collect()
    pairs.groupByKey(2).count()
    frame = spark.range(1_000)
    for number in range(OPERATIONS // 2 - 4):
        frame = (
            frame.withColumn("id", frame["id"] + number) if number % 20 == 0 else frame.filter(f"id <> {-number - 1}")
        )
    frame.groupBy((frame["id"] % 10).alias("key")).count().collect()
    frame.selectExpr("sum(id)").collect()


def wide_plan(spark: Any) -> Any:
    """A union of many projections, as pipelines that are made by loops have it: Spark makes one node of all unions."""
    parts = [spark.range(2).filter(f"id >= {number % 3}").select("id") for number in range(NODES // 3)]
    while len(parts) > 1:  # pairs, then pairs of these: not one long chain
        parts = [reduce(lambda a, b: a.union(b), parts[at : at + 2]) for at in range(0, len(parts), 2)]
    return parts[0]


def seconds(run: Callable[[], None], around: Callable[[], Any]) -> float:
    """How long it takes, with what is around it."""
    started = time.perf_counter()
    with around():
        run()
    return time.perf_counter() - started
