"""Tasks that are retried: each of the last stage computes all its rows, fails once, and is run again by Spark.

Spark on one machine gives up at the first failure of a task. The session's scheduler is told to try twice meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

from firesteel.spark.failures import SubjectFailure, root_cause
from firesteel.spark.jvm import field_of

if TYPE_CHECKING:
    from pyspark import SparkContext

_FIELD = "maxTaskFailures"


@contextmanager
def tasks_tried_twice(context: SparkContext) -> Iterator[None]:
    """Jobs that are started meanwhile go on when a task fails once."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    java: Any = context._jsc
    try:
        scheduler = java.sc().taskScheduler()
        place = field_of(scheduler, _FIELD)
        before = place.get(scheduler)
        place.set(scheduler, max(2, before))
    except (Py4JError, LookupError) as error:
        raise SubjectFailure(f"tasks cannot be retried with this version of Spark: {root_cause(error)}") from error
    try:
        yield
    finally:
        place.set(scheduler, before)


def failing_first(subject: Callable[..., Any]) -> Callable[..., Any]:
    """The subject, with outputs whose tasks fail at their first attempt, when they have computed everything."""

    @wraps(subject)
    def failing(*inputs: Any, **named: Any) -> Any:
        made = subject(*inputs, **named)
        if isinstance(made, Mapping):
            return {name: _failing(output) for name, output in made.items()}
        return _failing(made)

    return failing


def _failing(output: Any) -> Any:
    # Sent to the workers with its code, as firesteel need not be installed there.
    def once(parts: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        held = list(parts)
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0:
            raise RuntimeError("firesteel lets the first attempt of this task fail")
        yield from held

    if hasattr(output, "mapInArrow"):
        return output.mapInArrow(once, output.schema)
    return output.mapPartitions(once) if hasattr(output, "mapPartitions") else output
