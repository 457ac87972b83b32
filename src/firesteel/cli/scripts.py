"""Running a PySpark program of the user's in this process, under a capture and with a time limit."""

from __future__ import annotations

import runpy
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from firesteel.dags import Dag, capture


@dataclass(frozen=True)
class Ran:
    """A program that was run."""

    dag: Dag
    failure: str | None = None
    """Why it ended early."""
    was_stopped: bool = False
    """Did it not end by itself in time?"""


class _TimeIsUp(BaseException):
    """Raised in the program when its time has passed. Not an Exception, so that no program holds it back."""


def run_script(script: Path, arguments: Sequence[str], seconds: float | None) -> Ran:
    """Run a program as `python SCRIPT ARGS` would. What it prints goes to standard error."""
    from firesteel.api import session
    from firesteel.spark.session.lent import end_streams, lent

    spark = session()
    before, path = sys.argv, list(sys.path)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    dag, failure, was_stopped = Dag(), None, False
    try:
        with capture(spark) as dag, lent(spark), redirect_stdout(sys.stderr):
            try:
                with _at_most(seconds):
                    runpy.run_path(str(script), run_name="__main__")
            except _TimeIsUp:
                was_stopped = True
            except SystemExit as end:
                failure = None if end.code in (None, 0) else f"it ended with exit code {end.code}"
            except Exception as error:
                traceback.print_exc()
                failure = f"it raised {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            with suppress(Exception):
                end_streams(spark)
    except Exception as error:  # what ran could not be read, as after an analysis that failed
        if failure is None:
            raise
        failure += f" (and what ran before cannot be read: {type(error).__name__})"
    finally:
        sys.argv, sys.path[:] = before, path
    return Ran(dag, failure, was_stopped)


@contextmanager
def _at_most(seconds: float | None) -> Iterator[None]:
    """Raise in this thread when the time has passed."""
    if seconds is None:
        yield
        return

    def up(number: int, frame: FrameType | None) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
