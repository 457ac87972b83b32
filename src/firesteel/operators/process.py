"""The worker: a process that loads an operator, never calls it, and forks a child for every job.

So a child starts with the function as it was loaded, whatever earlier calls did, and its death harms nobody. A job's
runs share a child, or a few of them do (`Job.together`). This module runs in the worker alone:

    python -c "from firesteel.operators.process import main; main(...)" IN OUT CLOCK
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import pickle
import resource
import select
import signal
import struct
import sys
import time
from typing import Any

from firesteel.operators.outcomes import Died, Job, Late, Opaque, Puzzle, Seen, Skipped

MEMORY = 2 << 30
"""How much memory a child may take beyond what the worker has, in bytes."""
_DEATHS = 3
"""After so many dead children a job's other runs are given up."""
_GRACE = 1.0
"""A firing that is late gets an exception; one that ignores it is killed after so many seconds more."""


def main(arguments: list[str]) -> None:
    inbox, outbox = (int(number) for number in arguments[:2])
    if float(arguments[2]):
        from firesteel.operators import clock

        clock.move(float(arguments[2]))
    # Before anything is forked, what every child needs, and what loading needs.
    from firesteel.operators import execute, sending, watching  # noqa: F401

    sending.cloudpickle()
    operator: Any = None
    while (message := receive(inbox)) is not None:
        if isinstance(message, Job):
            send(outbox, _done(operator, message))
            continue
        if isinstance(message, Puzzle):
            send(outbox, _solved(operator, message))
            continue
        operator = None
        try:
            sys.path[:] = message["path"]
            for name in message["modules"]:
                with contextlib.suppress(Exception):
                    __import__(name)
            operator = pickle.loads(message["operator"])
            send(outbox, "loaded")
        except BaseException as error:  # an import may even call sys.exit
            send(outbox, f"{type(error).__name__}: {error}")
        gc.collect()
        gc.freeze()


def _done(operator: Any, job: Job) -> list[Seen]:
    """The job's runs, in as many children as it takes."""
    seen: list[Seen] = []
    deaths = 0
    while len(seen) < len(job.runs) and deaths < _DEATHS:
        end = len(job.runs)
        if job.together:
            end = min(end, (len(seen) // job.together + 1) * job.together)
        more = _in_a_child(operator, job, len(seen), end)
        deaths += any(isinstance(outcome, Died | Late) for outcome in more[-1].outcomes)
        seen += more
    return seen + [Seen((Skipped(),))] * (len(job.runs) - len(seen))


def _in_a_child(operator: Any, job: Job, start: int, end: int) -> list[Seen]:
    """Runs `start` to `end`, or as far as the child lives; the last one says how it died."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(operator, job, start, end, writing)
    os.close(writing)
    texts, why = _texts(reading, job.limit + _GRACE)
    os.close(reading)
    if why is not None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    found = [pickle.loads(text) for text in texts]
    if len(found) < end - start and not (found and _ended_late(found[-1])):
        found.append(Seen((Late(job.limit) if why == "late" else Died(_ending(status)),)))
    return found[: end - start]


def _solved(operator: Any, puzzle: Puzzle) -> list[tuple[str, Any]]:
    """What a solver finds, in a child, until its time is up."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            from firesteel.operators.symbolic import suspects

            prepare_child()
            about = pickle.loads(puzzle.about)
            until = time.monotonic() + puzzle.seconds
            for found in suspects(operator, about, puzzle.properties, until):
                _write(writing, pickle.dumps(found))
        finally:
            os._exit(0)
    os.close(writing)
    texts, why = _texts(reading, puzzle.seconds, time.monotonic() + puzzle.seconds + _GRACE)
    os.close(reading)
    if why is not None:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return [pickle.loads(text) for text in texts]


def _ended_late(seen: Seen) -> bool:
    return any(isinstance(outcome, Late) for outcome in seen.outcomes)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"the process was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"the process ended itself with exit code {os.WEXITSTATUS(status)}"


def _texts(source: int, patience: float, until: float = math.inf) -> tuple[list[bytes], str | None]:
    """The pickled results that a child writes until it ends, until it is silent for too long, or until a time."""
    held = b""
    texts: list[bytes] = []
    while True:
        ready, _, _ = select.select([source], [], [], max(0.0, min(patience, until - time.monotonic())))
        if not ready:
            return texts, "late"
        piece = os.read(source, 1 << 20)
        if not piece:
            return texts, None
        held += piece
        while len(held) >= 8 and len(held) >= 8 + (size := struct.unpack("<Q", held[:8])[0]):
            texts.append(held[8 : 8 + size])
            held = held[8 + size :]


def _work(operator: Any, job: Job, start: int, end: int, out: int) -> None:
    """The child: performs the runs, writes what came of each, and ends without any clean-up."""
    try:
        from firesteel.operators.execute import perform

        prepare_child()
        _reseed()
        for run in job.runs[start:end]:
            seen = perform(operator, run, job)
            _write(out, _pickled(seen))
            if _ended_late(seen):  # what was cut off may have left anything behind
                break
    finally:
        os._exit(0)


def _pickled(seen: Seen) -> bytes:
    from dataclasses import replace

    from firesteel.operators.outcomes import Gave

    def sendable(value: Any) -> Any:
        try:
            pickle.loads(pickle.dumps(value))
        except Exception:
            return Opaque(type(value).__name__)
        return value

    try:
        return pickle.dumps(seen)
    except Exception:
        outcomes = tuple(
            Gave(tuple(map(sendable, outcome.outputs))) if isinstance(outcome, Gave) else outcome
            for outcome in seen.outcomes
        )
        return pickle.dumps(replace(seen, outcomes=outcomes))


class TooLate(BaseException):
    """Raised in a firing that has had its time. It is not an `Exception`, so few functions catch it."""


def _late(signum: int, frame: Any) -> None:
    raise TooLate


def _reseed() -> None:
    """Children do not inherit their random numbers: a function that uses them must not seem to repeat itself.

    Python takes care of its own. numpy's would be the same in every child.
    """
    numbers = sys.modules.get("numpy.random")
    if numbers is not None:
        numbers.seed()


def prepare_child() -> None:
    """A forked process is about to call the user's function: it gets limits, and nothing it prints is seen."""
    _limit_memory()
    signal.signal(signal.SIGALRM, _late)
    os.setpgid(0, 0)
    silent = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(silent, number)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115  whoever forked may have replaced them


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (OSError, ValueError):  # not on this system
        pass


def send(target: int, message: Any) -> None:
    """Write one message."""
    _write(target, pickle.dumps(message))


def _write(target: int, text: bytes) -> None:
    framed = memoryview(struct.pack("<Q", len(text)) + text)
    while framed:
        framed = framed[os.write(target, framed) :]


def receive(source: int, until: float | None = None) -> Any:
    """Read one message; None where the other side is gone, or says nothing until then by the monotonic clock."""
    head = _read(source, 8, until)
    body = None if head is None else _read(source, struct.unpack("<Q", head)[0], until)
    return None if body is None else pickle.loads(body)


def _read(source: int, size: int, until: float | None) -> bytes | None:
    pieces: list[bytes] = []
    while size:
        if until is not None and not select.select([source], [], [], max(0.0, until - time.monotonic()))[0]:
            return None
        piece = os.read(source, min(size, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
