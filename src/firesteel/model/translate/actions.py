"""What each action does: what the tasks of its stage do at their end, and what the driver does with that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firesteel.model.translate import templates
from firesteel.model.translate.building import Builder, StagePlan, Task, argument, partitions
from firesteel.model.translate.operations import literal
from firesteel.values.programs import Action, Operation

RECORDS = ("list", "records", "flat(buffers)")


@dataclass(frozen=True)
class Ending:
    """How an action ends."""

    steps: tuple[str, ...]
    """What the driver does: `buffers` are those of the tasks, `records` all that is in them, `out` the result."""
    task: str = ""
    """What a task does with each of its `records`, if it does something; its `out` is a list."""
    task_first: str = "[]"
    own: tuple[tuple[str, str, str], ...] = ()


def _gathered(update: str, first: str = "[]", go_on: str = "") -> Ending:
    return Ending((f"out := {first}", templates.through("records", f"out := {update}", go_on)))


def _reduced(apply: Callable[[str, str], str]) -> Ending:
    """In each task, then in the driver: the first record is what it starts with."""
    update = f"size(out) = 0 ? [records[i]] : [{apply('out[0]', 'records[i]')}]"
    driver = f"made := size(made) = 0 ? [records[i]] : [{apply('made[0]', 'records[i]')}]"
    steps = (templates.through("records", driver), "out := made[0]")
    return Ending(steps, f"out := {update}", own=(("list", "made", "[]"),))


def _folded(zero: str, add: Callable[[str, str], str], combine: Callable[[str, str], str]) -> Ending:
    steps = (f"out := {zero}", templates.through("records", f"out := {combine('out', 'records[i]')}"))
    return Ending(steps, f"out := [{add('out[0]', 'records[i]')}]", f"[{zero}]")


def _users(builder: Builder, action: Action, parameter: str, count: int) -> Callable[..., str]:
    return builder.needed(action, parameter, count).text


def _key(builder: Builder, action: Action) -> Callable[[str], str]:
    found = builder.users(action, "key", 1)
    return (lambda x: x) if found is None else found.text


def _extreme(sign: str) -> Callable[[Builder, Action], Ending]:
    def ending(builder: Builder, action: Action) -> Ending:
        key = _key(builder, action)
        return _reduced(lambda a, b: f"({key(b)} {sign} {key(a)} ? {b} : {a})")

    return ending


def _ordered(backwards: str) -> Callable[[Builder, Action], Ending]:
    def ending(builder: Builder, action: Action) -> Ending:
        pairs = f"[({_key(builder, action)('x')}, x) for x in records]"
        made = f"part(sortedby({pairs}, {backwards}), 0, {literal(argument(action, 'num'))})"
        steps = (f"made := {made}", "out := []", templates.through("made", "out := append(out, made[i])"))
        return Ending(steps, own=(("list", "made", "[]"),))

    return ending


def _fold(builder: Builder, action: Action) -> Ending:
    apply = _users(builder, action, "op", 2)
    return _folded(literal(argument(action, "zeroValue")), apply, apply)


def _aggregate(builder: Builder, action: Action) -> Ending:
    add, combine = _users(builder, action, "seqOp", 2), _users(builder, action, "combOp", 2)
    return _folded(literal(argument(action, "zeroValue")), add, combine)


def _tree_aggregate(builder: Builder, action: Action) -> Ending:
    add, combine = _users(builder, action, "seqOp", 2), _users(builder, action, "combOp", 2)
    folded = _folded(literal(argument(action, "zeroValue")), add, combine)
    return Ending(_reduced(combine).steps, folded.task, folded.task_first, (("list", "made", "[]"),))


def _take(builder: Builder, action: Action) -> Ending:
    return _gathered("append(out, records[i])", go_on=f" AND size(out) < {literal(argument(action, 'num'))}")


def _lookup(builder: Builder, action: Action) -> Ending:
    test = f"records[i][0] = {literal(argument(action, 'key'))}"
    return Ending(("out := []", templates.through_some("records", test, "out := append(out, records[i][1])")))


def _always(ending: Ending) -> Callable[[Builder, Action], Ending]:
    return lambda builder, action: ending


ACTIONS: dict[str, Callable[[Builder, Action], Ending]] = {
    "collect": _always(_gathered("append(out, records[i])")),
    "toLocalIterator": _always(_gathered("append(out, records[i])")),
    "count": _always(Ending(("out := 0", templates.through("buffers", "out := out + size(buffers[i])")))),
    "isEmpty": _always(Ending(("out := size(records) = 0",))),
    "take": _take,
    "first": _always(Ending(("out := records[0]",))),
    "takeOrdered": _ordered("false"),
    "top": _ordered("true"),
    "countByKey": _always(_gathered("put(out, records[i][0], get(out, records[i][0], 0) + 1)", "{}")),
    "countByValue": _always(_gathered("put(out, records[i], get(out, records[i], 0) + 1)", "{}")),
    "collectAsMap": _always(_gathered("put(out, records[i][0], records[i][1])", "{}")),
    "reduce": lambda builder, action: _reduced(_users(builder, action, "f", 2)),
    "treeReduce": lambda builder, action: _reduced(_users(builder, action, "f", 2)),
    "fold": _fold,
    "aggregate": _aggregate,
    "treeAggregate": _tree_aggregate,
    "sum": _always(_folded("0", lambda a, b: f"total([{a}, {b}])", lambda a, b: f"total([{a}, {b}])")),
    "max": _extreme(">"),
    "min": _extreme("<"),
    "lookup": _lookup,
    "foreach": _always(Ending(("out := null",), "out := [null]")),
    "foreachPartition": _always(Ending(("out := null",), "out := [null]")),
    "saveAsTextFile": _always(
        Ending(
            ("out := []", templates.through("buffers", "out := append(out, buffers[i])")),
            "out := append(out, text(records[i]))",
        )
    ),
}


def add_action(builder: Builder, action: Action) -> None:
    """The stage of an action, and what the driver does at its end."""
    operation = builder.program.operations[action.operations[0]]
    label = builder.names.numbered(action.name)
    head = f"{label[0].upper()}{label[1:]}"
    if action.name in ACTIONS:
        ending = ACTIONS[action.name](builder, action)
    else:
        place = f" ({action.call_site})" if action.call_site is not None else ""
        made = builder.functions.external(label, f"the action {action.name}{place} has no translation")
        ending = Ending((f"out := {made.text('buffers')}",))
    stage = StagePlan(-1, builder.actions_before, ends=action.name)
    buffers = [
        _task(builder, operation, ending, stage, each, label, head) for each in range(partitions(builder, operation))
    ]
    stage.number = len(builder.stages)
    builder.stages.append(stage)
    own = [templates.COUNTER, *ending.own, *([RECORDS] if any("records" in each for each in ending.steps) else [])]
    builder.texts.append(templates.function(head, ["list buffers", "out[]"], own, *ending.steps))
    result = label
    builder.variables[result] = "null"
    builder.results.append(result)
    done = f"action_{len(builder.results) - 1}_done"
    builder.variables[done] = "0"
    builder.drivers.append(f"await({stage.done}()) ; {head}([{', '.join(buffers)}], {result}) ; {done} := 1")
    builder.actions_before += 1


def _task(
    builder: Builder, operation: Operation, ending: Ending, stage: StagePlan, partition: int, label: str, head: str
) -> str:
    """A task of the action's stage; gives the buffer that the driver reads."""
    task = Task(stage, partition)
    stage.tasks.append(task)
    buffer = builder.build(operation, partition, task)
    if not ending.task:
        return buffer
    if partition == 0:
        builder.texts.append(templates.each(f"{head}Task", ending.task))
    out = builder.variable(f"{label}_part_{partition}", ending.task_first)
    task.steps.append(f"{head}Task({buffer}, {out})")
    return out
