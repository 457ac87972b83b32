"""What happened, event by event: which propositions hold, and for which job, stage, task, query, ...

A `Tracker` remembers what one event does not say by itself, as long as it is needed: which stages a job has until the
job ends, how long the tasks of an attempt took until the attempt ends, the last batch of a query.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from statistics import median
from typing import Any, NamedTuple, TypeAlias

from firesteel.history import table as t

Event: TypeAlias = Mapping[str, Any]
Names: TypeAlias = frozenset[str]


class Happening(NamedTuple):
    """Something that happened to one thing."""

    entity: str
    """What kind of thing: a key of `table.ENTITIES`; empty for the application."""
    key: Hashable
    """Which one."""
    owner: Hashable
    """What it ends with, where that is not the application."""
    names: Names
    measures: Mapping[str, float]
    over: bool = False
    """Is it about all things of this owner, which are over with it?"""
    done: bool = False
    """Will nothing happen to this one any more?"""


_NONE: Mapping[str, float] = {}
_NOTHING: Names = frozenset()
_STARTED, _COPY = frozenset({"task_started"}), frozenset({"task_started", "task_speculative"})
_FAILED = frozenset({"task_failed"})
_SPILLED = frozenset({"task_spilled"})
_ENDS: Mapping[str, Names] = {
    "Success": frozenset({"task_succeeded"}),
    "TaskKilled": frozenset({"task_killed"}),
    "FetchFailed": frozenset({"task_failed", "fetch_failed"}),
    "ExecutorLostFailure": frozenset({"task_failed", "task_lost"}),
    "Resubmitted": frozenset({"task_resubmitted"}),
}
_STAGE_SUBMITTED, _STAGE_COMPLETED = frozenset({"stage_submitted"}), frozenset({"stage_completed"})
_STAGE_FAILED, _STAGE_SKIPPED = frozenset({"stage_failed"}), frozenset({"stage_skipped"})
_RECENT, _ENOUGH, _MOST_QUERIES = 100, 5, 200


class _Job(NamedTuple):
    """The stages of a running job."""

    stages: frozenset[int]
    waiting: set[int]
    """Those that were not submitted yet."""
    pairs: list[tuple[int, int]]
    """A stage, and one that it needs."""


class _Attempt:
    """What the tasks of a running attempt of a stage did."""

    __slots__ = ("milliseconds", "shuffled")

    def __init__(self) -> None:
        self.milliseconds, self.shuffled = array("q"), 0

    def measures(self) -> Mapping[str, float]:
        measured: dict[str, float] = {"stage.shuffle_bytes": self.shuffled}
        if len(self.milliseconds) > 1:
            # A task of less than a millisecond counts as one.
            measured["stage.skew"] = max(self.milliseconds) / max(1.0, median(self.milliseconds))
        return measured


class _Query:
    """What is remembered of a streaming query."""

    __slots__ = ("begun", "committed", "highest", "last", "late", "recent", "rows", "unshrunk", "watermark")

    def __init__(self) -> None:
        self.last: int | None = None
        """The batch that was started or done last."""
        self.begun: tuple[Any, int] | None = None
        """The run, and the batch that was started last in it."""
        self.highest = -1
        """The highest batch that was started."""
        self.committed: int | None = None
        self.unshrunk: int | None = None
        """How many batches went by since the state grew; None where it shrank since, or never grew."""
        self.watermark: str | None = None
        self.rows: int | None = None
        self.late = 0
        self.recent: deque[float] = deque(maxlen=_RECENT)


class Tracker:
    """What happened in one application. `measured` says whether stages are measured."""

    def __init__(self, entities: Iterable[str], *, measured: bool = True) -> None:
        wanted = frozenset(entities)
        self._jobs_matter = bool(wanted & {"stage", "dependency"})
        self._tasks, self._stages = "task" in wanted, "stage" in wanted
        self._measured = measured and self._stages
        self._jobs: dict[int, _Job] = {}
        """The running jobs."""
        self._attempts: dict[tuple[int, int], _Attempt] = {}
        """The running attempts of stages."""
        self._queries: dict[Any, _Query] = {}
        self.handlers: Mapping[str, Callable[[Event], Iterable[Happening]]] = {
            t.APPLICATION_START: lambda event: (_application("application_started"),),
            t.APPLICATION_END: lambda event: (_application("application_ended"),),
            t.JOB_START: self._job_start,
            t.JOB_END: self._job_end,
            t.STAGE_SUBMITTED: self._stage_submitted,
            t.STAGE_COMPLETED: self._stage_completed,
            t.TASK_START: self._task_start,
            t.TASK_END: self._task_end,
            t.EXECUTOR_ADDED: lambda event: (_plain("executor", event["Executor ID"], "executor_added"),),
            t.EXECUTOR_REMOVED: lambda event: (_plain("executor", event["Executor ID"], "executor_lost"),),
            t.BLOCKS_REMOVED: _blocks_removed,
            t.SQL_START: lambda event: (_plain("sql", event["executionId"], "sql_started"),),
            t.SQL_CHANGED: lambda event: (_plain("sql", event["executionId"], "plan_changed"),),
            t.SQL_END: _sql_end,
            t.QUERY_STARTED: lambda event: (_plain("query", event["id"], "query_started"),),
            t.QUERY_PROGRESS: self._progress,
            t.QUERY_TERMINATED: self._terminated,
        }

    # --- jobs and stages ---

    def _job_start(self, event: Event) -> Iterable[Happening]:
        job = event["Job ID"]
        if self._jobs_matter:
            infos = event.get("Stage Infos", ())
            stages = {info["Stage ID"] for info in infos}
            pairs = [(info["Stage ID"], parent) for info in infos for parent in info.get("Parent IDs", ())]
            self._jobs[job] = _Job(frozenset(stages), stages, pairs)
        return [_plain("job", job, "job_started"), *self._batch_started(event.get("Properties") or {})]

    def _job_end(self, event: Event) -> Iterable[Happening]:
        job = event["Job ID"]
        succeeded = event["Job Result"]["Result"] == "JobSucceeded"
        ended = self._jobs.pop(job, _Job(frozenset(), set(), []))
        happened = [_plain("job", job, "job_succeeded" if succeeded else "job_failed")]
        if succeeded:
            happened += [Happening("stage", stage, None, _STAGE_SKIPPED, _NONE) for stage in sorted(ended.waiting)]
        # A stage has a new id in every job, unless two jobs that run at the same time share it.
        left = ended.stages.difference(*(other.stages for other in self._jobs.values()))
        return happened + [Happening("stage", stage, None, _NOTHING, _NONE, done=True) for stage in left]

    def _stage_submitted(self, event: Event) -> Iterable[Happening]:
        info = event["Stage Info"]
        stage, attempt = info["Stage ID"], info["Stage Attempt ID"]
        self._attempts[stage, attempt] = _Attempt()
        for job in self._jobs.values():
            job.waiting.discard(stage)
        measures = {"stage.attempt": attempt + 1}
        return [
            Happening("stage", stage, None, _STAGE_SUBMITTED, measures),
            *self._dependencies(stage, "parent_submitted", "child_submitted"),
        ]

    def _stage_completed(self, event: Event) -> Iterable[Happening]:
        info = event["Stage Info"]
        stage, attempt = info["Stage ID"], info["Stage Attempt ID"]
        failed = info.get("Failure Reason") is not None
        names = _STAGE_FAILED if failed else _STAGE_COMPLETED
        ended = self._attempts.pop((stage, attempt), None)
        measures = ended.measures() if ended is not None and self._measured else _NONE
        happened = [
            Happening("stage", stage, None, names, measures),
            *self._dependencies(stage, None if failed else "parent_completed", "child_ended"),
        ]
        if ended is not None:
            happened.append(Happening("task", None, (stage, attempt), names, _NONE, over=True))
        return happened

    def _dependencies(self, stage: int, as_parent: str | None, as_child: str) -> Iterable[Happening]:
        """What happens to a stage happens to all pairs that it stands in."""
        pairs = {pair for job in self._jobs.values() for pair in job.pairs if stage in pair}
        for child, parent in sorted(pairs):
            name = as_child if child == stage else as_parent
            if name is not None:
                yield Happening("dependency", (child, parent), None, frozenset({name}), _NONE)

    # --- tasks ---

    def _task_start(self, event: Event) -> Iterable[Happening]:
        owner = event["Stage ID"], event["Stage Attempt ID"]
        info = event["Task Info"]
        names = _COPY if info.get("Speculative") else _STARTED
        key = (*owner, info["Index"]) if owner in self._attempts else None
        return (Happening("task", key, owner, names, {"task.attempt": info["Attempt"] + 1}),)

    def _task_end(self, event: Event) -> Iterable[Happening]:
        owner = event["Stage ID"], event["Stage Attempt ID"]
        reason = event["Task End Reason"]["Reason"]
        metrics: Mapping[str, Any] = event.get("Task Metrics") or _NONE
        names = _ENDS.get(reason, _FAILED)
        spilled = bool(metrics.get("Disk Bytes Spilled") or metrics.get("Memory Bytes Spilled"))
        running = self._attempts.get(owner)
        happened: list[Happening] = []
        info = event["Task Info"]
        if running is not None and reason == "Success" and self._measured:
            running.milliseconds.append(info["Finish Time"] - info["Launch Time"])
            running.shuffled += metrics.get("Shuffle Write Metrics", _NONE).get("Shuffle Bytes Written", 0)
        if self._tasks:
            # What comes after the end of its attempt is about nothing that still matters.
            key = (*owner, info["Index"]) if running is not None else None
            took = {"task.milliseconds": info["Finish Time"] - info["Launch Time"]}
            happened.append(Happening("task", key, owner, names | _SPILLED if spilled else names, took))
        elif "fetch_failed" in names:
            happened.append(Happening("task", None, owner, names, _NONE))
        if spilled and self._stages:
            happened.append(Happening("stage", owner[0], None, _SPILLED, _NONE))
        return happened

    # --- streaming queries ---

    def _batch_started(self, properties: Mapping[str, str]) -> Iterable[Happening]:
        query, number = properties.get("sql.streaming.queryId"), properties.get("streaming.sql.batchId")
        if query is None or number is None:
            return ()
        run, batch = properties.get("sql.streaming.runId") or properties.get("spark.jobGroup.id"), int(number)
        known = self._queries.setdefault(query, _Query())
        if known.begun == (run, batch):
            return ()
        names = {"batch_started"}
        if batch <= known.highest:
            names.add("batch_replayed")
        if known.last is not None and batch not in (known.last, known.last + 1):
            names.add("batch_jumped")
        known.begun, known.last, known.highest = (run, batch), batch, max(batch, known.highest)
        return _of_batch(query, run, batch, frozenset(names), {"batch.id": batch})

    def _progress(self, event: Event) -> Iterable[Happening]:
        progress = event["progress"]
        if "addBatch" not in progress["durationMs"]:  # nothing was done: Spark says that it is still there
            return ()
        query, run, batch = progress["id"], progress["runId"], progress["batchId"]
        known = self._queries.setdefault(query, _Query())
        names = {"batch_committed", *_numbered(known, batch), *_watermark(known, progress.get("eventTime") or {})}
        measures = _measured_batch(known, progress, names)
        return _of_batch(query, run, batch, frozenset(names), measures)

    def _terminated(self, event: Event) -> Iterable[Happening]:
        names = frozenset({"query_terminated"} | ({"query_failed"} if event.get("exception") is not None else set()))
        known = self._queries.pop(event["id"], None)
        if known is not None:
            # It may be started again. Of many that ended, the first are forgotten.
            self._queries[event["id"]] = known
            if len(self._queries) > _MOST_QUERIES:
                del self._queries[next(iter(self._queries))]
        return (
            Happening("query", event["id"], None, names, _NONE),
            Happening("batch", None, event["runId"], names, _NONE, over=True),
        )


def _application(name: str) -> Happening:
    return Happening("", None, None, frozenset({name}), _NONE)


def _plain(entity: str, key: Hashable, name: str) -> Happening:
    return Happening(entity, key, None, frozenset({name}), _NONE)


def _blocks_removed(event: Event) -> Iterable[Happening]:
    return (_plain("executor", event["Block Manager ID"]["Executor ID"], "block_lost"),)


def _sql_end(event: Event) -> Iterable[Happening]:
    failed = {"sql_failed"} if event.get("errorMessage") else set()
    return (Happening("sql", event["executionId"], None, frozenset({"sql_ended"} | failed), _NONE),)


def _of_batch(query: Any, run: Any, batch: int, names: Names, measures: Mapping[str, float]) -> Iterable[Happening]:
    return (
        Happening("query", query, None, names, measures),
        Happening("batch", (run, batch), run, names, measures),
    )


def _numbered(known: _Query, batch: int) -> Iterable[str]:
    if known.last is not None and batch not in (known.last, known.last + 1):
        yield "batch_jumped"
    if known.committed is not None and batch <= known.committed:
        yield "commit_repeated"
    known.last = known.committed = batch


def _watermark(known: _Query, times: Mapping[str, str]) -> Iterable[str]:
    mark = times.get("watermark")
    if mark is None:
        return
    if known.watermark is not None and mark != known.watermark:
        # Spark writes moments of one length in UTC, so that the order of texts is the order of time.
        yield "watermark_moved" if mark > known.watermark else "watermark_back"
    known.watermark = mark


def _measured_batch(known: _Query, progress: Mapping[str, Any], names: set[str]) -> Mapping[str, float]:
    operators = progress.get("stateOperators") or ()
    late = sum(operator.get("numRowsDroppedByWatermark", 0) for operator in operators)
    rows = sum(operator.get("numRowsTotal", 0) for operator in operators)
    if late:
        names.add("rows_dropped_late")
    if known.rows is not None and rows != known.rows:
        names.add("state_grew" if rows > known.rows else "state_shrank")
    elif known.rows is None and rows:
        names.add("state_grew")
    if "state_shrank" in names:
        known.unshrunk = None
    elif known.unshrunk is not None:
        known.unshrunk += 1
    elif "state_grew" in names:
        known.unshrunk = 0
    known.rows, known.late = rows, known.late + late
    took = progress.get("batchDuration", progress["durationMs"].get("triggerExecution", 0))
    measures: dict[str, float] = {
        "batch.id": progress["batchId"],
        "batch.rows": sum(source.get("numInputRows", 0) for source in progress.get("sources") or ()),
        "batch.milliseconds": took,
        "query.late_rows": known.late,
        "query.state_rows": rows,
    }
    if known.unshrunk is not None:
        measures["query.unshrunk_batches"] = known.unshrunk
    if len(known.recent) >= _ENOUGH:
        measures["batch.times_median"] = took / max(1.0, median(known.recent))
    known.recent.append(took)
    return measures


# --- which events are needed ---

_QUERIES = frozenset({t.JOB_START, t.QUERY_STARTED, t.QUERY_PROGRESS, t.QUERY_TERMINATED})
_STAGES = frozenset({t.STAGE_SUBMITTED, t.STAGE_COMPLETED})
_JOBS = frozenset({t.JOB_START, t.JOB_END})
EVENTS_OF: Mapping[str, frozenset[str]] = {
    "job": _JOBS,
    "stage": _JOBS | _STAGES,
    "task": _STAGES | {t.TASK_START, t.TASK_END},
    "dependency": _JOBS | _STAGES,
    "executor": frozenset({t.EXECUTOR_ADDED, t.EXECUTOR_REMOVED, t.BLOCKS_REMOVED}),
    "sql": frozenset({t.SQL_START, t.SQL_CHANGED, t.SQL_END}),
    "query": _QUERIES,
    "batch": _QUERIES,
}
"""The events that a rule for each such thing needs."""

_TOGETHER: Mapping[str, frozenset[str]] = {
    "stage_skipped": _JOBS | {t.STAGE_SUBMITTED},
    **dict.fromkeys(("parent_submitted", "parent_completed", "child_submitted", "child_ended"), _JOBS | _STAGES),
    **dict.fromkeys(("batch_started", "batch_replayed", "batch_jumped", "commit_repeated"), _QUERIES),
}
"""Propositions that need more than the event that they come from."""


def events_for(name: str) -> frozenset[str]:
    """The events that are needed to know whether a proposition holds."""
    return _TOGETHER.get(name, frozenset({t.PROPOSITIONS[name].event}))


def events_for_measure(name: str) -> frozenset[str]:
    """The events that are needed for a measure."""
    measured = t.MEASURES[name]
    return (_STAGES | {t.TASK_END} if name in STAGE_MEASURES else frozenset({measured.event})) | (
        _QUERIES if measured.entity == "query" else frozenset()
    )


STAGE_MEASURES = frozenset({"stage.skew", "stage.shuffle_bytes"})
"""Measures that add up what the tasks of a stage did."""
