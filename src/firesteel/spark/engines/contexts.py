"""Spark's StreamingContext: one on a clock that stands still, and what surrounds it while a case runs.

Spark runs one StreamingContext at a time, and one that is stopped leaves things behind: RDDs in memory, a folder.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.spark.jvm import changed_conf
from firesteel.spark.session import checkpoints

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.streaming import StreamingContext


def stop_another(ours: StreamingContext) -> bool:
    """Stop a context that the subject started; False where there is none."""
    from pyspark.streaming import StreamingContext

    active = _active(ours.sparkContext)
    if active is None:
        return False
    active.stop(False, False)
    StreamingContext._activeContext = None
    return True


def _active(context: SparkContext) -> Any:
    jvm: Any = context._jvm
    found = jvm.org.apache.spark.streaming.StreamingContext.getActive()
    return found.get() if found.isDefined() else None


def refuse_a_second(spark: SparkSession) -> None:
    """Refuse to run while a context of the user's is running."""
    if _active(spark.sparkContext) is not None:
        raise InvalidArgument(
            "engine='dstream' is not possible now: a StreamingContext is running in this process, and Spark runs one "
            "at a time; stop it before: StreamingContext.getActive().stop(stopSparkContext=False)"
        )


def still_context(spark: SparkContext, interval: timedelta) -> StreamingContext:
    """A StreamingContext on a clock that stands still. One that is never started has nothing to be stopped."""
    settings = {
        "spark.streaming.clock": "org.apache.spark.util.ManualClock",
        "spark.streaming.concurrentJobs": "1",  # the output operations of a batch one after the other
    }
    with no_warning(), changed_conf(spark, settings):  # read when the context is made
        seconds: Any = interval / timedelta(seconds=1)
        return _driven()(spark, seconds)


@cache
def _driven() -> type[StreamingContext]:
    from pyspark.streaming import StreamingContext

    class Driven(StreamingContext):
        """A context for the subject to build on, not to run."""

        def checkpoint(self, directory: str) -> None:
            """Nothing is done: there is a folder already, and nobody would read what Spark writes for a new start."""

        def start(self) -> None:
            raise _refusal("start")

        def stop(self, stopSparkContext: bool = True, stopGraceFully: bool = False) -> None:
            raise _refusal("stop")

        def awaitTermination(self, timeout: int | None = None) -> None:
            raise _refusal("awaitTermination")

        def awaitTerminationOrTimeout(self, timeout: int) -> None:
            raise _refusal("awaitTerminationOrTimeout")

    return Driven


def _refusal(method: str) -> RuntimeError:
    return RuntimeError(
        f"{method}() of the StreamingContext was called, which firesteel starts and stops: leave that out of the "
        "subject, and return a DStream"
    )


@contextmanager
def no_warning() -> Iterator[None]:
    """Without Spark's warning that DStreams are deprecated: whoever asks for them knows."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="DStream is deprecated", category=FutureWarning)
        yield


@contextmanager
def checkpoint_folder(spark: SparkSession) -> Iterator[None]:
    """A folder for the RDDs of state and of windows, whose lineage Spark cuts off every ten seconds of its time.

    It is the folder of the SparkContext alone. If the StreamingContext had one, Spark would also write down the whole
    program after every batch, its Python functions pickled, to be able to start again.
    """
    java: Any = spark._jsc
    scala = java.sc()
    before = scala.checkpointDir()
    folder = checkpoints.new_folder(spark)
    scala.setCheckpointDir(folder)
    try:
        yield
    finally:
        getattr(scala, "checkpointDir_$eq")(before)
        checkpoints.remove(spark, folder)


@contextmanager
def nothing_kept(spark: SparkContext) -> Iterator[None]:
    """RDDs persisted meanwhile are freed: a context that is stopped leaves its windows and state in memory."""
    java: Any = spark._jsc
    before = set(java.getPersistentRDDs())
    try:
        yield
    finally:
        for number, rdd in dict(java.getPersistentRDDs()).items():
            if number not in before:
                rdd.unpersist(False)
