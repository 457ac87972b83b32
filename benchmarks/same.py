"""`fs.assert_same` against `pyspark.testing.assertDataFrameEqual`: a million equal rows, and a thousand half-different.

And against itself: rows that are only close, whose first column tells them apart, or is nearly constant.

Both in one process and on the same frames, which are cached; each is called on small frames before it is measured. The
other side is called as it is meant to be: order does not matter to it by default, and where frames differ it is let
write its whole text.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from statistics import median

from run import Bound

MANY, FEW, CLOSE = 1_000_000, 1_000, 8_000
ROUNDS = {"equal": 1, "different": 3, "close": 3}

CHILD = r"""
import json, sys, time
import firesteel as fs
from pyspark.sql import functions as F
from pyspark.testing import assertDataFrameEqual

many, few, close, rounds = *map(int, sys.argv[1:4]), json.loads(sys.argv[4])
spark = fs.session({"spark.driver.memory": "2g"})
spark.sparkContext.setLogLevel("ERROR")

def frame(rows, changed=0):
    value = F.when(F.col("id") % 2 == 0, F.col("id") + changed).otherwise(F.col("id")) / 7
    return spark.range(rows, numPartitions=2).select(
        F.col("id").alias("user"), value.alias("amount"), F.concat(F.lit("word "), F.col("id") % 1000).alias("word")
    )

def kept(made):
    made = made.cache()
    made.count()
    return made

def pair(rows, changed=0):
    return kept(frame(rows)), kept(frame(rows, changed).repartition(2, "word"))

def timed(check, left, right):
    began = time.perf_counter()
    try:
        check(left, right)
        raised = False
    except AssertionError:
        raised = True
    return time.perf_counter() - began, raised

checks = {"firesteel": fs.assert_same, "pyspark": assertDataFrameEqual}
for small in (pair(50), pair(50, 0.5)):
    for check in checks.values():
        timed(check, *small)

found = {}
for name, frames in (("different", pair(few, 0.5)), ("equal", pair(many))):
    found[name] = {side: [] for side in checks}
    for number in range(rounds[name]):
        for side in list(checks)[:: 1 if number % 2 else -1]:
            seconds, raised = timed(checks[side], *frames)
            assert raised == (name == "different"), (name, side)
            found[name][side].append(seconds)

def floats(rows, shift, constant):
    telling, same = F.col("id") / 7 + shift, F.lit(1.0) + F.rand(1) * 1e-9
    made = spark.range(rows, numPartitions=2).select(telling.alias("x"), same.alias("y"))
    return kept(made.select("y", "x") if constant else made)

def with_tolerance(left, right):
    fs.assert_same(left, right, equal=fs.equality(abs_tol=1e-6))

pairs = {
    name: (floats(close, 0, name == "constant"), floats(close, 1e-8, name == "constant"))
    for name in ("telling", "constant")
}
found["close"] = {name: [] for name in pairs}
for number in range(rounds["close"] + 1):
    for name in list(pairs)[:: 1 if number % 2 else -1]:
        seconds, raised = timed(with_tolerance, *pairs[name])
        assert not raised, name
        if number:
            found["close"][name].append(seconds)
print(json.dumps(found))
"""


def measure() -> Mapping[str, Bound]:
    print("both sides in one process, this takes minutes ...", file=sys.stderr, flush=True)
    arguments = [sys.executable, "-c", CHILD, str(MANY), str(FEW), str(CLOSE), json.dumps(ROUNDS)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=1500, env=os.environ, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, dict[str, list[float]]] = json.loads(done.stdout.splitlines()[-1])
    print(
        f"three columns, cached; seconds, the median of {ROUNDS['different']} rounds ({ROUNDS['equal']} of the large)\n"
    )
    print(f"{'frames':36}{'assertDataFrameEqual':>22}{'fs.assert_same':>16}{'times faster':>14}")
    bounds = {}
    for name, said in (("equal", f"{MANY:,} equal rows"), ("different", f"{FEW:,} rows, every other differs")):
        sides = found[name]
        # Each round against its own: a slow round is slow on both sides.
        faster = median(theirs / ours for theirs, ours in zip(sides["pyspark"], sides["firesteel"], strict=True))
        print(f"{said:36}{median(sides['pyspark']):22.2f}{median(sides['firesteel']):16.2f}{faster:14.1f}")
        bounds[f"{name}_times_faster"] = Bound(faster, at_least=5)
    sides = found["close"]
    slower = median(same / telling for same, telling in zip(sides["constant"], sides["telling"], strict=True))
    print(
        f"\n{CLOSE:,} rows that are only close: {median(sides['telling']):.2f} where the first column tells them "
        f"apart, {median(sides['constant']):.2f} where it is nearly constant, {slower:.1f} times as long"
    )
    bounds["nearly_constant_times_slower"] = Bound(slower, at_most=2.5)
    return bounds
