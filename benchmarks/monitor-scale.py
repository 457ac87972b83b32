"""A monitor on executors that are processes of their own: with 1, 2 and 4 partitions the verdicts are the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from run import Bound

EVENTS = int(os.environ.get("EVENTS", "200_000"))
FILES = 8

CHILD = """
import json, sys, tempfile, time
from pathlib import Path
from pyspark.sql import SparkSession, functions as F
import firesteel as fs

folder, partitions, events, files = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
builder = SparkSession.builder.master(f"local-cluster[{min(partitions, 2)},{max(1, partitions // 2)},1024]")
builder = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.ui.showConsoleProgress", "false")
spark = builder.config("spark.sql.shuffle.partitions", str(partitions)).getOrCreate()
spark.sparkContext.setLogLevel("OFF")
if not (folder / "in").exists():
    (folder / "in").mkdir()
    for number in range(files):
        rows = spark.range(events // files * number, events // files * (number + 1), 1, 1)
        rows = rows.selectExpr("id", "id * 31 % 997 AS key", "id % 11 AS n")
        rows.write.parquet(str(folder / "one"))
        (file,) = (folder / "one").glob("*.parquet")
        file.rename(folder / "in" / f"{number}.parquet")
        __import__("shutil").rmtree(folder / "one")
stream = spark.readStream.schema("id BIGINT, key BIGINT, n BIGINT").option("maxFilesPerTrigger", 2)
left = stream.parquet(str(folder / "in"))
right = left.withColumn("n", F.when(F.col("id") % 5003 == 0, F.col("n") + 1).otherwise(F.col("n")))
found = fs.monitor_equivalence(left, right, dependence=fs.same_key("key"))
start = time.perf_counter()
with tempfile.TemporaryDirectory() as place:
    query = found.writeStream.format("parquet").option("path", place + "/out")
    query.option("checkpointLocation", place + "/state").trigger(availableNow=True).start().awaitTermination()
    seconds = time.perf_counter() - start
    rows = spark.read.schema(found.schema).parquet(place + "/out").collect()
verdicts = sorted([row.key, row.side, row.left.id, row.right.id, row.kind] for row in rows)
print(json.dumps({"seconds": seconds, "verdicts": verdicts}))
spark.stop()
"""


def measure() -> Mapping[str, Bound]:
    folder = tempfile.mkdtemp(prefix="firesteel-scale-")
    found = {}
    try:
        for partitions in (1, 2, 4):
            arguments = [folder, str(partitions), str(EVENTS), str(FILES)]
            environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
            done = subprocess.run(
                [sys.executable, "-c", CHILD, *arguments],
                env=environment,
                cwd=Path(folder),
                capture_output=True,
                text=True,
                check=True,
            )
            found[partitions] = json.loads(done.stdout.splitlines()[-1])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for partitions, each in found.items():
        print(f"{partitions} partitions: {len(each['verdicts'])} verdicts, {each['seconds']:.1f} s")
    same = [each["verdicts"] == found[1]["verdicts"] and bool(each["verdicts"]) for each in found.values()]
    return {"equal verdicts": Bound(sum(same), at_least=3)}
