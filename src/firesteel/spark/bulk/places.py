"""Where records are in a bulk run: in the order and the partitions that they have alone, or mixed with other cases.

A source keeps the records of a case in the partitions, and in the order, that they have alone. Most nodes keep that. A
shuffle by something that cases are told apart by does not: records of a case then meet in another order. To most of
what follows that is all the same. To some it is not: to a function that sees partitions, to a sum of floats, to the
first record of a key. Those are refused behind such a shuffle.
"""

from __future__ import annotations

from firesteel.spark.failures import CannotCarry
from firesteel.spark.plans.tree import Expression, Node

# They hand records on as they come. (A static table is joined by the subject's own keys, as it is alone.)
_IN_ORDER = frozenset(
    {"Project", "Filter", "SubqueryAlias", "View", "Generate", "LateralJoin", "ResolvedHint", "EventTimeWatermark",
     "Union", "Expand", "MapInPandas", "MapInArrow"}
)  # fmt: skip


def comes_in_order(node: Node) -> bool:
    """Does a plan put out the records of a case in the partitions, and in the order, that they have alone?"""
    if not node.is_streaming or not node.children:
        return True
    match node.kind:
        case kind if kind in _IN_ORDER:
            keeps = True
        case "Join":
            keeps = not all(child.is_streaming for child in node.children)
        case "Repartition":
            keeps = not node.argument("shuffle")
        case "RepartitionByExpression":
            keeps = bool(node.expressions_of("partitionExpressions"))
        case _:
            keeps = False
    return keeps and all(map(comes_in_order, node.children))


def refuse_behind_shuffle(node: Node) -> None:
    """Refuse a node to which the order of records matters, behind a shuffle."""
    if not all(map(comes_in_order, node.children)):
        raise CannotCarry(
            f"behind a shuffle, its {node.kind} sees records in another order, or in other partitions, than alone"
        )


# --- aggregates ---

# Their results are the same, to the last bit, in whichever order records are combined.
_IN_ANY_ORDER = frozenset(
    {"Max", "Min", "Count", "CountIf", "BoolAnd", "BoolOr", "BitAndAgg", "BitOrAgg", "BitXorAgg", "HyperLogLogPlusPlus",
     "Percentile", "Median"}
)  # fmt: skip
# Theirs depend on the order, and on nothing else.
_IN_GIVEN_ORDER = frozenset(
    {"Sum", "Average", "First", "Last", "AnyValue", "CollectList", "CollectSet", "ListAgg", "MaxBy", "MinBy",
     "StddevSamp", "StddevPop", "VarianceSamp", "VariancePop", "Skewness", "Kurtosis", "Corr", "CovSample",
     "CovPopulation", "Product"}
)  # fmt: skip
# Sums of these neither overflow nor round: not with as many records as a run can have.
_SMALL = frozenset({"tinyint", "smallint", "int"})
# Those of these do not round.
_WHOLE = _SMALL | {"bigint"}

# Those that keep a list. Spark sorts the groups of a task where these are many, and then lists come in another order.
_LISTS = frozenset({"CollectList", "CollectSet", "ListAgg"})


def makes_lists(plan: Node) -> bool:
    """Does a plan gather values in lists?"""
    results = (each for node in plan.walk() if node.kind == "Aggregate" for each in node.expressions)
    return any(function.kind in _LISTS for result in results for function in aggregates_in(result))


def aggregates_in(result: Expression) -> list[Expression]:
    """The aggregate functions in a result of an aggregation."""
    return [each.children[0] for each in result.walk() if each.kind == "AggregateExpression"]


def is_exact(result: Expression) -> bool:
    """Is the result of an aggregation the same in whichever batches its records come, also where it overflows?"""
    return all(_in_any_order(function, _SMALL) for function in aggregates_in(result))


def _in_any_order(function: Expression, summed: frozenset[str]) -> bool:
    """Is an aggregate the same to the last bit in any order, if sums of some types are?"""
    kind = function.children[0].data_type if function.children else None
    sums = function.kind == "Sum" and kind in summed
    means = function.kind == "Average" and kind in _SMALL
    return function.kind in _IN_ANY_ORDER or sums or means


def refuse_unknown_aggregates(node: Node) -> None:
    """Refuse aggregates that are not known, as approximate ones, and those to which a shuffle below matters."""
    functions = [each for result in node.expressions_of("aggregateExpressions") for each in aggregates_in(result)]
    for function in functions:
        if function.kind not in _IN_ANY_ORDER | _IN_GIVEN_ORDER:
            raise CannotCarry(
                f"it uses an aggregate whose result may depend on how records are spread over partitions: "
                f"{function.kind}"
            )
    if not all(_in_any_order(function, _WHOLE) for function in functions):
        refuse_behind_shuffle(node)


# --- generators ---

_GENERATORS = frozenset({"Explode", "PosExplode", "Inline", "Stack", "JsonTuple", "VariantExplode"})


def refuse_unknown_generator(node: Node) -> None:
    """Refuse functions that make rows, and may keep something from one record to the next."""
    (generator,) = node.expressions_of("generator")
    while generator.kind == "GeneratorOuter":
        (generator,) = generator.children
    if generator.kind not in _GENERATORS:
        raise CannotCarry(f"it uses a table function, which may keep something between records: {generator.kind}")


# --- doubt ---

_SAFE = frozenset(
    {"Project", "Filter", "SubqueryAlias", "View", "ResolvedHint", "EventTimeWatermark", "Union", "Aggregate",
     "Deduplicate", "Distinct", "Generate"}
)  # fmt: skip
# Those below, aggregates that are known, and what a window of event time is made of.
_SAFE_FUNCTIONS = frozenset(
    {"AttributeReference", "Alias", "Literal", "Cast", "Add", "Subtract", "Multiply", "Divide", "IntegralDivide",
     "Remainder", "UnaryMinus", "Abs", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan",
     "GreaterThanOrEqual", "And", "Or", "Not", "In", "IsNull", "IsNotNull", "CaseWhen", "If", "Coalesce", "Greatest",
     "Least", "Concat", "Upper", "Lower", "Length", "Substring", "GetStructField", "CreateNamedStruct", "CreateArray",
     "KnownNullable", "PreciseTimestampConversion", "TimestampAdd", "TimeAdd", "AggregateExpression", "Explode"}
) | _IN_ANY_ORDER | _IN_GIVEN_ORDER  # fmt: skip


def is_doubtful(plan: Node) -> bool:
    """Does a plan hold anything but nodes and functions that are known to be carried well?"""
    return any(
        node.is_streaming
        and node.children
        and (
            node.kind not in _SAFE
            or any(each.kind not in _SAFE_FUNCTIONS for top in node.expressions for each in top.walk())
        )
        for node in plan.walk()
    )
