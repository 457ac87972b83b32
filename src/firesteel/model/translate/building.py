"""The tasks of a model: which stage each belongs to, what it waits for, which buffers it writes.

A task computes one partition at the end of a stage. It computes every operation on the way itself, as Spark's tasks do:
an operation that two stages need is computed in both. So every buffer is written by one task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from firesteel.errors import InvalidArgument
from firesteel.model.translate.functions import Functions, Made
from firesteel.model.translate.names import Names
from firesteel.values.programs import Action, Function, Operation, Program


@dataclass
class Task:
    """One partition at the end of a stage."""

    stage: StagePlan
    number: int
    steps: list[str] = field(default_factory=list)
    """Calls of functions, one after the other."""
    buffers: dict[tuple[int, int], str] = field(default_factory=dict)
    """Where an operation's partition is, for what this task has computed."""


@dataclass
class StagePlan:
    """A stage of the model."""

    number: int
    after: int
    """How many actions are over before it may start."""
    parents: list[int] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    operations: list[int] = field(default_factory=list)
    """The operations that it computes, whole or their map side."""
    ends: str = ""
    """The operation or action that it works for."""

    @property
    def done(self) -> str:
        return f"stage_{self.number}_done"

    @property
    def runs(self) -> str:
        return f"stage_{self.number}_runs"


@dataclass
class Summary:
    """What the driver finds out about all partitions of an operation's parent, before the operation goes on."""

    function: str
    result: str
    buffers: dict[int, str] = field(default_factory=dict)
    """By the number of the task."""
    ready: dict[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What the driver does: it waits until all tasks have their partition."""
        everything = " AND ".join(f"{self.ready[number]} = 1" for number in sorted(self.ready))
        buffers = ", ".join(self.buffers[number] for number in sorted(self.buffers))
        return f"await({everything}) ; {self.function}([{buffers}], {self.result}) ; {self.result}_done := 1"


@dataclass
class Builder:
    """A model while it is made."""

    program: Program
    names: Names = field(default_factory=Names)
    stages: list[StagePlan] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """MSVL functions."""
    variables: dict[str, str] = field(default_factory=dict)
    """The variables of the model, with their first values."""
    drivers: list[str] = field(default_factory=list)
    """What the driver does beside the tasks."""
    inputs: dict[str, list[list[Any]]] = field(default_factory=dict)
    results: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """What has no translation, with its place."""
    prelude: str = ""
    """Definitions that all others may use."""
    actions_before: int = 0
    summaries: dict[tuple[int, str, int], Summary] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.functions = Functions(self.names)
        self.labels: dict[int, str] = {}
        self._made: dict[tuple[int, str], str] = {}
        self._shuffles: dict[int, Any] = {}
        self._outside: dict[int, Made] = {}

    # --- what operations ask for ---

    def label(self, operation: Operation) -> str:
        """The operation's name in the model: `map1`."""
        if operation.id not in self.labels:
            self.labels[operation.id] = self.names.numbered(operation.name)
        return self.labels[operation.id]

    def head(self, operation: Operation, role: str = "") -> str:
        """The name of its function: `Map1`."""
        label = self.label(operation)
        return f"{label[0].upper()}{label[1:]}{role}"

    def function(self, operation: Operation, role: str, make: Callable[[str], str]) -> str:
        """The name of an MSVL function of the operation; its text is made once."""
        key = (operation.id, role)
        if key not in self._made:
            self._made[key] = self.head(operation, role)
            self.texts.append(make(self._made[key]))
        return self._made[key]

    def variable(self, wanted: str, first: str) -> str:
        name = self.names.fresh(wanted)
        self.variables[name] = first
        return name

    def users(self, what: Operation | Action, parameter: str, count: int, *, iterates: bool = False) -> Made | None:
        """The function that the user gave for a parameter; None where it was left out."""
        found = given(what, parameter)
        if found is None:
            return None
        label = self.label(what) if isinstance(what, Operation) else what.name
        return self.functions.made(found, f"{label}_{parameter}", count, iterates=iterates)

    def needed(self, what: Operation | Action, parameter: str, count: int, *, iterates: bool = False) -> Made:
        """The function that the user gave for a parameter; refused where it is not known."""
        found = self.users(what, parameter, count, iterates=iterates)
        if found is None:
            place = f" ({what.call_site})" if what.call_site is not None else ""
            raise InvalidArgument(
                f"the function {parameter} of {what.name}{place} is not known, so it has no model. A program that was "
                "read from an event log has no functions: capture it with fs.capture"
            )
        return found

    def parent(self, operation: Operation, place: int = 0) -> Operation:
        return self.program.operations[operation.parents[place]]

    def wide(self, operation: Operation) -> bool:
        """Does a stage end before it?"""
        return any(edge.wide for edge in self.program.edges if edge.target == operation.id)

    # --- stages and tasks ---

    def stage(self, ends: str) -> StagePlan:
        made = StagePlan(len(self.stages), self.actions_before, ends=ends)
        self.stages.append(made)
        return made

    def shuffle(self, operation: Operation, make: Callable[[], Any]) -> Any:
        """What is made once for an operation, however many stages read it: its shuffle."""
        if operation.id not in self._shuffles:
            self._shuffles[operation.id] = make()
        return self._shuffles[operation.id]

    def buffer(self, operation: Operation, partition: int, task: Task, first: str = "[]") -> str:
        """A new buffer for a partition of an operation, written by this task."""
        name = self.variable(f"{self.label(operation)}_{partition}", first)
        task.buffers[operation.id, partition] = name
        if operation.id not in task.stage.operations:
            task.stage.operations.append(operation.id)
        return name

    def summary(self, operation: Operation, task: Task, buffer: str, role: str, make: Callable[[str], str]) -> str:
        """The variable with what the driver finds out; the task says that its partition is there."""
        key = (operation.id, role, id(task.stage))
        if key not in self.summaries:
            function = self.function(operation, role, make)
            result = self.variable(f"{self.label(operation)}_{role.lower()}", "[]")
            self.variables[f"{result}_done"] = "0"
            self.summaries[key] = Summary(function, result)
        found = self.summaries[key]
        found.buffers[task.number] = buffer
        found.ready[task.number] = ready = self.variable(f"{found.result}_ready_{task.number}", "0")
        task.steps.append(f"{ready} := 1")
        return found.result

    def outside(self, operation: Operation, reason: str) -> Made:
        """The function from outside that stands for an operation."""
        if operation.id not in self._outside:
            self._outside[operation.id] = self.functions.external(self.label(operation), reason)
        return self._outside[operation.id]

    def records(self, operation: Operation) -> list[list[Any]]:
        """The records of a source, partition by partition: an input of the model."""
        from firesteel.model.translate.inputs import records_of

        label = self.label(operation)
        if label not in self.inputs:
            self.inputs[label] = records_of(operation)
        return self.inputs[label]

    def build(self, operation: Operation, partition: int, task: Task) -> str:
        """The buffer that holds a partition of an operation after the task's steps so far."""
        found = task.buffers.get((operation.id, partition))
        if found is None:
            from firesteel.model.translate.operations import translation

            found = translation(operation)(self, operation, partition, task)
        return found


def given(what: Operation | Action, parameter: str) -> Callable[..., Any] | None:
    """The function of the user's for a parameter."""
    functions: Sequence[Function] = what.functions
    return next((each.object for each in functions if each.parameter == parameter), None)


def argument(what: Operation | Action, parameter: str, default: Any = None) -> Any:
    """What the user handed over for a parameter."""
    arguments: Mapping[str, Any] = what.arguments
    return arguments.get(parameter, default)


def partitions(builder: Builder, operation: Operation) -> int:
    """How many partitions an operation has; where Spark has not said it, as many as its records or parents have.

    A source without records may have no partition at all, as an empty file has none. Then Spark runs no stage.
    """
    if operation.name == "emptyRDD":
        return 0
    if operation.partitions is not None:
        return operation.partitions
    if operation.is_source and operation.reader is not None:
        return len(builder.records(operation))
    parents = [builder.program.operations[each] for each in operation.parents]
    if operation.name in ("union", "groupWith"):
        return sum(partitions(builder, each) for each in parents)
    return max((partitions(builder, each) for each in parents), default=1)
