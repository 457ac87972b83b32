"""Carries a hidden column through a subject's plan, so that many cases can run in one query without meeting.

The subject never sees the column: it is given its input without it. Afterwards the analysed plan is rebuilt, node by
node, so that the column survives, and whatever brings records together (groups, duplicates, joins) keeps cases apart.
The column is known by its expression id, so names do not matter: DataFrame calls, SQL text and views come out alike.

A node that is not known here is refused, with the reason: the subject then runs one case at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from firesteel.spark.bulk import carry_python
from firesteel.spark.bulk.align import TimeFacts, Watermark
from firesteel.spark.failures import CannotCarry as CannotCarry
from firesteel.spark.failures import root_cause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from firesteel.spark.engines.source import PackedSource


def carrying(frame: DataFrame, sources: Mapping[str, PackedSource], mode: str) -> tuple[DataFrame, TimeFacts]:
    """The frame with the hidden column of its sources as its last one, and what it does with event time.

    Each input has a hidden column with a name of its own.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    plan = _inlined(spark, frame._jdf.queryExecution().analyzed())
    if not plan.deterministic():
        raise CannotCarry("it uses an expression that is not deterministic, such as rand()")
    carrier = _Carrier(spark, sources, mode, plan)
    carrier.time.reacts = carrier.looks_at_the_clock  # a batch of its own has a time of its own
    jvm: Any = spark._jvm
    try:
        made, case = carrier.rebuilt(plan)
        if case is None:
            raise CannotCarry("no stream flows into it")
        whole = carrier.project(_outputs(plan), case, made)
        made = jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, whole)
    except (Py4JError, PySparkException) as error:  # a plan that is not as expected is no fault of the subject's
        raise CannotCarry(f"its plan could not be rebuilt ({root_cause(error)})") from error
    carrier.time.by_batch |= carrier.time.reacts
    carrier.time.reacts |= len(carrier.time.cells) > 1  # one operator waits for what another lets out
    return DataFrame(made, spark), carrier.time


class _Carrier:
    """Rebuilds one plan. Nodes and expressions are JVM objects; `case` is the attribute of the hidden column."""

    def __init__(self, spark: SparkSession, sources: Mapping[str, PackedSource], mode: str, plan: Any) -> None:
        jvm: Any = spark._jvm
        self._spark = spark
        self._logical = jvm.org.apache.spark.sql.catalyst.plans.logical
        self._expressions = jvm.org.apache.spark.sql.catalyst.expressions
        self._seq: Callable[[list[Any]], Any] = jvm.org.apache.spark.api.python.PythonUtils.toSeq
        self._option = jvm.scala.Option
        self._equi_join = jvm.org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
        self._python = jvm.org.apache.spark.sql.catalyst.trees.TreePattern.PYTHON_UDF()
        # current_timestamp, localtimestamp, now, and others that a query is told when it starts
        self.looks_at_the_clock = plan.containsPattern(
            jvm.org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE()
        )
        self._optimized = spark._jsparkSession.sessionState().optimizer().execute(plan)
        self._inputs = {source.column: name for name, source in sources.items()}
        self._sources = sources
        self._mode = mode
        self._functions: list[tuple[Any, Any]] = []
        self.time = TimeFacts()

    def rebuilt(self, plan: Any) -> tuple[Any, Any | None]:
        """The plan with the column kept, and its attribute in the plan's output; None where no stream flows in."""
        if not plan.isStreaming():
            return plan, None
        children = _items(plan.children())
        if not children:
            return self._source(plan)
        if any(part.isStreaming() for part in _items(plan.subqueries())):
            raise CannotCarry("it has a subquery that reads a stream")
        if plan.nodeName() not in ("Project", "Filter", "Aggregate"):
            self._refuse_mixed(plan)
        parts = [self.rebuilt(child) for child in children]
        name = plan.nodeName()
        match name:
            case "Project":
                return self._project(plan, *parts[0])
            case "Filter":
                made, case = parts[0]
                return self._logical.Filter(self._apart(plan.condition(), case), made), case
            case "Aggregate":
                return self._aggregate(plan, *parts[0])
            case "Deduplicate" | "DeduplicateWithinWatermark":
                made, case = parts[0]
                self._compares(None, reacts=True)
                node = getattr(self._logical, name)
                # Without its spec, from which Spark would find the user's keys again when the query starts.
                return node(plan.keys().appended(case), made, self._option.empty()), case
            case "Distinct":
                self._compares(None, reacts=True)  # an aggregation in disguise
                return plan.withNewChildren(self._seq([parts[0][0]])), parts[0][1]
            case "Join":
                return self._join(plan, parts)
            case "Union":
                return self._union(plan, parts)
            case "Expand":
                return self._expand(plan, *parts[0])
            case _ if name in _TRANSPARENT:
                made, case = parts[0]
                return plan.withNewChildren(self._seq([made])), case
            case _ if name in carry_python.NODES:
                made, case = parts[0]
                self.time.by_batch = True  # what it is handed at once is of one micro-batch
                if name in carry_python.STATEFUL:
                    self._compares(None, reacts=True)
                return carry_python.carried(self._spark, plan, made, case)
            case "EventTimeWatermark":
                self._watermark(plan)
                return plan.withNewChildren(self._seq([parts[0][0]])), parts[0][1]
            case "GlobalLimit" | "LocalLimit" | "Tail" | "Offset":
                raise CannotCarry("it limits the number of records, of all cases together")
            case _:
                raise CannotCarry(f"its plan has a node that cases cannot be carried through: {name}")

    def _refuse_mixed(self, plan: Any) -> None:
        """Refuse functions of whole columns: they would see several cases at once."""
        if any(_is_vectorised(call) for expression in _items(plan.expressions()) for call in self._calls(expression)):
            raise CannotCarry(
                f"a function of whole columns (pandas, Arrow) in a {plan.nodeName()} would see several cases at once"
            )

    def _calls(self, expression: Any) -> Iterator[Any]:
        """The calls of Python functions in an expression."""
        if expression.containsPattern(self._python):
            yield from (node for node in _nodes(expression) if node.nodeName() == "PythonUDF")

    def _apart(self, expression: Any, case: Any) -> Any:
        """The expression, with functions of whole columns called for every case by itself."""
        if not any(map(_is_vectorised, self._calls(expression))):
            return expression
        if _is_vectorised(expression):
            # A group and the result that repeats it have to stay the same function.
            known = next((made for call, made in self._functions if call.semanticEquals(expression)), None)
            if known is not None:
                return known
        children = [self._apart(child, case) for child in _items(expression.children())]
        if not _is_vectorised(expression):
            return expression.withNewChildren(self._seq(children))
        self.time.by_batch = True  # it sees the columns of one micro-batch
        made = carry_python.column_function(self._spark, expression, children, case)
        self._functions.append((expression, made))
        return made

    def _all_apart(self, expressions: Any, case: Any) -> Any:
        return self._seq([self._apart(expression, case) for expression in _items(expressions)])

    def _source(self, plan: Any) -> tuple[Any, Any]:
        *shown, hidden = _outputs(plan)
        if hidden.name() not in self._inputs:
            raise CannotCarry(f"it reads a stream of its own: {plan.nodeName()}")
        source = self._sources[self._inputs[hidden.name()]]
        # Of its own for every place where the input is read: a join of an input with itself tells them apart.
        packed = source.packed._jdf.queryExecution().analyzed().newInstance()
        records, case = _outputs(packed)
        unpacked = self._expressions.Inline(records)
        return self._logical.Generate(
            unpacked, self._seq([0]), False, self._option.empty(), self._seq(shown), packed
        ), case

    def project(self, attributes: list[Any], case: Any, child: Any) -> Any:
        """A projection to some attributes and the column."""
        return self._logical.Project(self._seq([*attributes, case]), child)

    def _project(self, plan: Any, made: Any, case: Any) -> tuple[Any, Any]:
        for named in _items(plan.projectList()):
            self.time.seen_window(named.exprId().id(), named.toString())
        return self._logical.Project(self._all_apart(plan.projectList(), case).appended(case), made), case

    def _watermark(self, plan: Any) -> None:
        """Remember a watermark, where it can be told from the input alone."""
        wanted, below = plan.eventTime().exprId().id(), plan.child()
        while below.nodeName() in ("Project", "SubqueryAlias", "View"):
            below = below.children().apply(0)
        if below.children().size() or wanted not in _ids(below.output()):
            raise CannotCarry("its event time is computed, so that watermarks of cases cannot be told beforehand")
        names = {attribute.exprId().id(): attribute.name() for attribute in _outputs(below)}
        name = next(self._inputs[column] for column in names.values() if column in self._inputs)
        delay = int(self._logical.EventTimeWatermark.getDelayMs(plan.delay()))
        present = tuple(names[found] for found in sorted(self._not_null_below(plan.nodeId().toString())))
        self.time.watermarks.append(Watermark(name, names[wanted], delay, present))

    def _not_null_below(self, node_id: str) -> set[int]:
        """Spark moves filters below a watermark, which does not see what they leave out; nulls can be told before."""
        present: set[int] = set()
        found = [n for n in _nodes(self._optimized) if n.nodeName() == "EventTimeWatermark"]
        for node in [n for n in found if n.nodeId().toString() == node_id]:
            below = node.child()
            while below.children().size():
                if below.nodeName() == "Filter":
                    for part in _conjuncts(below.condition()):
                        if part.nodeName() != "IsNotNull" or part.child().nodeName() != "AttributeReference":
                            raise CannotCarry("Spark filters records before its watermark sees them")
                        present.add(part.child().exprId().id())
                elif below.nodeName() != "Project":
                    raise CannotCarry(f"Spark moves a node below its watermark: {below.nodeName()}")
                below = below.children().apply(0)
            if not present <= set(_ids(below.output())):
                raise CannotCarry("Spark filters records before its watermark sees them")
        return present

    def _compares(self, cell: int | None, *, reacts: bool = False) -> None:
        """Remember an operator that compares with the watermark, if there is one."""
        self.time.reacts |= reacts
        if self.time.watermarks:
            self.time.cells.append(cell)

    def _aggregate(self, plan: Any, made: Any, case: Any) -> tuple[Any, Any]:
        if not plan.groupingExpressions().size():
            # Alone it has a row even before the first record.
            raise CannotCarry("it aggregates without a group, and so has a row for no records")
        if self._mode != "complete":  # there nothing is late, and nothing leaves
            self._compares(self._grid(plan))
        self.time.by_batch |= not all(map(_is_exact, _items(plan.aggregateExpressions())))
        groups = self._all_apart(plan.groupingExpressions(), case).appended(case)
        results = self._all_apart(plan.aggregateExpressions(), case).appended(case)
        return self._logical.Aggregate(groups, results, made, plan.hint()), case

    def _grid(self, plan: Any) -> int | None:
        """The grid of the windows that an aggregation groups by; None where it is on no grid."""
        timed = [e for e in _items(plan.groupingExpressions()) if "-T" in e.toString() and e.toString().endswith("ms")]
        if len(timed) != 1 or self.time.cells:
            return None
        return self.time.grids.get(timed[0].exprId().id())

    def _expand(self, plan: Any, made: Any, case: Any) -> tuple[Any, Any]:
        for attribute, expression in zip(_outputs(plan), _items(plan.projections().apply(0)), strict=True):
            self.time.seen_window(attribute.exprId().id(), expression.toString())
        projections = self._seq([part.appended(case) for part in _items(plan.projections())])
        return self._logical.Expand(projections, plan.output().appended(case), made), case

    def _union(self, plan: Any, parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        children = []
        for child, (made, case) in zip(_items(plan.children()), parts, strict=True):
            if case is None:
                raise CannotCarry("it unites a stream with a batch")
            children.append(self.project(_outputs(child), case, made))
        united = self._logical.Union(self._seq(children), False, False)
        # Its own attributes are those of the first child; others may know them under ids that the union gave them.
        if _ids(united.output())[:-1] != _ids(plan.output()):
            raise CannotCarry("it unites streams whose columns have no common ids")
        return united, _items(united.output())[-1]

    def _join(self, plan: Any, parts: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        (left, mine), (right, theirs) = parts
        kind = plan.joinType().toString()
        if mine is None or theirs is None:
            if (
                kind == "FullOuter"
                or (kind == "LeftOuter" and mine is None)
                or (kind == "RightOuter" and theirs is None)
            ):
                raise CannotCarry("it keeps every record of a static table in an outer join")
            return plan.withNewChildren(self._seq([left, right])), mine if mine is not None else theirs
        if self._equi_join.unapply(plan).isEmpty():
            raise CannotCarry("it joins streams without an equality")
        self._compares(None, reacts=True)
        same = self._expressions.EqualTo(mine, theirs)
        condition = plan.condition()
        both = self._expressions.And(condition.get(), same) if condition.isDefined() else same
        joined = self._logical.Join(left, right, plan.joinType(), self._option.apply(both), plan.hint())
        if kind == "RightOuter":
            return joined, theirs
        if kind != "FullOuter":
            return joined, mine
        either = self._expressions.Coalesce(self._seq([mine, theirs]))
        named = self._alias(either)
        return self._logical.Project(self._seq([*_items(joined.output()), named]), joined), named.toAttribute()

    def _alias(self, expression: Any) -> Any:
        alias = self._expressions.Alias
        fresh = self._expressions.NamedExpression.newExprId()
        return alias(expression, "__case", fresh, self._seq([]), self._option.empty(), self._seq([]))


# Nodes that pass on all columns of their one child, and look at records one by one.
_TRANSPARENT = frozenset(
    {"SubqueryAlias", "View", "Generate", "LateralJoin", "Sort", "Repartition", "RepartitionByExpression",
     "ResolvedHint"}
)  # fmt: skip


def _is_vectorised(node: Any) -> bool:
    return node.nodeName() == "PythonUDF" and node.evalType() in carry_python.COLUMN_FUNCTIONS


def _is_exact(result: Any) -> bool:
    """Does an aggregation give the same to the last bit, however its records are put together?"""
    functions = [node.aggregateFunction() for node in _nodes(result) if node.nodeName() == "AggregateExpression"]
    return all(
        function.nodeName() in ("Max", "Min", "Count")
        or (function.nodeName() == "Sum" and function.dataType().typeName() in ("long", "decimal"))
        for function in functions
    )


def _inlined(spark: SparkSession, plan: Any) -> Any:
    """The plan with its common table expressions put where they are used."""
    if "CTERelationDef" not in plan.toString():
        return plan
    jvm: Any = spark._jvm
    return jvm.org.apache.spark.sql.catalyst.optimizer.InlineCTE(True, False, False).apply(plan)


def _nodes(tree: Any) -> Iterator[Any]:
    yield tree
    for child in _items(tree.children()):
        yield from _nodes(child)


def _conjuncts(condition: Any) -> list[Any]:
    if condition.nodeName() != "And":
        return [condition]
    return [part for side in _items(condition.children()) for part in _conjuncts(side)]


def _items(seq: Any) -> list[Any]:
    return [seq.apply(index) for index in range(seq.size())]


def _outputs(plan: Any) -> list[Any]:
    return _items(plan.output())


def _ids(attributes: Any) -> list[int]:
    return [attribute.exprId().id() for attribute in _items(attributes)]
