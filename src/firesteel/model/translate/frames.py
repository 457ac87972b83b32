"""DataFrame programs: the analysed plan as operations on records, which `operations` and `shuffles` then translate.

A row is a tuple. Grouping, joins and windows move rows by their key; sorts and limits bring them into one partition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from firesteel.errors import InvalidArgument
from firesteel.model.msvl import terms as e
from firesteel.model.translate.aggregates import Aggregates, windowed
from firesteel.model.translate.functions import Defined
from firesteel.model.translate.sql import NULL, Rows, refused, sorted_rows, tested
from firesteel.values.programs import Action, Api, Edge, Function, Operation, Program

ROW, ROWS = e.Bound("row"), e.Bound("rows")
REDUCERS = 2
"""How many partitions the model gives to what is moved by key."""
ACTIONS = {"collect": "collect", "count": "count", "take": "take", "first": "first", "head": "take", "tail": ""}


@dataclass
class Lowering:
    """Operations on records for the plans of a program."""

    program: Program
    operations: list[Operation] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    _sources: dict[int, int] = field(default_factory=dict)
    _plans: dict[int, tuple[Any, int]] = field(default_factory=dict)

    def add(
        self,
        name: str,
        parents: Sequence[int] = (),
        functions: dict[str, Defined] | None = None,
        *,
        wide: bool = False,
        partitions: int | None = None,
        **more: Any,
    ) -> int:
        number = len(self.operations)
        given = tuple(Function(parameter, each) for parameter, each in (functions or {}).items())
        count = self.operations[parents[0]].partitions if partitions is None else partitions
        self.operations.append(
            Operation(number, name, Api.RDD, tuple(parents), given, wide=wide, partitions=count, **more)
        )
        self.edges += [Edge(parent, number, wide) for parent in parents]
        return number

    # --- plans ---

    def plan(self, node: Any) -> int:
        """The operation that gives the rows of a plan."""
        # A plan that two others share is computed by one operation.
        if id(node) not in self._plans:
            self._plans[id(node)] = node, self._lowered(node)
        return self._plans[id(node)][1]

    def _lowered(self, node: Any) -> int:
        if node.is_streaming:
            raise refused("a streaming query")
        if node.subqueries:
            raise refused("a subquery in an expression")
        lower: Callable[[Any], int] | None = getattr(self, f"_{node.kind.lower()}", None)
        if lower is not None:
            return lower(node)
        if not node.children:
            return self._leaf(node)
        raise refused(f"the operator {node.kind}")

    def _leaf(self, node: Any) -> int:
        """The source that a leaf of a plan reads. A second use of a source in a plan has columns with other ids."""
        sources = [
            (operation, leaf)
            for operation in self.program.operations
            if operation.plan is not None and operation.is_source and (leaf := _leaf_of(operation.plan)) is not None
        ]
        same = [operation for operation, leaf in sources if leaf.kind == node.kind and leaf.ids == node.ids]
        alike = [
            operation for operation, leaf in sources if leaf.kind == node.kind and _columns(leaf) == _columns(node)
        ]
        if same or len(alike) == 1:
            return self.source((same or alike)[0])
        why = "is not one whose records can be read" if not alike else "is one of several that look alike"
        raise refused(f"the source {node.kind}", f"{why}, so it has no translation")

    def source(self, operation: Operation) -> int:
        if operation.id not in self._sources:
            try:
                records = [[row_of(row) for row in part] for part in operation.read()]
            except LookupError as error:
                raise InvalidArgument(f"the records of {operation.name} cannot be read: {error}") from None
            self._sources[operation.id] = self.add(
                "createDataFrame" if operation.name != "range" else "range",
                partitions=len(records),
                reader=lambda: records,
            )
        return self._sources[operation.id]

    def _through(self, node: Any) -> int:
        return self.plan(node.children[0])

    _subqueryalias = _view = _locallimit = _resolvedhint = _repartition = _repartitionbyexpression = _through

    def _project(self, node: Any) -> int:
        parent = self.plan(node.children[0])
        rows = _rows(node.children[0])
        body = e.TupleOf(tuple(rows.value(each) for each in node.expressions_of("projectList")))
        return self.add("map", [parent], {"f": Defined(("row",), body)})

    def _filter(self, node: Any) -> int:
        parent = self.plan(node.children[0])
        (condition,) = node.expressions_of("condition")
        body = tested(_rows(node.children[0]).value(condition))
        return self.add("filter", [parent], {"f": Defined(("row",), body)})

    def _union(self, node: Any) -> int:
        parents = [self.plan(each) for each in node.children]
        return self.add("union", parents, partitions=sum(self.operations[each].partitions or 0 for each in parents))

    def _in_one(self, parent: int, body: e.Expression) -> int:
        one = self.add("coalesce", [parent], partitions=1)
        return self.add("mapPartitions", [one], {"f": Defined(("rows",), body)})

    def _sort(self, node: Any) -> int:
        if node.arguments.get("global") is False:
            raise refused("a sort within partitions")
        rows = _rows(node.children[0])
        return self._in_one(self.plan(node.children[0]), sorted_rows(ROWS, "row", rows, node.expressions_of("order")))

    def _globallimit(self, node: Any) -> int:
        (limit,) = node.expressions_of("limitExpr")
        number = Rows({}).value(limit)
        return self._in_one(self.plan(node.children[0]), e.Apply("part", (ROWS, e.Constant(0), number)))

    def _distinct(self, node: Any) -> int:
        return self.add("distinct", [self.plan(node.children[0])], wide=True, partitions=REDUCERS)

    def _deduplicate(self, node: Any) -> int:
        if {each.id for each in node.expressions_of("keys")} != set(node.ids):
            raise refused("dropDuplicates of some columns", "keeps any one of several rows, so it has no translation")
        return self._distinct(node)

    def _keyed(self, parent: int, rows: Rows, keys: Sequence[Any]) -> int:
        key = e.TupleOf(tuple(rows.value(each) for each in keys))
        return self.add("map", [parent], {"f": Defined(("row",), e.TupleOf((key, ROW)))})

    def _aggregate(self, node: Any) -> int:
        keys = node.expressions_of("groupingExpressions")
        rows = _rows(node.children[0])
        found = Aggregates(rows, node.expressions_of("aggregateExpressions"))
        keyed = self._keyed(self.plan(node.children[0]), rows, keys)
        functions = {
            "createCombiner": Defined(("row",), found.created()),
            "mergeValue": Defined(("acc", "row"), found.merged()),
            "mergeCombiners": Defined(("a", "b"), found.combined()),
        }
        parts = REDUCERS if keys else 1
        merged = self.add("combineByKey", [keyed], functions, wide=True, partitions=parts)
        if not keys:
            # Without groups there is one row, also where there are no rows at all.
            nothing = e.ListOf((e.TupleOf((e.TupleOf(()), found.empty())),))
            body = e.Conditional(e.Binary("=", e.Apply("size", (ROWS,)), e.Constant(0)), nothing, ROWS)
            merged = self.add("mapPartitions", [merged], {"f": Defined(("rows",), body)})
        key, acc = e.Index(e.Bound("pair"), e.Constant(0)), e.Index(e.Bound("pair"), e.Constant(1))
        result = e.TupleOf(tuple(found.finished(each, keys, key, acc) for each in found.outputs))
        return self.add("map", [merged], {"f": Defined(("pair",), result)})

    def _window(self, node: Any) -> int:
        rows = _rows(node.children[0])
        keyed = self._keyed(self.plan(node.children[0]), rows, node.expressions_of("partitionSpec"))
        groups = self.add("groupByKey", [keyed], wide=True, partitions=REDUCERS)
        body = windowed(rows, e.Index(e.Bound("group"), e.Constant(1)), node)
        return self.add("flatMap", [groups], {"f": Defined(("group",), body)})

    def _generate(self, node: Any) -> int:
        (generator,) = node.expressions_of("generator")
        if generator.kind != "Explode" or not str(generator.children[0].data_type).startswith("array"):
            raise refused(f"the generator {generator.kind}")
        values = _rows(node.children[0]).value(generator.children[0])
        extended = e.Comprehension(
            e.Binary("+", ROW, e.TupleOf((e.Bound("item"),))), (e.Clause(("item",), e.Bound("xs")),)
        )
        missing = e.Binary("=", e.Bound("xs"), NULL)
        nothing: e.Expression = e.ListOf(())
        if node.arguments.get("outer") is True:
            nothing = e.ListOf((e.Binary("+", ROW, e.TupleOf((NULL,))),))
            missing = e.Binary("OR", missing, e.Binary("=", e.Apply("size", (e.Bound("xs"),)), e.Constant(0)))
        body = e.Let("xs", values, e.Conditional(missing, nothing, extended))
        return self.add("flatMap", [self.plan(node.children[0])], {"f": Defined(("row",), body)})

    def _join(self, node: Any) -> int:
        left, right = node.children
        conditions = node.expressions_of("condition") if node.arguments.get("condition") is not None else ()
        pairs = [each for condition in conditions for each in _equal_sides(condition, set(left.ids), set(right.ids))]
        one = self._keyed(self.plan(left), _rows(left), [pair[0] for pair in pairs])
        two = self._keyed(self.plan(right), _rows(right), [pair[1] for pair in pairs])
        both = self.add("cogroup", [one, two], wide=True, partitions=REDUCERS)
        body = _joined(node, conditions)
        return self.add("flatMap", [both], {"f": Defined(("group",), body)})


def _leaf_of(plan: Any) -> Any:
    """The only leaf of a plan; None where it has several."""
    leaves = [each for each in plan.walk() if not each.children]
    return leaves[0] if len(leaves) == 1 else None


def _columns(node: Any) -> list[tuple[str, str]]:
    return [(each.name, each.data_type) for each in node.output]


def row_of(value: Any) -> Any:
    """A row of PySpark as a tuple."""
    if isinstance(value, tuple):
        return tuple(map(row_of, value))
    return [row_of(each) for each in value] if isinstance(value, list) else value


def _rows(node: Any, row: e.Expression = ROW) -> Rows:
    return Rows({each: e.Index(row, e.Constant(place)) for place, each in enumerate(node.ids) if each is not None})


def _equal_sides(condition: Any, left: set[int], right: set[int]) -> list[tuple[Any, Any]]:
    """The pairs of columns that a condition wants to be equal, one of each side."""
    if condition.kind == "And":
        return [pair for each in condition.children for pair in _equal_sides(each, left, right)]
    if condition.kind != "EqualTo":
        return []
    one, two = condition.children
    ids = [{each.id for each in side.walk() if each.kind == "AttributeReference"} for side in (one, two)]
    if ids[0] and ids[1] and ids[0] <= left and ids[1] <= right:
        return [(one, two)]
    if ids[0] and ids[1] and ids[0] <= right and ids[1] <= left:
        return [(two, one)]
    return []


def _joined(node: Any, conditions: Sequence[Any]) -> e.Expression:
    """The rows of a join, for the rows of one key on both sides."""
    left, right = node.children
    one, two = e.Bound("left"), e.Bound("right")
    rows = Rows({**_rows(left, one).places, **_rows(right, two).places})
    tests = tuple(tested(rows.value(each)) for each in conditions)
    sides = e.Index(e.Bound("group"), e.Constant(1))
    lefts, rights = e.Index(sides, e.Constant(0)), e.Index(sides, e.Constant(1))
    pair = e.Binary("+", one, two)
    partners = e.Comprehension(pair, (e.Clause(("right",), rights, tests),))
    alone = e.Binary("=", e.Apply("size", (partners,)), e.Constant(0))
    no_left, no_right = (e.TupleOf((NULL,) * len(side.output)) for side in (left, right))
    kept = e.Conditional(alone, e.ListOf((e.Binary("+", one, no_right),)), partners)
    outer = e.Apply("flat", (e.Comprehension(kept, (e.Clause(("left",), lefts),)),))
    suitors = e.Comprehension(one, (e.Clause(("left",), lefts, tests),))
    unmatched = e.Binary("=", e.Apply("size", (suitors,)), e.Constant(0))
    others = e.Comprehension(e.Binary("+", no_left, two), (e.Clause(("right",), rights, (unmatched,)),))
    inner = e.Comprehension(pair, (e.Clause(("left",), lefts), e.Clause(("right",), rights, tests)))
    match node.arguments.get("joinType"):
        case "Inner" | "Cross":
            return inner
        case "LeftOuter":
            return outer
        case "RightOuter":
            return e.Binary("+", inner, others)
        case "FullOuter":
            return e.Binary("+", outer, others)
        case "LeftSemi":
            return e.Comprehension(one, (e.Clause(("left",), lefts, (e.Unary("!", alone),)),))
        case "LeftAnti":
            return e.Comprehension(one, (e.Clause(("left",), lefts, (alone,)),))
        case other:
            raise refused(f"the join {other}")


def lowered(program: Program) -> Program:
    """A program of DataFrames as one of records; a program of RDDs stays as it is."""
    apis = {each.api for each in program.actions}
    if apis == {Api.RDD} and all(each.api is Api.RDD for each in program.operations):
        return program
    if apis != {Api.FRAME}:
        raise refused("a program that mixes RDDs, DataFrames and streams" if Api.DSTREAM not in apis else "a DStream")
    lowering = Lowering(program)
    actions = []
    for action in program.actions:
        operation = program.operations[action.operations[0]]
        if operation.plan is None:
            raise refused(f"{operation.name} (operation {operation.id})", "has no plan, so it has no translation")
        if not ACTIONS.get(action.name):
            place = f" ({action.call_site})" if action.call_site is not None else ""
            raise refused(f"the action {action.name}{place}")
        target = lowering.plan(operation.plan)
        actions.append(_action(action, target))
    operations, edges = tuple(lowering.operations), tuple(lowering.edges)
    return Program(operations, edges, tuple(actions), differences=program.differences)


def _action(action: Action, target: int) -> Action:
    number = action.arguments.get("num", action.arguments.get("n"))
    name = ACTIONS[action.name]
    if action.name == "head" and number is None:
        name = "first"
    arguments = {} if number is None else {"num": number}
    return replace(action, name=name, api=Api.RDD, operations=(target,), functions=(), arguments=arguments)
