"""The trees of real programs: what must be found in them, and in how few calls."""

from dataclasses import replace

import pandas as pd
import pytest
from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import StructType
from pyspark.util import PythonEvalType

from firesteel.spark.engines.source import MemorySource
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.plans import reader
from firesteel.spark.plans.reader import analysed

FIVE_MINUTES = 300_000


@pytest.fixture
def events(spark):
    return MemorySource(spark, StructType.fromDDL("ts TIMESTAMP, k INT, n INT, s STRING")).df


@pytest.fixture
def in_sql(spark, events):
    events.createOrReplaceTempView("events")
    spark.range(3).selectExpr("CAST(id AS INT) AS k", "'x' AS name").createOrReplaceTempView("names")
    yield spark.sql
    spark.catalog.dropTempView("events")
    spark.catalog.dropTempView("names")


def kinds(plan):
    return [node.kind for node in plan.walk()]


def only(plan, kind):
    (found,) = [node for node in plan.walk() if node.kind == kind]
    return found


def calls(plan, kind):
    return [call for node in plan.walk() for top in node.expressions for call in top.walk() if call.kind == kind]


def test_a_windowed_aggregation(events):
    marked = events.withWatermark("ts", "5 minutes")
    plan = analysed(marked.groupBy(F.window("ts", "10 minutes"), "k").agg(F.sum("n").alias("total")))
    assert plan.kind == "Aggregate" and plan.is_streaming
    assert [(column.name, column.data_type) for column in plan.output] == [
        ("window", "struct<start:timestamp,end:timestamp>"), ("k", "int"), ("total", "bigint")
    ]  # fmt: skip
    window, key = plan.expressions_of("groupingExpressions")
    assert (window.kind, window.is_event_time, window.delay) == ("AttributeReference", True, FIVE_MINUTES)
    assert not key.is_event_time and key.id in plan.children[0].ids
    (total,) = calls(plan, "AggregateExpression")
    assert (total.children[0].kind, total.children[0].data_type) == ("Sum", "bigint")
    watermark = only(plan, "EventTimeWatermark")
    (column,) = watermark.expressions_of("eventTime")
    assert [attribute.delay for attribute in watermark.output if attribute.id == column.id] == [FIVE_MINUTES]
    assert not any(attribute.is_event_time for attribute in watermark.children[0].output)


@pytest.mark.parametrize(
    "how, kind",
    [("inner", "Inner"), ("left", "LeftOuter"), ("right", "RightOuter"), ("full", "FullOuter"),
     ("left_semi", "LeftSemi"), ("left_anti", "LeftAnti")],
)  # fmt: skip
def test_a_join(spark, events, how, kind):
    others = MemorySource(spark, StructType.fromDDL("k2 INT, b INT")).df
    join = only(analysed(events.join(others, F.expr("k = k2 AND n < b"), how)), "Join")
    assert join.argument("joinType") == kind
    (condition,) = join.expressions_of("condition")
    assert [part.kind for part in condition.children] == ["EqualTo", "LessThan"]
    left, right = (set(child.ids) for child in join.children)
    assert [attribute.id in left for attribute in condition.children[0].children] == [True, False]
    assert {attribute.id for attribute in condition.walk() if attribute.id is not None} <= left | right


def test_a_join_of_a_stream_with_itself_reads_it_twice(events):
    plan = analysed(events.alias("a").join(events.alias("b"), "k"))
    first, second = (node for node in plan.walk() if not node.children)
    assert first.kind == second.kind and not set(first.ids) & set(second.ids)
    assert [column.name for column in first.output] == [column.name for column in second.output]


def test_a_plan_that_stands_in_two_places_comes_once(events):
    plan = analysed(events.where("n > 2").select("k"))
    twice = replace(plan, kind="Union", children=(plan, plan))
    assert kinds(twice) == ["Union", *kinds(plan)]


def test_a_union(events):
    plan = only(analysed(events.select("k", "n").union(events.select("n", "k"))), "Union")
    assert len(plan.children) == 2 and plan.ids == plan.children[0].ids != plan.children[1].ids


def test_duplicates(events):
    marked = events.withWatermark("ts", "5 minutes")
    assert [key.name for key in only(analysed(marked.dropDuplicates(["k", "s"])), "Deduplicate").expressions] == [
        "k", "s"
    ]  # fmt: skip
    within = only(analysed(marked.dropDuplicatesWithinWatermark(["k"])), "DeduplicateWithinWatermark")
    assert [key.name for key in within.expressions_of("keys")] == ["k"]


def test_distinct_records(in_sql):
    assert "Distinct" in kinds(analysed(in_sql("SELECT DISTINCT k FROM events")))


def test_common_table_expressions(in_sql):
    plan = analysed(in_sql("WITH big AS (SELECT * FROM events WHERE n > 1) SELECT a.k FROM big a JOIN names USING (k)"))
    assert {"WithCTE", "CTERelationDef", "CTERelationRef"} <= set(kinds(plan))
    assert only(plan, "CTERelationDef").is_streaming


@pytest.mark.parametrize(
    "condition",
    ["k < (SELECT max(k) FROM names)", "k IN (SELECT k FROM names)",
     "EXISTS (SELECT 1 FROM names WHERE names.k = events.k)"],
)  # fmt: skip
def test_subqueries(in_sql, condition):
    plan = analysed(in_sql(f"SELECT * FROM events WHERE {condition}"))
    where = next(node for node in plan.walk() if node.kind == "Filter" and node.subqueries)
    (subquery,) = where.subqueries
    assert where.is_streaming and not subquery.is_streaming and subquery not in where.children
    assert "Range" in [node.kind for node in subquery.walk()] and "Range" in kinds(plan)


def test_a_lateral_subquery(in_sql):
    plan = analysed(in_sql("SELECT e.k, t.name FROM events e, LATERAL (SELECT name FROM names WHERE names.k = e.k) t"))
    assert len(only(plan, "LateralJoin").children) == 1
    assert "Range" in kinds(plan)


@pytest.mark.parametrize("timeout", ["NoTimeout", "EventTimeTimeout", "ProcessingTimeTimeout"])
def test_groups_with_state(events, timeout):
    def nothing(key, frames, state):
        yield pd.DataFrame({"k": []})

    grouped = events.withWatermark("ts", "5 minutes").groupBy("k", "s")
    node = only(
        analysed(grouped.applyInPandasWithState(nothing, "k INT", "c INT", "append", timeout)),
        "FlatMapGroupsInPandasWithState",
    )
    assert node.argument("timeout") == timeout
    assert [key.name for key in node.expressions_of("groupingAttributes")] == ["k", "s"]
    (function,) = node.expressions_of("functionExpr")
    assert (function.kind, function.arguments["name"], function.arguments["evalType"]) == ("PythonUDF", "nothing", 208)


class Silent(StatefulProcessor):
    def init(self, handle):
        pass

    def handleInputRows(self, key, rows, timerValues):
        yield Row(k=key[0])

    def close(self):
        pass


@pytest.mark.parametrize("mode, given", [("NoTime", "none"), ("EventTime", "eventTime"), ("ProcessingTime",) * 2])
@pytest.mark.parametrize("form", ["python_row", "pandas"])
def test_a_processor(events, mode, given, form):
    grouped = events.withWatermark("ts", "5 minutes").groupBy("k")
    start = grouped.transformWithStateInPandas if form == "pandas" else grouped.transformWithState
    node = only(analysed(start(Silent(), "k INT", "append", given)), "TransformWithStateInPySpark")
    assert (node.argument("timeMode"), node.argument("userFacingDataType")) == (mode, form)
    assert (node.argument("groupingAttributesLen"), node.argument("hasInitialState")) == (1, False)
    assert node.children[0].output[0].name == "k"


def test_python_functions(events):
    @F.udf("int")
    def doubled(n):
        return n * 2

    @F.pandas_udf("double")
    def half(n: pd.Series) -> pd.Series:
        return n / 2

    found = calls(analysed(events.select(doubled("n"), half(doubled(F.col("n") + 1)))), "PythonUDF")
    assert [(call.arguments["name"], call.data_type) for call in found] == [
        ("doubled", "int"), ("half", "double"), ("doubled", "int")
    ]  # fmt: skip
    row_by_row = {PythonEvalType.SQL_BATCHED_UDF, PythonEvalType.SQL_ARROW_BATCHED_UDF}
    assert [call.arguments["evalType"] in row_by_row for call in found] == [True, False, True]
    assert found[1].arguments["evalType"] == PythonEvalType.SQL_SCALAR_PANDAS_UDF
    assert found[1].children == (found[2],)


# --- values ----------------------------------------------------------------------------------------------------------


def test_literals_and_names_come_through_whole(spark):
    strange = 'a "b" \\ \n\t\x01 ä 漢 𝄞'
    frame = spark.range(1).select(
        F.lit(strange), F.lit(-(2**40)), F.lit(True), F.lit(None), F.lit(1.5), F.col("id").alias(strange)
    )
    plan = analysed(frame)
    text, number, truth, null, double = (alias.children[0] for alias in plan.expressions[:5])
    assert (text.value, number.value, truth.value, null.value) == (strange, -(2**40), True, None)
    assert plan.output[-1].name == strange
    with pytest.raises(KeyError):
        double.value  # noqa: B018


def test_nullability_types_and_metadata(spark):
    described = F.col("id").alias("n", metadata={"unit": "ä", "of": {"deep": [1, 2]}})
    (column, maybe) = analysed(spark.range(1).select(described, F.expr("array(nullif(id, 1))").alias("xs"))).output
    assert (column.data_type, column.nullable, column.metadata) == (
        "bigint", False, {"unit": "ä", "of": {"deep": [1, 2]}}
    )  # fmt: skip
    assert (maybe.data_type, maybe.nullable, maybe.is_event_time) == ("array<bigint>", False, False)


def test_a_type_with_many_fields_is_not_cut(spark):
    wide = F.struct(*(F.lit(index).alias(f"f{index}") for index in range(100)))
    assert analysed(spark.range(1).select(wide.alias("w"))).output[0].data_type.count(":") == 100


def test_every_handle_is_the_object_it_describes(events):
    plan = analysed(events.withWatermark("ts", "5 minutes").groupBy(F.window("ts", "10 minutes"), "k").count())
    found = list(plan.walk())
    for node in found:
        assert node.handle.getClass().getSimpleName() == node.kind
        for expression in (*node.output, *(each for top in node.expressions for each in top.walk())):
            assert expression.handle.getClass().getSimpleName() == expression.kind
            if expression.id is not None:
                assert expression.handle.exprId().id() == expression.id
    assert len(found) > 4


def test_trees_are_values(events):
    frame = events.where("n > 1").select("k")
    assert analysed(frame) == analysed(frame) != analysed(events.where("n > 2").select("k"))
    assert len({analysed(frame), analysed(frame)}) == 1


# --- calls -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(spark, monkeypatch):
    """Every command that is sent to the JVM, but for those that let go of an object."""
    client = spark.sparkContext._gateway._gateway_client
    seen, send = [], client.send_command

    def counting(command, *args, **kwargs):
        if not command.startswith("m\n"):
            seen.append(command)
        return send(command, *args, **kwargs)

    monkeypatch.setattr(client, "send_command", counting)
    return seen


def test_a_plan_is_read_in_few_calls(spark, events, asked):
    frame = events.where("n > 1").groupBy("k").count()
    analysed(frame)  # compiles the reader, unless it is there
    asked.clear()
    assert len(list(analysed(frame).walk())) >= 3
    assert len(asked) <= 5


def test_a_large_plan_comes_in_pieces(spark, events, asked):
    columns = [(F.col("n") + index).alias(f"c{index}") for index in range(200)]
    frame = events.select(*columns).groupBy("c0").agg(*(F.sum(f"c{index}") for index in range(200)))
    asked.clear()
    plan = analysed(frame)
    assert len(calls(plan, "Sum")) == 200 and len(asked) < 50
    assert plan.ids == [attribute.exprId().id() for attribute in map(plan.handle.output().apply, range(201))]


def test_a_deep_expression(events):
    condition = F.col("n") == 0
    for index in range(1, 100):
        condition = condition | (F.col("n") == index)
    plan = analysed(events.where(condition))
    assert len(calls(plan, "EqualTo")) == 100


# --- what cannot be read ---------------------------------------------------------------------------------------------


def test_a_spark_that_the_reader_does_not_fit_is_named(events, monkeypatch):
    monkeypatch.setattr(reader, "_SOURCE", reader._SOURCE.replace("plan.isStreaming()", "plan.isStreamed()"))
    monkeypatch.setattr(reader, "_readers", type(reader._readers)())
    with pytest.raises(SubjectFailure, match=r"cannot read a plan of this version of Spark.*isStreamed"):
        analysed(events)


def test_an_argument_that_is_not_there_is_named(events):
    with pytest.raises(SubjectFailure, match="Project has no joinType"):
        analysed(events.select("k")).argument("joinType")
