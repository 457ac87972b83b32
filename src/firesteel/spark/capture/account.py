"""Spark's own account of what it ran: jobs, stages, RDDs and executions of SQL, read from its events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from firesteel.values.programs import Level, PhysicalNode, RddInfo

CALL = "firesteel.call"
"""The local property that says which of the user's calls a job runs for. Threads that Spark starts inherit it."""

_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL"
_PLAN = "spark_plan_"


@dataclass
class StageSeen:
    """A stage, as far as it was seen."""

    id: int
    name: str
    parents: tuple[int, ...]
    tasks: int
    rdds: tuple[RddInfo, ...]
    jobs: list[int] = field(default_factory=list)
    attempts: int = 0
    finished: int = 0
    failure: str | None = None
    accumulators: set[int] = field(default_factory=set)
    """The metrics that its tasks updated."""


@dataclass
class JobSeen:
    """A job, as far as it was seen."""

    id: int
    stages: tuple[int, ...]
    properties: Mapping[str, str]
    succeeded: bool | None = None
    started: set[int] = field(default_factory=set)
    """The stages that ran while it did, of those that are its own."""

    @property
    def call(self) -> int | None:
        """The number of the user's call that it ran for."""
        return _number(self.properties.get(CALL))

    @property
    def execution(self) -> int | None:
        return _number(self.properties.get("spark.sql.execution.id"))

    @property
    def query(self) -> str | None:
        return self.properties.get("sql.streaming.queryId")

    @property
    def batch(self) -> int | None:
        """The number of the micro-batch; of a DStream, its time."""
        told = self.properties.get("streaming.sql.batchId") or self.properties.get("spark.streaming.internal.batchTime")
        return _number(told)

    @property
    def output(self) -> int | None:
        """Which of the output operations of a DStream program it runs for."""
        return _number(self.properties.get("spark.streaming.internal.outputOpId"))


@dataclass
class ExecutionSeen:
    """An execution of SQL, as far as it was seen."""

    id: int
    name: str
    time: int
    """When it started, in milliseconds since the epoch."""
    plans: list[Mapping[str, Any]]
    """The physical plans, as Spark writes them: the first one, and one for each time that it was planned anew."""
    root: int | None = None
    """The execution that it is part of, such as that of a micro-batch."""
    group: str | None = None
    """The group of its jobs; of a streaming query, the id of its run."""
    failure: str | None = None


@dataclass
class Account:
    """All that Spark said."""

    jobs: dict[int, JobSeen] = field(default_factory=dict)
    stages: dict[int, StageSeen] = field(default_factory=dict)
    rdds: dict[int, RddInfo] = field(default_factory=dict)
    executions: dict[int, ExecutionSeen] = field(default_factory=dict)
    scopes: dict[int, str] = field(default_factory=dict)
    """Which RDDs were made by one operator of SQL, or by one method in Scala."""
    planned: dict[int, int] = field(default_factory=dict)
    """For RDDs that an operator of a physical plan made, Spark's number of that operator."""

    def physical(self, plan: Mapping[str, Any]) -> PhysicalNode:
        """A physical plan, with the stages that updated the metrics of its nodes."""
        ids = {metric.get("accumulatorId") for metric in plan.get("metrics") or ()}
        return PhysicalNode(
            str(plan.get("nodeName", "")),
            str(plan.get("simpleString", "")),
            tuple(self.physical(child) for child in plan.get("children") or ()),
            tuple(id_ for id_, stage in sorted(self.stages.items()) if stage.accumulators & ids),
            {str(key): str(value) for key, value in (plan.get("metadata") or {}).items()},
        )


def account_of(events: Iterable[Mapping[str, Any]]) -> Account:
    """What the events say."""
    account = Account()
    for event in events:
        match event.get("Event"):
            case "SparkListenerJobStart":
                _job_started(account, event)
            case "SparkListenerJobEnd":
                if (job := account.jobs.get(event["Job ID"])) is not None:
                    job.succeeded = event["Job Result"].get("Result") == "JobSucceeded"
            case "SparkListenerStageSubmitted":
                stage = _stage(account, event["Stage Info"])
                stage.attempts += 1
                for id_ in stage.jobs:
                    if account.jobs[id_].succeeded is None:
                        account.jobs[id_].started.add(stage.id)
            case "SparkListenerStageCompleted":
                info = event["Stage Info"]
                stage = _stage(account, info)
                stage.failure = info.get("Failure Reason")
                stage.accumulators |= {one["ID"] for one in info.get("Accumulables") or ()}
            case "SparkListenerTaskEnd":
                if event["Task End Reason"].get("Reason") == "Success" and event["Stage ID"] in account.stages:
                    account.stages[event["Stage ID"]].finished += 1
            case str(name) if name.startswith(_SQL):
                _sql(account, name.removeprefix(_SQL), event)
    return account


def _job_started(account: Account, event: Mapping[str, Any]) -> None:
    infos = event.get("Stage Infos") or ()
    stages = tuple(sorted(event.get("Stage IDs") or (info["Stage ID"] for info in infos)))
    account.jobs[event["Job ID"]] = JobSeen(event["Job ID"], stages, event.get("Properties") or {})
    for info in infos:
        _stage(account, info)
    for id_ in stages:
        if id_ in account.stages:
            account.stages[id_].jobs.append(event["Job ID"])


def _stage(account: Account, info: Mapping[str, Any]) -> StageSeen:
    id_ = info["Stage ID"]
    rdds = tuple(_rdd(one) for one in info.get("RDD Info") or ())
    account.rdds.update({rdd.id: rdd for rdd in rdds})
    for one in info.get("RDD Info") or ():
        if (scope := _scope(one).get("id")) is not None:
            account.scopes[one["RDD ID"]] = str(scope)
        if (plan := _plan_id(one)) is not None:
            account.planned[one["RDD ID"]] = plan
    if id_ not in account.stages:
        account.stages[id_] = StageSeen(
            id_,
            info.get("Stage Name", ""),
            tuple(info.get("Parent IDs") or ()),
            info.get("Number of Tasks", 0),
            tuple(sorted(rdds, key=lambda rdd: rdd.id)),
        )
    return account.stages[id_]


def _rdd(info: Mapping[str, Any]) -> RddInfo:
    level, storage = info.get("DeterministicLevel"), info.get("Storage Level") or {}
    scope = _scope(info)
    return RddInfo(
        info["RDD ID"],
        info.get("Name", ""),
        tuple(info.get("Parent IDs") or ()),
        info.get("Number of Partitions", 0),
        Level(level) if level in Level.__members__ else None,
        scope.get("name"),
        info.get("Callsite", ""),
        bool(storage.get("Use Memory") or storage.get("Use Disk")),
    )


def _scope(info: Mapping[str, Any]) -> Mapping[str, Any]:
    text = info.get("Scope")
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _plan_id(info: Mapping[str, Any]) -> int | None:
    """Spark names the scope of an RDD that an operator of SQL made by the operator's id."""
    id_ = str(_scope(info).get("id", ""))
    return _number(id_.removeprefix(_PLAN)) if id_.startswith(_PLAN) else None


def _sql(account: Account, kind: str, event: Mapping[str, Any]) -> None:
    id_ = event.get("executionId")
    match kind:
        case "ExecutionStart" if isinstance(id_, int):
            plan = event.get("sparkPlanInfo") or {}
            seen = ExecutionSeen(id_, event.get("description") or "", event.get("time") or 0, [plan])
            seen.root, seen.group = event.get("rootExecutionId"), event.get("jobGroupId")
            account.executions[id_] = seen
        case "AdaptiveExecutionUpdate" if id_ in account.executions:
            account.executions[id_].plans.append(event.get("sparkPlanInfo") or {})
        case "ExecutionEnd" if id_ in account.executions:
            account.executions[id_].failure = event.get("errorMessage") or None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
