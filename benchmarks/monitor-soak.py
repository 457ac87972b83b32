"""A monitor that runs for long, beside two queries of their own: is what it keeps flat?

The two jobs write files, the monitor reads them. MINUTES says for how long (30; the paper's length is 120), RATE how
many events a second: 70% of what monitor-throughput printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from run import Bound

MINUTES = float(os.environ.get("MINUTES", "30"))
RATE = int(os.environ.get("RATE", "10_000"))
SAMPLES = 60
PAPERS = 1.67


def jobs(spark: Any) -> tuple[Any, Any]:
    """Two versions of a job on one source of their own each: `rate` gives both the same rows."""
    from pyspark.sql import functions as F

    def source() -> Any:
        return (
            spark.readStream.format("rate-micro-batch").option("rowsPerBatch", RATE).option("numPartitions", 2).load()
        )

    table = spark.range(1000).selectExpr("id AS ad", "id DIV 10 AS campaign").persist()
    left = source().selectExpr("value AS id", "value % 1000 AS ad", "timestamp AS ts").join(F.broadcast(table), "ad")
    right = source().selectExpr(
        "value AS id", "value % 1000 AS ad", "(value % 1000) DIV 10 AS campaign", "timestamp AS ts"
    )
    return left, right.select(*left.columns)


def memory(spark: Any) -> tuple[float, float]:
    """Megabytes of the heap after a collection, and of the Python workers."""
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    spark._jvm.java.lang.System.gc()
    heap = (runtime.totalMemory() - runtime.freeMemory()) / 1e6
    listed = subprocess.run(["ps", "-eo", "rss,args"], capture_output=True, text=True, check=True).stdout
    workers = sum(int(line.split()[0]) for line in listed.splitlines() if "pyspark.daemon" in line)
    return heap, workers / 1e3


def measure() -> Mapping[str, Bound]:
    import firesteel as fs
    from firesteel import sinks

    spark = fs.session({"spark.sql.shuffle.partitions": "2"})
    place = Path(tempfile.mkdtemp(prefix="firesteel-soak-"))
    waiting: list[int] = []
    lags: list[float] = []
    differences: list[Mapping[str, Any]] = []
    groups: dict[str, Mapping[str, Any]] = {}

    def take(row: Mapping[str, Any]) -> None:
        if row["kind"] == "progress":
            groups[row["id"].rpartition("/")[2]] = row
        else:
            differences.append(row)

    queries = []
    try:
        sides = []
        for name, job in zip(("left", "right"), jobs(spark), strict=True):
            (place / name).mkdir()
            out = job.writeStream.format("parquet").option("path", str(place / name))
            queries.append(
                out.option("checkpointLocation", str(place / f"{name}-state"))
                .trigger(processingTime="1 second")
                .start()
            )
            sides.append(spark.readStream.schema(job.schema).parquet(str(place / name)))
        found = fs.monitor_equivalence(
            *sides, dependence=fs.unordered(), watermark=("ts", "10 minutes"), progress=True, unmatched_at_most=10**7
        )
        writer = found.writeStream.foreachBatch(sinks.callback(take, progress=True))
        monitor = writer.option("checkpointLocation", str(place / "monitor-state")).start()
        queries.append(monitor)
        samples: list[tuple[int, float]] = []
        spent: dict[int, tuple[int, int]] = {}
        for _ in range(SAMPLES):
            time.sleep(60 * MINUTES / SAMPLES)
            waiting.append(sum(row["unmatched"] for row in groups.values()))
            lags.append(max((row["lag"] for row in groups.values()), default=0.0))
            state = monitor.lastProgress["stateOperators"][0]["numRowsTotal"] if monitor.lastProgress else 0
            samples.append((state, sum(memory(spark))))
            for progress in monitor.recentProgress:
                if progress["batchId"] not in spent and progress["numInputRows"]:
                    operator = progress["stateOperators"][0]["allUpdatesTimeMs"]
                    spent[progress["batchId"]] = (operator, progress["durationMs"]["triggerExecution"])
            for query in queries:
                assert query.isActive, query.exception()
    finally:
        for query in queries:
            query.stop()
        shutil.rmtree(place, ignore_errors=True)
    second, third = samples[SAMPLES // 3 : 2 * SAMPLES // 3], samples[2 * SAMPLES // 3 :]
    rows, megabytes = (mean(each[at] for each in third) / max(1, mean(each[at] for each in second)) for at in (0, 1))
    matched = sum(row["matched"] for row in groups.values())
    print(f"{MINUTES:g} minutes, {RATE:,} events a second asked for; load {os.getloadavg()[0]:.1f}")
    print(f"matched {matched:,} pairs, {matched / (60 * MINUTES):,.0f} a second; differences: {len(differences)}")
    print(
        f"unmatched at the ends of batches: mean {mean(waiting):,.0f}, {100 * mean(waiting) / RATE:.2f}% of a second's"
    )
    print(f"records (the paper: {PAPERS}%); the oldest had waited {max(lags):.1f} s at most")
    operator, batches = sum(each[0] for each in spent.values()), [each[1] / 1000 for each in spent.values()]
    print(f"in the operator: {1000 * operator / max(1, 2 * matched):.1f} us a record")
    print(f"from the arrival of rows to their verdicts: mean {mean(batches):.1f} s, {max(batches):.1f} s at most")
    print(f"state rows: last third / second third {rows:.2f}; memory {megabytes:.2f}")
    return {
        "state rows": Bound(rows, at_most=1.1),
        "memory": Bound(megabytes, at_most=1.1),
        "differences": Bound(len(differences), at_most=0),
    }
