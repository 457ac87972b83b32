"""Running a part of a captured program again: to look at its records, or to see that two runs differ.

The records of RDD sources are read once and handed to the user's operations anew. A DataFrame's analysed plan is run as
it is. Runs stop at a time limit. Whatever goes wrong in one means that nothing was seen.
"""

from __future__ import annotations

import inspect
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from firesteel.perturb import Order
from firesteel.spark.perturb.shuffles import arriving
from firesteel.spark.plans.catalyst import Catalyst
from firesteel.spark.plans.tree import Node
from firesteel.values.programs import Action, Api, Operation, Program, Ref
from firesteel.values.records import shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
_MOST = 100_000
"""More records than that are not sent to a source again."""
_SAMPLE, _ENOUGH = 20, 5
"""How many records are looked at, and how many of one partition are enough."""
_SHOWN = 3
_AGAIN = frozenset(
    {"first", "take", "head", "tail", "takeSample", "takeOrdered", "top", "max", "min"}
    | {"reduce", "fold", "aggregate", "treeReduce", "treeAggregate", "reduceByKeyLocally"}
)
"""The actions whose own result is compared."""
_ORDERS: tuple[tuple[Order | None, str], ...] = (
    (None, "two runs gave {} and {}"),
    ("reversed", "two runs, in which shuffled rows arrive in opposite orders, gave {} and {}"),
    (1, "two runs, in which shuffled rows arrive in other orders, gave {} and {}"),
)


class Replays:
    """Runs operations of one program again, for some seconds in all."""

    def __init__(self, spark: SparkSession, program: Program, seconds: float) -> None:
        self._spark = spark
        self._program = program
        self._until = time.monotonic() + seconds
        self._sources: dict[int, Any] = {}
        self._coming: frozenset[int] = frozenset()
        self._samples: dict[int, list[Any]] = {}

    @property
    def is_over(self) -> bool:
        """Has the time passed?"""
        return time.monotonic() >= self._until

    def coming(self, operations: Collection[int]) -> None:
        """Samples of these will be asked for: one job gets them all."""
        self._coming = frozenset(operations)

    def sample(self, operation: int) -> list[Any]:
        """A few records of an operation on RDDs; none where they cannot be had."""
        if operation in self._coming:
            waiting, self._coming = self._coming, frozenset()
            together: dict[int, list[Any]] = self._tried(lambda: self._heads(waiting), {})
            self._samples |= together
        if operation not in self._samples:
            made = self._program.operations[operation]
            self._samples[operation] = self._tried(lambda: list(self._data(made).take(_SAMPLE)), [])
        return self._samples[operation]

    def _tried(self, run: Callable[[], T], otherwise: T) -> T:
        """What a run gives, if there is time for it and nothing goes wrong."""
        if self.is_over:
            return otherwise
        try:
            with self._limited():
                return run()
        except Exception:  # of the user's code or of Spark's, such as a source that is gone: nothing is known then
            return otherwise

    def _heads(self, operations: Collection[int]) -> dict[int, list[Any]]:
        """The first records of the first partitions of some operations, where there are enough, in one job."""
        heads, firsts, partitions = [], [], 0
        for one in sorted(operations):
            with suppress(LookupError):
                made = self._data(self._program.operations[one])
                heads.append(made.mapPartitions(_head(one)))
                firsts.append(partitions)
                partitions += made.getNumPartitions()
        context = self._spark.sparkContext
        found = dict(context.runJob(context.union(heads), lambda records: records, firsts)) if heads else {}
        return {one: records for one, records in found.items() if len(records) >= _ENOUGH}

    def differ(self, operation: int, action: int | None = None) -> str:
        """What two runs gave that differ, in words; empty where nothing was seen."""
        made = self._program.operations[operation]
        acted = self._program.actions[action] if action is not None else None
        if isinstance(made.plan, Node) and made.plan.is_streaming:
            return ""
        return self._tried(lambda: self._differing(self._result(made, acted)), "")

    def _differing(self, result: Callable[[], Any]) -> str:
        first = result()
        for order, words in _ORDERS:
            if self.is_over:
                return ""
            with arriving(self._spark.sparkContext, order):
                then = result()
            if first != then:
                return words.format(*_apart(first, then))
        return ""

    def _result(self, operation: Operation, action: Action | None) -> Callable[[], Any]:
        if action is not None and action.name.split(".")[-1] in _AGAIN:
            name = action.name
            return lambda: _plain(_called(self._data(operation), name, dict(action.arguments)))
        return lambda: Counter(repr(_plain(record)) for record in self._data(operation).collect())

    # --- data sets ---

    def _data(self, operation: Operation) -> Any:
        """The data set of an operation, made anew."""
        if operation.api is Api.FRAME and isinstance(operation.plan, Node):
            from pyspark.sql.classic.dataframe import DataFrame

            return DataFrame(Catalyst(self._spark).dataset(operation.plan.handle), self._spark)
        if operation.api is not Api.RDD or operation.earlier:
            raise LookupError(f"{operation.name} cannot be made anew")
        if operation.is_source:
            return self._source(operation)
        parents = {one: self._data(self._program.operations[one]) for one in operation.parents}
        given = {name: _given(value, parents) for name, value in operation.arguments.items()}
        if operation.name == "union" and "rdds" in given:
            return self._spark.sparkContext.union(list(given["rdds"]))
        owner = parents[operation.parents[0]]
        return owner.rdd if operation.name == "rdd" else _called(owner, operation.name, given)

    def _source(self, operation: Operation) -> Any:
        if operation.id not in self._sources:
            parts = operation.read()
            if sum(map(len, parts)) > _MOST:
                raise LookupError(f"{operation.name} has more than {_MOST} records")
            numbers = self._spark.sparkContext.parallelize(range(len(parts)), max(1, len(parts)))
            self._sources[operation.id] = numbers.mapPartitions(lambda some: [one for i in some for one in parts[i]])
        return self._sources[operation.id]

    @contextmanager
    def _limited(self) -> Iterator[None]:
        """Jobs that are started meanwhile end when the time has passed."""
        context, group = self._spark.sparkContext, f"firesteel-{uuid.uuid4()}"
        timer = threading.Timer(max(0.1, self._until - time.monotonic()), context.cancelJobGroup, [group])
        timer.daemon = True
        context.setJobGroup(group, "firesteel lint", True)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
                context.setLocalProperty(name, None)  # type: ignore[arg-type]


def _head(operation: int) -> Callable[[Iterator[Any]], list[tuple[int, list[Any]]]]:
    """A function of a partition: its first records, with the number of their operation."""
    most = _SAMPLE  # Python workers need not have this module
    return lambda records: [(operation, list(islice(records, most)))]


def _given(value: Any, parents: dict[int, Any]) -> Any:
    if isinstance(value, Ref):
        return parents[value.operation]
    if isinstance(value, tuple | list) and any(isinstance(each, Ref) for each in value):
        return tuple(_given(each, parents) for each in value)
    return value


def _called(owner: Any, name: str, given: dict[str, Any]) -> Any:
    """Call a method with arguments by their names, also where it takes any number of them."""
    method = getattr(owner, name)
    several = [
        parameter.name
        for parameter in inspect.signature(method).parameters.values()
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL
    ]
    positional = [each for one in several for each in given.get(one, ())]
    return method(*positional, **{key: value for key, value in given.items() if key not in several})


def _plain(value: Any) -> Any:
    """A value that can be compared and shown: what is only an iterable becomes a list."""
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_plain(each) for each in value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return [_plain(each) for each in value] if type(value).__name__ == "ResultIterable" else value


def _apart(first: Any, then: Any) -> tuple[str, str]:
    """Two results; of many records those that only one of them has."""
    if isinstance(first, Counter) and isinstance(then, Counter):
        return _only(first - then), _only(then - first)
    return shown(first), shown(then)


def _only(records: Counter[str]) -> str:
    listed = sorted(records.elements())
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more if listed else "nothing instead"
