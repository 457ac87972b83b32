"""Waiting for Spark: with a time limit, in threads that keep nobody from ending the process.

The threads of Python's own executors are joined when the process ends. One that waits for a query that hangs would
keep the process, and with it the JVM, alive.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
U = TypeVar("U")

STOP_SECONDS = 10.0
"""How long a query, or a thread, may take to stop."""
# How soon a thread that waits sees that it is to stop.
_LOOK_SECONDS = 0.2


class Stopped(Exception):
    """This thread was told to stop: nobody needs what it does any more."""


@dataclass(frozen=True)
class Crew:
    """Threads that run cases at the same time."""

    stop: threading.Event = field(default_factory=threading.Event)
    """Set when all of them are to stop."""
    building: threading.RLock = field(default_factory=threading.RLock)
    """Views and settings belong to the session, so the crew builds one case at a time."""


_here = threading.local()


def crew() -> Crew | None:
    """The crew that this thread belongs to, if any."""
    return getattr(_here, "crew", None)


class Worker:
    """A thread that calls functions one after the other: a daemon, which does not keep the process from ending."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._last: Future[Any] | None = None
        self._begun = False

    @property
    def is_busy(self) -> bool:
        """Is it still at work on what it was given?"""
        return self._last is not None and not self._last.done()

    def submit(self, function: Callable[[], T]) -> Future[T]:
        """Have a function called."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._work, name="firesteel", daemon=True).start()
        future: Future[T] = Future()
        self._last = future
        self._tasks.put((future, function))
        return future

    def close(self) -> None:
        """End the thread, once it has done what it was given."""
        self._tasks.put(None)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            _fulfil(*task)


def outcome(future: Future[T], seconds: float) -> T:
    """What comes of a future. `TimeoutError` after some seconds; `Stopped` where this thread is to stop."""
    mine, give_up = crew(), time.monotonic() + seconds
    while not is_done(future, seconds if mine is None else min(_LOOK_SECONDS, seconds)):
        if mine is not None and mine.stop.is_set():
            raise Stopped
        if time.monotonic() >= give_up:
            raise TimeoutError
    return future.result()


def is_done(future: Future[Any], seconds: float) -> bool:
    """Wait until a future is done, for some seconds at the most."""
    return bool(wait([future], seconds).done)


def all_done(run: Callable[[U], T], values: Sequence[U], threads: int, begin: Callable[[], object]) -> list[T]:
    """Call a function for every value, in several threads; each thread begins with `begin`.

    The first exception ends all of it: the threads are told to stop.
    """
    mine = Crew()
    futures: list[Future[T]] = [Future() for _ in values]
    tasks: SimpleQueue[int] = SimpleQueue()
    for number in range(len(values)):
        tasks.put(number)

    def begun(number: int) -> T:
        if crew() is None:
            begin()
            _here.crew = mine
        return run(values[number])

    def work() -> None:
        while not mine.stop.is_set():
            try:
                number = tasks.get_nowait()
            except Empty:
                return
            _fulfil(futures[number], partial(begun, number))

    workers = [threading.Thread(target=work, name="firesteel", daemon=True) for _ in range(min(threads, len(values)))]
    for worker in workers:
        worker.start()
    try:
        return [future.result() for future in futures]
    except BaseException:
        mine.stop.set()
        raise
    finally:
        give_up = time.monotonic() + STOP_SECONDS
        for worker in workers:
            worker.join(max(0.0, give_up - time.monotonic()))


def _fulfil(future: Future[T], function: Callable[[], T]) -> None:
    try:
        future.set_result(function())
    except BaseException as error:
        future.set_exception(error)
