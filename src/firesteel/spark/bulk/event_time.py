"""What a plan does with event time: gathered node by node, from the sources upwards, while the plan is rebuilt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from firesteel.spark.bulk.align import TimeFacts, Watermark
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
        self._reacts = reads_clock
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
        """Remember a watermark, if it can be computed from the input alone."""
        (wanted,) = node.expressions_of("eventTime")
        below, source = _column_below(node.children[0], wanted.id)
        names = {attribute.id: str(attribute.name) for attribute in below.output}
        name = next(self._inputs[column] for column in names.values() if column in self._inputs)
        delay = next(attribute.delay for attribute in node.output if attribute.id == wanted.id)
        present = tuple(names[found] for found in sorted(self._not_null_below(node)))
        self._watermarks.append(Watermark(name, names[source], delay, present))

    def _not_null_below(self, node: Node) -> set[int]:
        """The columns whose nulls are left out before the watermark sees a record.

        Spark moves filters below a watermark, which then does not see the records that they leave out. Only filters for
        nulls can be taken into account beforehand.
        """
        present: set[int] = set()
        for found in self._optimised().walk():
            if found.kind == "EventTimeWatermark" and found.argument("nodeId") == node.argument("nodeId"):
                present |= _not_null(found.children[0])
        return present


def _column_below(node: Node, wanted: int | None) -> tuple[Node, int | None]:
    """The source below a watermark, and the id that the event time has there; it may have been renamed since."""
    while node.children:
        match node.kind:
            case "Project":
                made = next((each for each in node.expressions_of("projectList") if each.id == wanted), None)
                match made:
                    case Expression("Alias", (Expression("AttributeReference", id=int(found)),)):
                        wanted = found
                    case Expression("AttributeReference"):
                        pass
                    case _:
                        raise CannotCarry(
                            "its event time is computed, so that watermarks of cases cannot be told beforehand"
                        )
            case "SubqueryAlias" | "View" | "ResolvedHint":
                pass
            case "Filter":
                raise CannotCarry("it filters records before its watermark sees them")
            case "EventTimeWatermark":
                raise CannotCarry("it has one watermark above another")
            case kind:
                raise CannotCarry(f"its watermark is above a node that changes which records it sees: {kind}")
        node = node.children[0]
    return node, wanted


def _not_null(below: Node) -> set[int]:
    present: set[int] = set()
    while below.children:
        if below.kind == "Filter":
            for part in _conjuncts(*below.expressions_of("condition")):
                match part:
                    case Expression("IsNotNull", (Expression("AttributeReference", id=int(found)),)):
                        present.add(found)
                    case _:
                        raise CannotCarry("Spark filters records before its watermark sees them")
        elif below.kind != "Project":
            raise CannotCarry(f"Spark moves a node below its watermark: {below.kind}")
        below = below.children[0]
    if not present <= set(below.ids):
        raise CannotCarry("Spark filters records before its watermark sees them")
    return present


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if condition.kind != "And":
        yield condition
    else:
        for side in condition.children:
            yield from _conjuncts(side)
