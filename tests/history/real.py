"""The real logs of tools/event_logs.py, and which of the ready rules each of them breaks."""

from __future__ import annotations

from pathlib import Path

import firesteel as fs
from firesteel import rules

KEPT = Path(__file__).parent / "logs"
"""Trimmed copies, made by `python tools/pack_event_logs.py`."""

NAMES = sorted(path.stem for path in KEPT.glob("*.zst"))

GENEROUS = [made for made in rules.READY.values() if isinstance(made, rules.Rule)] + [
    rules.attempts_at_most(4),
    rules.late_rows_at_most(100),
    rules.state_rows_at_most(1_000),
    rules.state_shrinks_within(50),
    rules.batch_at_most_times_median(1_000),
    rules.skew_at_most(10_000),
    rules.shuffle_at_most("1 MiB"),
]
"""Every ready rule, with arguments that a log has to be very odd to break."""

BROKEN = {
    "spilling": {"NO_SPILL", "STAGE_RERUN_ONLY_AFTER_FETCH_FAILURE"},  # a barrier stage runs again
    "streaming": {"LATE_ROWS_NEVER_DROPPED"},
    "tampered": {"BATCH_IDS_CONTIGUOUS", "BATCHES_COMMITTED_IN_ORDER", "WATERMARK_NEVER_BACK"},
    "stopped": {"STOP_HAS_REASON"},
}
"""What real Spark was made to break."""

STRICT = [
    ("retried", rules.attempts_at_most(2)),
    ("streaming", rules.late_rows_at_most(0)),
    ("punctual", rules.state_rows_at_most(1)),
    ("stopped", rules.state_shrinks_within(1)),
    ("slow_batch", rules.batch_at_most_times_median(2)),
    ("spilling", rules.skew_at_most(2)),
    ("lost_block", rules.shuffle_at_most(10)),
]
"""Rules with an argument, and a real log that breaks them."""


SHOWS = {
    "retried": {"task_failed", "job_failed"},
    "lost_block": {"fetch_failed", "stage_skipped", "block_lost"},
    "adaptive": {"plan_changed", "stage_skipped", "stage_failed", "sql_failed"},  # a cancelled stage counts as failed
    "spilling": {"task_spilled"},
    "streaming": {"rows_dropped_late", "watermark_moved", "query_failed", "batch_replayed"},
    "punctual": {"state_shrank", "query_started"},
    "tampered": {"watermark_back", "commit_repeated", "batch_replayed"},
    "stopped": {"query_terminated"},
    "slow_batch": {"batch_committed"},
    "cluster": {"executor_lost", "task_lost", "fetch_failed"},
    "speculation": {"task_speculative", "task_killed"},
}
"""What each log is there to show."""


def log(name: str):
    """The kept copy of a log."""
    return fs.event_log(KEPT / f"{name}.zst")


def shown_by(source, names) -> set[str]:
    """Those of some propositions that hold somewhere in a log."""
    found = set()
    for name in names:
        try:
            fs.verify(source, f"[] not {name}")
        except fs.Falsified:
            found.add(name)
    return found


def events(name: str) -> list[dict]:
    return [dict(event) for event in log(name)]


def broken_by(source, *chosen) -> set[str]:
    """The names of the rules that a log breaks; everything else about it has to be all right."""
    try:
        fs.verify(source, list(chosen))
    except fs.Falsified as failure:
        (trace,) = failure.report.evidence.traces
        assert not trace.problems and trace.complete
        return {rule.name for rule in trace.rules if rule.violations}
    except fs.Vacuous:
        pass
    return set()
