"""Ready rules of what Spark does, for `fs.verify` and `fs.watch`, and `Rule` to write your own.

    from firesteel import rules
    fs.verify(fs.event_log("/logs/app-1"), [rules.PARENTS_BEFORE_CHILDREN, rules.attempts_at_most(3)])

Each has its formula (`rule.formula`), a sentence (`rule.says`), a small log that breaks it (`rule.breaks`) and one that
keeps it (`rule.keeps`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.history.rule import Rule as Rule
from firesteel.history.samples import (
    batches,
    begun,
    completed,
    done,
    ended,
    job,
    job_end,
    log,
    lost,
    of_rows,
    query,
    stage,
    started,
    submitted,
    taking,
)
from firesteel.logic.bounds import whole_number

_TWO = job(0, {0: (), 1: (0,)})

PARENTS_BEFORE_CHILDREN = Rule(
    "PARENTS_BEFORE_CHILDREN",
    "[] (parent_submitted -> (parent_completed release not child_submitted)) and "
    "[] (child_submitted -> ((child_ended or fetch_failed) release not parent_submitted))",
    each="dependency",
    says="A stage starts only when each stage that it needs is complete, unless that one need not run at all.",
    breaks=log(_TWO, submitted(0), submitted(1), completed(0), completed(1), job_end(0)),
    keeps=log(
        [_TWO, submitted(0), completed(0), submitted(1), completed(1), job_end(0)],
        [job(1, {2: (), 3: (2,)}), submitted(3), ended(3, 0, "FetchFailed"), completed(3, failure="fetch")],
        [submitted(2, 1), completed(2, 1), submitted(3, 1), completed(3, 1), job_end(1)],
    ),
)
"""A stage starts only when each stage that it needs is complete, unless that one need not run at all.

Skipped, reused and cancelled stages are understood, and stages that run again after a fetch failure.

>>> import firesteel as fs
>>> from firesteel import rules
>>> fs.verify(rules.PARENTS_BEFORE_CHILDREN.keeps, rules.PARENTS_BEFORE_CHILDREN).verdict
<Verdict.TRUE: 1>
"""

STAGE_RERUN_ONLY_AFTER_FETCH_FAILURE = Rule(
    "STAGE_RERUN_ONLY_AFTER_FETCH_FAILURE",
    "[] (stage_submitted -> wnext ((fetch_failed or executor_lost) release not stage_submitted))",
    each="stage",
    says="A stage runs again only after a fetch failure, or after an executor was lost with what the stage put out.",
    breaks=log(job(0, {0: ()}), submitted(0), completed(0), submitted(0, 1), completed(0, 1), job_end(0)),
    keeps=log(submitted(0), ended(0, 0, "FetchFailed"), completed(0, failure="fetch"), submitted(0, 1)),
)
"""A stage runs again only after a fetch failure, or after an executor was lost with what the stage put out.

A barrier stage also runs again when one of its tasks fails, and breaks this rule.
"""

_REDONE = "(not stage_completed until (task_started or task_succeeded or stage_failed))"

WORK_OF_LOST_EXECUTOR_REDONE = Rule(
    "WORK_OF_LOST_EXECUTOR_REDONE",
    f"(task_succeeded release (task_lost -> {_REDONE})) and [] (task_resubmitted -> {_REDONE})",
    each="task",
    says="A task that was lost with its executor runs again, or the attempt of its stage does not end well.",
    breaks=log(stage(0, started(0, 0), lost(), ended(0, 0, "ExecutorLostFailure"))),
    keeps=log(stage(0, started(0, 0), lost(), ended(0, 0, "ExecutorLostFailure"), started(0, 0, 1), ended(0, 0))),
)
"""A task that was lost with its executor runs again, or the attempt of its stage does not end well."""

SPECULATION_COMMITS_ONCE = Rule(
    "SPECULATION_COMMITS_ONCE",
    "[] (task_succeeded -> wnext (task_resubmitted release not task_succeeded))",
    each="task",
    says="Of several copies of a task, one succeeds; another only after the output of the first was lost.",
    breaks=log(stage(0, started(0, 0), started(0, 0, 1, copy=True), ended(0, 0), ended(0, 0, attempt=1))),
    keeps=log(stage(0, started(0, 0), started(0, 0, 1, copy=True), ended(0, 0, "TaskKilled"), ended(0, 0, attempt=1))),
)
"""Of several copies of a task, one succeeds; another only after the output of the first was lost."""

BATCH_IDS_CONTIGUOUS = Rule(
    "BATCH_IDS_CONTIGUOUS",
    "[] not batch_jumped",
    each="query",
    says="The batches of a query have ids that follow each other; after a restart, the last one may run again.",
    breaks=log(batches(0, 1, 3)),
    keeps=log(batches(0, 1), batches(1, 2, run="run-2")),
)
"""The batches of a query have ids that follow each other; after a restart, the last one may run again."""

BATCHES_COMMITTED_IN_ORDER = Rule(
    "BATCHES_COMMITTED_IN_ORDER",
    "[] (batch_committed -> not commit_repeated)",
    each="query",
    says="The batches of a query are done in the order of their ids; one that is replayed runs twice and is done once.",
    breaks=log(batches(0, 1), batches(1, 2, run="run-2")),
    keeps=log(query(begun(0), done(0), begun(1), error="crash"), batches(1, 2, run="run-2")),
)
"""The batches of a query are done in the order of their ids; one that is replayed runs twice and is done once."""

WATERMARK_NEVER_BACK = Rule(
    "WATERMARK_NEVER_BACK",
    "[] not watermark_back",
    each="query",
    says="The watermark of a query never goes back, also not when the query is started again.",
    breaks=log(query(done(0, mark=5), done(1, mark=4))),
    keeps=log(query(done(0, mark=4), done(1, mark=4), done(2, mark=5))),
)
"""The watermark of a query never goes back, also not when the query is started again."""

LATE_ROWS_NEVER_DROPPED = Rule(
    "LATE_ROWS_NEVER_DROPPED",
    "[] not rows_dropped_late",
    each="query",
    says="No row is dropped as late.",
    breaks=log(batches(0, late=2)),
    keeps=log(batches(0, 1)),
)
"""No row is dropped as late."""

STOP_HAS_REASON = Rule(
    "STOP_HAS_REASON",
    "[] (batch_started -> (batch_committed release (query_terminated -> query_failed)))",
    each="query",
    says="A query that ends in the middle of a batch ends with an exception; between batches it may just be stopped.",
    breaks=log(query(begun(0))),
    keeps=log(batches(0, 1), query(begun(2, "run-2"), run="run-2", error="no more memory")),
)
"""A query that ends in the middle of a batch ends with an exception; between batches it may just be stopped."""

NO_SPILL = Rule(
    "NO_SPILL",
    "[] not task_spilled",
    each="stage",
    says="No task has to write to disk because memory does not suffice.",
    breaks=log(stage(0, started(0, 0), ended(0, 0, spilled=1_000_000))),
    keeps=log(stage(0, started(0, 0), ended(0, 0))),
)
"""No task has to write to disk because memory does not suffice."""


def attempts_at_most(n: int) -> Rule:
    """No task is started more than n times in an attempt of its stage; copies of slow tasks count.

    >>> from firesteel import rules
    >>> rules.attempts_at_most(3).propositions
    {'one_more': 'task.attempt > 3'}
    """
    most = _whole("n", n)
    return Rule(
        f"attempts_at_most({most})",
        "[] not one_more",
        each="task",
        says=f"No task is started more than {most} times in an attempt of its stage.",
        propositions={"one_more": f"task.attempt > {most}"},
        breaks=log(stage(0, *(started(0, 0, attempt) for attempt in range(most + 1)))),
        keeps=log(stage(0, *(started(0, 0, attempt) for attempt in range(most)))),
    )


def late_rows_at_most(n: int) -> Rule:
    """A query drops no more than n rows as late, all of its batches together.

    >>> from firesteel import rules
    >>> rules.late_rows_at_most(10).each
    'query'
    """
    most = _whole("n", n, least=0)
    return Rule(
        f"late_rows_at_most({most})",
        "[] not too_many",
        each="query",
        says=f"A query drops no more than {most} rows as late.",
        propositions={"too_many": f"query.late_rows > {most}"},
        breaks=log(batches(0, late=most), batches(1, late=1)),
        keeps=log(batches(0, late=most)),
    )


def state_rows_at_most(n: int) -> Rule:
    """The state of a query never has more than n rows.

    >>> from firesteel import rules
    >>> rules.state_rows_at_most(1_000_000).says
    'The state of a query never has more than 1000000 rows.'
    """
    most = _whole("n", n, least=0)
    return Rule(
        f"state_rows_at_most({most})",
        "[] not too_many",
        each="query",
        says=f"The state of a query never has more than {most} rows.",
        propositions={"too_many": f"query.state_rows > {most}"},
        breaks=log(of_rows(most + 1)),
        keeps=log(of_rows(most)),
    )


def state_shrinks_within(batches: int) -> Rule:
    """After the state of a query grew, it shrinks within so many batches: it does not grow for ever.

    >>> from firesteel import rules
    >>> rules.state_shrinks_within(2).says
    'After the state of a query grew, it shrinks within 2 batches.'
    """
    count = _whole("batches", batches)
    return Rule(
        f"state_shrinks_within({count})",
        "[] not grows_on",
        each="query",
        says=f"After the state of a query grew, it shrinks within {count} {'batch' if count == 1 else 'batches'}.",
        propositions={"grows_on": f"query.unshrunk_batches >= {count}"},
        breaks=log(of_rows(1, *[1] * count)),
        keeps=log(of_rows(1, *[2] * (count - 1), 0, 0)),
    )


def batch_at_most_times_median(n: float) -> Rule:
    """No batch of a query takes more than n times the median of the batches before it.

    The median is that of up to 100 batches. The first five batches of a query are not judged.

    >>> from firesteel import rules
    >>> rules.batch_at_most_times_median(10).propositions
    {'slow': 'batch.times_median > 10'}
    """
    most = _number("n", n)
    return Rule(
        f"batch_at_most_times_median({most})",
        "[] not slow",
        each="query",
        says=f"No batch of a query takes more than {most} times the median of the batches before it.",
        propositions={"slow": f"batch.times_median > {most}"},
        breaks=log(taking(*[10] * 6, int(10 * most) + 1)),
        keeps=log(taking(*[10] * 6, int(10 * most))),
    )


def skew_at_most(n: float) -> Rule:
    """The longest task of an attempt of a stage takes at most n times the median of its tasks.

    >>> from firesteel import rules
    >>> rules.skew_at_most(5).each
    'stage'
    """
    most = _number("n", n)
    tasks = [ended(0, index, took=10) for index in range(3)]
    return Rule(
        f"skew_at_most({most})",
        "[] not skewed",
        each="stage",
        says=f"The longest task of a stage takes at most {most} times the median of its tasks.",
        propositions={"skewed": f"stage.skew > {most}"},
        breaks=log(stage(0, *tasks, ended(0, 3, took=int(10 * most) + 1))),
        keeps=log(stage(0, *tasks, ended(0, 3, took=int(10 * most)))),
    )


def shuffle_at_most(size: int | str) -> Rule:
    """An attempt of a stage writes at most so much for other stages: a number of bytes, or a text such as "10 GiB".

    >>> from firesteel import rules
    >>> rules.shuffle_at_most("1 KiB").propositions
    {'too_much': 'stage.shuffle_bytes > 1024'}
    """
    most = _bytes("size", size)
    return Rule(
        f"shuffle_at_most({size})",
        "[] not too_much",
        each="stage",
        says=f"A stage writes at most {size if isinstance(size, str) else f'{size} bytes'} for other stages.",
        propositions={"too_much": f"stage.shuffle_bytes > {most}"},
        breaks=log(stage(0, ended(0, 0, wrote=most), ended(0, 1, wrote=1))),
        keeps=log(stage(0, ended(0, 0, wrote=most))),
    )


# --- all of them, by name ---

READY: Mapping[str, Rule | Callable[[Any], Rule]] = MappingProxyType(
    {rule.name: rule for rule in list(globals().values()) if isinstance(rule, Rule)}
    | {
        made.__name__: made
        for made in (
            attempts_at_most,
            late_rows_at_most,
            state_rows_at_most,
            state_shrinks_within,
            batch_at_most_times_median,
            skew_at_most,
            shuffle_at_most,
        )
    }
)
"""Every ready rule by its name: a rule, or a function that makes one."""

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20} | {
    "gib": 2**30,
    "tib": 2**40,
}


def _whole(name: str, value: object, *, least: int = 1) -> int:
    number = whole_number(value, least)
    if number is None:
        raise InvalidArgument(f"{described(name, value)} is not a number here: write a whole number from {least}")
    return number


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value < 1e12:
        raise InvalidArgument(f"{described(name, value)} is not a number here: write a number from 1")
    return value


def _bytes(name: str, value: object) -> int:
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", value, re.IGNORECASE)
        if found is None or found[2].lower() not in _UNITS:
            raise InvalidArgument(f'{described(name, value)} is not a size: write a number of bytes, or "10 GiB"')
        return int(float(found[1]) * _UNITS[found[2].lower()])
    return _whole(name, value, least=0)
