"""One program of what the user called and what Spark says it ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from firesteel.spark.capture.account import Account, ExecutionSeen
from firesteel.spark.capture.dstreams import nodes_of
from firesteel.spark.capture.recording import Made, Node, Recorder
from firesteel.values.programs import (
    Action,
    Api,
    Difference,
    Edge,
    Execution,
    Job,
    Operation,
    PhysicalNode,
    Program,
    RddInfo,
    Stage,
)


class Ran:
    """Spark's account, with what is asked of it often."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self._stages: dict[int, list[int]] = defaultdict(list)
        self._known: dict[int, list[int]] = defaultdict(list)
        for id_, stage in sorted(account.stages.items()):
            for rdd in stage.rdds:
                self._known[rdd.id].append(id_)
                if stage.attempts:
                    self._stages[rdd.id].append(id_)
        self._members = {id_: {rdd.id for rdd in stage.rdds} for id_, stage in account.stages.items()}

    def stages_of(self, rdds: Iterable[int]) -> tuple[int, ...]:
        """The stages that ran and computed any of these RDDs."""
        return tuple(sorted({stage for rdd in rdds for stage in self._stages[rdd]}))

    def infos(self, rdds: Iterable[int]) -> list[RddInfo]:
        """What Spark says of RDDs that ran."""
        return [self.account.rdds[rdd] for rdd in sorted(rdds) if rdd in self.account.rdds]

    def is_wide(self, targets: set[int], sources: set[int]) -> bool | None:
        """Does a stage end between RDDs and those that they read from? None where no way leads there."""
        if targets & sources:
            return False
        # If one way crosses no end of a stage, that is the one that the records take.
        reached: dict[int, bool] = {}
        waiting = [(rdd, False) for rdd in targets]
        while waiting:
            rdd, wide = waiting.pop()
            if rdd in reached and (wide or not reached[rdd]):
                continue
            reached[rdd] = wide
            info = self.account.rdds.get(rdd)
            for parent in info.parents if info is not None and rdd not in sources else ():
                waiting.append((parent, wide or self._ends_between(rdd, parent)))
        answers = [reached[rdd] for rdd in sources if rdd in reached]
        return all(answers) if answers else None

    def _ends_between(self, rdd: int, parent: int) -> bool:
        return any(parent not in self._members[stage] for stage in self._known[rdd])


def rdd_operations(recorder: Recorder, ran: Ran) -> list[Operation]:
    """The operations, with what Spark says of those of RDDs and DStreams."""
    acted = {one.call: one.operations for one in recorder.actions}
    batches = nodes_of(recorder.batches, recorder.operations, acted)
    done = []
    for made in recorder.operations:
        nodes = [made.node] if made.node is not None else batches.get(made.id, [])
        handed = acted.get(made.handed_by, ()) if made.handed_by is not None else ()
        done.append(_operation(replace(made, parents=made.parents or handed), nodes, ran))
    return done


def _operation(made: Made, nodes: list[Node], ran: Ran) -> Operation:
    rdds = {rdd for node in nodes for rdd in node.holders()}
    infos = ran.infos(rdds)
    return Operation(
        made.id,
        made.name,
        made.api,
        made.parents,
        made.functions,
        made.call_site,
        made.arguments,
        made.wide,
        made.cached,
        infos[0].partitions if infos else None,
        infos[0].level if infos else None,
        ran.stages_of(rdds),
        tuple(sorted(rdds)),
        None,
        made.earlier,
        made.reader,
        made.checkpointed,
    )


def rdd_edges(operations: list[Operation], ran: Ran) -> list[Edge]:
    """Which operation reads from which; what ran decides where a stage ends between them."""
    edges = []
    for operation in operations:
        for parent in operation.parents:
            both = operation.api is not Api.FRAME and operations[parent].api is not Api.FRAME
            told = ran.is_wide(set(operation.rdds), set(operations[parent].rdds)) if both else None
            edges.append(Edge(parent, operation.id, operation.wide if told is None else told))
    return edges


def program_of(
    recorder: Recorder,
    account: Account,
    operations: list[Operation],
    edges: list[Edge],
    executions: list[Execution],
    differences: list[Difference],
) -> Program:
    """The program, once everything is known about its operations."""
    jobs = _jobs(recorder, account)
    by_action: dict[int, list[int]] = defaultdict(list)
    for job in jobs:
        if job.action is not None:
            by_action[job.action].append(job.id)
    wide = {edge.target for edge in edges if edge.wide}
    finished = tuple(replace(one, wide=one.id in wide) if _ran(one) else one for one in operations)
    actions = tuple(
        Action(
            one.id,
            one.name,
            one.api,
            one.operations,
            one.functions,
            one.call_site,
            one.arguments,
            tuple(by_action[one.id]),
            one.result,
            one.error,
            one.by_library,
        )
        for one in recorder.actions
    )
    return Program(
        finished,
        tuple(edges),
        actions,
        tuple(jobs),
        stages_of(account, finished),
        tuple(executions),
        tuple(differences),
    )


def _ran(operation: Operation) -> bool:
    return bool(operation.stages) and bool(operation.parents)


def _jobs(recorder: Recorder, account: Account) -> list[Job]:
    actions = {one.call: one.id for one in recorder.actions}
    made = {one.call: one.id for one in reversed(recorder.operations) if one.call is not None}
    outputs = [one.id for one in recorder.actions if one.api is Api.DSTREAM]
    queries = {one.query: one.id for one in recorder.actions if one.query is not None}
    jobs = []
    for job in sorted(account.jobs.values(), key=lambda one: one.id):
        action = actions.get(job.call) if job.call is not None else None
        operation = made.get(job.call) if job.call is not None else None
        if job.call is None and job.output is not None and job.output < len(outputs):
            action = outputs[job.output]
        if action is None and operation is None and job.query is not None:
            action = queries.get(job.query)
        skipped = tuple(
            id_ for id_ in job.stages if id_ not in job.started and job.succeeded is not None and id_ in account.stages
        )
        jobs.append(
            Job(
                job.id,
                job.stages,
                skipped if job.succeeded else (),
                action,
                operation,
                job.execution,
                job.query,
                job.batch,
                job.succeeded,
            )
        )
    return jobs


def stages_of(account: Account, operations: Iterable[Operation]) -> tuple[Stage, ...]:
    """The stages, with the operations whose records they computed."""
    members: dict[int, list[int]] = defaultdict(list)
    for operation in operations:
        for stage in operation.stages:
            members[stage].append(operation.id)
    return tuple(
        Stage(
            one.id,
            one.name,
            one.parents,
            one.tasks,
            one.rdds,
            tuple(one.jobs),
            one.attempts,
            one.finished,
            one.failure,
            tuple(members[one.id]),
        )
        for one in sorted(account.stages.values(), key=lambda one: one.id)
    )


def physical_plans(account: Account, seen: ExecutionSeen) -> list[PhysicalNode]:
    """The physical plans of an execution, as Spark told them one after the other."""
    try:
        return [account.physical(plan) for plan in seen.plans if plan]
    except RecursionError:
        return []  # a plan that is nested deeper than Python can follow


def differences_of(recorder: Recorder, program: Program, ran: Ran) -> list[Difference]:
    """Where what Spark ran is not what was captured."""
    found = [*_lineage(recorder, program, ran), *_unknown_readers(program)]
    for job in program.jobs:
        if job.action is None and job.operation is None:
            found.append(Difference(f"job {job.id} ran, and no captured call started it", job=job.id))
    known = _known_rdds(recorder, ran)
    by_rdds = {job.id for job in program.jobs if _is_of_rdds(program, job)}
    for stage in program.stages:
        unknown = [rdd for rdd in stage.rdds if rdd.id not in known]
        if unknown and by_rdds.issuperset(stage.jobs):
            names = ", ".join(f"{rdd.name} ({rdd.id})" for rdd in unknown)
            found.append(
                Difference(f"stage {stage.id} computed RDDs that no captured operation made: {names}", stage=stage.id)
            )
        wanted = stage.tasks * min(stage.attempts, 1)
        if stage.attempts and stage.failure is None and stage.finished < wanted:
            told = f"stage {stage.id} has {wanted} tasks, and {stage.finished} of them were seen to end well"
            if all(program.job[job].succeeded for job in stage.jobs if job in program.job):
                found.append(Difference(told, stage=stage.id))
    return found


def _unknown_readers(program: Program) -> Iterator[Difference]:
    """Stages in which Spark SQL read something, and none of whose operations is known."""
    told = {stage for job in program.jobs if job.action is None and job.operation is None for stage in job.stages}
    for execution in program.executions:
        leaves = [node for node in execution.physical.walk() if not node.children] if execution.physical else []
        for stage, name in ((stage, leaf.name) for leaf in leaves for stage in leaf.stages):
            if stage in program.stage and not program.stage[stage].operations and stage not in told:
                told.add(stage)
                words = f"stage {stage} read records ({name}), and it is not known for which operation"
                yield Difference(words, stage=stage)


def _is_of_rdds(program: Program, job: Job) -> bool:
    """Did PySpark make all RDDs of a job? Those of SQL are made by Spark itself, for its own ends as well."""
    if job.action is not None:
        return program.actions[job.action].api is Api.RDD
    return job.operation is None or program.operations[job.operation].api is Api.RDD


def _lineage(recorder: Recorder, program: Program, ran: Ran) -> Iterator[Difference]:
    """Operations of RDDs whose RDDs do not follow from each other, or not in the way that was captured."""
    for operation in program.operations:
        if operation.api is not Api.RDD or not operation.stages:
            continue
        name = f"{operation.name} (operation {operation.id})"
        parents = [program.operations[one] for one in operation.parents]
        for parent in parents:
            told = ran.is_wide(set(operation.rdds), set(parent.rdds)) if parent.api is Api.RDD else False
            if told is None:
                told_ = f"{name} reads from {parent.name} (operation {parent.id}), and its RDDs in Spark do not"
                yield Difference(told_, operation=operation.id)
        if recorder.operations[operation.id].wide != operation.wide and all(one.api is Api.RDD for one in parents):
            moved = "moved" if operation.wide else "did not move"
            yield Difference(f"Spark {moved} records between partitions for {name}", operation=operation.id)


def _known_rdds(recorder: Recorder, ran: Ran) -> set[int]:
    """The RDDs that PySpark or an operator of SQL was seen to make, and those that they read from."""
    known: set[int] = set()
    waiting = [*recorder.by_rdd, *ran.account.planned]
    while waiting:
        rdd = waiting.pop()
        if rdd not in known:
            known.add(rdd)
            info = ran.account.rdds.get(rdd)
            waiting.extend(info.parents if info is not None else ())
    return known
