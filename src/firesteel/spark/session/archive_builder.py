"""Builds the class-data archive, in a process of its own: see `archive` for what it is and who uses it.

The process starts Spark, does once what tests do, and lets the JVM end: that is when the JVM writes the archive.
Nothing imports this module; `archive.build` starts it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firesteel.spark.session import archive

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_UNUSED_DAYS = 30


def main(background: bool) -> None:
    """What the builder process runs. Not for other processes: it changes their priority and ends their JVM."""
    if background and hasattr(os, "nice"):
        os.nice(19)
    file = archive.path()
    if file is None or not archive.take(archive.lock_file(file)):
        return
    try:
        if not file.exists():
            _make(file)
            _prune(file.parent)
    except BaseException as error:
        traceback.print_exc()
        archive.record_failure(file, f"{type(error).__name__}: {error}")
    finally:
        archive.lock_file(file).unlink(missing_ok=True)


def _make(file: Path) -> None:
    # This Spark must not use an archive, nor start another builder when it ends.
    os.environ["FIRESTEEL_ARCHIVE"] = "off"
    partial = file.with_suffix(f".{os.getpid()}.partial")
    try:
        with _bounded(file, partial):
            _run_to_the_end(partial)
        if not partial.exists():
            raise RuntimeError("the JVM ended without writing an archive")
        partial.replace(file)
    except BaseException:
        # Otherwise the JVM would still write its file after this process has ended.
        _discard(partial)
        raise


def _run_to_the_end(partial: Path) -> None:
    """Starts Spark, works with it, and waits for its JVM to end."""
    from firesteel.spark.session.start import session

    # The last two: hundreds of warnings about classes that cannot be archived, on standard output.
    options = f'"-XX:ArchiveClassesAtExit={partial}" -Xlog:disable -Xlog:all=off'
    spark = session({"spark.driver.extraJavaOptions": options})
    _work(spark)
    process: Any = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
    spark.stop()
    # The JVM ends when its standard input does, and writes the archive then.
    process.stdin.close()
    process.wait()


@contextlib.contextmanager
def _bounded(file: Path, partial: Path) -> Iterator[None]:
    """Ends this process, and with it the JVM, when the time is over."""

    def give_up() -> None:
        archive.record_failure(file, f"not done after {archive.LIMIT} seconds")
        _discard(partial)
        archive.lock_file(file).unlink(missing_ok=True)
        os._exit(1)

    timer = threading.Timer(archive.LIMIT, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _discard(partial: Path) -> None:
    """Kills the JVM, so that it stops writing, and removes what it has written."""
    context: Any = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    with contextlib.suppress(Exception):
        context._gateway.proc.kill()
        context._gateway.proc.wait(10)
    partial.unlink(missing_ok=True)


def _prune(directory: Path) -> None:
    """Removes what no run has used for a month. Each update of Java or Spark makes another archive of 150 MB."""
    oldest = time.time() - _UNUSED_DAYS * 86400
    for file in directory.glob("spark-*"):
        with contextlib.suppress(OSError):
            if file.stat().st_mtime < oldest:
                file.unlink()


# --- what goes in ----------------------------------------------------------------------------------


def _work(spark: SparkSession) -> None:
    """Does once what tests do, so that the classes for it are loaded and archived."""
    for step in (_batch_query, _python_frames, _arrow_frames, _streams):
        started = time.monotonic()
        try:
            step(spark)
            print(f"{step.__name__}: {time.monotonic() - started:.1f} s", flush=True)
        except Exception:
            # Not an error: the archive only has fewer classes.
            traceback.print_exc()


def _batch_query(spark: SparkSession) -> None:
    spark.range(100).selectExpr("id % 3 AS k", "id AS n").createOrReplaceTempView("numbers")
    spark.sql("SELECT k, sum(n) AS total, count(DISTINCT n) FROM numbers GROUP BY k ORDER BY total").collect()
    left = spark.table("numbers")
    left.join(left.withColumnRenamed("n", "m"), "k", "left_outer").dropDuplicates(["k"]).collect()


def _python_frames(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    frame = spark.createDataFrame([(1, "a", 0.5), (2, "b", None)], "id BIGINT, name STRING, x DOUBLE")
    shout: Any = f.udf(lambda text: text.upper(), "string")
    frame.select("id", shout("name").alias("name")).filter("id > 0").collect()
    spark.sparkContext.parallelize(range(10), 2).map(lambda n: (n % 2, n)).reduceByKey(lambda a, b: a + b).collect()


def _arrow_frames(spark: SparkSession) -> None:
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

    frame = spark.createDataFrame(pyarrow.table({"id": [1, 2]}))
    frame.toArrow()


def _streams(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    source, add = _memory_stream(spark, "id BIGINT, at TIMESTAMP")
    windows = source.withWatermark("at", "10 seconds").groupBy(f.window("at", "5 seconds")).count()
    totals = source.groupBy((f.col("id") % 2).alias("k")).agg(f.sum("id").alias("total"))
    # A lambda that nothing else holds would be gone before the last batch.
    seen: list[int] = []
    queries = [
        windows.writeStream.outputMode("append").format("memory").queryName("windows").start(),
        totals.writeStream.outputMode("complete").format("memory").queryName("totals").start(),
        source.filter("id > 1")
        .writeStream.outputMode("append")
        .foreachBatch(lambda batch, number: seen.append(len(batch.collect())))
        .start(),
    ]
    for second in (0, 30):
        rows = spark.sql(f"SELECT id, timestamp_seconds({second} + id) AS at FROM range(5)")
        add(rows)
        for query in queries:
            query.processAllAvailable()
    spark.table("windows").collect()
    for query in queries:
        query.stop()


def _memory_stream(spark: SparkSession, ddl: str) -> tuple[DataFrame, Callable[[DataFrame], None]]:
    """A stream source for `_streams`. Not the one of `firesteel.spark`: a change there must not break the builder."""
    from pyspark.sql import DataFrame

    jvm: Any = spark.sparkContext._jvm
    jsession: Any = spark._jsparkSession
    schema = spark.createDataFrame([], ddl).schema
    encoder = jvm.org.apache.spark.sql.Encoders.row(jsession.parseDataType(schema.json()))
    try:
        stream = jvm.org.apache.spark.sql.execution.streaming.runtime.MemoryStream.apply(encoder, jsession)
    except TypeError:  # Spark 4.0: the name is a package to py4j, and cannot be called
        stream = jvm.org.apache.spark.sql.execution.streaming.MemoryStream.apply(encoder, jsession.sqlContext())

    def add(rows: DataFrame) -> None:
        stream.addData(jvm.org.apache.spark.api.python.PythonUtils.toSeq(rows._jdf.collectAsList()))

    return DataFrame(stream.toDF(), spark), add
