"""A capture, from its beginning to the program that was seen."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.spark.capture.account import Account, ExecutionSeen, account_of
from firesteel.spark.capture.executions import Executions, function_in
from firesteel.spark.capture.frames import Placed, added_by, parents_in, with_stages
from firesteel.spark.capture.matching import (
    Ran,
    differences_of,
    physical_plans,
    program_of,
    rdd_edges,
    rdd_operations,
)
from firesteel.spark.capture.recording import Recorder
from firesteel.spark.capture.wrapping import Wrapping
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.plans.reader import read_all
from firesteel.spark.plans.tree import Node
from firesteel.values.programs import Api, Difference, Execution, Function, Operation, Program

_one_at_a_time = threading.Lock()
_WITH_COLUMNS = frozenset({"Project", "Filter", "Aggregate", "Window", "Sort", "Join", "Generate"})
"""The nodes of plans that compute columns of the user's."""


class Capturing:
    """Listens to a session, from `start` to `finish`."""

    def __init__(self, spark: Any) -> None:
        _refuse(spark)
        self._spark = spark
        self._recorder = Recorder()
        self._wrapping = Wrapping(self._recorder, spark.sparkContext)
        self._executions: Executions | None = None
        self._lost: list[Difference] = []

    def start(self) -> None:
        """Listen from now on."""
        if not _one_at_a_time.acquire(blocking=False):
            raise InvalidArgument(
                "another fs.capture runs already, in this block or in another thread: end it first, as one capture "
                "sees all that the process calls"
            )
        try:
            self._executions = Executions(self._spark.sparkContext)
            self._executions.attach()
            self._wrapping.install()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Listen no more."""
        self._wrapping.remove()
        if self._executions is not None:
            self._executions.detach()
        _one_at_a_time.release()

    def program(self, events: Iterable[Mapping[str, Any]]) -> Program:
        """What was seen, given Spark's events of the block."""
        account = account_of(events)
        ran = Ran(account)
        operations = rdd_operations(self._recorder, ran)
        plans = self._plans(operations)
        operations = [self._with_plan(one, plans) if one.id in plans else one for one in operations]
        edges = rdd_edges(operations, ran)
        whole = program_of(self._recorder, account, operations, edges, [], [])
        executions = _with_roots(
            [self._execution(whole, account, seen) for seen in account.executions.values()], account, self._recorder
        )
        try:
            places = [*self._places(whole, executions, plans, account)]
        except Exception as error:
            self._lose("the physical plans", error)
            places = []
        operations, edges = with_stages(operations, edges, places, account)
        whole = program_of(self._recorder, account, operations, edges, executions, [])
        return replace(
            whole,
            differences=(
                *self._lost,
                *map(Difference, self._recorder.lost),
                *differences_of(self._recorder, whole, ran),
            ),
        )

    # --- plans ---

    def _plans(self, operations: list[Operation]) -> dict[int, Node]:
        """The analysed plans of the DataFrames."""
        with_frames = [one for one in operations if self._recorder.operations[one.id].frame is not None]
        if not with_frames:
            return {}
        frames = [self._recorder.operations[one.id].frame for one in with_frames]
        try:
            trees = read_all(self._spark, frames)
        except Exception as error:
            self._lose("the plans of the DataFrames", error)
            return {}
        return {one.id: tree for one, tree in zip(with_frames, trees, strict=True)}

    def _lose(self, what: str, error: Exception) -> None:
        """Something cannot be read, as after the session was stopped. The user's program must not fail for that."""
        if self._spark.sparkContext._jsc is None:
            self._lost.append(Difference(f"{what} cannot be read, as the session was stopped inside the block"))
        else:
            kind = "" if isinstance(error, SubjectFailure) else f"{type(error).__name__}: "
            self._lost.append(Difference(f"{what} cannot be read: {kind}{error}"))

    def _with_plan(self, operation: Operation, plans: dict[int, Node]) -> Operation:
        """An operation with its plan, and with what it reads through views."""
        plan = plans[operation.id]
        parents = operation.parents
        if not parents:
            known = {id(plan): one for one, plan in reversed(plans.items()) if one < operation.id}
            parents = parents_in(plan, known)
        functions = (*operation.functions, *self._functions(plan, [plans[one] for one in parents if one in plans]))
        operation = replace(operation, functions=functions)
        if operation.earlier and parents:  # something that is not listened to made it, of what the block made
            return replace(operation, name=plan.kind, plan=plan, parents=parents, earlier=False)
        return replace(operation, plan=plan, parents=parents)

    def _functions(self, plan: Node, parents: list[Node]) -> Iterator[Function]:
        """The functions in columns that an operation added, as `udf` makes them."""
        for node in added_by(plan, parents)[0]:
            for top in node.expressions if node.kind in _WITH_COLUMNS else ():
                for expression in top.walk():
                    if expression.kind == "PythonUDF":
                        function = function_in(self._spark, expression)
                        if function is not None:
                            yield Function(str(expression.arguments.get("name")), function)

    # --- executions ---

    def _execution(self, program: Program, account: Account, seen: ExecutionSeen) -> Execution:
        jobs = [job for job in program.jobs if job.execution == seen.id]
        physical = physical_plans(account, seen)
        call = self._call_of(seen)
        made = {one.call: one.id for one in reversed(self._recorder.operations)}
        acted = {one.call: one.id for one in self._recorder.actions}
        first = jobs[0] if jobs else None
        execution = Execution(
            seen.id,
            seen.name,
            first.action if first else acted.get(call) if call is not None else None,
            first.operation if first else made.get(call) if call is not None else None,
            tuple(job.id for job in jobs),
            first.query if first else None,
            first.batch if first else None,
            None,
            None,
            physical[0] if physical else None,
            tuple(physical[1:]),
            seen.failure,
        )
        from pyspark.errors import AnalysisException

        found = self._jvm_execution(seen.id)
        if found is None:
            return execution
        try:
            analysed, optimised = read_all(self._spark, [found.analyzed(), found.optimizedPlan()])
        except AnalysisException:
            return execution  # the user's mistake, which the user was told of: there is no plan
        except Exception as error:
            self._lose(f"the plans of execution {seen.id}", error)
            return execution
        return replace(execution, analysed=analysed, optimised=optimised)

    def _jvm_execution(self, number: int) -> Any:
        """An execution, also after the session was stopped: the JVM lives on."""
        try:
            return None if self._executions is None else self._executions.execution(number)
        except Exception as error:
            self._lose(f"execution {number}", error)
            return None

    def _call_of(self, seen: ExecutionSeen) -> int | None:
        """The call that an execution without jobs ran for: the one that ran when it started, if there is only one."""
        at = seen.time / 1000
        running = [
            call.number for call in self._recorder.calls if call.tagged and call.started - 0.001 <= at <= call.ended
        ]
        return running[0] if len(running) == 1 else None

    def _places(
        self, program: Program, executions: list[Execution], plans: dict[int, Node], account: Account
    ) -> Iterable[tuple[Placed, set[int]]]:
        """Where the operations stand in the physical plans that ran."""
        for execution in executions:
            found = self._jvm_execution(execution.id)
            roots: tuple[int, ...] = ()
            if execution.action is not None:
                roots = program.actions[execution.action].operations
            elif execution.operation is not None:
                roots = (execution.operation,)
            if found is not None and roots:
                yield self._placed(program, found, roots, plans, account)
        for operation in program.operations:
            parents = [program.operations[one] for one in operation.parents]
            if operation.api is Api.RDD and operation.stages and [one.api for one in parents] == [Api.FRAME]:
                frame = self._recorder.operations[parents[0].id].frame
                yield self._placed(program, frame.queryExecution(), (parents[0].id,), plans, account)

    def _placed(
        self, program: Program, found: Any, roots: tuple[int, ...], plans: dict[int, Node], account: Account
    ) -> tuple[Placed, set[int]]:
        assert self._executions is not None
        placed = Placed(self._executions.physical(found))
        concerned = [program.operations[one] for one in _frames_above(program, roots) if one in plans]
        for operation in concerned:
            if self._recorder.operations[operation.id].is_batch:
                operation = replace(operation, parents=())  # its plan reads what the stream's plan computed
            parents = [plans[one] for one in operation.parents if one in plans]
            placed.place(operation, *added_by(plans[operation.id], parents))
        return placed, {one.id for one in concerned}


def _refuse(spark: Any) -> None:
    """Refuse what is not a session in this process that runs."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise InvalidArgument(
            f"{described('spark', spark)} belongs to Spark Connect, where the program that runs is on a server and "
            "cannot be seen: set spark.eventLog.enabled and spark.eventLog.dir there, and hand its log to fs.dag_of"
        )
    if not hasattr(spark, "sparkContext"):
        raise InvalidArgument(f"{described('spark', spark)} is not a Spark session: write fs.capture(fs.session())")
    if spark.sparkContext._jsc is None:
        raise InvalidArgument(f"{described('spark', spark)} is stopped: hand over a session that runs")


def _frames_above(program: Program, roots: tuple[int, ...]) -> list[int]:
    """The operations of DataFrames that some read from, through no RDD."""
    found, waiting = set[int](), list(roots)
    while waiting:
        operation = program.operations[waiting.pop()]
        if operation.api is Api.FRAME and operation.id not in found:
            found.add(operation.id)
            waiting.extend(operation.parents)
    return sorted(found)


def _with_roots(executions: list[Execution], account: Account, recorder: Recorder) -> list[Execution]:
    """The executions, with what those without jobs belong to: a micro-batch is one, and what it writes is another."""
    runs = {one.run: one.id for one in recorder.actions if one.run is not None}
    within: dict[int | None, Execution] = {}
    for execution in executions:
        seen = account.executions[execution.id]
        if seen.root != execution.id:
            within.setdefault(seen.root, execution)
    done = []
    for execution in executions:
        part = within.get(execution.id)
        action = execution.action
        if action is None and execution.operation is None:
            action = runs.get(account.executions[execution.id].group or "")
        done.append(
            replace(
                execution,
                action=action,
                query=execution.query or (part.query if part is not None else None),
                batch=execution.batch if execution.batch is not None or part is None else part.batch,
            )
        )
    return done
