"""What goes wrong when a subject is built or run, in words: Spark's own stack trace is kept as the cause."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from firesteel.errors import InvalidArgument
from firesteel.spark.session.stderr import last_words
from firesteel.values.traces import Instant, Trace

_TRACEBACK = "Traceback (most recent call last)"
_END_OF_STREAM = "java.io.EOFException"
"""What the JVM reads from a Python worker that is gone. The exception around it says more."""


class SubjectFailure(Exception):
    """The subject raised, hung, or returned something else than a stream; `trace` is how far it came."""

    depends_on_case = True
    """Might another case not have it? No, where the subject could not be built, which needs no data."""
    hangs = False
    """Did it not come to an end in time?"""

    def __init__(self, message: str, trace: Trace | None = None) -> None:
        super().__init__(message)
        self.trace = trace if trace is not None else Trace(())


class SubjectHangs(SubjectFailure):
    """The subject did not come to an end in time."""

    hangs = True


def took_too_long(what: str, seconds: float, recorded: Iterable[Instant] = ()) -> SubjectFailure:
    """The failure of a subject that does not come to an end; `recorded` is how far it came."""
    return SubjectHangs(
        f"{what} took longer than {seconds:g} s: the subject hangs, or needs more time (seconds=...)", Trace(recorded)
    )


def goes_on(what: str, seconds: float, failure: SubjectFailure | None = None) -> SubjectFailure:
    """The failure of a run that did not stop when it was told to, after another failure if there was one."""
    said = f"{what} did not stop within {seconds:g} s, and its jobs were cancelled"
    if failure is None:
        return SubjectHangs(f"{said}: one of the subject's functions hangs")
    return SubjectHangs(f"{failure}; {said}", failure.trace)


def raised_inside(error: BaseException, where: str = "", recorded: Iterable[Instant] = ()) -> SubjectFailure:
    """The failure of a subject that raised while Spark ran it; `recorded` is how far it came."""
    return SubjectFailure(
        f"the subject raised inside Spark{where}: {_with_last_words(root_cause(error))}", Trace(recorded)
    )


class CannotCarry(Exception):
    """Why a subject's plan cannot keep cases apart."""


class OneCaseFails(CannotCarry):
    """One of the cases makes the subject fail. The others may share a query without it."""


def root_cause(error: BaseException) -> str:
    """What really happened, in one line: the user's own exception where a Python function raised inside Spark."""
    java = _java_exception(error)
    texts = []
    while java is not None:
        said = java.getMessage()
        if said or java.getClass().getName() != _END_OF_STREAM:
            texts.append(said or java.toString())
        java = java.getCause()
    texts.append(str(error) or type(error).__name__)
    for text in texts:
        if _TRACEBACK in text:
            return _with_way_out(_last_line_of_traceback(text))
    return _first_line(texts[-2] if len(texts) > 1 else texts[0])


def refused_mode(error: BaseException, mode: str, output: str) -> Exception:
    """The error of a query that Spark would not start."""
    if re.search(r"output mode|OUTPUT_MODE", str(error), re.IGNORECASE):
        others = [other for other in ("append", "update", "complete") if other != mode]
        return InvalidArgument(
            f"output_mode={mode!r} does not fit the query of {output!r}: {_first_line(str(error))} "
            f"Write output_mode={others[0]!r} or {others[1]!r}"
        )
    return SubjectFailure(f"Spark would not start the query of {output!r}: {root_cause(error)}")


def _java_exception(error: BaseException) -> Any:
    """The JVM's exception behind a Python one of PySpark or py4j, if there is one."""
    for found in (error, error.__cause__, error.__context__):
        for name in ("_origin", "java_exception"):
            java = getattr(found, name, None)
            if java is not None:
                return java
    return None


def _last_line_of_traceback(text: str) -> str:
    """`ValueError: boom` from the traceback that a Python worker sent.

    Where a function of `foreachBatch` met with the failure of a worker, that has a traceback of its own, after it.
    """
    _, begin, after = text.partition(_TRACEBACK)
    lines = after.splitlines()
    for line in lines[1:]:
        if line and not line.startswith((" ", "\t")):
            inner = _TRACEBACK in after and "PythonException: " in line
            return _last_line_of_traceback(after) if inner else line.strip()
    return (lines or [begin])[-1].strip()


def _with_way_out(line: str) -> str:
    """What a worker said; and what to write, where it could not import a module that is imported here.

    Functions and classes of a module are sent to workers by their names, and those of a test file stand in a module
    that only pytest can import.
    """
    missing = re.fullmatch(r"ModuleNotFoundError: No module named '([^']+)'", line)
    module = sys.modules.get(missing[1]) if missing else None
    if module is None or "site-packages" in str(getattr(module, "__file__", None)):
        return line
    return (
        f"{line}. This process could import it, but Spark's Python processes cannot: define the function or class "
        "inside the subject's function, or write cloudpickle.register_pickle_by_value(sys.modules[__name__]) into the "
        "file that defines it (from pyspark import cloudpickle), or put it into a module that is installed or was "
        "given to spark.sparkContext.addPyFile"
    )


def _with_last_words(cause: str) -> str:
    """What happened; and what was printed last, where a Python worker died without saying why to Spark."""
    said = [line for line in last_words() if line and not line.startswith(" ")]
    return f"{cause} (it had printed: {said[-1]})" if said and "Python worker" in cause else cause


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), text)
    # Spark puts an error class in front and a state behind: codes that a reader can look up in the cause.
    line = re.sub(r"^\[[A-Z_.0-9]+\]\s*", "", line)
    return re.sub(r"\s*SQLSTATE: \w+;?$", "", line)
