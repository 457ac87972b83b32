"""What a monitor costs: a backlog of events, drained by two pipelines with the matcher behind their joins.

The baseline is the paper's: the same query with a dummy in the matcher's place, which takes the rows and ignores them.
All run in one session, in alternating rounds. The aggregation that follows in the paper's application is left out: it
is the same work on both sides, and would only bring the ratio closer to 1.

`--seconds` is how long the backlog lasts, at the rate that is measured first; `--rounds` how often it is drained;
`--a-file` how many events a file has.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from run import Bound

PAPERS = 45_000
"""Events a second in the paper."""
SHORT = 4
"""Files to warm up with, and to find the rate."""
CAMPAIGNS, ADS = 100, 10
PARSED = "id BIGINT, ad BIGINT, kind STRING, ts TIMESTAMP"


def events(numbers: Any) -> Any:
    """Numbers (`id`) as events: JSON texts, as they would come from a topic. A third of them are views."""
    from pyspark.sql import functions as F

    kinds = F.array(F.lit("view"), F.lit("click"), F.lit("purchase"))
    event = F.struct(
        F.col("id"),
        (F.col("id") * 7919 % (CAMPAIGNS * ADS)).alias("ad"),
        F.element_at(kinds, (F.col("id") % 3 + 1).cast("int")).alias("kind"),
        F.timestamp_millis((F.lit(1_900_000_000_000) + F.col("id") / 45).cast("bigint")).alias("ts"),
    )
    return numbers.select(F.to_json(event).alias("value"))


def backlog(spark: Any, folder: Path, files: int, a_file: int) -> Any:
    """Writes the files of the backlog. Returns the stream that reads them, two files in each micro-batch."""
    events(spark.range(0, files * a_file, 1, files)).write.parquet(str(folder))
    for number, file in enumerate(sorted(folder.glob("*.parquet"))):
        os.utime(file, (1_000_000 + number, 1_000_000 + number))
    return spark.readStream.schema("value STRING").option("maxFilesPerTrigger", 2).parquet(str(folder))


def first(texts: Any) -> Any:
    """One version of the pipeline: JSON as a struct, filter, join with the campaigns."""
    from pyspark.sql import functions as F

    parsed = texts.select(F.from_json("value", PARSED).alias("event")).select("event.*")
    return _joined(parsed.where("kind = 'view'").select("ad", "ts"))


def second(texts: Any) -> Any:
    """Another one: field by field."""
    from pyspark.sql import functions as F

    field = F.get_json_object
    views = texts.where(field("value", "$.kind") == "view").select(
        field("value", "$.ad").cast("bigint").alias("ad"), field("value", "$.ts").cast("timestamp").alias("ts")
    )
    return _joined(views)


def _joined(views: Any) -> Any:
    from pyspark.sql import functions as F

    table = views.sparkSession.range(CAMPAIGNS * ADS).selectExpr("id AS ad", f"id DIV {ADS} AS campaign")
    return views.join(F.broadcast(table), "ad").select("ad", "ts", "campaign")


def ignored(kept: Sequence[Any] | None, new: Any, now: Any, resets: Any) -> tuple[Any, list[Any], int | None]:
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


FRAMES: Mapping[str, Callable[[Any, Any], Any]] = {
    "matcher": monitored,
    "dummy": dummy,
    "nothing": lambda left, right: left.unionAll(right),
}


def drained(frame: Any, place: Path) -> float:
    """Seconds until all events are through."""
    folder = tempfile.mkdtemp(dir=place)
    start = time.perf_counter()
    query = frame.writeStream.format("noop").option("checkpointLocation", folder).trigger(availableNow=True).start()
    query.awaitTermination()
    return time.perf_counter() - start


def measure(seconds: float = 75, rounds: float = 5, a_file: float = 100_000) -> Mapping[str, Bound]:
    import firesteel as fs

    print(f"this takes about {seconds * (0.5 + 2.5 * rounds) / 60:.0f} minutes ...", file=sys.stderr, flush=True)
    spark = fs.session({"spark.sql.shuffle.partitions": "2"})
    place = Path(tempfile.mkdtemp(prefix="firesteel-throughput-"))
    took: dict[str, list[float]] = {name: [] for name in FRAMES}
    try:
        short = backlog(spark, place / "short", SHORT, int(a_file))
        for make in FRAMES.values():  # to warm up
            drained(make(first(short), second(short)), place)
        rate = SHORT * a_file / drained(monitored(first(short), second(short)), place)
        print(f"warm: {rate:,.0f} events/s", file=sys.stderr, flush=True)
        files = max(4, round(rate * seconds / a_file))
        stream = backlog(spark, place / "in", files, int(a_file))
        made = {name: make(first(stream), second(stream)) for name, make in FRAMES.items()}
        for number in range(int(rounds)):
            for name, frame in made.items():
                took[name].append(drained(frame, place))
                print(f"round {number}, {name}: {took[name][-1]:.1f} s", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    load = os.getloadavg()[0]
    print(f"{files * a_file:,.0f} events, {rounds:g} rounds, {os.cpu_count()} cores; load {load:.1f}")
    for name, some in took.items():
        print(f"  {name:<8} {median(some):7.1f} s {files * a_file / median(some):10,.0f} events/s")
    ratios = [without / with_ for with_, without in zip(took["matcher"], took["dummy"], strict=True)]
    print(f"the matcher's throughput is {median(ratios):.3f} of the dummy's (the paper: 0.95); by round: ", end="")
    print(", ".join(f"{ratio:.3f}" for ratio in ratios))
    print(f"the paper's rate: {PAPERS:,} events/s")
    return {
        "of the dummy's throughput": Bound(median(ratios), at_least=0.9),
        "seconds of backlog": Bound(median(took["matcher"]), at_least=min(60, 0.8 * seconds)),
    }
