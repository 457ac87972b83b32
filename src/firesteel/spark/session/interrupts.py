"""Ending what is under way, by Ctrl-C or because its time is up, so that the connection to the JVM stays usable."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLEARING = frozenset({"JavaObject.__init__.<locals>.<lambda>", "JavaClient.garbage_collect_object"})
"""Functions of py4j that run when Python lets go of an object of the JVM."""


@contextmanager
def interruptible(spark: SparkSession) -> Iterator[None]:
    """While this lasts, Ctrl-C raises `KeyboardInterrupt` and does nothing else.

    PySpark has a handler that first cancels all jobs of the session, also those of others, and that talks to the JVM
    over a connection on which an answer may be due. It is there again afterwards. A handler of the user's stays.
    """
    before: Any = signal.getsignal(signal.SIGINT)
    ours = before is signal.default_int_handler or str(getattr(before, "__module__", "")).startswith("pyspark.")
    if threading.current_thread() is not threading.main_thread() or not ours:
        yield
        return
    signal.signal(signal.SIGINT, _handler(spark))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _handler(spark: SparkSession) -> Callable[[int, FrameType | None], None]:
    def interrupted(number: int, frame: FrameType | None) -> None:
        leave_call(spark, frame)
        raise KeyboardInterrupt

    return interrupted


def leave_call(spark: SparkSession, frame: FrameType | None) -> None:
    """Call this in the handler of a signal that is about to raise, with the frame that was interrupted.

    A call of the JVM may wait for its answer there. Every later call on that connection would read the answer of the
    one before it. So the thread goes on with another connection.
    """
    if _is_in_py4j(frame):
        _leave_connection(spark)


def is_cleaning_up(frame: FrameType | None) -> bool:
    """Does Python clear something away there? What is raised in it, it prints and forgets."""
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code.co_qualname in _CLEARING:
            return True
        frame = frame.f_back
    return False


def _is_in_py4j(frame: FrameType | None) -> bool:
    """Is an answer of the JVM due?"""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def _leave_connection(spark: SparkSession) -> None:
    """Have this thread open a new connection: what comes next on the old one is the answer to what was interrupted."""
    client: Any = spark.sparkContext._gateway._gateway_client  # type: ignore[union-attr]
    with suppress(AttributeError):  # without a thread of the JVM for each of Python's, py4j does that by itself
        client.thread_connection.connection = None
        jvm: Any = spark._jvm
        # The new thread in the JVM does not know the session.
        jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)
