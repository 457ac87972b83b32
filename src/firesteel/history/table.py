"""The propositions about Spark, and the measures: what each says, and which event and field it comes from.

The documentation's tables are made from these. `tracking` finds out whether they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# --- the events, by the names that Spark writes ---

LOG_START = "SparkListenerLogStart"
APPLICATION_START = "SparkListenerApplicationStart"
APPLICATION_END = "SparkListenerApplicationEnd"
JOB_START = "SparkListenerJobStart"
JOB_END = "SparkListenerJobEnd"
STAGE_SUBMITTED = "SparkListenerStageSubmitted"
STAGE_COMPLETED = "SparkListenerStageCompleted"
TASK_START = "SparkListenerTaskStart"
TASK_END = "SparkListenerTaskEnd"
EXECUTOR_ADDED = "SparkListenerExecutorAdded"
EXECUTOR_REMOVED = "SparkListenerExecutorRemoved"
BLOCKS_REMOVED = "SparkListenerBlockManagerRemoved"
_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL"
SQL_START, SQL_END, SQL_CHANGED = f"{_SQL}ExecutionStart", f"{_SQL}ExecutionEnd", f"{_SQL}AdaptiveExecutionUpdate"
_QUERY = "org.apache.spark.sql.streaming.StreamingQueryListener$Query"
QUERY_STARTED, QUERY_PROGRESS = f"{_QUERY}StartedEvent", f"{_QUERY}ProgressEvent"
QUERY_TERMINATED = f"{_QUERY}TerminatedEvent"

QUIET = frozenset(
    {
        "SparkListenerBlockManagerAdded",
        "SparkListenerBlockUpdated",
        "SparkListenerEnvironmentUpdate",
        "SparkListenerExecutorMetricsUpdate",
        "SparkListenerMiscellaneousProcessAdded",
        "SparkListenerResourceProfileAdded",
        "SparkListenerStageExecutorMetrics",
        "SparkListenerTaskGettingResult",
        "SparkListenerUnpersistRDD",
        "SparkListenerNodeExcluded",
        "SparkListenerNodeUnexcluded",
        "SparkListenerExecutorExcluded",
        "SparkListenerExecutorUnexcluded",
        f"{_QUERY}IdleEvent",
        f"{_QUERY}ExecutionStartEvent",
    }
)
"""Events of Spark that no proposition comes from. Those in other packages of Spark's are not named one by one."""

SPARK = "org.apache.spark."

# --- what is spoken of ---

ENTITIES: Mapping[str, str] = MappingProxyType(
    {
        "job": "a job: its start and its end",
        "stage": "a stage, with all of its attempts: submitted, completed, failed or skipped, and tasks that spill",
        "task": "a task of one attempt of a stage, with all of its own attempts; it is over with that attempt",
        "dependency": "a stage and one that it needs: submitted, completed or failed, while a job has both",
        "executor": "an executor: added, lost, its blocks lost",
        "sql": "an execution of SQL: its start, new plans, its end",
        "query": "a streaming query, also when it is started again: started, its batches, terminated",
        "batch": "a micro-batch of one run of a query; it is over with that run",
    }
)
"""What a rule can be about (`each=`), and which events it then sees."""

EVERYWHERE = frozenset({"fetch_failed", "executor_lost", "block_lost"})
"""Propositions about the whole application: a rule with a key that names one sees it for every key."""

WITH_OWNER: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "task": frozenset({"stage_completed", "stage_failed"}),
        "batch": frozenset({"query_terminated", "query_failed"}),
    }
)
"""Propositions about what a task or a batch ends with: a rule that names one sees it for all of them."""


@dataclass(frozen=True)
class Proposition:
    """A proposition about an event."""

    name: str
    entities: tuple[str, ...]
    """Whose events they are; empty for the application."""
    event: str
    """The event that it comes from, without its package."""
    field: str
    """The field of the event that says so; empty where the event says enough."""
    says: str


@dataclass(frozen=True)
class Measure:
    """A number that goes with an event, for expressions: `stage.skew > 5`."""

    name: str
    entity: str
    event: str
    field: str
    says: str


def _event(name: str) -> str:
    return name.rpartition(".")[2].rpartition("$")[2]


def _proposition(name: str, entities: str, event: str, field: str, says: str) -> Proposition:
    return Proposition(name, tuple(entities.split()), event, field, says)


_ENDS = "Task End Reason.Reason"
PROPOSITIONS: Mapping[str, Proposition] = MappingProxyType(
    {
        made.name: made
        for made in (
            _proposition("application_started", "", APPLICATION_START, "", "the application starts"),
            _proposition("application_ended", "", APPLICATION_END, "", "the application ends"),
            _proposition("job_started", "job", JOB_START, "", "a job starts"),
            _proposition("job_succeeded", "job", JOB_END, "Job Result.Result", "a job ends well"),
            _proposition("job_failed", "job", JOB_END, "Job Result.Result", "a job fails or is cancelled"),
            _proposition("stage_submitted", "stage", STAGE_SUBMITTED, "", "an attempt of a stage starts"),
            _proposition(
                "stage_completed", "stage task", STAGE_COMPLETED, "Stage Info.Failure Reason", "an attempt ends well"
            ),
            _proposition(
                "stage_failed",
                "stage task",
                STAGE_COMPLETED,
                "Stage Info.Failure Reason",
                "an attempt of a stage fails or is cancelled",
            ),
            _proposition(
                "stage_skipped", "stage", JOB_END, "Stage IDs of the job", "a job ends well and did not run the stage"
            ),
            _proposition(
                "parent_submitted", "dependency", STAGE_SUBMITTED, "Stage Info.Parent IDs", "the stage needed starts"
            ),
            _proposition(
                "parent_completed", "dependency", STAGE_COMPLETED, "Stage Info.Parent IDs", "the stage needed ends well"
            ),
            _proposition(
                "child_submitted",
                "dependency",
                STAGE_SUBMITTED,
                "Stage Info.Parent IDs",
                "the stage that needs it starts",
            ),
            _proposition(
                "child_ended", "dependency", STAGE_COMPLETED, "Stage Info.Parent IDs", "that stage completes or fails"
            ),
            _proposition("task_started", "task", TASK_START, "", "an attempt of a task starts"),
            _proposition(
                "task_speculative", "task", TASK_START, "Task Info.Speculative", "it is a second copy of a slow task"
            ),
            _proposition("task_succeeded", "task", TASK_END, _ENDS, "an attempt of a task succeeds"),
            _proposition("task_failed", "task", TASK_END, _ENDS, "it fails, for whatever reason"),
            _proposition("task_killed", "task", TASK_END, _ENDS, "it is killed, as another copy was quicker"),
            _proposition("task_lost", "task", TASK_END, _ENDS, "it fails because its executor is lost"),
            _proposition(
                "task_resubmitted",
                "task",
                TASK_END,
                _ENDS,
                "it had succeeded, and its output is lost with its executor",
            ),
            _proposition(
                "task_spilled",
                "stage task",
                TASK_END,
                "Task Metrics.Disk Bytes Spilled",
                "it wrote to disk what memory could not hold",
            ),
            _proposition("fetch_failed", "task", TASK_END, _ENDS, "a task could not fetch the output of another stage"),
            _proposition("executor_added", "executor", EXECUTOR_ADDED, "", "an executor joins"),
            _proposition("executor_lost", "executor", EXECUTOR_REMOVED, "", "an executor is gone"),
            _proposition("block_lost", "executor", BLOCKS_REMOVED, "", "all blocks that an executor held are gone"),
            _proposition("sql_started", "sql", SQL_START, "", "an execution of SQL starts"),
            _proposition("sql_ended", "sql", SQL_END, "", "it ends"),
            _proposition("sql_failed", "sql", SQL_END, "errorMessage", "it ends with an error"),
            _proposition("plan_changed", "sql", SQL_CHANGED, "", "adaptive execution changes the plan"),
            _proposition("query_started", "query", QUERY_STARTED, "", "a streaming query starts, or starts again"),
            _proposition("query_terminated", "query batch", QUERY_TERMINATED, "", "a run of a streaming query ends"),
            _proposition("query_failed", "query batch", QUERY_TERMINATED, "exception", "it ends with an exception"),
            _proposition(
                "batch_started",
                "query batch",
                JOB_START,
                "Properties.streaming.sql.batchId",
                "the first job of a micro-batch starts",
            ),
            _proposition("batch_committed", "query batch", QUERY_PROGRESS, "progress.batchId", "a micro-batch is done"),
            _proposition(
                "batch_replayed",
                "query batch",
                JOB_START,
                "Properties.streaming.sql.batchId",
                "it was started before, in an earlier run",
            ),
            _proposition(
                "batch_jumped",
                "query",
                QUERY_PROGRESS,
                "progress.batchId",
                "its id is neither the last nor the next one",
            ),
            _proposition(
                "commit_repeated",
                "query",
                QUERY_PROGRESS,
                "progress.batchId",
                "this batch, or a later one, was done before",
            ),
            _proposition(
                "rows_dropped_late",
                "query batch",
                QUERY_PROGRESS,
                "progress.stateOperators.numRowsDroppedByWatermark",
                "rows are dropped as late",
            ),
            _proposition(
                "watermark_moved",
                "query batch",
                QUERY_PROGRESS,
                "progress.eventTime.watermark",
                "the watermark is later than before",
            ),
            _proposition(
                "watermark_back",
                "query batch",
                QUERY_PROGRESS,
                "progress.eventTime.watermark",
                "it is earlier than before",
            ),
            _proposition(
                "state_grew",
                "query batch",
                QUERY_PROGRESS,
                "progress.stateOperators.numRowsTotal",
                "there are more rows of state than before",
            ),
            _proposition(
                "state_shrank",
                "query batch",
                QUERY_PROGRESS,
                "progress.stateOperators.numRowsTotal",
                "there are fewer than before",
            ),
        )
    }
)

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        made.name: made
        for made in (
            Measure("task.attempt", "task", TASK_START, "Task Info.Attempt", "which attempt of the task it is, from 1"),
            Measure("task.milliseconds", "task", TASK_END, "Task Info.Finish Time", "how long the attempt took"),
            Measure(
                "stage.attempt", "stage", STAGE_SUBMITTED, "Stage Info.Stage Attempt ID", "which attempt it is, from 1"
            ),
            Measure(
                "stage.skew",
                "stage",
                STAGE_COMPLETED,
                "Task Info of its tasks",
                "the longest successful task of the attempt, as a multiple of the median; of two tasks or more",
            ),
            Measure(
                "stage.shuffle_bytes",
                "stage",
                STAGE_COMPLETED,
                "Task Metrics.Shuffle Write Metrics.Shuffle Bytes Written of its tasks",
                "how much the attempt wrote for other stages",
            ),
            Measure("batch.id", "query", QUERY_PROGRESS, "progress.batchId", "the number of the micro-batch"),
            Measure("batch.rows", "query", QUERY_PROGRESS, "progress.sources.numInputRows", "how many rows it read"),
            Measure("batch.milliseconds", "query", QUERY_PROGRESS, "progress.batchDuration", "how long it took"),
            Measure(
                "batch.times_median",
                "query",
                QUERY_PROGRESS,
                "progress.batchDuration",
                "the same, as a multiple of the median of up to 100 batches before it; from the sixth batch on",
            ),
            Measure(
                "query.late_rows",
                "query",
                QUERY_PROGRESS,
                "progress.stateOperators.numRowsDroppedByWatermark",
                "how many rows were dropped as late so far",
            ),
            Measure(
                "query.state_rows",
                "query",
                QUERY_PROGRESS,
                "progress.stateOperators.numRowsTotal",
                "how many rows of state there are",
            ),
            Measure(
                "query.unshrunk_batches",
                "query",
                QUERY_PROGRESS,
                "progress.stateOperators.numRowsTotal",
                "how many batches went by since the state grew, without it having shrunk",
            ),
        )
    }
)


def short(event: str) -> str:
    """The name of an event without its package.

    >>> short(QUERY_PROGRESS), short(JOB_END)
    ('QueryProgressEvent', 'SparkListenerJobEnd')
    """
    return _event(event)
