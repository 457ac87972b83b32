"""The operations of DataFrames, found again in the physical plans that ran.

An operation is what its analysed plan adds to those of its parents. Its columns have ids, which stay the same in the
physical plan. An operation that makes new columns stands where the first of them appears. One that does not, such as a
filter, stands at the lowest operator of a fitting class above its parents; where the optimiser left none, at its
parents' place. Spark names the RDDs of an operator by its number, so the stages are known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from firesteel.spark.capture.account import Account
from firesteel.spark.capture.executions import Physical
from firesteel.spark.plans.tree import Node
from firesteel.values.programs import Api, Edge, Operation

_SHUFFLES = frozenset({"ShuffleExchangeExec"})
_FITTING: Mapping[str, frozenset[str]] = {
    "Filter": frozenset({"FilterExec"}),
    "Sort": frozenset({"SortExec", "TakeOrderedAndProjectExec"}),
    "GlobalLimit": frozenset({"GlobalLimitExec", "CollectLimitExec", "TakeOrderedAndProjectExec", "CollectTailExec"}),
    "Repartition": frozenset({"ShuffleExchangeExec", "CoalesceExec"}),
    "RepartitionByExpression": frozenset({"ShuffleExchangeExec"}),
    "Deduplicate": frozenset({"HashAggregateExec", "SortAggregateExec", "StreamingDeduplicateExec"}),
    "Distinct": frozenset({"HashAggregateExec", "SortAggregateExec"}),
    "Aggregate": frozenset({"HashAggregateExec", "SortAggregateExec", "ObjectHashAggregateExec"}),
    "Sample": frozenset({"SampleExec"}),
    "EventTimeWatermark": frozenset({"EventTimeWatermarkExec"}),
    "Join": frozenset(
        {
            "BroadcastHashJoinExec",
            "SortMergeJoinExec",
            "ShuffledHashJoinExec",
            "BroadcastNestedLoopJoinExec",
            "CartesianProductExec",
            "StreamingSymmetricHashJoinExec",
        }
    ),
}
_FITTING = {
    **_FITTING,
    "Intersect": _FITTING["Join"] | _FITTING["Distinct"],
    "Except": _FITTING["Join"] | _FITTING["Distinct"],
    "LocalLimit": _FITTING["GlobalLimit"] | {"LocalLimitExec"},
}
_REPLACED = frozenset({"Deduplicate", "Distinct", "Intersect", "Except"})
"""Spark makes other operators of these. They may keep their columns' ids, and mean no new ones."""
_HALVES = _REPLACED | {"Aggregate"}
"""Spark makes aggregations of these, with one half before a shuffle and one after it."""
_MERGED = frozenset({"Project", "Filter", "SubqueryAlias", "View", "GlobalLimit", "LocalLimit"}) | {
    "UnresolvedHint",
    "ResolvedHint",
}
"""Spark computes these together with others, or sooner. Where one of the other kinds is missing, it was not needed."""
_BETWEEN = _SHUFFLES | {"WholeStageCodegenExec", "InputAdapter", "AQEShuffleReadExec", "ShuffleQueryStageExec"}
"""What may stand between the two halves of an aggregation."""


class Placed:
    """Where the operations of DataFrames stand in one physical plan that ran."""

    def __init__(self, root: Physical) -> None:
        self.root = root
        self._parent: dict[Physical, Physical] = {}
        self.nodes = list(root.walk())
        self._height = {node: height for height, node in reversed(list(enumerate(self.nodes)))}
        for node in self.nodes:
            for child in (*node.children, *node.subqueries):
                self._parent.setdefault(child, node)
        self._first: dict[int, Physical] = {}
        for node in self.nodes:
            for id_ in node.output:
                self._first.setdefault(id_, node)
        self._used: set[Physical] = set()
        self._gone: set[int] = set()
        """The operations that the optimiser found not to be needed."""
        self.at: dict[int, Physical] = {}
        """Where operations stand; those that are gone at their parents' place."""
        self._also: dict[int, list[Physical]] = {}
        self._leaves = [node for node in self.nodes if not node.children]

    def above(self, node: Physical) -> Iterable[Physical]:
        """The operators from this one up."""
        at: Physical | None = node
        while at is not None:
            yield at
            at = self._parent.get(at)

    def place(self, operation: Operation, added: list[Node], new: list[int]) -> None:
        """Find an operation whose parents were looked for before."""
        parents = [self.at[one] for one in operation.parents if one in self.at]
        kinds = {node.kind for node in added}
        found: Physical | None = None
        if not kinds & _REPLACED:
            found = min(
                (self._first[id_] for id_ in new if id_ in self._first), key=self._height.__getitem__, default=None
            )
        if found is None and parents:
            wanted = frozenset[str]().union(*(_FITTING.get(kind, {f"{kind}Exec"}) for kind in kinds))
            start = self._meeting(parents)
            fits = [node for node in self.above(start) if node.kind in wanted and node not in self._used]
            found = (self._last_half(fits) if kinds & _HALVES else fits[0]) if fits else start
            if fits:
                self._used.add(found)
            elif not kinds <= _MERGED:
                self._gone.add(operation.id)
        elif found is None and not operation.parents:
            found = self._leaf()
        if found is not None:
            self.at[operation.id] = found
            if not found.children:  # a source may be read in several places
                self._also[operation.id] = [
                    leaf for leaf in self._leaves if leaf is not found and leaf.output & set(new)
                ]

    def _last_half(self, fits: list[Physical]) -> Physical:
        """The half after the shuffle, if there is one before it."""
        shuffled = False
        for node in self.above(fits[0]):
            shuffled = shuffled or node.kind in _SHUFFLES
            if node in fits[1:]:
                return node if shuffled else fits[0]
            if node is not fits[0] and node.kind not in _BETWEEN:
                break
        return fits[0]

    def _leaf(self) -> Physical | None:
        """A source all of whose columns were pruned: one that no other operation stands at."""
        taken = set(self.at.values())
        free = [node for node in self.nodes if not node.children and node not in taken]
        return free[0] if len(free) == 1 else None

    def _meeting(self, nodes: list[Physical]) -> Physical:
        """The lowest operator that is above all of these."""
        common = [set(self.above(node)) for node in nodes]
        return next(node for node in self.above(nodes[0]) if all(node in each for each in common))

    def shuffles_between(self, source: int, target: int) -> bool:
        """Are records moved between partitions on the way from one operation to the other?"""
        if source not in self.at or target not in self.at:
            return False
        low, high = self.at[source], self.at[target]
        if low is high:
            return False
        way = []
        for node in self.above(low):
            if node is high:
                break
            way.append(node)
        else:
            return False
        # The exchange of a repartition stands at its place, and moves the records of its parents.
        return any(node.kind in _SHUFFLES for node in [*way[1:], high])

    def stages(self, running: Mapping[int, list[int]]) -> dict[int, tuple[int, ...]]:
        """For each operation the stages that computed it, given those of each operator that has RDDs of its own."""
        return {
            one: tuple({id_ for place in (node, *self._also.get(one, ())) for id_ in self._stages_at(place, running)})
            for one, node in self.at.items()
            if one not in self._gone
        }

    def _stages_at(self, node: Physical, running: Mapping[int, list[int]]) -> list[int]:
        """Code that Spark generates makes one RDD of several operators: the one on top has the number."""
        if node.kind in _SHUFFLES:
            upper = self._parent.get(node)
            found = self._stages_at(upper, running) if upper is not None else []
            return found or running.get(node.id, [])[-1:]
        for one in self.above(node):
            if one.kind in _SHUFFLES or one.kind == "BroadcastExchangeExec":
                # What a shuffle writes and what reads it have the same number: the earlier stages write.
                return running.get(one.id, [])[:1]
            if one.id in running:
                return running[one.id]
        return []


def stages_by_plan(account: Account) -> dict[int, list[int]]:
    """For each operator of a physical plan the stages that ran and have RDDs of it."""
    found: dict[int, set[int]] = defaultdict(set)
    for stage in account.stages.values():
        for rdd in stage.rdds if stage.attempts else ():
            if rdd.id in account.planned:
                found[account.planned[rdd.id]].add(stage.id)
    return {plan: sorted(stages) for plan, stages in found.items()}


def added_by(plan: Node, parents: list[Node]) -> tuple[list[Node], list[int]]:
    """The nodes that an operation added to the plans of its parents, and the ids of the columns that it made."""
    below = {id(node) for node in parents}
    added, waiting = list[Node](), [plan]
    known = {id_ for parent in parents for id_ in parent.ids}
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in below or id(node) in seen:
            continue
        seen.add(id(node))
        added.append(node)
        waiting.extend(reversed(node.children))
    new = [id_ for id_ in plan.ids if id_ is not None and id_ not in known]
    return added, new


def parents_in(plan: Node, known: Mapping[int, int]) -> tuple[int, ...]:
    """The operations whose plans stand in a plan, as those of the views that a query reads do."""
    found: list[int] = []
    waiting, seen = [*plan.children, *plan.subqueries], set[int]()
    while waiting:
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if id(node) in known:
            if known[id(node)] not in found:
                found.append(known[id(node)])
        else:
            waiting.extend((*node.children, *node.subqueries))
    return tuple(found)


def with_stages(
    operations: list[Operation], edges: list[Edge], places: list[tuple[Placed, set[int]]], account: Account
) -> tuple[list[Operation], list[Edge]]:
    """The operations and edges, with what the physical plans say of those of DataFrames."""
    running = stages_by_plan(account)
    stages: dict[int, set[int]] = defaultdict(set)
    wide: dict[tuple[int, int], bool] = {}
    for placed, concerned in places:
        for operation, found in placed.stages(running).items():
            if operation in concerned:
                stages[operation] |= set(found)
        for edge in edges:
            if edge.target in concerned and operations[edge.target].api is Api.FRAME:
                both = (edge.source, edge.target)
                wide[both] = wide.get(both, False) or placed.shuffles_between(*both)
    done = [_told(one, tuple(sorted(stages[one.id])), account) if one.api is Api.FRAME else one for one in operations]
    return done, [replace(edge, wide=wide.get((edge.source, edge.target), edge.wide)) for edge in edges]


def _told(operation: Operation, stages: tuple[int, ...], account: Account) -> Operation:
    """An operation with its stages, and what Spark says of the first of them."""
    rdds = [rdd for id_ in stages for rdd in account.stages[id_].rdds if rdd.id in account.planned]
    partitions, level = (rdds[0].partitions, rdds[0].level) if rdds else (None, None)
    return replace(operation, stages=stages, partitions=partitions, level=level)
