"""What a batch of a DStream program costs through the runner, against the same program driven by hand.

The other side is what one would write without firesteel: `queueStream`, Spark's manual clock, `foreachRDD` with a
collect, and an event to wait for. Both in one process, in turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from statistics import median

from run import Bound

BATCHES, WARM, ROUNDS = 16, 4, 3

CHILD = r"""
import json, shutil, sys, tempfile, threading, time, warnings
import firesteel as fs
from firesteel.spark.engines import dstream
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from pyspark.streaming import StreamingContext

batches, warm, rounds = map(int, sys.argv[1:])
warnings.simplefilter("ignore", FutureWarning)
spark = fs.session()
rows = [[f"{n % 5} {(n * k) % 7}" for n in range(20)] for k in range(batches)]
add, subtract = (lambda a, b: a + b), (lambda a, b: a - b)

def pairs(lines):
    return lines.flatMap(str.split).map(lambda word: (word, 1))

def state(lines):
    return pairs(lines).updateStateByKey(lambda new, old: sum(new) + (old or 0))

subjects = {
    "stateless": lambda lines: lines.flatMap(str.split).filter(lambda word: word > "3"),
    "reducing": lambda lines: pairs(lines).reduceByKey(add),
    "windowed": lambda lines: pairs(lines).reduceByKeyAndWindow(add, subtract, 6, 1),
    "stateful": state,
}

def by_runner(subject):
    marks, seen = [], []
    def watch(instant):
        marks.append(time.perf_counter())
        seen.append(sorted(instant.output))
        return False
    case = Case({"input": fs.Stream(None, rows)})
    began = time.perf_counter()
    dstream.exercise(spark, case, subject, Running(engine="dstream"), watch)
    return marks, seen, time.perf_counter() - began

def by_hand(subject):
    marks, seen, done, folder = [], [], threading.Event(), tempfile.mkdtemp()
    began = time.perf_counter()
    sc = spark.sparkContext
    conf = sc._jsc.sc().conf()
    conf.set("spark.streaming.clock", "org.apache.spark.util.ManualClock")
    ssc = StreamingContext(sc, 1)
    sc.setCheckpointDir(folder)  # ssc.checkpoint would pickle the program after every batch, and it holds an event
    def record(rdd):
        seen.append(rdd.collect())
        done.set()
    subject(ssc.queueStream([sc.parallelize(batch) for batch in rows])).foreachRDD(record)
    ssc.start()
    clock = ssc._jssc.ssc().scheduler().clock()
    for _ in rows:
        done.clear()
        clock.advance(1000)
        done.wait()
        seen[-1] = sorted(seen[-1])
        marks.append(time.perf_counter())
    ssc.stop(stopSparkContext=False)
    conf.remove("spark.streaming.clock")
    shutil.rmtree(folder)
    return marks, seen, time.perf_counter() - began

found = {name: {"runner": [], "hand": [], "runner_case": [], "hand_case": []} for name in subjects}
for name, subject in subjects.items():
    for number in range(rounds):
        traces = {}
        for side, drive in (("runner", by_runner), ("hand", by_hand))[:: 1 if number % 2 else -1]:
            marks, traces[side], whole = drive(subject)
            gaps = [1000 * (b - a) for a, b in zip(marks, marks[1:])][warm:]
            found[name][side].append(sorted(gaps)[len(gaps) // 2])
            found[name][side + "_case"].append(1000 * whole)
        assert traces["runner"] == traces["hand"], (name, traces)
print(json.dumps(found))
"""


def measure() -> Mapping[str, Bound]:
    print("both sides in one process, this takes minutes ...", file=sys.stderr, flush=True)
    arguments = [sys.executable, "-c", CHILD, *map(str, (BATCHES, WARM, ROUNDS))]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=1500, env=os.environ, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, dict[str, list[float]]] = json.loads(done.stdout.splitlines()[-1])
    print(f"{BATCHES} batches of 20 records, ms each, the median of a run without its first {WARM}; {ROUNDS} rounds\n")
    print(f"{'program':14}{'by hand':>9}{'firesteel':>11}{'ratio':>8}{'a whole case: by hand':>24}{'firesteel':>11}")
    bounds = {}
    for name, sides in found.items():
        # Each round against its own: a slow round is slow on both sides.
        ratio = median(ours / theirs for ours, theirs in zip(sides["runner"], sides["hand"], strict=True))
        hand, ours = median(sides["hand"]), median(sides["runner"])
        whole, our_whole = median(sides["hand_case"]), median(sides["runner_case"])
        print(f"{name:14}{hand:9.1f}{ours:11.1f}{ratio:8.3f}{whole:24.0f}{our_whole:11.0f}")
        bounds[f"{name}_to_hand"] = Bound(ratio, at_most=1.2)
    return bounds
