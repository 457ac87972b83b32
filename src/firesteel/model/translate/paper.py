"""The form in which the paper on S2M prints a program: stages in series (`;`) and in parallel (`||`).

It is a rendering: the paper's functions share global buffers, so parallel stages would overwrite each other. Stages are
composed by their order, so a stage that two others need stands once: a diamond is `0;(1||2);3`. A sort stays in the
stage of its parent, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from firesteel.errors import InvalidArgument
from firesteel.model.translate.building import Builder, argument
from firesteel.model.translate.operations import literal
from firesteel.values.programs import Action, Operation

_SORTS = ("sortBy", "sortByKey")


@dataclass
class PaperStage:
    """A stage as the paper cuts them."""

    number: int
    after: int
    operations: list[int]
    parents: set[int]
    width: int
    """How many tasks it has."""
    ends: str
    ends_in_shuffle: bool
    above: set[int] = field(default_factory=set)
    """All stages that come before it."""


def paper_text(builder: Builder) -> str:
    """The whole program."""
    shuffles = iter(range(1, len(builder.stages) + 1))
    stages = _stages(builder)
    texts = {each.number: _stage_text(builder, each, shuffles) for each in stages}
    parts = []
    for place, action in enumerate(builder.program.actions):
        new = [each for each in stages if each.after == place]
        if new:
            parts.append(composed(new, lambda number: f"({texts[number]})"))
        parts.append(_action_text(action))
    return ";".join(parts)


def shape(builder: Builder) -> str:
    """How the stages are composed, by their numbers."""
    return composed(_stages(builder), str)


def _stages(builder: Builder) -> list[PaperStage]:
    found: dict[int, PaperStage] = {}
    inside: dict[int, int] = {}
    """The stage that a stage of the model is a part of."""
    numbers = iter(range(len(builder.stages)))
    for stage in builder.stages:
        parents = {inside[parent] for parent in stage.parents}
        sorted_before = [inside[parent] for parent in stage.parents if builder.stages[parent].ends in _SORTS]
        # Where a sort is all that a stage waits for, both are one.
        if sorted_before and len(parents) == 1:
            whole = found[sorted_before[0]]
            whole.operations += [each for each in stage.operations if each not in whole.operations]
            whole.ends, whole.ends_in_shuffle = stage.ends, _shuffles(builder, stage.number)
            inside[stage.number] = whole.number
            continue
        number = next(numbers)
        inside[stage.number] = number
        operations = list(stage.operations)
        found[number] = PaperStage(
            number, stage.after, operations, parents, len(stage.tasks), stage.ends, _shuffles(builder, stage.number)
        )
    for each in found.values():
        each.above = {above for parent in each.parents for above in ({parent} | found[parent].above)}
    return list(found.values())


def _shuffles(builder: Builder, number: int) -> bool:
    """Does another stage read what a stage has written?"""
    return any(number in each.parents for each in builder.stages)


def composed(stages: Iterable[PaperStage], text: Callable[[int], str]) -> str:
    """Stages in series and in parallel, as their order says; refused where it is neither."""
    nodes = list(stages)
    order = {each.number: each.above for each in nodes}

    def before(one: int, two: int) -> bool:
        return one in order[two]

    def form(numbers: list[int], inner: bool) -> str:
        if len(numbers) == 1:
            return text(numbers[0])
        series = _components(numbers, lambda a, b: not before(a, b) and not before(b, a))
        if len(series) > 1:
            ordered = sorted(series, key=lambda part: sum(before(part[0], other) for other in numbers), reverse=True)
            return ";".join(form(part, True) for part in ordered)
        parallel = _components(numbers, lambda a, b: before(a, b) or before(b, a))
        if len(parallel) > 1:
            both = "||".join(form(part, False) if len(part) == 1 else f"({form(part, False)})" for part in parallel)
            return f"({both})" if inner else both
        names = ", ".join(str(number) for number in sorted(numbers))
        raise InvalidArgument(
            f"the stages {names} are neither in series nor in parallel, so the paper has no form for this program: "
            "write style='edges'"
        )

    return form([each.number for each in nodes], False)


def _components(numbers: list[int], joined: Callable[[int, int], bool]) -> list[list[int]]:
    """The parts of a graph that hang together."""
    left, parts = list(numbers), []
    while left:
        part, waiting = [], [left.pop(0)]
        while waiting:
            one = waiting.pop()
            part.append(one)
            near = [other for other in left if joined(one, other)]
            left = [other for other in left if other not in near]
            waiting += near
        parts.append(sorted(part))
    return parts


def _stage_text(builder: Builder, stage: PaperStage, shuffles: Iterable[int]) -> str:
    calls = []
    for place, number in enumerate(stage.operations, 1):
        calls += _calls(builder, builder.program.operations[number], place, stage.width, first=place == 1)
    if stage.ends_in_shuffle:
        calls.append(f'shuffle{next(iter(shuffles))}({len(stage.operations) + 1},"{stage.ends}")')
    return "||".join(calls)


def _calls(builder: Builder, operation: Operation, place: int, width: int, *, first: bool) -> list[str]:
    label = builder.label(operation)
    head = f"{label[0].upper()}{label[1:]}"
    if operation.name == "textFile":
        name = PurePosixPath(str(argument(operation, "name", ""))).name
        return [f'ReadWords{label.removeprefix("textFile")}("{name}")']
    if operation.is_source:
        return [f"{head}()"]
    if operation.name in _SORTS:
        return [f"{head.removesuffix('1')}({place})"]
    if first and builder.wide(operation):
        return [f"{head}({each})" for each in range(1, width + 1)]
    return [f"{head}({place},{each})" for each in range(1, width + 1)]


def _action_text(action: Action) -> str:
    number = argument(action, "num")
    return f"{action.name[0].upper()}{action.name[1:]}({'' if number is None else literal(number)})"
