"""What a plan does with event time: gathered node by node, from the sources upwards, while the plan is rebuilt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from firesteel.spark.bulk.align import Below, TimeFacts, Watermark
from firesteel.spark.bulk.places import is_exact
from firesteel.spark.failures import CannotCarry
from firesteel.spark.plans.tree import Expression, Node
from firesteel.spark.plans.windows import grid_of


class EventTime:
    """Gathers the facts about one plan.

    `inputs` has the name of the input for every hidden column. `optimised` gives the plan after optimisation; it is
    only asked for where there is a watermark.
    """

    def __init__(self, inputs: Mapping[str, str], optimised: Callable[[], Node], *, reads_clock: bool) -> None:
        self._inputs, self._optimised = inputs, optimised
        self._watermarks: list[Watermark] = []
        self._sources = 0
        self._cells: list[int | None] = []
        self._grids: dict[int | None, int] = {}
        # The clock stands still during a micro-batch and shows another time in the next.
        self._reacts = self._reads_clock = reads_clock
        self._by_batch = False
        self._calls_functions = False

    @property
    def facts(self) -> TimeFacts:
        return TimeFacts(
            tuple(self._watermarks),
            tuple(self._cells),
            # Of two operators with state, one waits for the results of the other.
            reacts=self._reacts or len(self._cells) > 1 or self._is_late_unseen,
            by_batch=self._by_batch or self._reacts or self._is_late_unseen,
            to_the_end=bool(self._cells) and (self._calls_functions or len(self._cells) > 1),
        )

    @property
    def _is_late_unseen(self) -> bool:
        """May a record be late that has no event time of its own to tell it by? The watermark is another input's.

        Then Spark has to run as it does alone, and to count what it drops. Every watermark is right above a source, so
        that a source without one is a source too many.
        """
        return bool(self._cells) and self._sources > len(self._watermarks)

    def source(self) -> None:
        """Remember a place where an input is read."""
        self._sources += 1

    def sees_batches(self) -> None:
        """Remember a function that is called with what one micro-batch brings."""
        self._by_batch = self._calls_functions = True

    def keeps_state(self, grid: int | None = None, *, reacts: bool = True) -> None:
        """Remember an operator with state, which compares with the watermark if there is one."""
        self._reacts |= reacts
        if self._watermarks:
            self._cells.append(grid)

    def aggregates(self, node: Node, mode: str) -> None:
        """Remember an aggregation."""
        if mode != "complete":  # there no record is late and no group is dropped
            self.keeps_state(self._grid(node), reacts=False)
        self._by_batch |= not all(map(is_exact, node.expressions_of("aggregateExpressions")))

    def projects(self, attribute: Expression, *expressions: Expression) -> None:
        """Remember an attribute that holds windows, in whichever of several expressions it may be computed."""
        grids = [grid for grid in map(grid_of, expressions) if grid is not None]
        if len(grids) == len(expressions):
            self._grids[attribute.id] = math.gcd(*grids)

    def _grid(self, aggregation: Node) -> int | None:
        """The grid of the windows that an aggregation groups by; None where they lie on no grid."""
        timed = [group for group in aggregation.expressions_of("groupingExpressions") if group.is_event_time]
        if len(timed) != 1 or self._cells:
            return None
        return self._grids.get(timed[0].id)

    def watermark(self, node: Node) -> None:
        """Remember a watermark, and what it sees of the input.

        Spark moves filters below a watermark, which then does not see the records that they leave out. So the plan
        after optimisation decides. Where it keeps all records, or leaves out those with nulls, the input alone tells
        the watermark. Else Spark has to say what is left of the input.
        """
        (wanted,) = node.expressions_of("eventTime")
        delay = next(attribute.delay for attribute in node.output if attribute.id == wanted.id)
        source = _source_below(node.children[0])
        names = {attribute.id: str(attribute.name) for attribute in source.output}
        name = next(self._inputs[column] for column in names.values() if column in self._inputs)
        column = names.get(_renamed_from(node.children[0], wanted.id))
        places = [
            found
            for found in self._optimised().walk()
            if found.kind == "EventTimeWatermark" and found.argument("nodeId") == node.argument("nodeId")
        ]
        filters = {_null_filters(found.children[0]) for found in places}
        match column, list(filters):
            case str(), [frozenset() as present]:
                self._watermarks.append(
                    Watermark(name, column, delay, tuple(names[found] for found in sorted(present)))
                )
            case _:
                self._watermarks.append(Watermark(name, None, delay, below=self._below(places, wanted)))

    def _below(self, places: Sequence[Node], event_time: Expression) -> Below:
        """The plans below a watermark, if they can be run by themselves."""
        if event_time.data_type != "timestamp":
            raise CannotCarry("its event time is computed, and not a TIMESTAMP")
        if self._reads_clock:
            raise CannotCarry("it reads the clock, so that it cannot be told beforehand what its watermark sees")
        for found in (each for place in places for each in place.children[0].walk()):
            if found.children and found.kind not in _BY_RECORD:
                raise CannotCarry(f"Spark moves a node below its watermark: {found.kind}")
            if found.subqueries:
                raise CannotCarry("it has a subquery below its watermark")
        return Below(tuple((place.children[0], place.expressions_of("eventTime")[0]) for place in places))


# What comes of a record by them depends on nothing but the record. They have one child.
_BY_RECORD = frozenset({"Project", "Filter", "Generate"})
_NAMES = frozenset({"SubqueryAlias", "View", "ResolvedHint"})


def _source_below(node: Node) -> Node:
    """The source below a watermark."""
    while node.children:
        if node.kind == "EventTimeWatermark":
            raise CannotCarry("it has one watermark above another")
        if node.kind not in _BY_RECORD | _NAMES:
            raise CannotCarry(f"its watermark is above a node that changes which records it sees: {node.kind}")
        node = node.children[0]
    return node


def _renamed_from(node: Node, wanted: int | None) -> int | None:
    """The id that a column has at the source, if it is one of its columns, or was only renamed since."""
    while node.children:
        if node.kind == "Project":
            match next((each for each in node.expressions_of("projectList") if each.id == wanted), None):
                case Expression("Alias", (Expression("AttributeReference", id=int(found)),)):
                    wanted = found
                case Expression("AttributeReference"):
                    pass
                case _:
                    return None
        node = node.children[0]
    return wanted


def _null_filters(below: Node) -> frozenset[int] | None:
    """The columns of the source whose nulls are filtered out; None where anything else is left out, or added."""
    present: set[int] = set()
    while below.children:
        if below.kind == "Filter":
            for part in _conjuncts(*below.expressions_of("condition")):
                match part:
                    case Expression("IsNotNull", (Expression("AttributeReference", id=int(found)),)):
                        present.add(found)
                    case _:
                        return None
        elif below.kind != "Project":
            return None
        below = below.children[0]
    return frozenset(present) if present <= set(below.ids) else None


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if condition.kind != "And":
        yield condition
    else:
        for side in condition.children:
            yield from _conjuncts(side)
