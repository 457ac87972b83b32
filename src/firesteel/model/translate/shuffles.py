"""Operations that move records between partitions: what a map task writes for each reduce partition, and what a reduce
task makes of it.

Each map task has one variable: a list with a buffer for every reduce partition. Keys go where PySpark puts them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from firesteel.model.translate import templates
from firesteel.model.translate.building import Builder, StagePlan, Task, argument, partitions
from firesteel.values.programs import Operation

Translation: TypeAlias = Callable[[Builder, Operation, int, Task], str]


@dataclass(frozen=True)
class Shuffle:
    """What the map tasks of an operation wrote."""

    stage: StagePlan
    outputs: tuple[str, ...]


Write: TypeAlias = Callable[[Builder, Operation, int, int, Task, str, str], None]
"""Writes a parent's buffer into a variable: the parent's place, its partition, the task, the buffer, the variable."""


def blocks(builder: Builder, operation: Operation, partition: int, task: Task, write: Write) -> str:
    """The records for a reduce partition, as text: what all map tasks wrote for it, in their order."""
    if not builder.wide(operation):
        return _without_stage(builder, operation, partition, task, write)
    shuffle: Shuffle = builder.shuffle(operation, lambda: _written(builder, operation, write))
    if shuffle.stage.number not in task.stage.parents:
        task.stage.parents.append(shuffle.stage.number)
    return f"flat([{', '.join(f'{each}[{partition}]' for each in shuffle.outputs)}])"


def _written(builder: Builder, operation: Operation, write: Write) -> Shuffle:
    """The map tasks of an operation, all in one stage."""
    outputs = []
    # Parents before this stage get smaller numbers, as Spark numbers them.
    stage = StagePlan(-1, builder.actions_before, ends=operation.name)
    for place, parent_id in enumerate(operation.parents):
        parent = builder.program.operations[parent_id]
        for each in range(partitions(builder, parent)):
            task = Task(stage, len(stage.tasks))
            stage.tasks.append(task)
            buffer = builder.build(parent, each, task)
            outputs.append(_output(builder, operation, task))
            write(builder, operation, place, each, task, buffer, outputs[-1])
    stage.number = len(builder.stages)
    builder.stages.append(stage)
    return Shuffle(stage, tuple(outputs))


def _output(builder: Builder, operation: Operation, task: Task) -> str:
    buffers = ", ".join(["[]"] * partitions(builder, operation))
    return builder.variable(f"shuffle_{builder.label(operation)}_{task.number}", f"[{buffers}]")


def _without_stage(builder: Builder, operation: Operation, partition: int, task: Task, write: Write) -> str:
    """Where the parents are partitioned already, or there is one partition only, a task does both sides."""
    found = []
    for place, parent_id in enumerate(operation.parents):
        parent = builder.program.operations[parent_id]
        count = partitions(builder, parent)
        for each in [partition] if count == partitions(builder, operation) else range(count):
            buffer = builder.build(parent, each, task)
            found.append(_output(builder, operation, task))
            write(builder, operation, place, each, task, buffer, found[-1])
    return f"flat([{', '.join(f'{each}[{partition}]' for each in found)}])"


def _place(builder: Builder, operation: Operation, key: str) -> str:
    """The reduce partition of a key."""
    users = builder.users(operation, "partitionFunc", 1)
    hashed = f"keyhash({key})" if users is None else users.text(key)
    return f"mod({hashed}, {partitions(builder, operation)})"


def _finish(builder: Builder, operation: Operation, partition: int, task: Task, records: str, name: str) -> str:
    out = builder.buffer(operation, partition, task)
    task.steps.append(f"{name}({records}, {out})")
    return out


# --- records that are merged by key ---


@dataclass(frozen=True)
class Merging:
    """How the records of a key are merged: each is text of MSVL, given the text of its arguments."""

    key: Callable[[str], str]
    value: Callable[[str, int], str]
    """Of a record of the parent at this place."""
    create: Callable[[str], str]
    merge: Callable[[str, str], str]
    combine: Callable[[str, str], str]
    emit: str = "append(out, pairs[i])"
    """What becomes of `out`, given the merged pair `pairs[i]`."""


def _first(x: str) -> str:
    return f"{x}[0]"


def _second(x: str, place: int) -> str:
    return f"{x}[1]"


def merged_by_key(spec: Callable[[Builder, Operation], Merging]) -> Translation:
    """An operation that merges the records of a key: on the map side first, then on the reduce side."""

    def build(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
        how = spec(builder, operation)
        records = blocks(builder, operation, partition, task, _merge_writer(how))
        loop = (
            "merged := let x = records[i] in contains(merged, x[0])"
            f" ? put(merged, x[0], {how.combine('merged[x[0]]', 'x[1]')}) : put(merged, x[0], x[1])"
        )
        name = builder.function(
            operation,
            "",
            lambda name: templates.function(
                name,
                ["list records", "list out[]"],
                [templates.COUNTER, ("map", "merged", "{}"), ("list", "pairs", "[]")],
                templates.through("records", loop),
                "pairs := items(merged) and i := 0",
                templates.through("pairs", f"out := {how.emit}"),
            ),
        )
        return _finish(builder, operation, partition, task, records, name)

    return build


def _merge_writer(how: Merging) -> Write:
    def write(
        builder: Builder, operation: Operation, place: int, partition: int, task: Task, buffer: str, out: str
    ) -> None:
        key, value = how.key("x"), how.value("x", place)
        update = (
            f"merged := let x = records[i] in contains(merged, {key})"
            f" ? put(merged, {key}, {how.merge(f'merged[{key}]', value)}) : put(merged, {key}, {how.create(value)})"
        )
        target = f"out[{_place(builder, operation, 'pairs[i][0]')}]"
        side = f"Shuffle{place + 1 if len(operation.parents) > 1 else ''}"
        name = builder.function(
            operation,
            side,
            lambda name: templates.function(
                name,
                ["list records", "list out[]"],
                [templates.COUNTER, ("map", "merged", "{}"), ("list", "pairs", "[]")],
                templates.through("records", update),
                "pairs := items(merged) and i := 0",
                templates.through("pairs", f"{target} := append({target}, pairs[i])"),
            ),
        )
        task.steps.append(f"{name}({buffer}, {out})")

    return write


def _reduce_by_key(builder: Builder, operation: Operation) -> Merging:
    users = builder.needed(operation, "func", 2)
    return Merging(_first, _second, lambda v: v, users.text, users.text)


def _fold_by_key(builder: Builder, operation: Operation) -> Merging:
    from firesteel.model.translate.operations import literal

    users = builder.needed(operation, "func", 2)
    zero = literal(argument(operation, "zeroValue"))
    return Merging(_first, _second, lambda v: users.text(zero, v), users.text, users.text)


def _aggregate_by_key(builder: Builder, operation: Operation) -> Merging:
    from firesteel.model.translate.operations import literal

    add, combine = builder.needed(operation, "seqFunc", 2), builder.needed(operation, "combFunc", 2)
    zero = literal(argument(operation, "zeroValue"))
    return Merging(_first, _second, lambda v: add.text(zero, v), add.text, combine.text)


def _combine_by_key(builder: Builder, operation: Operation) -> Merging:
    create = builder.needed(operation, "createCombiner", 1)
    merge, combine = builder.needed(operation, "mergeValue", 2), builder.needed(operation, "mergeCombiners", 2)
    return Merging(_first, _second, create.text, merge.text, combine.text)


def _grouping(
    key: Callable[[str], str], value: Callable[[str, int], str], emit: str = "append(out, pairs[i])"
) -> Merging:
    return Merging(
        key, value, lambda v: f"[{v}]", lambda a, v: f"append({a}, {v})", lambda a, b: f"extend({a}, {b})", emit
    )


def _group_by(builder: Builder, operation: Operation) -> Merging:
    users = builder.needed(operation, "f", 1)
    return _grouping(users.text, lambda x, place: x)


def _sides(key: Callable[[str], str], value: Callable[[str], str], emit: str, count: int = 2) -> Merging:
    """Records of several parents, grouped by key: `side1` and so on are the values of a parent, `k` the key."""
    lets = "".join(f"let side{n} = [t[1] for t in pairs[i][1] if t[0] = {n}] in " for n in range(1, count + 1))
    return _grouping(
        key, lambda x, place: f"({place + 1}, {value(x)})", f"let k = pairs[i][0] in {lets}extend(out, {emit})"
    )


def _or_null(side: str) -> str:
    return f"(size({side}) = 0 ? [null] : {side})"


def _pairs(left: str, right: str) -> str:
    return f"[(k, (v, w)) for v in {left} for w in {right}]"


def _cogroup(builder: Builder, operation: Operation) -> Merging:
    count = len(operation.parents)
    lists = ", ".join(f"side{n}" for n in range(1, count + 1))
    return _sides(_first, lambda x: f"{x}[1]", f"[(k, ({lists}))]", count)


def _joining(emit: str) -> Callable[[Builder, Operation], Merging]:
    return lambda builder, operation: _sides(_first, lambda x: f"{x}[1]", emit)


def _setwise(emit: str) -> Callable[[Builder, Operation], Merging]:
    return lambda builder, operation: _sides(lambda x: x, lambda x: "null", emit)


# --- records that are moved as they are ---


def _moved(place: Callable[[Builder, Operation], str]) -> Translation:
    """Each record goes to a place; `records[i]` is the record, `p` the partition that it comes from."""

    def write(
        builder: Builder, operation: Operation, side: int, partition: int, task: Task, buffer: str, out: str
    ) -> None:
        target = f"out[{place(builder, operation)}]"
        name = builder.function(
            operation,
            "Shuffle",
            lambda name: templates.function(
                name,
                ["int p", "list records", "list out[]"],
                [templates.COUNTER],
                templates.through("records", f"{target} := append({target}, records[i])"),
            ),
        )
        task.steps.append(f"{name}({partition}, {buffer}, {out})")

    def build(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
        records = blocks(builder, operation, partition, task, write)
        name = builder.function(operation, "", lambda name: templates.each(name, "out := append(out, records[i])"))
        return _finish(builder, operation, partition, task, records, name)

    return build


def _round_robin(builder: Builder, operation: Operation) -> str:
    """Packs of ten records, one partition after the other. Spark starts at a place of its own."""
    return f"(i / 10 + p) % {partitions(builder, operation)}"


# --- sorting ---


def _sort_key(builder: Builder, operation: Operation, x: str) -> tuple[str, str]:
    """The key of a record, and what keys are compared by."""
    if operation.name == "sortBy":
        key = builder.needed(operation, "keyfunc", 1).text(x)
        return key, key
    users = builder.users(operation, "keyfunc", 1)
    return f"{x}[0]", f"{x}[0]" if users is None else users.text(f"{x}[0]")


def _sort(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    ascending = bool(argument(operation, "ascending", True))
    count = partitions(builder, operation)

    def bounds(name: str) -> str:
        key, compared = _sort_key(builder, operation, "records[i]")
        update = f"keys := append(keys, ({compared}, {key}))"
        own = [templates.COUNTER, ("list", "keys", "[]"), ("list", "records", "flat(buffers)")]
        return templates.function(
            name,
            ["list buffers", "list out[]"],
            own,
            templates.through("records", update),
            f"out := bounds(keys, {count})",
        )

    def write(
        builder: Builder, operation: Operation, side: int, before: int, task: Task, buffer: str, out: str
    ) -> None:
        cuts = "[]"
        if builder.wide(operation):
            cuts = builder.summary(operation, task, buffer, "Bounds", bounds)
            task.steps.append(f"await({cuts}_done = 1)")
        _, compared = _sort_key(builder, operation, "records[i]")
        target = f"out[rangeplace({compared}, cuts, {str(ascending).lower()}, {count})]"
        name = builder.function(
            operation,
            "Shuffle",
            lambda name: templates.function(
                name,
                ["list cuts", "list records", "list out[]"],
                [templates.COUNTER],
                templates.through("records", f"{target} := append({target}, records[i])"),
            ),
        )
        task.steps.append(f"{name}({cuts}, {buffer}, {out})")

    records = blocks(builder, operation, partition, task, write)
    _, compared = _sort_key(builder, operation, "x")
    made = f"sortedby([({compared}, x) for x in records], {str(not ascending).lower()})"
    name = builder.function(operation, "", lambda name: templates.emitting(name, made))
    return _finish(builder, operation, partition, task, records, name)


WIDE: dict[str, Translation] = {
    "reduceByKey": merged_by_key(_reduce_by_key),
    "foldByKey": merged_by_key(_fold_by_key),
    "aggregateByKey": merged_by_key(_aggregate_by_key),
    "combineByKey": merged_by_key(_combine_by_key),
    "groupByKey": merged_by_key(lambda builder, operation: _grouping(_first, _second)),
    "groupBy": merged_by_key(_group_by),
    "distinct": merged_by_key(
        lambda builder, operation: Merging(
            lambda x: x,
            lambda x, place: "null",
            lambda v: v,
            lambda a, v: a,
            lambda a, b: a,
            "append(out, pairs[i][0])",
        )
    ),
    "join": merged_by_key(_joining(_pairs("side1", "side2"))),
    "leftOuterJoin": merged_by_key(_joining(_pairs("side1", _or_null("side2")))),
    "rightOuterJoin": merged_by_key(_joining(_pairs(_or_null("side1"), "side2"))),
    "fullOuterJoin": merged_by_key(_joining(_pairs(_or_null("side1"), _or_null("side2")))),
    "cogroup": merged_by_key(_cogroup),
    "groupWith": merged_by_key(_cogroup),
    "subtractByKey": merged_by_key(_joining("(size(side2) = 0 ? [(k, v) for v in side1] : [])")),
    "subtract": merged_by_key(_setwise("(size(side2) = 0 ? [k for v in side1] : [])")),
    "intersection": merged_by_key(_setwise("(size(side1) = 0 OR size(side2) = 0 ? [] : [k])")),
    "partitionBy": _moved(lambda builder, operation: _place(builder, operation, "records[i][0]")),
    "repartition": _moved(_round_robin),
    "sortBy": _sort,
    "sortByKey": _sort,
}
