"""What flows through plans and RDDs, on trees made by hand: levels, ties, unique keys, what makes luck harmless."""

import random
import time
from dataclasses import replace
from operator import add

import pytest

from firesteel.evidence.lint import Severity
from firesteel.model.lint.flows import Flow, Help, Order, Touch, Untested
from firesteel.model.lint.levels import Facts
from firesteel.model.lint.linting import linted
from firesteel.model.lint.plans import Plans
from firesteel.values.programs import Action, Api, Edge, Function, Level, Operation, Program
from tests.model.lint.trees import call, column, node

# --- plans ---


A, B = column(1, "a"), column(2, "b")
SOURCE = node("LogicalRDD", output=(A, B))


def aggregate_of(function, *keys, child=SOURCE, id_=9):
    alias = column(id_, "out", "Alias", [call("AggregateExpression", function)])
    return node(
        "Aggregate", child, output=(*keys, alias), groupingExpressions=keys, aggregateExpressions=(*keys, alias)
    )


def sort(child, *keys, everywhere=True):
    order = tuple(call("SortOrder", key) for key in keys)
    return node("Sort", child, output=child.output, order=order, **{"global": everywhere})


def limit(child, count=3):
    return node("GlobalLimit", child, output=child.output, limitExpr=call("Literal", value=count))


def shuffled(child):
    return node("RepartitionByExpression", child, output=child.output, partitionExpressions=(A,))


def flow(plan):
    return Plans({}, Help(), lambda leaf: None).flow(plan)


def rules(plan):
    return {reason.rule for reason in flow(plan).reasons}


def test_levels_of_sources_and_shuffles():
    assert flow(SOURCE).level is Level.DETERMINATE
    assert flow(shuffled(SOURCE)).level is Level.UNORDERED
    assert flow(limit(shuffled(SOURCE))).level is Level.INDETERMINATE
    assert flow(limit(SOURCE)).level is Level.DETERMINATE


def test_a_sort_by_all_columns_or_by_a_unique_key_decides_everything():
    assert flow(sort(shuffled(SOURCE), A, B)).order is Order.FIXED
    assert flow(sort(shuffled(SOURCE), A)).order is Order.TIES
    counted = aggregate_of(call("Count", A), A)
    assert flow(sort(counted, A)).order is Order.FIXED
    assert rules(limit(sort(shuffled(SOURCE), A))) == {"ties-after-sort"}
    assert rules(limit(sort(counted, A))) == set()


def test_a_local_sort_decides_only_within_what_it_decides():
    assert flow(sort(shuffled(SOURCE), A, everywhere=False)).order is Order.ANY
    assert flow(sort(shuffled(SOURCE), A, B, everywhere=False)).order is Order.FIXED
    assert flow(sort(SOURCE, A, everywhere=False)).order is Order.FIXED


def test_one_row_cannot_be_in_the_wrong_order():
    assert rules(limit(aggregate_of(call("Max", A)))) == set()
    assert rules(limit(aggregate_of(call("Max", A), B))) == {"take-without-order"}


@pytest.mark.parametrize("kind", ["First", "Last", "AnyValue", "CollectList", "ListAgg", "CollectSet"])
def test_aggregates_that_take_rows_as_they_come(kind):
    assert rules(aggregate_of(call(kind, A), B)) == {"order-sensitive-aggregate"}
    assert rules(aggregate_of(call(kind, B), B)) == set(), "all rows of a group have the same value"
    unique = node("Deduplicate", SOURCE, output=SOURCE.output, keys=(A, B))
    assert rules(aggregate_of(call(kind, A), A, B, child=unique)) == set(), "every group is one row"


def test_what_makes_a_list_harmless():
    listed = column(9, "l", "Alias", [call("AggregateExpression", call("CollectList", A))])
    for around, expected in [("SortArray", set()), ("Size", set()), ("ConcatWs", {"order-sensitive-aggregate"})]:
        out = column(10, "o", "Alias", [call(around, column(9, "l"))])
        below = node(
            "Aggregate", SOURCE, output=(B, listed), groupingExpressions=(B,), aggregateExpressions=(B, listed)
        )
        assert rules(node("Project", below, output=(out,), projectList=(out,))) == expected
    first = column(
        10, "o", "Alias", [call("SortArray", call("GetArrayItem", column(9, "l"), call("Literal", value=0)))]
    )
    taken = node("Project", below, output=(first,), projectList=(first,))
    assert {reason.touch for reason in flow(taken).reasons} == {Touch.VALUE}, "sorting comes too late"


def test_lists_that_are_exploded_are_rows_in_any_order():
    listed = column(9, "l", "Alias", [call("AggregateExpression", call("CollectList", A))])
    below = node("Aggregate", SOURCE, output=(B, listed), groupingExpressions=(B,), aggregateExpressions=(B, listed))

    def exploded(kind, child=below):
        made = column(10, "s")
        spread = node("Generate", child, output=(*child.output, made), generator=call(kind, column(9, "l")))
        return node("Project", spread, output=(B, made), projectList=(B, made))

    assert rules(exploded("Explode")) == set()
    assert rules(exploded("PosExplode")) == {"order-sensitive-aggregate"}
    assert rules(limit(exploded("Explode", sort(below, B)))) == {"take-without-order"}, "its order is that of the list"
    alone = node("Aggregate", SOURCE, output=(listed,), groupingExpressions=(), aggregateExpressions=(listed,))
    assert rules(limit(exploded("Explode", alone))) == {"take-without-order"}, "more than one row"


def test_functions_of_lists():
    out = column(10, "o", "Alias", [call("PythonUDF", column(9, "l"), udfDeterministic=True)])
    listed = column(9, "l", "Alias", [call("AggregateExpression", call("CollectList", A))])
    below = node("Aggregate", SOURCE, output=(B, listed), groupingExpressions=(B,), aggregateExpressions=(B, listed))
    made = node("Project", below, output=(out,), projectList=(out,))

    def rules_of(function):
        plans = Plans({}, Help(function_of=lambda expression: function), lambda leaf: None)
        return {reason.rule for reason in plans.flow(made).reasons}

    assert rules_of(sorted) == rules_of(lambda names: ",".join(sorted(names))) == set()
    assert rules_of(lambda names: ",".join(names)) == {"order-sensitive-aggregate"}


def test_duplicates_of_a_stream_are_the_same_event():
    for kind in ("Deduplicate", "DeduplicateWithinWatermark"):
        assert rules(node(kind, SOURCE, output=SOURCE.output, keys=(A,), streaming=True)) == set()
    assert rules(node("Deduplicate", SOURCE, output=SOURCE.output, keys=(A,))) == {"distinct-on-too-little"}


def test_counts_of_what_hangs_on_luck():
    lucky = node("Deduplicate", SOURCE, output=SOURCE.output, keys=(A,))

    def counted(function, distinct=False):
        alias = column(9, "out", "Alias", [call("AggregateExpression", function, isDistinct=distinct)])
        return rules(node("Aggregate", lucky, output=(alias,), groupingExpressions=(), aggregateExpressions=(alias,)))

    chosen = call("CaseWhen", call("EqualTo", B, call("Literal", value=1)), call("Literal", value=1))
    assert counted(call("Count", B)) == set()
    assert counted(call("Count", B), distinct=True) == {"distinct-on-too-little"}
    assert counted(call("Count", chosen)) == counted(call("HyperLogLogPlusPlus", B)) == {"distinct-on-too-little"}
    assert counted(call("Count", A), distinct=True) == counted(call("HyperLogLogPlusPlus", A)) == set()


def test_frames_of_rows_go_by_places():
    def over(kind, lower, upper, *order, function=None):
        frame = call("SpecifiedWindowFrame", call(lower), call(upper), frameType=kind)
        summed = function or call("AggregateExpression", call("Sum", B))
        out = column(9, "out", "Alias", [call("WindowExpression", summed, call("WindowSpecDefinition", frame))])
        keys = tuple(call("SortOrder", each) for each in order)
        return rules(
            node("Window", SOURCE, output=(A, B, out), windowExpressions=(out,), partitionSpec=(), orderSpec=keys)
        )

    assert over("RowFrame", "UnboundedPreceding", "CurrentRow", A) == {"ties-in-window"}
    assert over("RangeFrame", "UnboundedPreceding", "CurrentRow", A) == set()
    assert over("RowFrame", "UnboundedPreceding", "UnboundedFollowing", A) == set()
    assert over("RowFrame", "UnboundedPreceding", "CurrentRow", A, B) == set()
    assert over("RowFrame", "UnboundedPreceding", "CurrentRow", A, function=call("Rank")) == set()


def test_luck_in_a_column_that_is_dropped_is_harmless():
    lucky = node("Deduplicate", SOURCE, output=SOURCE.output, keys=(A,))
    assert rules(lucky) == {"distinct-on-too-little"}
    assert rules(node("Project", lucky, output=(A,), projectList=(A,))) == set()
    kept = node("Filter", lucky, output=(A, B), condition=call("GreaterThan", B, call("Literal", value=1)))
    assert rules(node("Project", kept, output=(A,), projectList=(A,))) == {"distinct-on-too-little"}


def test_random_numbers_hang_on_order_only_where_there_is_none():
    drawn = column(5, "r", "Alias", [call("Rand", data_type="double")])
    assert rules(node("Project", SOURCE, output=(A, drawn), projectList=(A, drawn))) == set()
    late = node("Project", shuffled(SOURCE), output=(A, drawn), projectList=(A, drawn))
    assert rules(late) == {"random-after-shuffle"}
    again = node("RepartitionByExpression", late, output=late.output, partitionExpressions=(column(5, "r"),))
    assert "luck-in-key" in rules(again)


def test_a_unique_key_survives_a_join_with_a_unique_side():
    left = node("Range", output=(A,))
    right = node("Deduplicate", node("LogicalRDD", output=(B, column(3))), output=(B, column(3)), keys=(B,))
    condition = call("EqualTo", A, B)
    joined = node("Join", left, right, output=(A, B, column(3)), joinType="Inner", condition=condition)
    assert flow(sort(joined, A)).order is Order.FIXED
    many = node("LogicalRDD", output=(B, column(3)))
    joined = node("Join", left, many, output=(A, B, column(3)), joinType="Inner", condition=condition)
    assert flow(sort(joined, A)).order is Order.TIES


def test_a_plan_of_five_thousand_nodes_needs_no_recursion():
    plan = shuffled(SOURCE)
    for _ in range(5000):
        plan = node("Project", plan, output=(A, B), projectList=(A, B))
    assert rules(limit(plan)) == {"take-without-order"}


def test_a_deep_expression_needs_no_recursion():
    one = call("Rand")
    for _ in range(5000):
        one = call("Add", one, call("Literal", value=1))
    out = column(5, "r", "Alias", [one])
    assert rules(node("Project", shuffled(SOURCE), output=(out,), projectList=(out,))) == {"random-after-shuffle"}


# --- RDDs ---


def program(*steps, action="collect", action_functions=(), sources=1):
    """A program of operations that follow each other, and an action on the last."""
    operations = [Operation(number, "parallelize", Api.RDD) for number in range(sources)]
    for name, *functions in steps:
        parent = (operations[-1].id,) if len(operations) > sources else tuple(range(sources))
        operations.append(Operation(len(operations), name, Api.RDD, parent, tuple(functions)))
    edges = tuple(Edge(parent, one.id, False) for one in operations for parent in one.parents)
    acted = Action(0, action, Api.RDD, (operations[-1].id,), tuple(action_functions))
    return Program(tuple(operations), edges, (acted,))


def f(function, parameter="f"):
    return Function(parameter, function)


def found(made, help=None):
    facts = Facts(made, help or Help())
    return {reason.rule for reason, _ in facts.surviving}


def test_a_key_that_is_dropped_takes_its_luck_along():
    salted = ("map", f(lambda x: (random.random(), x)))
    assert found(program(salted)) == {"luck-in-function"}
    assert found(program(salted, ("values",))) == set()
    assert found(program(salted, ("map", f(lambda p: p[1])))) == set()
    assert found(program(salted, ("map", f(lambda p: (p[1], p[0]))), ("values",))) == {"luck-in-function"}
    assert found(program(salted, ("reduceByKey", f(max, "func")), ("values",))) == {"luck-in-key"}


DRAWN = ("mapValues", f(lambda v: v + random.random()))
COUNTED = ("reduceByKey", f(max, "func"))


def test_luck_goes_to_every_part_that_is_made_of_it():
    assert found(program(DRAWN, ("map", f(lambda p: (p[0], p[1] * 2))))) == {"luck-in-function"}
    assert found(program(DRAWN, ("map", f(lambda p: (p[0], p[1] + len(p[0])))))) == {"luck-in-function"}
    assert found(program(DRAWN, ("map", f(lambda p: (p[0], 2))))) == set()
    assert found(program(DRAWN, ("map", f(lambda p: (round(p[1]), p[0]))), COUNTED, ("values",))) == {"luck-in-key"}
    assert found(program(DRAWN, ("map", f(lambda p: (p[1][0], p[0]))), COUNTED)) == set(), "perhaps another part of it"
    index = ("zipWithIndex",)
    assert found(program(COUNTED, index, ("map", f(lambda p: (p[0], p[1] + 1))))) == {"index-after-shuffle"}
    kept = ("filter", f(lambda p: p[1] < 2))
    assert found(program(COUNTED, index, kept, ("keys",))) == {"index-after-shuffle"}
    assert found(program(COUNTED, index, ("filter", f(lambda p: p[0] != "a")), ("keys",))) == set()


def test_luck_stays_where_it_is():
    """No key hangs on luck here, though each record does."""
    third = ("map", f(lambda x: (x, x, time.time())))
    assert found(program(third, ("map", f(lambda t: (t[1], 1))), COUNTED)) == set()
    assert found(program(third, ("map", f(lambda t: (t[2], 1))), COUNTED)) >= {"luck-in-key"}
    assert found(program(DRAWN, ("zipWithIndex",), ("map", f(lambda p: (p[1], 1))), COUNTED)) == set()
    assert found(program(DRAWN, ("zipWithIndex",), ("keys",))) == {"luck-in-function"}
    by_value = ("map", f(lambda x: (random.random(), x)))
    assert "luck-in-key" not in found(program(by_value, ("keyBy", f(lambda p: p[1])), COUNTED))
    assert "luck-in-key" in found(program(by_value, ("keyBy", f(lambda p: p[0])), COUNTED))
    computed = ("map", f(lambda p: (unknown(p), p)))
    assert "luck-in-key" not in found(program(DRAWN, computed, COUNTED)), "perhaps of the key"
    assert "luck-in-key" in found(program(DRAWN, ("map", f(lambda p: (p, 1))), COUNTED)), "all of it is in the key"
    named = ("map", f(lambda x: {"v": x, "at": time.time()}))
    by_name = ("sortBy", f(lambda r: r["v"], "keyfunc"))
    assert found(program(named, by_name)) == {"luck-in-function"}


def test_a_sort_by_luck_decides_nothing():
    salted = ("map", f(lambda x: (random.random(), x)))
    by_all, by_value = ("sortBy", f(lambda p: p, "keyfunc")), ("sortBy", f(lambda p: p[1], "keyfunc"))
    index = ("zipWithIndex",)
    assert found(program(salted, by_all, ("values",), index)) == {"luck-in-key", "index-after-shuffle"}
    assert found(program(salted, ("sortByKey",), ("values",), index)) == {"luck-in-key", "index-after-shuffle"}
    assert found(program(("sortBy", f(lambda x: random.random(), "keyfunc")), action="count")) == {"luck-in-key"}
    assert Facts(program(salted, by_value), Help()).flow(2).order is Order.TIES
    ties = ("sortBy", f(lambda p: (p[1], p[0]), "keyfunc"))
    assert Facts(program(COUNTED, DRAWN, ties), Help()).flow(3).order is Order.ANY
    other = ("sortBy", f(lambda p: (p[0], p[1]), "keyfunc"))
    assert Facts(program(COUNTED, DRAWN, other), Help()).flow(3).order is Order.FIXED, "the key decides"
    assert Facts(program(COUNTED, index, other), Help()).flow(3).order is Order.TIES, "a lucky number decides nothing"


def test_lists_that_are_sorted_later():
    listed = ("groupByKey",), ("mapValues", f(list))
    assert found(program(*listed)) == found(program(*listed, ("mapValues", f(tuple)))) == {"group-in-order"}
    for harmless in (sorted, sum, len, lambda vs: sorted(vs)[0], lambda vs: unknown(vs)):
        assert found(program(*listed, ("mapValues", f(harmless)))) == set()
    assert found(program(*listed, ("map", f(lambda kv: (kv[0], sorted(kv[1])))))) == set()
    assert found(program(*listed, ("map", f(lambda kv: (kv[1], kv[0]))), ("keys",))) == {"group-in-order"}
    assert found(program(*listed, ("values",), ("map", f(sorted)))) == set()
    assert found(program(*listed, ("values",), ("map", f(list)))) == {"group-in-order"}
    both = ("map", f(lambda kv: (kv[0], sorted(kv[1]), list(kv[1]))))
    assert found(program(("groupByKey",), both)) == {"group-in-order"}
    assert found(program(("groupByKey",), both, ("map", f(lambda t: (t[0], t[1]))))) == set(), "the other is dropped"


def unknown(values):
    return values


def test_lists_that_are_spread():
    assert found(program(("groupByKey",), ("flatMapValues", f(list)))) == set()
    assert found(program(("groupByKey",), ("flatMapValues", f(enumerate)))) == {"group-in-order"}
    listed = ("groupByKey",), ("mapValues", f(list))
    assert found(program(*listed, ("flatMapValues", f(lambda vs: vs)))) == set()
    assert found(program(*listed, ("flatMap", f(lambda kv: [(kv[0], v) for v in kv[1]])))) == set()
    assert found(program(*listed, ("flatMap", f(lambda kv: [(kv[0], list(kv[1]))])))) == {"group-in-order"}


def test_glom_shows_the_order_of_a_partition():
    assert found(program(("glom",))) == set()
    assert found(program(COUNTED, ("glom",))) == {"group-in-order"}
    assert found(program(COUNTED, ("glom",), ("map", f(len)))) == set()
    (one,) = linted(program(COUNTED, ("glom",))).findings
    assert one.severity is Severity.WARNING


def checkpointed(made, id_):
    """The same program, in which one operation is checkpointed."""
    operations = [replace(one, checkpointed=one.id == id_) for one in made.operations]
    return replace(made, operations=tuple(operations))


def test_a_checkpoint_is_read_by_a_retry():
    for steps, rule in (
        ([DRAWN, COUNTED], "retry-recomputes"),
        ([DRAWN, ("repartition",)], "round-robin-of-indeterminate"),
        ([COUNTED, ("repartition",)], "round-robin-after-shuffle"),
        ([("map", f(lambda x: (random.random(), x))), COUNTED], "luck-in-key"),
    ):
        assert rule in found(program(*steps))
        assert rule not in found(checkpointed(program(*steps), 1))
        assert rule in found(checkpointed(program(*steps), 2)), "after it is too late"
    kept = checkpointed(program(DRAWN, COUNTED), 1)
    assert found(kept) == {"luck-in-function"}, "another run draws others all the same"
    assert Facts(kept, Help()).flow(1).level is Level.DETERMINATE


def test_reducers_of_the_same_value():
    ones, nothing = ("map", f(lambda word: (word, 1))), ("map", f(lambda word: (word, None)))
    help = Help(sample=lambda operation: [("a", 1)], reducer=lambda function, values: "evidence")
    odd = ("reduceByKey", f(lambda a, b: 2 * a + b, "func"))
    assert found(program(ones, odd), help) == {"reducer-not-commutative"}
    first = ("reduceByKey", f(lambda a, b: a, "func"))
    assert found(program(nothing, first), help) == set(), "distinct, as PySpark itself does it"
    assert found(program(first), help) == {"reducer-not-commutative"}


def test_all_samples_are_announced_before_the_first_is_taken():
    calls = []

    def sample(operation):
        calls.append(operation)
        return [("a", 1)]

    help = Help(coming=lambda operations: calls.append(set(operations)), sample=sample)
    unknown = f(lambda a, b: (a * b) % 7, "func")
    read = f(max, "func")
    plain = f(lambda a, b: a - b, "func")
    found(program(("reduceByKey", unknown), ("reduceByKey", read), ("reduceByKey", unknown)), help)
    assert calls == [{0, 2}, 0, 2], "what is plain from reading is not sampled"
    calls.clear()
    found(program(("reduceByKey", read), ("reduceByKey", plain)), help)
    assert calls == []


@pytest.mark.parametrize("values, rules", [([{1}, {2}], set()), ([1, 2], set()), ([{"a": 1}], {"tested"})])
def test_unions_of_dictionaries_are_tested(values, rules):
    asked = []
    help = Help(sample=lambda operation: [("a", each) for each in values], reducer=lambda *given: asked.append(given))
    assert found(program(("reduceByKey", f(lambda a, b: a | b, "func"))), help) == set()
    assert bool(asked) == bool(rules)


@pytest.mark.parametrize(
    "name, zero, function, expected",
    [
        ("fold", 1, add, {"zero-not-neutral"}),
        ("fold", 0, add, set()),
        ("fold", 2, lambda a, b: a * b, {"zero-not-neutral"}),
        ("fold", 0, lambda a, b: a * b, set()),
        ("fold", 5, max, set()),
        ("treeAggregate", 3, add, {"zero-not-neutral"}),
    ],
)
def test_what_a_fold_starts_with(name, zero, function, expected):
    source = Operation(0, "parallelize", Api.RDD, ())
    parameter = "op" if name == "fold" else "combOp"
    action = Action(0, name, Api.RDD, (0,), (Function(parameter, function),), arguments={"zeroValue": zero})
    assert {one.rule for one in linted(Program((source,), (), (action,))).findings} == expected


def test_values_that_hang_on_luck_are_not_a_key():
    drawn = ("mapValues", f(lambda v: v + random.random()))
    assert found(program(drawn, ("reduceByKey", f(max, "func")))) == {"luck-in-function", "retry-recomputes"}


def test_unique_keys_of_rdds():
    counted = ("reduceByKey", f(max, "func"))
    assert found(program(counted, ("sortByKey",), action="first")) == set()
    assert found(program(counted, ("mapValues", f(abs)), ("sortByKey",), action="first")) == set()
    swapped = ("map", f(lambda p: (p[1], p[0])))
    assert found(program(counted, swapped, ("sortByKey",), action="first")) == {"ties-after-sort"}
    by_both = ("sortBy", f(lambda p: (p[0], p[1]), "keyfunc"))
    assert found(program(counted, swapped, by_both, action="first")) == set()
    assert found(program(("sortByKey",), action="first")) == {"ties-after-sort"}


def test_a_sort_whose_key_is_not_known_may_have_ties():
    assert found(program(("sortBy",), action="first")) == {"ties-after-sort"}


def test_a_reducer_is_tested_with_values_of_the_program():
    asked = []

    def reducer(function, values):
        asked.append(values)
        return "f('x', 'y') = 'xy', f('y', 'x') = 'yx'"

    help = Help(sample=lambda operation: [("a", "x"), ("a", "y")], reducer=reducer)
    assert found(program(("reduceByKey", f(add, "func"))), help) == {"reducer-not-commutative"}
    assert asked == [["x", "y"]]
    assert found(program(("reduceByKey", f(max, "func"))), help) == set(), "nothing to test"
    ones = ("map", f(lambda word: (word, 1)))
    assert found(program(ones, ("reduceByKey", f(add, "func"))), help) == set(), "sums of whole numbers"


def test_a_dstream_may_be_sorted_as_a_whole():
    """`transform` is given RDDs. What sorts these has ties at most."""
    sorts = f(lambda rdd: rdd.sortByKey(False))
    assert found(program(("groupByKey",), ("transform", sorts), action="first")) == {"ties-after-sort"}
    keeps = f(lambda rdd: rdd.filter(bool))
    assert found(program(("groupByKey",), ("transform", keeps), action="first")) == {"take-without-order"}


def test_table_functions_are_not_declared_by_their_default():
    for kind, expected in (("PythonUDTF", set()), ("PythonUDF", {"luck-in-function"})):
        made = call(kind, A, udfDeterministic=False)
        alias = column(9, "out", "Alias", [made])
        assert rules(node("Project", SOURCE, output=(alias,), projectList=(alias,))) == expected


def test_what_merges_accumulators_is_tested_with_these():
    """Not with what is read: texts are joined in order, the numbers of their letters are not."""
    asked = []

    def reducer(function, values):
        asked.append(values)
        return "evidence" if isinstance(values[0], str) else None

    samples = {0: [("a", "x"), ("a", "yy")], 1: [("a", 3)]}
    help = Help(sample=lambda operation: samples[operation], reducer=reducer)
    either = f(lambda a, b: a + b if a else b, "combFunc")  # what it does is not plain
    letters = f(lambda count, word: count + len(word), "seqFunc"), either
    assert found(program(("aggregateByKey", *letters)), help) == set()
    start = f(len, "createCombiner"), f(lambda count, word: count + len(word), "mergeValue")
    assert found(program(("combineByKey", *start, f(either.object, "mergeCombiners"))), help) == set()
    assert asked == [[3], [3]]


@pytest.mark.parametrize("name", ["aggregate", "treeAggregate"])
@pytest.mark.parametrize("zero, rules", [(0, set()), ("", {"reducer-not-commutative"})])
def test_an_accumulator_that_starts_with_a_number_is_one(name, zero, rules):
    help = Help(
        sample=lambda operation: ["x", "yy"],
        reducer=lambda function, values: "evidence" if isinstance(values[0], str) else None,
    )
    source = Operation(0, "parallelize", Api.RDD, ())
    action = Action(0, name, Api.RDD, (0,), (Function("combOp", add),), arguments={"zeroValue": zero})
    assert {one.rule for one in linted(Program((source,), (), (action,)), help=help).findings} == rules


def test_what_reading_does_not_say_is_found_out():
    draws, called = random.Random(7), []

    def repeats(function, values):
        called.append(values)
        return "f(1) gives 2, and then 3"

    help = Help(sample=lambda operation: [("a", 1)], repeats=repeats)
    for name in ("map", "mapValues", "filter"):
        assert found(program((name, f(lambda v: v + draws.random()))), help) == {"luck-in-function"}
        assert found(program((name, f(lambda v: v + draws.random())))) == set(), "nothing may be called"
    assert called == [[("a", 1)], [1], [("a", 1)]]
    assert found(program(("map", f(lambda v: v.real + 1))), help) == set() and len(called) == 3, "all is plain"
    many = [("map", f(lambda v: v + draws.random())) for _ in range(9)]
    found(program(*many), help)
    assert len(called) == 8


def test_what_cannot_be_tested_is_told():
    def reducer(function, values):
        raise Untested("it needs a database")

    odd = f(lambda a, b: a.merged_with(b), "func")
    made = program(("reduceByKey", odd))
    tested = linted(made, help=Help(sample=lambda operation: [("a", 1)], reducer=reducer)).notes
    assert any("was not tested (it needs a database)" in note for note in tested)
    assert any("was not tested (nothing is run again)" in note for note in linted(made).notes)


def test_sums_of_floating_point_numbers_are_not_reported_by_themselves():
    help = Help(sample=lambda operation: [("a", 0.1)], reducer=lambda function, values: None)
    made = program(("reduceByKey", f(add, "func")))
    facts = Facts(made, help)
    assert {reason.touch for reason, _ in facts.surviving} == {Touch.DIGITS}
    assert facts.flow(1).level is Level.INDETERMINATE


def test_a_flow_without_luck():
    assert Flow().level is Level.DETERMINATE and Flow(Order.ANY).level is Level.UNORDERED
    assert Flow(Order.ANY, one_row=True).level is Level.DETERMINATE


def test_a_second_look_at_duplicates_is_harmless():
    once = node("Deduplicate", SOURCE, output=SOURCE.output, keys=(A, B))
    by_key = aggregate_of(call("Max", B), A)
    assert rules(node("Deduplicate", by_key, output=by_key.output, keys=(A,))) == set(), "the key is unique already"
    assert rules(once) == set(), "there is no other column"


def test_one_row_stays_one_row():
    whole = aggregate_of(call("Max", A))
    assert flow(whole).one_row and not flow(aggregate_of(call("Max", A), B)).one_row
    assert flow(shuffled(whole)).one_row and rules(limit(shuffled(whole))) == set()


def test_a_union_is_in_order_only_if_all_parts_are():
    assert flow(node("Union", SOURCE, SOURCE, output=(A, B))).order is Order.FIXED
    assert flow(node("Union", SOURCE, shuffled(SOURCE), output=(A, B))).order is Order.ANY


def test_a_sum_of_floating_point_numbers_matters_where_it_is_compared():
    price = column(3, "x", data_type="double")
    source = node("LogicalRDD", output=(A, price))
    total = aggregate_of(call("Sum", price, data_type="double"), A, child=source)
    three = call("Literal", value=3)

    def kept(test):
        return flow(node("Filter", total, output=total.output, condition=test)).rows

    assert [one.rule for one in kept(call("EqualTo", column(9, "out"), three))] == ["float-sum"]
    assert kept(call("EqualTo", call("Round", column(9, "out")), three)) == ()
    assert kept(call("GreaterThan", column(9, "out"), three)) == ()
    assert {one.touch for one in flow(total).reasons} == {Touch.DIGITS}


def test_the_largest_by_itself_has_no_ties():
    assert rules(aggregate_of(call("MaxBy", A, A), B)) == set()
    assert rules(aggregate_of(call("MaxBy", A, B), column(3))) == {"ties-in-max-by"}


def test_the_clock_of_a_query_is_the_same_in_a_retry():
    stamp = column(5, "t", "Alias", [call("CurrentTimestamp")])
    stamped = node("Project", SOURCE, output=(A, stamp), projectList=(A, stamp))
    assert rules(stamped) == {"clock-in-query"} and flow(stamped).level is Level.DETERMINATE


def test_taking_the_smallest_by_a_key():
    counted = ("reduceByKey", f(max, "func"))
    by_number, by_key = f(lambda p: p[1], "key"), f(lambda p: p[0], "key")
    assert found(program(counted, action="takeOrdered", action_functions=[by_number])) == {"ties-after-sort"}
    assert found(program(counted, action="takeOrdered", action_functions=[by_key])) == set()
    assert found(program(counted, action="takeOrdered")) == set()


def test_a_count_does_not_see_values():
    drawn = ("mapValues", f(lambda v: v + random.random()))
    assert found(program(drawn, action="count")) == set()
    kept = ("filter", f(lambda v: random.random() < 0.5))
    assert found(program(kept, action="count")) == {"luck-in-function"}


def test_luck_beside_the_key_stays_there():
    beside = ("map", f(lambda x: (x, random.random())))
    assert found(program(beside, ("reduceByKey", f(max, "func")))) == {"luck-in-function", "retry-recomputes"}
    assert found(program(beside, ("keys",))) == set()
