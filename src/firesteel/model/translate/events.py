"""The stages of a model in the events of the real run: when each ran, and when it was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from firesteel.model.translate.building import Builder
from firesteel.values.programs import Program


def real_stages(builder: Builder) -> dict[int, int]:
    """For each stage of the model the stage of Spark that did the same for the same action, by its id.

    A sort looks at the data in jobs of its own first; their stages are not meant.
    """
    program = builder.program
    found: dict[int, int] = {}
    for stage in builder.stages:
        wanted = set(stage.operations)
        for each in _ran(program, stage.after):
            if each not in found.values() and set(program.stage[each].operations) == wanted:
                found[stage.number] = each
                break
    return found


def _ran(program: Program, action: int) -> list[int]:
    """The stages that ran for an action, then those that ran for its operations before, which it did not run again."""
    own = [program.job[job] for job in program.actions[action].jobs]
    early = [job for job in program.jobs if job.action is None and job.operation is not None]
    ids = [each for job in (*own, *early) for each in sorted(job.stages) if each not in job.skipped]
    return [each for each in dict.fromkeys(ids) if each in program.stage and program.stage[each].attempts > 0]


def trace(builder: Builder, events: Iterable[Mapping[str, Any]]) -> list[dict[str, bool]]:
    """What holds after each event about a stage: `stage_0_runs`, `stage_0_done` and so on.

    Spark runs a stage again for another job, or skips it as its shuffle is there. It is done once it was completed.
    """
    real = real_stages(builder)
    numbers = {each: number for number, each in real.items()}
    state = {f"stage_{stage.number}_{word}": False for stage in builder.stages for word in ("runs", "done")}
    states = [dict(state)]
    for event in events:
        kind = event.get("Event")
        if kind not in ("SparkListenerStageSubmitted", "SparkListenerStageCompleted"):
            continue
        number = numbers.get(event["Stage Info"]["Stage ID"])
        if number is None:
            continue
        completed = kind == "SparkListenerStageCompleted"
        state[f"stage_{number}_runs"] = not completed
        state[f"stage_{number}_done"] = state[f"stage_{number}_done"] or completed
        states.append(dict(state))
    return states
