"""What a monitor costs: a backlog of events, drained by two pipelines with the matcher behind their joins.

The baseline is the paper's: the same query with a dummy in the matcher's place, which takes the rows and ignores them.
Both sides run in one session, in alternating rounds. EVENTS and ROUNDS make it shorter.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from run import Bound

EVENTS = int(os.environ.get("EVENTS", "3_000_000"))  # more than 60 seconds at the paper's 45,000 a second
ROUNDS = int(os.environ.get("ROUNDS", "5"))
FILES = 30
PAPERS = 45_000
CAMPAIGNS, ADS = 100, 10
PARSED = "id BIGINT, ad BIGINT, kind STRING, ts TIMESTAMP"


def backlog(spark: Any, folder: Path, events: int, files: int = FILES) -> None:
    """Events as JSON texts, as they would come from a topic."""
    from pyspark.sql import functions as F

    each = events // files
    for number in range(files):
        rows = spark.range(number * each, (number + 1) * each, 1, 2).select(
            F.to_json(
                F.struct(
                    F.col("id"),
                    (F.col("id") * 7919 % (CAMPAIGNS * ADS)).alias("ad"),
                    F.element_at(
                        F.array(F.lit("view"), F.lit("click"), F.lit("purchase")), (F.col("id") % 3 + 1).cast("int")
                    ).alias("kind"),
                    F.timestamp_millis((F.lit(1_900_000_000_000) + F.col("id") / 45).cast("bigint")).alias("ts"),
                )
            ).alias("value")
        )
        rows.write.parquet(str(folder / f"part-{number}"))
        for file in (folder / f"part-{number}").glob("*.parquet"):
            file.rename(folder / f"{number:04}-{file.name}")
        shutil.rmtree(folder / f"part-{number}")


def pipelines(spark: Any, folder: Path, per_batch: int = 2) -> tuple[Any, Any]:
    """Two versions of the benchmark's pipeline: JSON, filter, projection, join with the campaigns."""
    from pyspark.sql import functions as F

    texts = spark.readStream.schema("value STRING").option("maxFilesPerTrigger", per_batch).parquet(str(folder))
    table = spark.range(CAMPAIGNS * ADS).selectExpr("id AS ad", f"id DIV {ADS} AS campaign").persist()
    parsed = texts.select(F.from_json("value", PARSED).alias("event")).select("event.*")
    left = parsed.where("kind = 'view'").select("ad", "ts").join(F.broadcast(table), "ad")
    field = F.get_json_object
    right = texts.where(field("value", "$.kind") == "view").select(
        field("value", "$.ad").cast("bigint").alias("ad"), field("value", "$.ts").cast("timestamp").alias("ts")
    )
    return left, right.join(F.broadcast(table), "ad").select(*left.columns)


def ignored(kept: Sequence[Any] | None, new: Any, now: Any) -> tuple[Any, list[Any], int | None]:
    """The dummy: the same operator, shuffle and state, but the rows are not looked at."""
    return ("", b"", None), [], None


def monitored(left: Any, right: Any) -> Any:
    import firesteel as fs

    return fs.monitor_equivalence(left, right, dependence=fs.unordered(), watermark=("ts", "30 seconds"))


def dummy(left: Any, right: Any) -> Any:
    from firesteel.monitoring.matching.step import with_places
    from firesteel.spark.monitor.arguments import watermarked
    from firesteel.spark.monitor.pairs import pairs_query
    from firesteel.spark.monitor.values import without_metadata

    schema = without_metadata(left.schema)
    (left, delay), (right, _) = (watermarked("side", side, "ts", "30 seconds") for side in (left, right))
    return pairs_query(left, right, ignored, with_places, schema, schema.fieldNames(), 16, delay=delay)


def drained(frame: Any, place: Path) -> float:
    """Seconds until all events are through."""
    folder = tempfile.mkdtemp(dir=place)
    start = time.perf_counter()
    query = frame.writeStream.format("noop").option("checkpointLocation", folder).trigger(availableNow=True).start()
    query.awaitTermination()
    return time.perf_counter() - start


def measure() -> Mapping[str, Bound]:
    import firesteel as fs

    spark = fs.session({"spark.sql.shuffle.partitions": "2"})
    place = Path(tempfile.mkdtemp(prefix="firesteel-throughput-"))
    try:
        (place / "in").mkdir()
        backlog(spark, place / "in", EVENTS)
        left, right = pipelines(spark, place / "in")
        frames: dict[str, Callable[[Any, Any], Any]] = {
            "matcher": monitored,
            "dummy": dummy,
            "nothing": lambda a, b: a.unionAll(b),
        }
        made = {name: make(left, right) for name, make in frames.items()}
        seconds: dict[str, list[float]] = {name: [] for name in made}
        for turn in range(ROUNDS + 1):
            for name, frame in made.items():
                took = drained(frame, place)
                if turn:  # the first round warms up
                    seconds[name].append(took)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    print(f"{EVENTS:,} events, {ROUNDS} rounds, {os.cpu_count()} cores; load {os.getloadavg()[0]:.1f}")
    for name, some in seconds.items():
        print(f"  {name:<8} {median(some):7.1f} s {EVENTS / median(some):10,.0f} events/s")
    ratios = [without / with_ for with_, without in zip(seconds["matcher"], seconds["dummy"], strict=True)]
    print(f"the matcher's throughput is {median(ratios):.2f} of the dummy's (the paper: 0.95)")
    print(f"the paper's rate: {PAPERS:,} events/s")
    return {"of the dummy's throughput": Bound(median(ratios), at_least=0.9)}
