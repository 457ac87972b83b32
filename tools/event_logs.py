"""Makes real event logs: small applications on which Spark meets trouble, each with a log of its own.

    python tools/event_logs.py FOLDER [NAME ...]      # writes FOLDER/NAME for every application, or for those named

The tests of `fs.verify` make them on the spot. tests/history/logs keeps trimmed copies for quick tests, which
tools/pack_event_logs.py makes.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType

QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
    # Short applications are quicker without the optimizing compiler.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


@contextmanager
def application(folder: Path, name: str, master: str = "local[2,4]", **config: str) -> Iterator[SparkSession]:
    """An application whose log becomes `folder/name`."""
    with tempfile.TemporaryDirectory() as made:
        builder = SparkSession.builder.master(master).appName(name)
        for key, value in {**QUIET, "spark.eventLog.dir": made, "spark.local.dir": f"{made}/local", **config}.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        try:
            yield spark
        finally:
            spark.stop()
        (log,) = (path for path in Path(made).iterdir() if path.name != "local" and not path.name.startswith("."))
        shutil.move(log, folder / name)


def tasks_of(spark: SparkSession, count: int, work: Callable[[int, TaskContext], Any]) -> list[Any]:
    """A job of some tasks; each calls a function with its partition and its context."""

    def run(index: int, rows: Iterator[int]) -> Iterator[Any]:
        context = TaskContext.get()
        assert context is not None
        yield work(index, context)

    return spark.sparkContext.parallelize(range(count), count).mapPartitionsWithIndex(run).collect()


# --- applications ------------------------------------------------------------------------------------------------


def retried(folder: Path) -> None:
    """A task fails twice and then succeeds; another job fails for good."""

    def twice(index: int, context: TaskContext) -> int:
        assert index != 1 or context.attemptNumber() >= 2, "not yet"
        return index

    def never(index: int, context: TaskContext) -> int:
        raise AssertionError("never")

    with application(folder, "retried") as spark:
        tasks_of(spark, 3, twice)
        spark.range(100).groupBy((F.col("id") % 3).alias("k")).count().collect()
        with contextlib.suppress(Exception):
            tasks_of(spark, 1, never)


def lost_block(folder: Path) -> None:
    """The files of a shuffle disappear between two jobs that use it: a fetch failure, and the stage runs again."""
    with application(folder, "lost_block") as spark:
        counted = spark.sparkContext.parallelize(range(100), 2).map(lambda n: (n % 5, 1)).reduceByKey(max)
        counted.count()
        counted.count()  # the map stage is skipped
        local = spark.conf.get("spark.local.dir")
        for file in glob.glob(f"{local}/**/shuffle_*", recursive=True):
            os.remove(file)
        counted.count()


def adaptive(folder: Path) -> None:
    """Plans that change while they run: stages that are skipped, reused, and cancelled as nobody needs them."""

    slow = F.udf(lambda n: time.sleep(2) or n, IntegerType())
    with application(folder, "adaptive", **{"spark.sql.autoBroadcastJoinThreshold": "-1"}) as spark:
        left = spark.range(2).repartition(2).select(slow("id").alias("a"))
        right = spark.range(4).where("id > rand() + 100").selectExpr("cast(id as int) b")
        left.join(right, F.col("a") == F.col("b")).collect()  # nothing on the right: the left is not needed
        failing = (
            spark.range(1)
            .repartition(1)
            .select(F.udf(lambda n: time.sleep(0.5) or 1 // n, IntegerType())("id").alias("b"))
        )
        with contextlib.suppress(Exception):
            left.join(failing, F.col("a") == F.col("b")).collect()  # the right fails: the left is cancelled
        once = spark.range(1000).selectExpr("id % 7 k", "id v").groupBy("k").sum("v")
        once.join(once.withColumnRenamed("sum(v)", "w"), "k").collect()
        cached = spark.range(1000).repartition(3).cache()
        cached.count()
        cached.groupBy((F.col("id") % 3).alias("m")).count().collect()


def spilling(folder: Path) -> None:
    """Sorting that spills to disk, a task much longer than others of its stage, a barrier stage that runs again."""

    def once_more(rows: Iterator[int]) -> Iterator[int]:
        if not os.path.exists(f"{made}/tried"):
            Path(made, "tried").touch()
            raise AssertionError("not yet")
        yield from rows

    def slow_one(index: int, context: TaskContext) -> int:
        time.sleep(3.0 if index == 3 else 0.05)
        return index

    config = {
        "spark.shuffle.spill.numElementsForceSpillThreshold": "100",
        "spark.sql.sortMergeJoinExec.buffer.spill.threshold": "100",
    }
    with tempfile.TemporaryDirectory() as made, application(folder, "spilling", **config) as spark:
        tasks_of(spark, 4, lambda index, context: index)  # starts Python
        tasks_of(spark, 4, slow_one)
        pairs = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(once_more).map(lambda n: (n, n))
        pairs.reduceByKey(max).count()
        spark.range(5_000).selectExpr("id * 7919 % 20011 n").sort("n").collect()


class Feed:
    """A stream of JSON files, one for each micro-batch, that an aggregation with a watermark reads."""

    def __init__(self, spark: SparkSession, place: Path, *, after: Callable[[int], None] = lambda batch: None) -> None:
        self.spark, self.place, self.after = spark, place, after
        self.input, self.checkpoint = place / "in", place / "checkpoint"
        self.input.mkdir(exist_ok=True)

    def put(self, *minutes: int) -> None:
        """One more file, with an event at each of these minutes after midnight."""
        lines = [json.dumps({"at": f"2000-01-01T{m // 60:02}:{m % 60:02}:00Z", "k": m % 3}) for m in minutes]
        number = len(list(self.input.glob("*.json")))
        hidden = self.place / "hidden"
        hidden.write_text("\n".join(lines))
        os.utime(hidden, (1_700_000_000 + number,) * 2)  # Spark takes the oldest first
        hidden.rename(self.input / f"{number:04}.json")

    def start(self) -> Any:
        rows = self.spark.readStream.schema("at TIMESTAMP, k INT").option("maxFilesPerTrigger", 1).json(str(self.input))
        counts = rows.withWatermark("at", "10 minutes").groupBy(F.window("at", "5 minutes"), "k").count()

        def put_out(frame: Any, batch: int) -> None:
            frame.collect()
            self.after(batch)

        writer = counts.writeStream.outputMode("append").foreachBatch(put_out).queryName("counts")
        return writer.option("checkpointLocation", str(self.checkpoint)).start()

    def ended(self) -> None:
        """Run until there is nothing left to do, and stop."""
        query = self.start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()


def streaming(folder: Path) -> None:
    """A query that drops late rows, crashes after it put out a batch, and replays it when it is started again."""
    crash: list[int] = []

    def after(batch: int) -> None:
        if crash and batch >= crash[0]:
            crash.clear()
            raise RuntimeError("a crash after the output")

    with tempfile.TemporaryDirectory() as place, application(folder, "streaming") as spark:
        feed = Feed(spark, Path(place), after=after)
        feed.put(0, 1, 2)
        feed.put(30, 31)
        feed.put(33, 62)
        feed.put(2, 63)  # minute 2 is late: Spark goes by the watermark of the batch before
        feed.ended()
        feed.put(70)
        crash.append(4)
        with contextlib.suppress(Exception):
            feed.ended()
        feed.put(95)
        feed.ended()


def punctual(folder: Path) -> None:
    """The same query with rows that come in time, started twice."""
    with tempfile.TemporaryDirectory() as place, application(folder, "punctual") as spark:
        feed = Feed(spark, Path(place))
        for start in (0, 15, 30):
            feed.put(start, start + 1, start + 2)
        feed.ended()
        for start in (45, 60):
            feed.put(start, start + 1)
        feed.ended()


def tampered(folder: Path) -> None:
    """A query whose checkpoint is tampered with: batches commit twice, ids and the watermark go back.

    Another query, in an application of its own, is stopped in the middle of a batch.
    """
    sleep: list[float] = []
    with tempfile.TemporaryDirectory() as place, application(folder, "tampered") as spark:
        feed = Feed(spark, Path(place))
        for start in (0, 30, 60):
            feed.put(start)
        feed.ended()
        *_, earlier, last = sorted(int(path.name) for path in (feed.checkpoint / "commits").glob("[0-9]*"))
        for name in (f"commits/{earlier}", f"commits/{last}", f"offsets/{last}"):
            (feed.checkpoint / name).unlink()
        for checksum in feed.checkpoint.rglob(".*.crc"):
            checksum.unlink()
        offsets = feed.checkpoint / "offsets" / str(earlier)
        version, metadata, *rest = offsets.read_text().splitlines()
        lower = json.loads(metadata) | {"batchWatermarkMs": 946_684_800_000}
        offsets.write_text("\n".join([version, json.dumps(lower), *rest]))
        feed.ended()

    with tempfile.TemporaryDirectory() as place, application(folder, "stopped") as spark:
        begun = threading.Event()

        def slowly(batch: int) -> None:
            if sleep:
                spark.sparkContext.parallelize([1], 1).foreach(lambda n: time.sleep(2))
                begun.set()
                spark.sparkContext.parallelize([1], 1).foreach(lambda n: time.sleep(20))

        feed = Feed(spark, Path(place), after=slowly)
        query = feed.start()
        for start in (0, 2):
            feed.put(start)
            query.processAllAvailable()
        sleep.append(1)
        feed.put(16)
        begun.wait(60)
        query.stop()


def slow_batch(folder: Path) -> None:
    """A query of which one batch takes much longer than those before it."""
    with tempfile.TemporaryDirectory() as place, application(folder, "slow_batch") as spark:
        feed = Feed(spark, Path(place), after=lambda batch: time.sleep(8.0 if batch == 8 else 0.0))
        for start in range(0, 18, 2):
            feed.put(start)
        feed.ended()


def cluster(folder: Path) -> None:
    """Executors as processes of their own, one of which is killed while a job runs. The log is a rolling one."""
    packed = {"spark.eventLog.rolling.enabled": "true", "spark.eventLog.compress": "true"}

    def executor(index: int, context: TaskContext) -> int:
        """The process of the executor: Spark's Python workers are children of a daemon that it started."""
        time.sleep(0.5)
        return parent_of(os.getppid())

    with application(folder, "cluster", "local-cluster[2,1,1024]", **packed) as spark:
        processes = sorted(set(tasks_of(spark, 4, executor)))
        counted = spark.sparkContext.parallelize(range(100), 4).map(lambda n: (n % 5, 1)).reduceByKey(max, 4)
        counted.count()
        work = counted.mapPartitions(lambda rows: (time.sleep(1.5), *rows))
        threading.Timer(1.0, os.kill, (processes[0], signal.SIGKILL)).start()
        work.count()


def speculation(folder: Path) -> None:
    """A slow task gets a second copy, on another host: two workers with different addresses in this process."""
    config = {
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "500ms",
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
    }

    def lingering(index: int, context: TaskContext) -> int:
        time.sleep(30.0 if index == 1 and context.attemptNumber() == 0 else 0.3)
        return index

    with (
        tempfile.TemporaryDirectory() as work,
        two_hosts(Path(work)) as master,
        application(folder, "speculation", master, **config) as spark,
    ):
        tasks_of(spark, 2, lambda index, context: time.sleep(1))
        assert tasks_of(spark, 4, lingering) == [0, 1, 2, 3]
        time.sleep(4)  # until the first copy is killed


@contextmanager
def two_hosts(work: Path) -> Iterator[str]:
    """The address of a master, with two workers that look like different hosts: Spark copies a task to another one."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    gateway: Any = SparkContext._gateway
    deploy, none = gateway.jvm.org.apache.spark.deploy, gateway.jvm.scala.Option.empty()
    conf = gateway.jvm.org.apache.spark.SparkConf(False).set("spark.master.rest.enabled", "false")
    conf.set("spark.ui.enabled", "false")
    started = deploy.master.Master.startRpcEnvAndEndpoint("127.0.0.1", 0, 0, conf)._1()
    address = f"spark://127.0.0.1:{started.address().port()}"
    urls = gateway.new_array(gateway.jvm.String, 1)
    urls[0] = address
    environments = [started]
    for number, host in enumerate(("127.0.0.1", "127.0.0.2")):
        some = gateway.jvm.scala.Option.apply(number)
        environments.append(
            deploy.worker.Worker.startRpcEnvAndEndpoint(host, 0, 0, 1, 1024, urls, str(work), some, conf, none)
        )
    try:
        yield address
    finally:
        for environment in reversed(environments):
            environment.shutdown()


def parent_of(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("PPid:")[2].split()[0])


APPLICATIONS: dict[str, Callable[[Path], None]] = {
    "retried": retried,
    "lost_block": lost_block,
    "adaptive": adaptive,
    "spilling": spilling,
    "streaming": streaming,
    "punctual": punctual,
    "tampered": tampered,
    "slow_batch": slow_batch,
    "cluster": cluster,
    "speculation": speculation,
}


def make(folder: Path, names: list[str]) -> None:
    for name in names or APPLICATIONS:
        start = time.monotonic()
        APPLICATIONS[name](folder)
        print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    make(folder, arguments[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
