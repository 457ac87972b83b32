"""Workers as the caller sees them: processes that are started, asked, and replaced when they die."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from firesteel.operators.execute import Loaded
from firesteel.operators.kinds import inner_function
from firesteel.operators.outcomes import Died, Job, Puzzle, Seen
from firesteel.operators.process import receive, send
from firesteel.operators.sending import CannotLoad, cloudpickle, pickled

_START = 60.0
"""Seconds for a worker to start and load: a function's module may import much."""
_OTHER_DAY = 41.0 * 86_400 + 12_345
"""How much later it is for the other worker."""


# A worker needs little of firesteel, and starts in half the time without the rest. Where the user's code imports
# firesteel, the rest is loaded when a name of it is asked for.
_START_CODE = """
import sys
from importlib.util import find_spec, module_from_spec

spec = find_spec("firesteel")
package = sys.modules["firesteel"] = module_from_spec(spec)

def rest(name):
    if vars(package).pop("__getattr__", None) is None:
        raise AttributeError(name)
    spec.loader.exec_module(package)
    return getattr(package, name)

package.__getattr__ = rest
from firesteel.operators.process import main
main(sys.argv[1:])
"""
_MORE_SEEDS = (3, 4, 5, 6, 7, 8, 9, 10)


class Worker:
    """One worker process. It can load one operator after another, as it never calls any of them."""

    def __init__(self, hash_seed: int, ahead: float) -> None:
        self._hash_seed, self._ahead = hash_seed, ahead
        self._process: subprocess.Popen[bytes] | None = None
        self._loaded = self._busy = False
        self._in = self._out = -1
        self._message: dict[str, Any] = {}
        self._owner = os.getpid()
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
        command = [sys.executable, "-c", _START_CODE, str(reading), str(writing), str(self._ahead)]
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

    def load(self, blob: bytes, modules: Sequence[str]) -> None:
        """Have it load an operator; `ready` waits for that."""
        self._message = {"path": list(sys.path), "modules": modules, "operator": blob}
        self._load_again()

    def _load_again(self) -> None:
        self._loaded, self._busy = False, True
        with contextlib.suppress(OSError):
            send(self._out, self._message)

    @property
    def is_idle(self) -> bool:
        """May another analysis use it?"""
        alive = self._process is not None and self._process.poll() is None
        return alive and not self._busy and self._owner == os.getpid()

    def ready(self) -> None:
        """Wait until it has loaded the operator."""
        if self._loaded:
            return
        if not self._busy:
            raise CannotLoad("the function could not be loaded")
        answer = receive(self._in, time.monotonic() + _START)
        if answer is None:
            self.stop()
            raise CannotLoad("the worker ended while it loaded the function")
        self._busy = False
        if answer != "loaded":
            raise CannotLoad(answer)
        self._loaded = True

    def run(self, job: Job) -> list[Seen]:
        """Have runs performed. A worker that dies is replaced; what it was doing has died with it."""
        return self.begun(job)()

    def begun(self, job: Job) -> Callable[[], list[Seen]]:
        """Have runs begun; what is returned waits for what comes of them."""
        self.ready()
        firings = sum(map(len, job.runs))
        until = time.monotonic() + 30.0 + firings * (job.limit + 1.0)
        self._busy = True
        sent = False
        with contextlib.suppress(OSError):
            send(self._out, job)
            sent = True

        def finished() -> list[Seen]:
            answer = None
            with contextlib.suppress(OSError):
                answer = receive(self._in, until) if sent else None
            if answer is None:
                self.stop()
                self._start()
                self._load_again()
                return [Seen((Died("the worker ended"),))] * len(job.runs)
            self._busy = False
            return answer  # type: ignore[no-any-return]

        return finished

    def solved(self, puzzle: Puzzle) -> list[tuple[str, Any]]:
        """What a solver finds: materials, each with the property that it seems to refute."""
        self.ready()
        self._busy = True
        answer = None
        with contextlib.suppress(OSError):
            send(self._out, puzzle)
            answer = receive(self._in, time.monotonic() + puzzle.seconds + 30.0)
        if answer is None:
            self.stop()
            self._start()
            self._load_again()
            return []
        self._busy = False
        return answer  # type: ignore[no-any-return]

    def stop(self) -> None:
        """End the process."""
        process, self._process, self._loaded = self._process, None, False
        if process is None or self._owner != os.getpid():  # a copy of the process that started it
            return
        for end in (self._in, self._out):
            with contextlib.suppress(OSError):
                os.close(end)
        process.kill()
        process.wait()


_idle: list[tuple[tuple[int, float], Worker]] = []
"""Workers that wait for the next analysis: a new one takes half a second. They end with this process."""


def _taken(hash_seed: int, ahead: float) -> Worker:
    for number, (kind, worker) in enumerate(_idle):
        if kind == (hash_seed, ahead):
            _idle.pop(number)
            if worker.is_idle:
                return worker
            worker.stop()
            break
    return Worker(hash_seed, ahead)


@atexit.register
def _stop_idle() -> None:
    while _idle:
        _idle.pop()[1].stop()


class Workers:
    """The two workers of an analysis: they differ in their hash seed and their clock. The second starts when needed."""

    HERE, ELSEWHERE = (1, 0.0), (2, _OTHER_DAY)

    def __init__(self, loaded: Loaded, *, by_value: bool = False) -> None:
        self._blob = pickled(loaded, by_value=by_value)
        self._modules = sorted(_wanted(loaded))
        self._used: dict[tuple[int, float], Worker] = {}
        self._start(self.HERE)

    def _start(self, kind: tuple[int, float]) -> Worker:
        if kind not in self._used:
            self._used[kind] = _taken(*kind)
            self._used[kind].load(self._blob, self._modules)
        return self._used[kind]

    def start_other(self) -> None:
        """Start the other worker now, while there is something else to do."""
        self._start(self.ELSEWHERE)

    def ready(self) -> None:
        """Wait until the operator is loaded."""
        self._used[self.HERE].ready()

    def run(self, job: Job, *, elsewhere: bool = False) -> list[Seen]:
        """Have runs performed, in one of the two."""
        return self._start(self.ELSEWHERE if elsewhere else self.HERE).run(job)

    def begun(self, job: Job, *, elsewhere: bool = False) -> Callable[[], list[Seen]]:
        """Have runs begun, in one of the two, while the other may be busy; what is returned waits for the end."""
        return self._start(self.ELSEWHERE if elsewhere else self.HERE).begun(job)

    def solved(self, about: Any, properties: tuple[str, ...], seconds: float) -> list[tuple[str, Any]]:
        """What a solver finds, in the first of the two; nothing where the inputs cannot be sent."""
        try:
            blob = cloudpickle().dumps(about)
        except Exception:
            return []
        return self._start(self.HERE).solved(Puzzle(blob, properties, seconds))

    def others(self, job: Job) -> list[list[Seen]]:
        """What some more workers say, each with another hash seed."""
        held = [Worker(seed, 0.0) for seed in _MORE_SEEDS]
        try:
            for worker in held:
                worker.load(self._blob, self._modules)
            return [worker.run(job) for worker in held]
        finally:
            for worker in held:
                worker.stop()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for which, worker in self._used.items():
            with contextlib.suppress(CannotLoad):
                worker.ready()
            if worker.is_idle:
                _idle.append((which, worker))
            else:
                worker.stop()


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
