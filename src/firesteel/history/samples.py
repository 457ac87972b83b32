"""Small logs that break a rule, and small ones that keep it: what goes with every ready rule.

They are made of events with the few fields that rules look at, as Spark writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firesteel.history import table as t

Events = tuple[Mapping[str, Any], ...]


def log(*events: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Events:
    """A whole log of an application: events, and lists of them.

    >>> [event["Event"] for event in log()]
    ['SparkListenerLogStart', 'SparkListenerApplicationStart', 'SparkListenerApplicationEnd']
    """
    begin: list[Mapping[str, Any]] = [
        {"Event": t.LOG_START, "Spark Version": "4.3.0"},
        {"Event": t.APPLICATION_START, "App ID": "app-1", "App Name": "sample", "Timestamp": 0},
    ]
    inner: list[Mapping[str, Any]] = []
    for given in events:
        inner += [given] if isinstance(given, Mapping) else list(given)
    return (*begin, *inner, {"Event": t.APPLICATION_END, "Timestamp": 1})


def job(number: int, stages: Mapping[int, Sequence[int]]) -> dict[str, Any]:
    """The start of a job, with its stages, each with those that it needs."""
    infos = [
        {"Stage ID": stage, "Stage Attempt ID": 0, "Stage Name": f"stage {stage}", "Parent IDs": list(needs)}
        for stage, needs in stages.items()
    ]
    return {"Event": t.JOB_START, "Job ID": number, "Stage IDs": list(stages), "Stage Infos": infos, "Properties": {}}


def job_end(number: int, *, failed: bool = False) -> dict[str, Any]:
    result = "JobFailed" if failed else "JobSucceeded"
    return {"Event": t.JOB_END, "Job ID": number, "Job Result": {"Result": result}}


def submitted(stage: int, attempt: int = 0) -> dict[str, Any]:
    return {"Event": t.STAGE_SUBMITTED, "Stage Info": {"Stage ID": stage, "Stage Attempt ID": attempt}}


def completed(stage: int, attempt: int = 0, *, failure: str | None = None) -> dict[str, Any]:
    info = {"Stage ID": stage, "Stage Attempt ID": attempt} | ({"Failure Reason": failure} if failure else {})
    return {"Event": t.STAGE_COMPLETED, "Stage Info": info}


def started(stage: int, index: int, attempt: int = 0, *, copy: bool = False) -> dict[str, Any]:
    info = {"Index": index, "Attempt": attempt, "Speculative": copy}
    return {"Event": t.TASK_START, "Stage ID": stage, "Stage Attempt ID": 0, "Task Info": info}


def ended(
    stage: int,
    index: int,
    reason: str = "Success",
    *,
    attempt: int = 0,
    took: int = 100,
    spilled: int = 0,
    wrote: int = 0,
) -> dict[str, Any]:
    return {
        "Event": t.TASK_END,
        "Stage ID": stage,
        "Stage Attempt ID": 0,
        "Task End Reason": {"Reason": reason},
        "Task Info": {"Index": index, "Attempt": attempt, "Launch Time": 0, "Finish Time": took},
        "Task Metrics": {
            "Memory Bytes Spilled": spilled,
            "Disk Bytes Spilled": spilled,
            "Shuffle Write Metrics": {"Shuffle Bytes Written": wrote},
        },
    }


def lost(executor: str = "1") -> dict[str, Any]:
    return {"Event": t.EXECUTOR_REMOVED, "Executor ID": executor, "Removed Reason": "lost"}


def stage(number: int, *tasks: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A job with one stage, which ends well."""
    return [job(number, {number: ()}), submitted(number), *tasks, completed(number), job_end(number)]


def begun(batch: int, run: str = "run-1") -> dict[str, Any]:
    """The first job of a micro-batch."""
    properties = {
        "sql.streaming.queryId": "query-1",
        "streaming.sql.batchId": str(batch),
        "spark.jobGroup.id": run,
    }
    return job(100 + batch, {}) | {"Properties": properties}


def done(
    batch: int, run: str = "run-1", *, mark: int = 0, rows: int = 0, late: int = 0, took: int = 100
) -> dict[str, Any]:
    """The progress of a micro-batch; the watermark is a minute after midnight."""
    progress = {
        "id": "query-1",
        "runId": run,
        "name": "counts",
        "batchId": batch,
        "batchDuration": took,
        "durationMs": {"addBatch": took},
        "eventTime": {"watermark": f"2000-01-01T00:{mark:02}:00.000Z"},
        "stateOperators": [{"numRowsTotal": rows, "numRowsDroppedByWatermark": late}],
        "sources": [{"numInputRows": 1}],
    }
    return {"Event": t.QUERY_PROGRESS, "progress": progress}


def query(*events: Mapping[str, Any], run: str = "run-1", error: str | None = None) -> list[Mapping[str, Any]]:
    """One run of a streaming query."""
    same = {"id": "query-1", "runId": run}
    start = {"Event": t.QUERY_STARTED, "name": "counts", **same}
    return [start, *events, {"Event": t.QUERY_TERMINATED, "exception": error, **same}]


def batches(*numbers: int, run: str = "run-1", **options: Any) -> list[Mapping[str, Any]]:
    """One run of a query with these batches."""
    return query(*(event for n in numbers for event in (begun(n, run), done(n, run, **options))), run=run)


def of_rows(*rows: int) -> list[Mapping[str, Any]]:
    """A query whose state has so many rows after each batch."""
    return query(*(done(number, rows=count) for number, count in enumerate(rows)))


def taking(*milliseconds: int) -> list[Mapping[str, Any]]:
    """A query whose batches take so long."""
    return query(*(done(number, took=took) for number, took in enumerate(milliseconds)))
