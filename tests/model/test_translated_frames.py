"""Models of DataFrame programs whose plans are written down by hand: no Spark is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firesteel.errors import InvalidArgument
from firesteel.model import msvl
from firesteel.model.translate.model import model_of
from firesteel.spark.plans.tree import Expression, Node
from firesteel.values.programs import Action, Api, Operation, Program

HANDLES: Any = None


def expression(kind: str, *children: Expression, type: str | None = None, id: int | None = None, **arguments: Any):
    name = arguments.pop("name", None)
    return Expression(kind, children, id, name, type, True, {}, arguments, HANDLES, 0)


def column(id: int, type: str = "int") -> Expression:
    return expression("AttributeReference", type=type, id=id, name=f"c{id}")


def literal(value: Any, type: str = "int") -> Expression:
    return expression("Literal", type=type, value=value)


def node(
    kind: str, *children: Node, output: tuple[Expression, ...] | None = None, streaming: bool = False, **arguments
):
    given = children[0].output if output is None else output
    return Node(kind, children, given, arguments, streaming, HANDLES, 0)


ROWS = [("a", 3), ("b", None), ("a", -1), (None, 7), ("b", 4)]
K, V = column(1, "string"), column(2)
SOURCE = node("LogicalRDD", output=(K, V))
OTHER = node("LocalRelation", output=(column(11, "string"), column(12)))


def run(
    plan: Node, action: str = "collect", rows: list[Any] = ROWS, other: list[Any] | None = None, **arguments
) -> Any:
    sources = [(SOURCE, rows), *([(OTHER, other)] if other is not None else [])]
    operations = [
        Operation(
            n, "createDataFrame", Api.FRAME, plan=each, partitions=2, reader=lambda data=data: [data[:2], data[2:]]
        )
        for n, (each, data) in enumerate(sources)
    ]
    operations.append(Operation(len(operations), "select", Api.FRAME, tuple(range(len(operations))), plan=plan))
    actions = (Action(0, action, Api.FRAME, (len(operations) - 1,), arguments=arguments),)
    (result,) = msvl.load(model_of(Program(tuple(operations), (), actions))).run()
    return result


def alias(body: Expression, id: int) -> Expression:
    return expression("Alias", body, type=body.data_type, id=id, name=f"c{id}")


def projected(*bodies: Expression) -> Node:
    named = tuple(alias(body, 100 + place) for place, body in enumerate(bodies))
    return node("Project", SOURCE, output=named, projectList=named)


def compared(kind: str, *sides: Expression) -> Expression:
    return expression(kind, *sides, type="boolean")


def test_projections_and_filters():
    more = expression("Add", V, literal(1), type="int")
    assert run(projected(K, more)) == [("a", 4), ("b", None), ("a", 0), (None, 8), ("b", 5)]
    kept = node("Filter", SOURCE, condition=compared("GreaterThan", V, literal(0)))
    assert run(kept) == [("a", 3), (None, 7), ("b", 4)]
    assert run(kept, "count") == 3
    assert run(kept, "take", num=2) == [("a", 3), (None, 7)]


THREE = [literal(True, "boolean"), literal(False, "boolean"), literal(None, "boolean")]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("And", [True, False, None, False, False, False, None, False, None]),
        ("Or", [True, True, True, True, False, None, True, None, None]),
        ("EqualTo", [True, False, None, False, True, None, None, None, None]),
        ("EqualNullSafe", [True, False, False, False, True, False, False, False, True]),
    ],
)
def test_three_values(kind, expected):
    bodies = [compared(kind, a, b) for a in THREE for b in THREE]
    assert run(projected(*bodies), rows=[("a", 1)]) == [tuple(expected)]


def test_more_expressions():
    when = expression("CaseWhen", compared("GreaterThan", V, literal(0)), literal("up", "string"), type="string")
    first = expression("Coalesce", V, literal(9), type="int")
    upper = expression("Upper", K, type="string")
    part = expression("Substring", literal("hello", "string"), literal(-3), literal(2), type="string")
    within = compared("In", V, literal(3), literal(None))
    negative = compared("Not", compared("LessThan", V, literal(0)))
    text = expression("Cast", V, type="string")
    found = run(projected(when, first, upper, part, within, negative, text))
    assert found[0] == ("up", 3, "A", "ll", True, True, "3")
    assert found[1] == (None, 9, "B", "ll", None, None, None)
    assert found[2] == (None, -1, "A", "ll", None, False, "-1")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (expression("Add", literal(2**31 - 1), V, type="int"), "is not between -2147483648 and 2147483647"),
        (
            expression("Divide", literal(1.5, "string"), literal(0), type="double"),
            "division by zero|unsupported operand",
        ),
        (expression("Cast", literal("x", "string"), type="int"), "int cannot read 'x'"),
        (expression("Remainder", V, literal(0), type="int"), "a division by 0"),
    ],
)
def test_errors_of_ansi_mode(body, said):
    with pytest.raises(msvl.RunError, match=said):
        run(projected(body), rows=[("a", 3)])


def aggregate(kind: str, *children: Expression, type: str = "bigint") -> Expression:
    function = expression(kind, *children, type=type)
    return expression("AggregateExpression", function, type=type, isDistinct=False)


def grouped(keys: tuple[Expression, ...], *aggregates: Expression) -> Node:
    outputs = (*keys, *(alias(each, 200 + place) for place, each in enumerate(aggregates)))
    return node("Aggregate", SOURCE, output=outputs, groupingExpressions=keys, aggregateExpressions=outputs)


AGGREGATES = (
    aggregate("Count", literal(1)),
    aggregate("Count", V),
    aggregate("Sum", V),
    aggregate("Min", V, type="int"),
    aggregate("Max", V, type="int"),
    aggregate("Average", V, type="double"),
    aggregate("CollectList", V, type="array<int>"),
)


def test_groups():
    found = {row[0]: row[1:] for row in run(grouped((K,), *AGGREGATES))}
    assert found == {
        "a": (2, 2, 2, -1, 3, 1.0, [3, -1]),
        "b": (2, 1, 4, 4, 4, 4.0, [4]),
        None: (1, 1, 7, 7, 7, 7.0, [7]),
    }
    assert run(grouped((), *AGGREGATES), rows=[]) == [(0, 0, None, None, None, None, [])]
    assert run(grouped((K,), *AGGREGATES), rows=[]) == []


RIGHT = [("a", 10), ("c", 20), (None, 30), ("a", -5)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Inner", [("a", 3, "a", 10), ("a", -1, "a", 10)]),
        ("LeftOuter", [("a", 3, "a", 10), ("a", -1, "a", 10), ("b", None), ("b", 4), (None, 7)]),
        ("RightOuter", [("a", 3, "a", 10), ("a", -1, "a", 10), "a", "c", None]),
        ("FullOuter", [("a", 3, "a", 10), ("a", -1, "a", 10), ("b", None), ("b", 4), (None, 7), "a", "c", None]),
        ("LeftSemi", [("a", 3), ("a", -1)]),
        ("LeftAnti", [("b", None), ("b", 4), (None, 7)]),
    ],
)
def test_joins(kind, expected):
    condition = compared(
        "And", compared("EqualTo", K, OTHER.output[0]), compared("GreaterThan", OTHER.output[1], literal(0))
    )
    half = kind in ("LeftSemi", "LeftAnti")
    output = SOURCE.output if half else SOURCE.output + OTHER.output
    plan = node("Join", SOURCE, OTHER, output=output, joinType=kind, condition=condition)
    whole = []
    for row in expected:
        if isinstance(row, tuple):
            whole.append(row if half or len(row) == 4 else (*row, None, None))
        else:
            whole.append((None, None, row, {"a": -5, "c": 20, None: 30}[row]))
    assert sorted(map(repr, run(plan, other=RIGHT))) == sorted(map(repr, whole))


def order(body: Expression, direction: str = "Ascending", nulls: str = "NullsFirst") -> Expression:
    return expression("SortOrder", body, type=body.data_type, direction=direction, nullOrdering=nulls)


def test_sorts_and_limits():
    by_value = node("Sort", SOURCE, order=(order(V),), **{"global": True})
    assert [row[1] for row in run(by_value)] == [None, -1, 3, 4, 7]
    backwards = node("Sort", SOURCE, order=(order(K, "Descending", "NullsLast"), order(V)), **{"global": True})
    assert run(backwards) == [("b", None), ("b", 4), ("a", -1), ("a", 3), (None, 7)]
    limited = node("GlobalLimit", node("LocalLimit", backwards, limitExpr=literal(2)), limitExpr=literal(2))
    assert run(limited) == [("b", None), ("b", 4)]
    both = node("Union", SOURCE, SOURCE)
    assert run(both, "count") == 10
    assert sorted(map(repr, run(node("Distinct", both)))) == sorted(map(repr, ROWS))


def window(function: Expression, upper: str = "CurrentRow", kind: str = "RangeFrame") -> Expression:
    frame = expression(
        "SpecifiedWindowFrame",
        frameType=kind,
        lower=expression("UnboundedPreceding"),
        upper=expression(upper),
    )
    spec = expression("WindowSpecDefinition", frameSpecification=frame)
    return expression("WindowExpression", function, spec, type=function.data_type)


def test_windows():
    rows = [("a", 3), ("a", 1), ("a", 3), ("b", 5), ("a", None)]
    functions = [
        window(expression("RowNumber", type="int")),
        window(expression("Rank", V, type="int")),
        window(expression("Lag", V, expression("UnaryMinus", literal(1)), literal(None), type="int")),
        window(aggregate("Sum", V)),
        window(aggregate("Sum", V), kind="RowFrame"),
        window(aggregate("Count", literal(1)), "UnboundedFollowing"),
    ]
    named = tuple(alias(each, 300 + place) for place, each in enumerate(functions))
    plan = node(
        "Window",
        SOURCE,
        output=SOURCE.output + named,
        windowExpressions=named,
        partitionSpec=(K,),
        orderSpec=(order(V),),
    )
    assert sorted(run(plan, rows=rows), key=repr) == [
        ("a", 1, 2, 2, None, 1, 1, 4),
        ("a", 3, 3, 3, 1, 7, 4, 4),
        ("a", 3, 4, 3, 3, 7, 7, 4),
        ("a", None, 1, 1, None, None, None, 4),
        ("b", 5, 1, 1, None, 5, 5, 1),
    ]


def test_ranks_after_a_tie():
    functions = [window(expression("Rank", V, type="int")), window(expression("DenseRank", V, type="int"))]
    named = tuple(alias(each, 300 + place) for place, each in enumerate(functions))
    columns = {"windowExpressions": named, "partitionSpec": (K,), "orderSpec": (order(V),)}
    plan = node("Window", SOURCE, output=SOURCE.output + named, **columns)
    assert sorted(run(plan, rows=[("a", 9), ("a", 3), ("a", 3)])) == [("a", 3, 1, 1), ("a", 3, 1, 1), ("a", 9, 3, 2)]


def test_explode():
    letters = expression("Split", K, literal(" ", "string"), literal(-1), type="array<string>")
    explode = expression("Explode", letters, type="string")
    word = column(50, "string")
    plan = node("Generate", SOURCE, output=(*SOURCE.output, word), generator=explode, outer=False)
    rows = [("x y", 1), (None, 2), ("z", 3)]
    assert run(plan, rows=rows) == [("x y", 1, "x"), ("x y", 1, "y"), ("z", 3, "z")]
    outer = node("Generate", SOURCE, output=(*SOURCE.output, word), generator=explode, outer=True)
    assert run(outer, rows=rows)[2] == (None, 2, None)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (node("Expand", SOURCE), "the operator Expand has no translation into MSVL"),
        (node("Project", SOURCE, projectList=(expression("Rand", type="double"),)), "the expression Rand has no"),
        (node("Project", SOURCE, streaming=True, projectList=(K,)), "a streaming query has no translation"),
        (grouped((K,), aggregate("First", V)), "the aggregate First has no translation"),
        (projected(expression("Cast", V, type="decimal(10,0)")), r"a cast from int to decimal\(10,0\) has no"),
        (node("Range", output=(column(77),)), "the source Range is not one whose records can be read"),
        (node("Deduplicate", SOURCE, keys=(K,)), "dropDuplicates of some columns keeps any one"),
        (node("Join", SOURCE, SOURCE, joinType="ExistenceJoin", condition=None), "the join ExistenceJoin has no"),
    ],
)
def test_the_rest_is_refused_by_name(plan, said):
    with pytest.raises(InvalidArgument, match=said):
        run(plan)


def test_sources_that_look_alike_are_told_apart_by_their_columns_ids():
    twin = node("LogicalRDD", output=(column(21, "string"), column(22)))
    operations = [
        Operation(n, "createDataFrame", Api.FRAME, plan=plan, partitions=1, reader=lambda data=data: [data])
        for n, (plan, data) in enumerate([(SOURCE, [("one", 1)]), (twin, [("two", 2)])])
    ]

    def named(leaf: Node) -> Node:
        return Node(
            leaf.kind,
            (),
            tuple(replace(each, name=f"c{(each.id or 0) % 10}") for each in leaf.output),
            {},
            False,
            HANDLES,
            0,
        )

    def collected(plan: Node) -> Any:
        made = [replace(each, plan=named(each.plan)) for each in operations]
        made.append(Operation(2, "select", Api.FRAME, (0, 1), plan=plan))
        return msvl.load(model_of(Program(tuple(made), (), (Action(0, "collect", Api.FRAME, (2,)),)))).run()

    assert collected(node("Union", named(SOURCE), named(twin))) == [[("one", 1), ("two", 2)]]
    again = node("LogicalRDD", output=(column(31, "string"), column(32)))
    with pytest.raises(InvalidArgument, match="is one of several that look alike"):
        collected(named(again))


@pytest.mark.parametrize("name", ["toPandas", "writeStream.start", "write.parquet"])
def test_actions_that_have_no_translation_are_refused(name):
    with pytest.raises(InvalidArgument, match=f"the action {name} has no translation"):
        run(SOURCE, name)


def test_dstreams_are_refused():
    operations = (Operation(0, "queueStream", Api.DSTREAM),)
    with pytest.raises(InvalidArgument, match="a DStream has no translation"):
        model_of(Program(operations, (), (Action(0, "foreachRDD", Api.DSTREAM, (0,)),)))
