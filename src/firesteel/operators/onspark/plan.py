"""What the plan of an operator says before it is run: which rows replace others, and whether there is a watermark."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from firesteel.operators.onspark.operator import SparkKind, SparkOperator
from firesteel.spark.engines.source import MemorySource
from firesteel.spark.engines.subject import outputs_of
from firesteel.spark.plans.reader import analysed
from firesteel.spark.plans.tree import Expression, Node
from firesteel.values.records import Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_THROUGH = ("Project", "Filter", "SubqueryAlias", "EventTimeWatermark")
"""Operators behind an aggregate that leave its rows apart, and in their groups."""


class Replaces(Enum):
    """Which earlier rows a row replaces in update mode."""

    GROUP = "those of its group, in an aggregate"
    KEY = "those of its key, in code with state"
    NONE = "none, as there is no aggregate: update mode is append mode then"
    UNKNOWN = "those of a group that the row does not name"


@dataclass(frozen=True)
class Output:
    """What the plan says of one output."""

    replaces: Replaces
    groups: tuple[str, ...] = ()
    """The columns that tell the groups of an aggregate apart."""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What the plans of all outputs say."""

    outputs: Mapping[str, Output]
    watermark: bool
    """Is there a watermark anywhere?"""

    def tells_rows_apart(self, key: tuple[str, ...]) -> bool:
        """Does every row say which earlier ones it replaces in update mode?"""
        return not any(
            each.replaces is Replaces.UNKNOWN or (each.replaces is Replaces.KEY and not set(key) <= set(each.columns))
            for each in self.outputs.values()
        )

    def of(self, name: str | None) -> Output | None:
        """The output of a row; a row has no name where there is one output."""
        if name is None:
            return next(iter(self.outputs.values())) if len(self.outputs) == 1 else None
        return self.outputs.get(name)


def plan_of(spark: SparkSession, operator: SparkOperator) -> Plan | None:
    """The plan of an operator on streams; None where there is none to read. Its runs will say why."""
    if operator.engine != "structured" or operator.kind is SparkKind.SINK:
        return None
    with suppress(Exception):
        inputs = {port.name: MemorySource(spark, port.schema).df for port in operator.ports}
        frames = outputs_of(spark, operator.function, inputs, Record())
        trees = {name: analysed(frame) for name, frame in frames.items()}
        marked = any(node.kind == "EventTimeWatermark" for tree in trees.values() for node in tree.walk())
        return Plan({name: output_of(tree) for name, tree in trees.items()}, marked)
    return None


def output_of(tree: Node) -> Output:
    """Which rows those of a plan replace, and the columns that say so."""
    columns = tuple(each.name or "" for each in tree.output)
    kinds = {node.kind for node in tree.walk() if node.is_streaming}
    if "Aggregate" not in kinds:
        by_key = any("WithState" in kind for kind in kinds)
        return Output(Replaces.KEY if by_key else Replaces.NONE, columns=columns)
    between: list[Node] = []
    node = tree
    while node.kind in _THROUGH and len(node.children) == 1:
        between.append(node)
        node = node.children[0]
    if node.kind != "Aggregate":
        return Output(Replaces.UNKNOWN, columns=columns)
    found: list[str] = []
    for group in node.expressions_of("groupingExpressions"):
        ids = _ids_of(group, node)
        for each in reversed(between):
            ids |= _passed(ids, each)
        names = [each.name for each in tree.output if each.id in ids and each.name]
        if not names:
            return Output(Replaces.UNKNOWN, columns=columns)
        found.append(names[0])
    return Output(Replaces.GROUP, tuple(found), columns)


def _ids_of(group: Expression, aggregate: Node) -> set[int | None]:
    """The columns of an aggregate that hold a group."""
    made = aggregate.expressions_of("aggregateExpressions")
    same = {each.id for each in made if each.kind == "Alias" and each.children[0] == group}
    return same | {each.id for each in made if group.id is not None and each.id == group.id}


def _passed(ids: set[int | None], node: Node) -> set[int | None]:
    """The columns of a projection that hold one of these, by another name; or the start or the end of a window."""
    if node.kind != "Project":
        return set()
    return {each.id for each in node.expressions_of("projectList") if each.kind == "Alias" and _source(each) in ids}


def _source(alias: Expression) -> Any:
    inner = alias.children[0]
    if inner.kind == "GetStructField" and inner.arguments.get("name") in ("start", "end"):
        inner = inner.children[0]
    return inner.id if inner.kind == "AttributeReference" else "made of something"
