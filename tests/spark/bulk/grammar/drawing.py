"""Draws a whole program."""

import random

from pyspark.sql import functions as F

import firesteel as fs
from tests.spark.bulk.grammar import python, steps
from tests.spark.bulk.grammar.programs import TYPES, Program

STEPS = {
    steps.select: 4, steps.where: 3, steps.renamed: 1, steps.exploded: 2, steps.united: 2, steps.spread: 1,
    steps.joined_static: 2, steps.deduplicated: 2, steps.distinct: 1, steps.aggregated: 7, steps.ordered: 2,
    steps.self_joined: 1, steps.in_sql: 1, steps.lateral: 1, steps.in_static_subquery: 1, steps.marked: 2,
    python.function: 3, python.of_struct: 1, python.filtered: 1, python.partition: 1, python.group: 1, python.state: 2,
    python.table_function: 0.2,
}  # fmt: skip


def program(rng: random.Random) -> Program:
    """A random program."""
    p = Program(rng)
    if rng.random() < 0.25:
        _of_two(p)
    elif rng.random() < 0.4:
        p.marked = True
        p.add("withWatermark ts", lambda f: f.withWatermark("ts", "5 minutes"))
    p.close = rng.random() < 0.7
    start = len(p.steps)
    if p.marked and rng.random() < 0.4:
        steps.aggregated(p)
    for _ in range(rng.randint(1, 5)):
        rng.choices(list(STEPS), list(STEPS.values()))[0](p)
    if rng.random() < 0.1 and p.mode != "complete" and not p.stateful:
        # Only operations of single records: what one output keeps, the other does not.
        p.second = p.steps[: rng.randint(min(start, 1), len(p.steps))]
        if p.inputs != ("input",) and not p.second:
            p.second = None
    _in_windows(p)
    return p


def _in_windows(p: Program) -> None:
    """A property over windows: where they do not depend on batches, a bulk run feeds all batches as one."""
    times = [name for name in ("at", "ts") if name in p.columns]
    if p.second is None and times and p.mode == "append" and p.rng.random() < 0.6:
        on = {**dict.fromkeys(p.inputs, "ts"), "output": times[0]}
        p.over = p.rng.choice([fs.tumbling("10 minutes", on=on), fs.sliding("20 minutes", every="10 minutes", on=on)])


def _of_two(p: Program) -> None:
    """A beginning with two inputs."""
    p.inputs = ("left", "right")
    joined = {"k": "int", **{name: kind for name, kind in TYPES.items() if name != "k"}, "m": "int", "t": "text"}
    match p.rng.choice(["union", "marked union", "join", "interval join"]):
        case "union":
            p.add("left union right", lambda frames: frames[0].union(frames[1]))
        case "marked union":
            p.marked = True
            p.add("left union right, both with watermarks",
                  lambda frames: frames[0].withWatermark("ts", "5 minutes").union(
                      frames[1].withWatermark("ts", "2 minutes")))  # fmt: skip
        case "join":
            p.columns, p.stateful = joined, True
            p.add("left join right on k",
                  lambda frames: frames[0].join(frames[1].selectExpr("k", "n AS m", "s AS t"), "k"))  # fmt: skip
        case _:
            _in_time(p)


def _in_time(p: Program) -> None:
    """A join of two streams with watermarks, which drops what is old."""
    kind = p.rng.choice(["inner", "left_outer", "right_outer", "full_outer", "left_semi"])
    p.stateful = True
    if kind != "left_semi":
        p.columns = {**p.columns, "kk": "int", "us": "time"}

    def step(frames):  # type: ignore[no-untyped-def]
        left = frames[0].withWatermark("ts", "5 minutes")
        right = frames[1].selectExpr("k AS kk", "ts AS us").withWatermark("us", "5 minutes")
        near = F.expr("k = kk AND us >= ts - INTERVAL 10 MINUTES AND us <= ts + INTERVAL 10 MINUTES")
        return left.join(right, near, kind)

    p.add(f"left {kind} right, near in time", step)
