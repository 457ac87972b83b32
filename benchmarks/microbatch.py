"""What a micro-batch costs through the runner: against Spark's own account of it, and against Spark's default settings.

The second side is the same query through the same runner, in a JVM with Spark's own checkpoint file manager, file
system and compiler, and the same number of shuffle partitions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from statistics import median

from run import Bound

BATCHES, WARM, ROUNDS = 40, 15, 3

CHILD = r"""
import json, shutil, sys, tempfile, time
import firesteel as fs
from firesteel.spark.engines import building, structured
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from pyspark.sql import SparkSession

batches, warm, default = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "default"
if default:
    # Checkpoints without a place of their own are on firesteel's file system, also in a session that it did not start.
    place = tempfile.mkdtemp()
    quiet = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    quiet = quiet.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "2")
    spark = quiet.config("spark.sql.streaming.checkpointLocation", place).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
else:
    spark = fs.session({"spark.sql.shuffle.partitions": "2"})

triggers = []

class Watched(building.Query):
    def running(self, stack):
        stack.callback(lambda: triggers.extend(p.durationMs["triggerExecution"] for p in self._query.recentProgress))
        return super().running(stack)

building.Query = Watched
rows = [[(n % 50, n % 2 == 0) for n in range(20)] for _ in range(batches)]
stream = fs.Stream("user BIGINT NOT NULL, honest BOOLEAN NOT NULL", rows)
subjects = {
    "stateless": (lambda f: f.where("NOT honest").select("user"), "append"),
    "aggregating": (lambda f: f.where("NOT honest").groupBy("user").count(), "update"),
}
found = {}
for name, (subject, mode) in subjects.items():
    walls = []
    for attempt in range(2):
        triggers.clear()
        marks = []
        case = Case({"input": stream})
        watch = lambda instant: bool(marks.append(time.perf_counter()))
        structured.exercise(spark, case, subject, Running(output_mode=mode), watch)
    wall = [1000 * (b - a) for a, b in zip(marks, marks[1:])]
    own = triggers[warm + 1:batches]
    found[name] = {"wall": sum(wall[warm:]) / len(wall[warm:]), "trigger": sum(own) / len(own)}
if default:
    shutil.rmtree(place, ignore_errors=True)
print(json.dumps(found))
"""


def child(kind: str) -> dict[str, dict[str, float]]:
    arguments = [sys.executable, "-c", CHILD, str(BATCHES), str(WARM), kind]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=600, env=os.environ, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure() -> Mapping[str, Bound]:
    rounds: dict[str, list[dict[str, dict[str, float]]]] = {"default": [], "firesteel": []}
    for number in range(ROUNDS):
        for kind in rounds:
            print(f"round {number + 1} of {ROUNDS}: {kind} ...", file=sys.stderr, flush=True)
            rounds[kind].append(child(kind))
    print(f"{BATCHES} batches of 20 rows, ms each in the last {BATCHES - WARM - 1}, medians of {ROUNDS} rounds\n")
    print(f"{'query':14}{'default':>9}{'firesteel':>11}{'Spark itself':>14}{'to Spark':>10}{'to default':>12}")
    bounds = {}
    for query in ("stateless", "aggregating"):
        ours = [r[query] for r in rounds["firesteel"]]
        wall, own = median(r["wall"] for r in ours), median(r["trigger"] for r in ours)
        default = median(r[query]["wall"] for r in rounds["default"])
        # Each round against its own Spark: a slow round is slow on both sides.
        to_spark, to_default = median(r["wall"] / r["trigger"] for r in ours), wall / default
        print(f"{query:14}{default:9.1f}{wall:11.1f}{own:14.1f}{to_spark:10.3f}{to_default:12.3f}")
        bounds[f"{query}_to_spark"] = Bound(to_spark, at_most=1.15)
        bounds[f"{query}_to_default"] = Bound(to_default, at_most=0.7)
    return bounds
