"""What flows out of every node of a plan: its order, and what in it hangs on luck."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from firesteel.evidence.lint import Severity
from firesteel.model.lint.expressions import Values, conjuncts, said
from firesteel.model.lint.flows import Flow, Help, Order, Reason, Reasons, Touch, together
from firesteel.model.lint.reading import causes_in
from firesteel.spark.plans.tree import Expression, Node

_SAME = frozenset({"SubqueryAlias", "View", "ResolvedHint", "EventTimeWatermark", "UpdateEventTimeWatermarkColumn"})
_LIMITS = frozenset({"GlobalLimit", "Offset", "Tail"})
_BY_PYTHON = frozenset({"MapInPandas", "MapInArrow", "PythonMapInArrow"})
_GROUPS_BY_PYTHON = frozenset(
    {"FlatMapGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"}
)
_EQUALITIES = frozenset({"EqualTo", "EqualNullSafe"})
_ONE_SIDE = frozenset({"LeftSemi", "LeftAnti", "ExistenceJoin"})
_PLACES = {
    "RowNumber": "row_number()",
    "NTile": "ntile()",
    "Lag": "lag()",
    "Lead": "lead()",
    "NthValue": "nth_value()",
    "First": "first()",
    "Last": "last()",
    "CollectList": "collect_list()",
}

_ONE_BY_ONE = frozenset({"Explode", "Inline"})
"""They make a row of every element of a list, and do not say where it stood."""


class Plans:
    """Says what flows out of the nodes of a program's plans. A node that several plans share is looked at once."""

    def __init__(
        self,
        owners: Mapping[int, int],
        help: Help,
        leaf: Callable[[Node], Flow | None],
    ) -> None:
        self._owners = owners
        self._help = help
        self._leaf = leaf
        self._flows: dict[int, Flow] = {}
        self._kept: list[Node] = []
        """The nodes, which have to live as long as they are known by their identity."""

    def flow(self, root: Node) -> Flow:
        """What flows out of a plan; without recursion, as plans may be deep."""
        waiting = [root]
        while waiting:
            node = waiting[-1]
            below = [child for child in node.children if id(child) not in self._flows]
            if id(node) in self._flows:
                waiting.pop()
            elif below:
                waiting += below
            else:
                waiting.pop()
                self._flows[id(node)] = self._out_of(node)
                self._kept.append(node)
        return self._flows[id(root)]

    def owner(self, node: Node) -> int | None:
        """The operation that added a node."""
        return self._owners.get(id(node))

    # --- one node ---

    def _out_of(self, node: Node) -> Flow:
        flows = [self._flows[id(child)] for child in node.children]
        match node.kind, flows:
            case kind, [flow] if kind in _SAME:
                return flow
            case "Project", [flow]:
                return self._project(node, flow)
            case "Filter", [flow]:
                return self._filter(node, flow)
            case "Aggregate", [flow]:
                return self._aggregate(node, flow)
            case "Deduplicate" | "DeduplicateWithinWatermark", [flow]:
                return self._deduplicate(node, flow)
            case "Distinct", [flow]:
                return replace(flow, order=Order.ANY, unique=flow.unique | {_all(node)})
            case kind, [flow] if kind in _LIMITS:
                return self._limit(node, flow)
            case "LocalLimit", [flow]:
                return flow
            case "Sort", [flow]:
                return self._sort(node, flow)
            case "Repartition" | "RepartitionByExpression" | "RebalancePartitions", [flow]:
                return self._repartition(node, flow)
            case "Sample", [flow]:
                return self._sample(node, flow)
            case "Window", [flow]:
                return self._window(node, flow)
            case "Generate" | "Expand", [flow]:
                return self._spread(node, flow)
            case "Join", [left, right]:
                return self._join(node, left, right)
            case "Union", _:
                return self._union(node, flows)
            case "Intersect" | "Except", [left, right]:
                rows = together(left.rows, right.reasons)
                return replace(left, order=Order.ANY, rows=rows, unique=left.unique | {_all(node)})
            case _, []:
                return self._source(node)
            case _:
                return self._other(node, flows)

    def _values(self, node: Node, flow: Flow, grouping: frozenset[int] = frozenset()) -> Values:
        return Values(flow, self.owner(node), self._help, self.flow, grouping)

    def _source(self, node: Node) -> Flow:
        given = self._leaf(node)
        if given is not None:
            return replace(given, values=dict.fromkeys(_ids(node.output), given.reasons) if given.reasons else {})
        unique = frozenset({_all(node)}) if node.kind == "Range" else frozenset()
        return Flow(one_row=node.kind == "OneRowRelation", unique=unique)

    def _project(self, node: Node, flow: Flow) -> Flow:
        listed = node.expressions_of("projectList")
        return replace(flow, values=self._columns(node, flow, listed), unique=_renamed(flow.unique, listed))

    def _columns(
        self, node: Node, flow: Flow, listed: Iterable[Expression], grouping: frozenset[int] = frozenset()
    ) -> dict[int, Reasons]:
        values = self._values(node, flow, grouping)
        found = {one.id: values.of(one) for one in listed if one.id is not None}
        return {id_: reasons for id_, reasons in found.items() if reasons}

    def _filter(self, node: Node, flow: Flow) -> Flow:
        values, rows = self._values(node, flow), list[Reason]()
        for condition in node.expressions_of("condition"):
            for reason in values.of(condition):
                if reason.touch is not Touch.DIGITS:
                    rows.append(reason)
                elif _compares_exactly(condition):
                    rows.append(self._exact(node, reason, "kept by an exact comparison with"))
        return flow.with_rows(*rows)

    def _aggregate(self, node: Node, flow: Flow) -> Flow:
        keys = node.expressions_of("groupingExpressions")
        listed = node.expressions_of("aggregateExpressions")
        grouping = frozenset(_ids(keys))
        rows = self._keys(node, flow, keys, "grouped by")
        columns = self._columns(node, flow, listed, grouping)
        if not keys:
            return Flow(Order.FIXED, True, frozenset({frozenset()}), together(flow.rows, rows), columns)
        shown = {one.id for one in listed if one.id in grouping and one.id is not None}
        shown |= {one.id for one in listed if one.kind == "Alias" and one.id is not None and one.children[0] in keys}
        unique = frozenset({frozenset(shown)}) if len(shown) >= len(keys) else frozenset()
        return Flow(Order.ANY, False, unique, together(flow.rows, rows), columns)

    def _deduplicate(self, node: Node, flow: Flow) -> Flow:
        keys = frozenset(_ids(node.expressions_of("keys")))
        rows = self._keys(node, flow, node.expressions_of("keys"), "told apart by")
        others = [one for one in node.output if one.id is not None and one.id not in keys]
        values = dict(flow.values)
        # Of a stream the first is what is meant: an event that comes twice is the same event.
        if others and not flow.tells_apart(keys) and not node.is_streaming:
            names = ", ".join(str(one.name) for one in others[:3]) + (", ..." if len(others) > 3 else "")
            text = f"dropDuplicates keeps whichever row of a key arrives first, and with it {names}"
            reason = Reason("distinct-on-too-little", text, self.owner(node))
            values.update({one.id: together(values.get(one.id, ()), (reason,)) for one in others if one.id is not None})
        return Flow(Order.ANY, flow.one_row, flow.unique | {keys}, together(flow.rows, rows), values)

    def _limit(self, node: Node, flow: Flow) -> Flow:
        taken = taken_by_luck(flow, "limit" if node.kind == "GlobalLimit" else node.kind.lower(), self.owner(node))
        one = node.kind == "GlobalLimit" and [
            each.arguments.get("value") for each in node.expressions_of("limitExpr")
        ] == [1]
        return replace(flow, one_row=flow.one_row or one).with_rows(*taken)

    def _sort(self, node: Node, flow: Flow) -> Flow:
        keys = [one.children[0] for one in node.expressions_of("order")]
        ids = {one.id for one in keys if one.kind == "AttributeReference" and one.id is not None}
        by_luck = self._values(node, flow)
        total = flow.tells_apart(ids) or ids >= _all(node)
        if any(one.touch in (Touch.VALUE, Touch.LIST) for key in keys for one in by_luck.of(key)):
            return flow.in_order(Order.ANY)
        if total:
            return flow.in_order(Order.FIXED)
        if node.arguments.get("global") is False:
            return flow  # a stable sort of what each partition holds
        return flow.in_order(Order.TIES)

    def _repartition(self, node: Node, flow: Flow) -> Flow:
        if node.arguments.get("shuffle") is False:
            return flow
        keys = node.expressions_of("partitionExpressions") if "partitionExpressions" in node.arguments else ()
        flow = replace(flow, order=Order.ANY)
        if keys:
            return flow.with_rows(*self._keys(node, flow, keys, "partitioned by"))
        lucky = [one for one in flow.reasons if one.touch is not Touch.RERUN]
        if not lucky:
            return flow
        text = (
            "repartition deals rows out by their content, and that hangs on luck "
            f"({lucky[0].text}): a task that is run again deals them out differently, so rows are lost or doubled"
        )
        return flow.with_rows(Reason("round-robin-of-indeterminate", text, self.owner(node)))

    def _sample(self, node: Node, flow: Flow) -> Flow:
        if flow.order is Order.FIXED or flow.one_row:
            return flow
        text = "sample draws by the place of a row in its partition, and the rows come in any order"
        return flow.with_rows(Reason("sample-after-shuffle", text, self.owner(node)))

    def _window(self, node: Node, flow: Flow) -> Flow:
        keys = frozenset(_ids(node.expressions_of("partitionSpec")))
        order = [one.children[0] for one in node.expressions_of("orderSpec")]
        ids = keys | {one.id for one in order if one.kind == "AttributeReference" and one.id is not None}
        rows = self._keys(node, flow, node.expressions_of("partitionSpec"), "partitioned by")
        rows = together(rows, self._keys(node, flow, order, "ordered by"))
        decided = flow.tells_apart(ids) or ids >= _all(node.children[0])
        columns = {**flow.values}
        for one in node.expressions_of("windowExpressions"):
            found = self._place(node, one, bool(order)) if not decided else ()
            # Every row has a value of its own here, as if it were a group: what a place decides is said above.
            found = together(found, self._values(node, flow, _all(node.children[0])).of(one))
            if one.id is not None and found:
                columns[one.id] = found
        return Flow(Order.ANY, flow.one_row, flow.unique, together(flow.rows, rows), columns)

    def _place(self, node: Node, expression: Expression, has_order: bool) -> Reasons:
        """What a function of a window takes from the order of rows that tie."""
        for one in expression.walk():
            if one.kind in _PLACES:
                name, touch = _PLACES[one.kind], Touch.LIST if one.kind == "CollectList" else Touch.VALUE
            elif one.kind == "WindowExpression" and _goes_row_by_row(one):
                name, touch = "a frame of rows", Touch.VALUE
            else:
                continue
            severity = None if has_order else Severity.ERROR
            which = "rows that tie in the window's order" if has_order else "rows of a window without an order"
            text = f"{name} goes by the place of a row, and {which} stand in any order"
            return (Reason("ties-in-window", text, self.owner(node), touch, severity),)
        return ()

    def _spread(self, node: Node, flow: Flow) -> Flow:
        reasons = together(*(self._values(node, flow).of(one) for one in node.expressions))
        order = flow.order
        if any(one.kind in _ONE_BY_ONE for one in node.expressions):
            # The same rows, whatever the order of the list is; but they come in that order.
            listed = [one for one in reasons if one.touch is Touch.LIST]
            reasons = tuple(one for one in reasons if one.touch is not Touch.LIST)
            order = Order.ANY if listed else order
        new = [id_ for id_ in _ids(node.output) if id_ not in _all(node.children[0])]
        values = {**flow.values, **(dict.fromkeys(new, reasons) if reasons else {})}
        return replace(flow, order=order, one_row=False, unique=frozenset(), values=values)

    def _join(self, node: Node, left: Flow, right: Flow) -> Flow:
        both = Flow(Order.ANY, False, frozenset(), together(left.rows, right.rows), {**left.values, **right.values})
        condition = node.expressions_of("condition") if node.arguments.get("condition") is not None else ()
        rows = together(*(self._keys(node, both, _sides(one), "joined on") for one in condition))
        kind = node.arguments.get("joinType")
        if kind in _ONE_SIDE:
            return replace(left, order=Order.ANY, rows=together(left.rows, right.rows, rows))
        pairs = [each for one in condition for each in _equal(one)]
        equal = {id_ for pair in pairs for id_ in pair}
        unique = {one | other for one in left.unique for other in right.unique}
        unique |= set(left.unique) if right.tells_apart(equal & _all(node.children[1])) else set()
        unique |= set(right.unique) if left.tells_apart(equal & _all(node.children[0])) else set()
        return replace(both, unique=frozenset(unique), one_row=left.one_row and right.one_row).with_rows(*rows)

    def _union(self, node: Node, flows: list[Flow]) -> Flow:
        values: dict[int, Reasons] = {}
        for place, column in enumerate(node.output):
            parts = [
                flow.values.get(child.output[place].id or -1, ())
                for flow, child in zip(flows, node.children, strict=True)
                if place < len(child.output)
            ]
            if column.id is not None and (reasons := together(*parts)):
                values[column.id] = reasons
        order = Order.FIXED if all(flow.order is Order.FIXED for flow in flows) else Order.ANY
        return Flow(order, False, frozenset(), together(*(flow.rows for flow in flows)), values)

    def _other(self, node: Node, flows: list[Flow]) -> Flow:
        """A node whose columns may be made of everything that it reads: a function of Python's, or an unknown one."""
        reasons = together(*(flow.reasons for flow in flows))
        for one in (each for top in node.expressions for each in top.walk() if "udfDeterministic" in each.arguments):
            function = self._help.function_of(one)
            seen = causes_in(function) if function is not None else ()
            if seen:
                name = one.arguments.get("name")
                reasons = together(reasons, (Reason("luck-in-function", said(str(name), seen), self.owner(node)),))
        narrow = node.kind in _BY_PYTHON and len(flows) == 1
        order = flows[0].order if narrow or (len(flows) == 1 and node.kind not in _GROUPS_BY_PYTHON) else Order.ANY
        kept = frozenset(_ids(node.output))
        unique = flows[0].unique if len(flows) == 1 and all(one <= kept for one in flows[0].unique) else frozenset()
        if narrow or node.kind in _GROUPS_BY_PYTHON:
            unique = frozenset()
        values = dict.fromkeys(kept, reasons) if reasons else {}
        rows = together(*(flow.rows for flow in flows))
        return Flow(order, False, unique, rows, values)

    # --- keys ---

    def _keys(self, node: Node, flow: Flow, keys: Iterable[Expression], how: str) -> Reasons:
        """What happens where a key hangs on luck: rows go to other tasks when they are computed again."""
        found: list[Reason] = []
        values = self._values(node, flow)
        for key in keys:
            for one in values.of(key):
                if one.rule == "clock-in-query" and node.is_streaming:
                    text = f"rows are {how} the time at which they are processed: a late batch puts them elsewhere"
                    found.append(Reason("processing-time-window", text, self.owner(node), Touch.RERUN))
                elif one.touch is Touch.RERUN:
                    found.append(one)
                elif one.touch is Touch.DIGITS:
                    found.append(self._exact(node, one, how))
                else:
                    text = (
                        f"rows are {how} {_written(key)}, which hangs on luck ({one.text}): a map task that is run "
                        "again sends its rows to other tasks, so rows are lost or doubled"
                    )
                    found.append(Reason("luck-in-key", text, self.owner(node)))
        return together(found)

    def _exact(self, node: Node, reason: Reason, how: str) -> Reason:
        return Reason("float-sum", f"{reason.text}, and rows are {how} the result", self.owner(node))


def taken_by_luck(flow: Flow, name: str, operation: int | None) -> Reasons:
    """What happens where the first rows are taken."""
    if flow.one_row or flow.order is Order.FIXED:
        return ()
    if flow.order is Order.TIES:
        text = f"{name} cuts between rows that tie in the sort: which of them are kept is open"
        return (Reason("ties-after-sort", text, operation),)
    return (Reason("take-without-order", f"{name} takes whichever rows arrive first", operation),)


def _goes_row_by_row(window: Expression) -> bool:
    """Is it an aggregate over some rows before and after each, counted by their places?"""
    if not any(one.kind == "AggregateExpression" for one in window.children):
        return False
    for one in (each for each in window.walk() if each.kind == "SpecifiedWindowFrame"):
        ends = {each.kind for each in one.children} | {one.arguments.get("lower"), one.arguments.get("upper")}
        return one.arguments.get("frameType") == "RowFrame" and not ends >= {"UnboundedPreceding", "UnboundedFollowing"}
    return False


def _ids(expressions: Iterable[Expression]) -> set[int]:
    """The columns that are used as they are."""
    return {one.id for one in expressions if one.kind == "AttributeReference" and one.id is not None}


def _all(node: Node) -> frozenset[int]:
    return frozenset(_ids(node.output))


def _renamed(unique: frozenset[frozenset[int]], listed: Iterable[Expression]) -> frozenset[frozenset[int]]:
    """The unique columns under the names that a projection gives them."""
    names: dict[int, int] = {}
    for one in listed:
        if one.kind == "AttributeReference" and one.id is not None:
            names[one.id] = one.id
        elif one.kind == "Alias" and one.id is not None and one.children[0].kind == "AttributeReference":
            names.setdefault(one.children[0].id or -1, one.id)
    return frozenset(frozenset(names[id_] for id_ in one) for one in unique if one <= names.keys())


def _sides(condition: Expression) -> list[Expression]:
    """What a condition compares: of an equality its two sides, else the whole."""
    parts = conjuncts(condition)
    return [side for one in parts for side in (one.children if one.kind in _EQUALITIES else (one,))]


def _equal(condition: Expression) -> list[tuple[int, int]]:
    """The pairs of columns that a condition wants to be equal."""
    pairs = [one.children for one in conjuncts(condition) if one.kind in _EQUALITIES]
    return [(left.id, right.id) for left, right in pairs if left.id is not None and right.id is not None]


def _compares_exactly(condition: Expression) -> bool:
    return any(one.kind in _EQUALITIES or one.kind in ("In", "InSet") for one in condition.walk())


def _written(key: Expression) -> str:
    return key.name if key.name is not None else f"an expression of type {key.data_type}"
