"""Rules about order: what takes the first, numbers by place, or lists as rows arrive."""

from __future__ import annotations

from collections.abc import Iterable

from firesteel.model.lint.levels import Facts
from firesteel.model.lint.rdds import SHUFFLING
from firesteel.model.lint.rules.rule import ERROR, WARNING, Found, Rule, surviving
from firesteel.spark.plans.tree import Node
from firesteel.values.programs import Api

_PASSING = frozenset({"Project", "Filter", "SubqueryAlias", "View", "ResolvedHint", "EventTimeWatermark"})
_DESTROYING = {
    "Aggregate": "grouping",
    "Join": "a join",
    "Repartition": "repartition",
    "RepartitionByExpression": "repartition",
    "Deduplicate": "dropDuplicates",
    "Distinct": "distinct",
}
_NARROW = frozenset({"map", "filter", "flatMap", "mapValues", "flatMapValues", "keyBy", "keys", "values"})


def _sorts_for_nothing(facts: Facts) -> Iterable[Found]:
    yield from _rdd_sorts(facts)
    for node in facts.nodes:
        how = _DESTROYING.get(node.kind)
        if how is not None and node.arguments.get("shuffle") is not False:
            for child in node.children:
                sort = _sort_below(child)
                if sort is not None:
                    yield Found(
                        f"the order of this sort is lost in {how} at a later step, which shuffles",
                        facts.plans.owner(sort),
                    )


def _sort_below(node: Node) -> Node | None:
    while node.kind in _PASSING and len(node.children) == 1:
        node = node.children[0]
    return node if node.kind == "Sort" and node.arguments.get("global") is True else None


def _rdd_sorts(facts: Facts) -> Iterable[Found]:
    program = facts.program
    wanted = {one for action in program.actions for one in action.operations}
    for operation in program.operations:
        if operation.api is Api.RDD and operation.name in ("sortBy", "sortByKey"):
            at = operation.id
            while at not in wanted and len(program.children[at]) == 1:
                (at,) = program.children[at]
                reader = program.operations[at]
                if reader.name in SHUFFLING and reader.name != "repartition":  # what is sorted is dealt out alike
                    yield Found(f"the order of this sort is lost in {reader.name}, which shuffles", operation.id)
                if reader.name not in _NARROW:
                    break


RULES = (
    Rule(
        "take-without-order",
        ERROR,
        "first, take, head or limit of rows that come in any order",
        "counts.take(1) gives ('a', 2) in one run and ('b', 1) in the next",
        "sort by a unique key first: orderBy('id').limit(3)",
        surviving("take-without-order"),
        why=(
            "A shuffle hands its rows on as they arrive, and on a cluster that is another order in every run. "
            "Spark on one machine always shows the same order, so tests do not see it."
        ),
    ),
    Rule(
        "ties-after-sort",
        WARNING,
        "first, take or limit of rows that are sorted by a key that is not unique",
        "of ('a', 2), ('b', 2), sorted by the number, take(1) gives either",
        "add a unique key to the sort: sortBy(lambda p: (-p[1], p[0]))",
        surviving("ties-after-sort"),
        why=(
            "A sort decides nothing between rows with equal keys: they stay in the order in which a shuffle "
            "brought them. Where the cut lies between two such rows, either is taken."
        ),
    ),
    Rule(
        "index-after-shuffle",
        ERROR,
        "zipWithIndex, zipWithUniqueId, zip or monotonically_increasing_id on rows that come in any order",
        "'a' has the index 0 in one run and 1 in the next; a retried task gives two rows the same index",
        "sort by a unique key first, or number by content: row_number() over a unique order",
        surviving("index-after-shuffle"),
        ticket="SPARK-23207",
        why=(
            "These numbers go by a row's place in its partition. When a task is run again, after a lost executor, "
            "its rows come in another order: some results have the old number of a row, others the new one."
        ),
    ),
    Rule(
        "group-in-order",
        ERROR,
        "a function that goes by the order of the values that groupByKey or glom gives",
        "groupByKey().mapValues(list) gives [1, 2] in one run and [2, 1] in the next",
        "sort the values: mapValues(sorted)",
        surviving("group-in-order"),
        why="The values of a key come from several map tasks, and are appended as these arrive.",
    ),
    Rule(
        "order-sensitive-aggregate",
        ERROR,
        "collect_list, first, last or any_value, which take rows as they arrive",
        "collect_list of 1, 2, 3 gives [1, 2, 3] in one run and [3, 1, 2] in the next; first gives 1 or 3",
        "sort_array(collect_list(x)), min_by(x, unique_key), or min and max",
        surviving("order-sensitive-aggregate"),
        why=(
            "Grouping shuffles, and these functions take rows as they arrive. A sort before the grouping does not "
            "help, as the shuffle does not keep it. Spark calls these functions deterministic."
        ),
    ),
    Rule(
        "ties-in-max-by",
        WARNING,
        "max_by, min_by or mode, where several rows may be the largest",
        "max_by(name, score) of ('a', 7), ('b', 7) gives either name",
        "order by a struct that ends in a unique key: max_by(name, struct(score, id))",
        surviving("ties-in-max-by"),
        why="Where several rows are the largest, the one that arrives last wins.",
    ),
    Rule(
        "ties-in-window",
        WARNING,
        "row_number, lag, first, a frame of rows and the like over an order that is not unique",
        "of two rows with the same time, either has row_number 1",
        "add a unique key to the window's orderBy, or use rank()",
        surviving("ties-in-window"),
        why=(
            "Rows of a window that tie in its order stay as the shuffle brought them, and these functions go by "
            "their places."
        ),
    ),
    Rule(
        "distinct-on-too-little",
        ERROR,
        "dropDuplicates on some columns, where the others are kept from whichever row arrives first",
        "of (1, 'a'), (1, 'b'), dropDuplicates(['k']) keeps 'a' in one run and 'b' in the next",
        "groupBy(key).agg(min_by(...)), or select only the key",
        surviving("distinct-on-too-little"),
        why=(
            "Spark keeps one row of each key: the first that arrives. What the other columns hold comes from that row. "
            "Streams are left out: an event that comes twice is the same event."
        ),
    ),
    Rule(
        "reducer-not-commutative",
        ERROR,
        "a reducer whose result hangs on the order of its arguments",
        "reduce(lambda a, b: a - b) over 1, 2, 3, 4 gives -8 in one partition and 0 in two",
        "a function that is commutative and associative: a sum, max, min, or a set",
        surviving("reducer-not-commutative"),
        why=(
            "Spark merges what it has in each partition, and then the partial results as they arrive. Only a "
            "function that is commutative and associative gives the same for every way of merging."
        ),
    ),
    Rule(
        "zero-not-neutral",
        WARNING,
        "a fold or aggregate that starts with a value which changes the result",
        "fold(1, add) over 1, 2, 3 gives 8 in one partition and 9 in two",
        "start with what changes nothing, 0 for a sum and 1 for a product, and add the rest afterwards",
        surviving("zero-not-neutral"),
        confirmable=False,
        why=(
            "Spark starts every partition with this value, and merges it once more at the end. How many partitions "
            "there are changes with the cluster and the files."
        ),
    ),
    Rule(
        "float-sum",
        WARNING,
        "a sum of floating-point numbers that is compared, grouped or joined exactly",
        "0.1 + 0.2 + 0.3 is 0.6000000000000001 or 0.6, by the order of arrival",
        "round it, or sum decimals: sum(col.cast('decimal(20, 6)'))",
        surviving("float-sum"),
        why=(
            "Floating-point numbers are rounded after each addition, so the last digits hang on the order. That "
            "matters where the sum is compared exactly."
        ),
    ),
    Rule(
        "sort-destroyed",
        WARNING,
        "a sort whose order a later shuffle destroys",
        "orderBy('t').groupBy('k').agg(first('v')): grouping does not keep the order",
        "leave the sort out, or sort last",
        _sorts_for_nothing,
        confirmable=False,
        why=(
            "A shuffle deals rows out by key and does not keep their order. The sort costs time, and suggests an "
            "order that is not there."
        ),
    ),
)
