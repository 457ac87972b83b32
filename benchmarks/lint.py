"""A lint of a plan of 2,000 nodes, and programs of 200 operations with capture and lint against capture alone.

All sides of the second run in one session, one after the other, several times; the quickest round of each counts. The
programs have functions of all kinds: those that can be read, and two reducers that have to be tested elsewhere.
One program is clean. In the other, four rules find something. The bounds are for the lint of the clean program as it
is by default, and for the lint that only reads (`confirm=False`) of both. What confirming findings adds is printed:
parts of the program run again.
"""

from __future__ import annotations

import math
import time
from operator import add
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F
from run import Bound

import firesteel as fs

NODES, ROUNDS, OPERATIONS = 2_000, 5, 200


def measure() -> dict[str, Bound]:
    """All bounds."""
    spark = fs.session()
    for lucky, rules in ((False, set()), (True, RULES)):
        with fs.capture(spark) as dag:  # everything is compiled and loaded
            program(spark, lucky)
        found = {one.rule for one in dag.lint()}
        assert len(dag.operations) >= OPERATIONS and found == rules, (len(dag.operations), found)
    sides: dict[str, tuple[bool, bool | None]] = {
        "clean, captured": (False, None),
        "clean, and linted without confirming": (False, False),
        "clean, and linted": (False, True),
        "lucky, captured": (True, None),
        "lucky, and linted without confirming": (True, False),
        "lucky, and linted": (True, True),
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, (lucky, confirm) in sides.items():
            times[name].append(_seconds(spark, lucky, confirm=confirm))
    print(
        f"{len(dag.operations)} operations, {len(REDUCERS) + 1} reducers; {len(RULES)} rules find something if lucky:"
    )
    ratios = {}
    for name, some in times.items():
        ratios[name] = min(some) / min(times[f"{name.partition(',')[0]}, captured"])
        print(f"  {name:38} {min(some):6.2f} s  {ratios[name]:.2f}  (all rounds: {_listed(some)})")
    frame = _wide_plan(spark)
    with fs.capture(spark) as dag:
        last = frame.repartition("id").limit(3)
    nodes = sum(1 for _ in dag.operations[-1].plan.walk())  # type: ignore[union-attr]
    started = time.perf_counter()
    findings = dag.lint(confirm=False)
    took = time.perf_counter() - started
    print(f"a plan of {nodes} nodes: {took:.2f} s")
    assert nodes >= NODES and last is not None and [one.rule for one in findings] == ["take-without-order"]
    return {
        "seconds to lint a plan of 2,000 nodes": Bound(took, at_most=2),
        "200 clean operations, linted / captured": Bound(ratios["clean, and linted"], at_most=1.2),
        "200 clean operations, read / captured": Bound(ratios["clean, and linted without confirming"], at_most=1.2),
        "200 lucky operations, read / captured": Bound(ratios["lucky, and linted without confirming"], at_most=1.2),
    }


RULES = {"reducer-not-commutative", "ties-after-sort", "take-without-order", "order-sensitive-aggregate"}
"""What has to be found in the program that is not clean."""


def later(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """A reducer that is longer than one expression."""
    if one[0] == other[0]:
        return max(one, other)
    return one if one[0] > other[0] else other


def both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The sums of a mean."""
    return one[0] + other[0], one[1] + other[1]


REDUCERS: tuple[tuple[Any, Any], ...] = (
    (lambda x: x, max),
    (lambda x: x, add),
    (lambda x: x, lambda a, b: a + b),
    (lambda x: x, lambda a, b: b if b > a else a),
    (lambda x: x, math.gcd),
    (lambda x: (x % 7, x), later),
    (lambda x: (x, 1), both),
    (lambda x: frozenset({x % 5}), lambda a, b: a | b),
    (lambda x: x, lambda a, b: a * b % 1_000_003),
)
"""What makes values of numbers, and what merges these."""


def program(spark: Any, lucky: bool) -> None:
    """More than 200 operations, half of them on RDDs and half on DataFrames; some of them hang on luck, if `lucky`."""
    numbers = spark.sparkContext.parallelize(range(1_000), 2)
    for number in range(30):
        numbers = numbers.map(lambda x, number=number: x + number) if number % 2 else numbers.filter(lambda x: x >= 0)
    pairs = numbers.map(lambda x: (x % 10, x)).cache()
    for value, merge in REDUCERS:
        merged = pairs.mapValues(value).filter(lambda pair: pair[0] >= 0).reduceByKey(merge, 2)
        merged.map(lambda pair: pair[::-1]).map(lambda pair: pair[::-1]).sortByKey().collect()
    means = pairs.combineByKey(lambda v: (v, 1), lambda a, v: (a[0] + v, a[1] + 1), both)
    means = means.mapValues(lambda a: a[0] / a[1])
    if lucky:
        pairs.reduceByKey(lambda a, b: a - b, 2).sortByKey().collect()
        means.sortBy(lambda pair: pair[1]).take(2)
        pairs.groupByKey(2).mapValues(sorted).first()
    else:
        pairs.reduceByKey(lambda a, b: a ^ b, 2).sortByKey().collect()
        means.sortBy(lambda pair: (pair[1], pair[0])).take(2)
        pairs.groupByKey(2).mapValues(sorted).sortByKey().first()
    frame = spark.range(1_000).withColumn("key", F.col("id") % 10)
    for number in range(100):
        frame = frame.filter(f"id <> {-number - 1}") if number % 20 else frame.withColumn("id", frame["id"] + number)
    frame.groupBy("key").agg(F.sum("id"), F.max("id"), F.sort_array(F.collect_list("id"))).collect()
    ids = F.collect_list("id")
    frame.groupBy("key").agg((ids if lucky else F.sort_array(ids)).alias("ids")).collect()
    ranked = frame.withColumn("rank", F.rank().over(Window.partitionBy("key").orderBy("id")))
    ranked.where("rank < 3").join(frame.select("key").distinct(), "key").orderBy("id").collect()


def _listed(times: list[float]) -> str:
    return ", ".join(f"{each:.2f}" for each in times)


def _seconds(spark: Any, lucky: bool, *, confirm: bool | None = None) -> float:
    started = time.perf_counter()
    with fs.capture(spark) as dag:
        program(spark, lucky)
    if confirm is not None:
        dag.lint(confirm=confirm)
    return time.perf_counter() - started


def _wide_plan(spark: Any) -> Any:
    """A union of many filters, as pipelines that are made by loops have it."""
    parts = [spark.range(2).filter(f"id >= {number % 3}").select("id") for number in range(NODES // 3 + 1)]
    while len(parts) > 1:  # pairs, then pairs of these: not one long chain
        parts = [
            one.union(other[0]) if (other := parts[at + 1 : at + 2]) else one for at, one in list(enumerate(parts))[::2]
        ]
    return parts[0]
