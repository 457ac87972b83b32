"""A captured program as the text of an MSVL program."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from firesteel.errors import InvalidArgument, described
from firesteel.model.msvl import data
from firesteel.model.msvl.printing import _definition, expression_text
from firesteel.model.translate.actions import add_action
from firesteel.model.translate.building import Builder, StagePlan, Task
from firesteel.model.translate.frames import lowered
from firesteel.model.translate.paper import paper_text
from firesteel.model.translate.sql import PRELUDE
from firesteel.values.programs import Api, Program

LONGEST = 100_000
"""How many characters the data of an input may have in the text."""


def built(program: Program) -> Builder:
    """The model of a program: its stages, tasks, functions and variables."""
    if not program.actions:
        raise InvalidArgument("this program has no action, so it has no result that a model could have: add collect()")
    frames = any(action.api is Api.FRAME for action in program.actions)
    program = lowered(program)
    builder = Builder(program)
    builder.prelude = PRELUDE if frames else ""
    wanted = [each for action in program.actions for each in action.operations]
    for operation in program.above(*wanted):
        builder.label(operation)
    for action in program.actions:
        if action.error is not None:
            raise InvalidArgument(f"the action {action.name} ({action.call_site}) failed with {action.error}")
        add_action(builder, action)
    builder.drivers += [each.text for each in builder.summaries.values()]
    return builder


def model_of(program: Program, style: str = "edges", path: str | PathLike[str] | None = None) -> str:
    """The text of the model, in one of the styles."""
    if style == "paper":
        text = paper_text(built(program))
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text
    if style == "edges":
        return text_of(program, None if path is None else Path(path))
    raise InvalidArgument(f"{described('style', style)} is not a style: write 'edges' or 'paper'")


def text_of(program: Program, path: Path | None = None) -> str:
    """The text of the model; with a path, data that is too long for the text goes into a file beside it."""
    builder = built(program)
    inputs, beside = _inputs(builder, path)
    parts = [
        *_head(builder),
        *inputs,
        f"output [{', '.join(builder.results)}];",
        *_declared(builder),
        *([builder.prelude] if builder.prelude else []),
        *map(_definition, builder.functions.definitions),
        *(line for stage in builder.stages for line in _stage_definitions(builder, stage)),
        *builder.texts,
        _body(builder),
    ]
    text = "\n".join(parts) + "\n"
    if path is not None:
        path.write_text(text, encoding="utf-8")
        if beside:
            data.write(path.with_suffix(".data.json"), beside)
    return text


def _head(builder: Builder) -> list[str]:
    lines = ["// The model of a Spark program. Every record takes a state; tasks of all stages run side by side."]
    for stage in builder.stages:
        names = ", ".join(builder.labels[each] for each in stage.operations)
        lines.append(f"// stage {stage.number}: {names}; ends in {stage.ends}")
    for difference in builder.program.differences:
        lines.append(f"// what Spark ran is not what was captured: {' '.join(str(difference).split())}")
    for outside in builder.functions.outside:
        lines.append(f"// {outside.name} comes from outside: {outside.reason}")
    return lines


def _inputs(builder: Builder, path: Path | None) -> tuple[list[str], dict[str, Any]]:
    lines, beside = [], {}
    for name, records in builder.inputs.items():
        try:
            text = expression_text(data.expression_of(records))
        except TypeError as error:
            raise InvalidArgument(f"the records of {name} cannot be those of a model: {error}") from None
        head = f"input list {name}[{len(records)}]"
        if len(text) <= LONGEST:
            lines.append(f"{head} <== {text};")
        elif path is not None:
            beside[name] = records
            lines.append(f"{head} from {expression_text(data.expression_of(path.with_suffix('.data.json').name))};")
        else:
            lines.append(f"// {name} is too long for the text: write it to a file, or give it with inputs=")
            lines.append(f"{head};")
    return lines, beside


def _declared(builder: Builder) -> list[str]:
    """Declarations of the buffers and flags."""
    kinds: dict[str, list[str]] = {"list": [], "int": []}
    for name, first in builder.variables.items():
        if first.startswith("["):
            kinds["list"].append(name)
        elif first == "0":
            kinds["int"].append(name)
    for stage in builder.stages:
        for task in stage.tasks:
            kinds["int"] += [_flag("runs", task), _flag("done", task)]
    return [f"{kind} {', '.join(names)};" for kind, names in kinds.items() if names]


def _flag(word: str, task: Task) -> str:
    return f"{word}_{task.stage.number}_{task.number}"


def _stage_definitions(builder: Builder, stage: StagePlan) -> list[str]:
    done = " AND ".join(f"{_flag('done', task)} = 1" for task in stage.tasks) or _before(builder, stage) or "true"
    runs = " OR ".join(f"{_flag('runs', task)} = 1" for task in stage.tasks)
    started = f"({runs}) AND !{stage.done}()" if runs else "false"
    return [f"define {stage.done}() = {done};", f"define {stage.runs}() = {started};"]


def _before(builder: Builder, stage: StagePlan) -> str:
    """What a stage waits for."""
    waits = [f"{builder.stages[parent].done}()" for parent in stage.parents]
    if stage.after:
        waits.append(f"action_{stage.after - 1}_done = 1")
    return " AND ".join(waits)


def _task(builder: Builder, task: Task) -> str:
    before = _before(builder, task.stage)
    steps = [f"await({before})"] if before else []
    steps += [f"{_flag('runs', task)} := 1", *task.steps, f"{_flag('done', task)} := 1"]
    return f"({' ; '.join(steps)})"


def _body(builder: Builder) -> str:
    flags = {_flag(word, task): "0" for stage in builder.stages for task in stage.tasks for word in ("runs", "done")}
    variables = {**builder.variables, **flags}
    first = " and ".join(f"{name} <== {value}" for name, value in variables.items())
    processes: list[str] = []
    for stage in builder.stages:
        for task in stage.tasks:
            comment = f"// stage {stage.number}\n    " if task.number == 0 else ""
            processes.append(f"{comment}{_task(builder, task)}")
    processes += [
        f"{'// the driver' if not place else ''}\n    ({each})".lstrip("\n ")
        for place, each in enumerate(builder.drivers)
    ]
    together = "\n    || ".join(processes)
    return f"frame({', '.join(variables)}) and (\n  {first} and skip ;\n  (\n    {together}\n  )\n)"
