"""A process that monitors the files of a folder until it is killed: `python -m tests.monitoring.killed FOLDER [once]`.

It says "running" once a micro-batch was done. With `once` it ends when all files were read.
"""

import sys
import time
from pathlib import Path

import firesteel as fs
from tests.monitoring.pairs import SCHEMA


def total(now):
    return sum(0 if row.n is None or row.n != row.n else row.n for row in now.input)


RULE = fs.next_(lambda now: total(now) < 1) | fs.once(lambda now: len(now.input) > 2)


def frames(spark, folder: Path):
    stream = spark.readStream.schema(f"file INT, side INT, {SCHEMA}").option("maxFilesPerTrigger", 1)
    rows = stream.parquet(str(folder / "in"))
    left, right = (rows.where(f"side = {side}").select("pair", "kind", "n", "ts") for side in (0, 1))
    return {
        "equivalence": fs.monitor_equivalence(left, right, dependence=fs.same_key("pair"), groups=3),
        "unordered": fs.monitor_equivalence(
            left, right, dependence=fs.unordered(), watermark=("ts", "1 hour"), groups=3
        ),
        "rule": fs.monitor(left, RULE, key="pair"),
    }


def main(folder: Path, once: bool) -> None:
    spark = fs.session()
    # A micro-batch for each file and no others, whenever a file is found: so the watermark of each is always the same.
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    queries = []
    for name, frame in frames(spark, folder).items():
        writer = frame.writeStream.format("parquet").option("path", str(folder / name))
        writer = writer.option("checkpointLocation", str(folder / f"{name}-state"))
        queries.append((writer.trigger(availableNow=True) if once else writer).start())
    while not once:
        if any(query.lastProgress is not None and query.lastProgress["numInputRows"] for query in queries):
            print("running", flush=True)
        for query in queries:
            if not query.isActive:
                raise RuntimeError("a query ended") from query.exception()
        time.sleep(0.2)
    for query in queries:
        query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), "once" in sys.argv)
