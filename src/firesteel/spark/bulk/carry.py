"""Carries a hidden column through a subject's plan, so that many cases can run in one query without meeting.

The subject never sees the column: it is given its input without it. Afterwards the analysed plan is rebuilt, node by
node, so that the column survives, and whatever brings records together (groups, duplicates, joins) keeps cases apart.
The column is known by its expression id, so names do not matter: DataFrame calls, SQL text and views come out alike.

What a node is and does is read from the plan's tree; only the rebuilding uses the objects in the JVM.

A node that is not known here is refused, with the reason: the subject then runs one case at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from firesteel.spark.bulk import carry_python
from firesteel.spark.bulk.align import TimeFacts
from firesteel.spark.bulk.event_time import EventTime
from firesteel.spark.bulk.places import (
    is_doubtful,
    makes_lists,
    refuse_behind_shuffle,
    refuse_unknown_aggregates,
    refuse_unknown_generator,
)
from firesteel.spark.failures import CannotCarry, SubjectFailure, root_cause
from firesteel.spark.plans.catalyst import Catalyst
from firesteel.spark.plans.reader import analysed, read
from firesteel.spark.plans.tree import Expression, Node

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_Rebuilt: TypeAlias = tuple[Any, Any]
"""A plan in the JVM that has the hidden column, and the column's attribute in its output; None for the attribute where
no stream flows into the plan."""


class Packed(Protocol):
    """Where the records of many cases are. A row holds an array of them, and the hidden column."""

    @property
    def column(self) -> str:
        """The hidden column's name, which the frame that the subject gets has as well."""

    def instance(self) -> Any:
        """A plan in the JVM with these rows, which is used once."""


class Carried(NamedTuple):
    """A frame that carries cases, and what has to be known of its plan to run it."""

    frame: DataFrame
    """With the hidden column as its last one."""
    time: TimeFacts
    doubtful: bool
    """Does the plan hold anything but what is known to be carried well? Then more cases are run alone, too."""
    cut_by_arrow: bool
    """Does a Python function see in which Arrow batch a record comes?"""
    makes_lists: bool


def carrying(frame: DataFrame, sources: Mapping[str, Packed], mode: str) -> Carried:
    """The frame with the hidden column of its sources. Each input has a hidden column with a name of its own."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    catalyst = Catalyst(spark)
    try:
        plan = _inlined(catalyst, analysed(frame))
        if not plan.handle.deterministic():
            raise CannotCarry("it uses an expression that is not deterministic, such as rand()")
        carry_python.refuse_what_is_kept(catalyst, plan)
        carrier = _Carrier(catalyst, sources, mode, plan)
        made, case = carrier.rebuilt(plan)
        if case is None:
            raise CannotCarry("no stream flows into it")
        whole = carrier.with_case(plan, made, case)
        made = catalyst.dataset(whole)
    except (Py4JError, PySparkException, SubjectFailure) as error:  # Spark's plan is not as expected
        raise CannotCarry(f"its plan could not be rebuilt ({root_cause(error)})") from error
    facts = carrier.time.facts
    return Carried(DataFrame(made, spark), facts, is_doubtful(plan), carrier.cut_by_arrow, makes_lists(plan))


def part_of(spark: SparkSession, part: Node, column: Expression, sources: Mapping[str, Packed]) -> DataFrame:
    """One column of a part of a plan, and the hidden column: over other sources, such as ones of a batch job."""
    from pyspark.sql import DataFrame

    catalyst = Catalyst(spark)
    made, case = _Carrier(catalyst, sources, "append", part).rebuilt(part)
    return DataFrame(catalyst.dataset(catalyst.project(catalyst.seq([column.handle, case]), made)), spark)


class _Carrier:
    """Rebuilds one plan. Everything that is handed on, such as `case`, the hidden column, is an object in the JVM."""

    def __init__(self, catalyst: Catalyst, sources: Mapping[str, Packed], mode: str, plan: Node) -> None:
        self._catalyst, self._seq = catalyst, catalyst.seq
        self._logical, self._expressions = catalyst.logical, catalyst.expressions
        self._inputs = {source.column: name for name, source in sources.items()}
        self._sources = sources
        self._mode = mode
        self._functions: list[tuple[Expression, Any, Any]] = []
        self.cut_by_arrow = False
        # current_timestamp, localtimestamp, now, and others whose value a query is given when it starts
        reads_clock = plan.handle.containsPattern(catalyst.named("trees.TreePattern").CURRENT_LIKE())
        optimizer = catalyst.spark._jsparkSession.sessionState().optimizer()
        self._optimised = cache(lambda: read(catalyst.spark, optimizer.execute(plan.handle)))
        self.time = EventTime(self._inputs, self._optimised, reads_clock=reads_clock)

    def rebuilt(self, node: Node) -> _Rebuilt:
        """The plan with the column kept."""
        if not node.is_streaming:
            return node.handle, None
        if not node.children:
            return self._source(node)
        _refuse_subqueries(node)
        if node.kind not in ("Project", "Filter", "Aggregate"):
            _refuse_mixed(node)
        parts = [self.rebuilt(child) for child in node.children]
        match node.kind:
            case "Join":
                return self._join(node, parts)
            case "Union":
                return self._union(node, parts)
            case _:
                return self._over(node, *parts[0])

    def _over(self, node: Node, made: Any, case: Any) -> _Rebuilt:
        """A node made again over its one child that is a stream."""
        match node.kind:
            case "Project":
                return self._project(node, made, case)
            case "Filter":
                (condition,) = node.expressions_of("condition")
                if _has_vectorised(condition):
                    refuse_behind_shuffle(node)
                return self._logical.Filter(self._apart(condition, case), made), case
            case "Aggregate":
                return self._aggregate(node, made, case)
            case "Deduplicate" | "DeduplicateWithinWatermark":
                if not node.expressions_of("keys"):
                    raise CannotCarry("it drops duplicates without a column to tell them by, which Spark refuses")
                if not set(node.ids) <= {key.id for key in node.expressions_of("keys")}:
                    refuse_behind_shuffle(node)  # which of several records is kept is up to their order
                self.time.keeps_state()
                # Without its spec, from which Spark would find the user's keys again when the query starts.
                keys = node.handle.keys().appended(case)
                return getattr(self._logical, node.kind)(keys, made, self._catalyst.scala.none), case
            case "Distinct":
                self.time.keeps_state()  # Spark turns it into an aggregation
                return self._with_children(node, made), case
            case "Expand":
                return self._expand(node, made, case)
            case "EventTimeWatermark":
                self.time.watermark(node)
                return self._with_children(node, made), case
            case "Generate":
                refuse_unknown_generator(node)
                return self._with_children(node, made), case
            case kind if kind in _TRANSPARENT:
                return self._with_children(node, made), case
            case kind if kind in carry_python.NODES:
                refuse_behind_shuffle(node)
                self.time.sees_batches()
                if kind in carry_python.STATEFUL:
                    self.cut_by_arrow = True  # the others' records are put together again
                    self.time.keeps_state()
                return carry_python.carried(self._catalyst, node, made, case)
            case "GlobalLimit" | "LocalLimit" | "Tail" | "Offset":
                raise CannotCarry("it limits the number of records, of all cases together")
            case kind:
                raise CannotCarry(f"its plan has a node that cases cannot be carried through: {kind}")

    # --- nodes ---

    def _source(self, node: Node) -> _Rebuilt:
        hidden = node.output[-1].name if node.output else None
        if hidden not in self._inputs:
            raise CannotCarry(f"it reads a stream of its own: {node.kind}")
        source = self._sources[self._inputs[hidden]]
        self.time.source()
        packed = source.instance()
        records, case = packed.output().apply(0), packed.output().apply(1)
        shown = node.handle.output().init()
        unpacked = self._expressions.Inline(records)
        return self._logical.Generate(unpacked, self._seq([0]), False, self._catalyst.scala.none, shown, packed), case

    def _project(self, node: Node, made: Any, case: Any) -> _Rebuilt:
        for named in node.expressions_of("projectList"):
            self.time.projects(named, named)
        return self._logical.Project(self._all_apart(node, "projectList", case).appended(case), made), case

    def _aggregate(self, node: Node, made: Any, case: Any) -> _Rebuilt:
        if not node.expressions_of("groupingExpressions"):
            # Alone it has a row even before the first record.
            raise CannotCarry("it aggregates without groupBy, so it puts out a row even when there is no input")
        self._refuse_lone_sessions(node)
        refuse_unknown_aggregates(node)
        self.time.aggregates(node, self._mode)
        groups = self._all_apart(node, "groupingExpressions", case).appended(case)
        results = self._all_apart(node, "aggregateExpressions", case).appended(case)
        return self._logical.Aggregate(groups, results, made, node.handle.hint()), case

    def _refuse_lone_sessions(self, node: Node) -> None:
        """Refuse sessions without a key, as Spark does: the hidden column would be one.

        Spark leaves out constants among the keys before it looks, so the plan after optimisation decides.
        """
        if any(map(_is_session, node.expressions_of("groupingExpressions"))):
            for found in self._optimised().walk():
                groups = found.expressions_of("groupingExpressions") if found.kind == "Aggregate" else ()
                if len(groups) == 1 and _is_session(groups[0]):
                    raise CannotCarry("it groups by a session window without a key, which Spark refuses")

    def _expand(self, node: Node, made: Any, case: Any) -> _Rebuilt:
        columns = len(node.output)
        projected = node.expressions_of("projections")
        for place, attribute in enumerate(node.output):
            self.time.projects(attribute, *projected[place::columns])
        projections = node.handle.projections()
        wider = self._seq([projections.apply(place).appended(case) for place in range(len(projected) // columns)])
        return self._logical.Expand(wider, node.handle.output().appended(case), made), case

    def _union(self, node: Node, parts: list[_Rebuilt]) -> _Rebuilt:
        if any(case is None for _, case in parts):
            raise CannotCarry("it unites a stream with a batch")
        # Its own attributes are those of its first child; other nodes may know them by ids that the union gave them.
        if node.ids != node.children[0].ids:
            raise CannotCarry("it unites streams whose columns have no common ids")
        children = [self.with_case(child, *part) for child, part in zip(node.children, parts, strict=True)]
        united = self._logical.Union(self._seq(children), False, False)
        return united, united.output().last()

    def _join(self, node: Node, parts: list[_Rebuilt]) -> _Rebuilt:
        (left, mine), (right, theirs) = parts
        kind = node.argument("joinType")
        if mine is None or theirs is None:
            if kind == "FullOuter" or kind == ("LeftOuter" if mine is None else "RightOuter"):
                raise CannotCarry("it keeps every record of a static table in an outer join")
            return self._with_children(node, left, right), theirs if mine is None else mine
        if self._catalyst.named("planning.ExtractEquiJoinKeys").unapply(node.handle).isEmpty():
            raise CannotCarry("it joins streams without an equality")
        self.time.keeps_state()
        both = self._expressions.EqualTo(mine, theirs)
        for condition in node.expressions_of("condition"):
            both = self._expressions.And(condition.handle, both)
        hint = node.handle.hint()
        joined = self._logical.Join(left, right, node.handle.joinType(), self._catalyst.scala.some(both), hint)
        match kind:
            case "FullOuter":
                either = self._expressions.Coalesce(self._seq([mine, theirs]))
                either = self._catalyst.alias(either, "__case", self._catalyst.new_id())
                return self._logical.Project(joined.output().appended(either), joined), either.toAttribute()
            case "RightOuter":
                return joined, theirs
            case _:
                return joined, mine

    # --- what they are made of ---

    def with_case(self, node: Node, made: Any, case: Any) -> Any:
        """A projection to what a node puts out, and the column."""
        return self._logical.Project(node.handle.output().appended(case), made)

    def _with_children(self, node: Node, *children: Any) -> Any:
        return node.handle.withNewChildren(self._seq(children))

    def _all_apart(self, node: Node, argument: str, case: Any) -> Any:
        expressions = node.expressions_of(argument)
        if not any(map(_has_vectorised, expressions)):
            return getattr(node.handle, argument)()
        refuse_behind_shuffle(node)
        return self._seq([self._apart(expression, case) for expression in expressions])

    def _apart(self, expression: Expression, case: Any) -> Any:
        """The expression, with functions of whole columns called for every case by itself."""
        if not _has_vectorised(expression):
            return expression.handle
        if not _is_vectorised(expression):
            children = [self._apart(child, case) for child in expression.children]
            return expression.handle.withNewChildren(self._seq(children))
        # A group and the result that repeats it have to stay the same function. One that stands in two places, as in a
        # union of a frame with itself, has another hidden column in each.
        for known, of, made in self._functions:
            if of is case and known.handle.semanticEquals(expression.handle):
                return made
        children = [self._apart(child, case) for child in expression.children]
        self.time.sees_batches()
        self.cut_by_arrow = True
        made = carry_python.column_function(self._catalyst, expression, children, case)
        self._functions.append((expression, case, made))
        return made


# Nodes that pass on all columns of their one child, and look at records one by one.
_TRANSPARENT = frozenset(
    {"SubqueryAlias", "View", "LateralJoin", "Sort", "Repartition", "RepartitionByExpression",
     "ResolvedHint"}
)  # fmt: skip


def _refuse_subqueries(node: Node) -> None:
    """Refuse subqueries that bring records of several cases together."""
    if any(plan.is_streaming for plan in node.subqueries):
        raise CannotCarry("it has a subquery that reads a stream")
    for inner in (each for plan in node.subqueries for each in plan.walk()):
        if inner.kind == "Generate":
            refuse_unknown_generator(inner)
        _refuse_mixed(inner)


def _refuse_mixed(node: Node) -> None:
    """Refuse functions of whole columns: they would see several cases at once."""
    if any(map(_has_vectorised, node.expressions)):
        raise CannotCarry(
            f"a function of whole columns (pandas, Arrow) in a {node.kind} would see several cases at once"
        )


def _is_session(expression: Expression) -> bool:
    return "spark.sessionWindow" in expression.metadata


def _has_vectorised(expression: Expression) -> bool:
    return any(map(_is_vectorised, expression.walk()))


def _is_vectorised(expression: Expression) -> bool:
    return expression.kind == "PythonUDF" and expression.arguments["evalType"] in carry_python.COLUMN_FUNCTIONS


def _inlined(catalyst: Catalyst, plan: Node) -> Node:
    """The plan with its common table expressions put where they are used."""
    if not any(node.kind == "CTERelationDef" for node in plan.walk()):
        return plan
    inline = catalyst.named("optimizer.InlineCTE")(True, False, False)
    return read(catalyst.spark, inline.apply(plan.handle))
