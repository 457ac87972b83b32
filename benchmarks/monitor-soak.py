"""A monitor that runs for long, beside two queries of their own: is what it keeps flat?

The two jobs are those of monitor-throughput. Both read a folder in which the events of one second arrive every second,
and write views to files; the monitor reads these. The events are made before the clock starts. `--minutes` says for how
long (30; the paper's length is 120), `--rate` how many events a second: 70% of what monitor-throughput printed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Any

from run import Bound, load_module

A_SAMPLE = 20
"""Seconds between two looks; Spark remembers the last 100 micro-batches."""
PAPERS = 1.67
VIEWS = 1 / 3
"""The share of events that are views, and reach the monitor."""


def prepared(spark: Any, events: Any, folder: Path, files: int, a_file: int) -> list[Path]:
    """Files of events, in the order of their numbers."""
    events(spark.range(0, files * a_file, 1, files)).write.parquet(str(folder))
    return sorted(folder.glob("*.parquet"))


def arrive(files: list[Path], folder: Path, is_over: threading.Event) -> None:
    """Every second the next file arrives."""
    begin = time.monotonic()
    for number, file in enumerate(files):
        if is_over.wait(max(0.0, begin + number - time.monotonic())):
            return
        os.utime(file)
        file.rename(folder / f"{number}.parquet")


def memory(spark: Any) -> float:
    """Megabytes: the heap after a collection, and the Python workers of this session."""
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    spark._jvm.java.lang.System.gc()
    heap: float = runtime.totalMemory() - runtime.freeMemory()
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,rss=,args="], capture_output=True, text=True, check=True).stdout
    processes = [line.split(maxsplit=3) for line in listed.splitlines()]
    ours, workers = {str(os.getpid())}, 0
    for pid, parent, rss, args in sorted(processes, key=lambda line: int(line[0])):
        if parent in ours:
            ours.add(pid)
            workers += 1000 * int(rss) if "pyspark" in args and "java" not in args else 0
    return (heap + workers) / 1e6


def arrivals(checkpoint: Path) -> Iterator[tuple[int, int, float]]:
    """Of each file that the monitor read: its source, the offset of that source, and when the file was written."""
    seen = set()
    for log in checkpoint.glob("sources/*/*"):
        if log.name.startswith("."):
            continue
        for line in log.read_text().splitlines()[1:]:  # the first one is a version
            entry = json.loads(line)
            if entry["path"] not in seen:
                seen.add(entry["path"])
                yield int(log.parent.name), entry["batchId"], entry["timestamp"] / 1000


class Watched:
    """What the monitor put out, and what Spark says of its micro-batches."""

    def __init__(self) -> None:
        self.groups: dict[str, Mapping[str, Any]] = {}
        self.differences: list[Mapping[str, Any]] = []
        self.waiting: list[int] = []
        """Rows without a match at the end of each micro-batch."""
        self.spent: dict[int, float] = {}
        """Of each micro-batch with data: milliseconds in the operator."""
        self.ends: dict[tuple[int, int], float] = {}
        """When the rows up to an offset of a source had been judged."""
        self.state_rows = 0

    def take(self, frame: Any, batch: int) -> None:
        for row in frame.collect():
            if row.kind == "progress":
                self.groups[row.id.rpartition("/")[2]] = row
            else:
                self.differences.append(row)
        self.waiting.append(self.total("unmatched"))

    def total(self, name: str) -> int:
        return sum(row[name] for row in self.groups.values())

    def look(self, progresses: Any) -> None:
        for progress in progresses:
            if progress["numInputRows"]:
                start = datetime.fromisoformat(progress["timestamp"]).timestamp()
                end = start + progress["durationMs"]["triggerExecution"] / 1000
                (operator,) = progress["stateOperators"]
                self.spent[progress["batchId"]] = operator["allUpdatesTimeMs"]
                self.state_rows = operator["numRowsTotal"]
                for number, source in enumerate(progress["sources"]):
                    offset = json.loads(source["endOffset"])
                    if offset is None:  # nothing came from there yet
                        continue
                    key = number, offset["logOffset"]
                    self.ends[key] = min(end, self.ends.get(key, end))

    def waits(self, came: Iterable[tuple[int, int, float]]) -> list[float]:
        """Seconds from the arrival of each file to the verdicts on its rows."""
        found = []
        for source, offset, at in came:
            ends = [end for (number, last), end in self.ends.items() if number == source and last >= offset]
            found += [min(ends) - at] if ends else []
        return found


def measure(minutes: float = 30, rate: float = 53_000) -> Mapping[str, Bound]:
    import firesteel as fs

    jobs = load_module("monitor-throughput")
    spark = fs.session({"spark.sql.shuffle.partitions": "2"})
    place = Path(tempfile.mkdtemp(prefix="firesteel-soak-"))
    watched, samples, queries = Watched(), list[tuple[int, float]](), list[Any]()
    is_over = threading.Event()
    try:
        seconds = int(60 * minutes)
        print(f"making {seconds * rate:,.0f} events ...", file=sys.stderr, flush=True)
        files = prepared(spark, jobs.events, place / "made", seconds, int(rate))
        (place / "in").mkdir()
        texts = spark.readStream.schema("value STRING").parquet(str(place / "in"))
        sides = []
        for name, job in (("left", jobs.first), ("right", jobs.second)):
            views = job(texts)
            writer = views.writeStream.format("parquet").option("path", str(place / name))
            writer = writer.option("checkpointLocation", str(place / f"{name}-state"))
            (place / name).mkdir()
            queries.append(writer.trigger(processingTime="1 second").start())
            sides.append(spark.readStream.schema(views.schema).parquet(str(place / name)))
        found = fs.monitor_equivalence(
            *sides, dependence=fs.unordered(), watermark=("ts", "10 minutes"), progress=True, unmatched_at_most=10**7
        )
        writer = found.writeStream.foreachBatch(watched.take)
        monitor = writer.option("checkpointLocation", str(place / "monitor-state")).start()
        queries.append(monitor)
        begin = time.monotonic()
        threading.Thread(target=arrive, args=[files, place / "in", is_over], daemon=True).start()
        while time.monotonic() - begin < seconds:
            time.sleep(A_SAMPLE)
            watched.look(monitor.recentProgress)
            samples.append((watched.state_rows, memory(spark)))
            for query in queries:
                assert query.isActive, query.exception()
            said = f"{watched.total('matched'):,} pairs, {watched.total('unmatched'):,} rows wait"
            print(f"{time.monotonic() - begin:.0f} s: {said}, {samples[-1][1]:.0f} MB", file=sys.stderr, flush=True)
        lasted = time.monotonic() - begin
        came = list(arrivals(place / "monitor-state"))
    finally:
        is_over.set()
        for query in queries:
            query.stop()
        shutil.rmtree(place, ignore_errors=True)
    late = watched.waits(came)
    a_third = len(samples) // 3
    thirds = samples[a_third : 2 * a_third], samples[2 * a_third :]
    kept, megabytes = ([mean(each[at] for each in third) for third in thirds] for at in (0, 1))
    third = len(watched.waiting) // 3
    rows = [mean(watched.waiting[third : 2 * third]), mean(watched.waiting[2 * third :])]
    a_file = VIEWS * rate
    matched, waiting = watched.total("matched"), watched.waiting[len(watched.waiting) // 3 :]
    achieved = matched / VIEWS / lasted
    share = 100 * mean(waiting) / (2 * VIEWS * achieved)
    operator = sum(watched.spent.values())
    load = os.getloadavg()[0]
    print(f"{minutes:g} minutes at {rate:,.0f} events a second; {achieved:,.0f} were done; load {load:.1f}")
    print(f"matched {matched:,} pairs in {len(watched.spent)} micro-batches; differences: {len(watched.differences)}")
    print(f"unmatched at the ends of micro-batches: mean {mean(waiting):,.0f}, which is {share:.1f}% of the records")
    print(f"of one second (the paper: {PAPERS}%)")
    print(f"in the operator: {1000 * operator / max(1, 2 * matched):.1f} us a record")
    print(f"from the arrival of a file to the verdicts on its rows: mean {mean(late):.1f} s, {max(late):.1f} s at most")
    print(
        f"second third, last third: {kept[0]:.0f} and {kept[1]:.0f} state values, which hold {rows[0]:,.0f} and", end=""
    )
    print(f" {rows[1]:,.0f} rows; memory {megabytes[0]:.0f} MB and {megabytes[1]:.0f} MB")
    return {
        "state values": Bound(kept[1] / max(1, kept[0]), at_most=1.1),
        # A side may be ahead by a file, or not: that is not growth.
        "rows in the state": Bound(rows[1] / max(rows[0], a_file), at_most=1.1),
        "memory": Bound(megabytes[1] / megabytes[0], at_most=1.1),
        "differences": Bound(len(watched.differences), at_most=0),
        "of the rate": Bound(achieved / rate, at_least=0.95),
    }
