"""The stages of DStreams' operations.

PySpark makes the RDDs of a batch in functions that Spark calls back, several operations in one, so there is no name to
follow. A batch's stages are told by counting: an operation with n wide ones between it and the output ran in the stage
that is n shuffles away from the last one. Where a job has another number of stages, as with windows, that is not known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from firesteel.values.programs import Api, Difference, Job, Operation, Program

WIDE = frozenset(
    {
        "reduceByKey",
        "combineByKey",
        "partitionBy",
        "groupByKey",
        "countByValue",
        "repartition",
        "cogroup",
        "join",
        "leftOuterJoin",
        "rightOuterJoin",
        "fullOuterJoin",
        "reduce",
        "count",
        "reduceByWindow",
        "countByWindow",
        "countByValueAndWindow",
        "groupByKeyAndWindow",
        "reduceByKeyAndWindow",
        "updateStateByKey",
    }
)
"""The operations of DStreams that move records between partitions."""


def with_batches(program: Program) -> tuple[list[Operation], list[Difference]]:
    """The operations, with the stages of those of DStreams; and where these cannot be told."""
    stages: dict[int, set[int]] = defaultdict(set)
    unknown: list[Difference] = []
    for action in program.actions:
        jobs = [job for job in program.jobs if job.action == action.id and job.batch is not None]
        if action.api is not Api.DSTREAM or not jobs:
            continue
        away = _away(program, action.operations)
        for job in jobs:
            levels = _levels(program, job)
            if len(levels) != max(away.values(), default=0) + 1 or any(len(level) > 1 for level in levels):
                message = f"which operations of {action.name} (action {action.id}) ran in which stage is not known"
                unknown.append(
                    Difference(f"{message}: job {job.id} has other stages than they have shuffles", job=job.id)
                )
                continue
            for operation, distance in away.items():
                stages[operation] |= {id_ for id_ in levels[distance] if program.stage[id_].attempts}
    done = [
        replace(one, stages=tuple(sorted(stages[one.id]))) if one.api is Api.DSTREAM and stages[one.id] else one
        for one in program.operations
    ]
    return done, unknown[:1]


def _away(program: Program, roots: Iterable[int]) -> dict[int, int]:
    """For each operation how many shuffles lie between it and the output, at most."""
    found: dict[int, int] = {}
    waiting = [(one, 0) for one in roots]
    while waiting:
        one, distance = waiting.pop()
        if found.get(one, -1) >= distance:
            continue
        found[one] = distance
        operation = program.operations[one]
        waiting += [(parent, distance + operation.wide) for parent in operation.parents]
    return found


def _levels(program: Program, job: Job) -> list[list[int]]:
    """The stages of a job, by how many shuffles they are away from the last one."""
    known = {id_ for id_ in job.stages if id_ in program.stage}
    away: dict[int, int] = {}
    waiting = [(max(known), 0)] if known else []
    while waiting:
        id_, distance = waiting.pop()
        if away.get(id_, -1) < distance:
            away[id_] = distance
            waiting += [(parent, distance + 1) for parent in program.stage[id_].parents if parent in known]
    levels: list[list[int]] = [[] for _ in range(max(away.values(), default=-1) + 1)]
    for id_, distance in sorted(away.items()):
        levels[distance].append(id_)
    return levels
