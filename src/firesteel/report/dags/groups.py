"""What a picture of a program shows: the operations in boxes, one box for those that ran in the same stages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

from firesteel.names import counted, short
from firesteel.values.programs import Action, CallSite, Operation, Program, Ref

_WIDTH = 34


@dataclass(frozen=True)
class Group:
    """Operations that follow each other and ran in the same stages."""

    title: str
    operations: tuple[Operation, ...]


def groups_of(program: Program) -> tuple[Group, ...]:
    """The boxes of a picture. No way leads out of a box and back into it."""
    found = _same_stages(program)
    for parts in (_connected, _single):
        while (bad := _in_a_circle(program, found)) is not None:
            smaller = parts(program, bad)
            if len(smaller) == 1:
                break
            found = [part for box in found for part in (smaller if box is bad else [box])]
    boxes = sorted(found, key=lambda box: box[0])
    return tuple(
        Group(stages_word(program.operations[box[0]].stages), tuple(program.operations[one] for one in box))
        for box in boxes
    )


def _same_stages(program: Program) -> list[list[int]]:
    """The operations that ran in the same stages, and those that did not run, as far as they are connected."""
    boxes: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for operation in program.operations:
        boxes[operation.stages].append(operation.id)
    unrun = boxes.pop((), [])
    return [*boxes.values(), *_connected(program, unrun)]


def _single(program: Program, box: list[int]) -> list[list[int]]:
    return [[one] for one in box]


def _connected(program: Program, box: list[int]) -> list[list[int]]:
    """The parts of a box that edges hold together."""
    leader = {one: one for one in box}

    def find(one: int) -> int:
        while leader[one] != one:
            one = leader[one]
        return one

    for edge in program.edges:
        if not edge.wide and edge.source in leader and edge.target in leader:
            first, second = sorted((find(edge.source), find(edge.target)))
            leader[second] = first
    parts: dict[int, list[int]] = defaultdict(list)
    for one in box:
        parts[find(one)].append(one)
    return list(parts.values())


def _in_a_circle(program: Program, boxes: list[list[int]]) -> list[int] | None:
    """A box of several operations that a way leads out of and back into."""
    box_of = {one: number for number, box in enumerate(boxes) for one in box}
    below: dict[int, set[int]] = defaultdict(set)
    for edge in program.edges:
        if box_of[edge.source] != box_of[edge.target]:
            below[box_of[edge.source]].add(box_of[edge.target])
    for number, box in enumerate(boxes):
        seen, waiting = set[int](), list(below[number]) if len(box) > 1 else []
        while waiting:
            one = waiting.pop()
            if one == number:
                return box
            if one not in seen:
                seen.add(one)
                waiting.extend(below[one])
    return None


def numbers(found: Iterable[int], most: int = 6) -> str:
    """Numbers with ranges, cut where there are many.

    >>> numbers([1, 2, 3, 5]), numbers([4, 5]), numbers(range(0, 40, 2))
    ('1 to 3, 5', '4, 5', '0, 2, 4, 6, 8, ..., 38')
    """
    runs: list[list[int]] = []
    for number in found:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [part for run in runs for part in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))]
    return ", ".join(texts if len(texts) <= most else [*texts[: most - 1], "...", texts[-1]])


def lines_of(operation: Operation) -> tuple[str, ...]:
    """What stands in the box of an operation, after its name."""
    lines = [short(function.name, _WIDTH) for function in operation.functions[:2]]
    if not operation.functions:
        given = [f"{name}={shown(value)}" for name, value in operation.arguments.items() if is_short(value)]
        lines += [short(", ".join(given), _WIDTH)] if given else []
    facts = [] if operation.partitions is None else [counted(operation.partitions, "partition")]
    facts += ["cached"] if operation.cached else []
    facts += ["made before"] if operation.earlier else []
    if operation.call_site is not None:
        facts.insert(0, place(operation.call_site))
    return tuple([*lines, " · ".join(facts)] if facts else lines)


def is_short(value: object) -> bool:
    """Is it worth to be written in a box?"""
    match value:
        case tuple() | list():
            return len(value) <= 4 and all(is_short(each) for each in value)
        case dict() | set() | Ref():
            return False
        case _:
            return not callable(value)


def place(site: CallSite) -> str:
    """A line of the user's program, without its folder."""
    return f"{PurePath(site.file).name}:{site.line}"


def about(operation: Operation) -> str:
    """All about an operation, for those who point at it."""
    lines = [f"{operation.name} (operation {operation.id})"]
    if operation.call_site is not None:
        lines.append(f"{operation.call_site}, in {operation.call_site.function}")
    for function in operation.functions:
        lines += [f"{function.parameter}:", function.source or f"{function.name} (no source)"]
    for name, value in operation.arguments.items():
        if not callable(value):
            lines.append(f"{name} = {short(shown(value), 200)}")
    if operation.stages:
        lines.append(f"ran in {stages_word(operation.stages)}")
    if operation.level is not None:
        lines.append(f"Spark's level: {operation.level.value}")
    return "\n".join(lines)


def stages_word(stages: tuple[int, ...]) -> str:
    """Some stages by their numbers."""
    if not stages:
        return "not run"
    return f"stage{'s' if len(stages) > 1 else ''} {numbers(stages)}"


def shown(value: object) -> str:
    """An argument as text, also one that cannot be shown."""
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def jobs_word(action: Action) -> str:
    """The jobs of an action."""
    if not action.jobs:
        return "no jobs"
    return f"job{'s' if len(action.jobs) > 1 else ''} {numbers(action.jobs)}"
