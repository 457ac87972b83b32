"""Running a PySpark program of the user's in this process, under a capture and with a time limit."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from firesteel.dags import Dag, capture
from firesteel.errors import InvalidArgument, described

_STREAMS_END_IN = 20.0
"""Seconds in which streams have to end after the program has ended."""

_AGAIN_AFTER = 5.0
"""Seconds until a program is told again that its time is up. It may have caught the first exception."""

_HINT_AFTER = 60.0
"""Seconds until it is said of a program without a time limit that it may have one."""

_SOON = 0.01
"""Seconds until Python has probably finished the clean-up that it was interrupted in."""


@dataclass(frozen=True)
class Ran:
    """A program that was run."""

    dag: Dag
    failure: str | None = None
    """Why it ended early."""
    was_stopped: bool = False
    """Did it not end by itself in time?"""


class _TimeIsUp(BaseException):
    """Raised in the program when its time has passed. Not an Exception, so that few programs hold it back."""


def to_write(option: str, given: str) -> Path:
    """A file that is written when the program has run; refused before that where its folder is missing."""
    file = Path(given)
    if not file.parent.is_dir() or file.is_dir():
        why = "is a folder" if file.is_dir() else f"is in a folder that does not exist ({file.parent})"
        raise InvalidArgument(f"{described(option, given)} {why}: write the path of a file in a folder that is there")
    return file


def run_script(script: Path, arguments: Sequence[str], seconds: float | None, hint: str = "") -> Ran:
    """Run a program as `python SCRIPT ARGS` would. What it prints goes to standard error.

    If it has no time limit, and runs for long, it says that, and the `hint`.
    """
    from firesteel.api import session
    from firesteel.spark.session.interrupts import interruptible
    from firesteel.spark.session.lent import end_work, lent

    with stdout_as_stderr():  # Spark is started here, unless it runs already, and keeps what it is given
        spark = session()
    before, path = sys.argv, list(sys.path)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    dag, failure, clock = Dag(), None, _Clock(spark)
    try:
        with capture(spark) as dag, interruptible(spark), lent(spark), redirect_stdout(sys.stderr):
            try:
                with clock.set_to(seconds), _hinting(script, hint if seconds is None else ""):
                    runpy.run_path(str(script), run_name="__main__")
            except _TimeIsUp:
                pass
            except SystemExit as end:
                failure = None if end.code in (None, 0) else f"it ended with exit code {end.code}"
            except Exception as error:
                if not clock.rang:  # else the program fails because it was stopped
                    traceback.print_exc()
                    failure = (
                        f"it raised {type(error).__name__}: {str(error).strip().partition(chr(10))[0].rstrip('.')}"
                    )
            if not end_work(spark, _STREAMS_END_IN):
                print(f"firesteel: a stream of {script} still runs", file=sys.stderr)
    except Exception as error:  # what ran could not be read, as after an analysis that failed
        if failure is None:
            raise
        failure += f" (and what ran before cannot be read: {type(error).__name__})"
    finally:
        sys.argv, sys.path[:] = before, path
    return Ran(dag, failure, clock.rang)


@contextmanager
def stdout_as_stderr() -> Iterator[None]:
    """Processes that are started meanwhile print to standard error. Standard output is for findings."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


class _Clock:
    """Ends a program when its time is up, wherever it is: in a loop of Python's or in a call that waits for Spark."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self.rang = False

    @contextmanager
    def set_to(self, seconds: float | None) -> Iterator[None]:
        """Raise in this thread when the time has passed."""
        if seconds is None:
            yield
            return
        before = signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_AFTER)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        from firesteel.spark.session.interrupts import is_cleaning_up, leave_call

        if is_cleaning_up(frame):
            signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN_AFTER)
        elif _is_running(frame):
            self.rang = True
            leave_call(self._spark, frame)
            raise _TimeIsUp


@contextmanager
def _hinting(script: Path, hint: str) -> Iterator[None]:
    """Say something while a program runs for long."""
    said = f"firesteel: {script} still runs after {_HINT_AFTER:g} s. {hint}"
    timer = threading.Timer(_HINT_AFTER, lambda: print(said, file=sys.stderr, flush=True))
    timer.daemon = True
    if hint:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _is_running(frame: FrameType | None) -> bool:
    """Is the program on the stack? It may just have ended, and then nothing may be raised any more."""
    while frame is not None:
        if frame.f_code is runpy.run_path.__code__:
            return True
        frame = frame.f_back
    return False
