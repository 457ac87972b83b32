"""Ten rules at once over a log of 1,000,000 events of the real mix, against reading the log with `json.loads` alone.

The log of a real application (wide stages, a shuffle, SQL, a streaming query) is repeated with other ids until it is
long enough. Each side is a process of its own, so that its memory can be measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from run import Bound

EVENTS = int(os.environ.get("VERIFY_EVENTS", "1000000"))
SMALLER = 10
ROUNDS = 2

APPLICATION = """
import sys, tempfile
from pyspark.sql import SparkSession, functions as F
folder = sys.argv[1]
config = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.host": "127.0.0.1",
          "spark.driver.bindAddress": "127.0.0.1", "spark.eventLog.enabled": "true", "spark.eventLog.dir": folder,
          "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false",
          "spark.sql.shuffle.partitions": "20"}
builder = SparkSession.builder.master("local[2]")
for key, value in config.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
spark.sparkContext.parallelize(range(1000), 200).map(lambda n: (n % 7, n)).reduceByKey(max, 50).count()
spark.range(0, 100000, 1, 100).groupBy((F.col("id") % 10).alias("k")).count().collect()
left = spark.range(0, 1000, 1, 40)
left.join(left.withColumnRenamed("id", "other"), F.col("id") == F.col("other")).groupBy().count().collect()
rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
counts = rows.withWatermark("timestamp", "1 second").groupBy(F.window("timestamp", "1 second")).count()
spark.conf.set("spark.sql.shuffle.partitions", "4")
query = counts.writeStream.format("noop").start()
while len(query.recentProgress) < 8:
    query.awaitTermination(1)
query.stop()
spark.stop()
"""

# The most memory that this process ever held, in KiB: unlike ru_maxrss, without that of the process it was started by.
MEMORY = """
def memory():
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
"""

READ = """
import json, sys, time
start = time.process_time()
count = 0
with open(sys.argv[1], "rb") as file:
    for line in file:
        json.loads(line)
        count += 1
print(json.dumps([count, time.process_time() - start, memory()]))
"""

VERIFY = """
import json, sys, time
import firesteel as fs
from firesteel import rules
chosen = [rules.PARENTS_BEFORE_CHILDREN, rules.STAGE_RERUN_ONLY_AFTER_FETCH_FAILURE, rules.attempts_at_most(3),
          rules.WORK_OF_LOST_EXECUTOR_REDONE, rules.SPECULATION_COMMITS_ONCE, rules.BATCH_IDS_CONTIGUOUS,
          rules.BATCHES_COMMITTED_IN_ORDER, rules.NO_SPILL, rules.skew_at_most(1e9), rules.shuffle_at_most("1 TiB")]
assert len(chosen) == 10
start = time.process_time()
report = fs.verify(fs.event_log(sys.argv[1]), chosen)
(trace,) = report.evidence.traces
assert report.verdict is fs.Verdict.TRUE and all(rule.steps for rule in trace.rules)
print(json.dumps([trace.events, time.process_time() - start, memory()]))
"""


def measure() -> Mapping[str, Bound]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        events = real_events(folder)
        print(f"the mix: {', '.join(f'{count} {name}' for name, count in mix(events))}")
        large, small = folder / "large", folder / "small"
        write(small, events, EVENTS // SMALLER)
        write(large, events, EVENTS)
        print(f"{'':<24}{'events':>10}{'seconds':>9}{'events/s':>10}{'MB':>7}")
        read = best("json.loads alone", READ, large)
        verified = best("verify, ten rules", VERIFY, large)
        smaller = best("verify, a tenth of it", VERIFY, small)
    print(f"verify takes {verified[1] / read[1]:.2f} times as long as json.loads alone")
    return {
        "verify_to_json_loads": Bound(verified[1] / read[1], at_most=2),
        "memory_of_ten_times_the_log": Bound(verified[2] / smaller[2], at_most=1.2),
    }


def best(name: str, script: str, log: Path) -> tuple[int, float, float]:
    """Events, the least seconds of processor time of some rounds, and MB."""
    rounds = [run(script, log) for _ in range(ROUNDS)]
    events, seconds, kilobytes = min(rounds, key=lambda one: one[1])
    print(f"{name:<24}{events:>10,}{seconds:>9.1f}{events / seconds:>10,.0f}{kilobytes / 1024:>7.0f}")
    return events, seconds, kilobytes / 1024


def run(script: str, *arguments: Any) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY + script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=1200,
    )
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else None


def real_events(folder: Path) -> list[dict[str, Any]]:
    logs = folder / "application"
    logs.mkdir()
    subprocess.run([sys.executable, "-c", APPLICATION, str(logs)], stderr=subprocess.DEVNULL, check=True, timeout=600)
    (log,) = (path for path in logs.iterdir() if not path.name.startswith("."))
    return [json.loads(line) for line in log.read_text().splitlines()]


def mix(events: list[dict[str, Any]]) -> list[tuple[str, int]]:
    counted = Counter(event["Event"].rpartition(".")[2].rpartition("$")[2] for event in events)
    return [(name.removeprefix("SparkListener"), count) for name, count in counted.most_common(8)]


def write(path: Path, events: list[dict[str, Any]], count: int) -> None:
    """A log with a given number of events: a real log, whose middle part is repeated."""
    ids = {"Job ID": 0, "Stage ID": 0, "executionId": 0, "Task ID": 0}
    first = next(n for n, event in enumerate(events) if event["Event"] == "SparkListenerApplicationStart") + 1
    begin, middle, (end,) = events[:first], events[first:-1], events[-1:]
    most = {key: 1 + max(value for event in middle for value in values_of(event, key)) for key in ids}
    turns, rest = divmod(count - len(begin) - 1, len(middle))
    with path.open("w") as file:
        file.writelines(map(dumped, begin))
        for turn in range(turns):
            by = {key: turn * most[key] for key in ids}
            file.writelines(dumped(moved(event, by, str(turn))) for event in middle)
        file.writelines([dumped({"Event": "SparkListenerUnpersistRDD", "RDD ID": 0})] * rest)
        file.write(dumped(end))


def dumped(event: Mapping[str, Any]) -> str:
    return json.dumps(event, separators=(",", ":")) + "\n"


def values_of(value: Any, key: str) -> Iterator[int]:
    if isinstance(value, dict):
        if isinstance(value.get(key), int):
            yield value[key]
        for inner in value.values():
            yield from values_of(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from values_of(inner, key)


def moved(value: Any, by: Mapping[str, int], turn: str) -> Any:
    """An event with other ids."""
    if isinstance(value, dict):
        changed: dict[str, Any] = {}
        for key, inner in value.items():
            if key in by and isinstance(inner, int):
                changed[key] = inner + by[key]
            elif key == "Stage IDs":
                changed[key] = [one + by["Stage ID"] for one in inner]
            elif key == "Stage Info":
                changed[key] = of_stage(inner, by)
            elif key == "Stage Infos":
                changed[key] = [of_stage(one, by) for one in inner]
            elif key in ("id", "runId", "sql.streaming.queryId", "spark.jobGroup.id") and isinstance(inner, str):
                changed[key] = f"{inner}-{turn}"
            elif key in ("progress", "Properties"):
                changed[key] = moved(inner, by, turn)
            else:
                changed[key] = inner
        return changed
    return value


def of_stage(info: dict[str, Any], by: Mapping[str, int]) -> dict[str, Any]:
    parents = [parent + by["Stage ID"] for parent in info["Parent IDs"]]
    return info | {"Stage ID": info["Stage ID"] + by["Stage ID"], "Parent IDs": parents}
