"""The program that an event log tells of: what Spark ran, without what the user called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from firesteel.spark.capture.account import Account, account_of
from firesteel.spark.capture.matching import Ran, physical_plans, stages_of
from firesteel.values.programs import Action, Api, Edge, Execution, Job, Operation, Program


def program_in(events: Iterable[Mapping[str, Any]]) -> Program:
    """The program of an event log."""
    account = account_of(events)
    ran = Ran(account)
    boxes = _boxes(account)
    box_of = {rdd: number for number, box in enumerate(boxes) for rdd in box}
    edges = _edges(account, ran, box_of)
    operations = tuple(_operation(number, box, account, ran, edges) for number, box in enumerate(boxes))
    actions, by_job = _actions(account, box_of)
    jobs = tuple(
        Job(
            job.id,
            job.stages,
            tuple(id_ for id_ in job.stages if id_ not in job.started) if job.succeeded else (),
            by_job[job.id],
            None,
            job.execution,
            job.query,
            job.batch,
            job.succeeded,
        )
        for job in sorted(account.jobs.values(), key=lambda one: one.id)
    )
    executions = tuple(_execution(account, id_, jobs) for id_ in account.executions)
    return Program(operations, tuple(edges), actions, jobs, stages_of(account, operations), executions)


def _boxes(account: Account) -> list[list[int]]:
    """The RDDs, together with those that one operator of SQL or one method in Scala made as well."""
    found: dict[str, list[int]] = defaultdict(list)
    for rdd in sorted(account.rdds):
        found[f"scope {account.scopes[rdd]}" if rdd in account.scopes else f"rdd {rdd}"].append(rdd)
    return sorted(found.values())


def _edges(account: Account, ran: Ran, box_of: Mapping[int, int]) -> list[Edge]:
    found: dict[tuple[int, int], bool] = {}
    # The RDD that writes a shuffle and the one that reads it are of the same operator.
    moving = {
        box_of[rdd] for rdd, info in account.rdds.items() for parent in info.parents if _moves(ran, box_of, rdd, parent)
    }
    for rdd, info in sorted(account.rdds.items()):
        for parent in info.parents:
            both = (box_of.get(parent, -1), box_of[rdd])
            # Numbers go up along edges; one back would be between RDDs that a scope has made in turns with another.
            if 0 <= both[0] < both[1]:
                found[both] = found.get(both, both[1] in moving) or bool(ran.is_wide({rdd}, {parent}))
    return [
        Edge(source, target, wide) for (source, target), wide in sorted(found.items(), key=lambda one: one[0][::-1])
    ]


def _moves(ran: Ran, box_of: Mapping[int, int], rdd: int, parent: int) -> bool:
    return box_of.get(parent) == box_of[rdd] and bool(ran.is_wide({rdd}, {parent}))


def _operation(number: int, box: list[int], account: Account, ran: Ran, edges: list[Edge]) -> Operation:
    last = account.rdds[box[-1]]
    own = [edge for edge in edges if edge.target == number]
    return Operation(
        number,
        last.scope or last.name,
        Api.FRAME if box[-1] in account.planned else Api.RDD,
        tuple(edge.source for edge in own),
        arguments={"call site": last.call_site},
        wide=any(edge.wide for edge in own),
        cached=any(account.rdds[rdd].cached for rdd in box),
        partitions=last.partitions,
        level=last.level,
        stages=ran.stages_of(box[-1:]),
        rdds=tuple(box),
    )


def _actions(account: Account, box_of: Mapping[int, int]) -> tuple[tuple[Action, ...], dict[int, int]]:
    """An action for each execution of SQL, and one for each other job."""
    wanted: dict[tuple[str, int], list[int]] = defaultdict(list)
    for job in sorted(account.jobs.values(), key=lambda one: one.id):
        wanted[("execution", job.execution) if job.execution is not None else ("job", job.id)].append(job.id)
    actions, by_job = list[Action](), dict[int, int]()
    for (kind, id_), jobs in wanted.items():
        last = account.jobs[jobs[-1]]
        stage = account.stages.get(max(last.stages, default=-1))
        rdds = [rdd.id for rdd in stage.rdds] if stage is not None else []
        parents = {parent for rdd in rdds for parent in account.rdds[rdd].parents}
        ends = sorted({box_of[rdd] for rdd in rdds if rdd not in parents})
        seen = account.executions.get(id_) if kind == "execution" else None
        name = seen.name if seen is not None else last.properties.get("callSite.short") or (stage.name if stage else "")
        name = (name.splitlines() or [""])[0] + (f", batch {last.batch}" if last.batch is not None else "")
        api = Api.FRAME if kind == "execution" else Api.RDD
        actions.append(Action(len(actions), name, api, tuple(ends), jobs=tuple(jobs)))
        by_job.update(dict.fromkeys(jobs, len(actions) - 1))
    return tuple(actions), by_job


def _execution(account: Account, id_: int, jobs: tuple[Job, ...]) -> Execution:
    seen = account.executions[id_]
    own = [job for job in jobs if job.execution == id_]
    plans = physical_plans(account, seen)
    first = own[0] if own else None
    return Execution(
        id_,
        seen.name,
        first.action if first else None,
        None,
        tuple(job.id for job in own),
        first.query if first else None,
        first.batch if first else None,
        planned=plans[0] if plans else None,
        replanned=tuple(plans[1:]),
        failure=seen.failure,
    )
