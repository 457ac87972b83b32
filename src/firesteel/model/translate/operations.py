"""What each operation on RDDs does to one partition: its MSVL function, and the call in a task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from firesteel.model.msvl.data import expression_of
from firesteel.model.msvl.printing import expression_text
from firesteel.model.translate import templates
from firesteel.model.translate.building import Builder, Task, argument, partitions
from firesteel.model.translate.functions import Made
from firesteel.model.translate.shuffles import WIDE
from firesteel.values.programs import Operation

Translation: TypeAlias = Callable[[Builder, Operation, int, Task], str]
"""Computes a partition of an operation in a task: it gives the buffer."""


def translation(operation: Operation) -> Translation:
    """How an operation is translated."""
    return NARROW.get(operation.name) or WIDE.get(operation.name) or _unknown


def _by_record(update: Callable[[Made, str], str]) -> Translation:
    """An operation that handles one record after the other: what becomes of `out`, given the user's function."""

    def build(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
        before = builder.build(builder.parent(operation), partition, task)
        users = builder.needed(operation, "f", 1)
        name = builder.function(operation, "", lambda name: templates.each(name, update(users, "records[i]")))
        out = builder.buffer(operation, partition, task)
        task.steps.append(f"{name}({before}, {out})")
        return out

    return build


def _plainly(update: str) -> Translation:
    """An operation that needs no function of the user's."""

    def build(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
        before = builder.build(builder.parent(operation), partition, task)
        name = builder.function(operation, "", lambda name: templates.each(name, update))
        out = builder.buffer(operation, partition, task)
        task.steps.append(f"{name}({before}, {out})")
        return out

    return build


def _filter(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    before = builder.build(builder.parent(operation), partition, task)
    test = builder.needed(operation, "f", 1).test("records[i]")

    def make(name: str) -> str:
        loop = templates.through_some("records", test, "out := append(out, records[i])")
        return templates.function(name, ["list records", "list out[]"], [templates.COUNTER], loop)

    name = builder.function(operation, "", make)
    out = builder.buffer(operation, partition, task)
    task.steps.append(f"{name}({before}, {out})")
    return out


def _partitions(with_index: bool) -> Translation:
    def build(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
        before = builder.build(builder.parent(operation), partition, task)
        users = builder.needed(operation, "f", 2 if with_index else 1, iterates=True)
        index = ["p"] if with_index else []
        parameters = ["list records", "list out[]"] if not with_index else ["int p", "list records", "list out[]"]
        name = builder.function(
            operation,
            "",
            lambda name: templates.emitting(name, f"tolist({users.text(*index, 'records')})", parameters),
        )
        out = builder.buffer(operation, partition, task)
        task.steps.append(f"{name}({f'{partition}, ' if with_index else ''}{before}, {out})")
        return out

    return build


def _glom(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    before = builder.build(builder.parent(operation), partition, task)
    name = builder.function(operation, "", lambda name: templates.each(name, "out[0] := append(out[0], records[i])"))
    out = builder.buffer(operation, partition, task, "[[]]")
    task.steps.append(f"{name}({before}, {out})")
    return out


def _source(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    """Records that come from outside: an input of the model, partition by partition."""
    label = builder.label(operation)
    builder.records(operation)
    name = builder.function(operation, "", lambda name: templates.each(name, "out := append(out, records[i])"))
    out = builder.buffer(operation, partition, task)
    task.steps.append(f"{name}({label}[{partition}], {out})")
    return out


def copied(builder: Builder, operation: Operation, partition: int, task: Task, parts: list[str]) -> str:
    """The records of several buffers, one buffer after the other."""
    name = builder.function(operation, "", lambda name: templates.each(name, "out := append(out, records[i])"))
    out = builder.buffer(operation, partition, task)
    records = parts[0] if len(parts) == 1 else f"flat([{', '.join(parts)}])"
    task.steps.append(f"{name}({records}, {out})")
    return out


def _union(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    parents = [builder.program.operations[each] for each in operation.parents]
    counts = [partitions(builder, each) for each in parents]
    if operation.partitions is not None and operation.partitions != sum(counts):
        # Parents that are partitioned alike: each partition of the union is made of one of each parent.
        return copied(builder, operation, partition, task, [builder.build(each, partition, task) for each in parents])
    place = partition
    for parent, count in zip(parents, counts, strict=True):
        if place < count:
            return copied(builder, operation, partition, task, [builder.build(parent, place, task)])
        place -= count
    raise AssertionError(partition)


def _coalesce(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    parent = builder.parent(operation)
    if builder.wide(operation):
        return WIDE["repartition"](builder, operation, partition, task)
    before, after = partitions(builder, parent), partitions(builder, operation)
    first, last = partition * before // after, (partition + 1) * before // after
    return copied(
        builder, operation, partition, task, [builder.build(parent, each, task) for each in range(first, last)]
    )


def _cartesian(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    left, right = builder.parent(operation), builder.parent(operation, 1)
    one, two = divmod(partition, partitions(builder, right))
    first, second = builder.build(left, one, task), builder.build(right, two, task)

    def make(name: str) -> str:
        # Place i stands for a pair: for each record of the left side, every record of the right side.
        loop = "while i < size(left) * size(right) {\n      "
        loop += "out := append(out, (left[i / size(right)], right[i % size(right)])) and i := i + 1}"
        return templates.function(name, ["list left", "list right", "list out[]"], [templates.COUNTER], loop)

    name = builder.function(operation, "", make)
    out = builder.buffer(operation, partition, task)
    task.steps.append(f"{name}({first}, {second}, {out})")
    return out


def _zip(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    first = builder.build(builder.parent(operation), partition, task)
    second = builder.build(builder.parent(operation, 1), partition, task)

    def make(name: str) -> str:
        loop = templates.through("left", "out := append(out, (left[i], right[i]))")
        return templates.function(name, ["list left", "list right", "list out[]"], [templates.COUNTER], loop)

    name = builder.function(operation, "", make)
    out = builder.buffer(operation, partition, task)
    task.steps.append(f"{name}({first}, {second}, {out})")
    return out


def _zip_with_index(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    before = builder.build(builder.parent(operation), partition, task)

    def make(name: str) -> str:
        update = "out := append(out, (records[i], start + i))"
        return templates.function(
            name, ["int start", "list records", "list out[]"], [templates.COUNTER], templates.through("records", update)
        )

    name = builder.function(operation, "", make)
    out = builder.buffer(operation, partition, task)
    starts = builder.summary(operation, task, before, "Starts", _starts)
    task.steps.append(f"await({starts}_done = 1)")
    task.steps.append(f"{name}({starts}[{partition}], {before}, {out})")
    return out


def _starts(name: str) -> str:
    """The driver counts the records of every partition."""
    update = "out := append(out, out[i] + size(buffers[i]))"
    return templates.function(
        name,
        ["list buffers", "list out[]"],
        [templates.COUNTER],
        "out := [0]",
        templates.through("buffers", update),
    )


def _sample(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    before = builder.build(builder.parent(operation), partition, task)
    chosen = {key: argument(operation, key) for key in ("withReplacement", "fraction", "seed")}
    users = builder.outside(operation, f"it draws records: {chosen}")
    return _external(builder, operation, partition, task, users, [before])


def _external(
    builder: Builder, operation: Operation, partition: int, task: Task, users: Made, before: list[str]
) -> str:
    parameters = [*(f"list records{place}" for place in range(len(before))), "list out[]"]
    records = [f"records{place}" for place in range(len(before))]
    name = builder.function(
        operation,
        "",
        lambda name: templates.emitting(name, f"tolist({users.text('p', *records)})", ["int p", *parameters]),
    )
    out = builder.buffer(operation, partition, task)
    task.steps.append(f"{name}({', '.join([str(partition), *before, out])})")
    return out


def _unknown(builder: Builder, operation: Operation, partition: int, task: Task) -> str:
    """An operation that has no translation: a function from outside stands for it, and `run` asks for it."""
    place = f" ({operation.call_site})" if operation.call_site is not None else ""
    users = builder.outside(operation, f"the operation {operation.name}{place} has no translation")
    before = []
    for place_, parent in enumerate(operation.parents):
        count = partitions(builder, builder.program.operations[parent])
        if partition < count:
            before.append(builder.build(builder.parent(operation, place_), partition, task))
    return _external(builder, operation, partition, task, users, before)


def literal(value: Any) -> str:
    """A value of Python as text."""
    return expression_text(expression_of(value))


NARROW: dict[str, Translation] = {
    **dict.fromkeys(("parallelize", "textFile", "range", "emptyRDD", "wholeTextFiles", "createDataFrame"), _source),
    "map": _by_record(lambda f, x: f"out := append(out, {f.text(x)})"),
    "flatMap": _by_record(lambda f, x: f"out := extend(out, tolist({f.text(x)}))"),
    "mapValues": _by_record(lambda f, x: f"out := append(out, ({x}[0], {f.text(f'{x}[1]')}))"),
    "flatMapValues": _by_record(lambda f, x: f"out := extend(out, [({x}[0], v) for v in tolist({f.text(f'{x}[1]')})])"),
    "keyBy": _by_record(lambda f, x: f"out := append(out, ({f.text(x)}, {x}))"),
    "keys": _plainly("out := append(out, records[i][0])"),
    "values": _plainly("out := append(out, records[i][1])"),
    "filter": _filter,
    "mapPartitions": _partitions(with_index=False),
    "mapPartitionsWithIndex": _partitions(with_index=True),
    "glom": _glom,
    "union": _union,
    "coalesce": _coalesce,
    "cartesian": _cartesian,
    "zip": _zip,
    "zipWithIndex": _zip_with_index,
    "sample": _sample,
    **dict.fromkeys(("cache", "persist", "unpersist", "checkpoint"), _plainly("out := append(out, records[i])")),
}
