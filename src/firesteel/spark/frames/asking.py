"""A predicate of the user about the records of a large batch: how executors ask it, and how the driver hears of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import PredicateError
from firesteel.spark.frames.shipping import by_value, ship
from firesteel.values.answers import asked_about, asking
from firesteel.values.checks import Check
from firesteel.values.records import Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Asked: TypeAlias = tuple[Record, bool | Check]


@contextmanager
def answers(
    frame: DataFrame,
    make: Callable[[Any], Record],
    predicate: Callable[[Any], Any],
    act: Callable[[Iterator[Asked]], Iterable[Any]],
) -> Iterator[Any]:
    """An RDD of what `act` makes of the records of each partition and what the predicate says about them.

    Inside the `with`, a job has to read all of it. What is not an answer is a PredicateError afterwards.
    """
    ship(frame.sparkSession)
    # An exception would lose its class on the way to the driver. So what is not an answer is told as data.
    refused: Any = frame.sparkSession.sparkContext.accumulator([], _Lists())  # type: ignore[arg-type]

    def partition(rows: Iterable[Any]) -> Iterator[Any]:
        try:
            with asking():
                yield from act((record, asked_about(predicate, record)) for record in map(make, rows))
        except PredicateError as error:
            refused.add([str(error)])

    with by_value(predicate):
        yield frame.rdd.mapPartitions(partition)
    if refused.value:
        raise PredicateError(refused.value[0])


class _Lists:
    """How Spark adds up lists that tasks send to the driver."""

    def zero(self, value: list[str]) -> list[str]:
        return []

    def addInPlace(self, value: list[str], more: list[str]) -> list[str]:
        return value + more
