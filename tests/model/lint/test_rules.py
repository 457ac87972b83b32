"""The rules about keys and streams, on plans made by hand. Without Spark."""

import json

import pytest

from firesteel.model.lint.flows import Help
from firesteel.model.lint.linting import linted
from firesteel.values.programs import Action, Api, Function, Operation, Program
from tests.model.lint.trees import call, column, node


def rules(plan, help=None, **action):
    operation = Operation(0, "select", Api.FRAME, plan=plan)
    acted = (Action(0, "writeStream.start", Api.FRAME, (0,), **action),) if action else ()
    return [one.rule for one in linted(Program((operation,), (), acted), help=help).findings]


# --- keys ---


def joined(left, right, condition=None):
    sides = node("LogicalRDD", output=(left,)), node("LogicalRDD", output=(right,))
    condition = call("EqualTo", left, right) if condition is None else condition
    return node("Join", *sides, output=(left, right), joinType="Inner", condition=condition)


@pytest.mark.parametrize(
    "one, other, expected",
    [
        ("int", "string", ["join-key-types"]),
        ("string", "date", ["join-key-types"]),
        ("double", "bigint", ["join-key-types"]),
        ("double", "double", ["float-join-key"]),
        ("float", "double", ["float-join-key"]),
        ("int", "bigint", []),
        ("string", "string", []),
        ("decimal(10,2)", "int", []),
    ],
)
def test_types_of_join_keys(one, other, expected):
    left, right = column(1, "a", data_type=one), column(2, "b", data_type=other)
    assert rules(joined(left, right)) == expected
    cast = call("EqualTo", call("Cast", left, data_type="bigint"), call("Cast", right, data_type="bigint"))
    assert rules(joined(left, right, cast)) == expected, "Spark's own casts are looked through"
    assert rules(joined(left, right, cast), Help(is_written=lambda cast: True)) == [], "the user's are not"


def test_an_equality_of_one_side_is_not_a_key():
    left, right = column(1, "a", data_type="double"), column(2, "b", data_type="double")
    assert rules(joined(left, right, call("EqualTo", left, call("Literal", data_type="double")))) == []


def test_not_in():
    inner, outer = column(1, "k"), column(2, "k")
    source = node("LogicalRDD", output=(inner,))

    def kept(subquery):
        condition = call("Not", call("InSubquery", outer, call("ListQuery", plan=subquery)))
        return rules(node("Filter", node("LogicalRDD", output=(outer,)), output=(outer,), condition=condition))

    assert kept(source) == ["null-in-not-in"]
    assert kept(node("LogicalRDD", output=(column(1, "k", nullable=False),))) == []
    not_null = call("And", call("IsNotNull", inner), call("GreaterThan", inner, call("Literal", value=1)))
    filtered = node("Filter", source, output=(inner,), condition=not_null)
    assert kept(filtered) == []
    renamed = column(7, "other", "Alias", [inner])
    assert kept(node("Project", filtered, output=(column(7, "other"),), projectList=(renamed,))) == []
    either = node("Filter", source, output=(inner,), condition=call("Or", call("IsNotNull", inner), inner))
    assert kept(either) == ["null-in-not-in"]


# --- streams ---

TS, LATER, KEY = column(1, "ts", delay=60_000), column(2, "later", delay=60_000), column(3, "k")


def stream(*columns):
    return node("StreamingRelationV2", output=columns, streaming=True)


def marked(child, mark="one"):
    return node("EventTimeWatermark", child, output=child.output, streaming=True, nodeId=mark)


def grouped(child, *keys):
    return node("Aggregate", child, output=keys, streaming=True, groupingExpressions=keys, aggregateExpressions=keys)


def test_aggregations_of_streams():
    assert rules(grouped(stream(KEY), KEY)) == ["aggregation-without-watermark"]
    assert rules(grouped(marked(stream(TS, KEY)), KEY)) == ["unbounded-state"]
    assert rules(grouped(marked(stream(TS, KEY)), TS, KEY)) == []
    assert rules(grouped(stream(KEY))) == rules(grouped(marked(stream(TS)))) == [], "one group"
    rows = node("LogicalRDD", output=(KEY,))
    assert rules(node("Aggregate", rows, output=(KEY,), groupingExpressions=(KEY,), aggregateExpressions=(KEY,))) == []


def test_a_watermark_that_comes_too_late():
    assert "watermark-after-aggregation" in rules(marked(grouped(stream(TS), TS)))
    assert "watermark-after-aggregation" not in rules(marked(grouped(marked(stream(TS)), TS), "two"))


def test_two_watermarks():
    slow = column(2, "later", delay=3_600_000)
    both = node("Union", marked(stream(TS)), marked(stream(slow), "two"), output=(TS,), streaming=True)
    assert rules(both) == ["two-watermarks"]
    for policy in ("min", "max"):
        assert rules(both, Help(setting={"spark.sql.streaming.multipleWatermarkPolicy": policy}.get)) == []
    same = node("Union", marked(stream(TS)), marked(stream(LATER), "two"), output=(TS,), streaming=True)
    assert rules(same) == []


@pytest.mark.parametrize(
    "conditions, bounded",
    [
        ([call("LessThan", TS, LATER)], False),
        ([call("LessThan", TS, LATER), call("GreaterThan", TS, LATER)], True),
        (
            [call("LessThan", TS, LATER), call("LessThanOrEqual", LATER, call("Add", TS, call("Literal", value=5)))],
            True,
        ),
        ([call("LessThan", TS, LATER), call("GreaterThan", LATER, TS)], False),
        ([call("EqualTo", TS, LATER)], True),
        ([call("Between", input=LATER, lower=TS, upper=call("Add", TS))], True),
        ([call("EqualTo", column(3), column(4))], False),
    ],
)
def test_joins_of_streams_need_bounds_on_both_sides(conditions, bounded):
    condition = conditions[0] if len(conditions) == 1 else call("And", *conditions)
    sides = marked(stream(TS, column(3))), marked(stream(LATER, column(4)), "two")
    join = node("Join", *sides, output=(TS, LATER), streaming=True, joinType="Inner", condition=condition)
    assert rules(join) == ([] if bounded else ["unbounded-state"])


def test_duplicates_of_streams():
    def once(child, *keys, kind="Deduplicate"):
        kept = node(kind, child, output=child.output, streaming=True, keys=keys)
        return node("Project", kept, output=keys, streaming=True, projectList=keys)

    assert rules(once(stream(KEY), KEY)) == ["deduplication-without-watermark"]
    assert rules(once(marked(stream(TS, KEY)), KEY)) == ["deduplication-without-watermark"]
    assert rules(once(marked(stream(TS, KEY)), TS, KEY)) == []
    assert rules(once(marked(stream(TS, KEY)), KEY, kind="DeduplicateWithinWatermark")) == []


def test_state_of_functions():
    def forgets(key, frames, state):
        state.remove()

    def keeps(key, frames, state):
        state.update((1,))

    def adds_up(new, old):
        return sum(new) + (old or 0)

    def of_keys(function):
        words = Operation(0, "socketTextStream", Api.DSTREAM)
        kept = Operation(1, "updateStateByKey", Api.DSTREAM, (0,), (Function("updateFunc", function),))
        return [one.rule for one in linted(Program((words, kept), (), ())).findings]

    assert of_keys(adds_up) == ["unbounded-state"] and of_keys(lambda new, old: sum(new) or None) == []

    def flat(function, timeout="NoTimeout"):
        one = call("PythonUDF", udfDeterministic=True)
        made = node(
            "FlatMapGroupsInPandasWithState",
            stream(KEY),
            output=(KEY,),
            streaming=True,
            functionExpr=one,
            timeout=timeout,
        )
        return rules(made, Help(function_of=lambda expression: function))

    assert flat(keeps) == ["unbounded-state"]
    assert flat(lambda key, frames, state: frames) == [], "it keeps nothing"
    assert flat(forgets) == [] and flat(keeps, "EventTimeTimeout") == []


def adds(frame, number):
    frame.write.mode("append").save("there")


def adds_by_number(frame, number):
    frame.write.mode("append").save(f"there/{number}")


def shows(frame, number):
    frame.select("text", "save", "append").show()
    seen = [json.dumps(frame.columns)]
    seen.append(frame.count())


def logs(frame, number):
    with open("log", "a") as file:
        file.write(json.dumps(frame.count()))


def merges(frame, number):
    frame.mergeInto("there", "id = id").whenMatched().updateAll().merge()


def test_sinks():
    counts = grouped(marked(stream(TS)), TS)

    def written(plan, mode, function=None, **arguments):
        functions = () if function is None else (Function("func", function),)
        return rules(plan, functions=functions, arguments={"outputMode": mode, **arguments})

    assert written(counts, "update", source="kafka") == ["output-repeats-rows"]
    assert written(counts, "complete", format="delta") == ["output-repeats-rows"]
    assert written(counts, "append", source="kafka") == [] and written(counts, "update", source="console") == []
    assert written(stream(KEY), "update", source="kafka") == [], "there are no groups"
    assert written(counts, "update", adds_by_number) == ["output-repeats-rows"]
    assert written(counts, "update", merges) == []
    assert written(stream(KEY), "append", adds) == ["foreach-batch-appends"]
    assert written(stream(KEY), "append", shows) == written(stream(KEY), "append", logs) == []
    assert written(stream(KEY), "append", adds_by_number) == [] and written(stream(KEY), "append", merges) == []


def test_windows_of_processing_time():
    clock = column(5, "w", "Alias", [call("CurrentTimestamp")])
    timed = node("Project", marked(stream(TS)), output=(column(5, "w", delay=1),), streaming=True, projectList=(clock,))
    found = rules(grouped(timed, column(5, "w", delay=1)))
    assert "processing-time-window" in found
