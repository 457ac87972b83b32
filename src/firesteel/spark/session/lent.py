"""Lending a session to a program that wants to make its own, and to stop it at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def lent(spark: SparkSession) -> Iterator[None]:
    """A program that makes a session or a context meanwhile gets this one, and stopping it does nothing.

    `SparkSession.builder.getOrCreate()` finds the session that runs. `SparkContext(...)` would refuse to make a second
    one: it becomes another name for the one that is there.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.streaming import StreamingContext

    context, end_stream = spark.sparkContext, vars(StreamingContext)["stop"]

    def adopt(self: Any, *arguments: Any, **named: Any) -> None:
        self.__dict__.update(context.__dict__)

    def nothing(self: Any) -> None:
        """The session lives on: who lent it wants to look at it."""

    def end_only_stream(self: Any, stopSparkContext: bool = True, stopGraceFully: bool = False) -> None:
        end_stream(self, False, stopGraceFully)

    kept: list[tuple[type[Any], str, Any]] = []
    for kind, name, instead in (
        (SparkContext, "__init__", adopt),
        (SparkContext, "stop", nothing),
        (SparkSession, "stop", nothing),
        (StreamingContext, "stop", end_only_stream),
    ):
        kept.append((kind, name, vars(kind)[name]))
        setattr(kind, name, instead)
    try:
        yield
    finally:
        for kind, name, original in kept:
            setattr(kind, name, original)


def end_work(spark: SparkSession, seconds: float) -> bool:
    """End the streams and the jobs that run; the session stays. Did the streams end within these seconds?

    Spark waits for a stream to end, and so for functions of the user's that it calls. These may never return.
    """
    ending = threading.Thread(target=_end_streams, args=(spark,), daemon=True)
    ending.start()
    ending.join(seconds)
    with suppress(Exception):  # Spark itself may be gone
        spark.sparkContext.cancelAllJobs()
    return not ending.is_alive()


def _end_streams(spark: SparkSession) -> None:
    from pyspark.streaming import StreamingContext

    with suppress(Exception):
        for query in spark.streams.active:
            query.stop()
        active = StreamingContext.getActive()
        if active is not None:
            active.stop(stopSparkContext=False)
