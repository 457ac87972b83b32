"""Tracebacks as a user wants them: the frames of their own code, without those of firesteel and of what it runs on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

from firesteel.errors import InvalidArgument, PredicateError
from firesteel.evidence.failures import Failed

P = ParamSpec("P")
T = TypeVar("T")

# The packages whose frames tell a user nothing.
_INNER = frozenset({"firesteel", "hypothesis", "pyspark", "py4j"}) | sys.stdlib_module_names
# What is raised on purpose. Whatever else comes out is a mistake in firesteel, and keeps all of its frames.
_MEANT = (Failed, InvalidArgument, PredicateError)


def with_users_frames(function: Callable[P, T]) -> Callable[P, T]:
    """The function; what it raises on purpose shows the user's frames only, and so do the causes of it."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True  # pytest leaves this frame out, too
        try:
            return function(*args, **kwargs)
        except _MEANT as error:
            for each in _chain(error):
                each.__traceback__ = _of_user(each.__traceback__)
            raise

    return called


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and all that is shown with it."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            waiting += [other for other in (each.__cause__, each.__context__) if other is not None]


def _of_user(traceback: TracebackType | None) -> TracebackType | None:
    """The same without frames of inner packages."""
    kept: list[TracebackType] = []
    while traceback is not None:
        if str(traceback.tb_frame.f_globals.get("__name__")).partition(".")[0] not in _INNER:
            kept.append(traceback)
        traceback = traceback.tb_next
    made: TracebackType | None = None
    for each in reversed(kept):
        made = TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made
