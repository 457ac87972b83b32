"""Workers as the caller sees them: processes that are started, asked, and replaced when they die."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from firesteel.operators.execute import Loaded
from firesteel.operators.kinds import inner_function
from firesteel.operators.outcomes import Died, Job, Seen
from firesteel.operators.process import receive, send

_START = 60.0
"""Seconds for a worker to start and load: a function's module may import much."""
_OTHER_DAY = 41 * 86_400 + 12_345
"""How much later it is for the other worker."""


class CannotLoad(Exception):
    """The operator cannot be sent to a worker, or not loaded there."""


class Worker:
    """One worker process."""

    def __init__(self, blob: bytes, modules: Sequence[str], *, hash_seed: int, ahead: float) -> None:
        self._blob, self._modules, self._hash_seed, self._ahead = blob, modules, hash_seed, ahead
        self._process: subprocess.Popen[bytes] | None = None
        self._loaded = False
        self._in = self._out = -1
        self._start()

    def _start(self) -> None:
        reading, self._out = os.pipe()
        self._in, writing = os.pipe()
        environment = {
            **os.environ,
            "PYTHONHASHSEED": str(self._hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
        }
        # Not with -m: that would load the module twice, and there would be two of each of its classes.
        start = "import sys; from firesteel.operators.process import main; main(sys.argv[1:])"
        command = [sys.executable, "-c", start, str(reading), str(writing), str(self._ahead)]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [_SOURCE, environment.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            command,
            env=environment,
            pass_fds=(reading, writing),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(reading)
        os.close(writing)
        with contextlib.suppress(OSError):
            send(self._out, {"path": list(sys.path), "modules": self._modules, "operator": self._blob})

    def ready(self) -> None:
        """Wait until it has loaded the operator."""
        if self._loaded:
            return
        answer = receive(self._in, time.monotonic() + _START)
        if answer != "loaded":
            self.stop()
            raise CannotLoad(answer or "the worker ended while it loaded the function")
        self._loaded = True

    def run(self, job: Job) -> list[Seen]:
        """Have runs performed. A worker that dies is replaced; what it was doing has died with it."""
        self.ready()
        firings = sum(map(len, job.runs))
        until = time.monotonic() + 30.0 + firings * (job.limit + 1.0)
        try:
            send(self._out, job)
            answer = receive(self._in, until)
        except OSError:
            answer = None
        if answer is None:
            self.stop()
            self._start()
            return [Seen((Died("the worker ended"),))] * len(job.runs)
        return answer  # type: ignore[no-any-return]

    def stop(self) -> None:
        """End the process."""
        process, self._process, self._loaded = self._process, None, False
        if process is None:
            return
        for end in (self._in, self._out):
            with contextlib.suppress(OSError):
                os.close(end)
        process.kill()
        process.wait()


class Workers:
    """The two workers of an analysis: they differ in their hash seed and their clock. The second starts when needed."""

    def __init__(self, loaded: Loaded) -> None:
        self._blob = pickled(loaded)
        self._modules = [name for name in ("pandas", "pyarrow") if name in _wanted(loaded)]
        self._here = Worker(self._blob, self._modules, hash_seed=1, ahead=0)
        self._elsewhere: Worker | None = None
        self.calls = 0

    def start_other(self) -> None:
        """Start the other worker now, while there is something else to do."""
        if self._elsewhere is None:
            self._elsewhere = Worker(self._blob, self._modules, hash_seed=2, ahead=_OTHER_DAY)

    def ready(self) -> None:
        self._here.ready()

    def run(self, job: Job, *, elsewhere: bool = False) -> list[Seen]:
        """Have runs performed, in one of the two."""
        self.calls += sum(map(len, job.runs))
        if elsewhere:
            self.start_other()
            assert self._elsewhere is not None
            return self._elsewhere.run(job)
        return self._here.run(job)

    def fresh(self, run: tuple[Any, ...], limit: float, *, elsewhere: bool = False) -> Seen:
        """One run in a process of its own."""
        return self.run(Job((run,), limit, fresh=True), elsewhere=elsewhere)[0]

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._here.stop()
        if self._elsewhere is not None:
            self._elsewhere.stop()


def pickled(loaded: Loaded) -> bytes:
    """The operator as Spark would send it."""
    from pyspark import cloudpickle

    try:
        blob: bytes = cloudpickle.dumps(loaded)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise CannotLoad(f"{type(error).__name__}: {error}") from error
    return blob


_SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _wanted(loaded: Loaded) -> set[str]:
    """The heavy libraries that the operator needs: they are imported before anything is forked."""
    names = {"pandas", "pyarrow"} if loaded.columns else set()
    for function in loaded.operator.functions:
        inner = inner_function(function)
        names |= {getattr(value, "__name__", "") for value in getattr(inner, "__globals__", {}).values()} & {"pandas"}
    if loaded.columns and "arrow" not in loaded.operator.kind.value:
        names.discard("pyarrow")
    return names
