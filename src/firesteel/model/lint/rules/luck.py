"""Rules about chance and time: random numbers, clocks, and what a second computation gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set

from firesteel.model.lint.flows import Reason, Touch
from firesteel.model.lint.levels import Facts
from firesteel.model.lint.reading import accumulators_in, causes_in, state_in
from firesteel.model.lint.rules.rule import ERROR, WARNING, Found, Rule, surviving
from firesteel.spark.plans.tree import Expression, Node
from firesteel.values.programs import Action, Api, Operation

_EFFECTS = frozenset({"foreach", "foreachPartition", "foreachBatch", "foreachRDD"})
_PASSED_BY_FILTERS = frozenset(
    {"Project", "Filter", "SubqueryAlias", "View", "ResolvedHint", "Sort", "Join", "Generate"}
    | {"Repartition", "RepartitionByExpression"}
)
_DRAWING = frozenset({"sample", "sampleBy", "sampleByKey", "randomSplit", "takeSample"})
_COMPUTED_AGAIN = frozenset({"luck-in-function", "random-after-shuffle", "sample-after-shuffle"})


def _twice(facts: Facts) -> Iterable[Found]:
    """Functions that hang on luck, where rows are kept by the result and show it: Spark calls them for each of the two.

    Spark pushes a filter down through what computes its columns, and then computes them again for the filter. In
    several columns it computes a function once.
    """
    for root in _roots(facts):
        for node in root.walk():
            for alias in node.expressions_of("projectList") if node.kind == "Project" else ():
                if any(_is_undeclared_luck(facts, one) for one in alias.walk()) and _is_used_twice(root, node, alias):
                    yield Found(
                        f"rows are kept by the column {alias.name}, or by what is made of it, and show it. Spark may "
                        "call its function, which hangs on luck, once for each: they see other values",
                        facts.plans.owner(node),
                    )


def _is_undeclared_luck(facts: Facts, one: Expression) -> bool:
    if one.kind != "PythonUDF" or one.arguments.get("udfDeterministic") is not True:
        return False
    called = facts.help.function_of(one)
    return called is not None and bool(causes_in(called))


def _is_used_twice(root: Node, project: Node, column: Expression) -> bool:
    """Does a condition that Spark pushes down look at a column, or at what is made of it, and something else too?"""
    ids, used = {column.id}, {column.id} & {one.id for one in root.output}
    pushed = False
    for node in reversed(list(root.walk())):  # what is below comes first
        for top in node.expressions:
            if top.kind == "AttributeReference" or top.id == column.id or not _reads(top, ids):
                continue
            if node.kind in ("Filter", "Join"):
                pushed = pushed or _is_pushed_to(node, project)
            else:
                used.add(top.id)
                ids |= {top.id} if node.kind == "Project" and top.id is not None else set()
    return pushed and bool(used)


def _reads(expression: Expression, ids: Set[int | None]) -> bool:
    return any(one.kind == "AttributeReference" and one.id in ids for one in expression.walk())


def _is_pushed_to(condition: Node, project: Node) -> bool:
    """Is there nothing on the way down that rows are kept before?"""
    waiting = [*condition.children]
    while waiting:
        node = waiting.pop()
        if node is project:
            return True
        if node.kind in _PASSED_BY_FILTERS:
            waiting += node.children
    return False


def _roots(facts: Facts) -> Iterator[Node]:
    """The plans of what the actions were called on, and of what nothing reads."""
    program = facts.program
    seen: set[int] = set()
    for id_ in [*(one for action in program.actions for one in action.operations), *facts.ends]:
        plan = program.operations[id_].plan
        if isinstance(plan, Node) and id(plan) not in seen:
            seen.add(id(plan))
            yield plan


def _reused(facts: Facts) -> Iterable[Found]:
    """Operations that hang on luck and are computed for several results, each time anew."""
    program = facts.program
    times: Counter[int] = Counter()
    filled: set[int] = set()
    for action in program.actions:
        if action.error is None:
            times.update(_computed(facts, action, filled))
    for operation in program.operations:
        own = [one for one in facts.flow(operation.id).reasons if one.operation == operation.id and _again(one)]
        if own and times[operation.id] > 1 and not operation.cached:
            yield Found(
                f"{operation.name} is computed {times[operation.id]} times, and hangs on luck ({own[0].text}): the "
                "results are of different records",
                operation.id,
            )


def _again(reason: Reason) -> bool:
    return reason.rule in _COMPUTED_AGAIN and reason.touch is Touch.VALUE


def _computed(facts: Facts, action: Action, filled: set[int]) -> Counter[int]:
    """How often an action computes each operation, along every way that leads to it; what is kept is computed once.

    `filled` has what earlier actions kept, and is added to.
    """
    found: Counter[int] = Counter()
    waiting = Counter(action.operations)
    while waiting:
        id_ = max(waiting)  # parents have smaller numbers, so all ways to this one are known
        count = waiting.pop(id_)
        operation = facts.program.operations[id_]
        found[id_] += count
        for parent in operation.parents if id_ not in filled else ():
            waiting[parent] += 1 if operation.cached else count
        if operation.cached:
            filled.add(id_)
    return found


def _unseeded(facts: Facts) -> Iterable[Found]:
    called: list[Operation | Action] = [*facts.program.operations, *facts.program.actions]
    for one in called:
        if one.name in _DRAWING and one.api is not Api.DSTREAM and not _has_seed(one):
            at = one.operations[0] if isinstance(one, Action) else one.id
            acted = one.id if isinstance(one, Action) else None
            yield Found(f"{one.name} has no seed: every run of the program draws other rows", at, acted)


def _has_seed(one: Operation | Action) -> bool:
    given = one.arguments
    if one.functions or not given:
        return True  # it is not a sample of Spark's, or not known how it was called
    if one.name == "sample" and one.api is Api.FRAME and isinstance(given.get("withReplacement"), float):
        return given.get("fraction") is not None  # sample(0.5, 7): everything stands one place further left
    return given.get("seed") is not None


def _accumulators(facts: Facts) -> Iterable[Found]:
    for operation in facts.program.operations:
        for function in operation.functions:
            for name in accumulators_in(function.object) if operation.name not in _EFFECTS else ():
                yield Found(
                    f"{operation.name} adds to the accumulator {name}: a task that is run again adds again, and "
                    "without an action it adds nothing",
                    operation.id,
                )


def _state(facts: Facts) -> Iterable[Found]:
    for operation in facts.program.operations:
        functions = [one.object for one in operation.functions if operation.name not in _EFFECTS]
        for name in dict.fromkeys(name for one in functions for name in state_in(one)):
            if operation.api is not Api.DSTREAM or operation.name not in _EFFECTS:
                yield Found(
                    f"a function of {operation.name} changes {name}, which is outside of it: every Python worker has "
                    "a copy of its own, and keeps it for the tasks that happen to come to it",
                    operation.id,
                )


RULES = (
    Rule(
        "luck-in-function",
        WARNING,
        "a function that calls a clock, draws unseeded random numbers, or asks for its process or machine",
        "map(lambda x: (x, time.time())) gives another value when the task is run again",
        "hand the time over as a value; draw from random.Random(seed of the record), or F.rand(seed)",
        surviving("luck-in-function"),
        why=(
            "Spark runs tasks again after failures, and for every action on something that is not cached. Each "
            "time the function gives other values."
        ),
    ),
    Rule(
        "luck-in-key",
        ERROR,
        "random numbers, a clock or an order of arrival in the key of a shuffle",
        "repartition(rand()) after a shuffle: a retried task sends 'a' to another partition, where it is read twice",
        "make the key of the row's content: pmod(xxhash64('id'), 16)",
        surviving("luck-in-key"),
        ticket="SPARK-38160",
        why=(
            "The key says which task reads a row. When a map task is run again with other keys, a row that one "
            "task has read already goes to a second one as well, and another row goes to none. Spark takes the "
            "result for complete."
        ),
    ),
    Rule(
        "random-after-shuffle",
        WARNING,
        "rand, uuid or shuffle on rows that come in any order",
        "repartition(3).withColumn('r', rand(7)): the seed does not help, as values go by the place of a row",
        "draw before the shuffle, or hash the row: xxhash64('id', lit(7))",
        surviving("random-after-shuffle"),
        ticket="SPARK-38160",
        why=(
            "Spark draws for each partition from a seed, one number for each row in turn. In another order the "
            "rows get other numbers, seed or not."
        ),
    ),
    Rule(
        "sample-after-shuffle",
        ERROR,
        "sample, randomSplit or takeSample of rows that come in any order",
        "groupByKey().sample(False, 0.5, seed=7) draws other records when a task is run again",
        "sample before the shuffle, sort by a unique key, or keep rows by a hash of their key",
        surviving("sample-after-shuffle"),
        why=("Whether a row is drawn goes by its place in its partition. A task that is run again draws other rows."),
    ),
    Rule(
        "sample-without-seed",
        WARNING,
        "sample, randomSplit or takeSample without a seed",
        "a model is trained on other rows in every run, and a wrong result cannot be had again",
        "sample(0.5, seed=7)",
        _unseeded,
        confirmable=False,
        why="Without a seed Spark takes another one for every call. A retry draws the same rows, another run does not.",
    ),
    Rule(
        "round-robin-of-indeterminate",
        ERROR,
        "repartition(n) of rows that hang on luck",
        "repartition(3) of a, b, c may give a, a, c: one task was run again and dealt its rows out differently",
        "repartition by a key, or checkpoint what hangs on luck before (a cache is lost with its machine)",
        surviving("round-robin-of-indeterminate"),
        ticket="SPARK-23207",
        why=(
            "Spark deals rows out in turn, and sorts them before by their content, so that a second run deals "
            "them out alike. Where the content itself changes, rows are lost or doubled."
        ),
    ),
    Rule(
        "round-robin-after-shuffle",
        WARNING,
        "repartition(n) of an RDD whose records come in any order",
        "a lost executor makes Spark run all stages after the repartition again, or give up",
        "partitionBy a key, or sort before",
        surviving("round-robin-after-shuffle"),
        confirmable=False,
        ticket="SPARK-23243",
        why=(
            "Since Spark 2.4 an RDD's repartition after a shuffle is known to be indeterminate: where a task of "
            "it is lost, Spark runs all that follows again, and gives up if results were written already."
        ),
    ),
    Rule(
        "retry-recomputes",
        WARNING,
        "a shuffle that reads records that hang on luck",
        "one reducer counted the first draw of a task, another the second",
        "checkpoint before the shuffle (a cache is lost with its machine), or draw from a seed",
        surviving("retry-recomputes"),
        ticket="SPARK-23243",
        why=(
            "When a map task is run again its records are others. Some reducers have read the first ones by then. "
            "PySpark's operations hide from Spark that the records are not determinate."
        ),
    ),
    Rule(
        "nondeterministic-udf-twice",
        ERROR,
        "a function that hangs on luck, used twice in a query and not declared so",
        "withColumn('r', draw()).where('r < 0.5') keeps rows whose r is 0.9",
        "udf(...).asNondeterministic(), or cache",
        _twice,
        why=(
            "Spark takes a UDF for deterministic unless it is told otherwise. It may then call it once for the "
            "filter and once for the result."
        ),
    ),
    Rule(
        "uncached-reuse",
        ERROR,
        "something that hangs on luck, computed for several results",
        "noisy.count() and noisy.collect() are of different records",
        "cache or checkpoint it, or draw from a seed",
        _reused,
        why="Without a cache every action computes everything again. What hangs on luck is different each time.",
    ),
    Rule(
        "accumulator-in-transformation",
        WARNING,
        "an accumulator that a transformation adds to",
        "a retried task makes the count 12 where 10 records were read",
        "count in foreach, or with count()",
        _accumulators,
        confirmable=False,
        why=(
            "Spark counts the updates of every attempt of a task, and of every time that a transformation is "
            "computed. Only in actions such as foreach are they counted once."
        ),
    ),
    Rule(
        "state-in-function",
        WARNING,
        "a function that changes variables outside of it",
        "counts of worker 1 and worker 2 are 3 and 4, and the driver's stays 0",
        "give it back as a value, or keep it in Spark's state (applyInPandasWithState)",
        _state,
        confirmable=False,
        why=(
            "Every Python worker process has a copy of the variable, and keeps it from task to task. Which tasks "
            "share a worker is a matter of luck, and the driver's own variable never changes."
        ),
    ),
    Rule(
        "partition-id",
        WARNING,
        "monotonically_increasing_id or spark_partition_id in a result",
        "with 2 partitions the third row has the id 8589934592, with 1 it has 2",
        "row_number() over a unique order, or a hash of the row",
        surviving("partition-id"),
        confirmable=False,
        why=(
            "These numbers go by partitions. How many there are changes with the cluster, the files, and adaptive "
            "execution."
        ),
    ),
    Rule(
        "clock-in-query",
        WARNING,
        "current_timestamp or current_date in a result",
        "the same input gives another result tomorrow",
        "hand the time over as a value: lit(run_date)",
        surviving("clock-in-query"),
        why=(
            "The time is that of the start of the query. The same data gives another result in another run, which "
            "cannot be compared with the first."
        ),
    ),
)
