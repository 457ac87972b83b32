"""What in the value of an expression of SQL hangs on luck."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from firesteel.evidence.lint import Severity
from firesteel.model.lint.flows import Flow, Help, Order, Reason, Reasons, Touch, together
from firesteel.model.lint.reading import Seen, causes_in
from firesteel.model.lint.shapes import shows_order
from firesteel.spark.plans.tree import Expression, Node

_BY_POSITION = frozenset({"Rand", "Randn", "Uuid", "Shuffle", "RandStr", "Uniform"})
_CLOCKS = frozenset({"CurrentTimestamp", "CurrentDate", "Now", "LocalTimestamp", "CurrentTime"})
_PYTHON = frozenset({"PythonUDF", "PythonUDAF", "PythonUDTF"})
_SORTS_LIST = frozenset({"SortArray", "ArraySort"})
_IGNORES_ORDER = frozenset(
    {"Size", "ArraySize", "ArrayContains", "ArrayMin", "ArrayMax", "ArraysOverlap", "ArrayExists", "ArrayForAll"}
    | {"ArrayAggregate"}  # most of them add; what merges in turn is not seen
)
_COUNTS = frozenset({"Count", "RegrCount", "CountIf"})
_CHOICES = frozenset({"If", "CaseWhen", "NullIf"})
_ROUNDS = frozenset({"Round", "BRound", "Floor", "Ceil", "RoundFloor", "RoundCeil"})
_WHOLE_TYPES = ("tinyint", "smallint", "int", "bigint", "decimal", "boolean")

_FIRST = {
    "First": "first",
    "Last": "last",
    "AnyValue": "any_value",
}
_LISTS = {"CollectList": "collect_list", "ListAgg": "listagg"}
_BY_TIES = {"MaxBy": "max_by", "MinBy": "min_by"}
_FLOATS = ("float", "double")
AGGREGATE = "order-sensitive-aggregate"
_INTERESTING = (
    _BY_POSITION | _CLOCKS | _PYTHON | {"MonotonicallyIncreasingID", "SparkPartitionID", "AggregateExpression"}
)


class Values:
    """Says what in the expressions of one node hangs on luck."""

    def __init__(
        self,
        flow: Flow,
        operation: int | None,
        help: Help,
        subquery: Callable[[Node], Flow],
        grouping: frozenset[int] = frozenset(),
    ) -> None:
        self._flow = flow
        self._operation = operation
        self._help = help
        self._subquery = subquery
        self._grouping = grouping

    def of(self, expression: Expression) -> Reasons:
        """Why the value of an expression may be another."""
        if not any(self._matters(one) for one in expression.walk()):
            return ()
        try:
            return self._of(expression)
        except RecursionError:  # so deep that nothing is said of what a sort or a size makes harmless
            return together(*(self._own(one) for one in expression.walk()))

    def _matters(self, one: Expression) -> bool:
        return one.kind in _INTERESTING or bool(one.plans) or (one.id is not None and one.id in self._flow.values)

    def _of(self, one: Expression) -> Reasons:
        if one.kind == "AggregateExpression":
            return self._aggregate(one.children[0], one.arguments.get("isDistinct") is True)
        below = together(*(self._of(child) for child in one.children))
        if one.kind in _SORTS_LIST or one.kind in _IGNORES_ORDER or self._may_sort(one):
            below = tuple(each for each in below if each.touch is not Touch.LIST)
        elif one.kind in _ROUNDS or (one.kind == "Cast" and (one.data_type or "").startswith(_WHOLE_TYPES)):
            below = tuple(each for each in below if each.touch is not Touch.DIGITS)
        elif one.kind in ("GetArrayItem", "ElementAt", "Slice", "Head", "Last"):
            below = tuple(replace(each, touch=Touch.VALUE) if each.touch is Touch.LIST else each for each in below)
        return together(below, self._own(one))

    def _may_sort(self, one: Expression) -> bool:
        """Is it a function of Python's that does not plainly keep a list in its order?"""
        function = self._help.function_of(one) if one.kind in _PYTHON else None
        return function is not None and not shows_order(function)

    def _own(self, one: Expression) -> Reasons:
        """What one expression adds by itself."""
        if one.kind == "AttributeReference" and one.id is not None:
            return self._flow.values.get(one.id, ())
        if one.kind in _BY_POSITION:
            return self._by_position(one.kind)
        if one.kind == "MonotonicallyIncreasingID":
            return self._number()
        if one.kind == "SparkPartitionID":
            return (
                self._reason("partition-id", "spark_partition_id() changes with the number of partitions", Touch.RERUN),
            )
        if one.kind in _CLOCKS:
            return (
                self._reason("clock-in-query", "the time at which the query starts goes into its result", Touch.RERUN),
            )
        if one.kind in _PYTHON:
            return self._python(one)
        return tuple(reason for plan in one.plans for reason in self._subquery(plan).reasons)

    def _by_position(self, kind: str) -> Reasons:
        if self._flow.order is Order.FIXED or self._flow.one_row:
            return ()
        name = {"Rand": "rand()", "Randn": "randn()", "Uuid": "uuid()", "Shuffle": "shuffle()"}.get(
            kind, f"{kind.lower()}()"
        )
        return (
            self._reason(
                "random-after-shuffle",
                f"{name} draws by the place of a row in its partition, and the rows come in {self._come()}: a task "
                "that is run again gives other values to the same rows",
            ),
        )

    def _number(self) -> Reasons:
        if self._flow.one_row:
            return ()
        if self._flow.order is Order.FIXED:
            text = "monotonically_increasing_id() changes with the number of partitions"
            return (self._reason("partition-id", text, Touch.RERUN),)
        text = f"monotonically_increasing_id() numbers rows that come in {self._come()}"
        return (self._reason("index-after-shuffle", text),)

    def _python(self, one: Expression) -> Reasons:
        function = self._help.function_of(one)
        seen = causes_in(function) if function is not None else ()
        if seen:
            return (self._reason("luck-in-function", said(one.name or _name(one), seen)),)
        # A table function is that unless it is declared otherwise, so it says nothing.
        if one.arguments.get("udfDeterministic") is False and one.kind != "PythonUDTF":
            text = f"the function {_name(one)} is declared as not deterministic: a retried task gives other values"
            return (self._reason("luck-in-function", text),)
        return ()

    # --- aggregates ---

    def _aggregate(self, function: Expression, distinct: bool = False) -> Reasons:
        below = together(*(self._of(child) for child in function.children))
        if function.kind in _COUNTS and not distinct:
            # What is null is not counted. Luck says what is null where there is a choice.
            chosen = any(one.kind in _CHOICES for child in function.children for one in child.walk())
            return tuple(each for each in below if chosen and each.touch is Touch.VALUE)
        if function.kind in ("ApproximatePercentile", "HyperLogLogPlusPlus", "Count"):
            below = tuple(each for each in below if each.touch is not Touch.DIGITS)
        if function.kind in ("Min", "Max", "CollectSet", "Sum", "Average", "Count", "HyperLogLogPlusPlus"):
            below = tuple(each for each in below if each.touch is not Touch.RERUN or each.rule != "partition-id")
        if self._flow.one_row or self._flow.tells_apart(self._grouping) or self._is_grouped(function):
            return below
        return together(below, self._arrival(function))

    def _is_grouped(self, function: Expression) -> bool:
        """Is it a function of the grouping alone? Then all rows of a group have the same value."""
        used = {one.id for child in function.children for one in child.walk() if one.kind == "AttributeReference"}
        return bool(used) and used <= self._grouping

    def _arrival(self, function: Expression) -> Reasons:
        """What an aggregate takes from the order in which its rows arrive."""
        kind = function.kind
        if kind in _FIRST:
            text = f"{_FIRST[kind]}() takes whichever row of a group arrives first"
            text = text if kind != "Last" else "last() takes whichever row of a group arrives last"
            return (self._reason(AGGREGATE, text + self._after_sort()),)
        if kind in _LISTS:
            if any(one.kind == "SortOrder" for one in function.children):
                return ()
            text = f"{_LISTS[kind]}() keeps the rows of a group in the order in which they arrive{self._after_sort()}"
            return (self._reason(AGGREGATE, text, Touch.LIST),)
        if kind == "CollectSet":
            text = "collect_set() gives its values in the order in which they arrive"
            return (self._reason(AGGREGATE, text, Touch.LIST, Severity.WARNING),)
        if kind in _BY_TIES:
            value, by = function.children[:2]
            if value == by or self._flow.tells_apart({*self._grouping, *_ids(by)}):
                return ()
            text = f"{_BY_TIES[kind]}() takes whichever row arrives last among those that tie"
            return (self._reason("ties-in-max-by", text),)
        if kind == "Mode" and function.arguments.get("reverseOpt") is None:
            text = "mode() takes any of the values that are equally frequent"
            return (self._reason("ties-in-max-by", text),)
        if kind in ("Sum", "Average") and (function.children[0].data_type or "") in _FLOATS:
            name = {"Sum": "sum", "Average": "avg"}[kind]
            text = f"{name}() of floating-point numbers rounds in the order in which they arrive"
            return (self._reason("float-sum", text, Touch.DIGITS),)
        return ()

    def _after_sort(self) -> str:
        was_sorted = self._flow.order is Order.TIES
        return "; that they were sorted before does not help, as grouping shuffles" if was_sorted else ""

    def _come(self) -> str:
        return "any order" if self._flow.order is Order.ANY else "any order among equal sort keys"

    def _reason(self, rule: str, text: str, touch: Touch = Touch.VALUE, severity: Severity | None = None) -> Reason:
        return Reason(rule, text, self._operation, touch, severity)


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The parts of a condition that all have to hold."""
    waiting = [condition]
    while waiting:
        one = waiting.pop()
        if one.kind == "And":
            waiting += one.children
        else:
            yield one


def said(name: str, seen: tuple[Seen, ...]) -> str:
    """What a function looks at that hangs on luck."""
    what = ", ".join(f"{one.what}" for one in seen)
    return f"the function {name} calls {what}: a task that is run again gives other values"


def _name(expression: Expression) -> str:
    name = expression.arguments.get("name")
    return name if isinstance(name, str) else expression.kind


def _ids(expression: Expression) -> set[int]:
    return {one.id for one in expression.walk() if one.kind == "AttributeReference" and one.id is not None}
