"""A Spark program as it was seen while it ran: operations, actions, jobs and stages, as plain values.

`fs.capture` and `fs.dag_of` make them. A program that was captured reads so:

- An `Operation` is a call of the user's that made a data set: `sc.textFile(path)`, `rdd.map(f)`, `df.filter(c)`. It
  names the operations that it read from (`parents`), by their ids. Ids count from 0 in the order of the calls, so a
  parent has a smaller id than its children.
- An `Action` is a call of the user's that wanted a result: `rdd.collect()`, `df.write.save(path)`, `query.start()`.
- A `Job` is what Spark ran for an action, or for an operation that has to look at data first, as `sortBy` does. It has
  stages; those that Spark did not have to run again are `skipped`.
- A `Stage` has tasks and the `RddInfo`s that its tasks computed. The ids of jobs, stages and RDDs are those of Spark.
- An `Execution` is what Spark SQL ran at once: the plans that one action, one micro-batch or one write had.
- A `Difference` is something that Spark ran and that was not captured, or the other way round.

What is not known is None. A program that was read from an event log has no functions, arguments and logical plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Protocol


class Plan(Protocol):
    """A logical plan of Spark SQL. `firesteel.spark.plans.tree.Node` is the class of those that are captured."""

    @property
    def kind(self) -> str: ...
    @property
    def children(self) -> tuple[Plan, ...]: ...
    @property
    def is_streaming(self) -> bool: ...
    @property
    def handle(self) -> Any: ...
    def walk(self) -> Iterator[Plan]: ...


class Api(Enum):
    """Which of Spark's interfaces an operation or action belongs to."""

    RDD = "RDD"
    FRAME = "DataFrame"
    """DataFrames, SQL, and Structured Streaming: a streaming DataFrame has a plan that `is_streaming`."""
    DSTREAM = "DStream"


class Level(Enum):
    """Spark's own idea of what a second run of an operation's tasks would give."""

    DETERMINATE = "DETERMINATE"
    """The same records in the same order."""
    UNORDERED = "UNORDERED"
    """The same records, perhaps in another order."""
    INDETERMINATE = "INDETERMINATE"
    """Perhaps other records."""


@dataclass(frozen=True)
class CallSite:
    """A line of the user's program."""

    file: str
    line: int
    function: str = ""
    """The function that the line is in: `<module>` at the top of a file."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Function:
    """A function of the user's that was handed to Spark."""

    parameter: str
    """What the argument is called: `f`, `seqOp`, `keyfunc`; of several in a list, the list's name."""
    object: Callable[..., Any] = field(repr=False)
    """The function itself."""

    @property
    def name(self) -> str:
        """Its name; for a lambda, the text of its body.

        >>> Function("f", lambda x: x + 1).name
        'x + 1'
        """
        from firesteel.names import name_of

        return name_of(self.object)

    @property
    def source(self) -> str | None:
        """Its text, found by its line and column; None where there is none, as for built-in functions.

        >>> add, take = Function("f", lambda x: x + 1), Function("f", lambda x: x - 1)
        >>> add.source, take.source
        ('lambda x: x + 1', 'lambda x: x - 1')
        >>> Function("f", len).source is None
        True
        """
        from firesteel.values.sources import source_of

        return source_of(self.object)


@dataclass(frozen=True)
class Operation:
    """A call of the user's that made a data set."""

    id: int
    """Its number among the operations, from 0, in the order of the calls."""
    name: str
    """In the user's words: `reduceByKey`, `groupBy().agg`, `read.parquet`."""
    api: Api
    parents: tuple[int, ...] = ()
    """The operations that it reads from, by their ids, in the order of the arguments; for a union of a data set with
    itself the same id twice."""
    functions: tuple[Function, ...] = ()
    call_site: CallSite | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    """What the user handed over, by the parameters' names, without those that were left out. A data set among them is
    given as the `Ref` to its operation. For `parallelize` `c` is the data itself, for `textFile` `name` the path. For
    `groupBy().agg` the arguments of both calls are in it."""
    wide: bool = False
    """Are records moved between partitions, so that a stage ends before it?"""
    cached: bool = False
    """Was it marked to be kept, with `cache`, `persist` or `checkpoint`?"""
    partitions: int | None = None
    """How many it had when it ran."""
    level: Level | None = None
    stages: tuple[int, ...] = ()
    """All stages that computed its records. The map side of a wide operation is not among them: that runs at the end of
    its parents' stages."""
    rdds: tuple[int, ...] = ()
    """The ids of Spark's RDDs that it is part of; PySpark makes one of several operations that follow each other."""
    plan: Plan | None = field(default=None, hash=False, repr=False)
    """Of a DataFrame's operation, its analysed plan; the node on top is what the operation added."""
    earlier: bool = False
    """Was it made before the block began? Then only what Spark says about it is known."""
    reader: Callable[[], list[list[Any]]] | None = field(default=None, compare=False, repr=False)
    checkpointed: bool = False
    """Was it marked with `checkpoint`? Unlike a cache, that is not lost with the machine that holds it."""

    @property
    def is_source(self) -> bool:
        """Does it read from no other operation?"""
        return not self.parents

    def read(self) -> list[list[Any]]:
        """Its records, partition by partition, of a source of RDDs or DataFrames. This runs a Spark job."""
        if self.reader is None:
            raise LookupError(f"{self.name} (operation {self.id}) is not a source whose records can be read again")
        return self.reader()


@dataclass(frozen=True)
class Ref:
    """A data set among the arguments of an operation."""

    operation: int


@dataclass(frozen=True)
class Edge:
    """Records go from one operation to another."""

    source: int
    target: int
    wide: bool
    """Are they moved between partitions, so that a stage ends here? A join of data sets that are partitioned alike has
    edges that are not wide, and so has a join with a broadcast side."""


@dataclass(frozen=True)
class Action:
    """A call of the user's that wanted a result."""

    id: int
    """Its number among the actions, from 0, in the order in which they were called."""
    name: str
    """In the user's words: `collect`, `write.parquet`, `writeStream.start`."""
    api: Api
    operations: tuple[int, ...] = ()
    """The operations that it was called on, by their ids; usually one."""
    functions: tuple[Function, ...] = ()
    call_site: CallSite | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    jobs: tuple[int, ...] = ()
    result: type | None = None
    """The class of what it gave: `list`, `int`, NoneType; None where it failed."""
    error: str | None = None
    """The class of the exception that it raised."""
    by_library: bool = False
    """Did a library of Spark's own (pyspark.ml, pyspark.mllib) call it, and not the user?"""


@dataclass(frozen=True)
class RddInfo:
    """One of Spark's own RDDs, as Spark describes it."""

    id: int
    name: str
    parents: tuple[int, ...]
    partitions: int
    level: Level | None
    scope: str | None
    """The operator of SQL, or the method in Scala, that made it."""
    call_site: str
    cached: bool


@dataclass(frozen=True)
class Stage:
    """A stage: the same work for every partition, with no shuffle within."""

    id: int
    name: str
    """Spark's name for it, which has the place in the program: `collect at top_n.py:9`."""
    parents: tuple[int, ...]
    tasks: int
    """How many tasks it has. A job that wants some partitions only, as `take` does, has fewer tasks than partitions."""
    rdds: tuple[RddInfo, ...] = field(repr=False, default=())
    jobs: tuple[int, ...] = ()
    """The jobs that it belongs to, also those that skipped it."""
    attempts: int = 0
    """How often it was run; 0 where every job skipped it."""
    finished: int = 0
    """How many tasks ended well, in all attempts."""
    failure: str | None = None
    """Why its last attempt failed."""
    operations: tuple[int, ...] = ()
    """The operations whose records it computed."""


@dataclass(frozen=True)
class Job:
    """A job: what Spark ran to get one result."""

    id: int
    stages: tuple[int, ...]
    """Its stages, also those that were skipped."""
    skipped: tuple[int, ...] = ()
    """The stages that it did not have to run, as their shuffle files were there."""
    action: int | None = None
    """The action that it ran for."""
    operation: int | None = None
    """The operation that it ran for, where that had to look at data first, as `sortBy` does."""
    execution: int | None = None
    """The execution of Spark SQL that it belongs to."""
    query: str | None = None
    """The id of the streaming query that it belongs to."""
    batch: int | None = None
    """The number of the micro-batch; of a DStream, the time of the batch in milliseconds."""
    succeeded: bool | None = None
    """None where its end was not seen."""


@dataclass(frozen=True)
class PhysicalNode:
    """An operator of a physical plan, as Spark describes it in its events."""

    name: str
    """Such as `Exchange`, `HashAggregate`, `BroadcastHashJoin`."""
    text: str
    children: tuple[PhysicalNode, ...] = ()
    stages: tuple[int, ...] = ()
    """The stages that updated its metrics; one without metrics has none of its own."""
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    def walk(self) -> Iterator[PhysicalNode]:
        """This node and all below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(frozen=True)
class Execution:
    """What Spark SQL ran at once: an action on a DataFrame, a write, or a micro-batch."""

    id: int
    """Spark's number for it."""
    name: str
    """Spark's words for it: the call in the JVM and its place."""
    action: int | None = None
    operation: int | None = None
    """The operation that asked for it, where that had to look at data first."""
    jobs: tuple[int, ...] = ()
    query: str | None = None
    batch: int | None = None
    analysed: Plan | None = field(default=None, hash=False, repr=False)
    optimised: Plan | None = field(default=None, hash=False, repr=False)
    planned: PhysicalNode | None = field(default=None, repr=False)
    """The physical plan that it started with."""
    replanned: tuple[PhysicalNode, ...] = field(default=(), repr=False)
    """The physical plans that adaptive execution changed it to, one after the other."""
    failure: str | None = None

    @property
    def physical(self) -> PhysicalNode | None:
        """The physical plan that it ended with."""
        return self.replanned[-1] if self.replanned else self.planned


@dataclass(frozen=True)
class Difference:
    """Something that Spark ran and that was not captured as it ran, or the other way round."""

    message: str
    job: int | None = None
    stage: int | None = None
    operation: int | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Program:
    """All that was seen of a program."""

    operations: tuple[Operation, ...] = ()
    """By their ids: `operations[3].id == 3`."""
    edges: tuple[Edge, ...] = ()
    actions: tuple[Action, ...] = ()
    jobs: tuple[Job, ...] = ()
    """In the order in which they started."""
    stages: tuple[Stage, ...] = ()
    """By their ids, lowest first."""
    executions: tuple[Execution, ...] = ()
    differences: tuple[Difference, ...] = ()

    @cached_property
    def stage(self) -> Mapping[int, Stage]:
        """The stages by their ids, which do not have to start at 0."""
        return {stage.id: stage for stage in self.stages}

    @cached_property
    def job(self) -> Mapping[int, Job]:
        """The jobs by their ids."""
        return {job.id: job for job in self.jobs}

    @cached_property
    def children(self) -> Mapping[int, tuple[int, ...]]:
        """For each operation those that read from it."""
        found: dict[int, list[int]] = {operation.id: [] for operation in self.operations}
        for edge in self.edges:
            if edge.target not in found[edge.source]:
                found[edge.source].append(edge.target)
        return {source: tuple(targets) for source, targets in found.items()}

    def above(self, *ids: int) -> tuple[Operation, ...]:
        """These operations and all that they read from, directly or not; a parent before its children."""
        wanted, waiting = set(ids), list(ids)
        while waiting:
            for parent in self.operations[waiting.pop()].parents:
                if parent not in wanted:
                    wanted.add(parent)
                    waiting.append(parent)
        return tuple(self.operations[one] for one in sorted(wanted))
