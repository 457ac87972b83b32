"""Reading only what rules need of the events that logs have most of, or that are largest: the rest is skipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import msgspec

from firesteel.history import table as t

# The fields that `tracking` looks at, by the names that Spark gives them. A field that is missing is found out there.
_Task = TypedDict(
    "_Task",
    {"Index": Any, "Attempt": Any, "Speculative": Any, "Launch Time": Any, "Finish Time": Any},
    total=False,
)
_Start = TypedDict("_Start", {"Event": Any, "Stage ID": Any, "Stage Attempt ID": Any, "Task Info": _Task}, total=False)


class _Reason(TypedDict, total=False):
    Reason: Any


_Written = TypedDict("_Written", {"Shuffle Bytes Written": Any}, total=False)
_Metrics = TypedDict(
    "_Metrics",
    {"Memory Bytes Spilled": Any, "Disk Bytes Spilled": Any, "Shuffle Write Metrics": _Written},
    total=False,
)
_End = TypedDict(
    "_End",
    {
        "Event": Any,
        "Stage ID": Any,
        "Stage Attempt ID": Any,
        "Task Info": _Task,
        "Task End Reason": _Reason,
        "Task Metrics": _Metrics | None,
    },
    total=False,
)
_Info = TypedDict(
    "_Info", {"Stage ID": Any, "Stage Attempt ID": Any, "Failure Reason": Any, "Parent IDs": Any}, total=False
)
_Stage = TypedDict("_Stage", {"Event": Any, "Stage Info": _Info}, total=False)
_Job = TypedDict("_Job", {"Event": Any, "Job ID": Any, "Stage Infos": list[_Info], "Properties": Any}, total=False)


class _Sql(TypedDict, total=False):
    Event: Any
    executionId: Any
    errorMessage: Any


_KINDS: Mapping[str, Any] = {
    t.TASK_START: _Start,
    t.TASK_END: _End,
    t.STAGE_SUBMITTED: _Stage,
    t.STAGE_COMPLETED: _Stage,
    t.JOB_START: _Job,
    t.SQL_START: _Sql,
    t.SQL_CHANGED: _Sql,
    t.SQL_END: _Sql,
}

DECODERS: Mapping[str, Callable[[bytes], Any]] = {
    name: msgspec.json.Decoder(kind).decode for name, kind in _KINDS.items()
}
"""How the lines of these events are read, where nothing but `tracking` looks at them."""
