"""Where operations of DataFrames stand in physical plans: small plans made by hand, without Spark."""

from itertools import count

import pytest

from firesteel.spark.capture.executions import Physical
from firesteel.spark.capture.frames import Placed, added_by, parents_in
from firesteel.spark.plans.tree import Expression, Node
from firesteel.values.programs import Api, Operation

numbers = count(100)


def ran(kind, output, *children):
    return Physical(next(numbers), kind, frozenset(output), children, ())


def attribute(id_):
    return Expression("AttributeReference", (), id_, f"c{id_}", "bigint", True, {}, {}, None, 0)


def node(kind, output, *children):
    return Node(kind, children, tuple(map(attribute, output)), {}, False, None, 0)


def placed(root, *operations):
    """Operations given as plan and parents, placed in a physical plan."""
    found, plans = Placed(root), []
    for number, (plan, *parents) in enumerate(operations):
        plans.append(plan)
        operation = Operation(number, plan.kind, Api.FRAME, tuple(parents))
        found.place(operation, *added_by(plan, [plans[one] for one in parents]))
    return found


def stages(found, root):
    """Where every operator has a stage of its own, named by its number."""
    running = {one.id: [one.id] for one in root.walk()}
    return found.stages(running)


def aggregation(child, partial, final):
    exchange = ran("ShuffleExchangeExec", partial, ran("HashAggregateExec", partial, child))
    return ran("HashAggregateExec", final, exchange)


def test_new_columns_tell_the_place():
    scan = ran("RangeExec", [1])
    final = aggregation(scan, [1, 9], [1, 2])
    source, grouped = node("Range", [1]), None
    grouped = node("Aggregate", [1, 2], source)
    found = placed(final, (source,), (grouped, 0))
    assert found.at == {0: scan, 1: final}
    assert found.shuffles_between(0, 1)


def test_an_aggregation_whose_columns_were_pruned():
    scan = ran("RangeExec", [1])
    final = aggregation(scan, [1], [1])
    source = node("Range", [1])
    found = placed(final, (source,), (node("Aggregate", [1, 2], source), 0))
    assert found.at[1] is final and found.shuffles_between(0, 1)


def test_distinct_is_an_aggregation_and_the_next_one_is_another():
    scan = ran("RangeExec", [1])
    first = aggregation(scan, [1], [1])
    second = aggregation(first, [8], [2])
    source = node("Range", [1])
    distinct = node("Distinct", [1], source)
    found = placed(second, (source,), (distinct, 0), (node("Aggregate", [2], distinct), 1))
    assert found.at == {0: scan, 1: first, 2: second}
    assert found.shuffles_between(1, 2)


def test_halves_that_need_no_shuffle():
    scan = ran("RangeExec", [1])
    half = ran("HashAggregateExec", [1], scan)
    second = aggregation(ran("HashAggregateExec", [1], half), [8], [2])
    source = node("Range", [1])
    distinct = node("Distinct", [1], source)
    found = placed(second, (source,), (distinct, 0), (node("Aggregate", [2], distinct), 1))
    assert found.at == {0: scan, 1: half, 2: second}
    assert not found.shuffles_between(0, 1) and found.shuffles_between(1, 2)


@pytest.mark.parametrize("kind, wide", [("ShuffleExchangeExec", True), ("BroadcastExchangeExec", False)])
def test_a_join_is_wide_where_it_shuffles(kind, wide):
    left, right = ran("RangeExec", [1]), ran("RangeExec", [2])
    join = ran("SortMergeJoinExec", [1, 2], ran(kind, [1], left), ran(kind, [2], right))
    a, b = node("Range", [1]), node("Range", [2])
    found = placed(join, (a,), (b,), (node("Join", [1, 2], a, b), 0, 1))
    assert found.at == {0: left, 1: right, 2: join}
    assert found.shuffles_between(0, 2) is wide and found.shuffles_between(1, 2) is wide


def test_a_sort_that_was_not_needed_did_not_run():
    scan = ran("RangeExec", [1])
    final = ran("HashAggregateExec", [5], scan)
    source = node("Range", [1])
    ordered = node("Sort", [1], source)
    found = placed(final, (source,), (ordered, 0), (node("Filter", [1], ordered), 1))
    told = stages(found, final)
    assert 1 not in told, "it is gone"
    assert told[0] == told[2] == (scan.id,), "a filter runs with what it reads from"


def test_a_repartition_runs_where_it_is_read():
    scan = ran("RangeExec", [1])
    exchange = ran("ShuffleExchangeExec", [1], scan)
    project = ran("ProjectExec", [1, 2], exchange)
    source = node("Range", [1])
    moved = node("Repartition", [1], source)
    found = placed(project, (source,), (moved, 0), (node("Project", [1, 2], moved), 1))
    assert found.shuffles_between(0, 1) and not found.shuffles_between(1, 2)
    assert stages(found, project) == {0: (scan.id,), 1: (project.id,), 2: (project.id,)}


def test_a_source_that_is_read_twice():
    first, second = ran("RangeExec", [1]), ran("RangeExec", [1])
    root = ran("UnionExec", [1], first, second)
    found = placed(root, (node("Range", [1]),))
    assert set(stages(found, root)[0]) == {first.id, second.id}


def test_views_that_a_query_reads():
    view, other = node("Range", [1]), node("Range", [2])
    query = node("Join", [1, 2], node("View", [1], view), node("Filter", [2], other))
    assert parents_in(query, {id(view): 3, id(other): 5, id(node("Range", [1])): 7}) == (3, 5)
    assert parents_in(query, {}) == ()


def test_a_node_that_was_added():
    source = node("Range", [1])
    filtered = node("Filter", [1], source)
    top = node("Project", [1, 4], filtered)
    added, new = added_by(top, [source])
    assert [one.kind for one in added] == ["Project", "Filter"] and new == [4]
