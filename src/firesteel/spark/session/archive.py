"""The class-data archive: Spark's classes, parsed and checked once, so that Spark starts in about half the time.

The JVM writes it when it ends (`-XX:ArchiveClassesAtExit`) and maps it into memory when it starts
(`-XX:SharedArchiveFile`). It belongs to one exact JDK build and one class path, so its file name is a hash of both;
where it does not fit, `-Xshare:auto` makes the JVM go on without. Nothing depends on it but time: every failure here is
silent, and written down for `firesteel doctor`.

JDK 19 and later can write it from any run (`-XX:+AutoCreateSharedArchive`). That is not used: the user's own run would
pay for the writing, and what goes in would depend on which test ran first.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.util
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from firesteel.spark.session import java

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

State = Literal["ready", "building", "missing", "failed", "off"]

LIMIT = 300
"""Seconds after which a builder ends itself. It takes about 50."""

_UNUSED_DAYS = 30


@dataclass(frozen=True)
class ArchiveStatus:
    """How the archive for this Java and this PySpark stands.

    >>> ArchiveStatus("off", None, "FIRESTEEL_ARCHIVE=off").state
    'off'
    """

    state: State
    path: Path | None
    """Where it is or would be; None if there is no Java or no PySpark to make one for."""
    detail: str
    """One sentence for people."""


def status() -> ArchiveStatus:
    """Is there an archive, is one being built, or what went wrong? Takes a few milliseconds and starts nothing.

    >>> status().state in {"ready", "building", "missing", "failed", "off"}
    True
    """
    if _switched_off():
        return ArchiveStatus("off", None, f"FIRESTEEL_ARCHIVE={os.environ['FIRESTEEL_ARCHIVE']} is set")
    file = path()
    if file is None:
        return ArchiveStatus("missing", None, "needs both Java and PySpark")
    if file.exists():
        return ArchiveStatus("ready", file, f"{file.stat().st_size / 1e6:.0f} MB")
    owner = _owner(_lock_file(file))
    if owner is not None:
        return ArchiveStatus("building", file, f"by process {owner}")
    failure = _failure_file(file)
    if failure.exists():
        reason = failure.read_text(encoding="utf-8", errors="replace").strip()
        return ArchiveStatus("failed", file, f"{reason} (log: {_log_file(file)})")
    if not _builds_by_itself():
        return ArchiveStatus("missing", file, "not built by itself where CI or FIRESTEEL_ARCHIVE=use is set")
    return ArchiveStatus("missing", file, "built in the background after the next run")


def java_options() -> list[str]:
    """The JVM options that use the archive; none where there is no archive."""
    now = status()
    if now.state != "ready" or now.path is None:
        return []
    with contextlib.suppress(OSError):
        os.utime(now.path)  # `_prune` goes by the last use
    # The last one: an archive that does not fit is reported on standard output, even with -Xshare:auto.
    return [f"-XX:SharedArchiveFile={now.path}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"]


def build(wait: bool = True) -> ArchiveStatus:
    """Builds the archive if there is none; a build that failed before is tried again.

    >>> build().state                                                   # doctest: +SKIP
    'ready'

    With `wait` it takes about 50 seconds; without, a process of low priority goes on after this one.
    """
    now = status()
    if now.path is None or now.state == "ready":
        return now
    with contextlib.suppress(OSError):
        _failure_file(now.path).unlink(missing_ok=True)
        builder = None if now.state == "building" else _start_builder(now.path, background=not wait)
        if wait:
            _wait(builder)
    return status()


def build_at_exit() -> None:
    """Has the archive built after this process has ended, if there is none and nobody is at it.

    Not at once: measured on 2 cores, a first run of 23 seconds takes 30 with a builder of nice 19 beside it. A JVM that
    starts wants both cores, as does the builder's. After the end nobody waits.
    """
    if status().state == "missing" and path() is not None and _builds_by_itself():
        atexit.register(_build_after, os.getpid())


def _build_after(owner: int) -> None:
    # A forked child inherits the registration, but it is not the one whose end counts.
    if os.getpid() == owner and status().state == "missing":
        build(wait=False)


def _switched_off() -> bool:
    return os.environ.get("FIRESTEEL_ARCHIVE", "").lower() in {"off", "0", "false", "no"}


def _builds_by_itself() -> bool:
    """Not in CI, where nobody comes back to use it, nor with FIRESTEEL_ARCHIVE=use: what is there, and no more."""
    return "CI" not in os.environ and os.environ.get("FIRESTEEL_ARCHIVE", "").lower() != "use"


# --- files ---------------------------------------------------------------------------------------


def cache_directory() -> Path:
    """`$XDG_CACHE_HOME/firesteel`, by default `~/.cache/firesteel`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules: a path that is not absolute does not count.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "firesteel"


def path() -> Path | None:
    """The archive's file for this Java and this PySpark, whether it is there or not; None without either."""
    found, jars = java.find(), jar_directory()
    if found is None or jars is None:
        return None
    digest = hashlib.sha256(f"{found.executable}\n{found.build}\n{jars}\n".encode())
    with os.scandir(jars) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            about = entry.stat()
            digest.update(f"{entry.name} {about.st_size} {about.st_mtime_ns}\n".encode())
    return cache_directory() / f"spark-{digest.hexdigest()[:16]}.jsa"


def jar_directory() -> Path | None:
    """Spark's jars: those of SPARK_HOME, or of the installed package, which is not imported for it."""
    home = os.environ.get("SPARK_HOME")
    if home:
        root: Path | None = Path(home)
    else:
        spec = importlib.util.find_spec("pyspark")
        root = None if spec is None or spec.origin is None else Path(spec.origin).parent
    return root / "jars" if root is not None and (root / "jars").is_dir() else None


def _lock_file(file: Path) -> Path:
    return file.with_suffix(".lock")


def _failure_file(file: Path) -> Path:
    return file.with_suffix(".failed")


def _log_file(file: Path) -> Path:
    return file.with_suffix(".log")


# --- the lock ------------------------------------------------------------------------------------


def _owner(lock: Path) -> int | None:
    """The process that holds the lock; None if nobody does, or whoever did is gone."""
    try:
        pid = int(lock.read_text(encoding="ascii"))
        age = time.time() - lock.stat().st_mtime
    except (OSError, ValueError):
        return None
    # By age too: after a restart of the machine some other process may have the number.
    return pid if _alive(pid) and age < 2 * LIMIT else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _take(lock: Path) -> bool:
    """Takes the lock, also from an owner that is gone. False if another process has it.

    The file appears with its owner in it (linked, not written in place), so that nobody ever reads an empty lock. Two
    processes that find the same stale lock at the same moment may, very rarely, both go on; each then writes a whole
    archive, and the last one stays.
    """
    own = lock.with_suffix(f".lock-{os.getpid()}")
    own.write_text(str(os.getpid()), encoding="ascii")
    try:
        for _ in range(2):
            with contextlib.suppress(FileExistsError):
                os.link(own, lock)
                return True
            if _owner(lock) is not None:
                return False
            lock.unlink(missing_ok=True)
        return False
    finally:
        own.unlink(missing_ok=True)


# --- the builder's side ----------------------------------------------------------------------------


def _start_builder(file: Path, *, background: bool) -> subprocess.Popen[bytes]:
    """A process of its own: the archive is written when its JVM ends, and the user's must not wait for that."""
    file.parent.mkdir(parents=True, exist_ok=True)
    home = str(Path(__file__).parents[3])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])}
    command = f"from firesteel.spark import archive; archive.main(background={background})"
    with _log_file(file).open("wb") as log:
        builder = subprocess.Popen(
            [sys.executable, "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=file.parent,
            env=environment,
            start_new_session=True,
        )
    if background:
        # Nobody will ask how it ended; without this Popen warns about a process that is still running.
        builder.returncode = 0
    return builder


def _wait(builder: subprocess.Popen[bytes] | None) -> None:
    end = time.monotonic() + LIMIT + 30
    if builder is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            builder.wait(LIMIT + 30)
    # Ours may have found another one at work and left it to that.
    while status().state == "building" and time.monotonic() < end:
        time.sleep(0.5)


def main(background: bool) -> None:
    """What a builder process runs. Not for others: it changes the priority of its process and ends its JVM."""
    if background and hasattr(os, "nice"):
        os.nice(19)
    file = path()
    if file is None or not _take(_lock_file(file)):
        return
    try:
        if not file.exists():
            _make(file)
            _prune(file.parent)
    except BaseException as error:
        traceback.print_exc()
        _fail(file, f"{type(error).__name__}: {error}")
    finally:
        _lock_file(file).unlink(missing_ok=True)


def _fail(file: Path, reason: str) -> None:
    _failure_file(file).write_text(reason.splitlines()[0][:500], encoding="utf-8")


def _make(file: Path) -> None:
    # Not with the archive that is to be built, and with no builder at this builder's end.
    os.environ["FIRESTEEL_ARCHIVE"] = "off"
    partial = file.with_suffix(f".{os.getpid()}.partial")
    try:
        with _bounded(file, partial):
            _run_to_the_end(partial)
        if not partial.exists():
            raise RuntimeError("the JVM ended without writing an archive")
        partial.replace(file)
    except BaseException:
        # Else the JVM would still write its file, when this process is gone.
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
        _fail(file, f"not done after {LIMIT} seconds")
        _discard(partial)
        _lock_file(file).unlink(missing_ok=True)
        os._exit(1)

    timer = threading.Timer(LIMIT, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _discard(partial: Path) -> None:
    """Kills the JVM, so that it writes nothing any more, and removes what it has written."""
    context: Any = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    with contextlib.suppress(Exception):
        context._gateway.proc.kill()
        context._gateway.proc.wait(10)
    partial.unlink(missing_ok=True)


def _prune(directory: Path) -> None:
    """Removes what no run has used for a month: an archive has 150 MB, and every update of Java or Spark makes one."""
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
            # Fewer classes in the archive, that is all.
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
    """Only for the work above: `firesteel.spark` has the real source, and a change there must not break this."""
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
