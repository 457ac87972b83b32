"""A lint of a plan of 2,000 nodes, and a program of 200 operations with capture and lint against capture alone.

Both sides of the second run in one session, one after the other, several times; the quickest round of each counts. The
program is that of the benchmark `capture`.
"""

from __future__ import annotations

import time
from typing import Any

from run import Bound, load_module

import firesteel as fs

NODES, ROUNDS = 2_000, 5


def measure() -> dict[str, Bound]:
    """Both bounds."""
    programs = load_module("capture")
    spark = fs.session()
    with fs.capture(spark) as dag:  # everything is compiled and loaded
        programs.program(spark)
    dag.lint()
    alone, linted = [], []
    for _ in range(ROUNDS):
        alone.append(_seconds(spark, programs.program, lint=False))
        linted.append(_seconds(spark, programs.program, lint=True))
    print(
        f"200 operations: captured in {min(alone):.2f} s, captured and linted in {min(linted):.2f} s (best of {ROUNDS})"
    )
    frame = _wide_plan(spark)
    with fs.capture(spark) as dag:
        last = frame.repartition("id").limit(3)
    found = sum(1 for _ in dag.operations[-1].plan.walk())  # type: ignore[union-attr]
    started = time.perf_counter()
    findings = dag.lint(confirm=False)
    took = time.perf_counter() - started
    print(f"a plan of {found} nodes: {took:.2f} s")
    assert found >= NODES and last is not None and [one.rule for one in findings] == ["take-without-order"]
    return {
        "seconds to lint a plan of 2,000 nodes": Bound(took, at_most=2),
        "200 operations, captured and linted / captured": Bound(min(linted) / min(alone), at_most=1.2),
    }


def _seconds(spark: Any, program: Any, *, lint: bool) -> float:
    started = time.perf_counter()
    with fs.capture(spark) as dag:
        program(spark)
    if lint:
        dag.lint()
    return time.perf_counter() - started


def _wide_plan(spark: Any) -> Any:
    """A union of many filters, as pipelines that are made by loops have it."""
    parts = [spark.range(2).filter(f"id >= {number % 3}").select("id") for number in range(NODES // 3 + 1)]
    while len(parts) > 1:  # pairs, then pairs of these: not one long chain
        parts = [
            one.union(other[0]) if (other := parts[at + 1 : at + 2]) else one for at, one in list(enumerate(parts))[::2]
        ]
    return parts[0]
