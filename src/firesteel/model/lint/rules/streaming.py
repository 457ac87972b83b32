"""Rules about streams: watermarks, state that grows, output that comes twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from firesteel.model.lint.levels import Facts
from firesteel.model.lint.reading import attributes_in, forgets, gives_none, uses_parameter, words_in
from firesteel.model.lint.rules.joins import nodes_of
from firesteel.model.lint.rules.rule import ERROR, WARNING, Found, Rule, surviving
from firesteel.spark.plans.tree import Expression, Node
from firesteel.values.programs import Action, Function

_WITH_STATE = frozenset({"Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "FlatMapGroupsInPandasWithState"})
_HARMLESS_SINKS = frozenset({"console", "memory", "noop"})
_WRITES = frozenset(
    {"save()", "saveAsTable()", "insertInto()", "parquet()", "json()", "csv()", "orc()", "text()", "jdbc()", "append()"}
)
_POLICY = "spark.sql.streaming.multipleWatermarkPolicy"


def _streaming(facts: Facts, *kinds: str) -> Iterator[Node]:
    return (node for node in nodes_of(facts, *kinds) if node.is_streaming)


def _watermarks(node: Node) -> list[Node]:
    return [one for one in node.walk() if one.kind == "EventTimeWatermark"]


def _aggregations(facts: Facts) -> Iterable[Found]:
    for node in _streaming(facts, "Aggregate"):
        keys = node.expressions_of("groupingExpressions")
        if keys and not _watermarks(node):
            yield Found(
                "this aggregation of a stream has no watermark: Spark keeps every group for ever, and never says that "
                "one is complete",
                facts.plans.owner(node),
            )


def _after(facts: Facts) -> Iterable[Found]:
    for node in _streaming(facts, "EventTimeWatermark"):
        below = [one for child in node.children for one in child.walk() if one.kind in _WITH_STATE and one.is_streaming]
        if any(not _watermarks(one) for one in below):
            yield Found(
                "this watermark comes after the operation with state that it should limit, where it does nothing",
                facts.plans.owner(node),
            )


def _several(facts: Facts) -> Iterable[Found]:
    seen: set[frozenset[object]] = set()
    is_said = facts.help.setting(_POLICY) is not None
    for operation in reversed(facts.program.operations) if not is_said else ():
        if not isinstance(operation.plan, Node) or not operation.plan.is_streaming:
            continue
        marks = {one.arguments.get("nodeId"): one for one in _watermarks(operation.plan)}
        delays = {one.delay for node in marks.values() for one in node.output if one.is_event_time}
        if len(marks) > 1 and len(delays) > 1 and not any(set(marks) <= one for one in seen):
            seen.add(frozenset(marks))
            longest = max(delays) / 1000
            yield Found(
                f"there are {len(marks)} watermarks in this query, and Spark uses the slowest for all of them: what "
                f"waits is emitted and dropped by the one furthest behind (the longest delay is {longest:g} s)",
                operation.id,
            )


def _unbounded(facts: Facts) -> Iterable[Found]:
    for node in _streaming(facts, "Aggregate"):
        keys = node.expressions_of("groupingExpressions")
        if keys and _watermarks(node) and not any(_has_time(key) for key in keys):
            yield Found(
                "the watermark's column is not part of the grouping: Spark keeps every group for ever",
                facts.plans.owner(node),
            )
    yield from _grows_for_ever(facts)
    for node in _streaming(facts, "Join"):
        if all(child.is_streaming for child in node.children) and not _is_bounded(node):
            yield Found(
                "this join of two streams is not bound in time from both sides: Spark keeps rows for ever",
                facts.plans.owner(node),
            )
    for node in _streaming(facts, "FlatMapGroupsInPandasWithState"):
        functions = [facts.help.function_of(one) for one in node.expressions_of("functionExpr")]
        words = frozenset().union(*(words_in(one) for one in functions if one is not None))
        if node.arguments.get("timeout") == "NoTimeout" and "update" in words and "remove" not in words:
            yield Found(
                "this function keeps state for every key, and neither removes it nor has a timeout",
                facts.plans.owner(node),
            )


def _grows_for_ever(facts: Facts) -> Iterable[Found]:
    """State that functions keep for every key, in `updateStateByKey` and `transformWithState`."""
    for one in facts.program.operations:
        name = one.name.rpartition(".")[2]
        if name == "updateStateByKey" and one.functions and gives_none(one.functions[0].object) is False:
            yield Found("this function keeps a state for every key, and never gives None to drop it", one.id)
        elif name.startswith("transformWithState") and forgets(one.arguments.get("statefulProcessor")) is False:
            yield Found(
                "this processor keeps state for every key, and neither clears it nor has timers or a TTL", one.id
            )


def _has_time(key: Expression) -> bool:
    return any(one.is_event_time for one in key.walk())


def _is_bounded(join: Node) -> bool:
    """Does the condition bind the times of both sides to each other, from below and from above?"""
    if join.arguments.get("condition") is None:
        return False
    left, right = ({one.id for one in child.output if one.is_event_time} for child in join.children)
    found: set[bool] = set()
    for low, high in _ordered(join):
        low_ids, high_ids = ({one.id for one in each.walk()} for each in (low, high))
        found |= {True} if low_ids & left and high_ids & right else set()
        found |= {False} if low_ids & right and high_ids & left else set()
    return found == {True, False}


def _ordered(join: Node) -> Iterator[tuple[Expression, Expression]]:
    """What the condition wants to be at most what; of an equality both ways."""
    for one in (each for top in join.expressions_of("condition") for each in top.walk()):
        match one.kind, one.children:
            case "LessThan" | "LessThanOrEqual", (low, high):
                yield low, high
            case "GreaterThan" | "GreaterThanOrEqual", (high, low):
                yield low, high
            case "EqualTo", (first, then):
                yield from ((first, then), (then, first))
            case "Between", _:
                match one.arguments:
                    case {"input": Expression() as value, "lower": Expression() as low, "upper": Expression() as high}:
                        yield from ((low, value), (value, high))


def _duplicates(facts: Facts) -> Iterable[Found]:
    for node in _streaming(facts, "Deduplicate"):
        if not any(_has_time(key) for key in node.expressions_of("keys")):
            where = "has no watermark" if not _watermarks(node) else "does not have the watermark's column in its keys"
            yield Found(f"dropDuplicates of a stream {where}: Spark keeps every key for ever", facts.plans.owner(node))


def _starts(facts: Facts) -> Iterator[tuple[Action, Node]]:
    for action in facts.program.actions:
        for id_ in action.operations:
            plan = facts.program.operations[id_].plan
            if isinstance(plan, Node) and plan.is_streaming:
                yield action, plan


def _mode(action: Action) -> str:
    given = action.arguments.get("outputMode")
    return given.lower() if isinstance(given, str) else "append"


def _sink(action: Action) -> str | None:
    if _batch_functions(action):
        return "foreachBatch"
    for name in ("format", "source"):
        given = action.arguments.get(name)
        if isinstance(given, str):
            return given.lower()
    return None


def _batch_functions(action: Action) -> list[object]:
    return [one.object for one in action.functions if "foreachBatch" in action.name or one.parameter == "func"]


def _repeats(facts: Facts) -> Iterable[Found]:
    for action, plan in _starts(facts):
        mode, sink = _mode(action), _sink(action)
        has_state = any(node.kind in _WITH_STATE for node in plan.walk())
        if mode not in ("complete", "update") or sink is None or sink in _HARMLESS_SINKS or not has_state:
            continue
        if sink == "foreachBatch" and not all(map(_appends, action.functions)):
            continue
        yield Found(
            f"in {mode} mode a group is put out again whenever it changes, and the sink ({sink}) adds it each time",
            action.operations[0],
            action.id,
        )


def _appends(function: Function) -> bool:
    read, words = attributes_in(function.object), words_in(function.object)
    writes = bool(read & {"write", "writeTo()"} and read & _WRITES)
    return writes and not words & {"overwrite", "merge", "mergeInto", "whenMatched"}


def _not_idempotent(facts: Facts) -> Iterable[Found]:
    for action, _ in _starts(facts):
        for function in action.functions if _sink(action) == "foreachBatch" else ():
            if _appends(function) and not uses_parameter(function.object, 1):
                yield Found(
                    f"{function.name} adds the rows of a batch and does not look at the batch's number: a batch that "
                    "is run again after a failure is added again",
                    action.operations[0],
                    action.id,
                )


RULES = (
    Rule(
        "aggregation-without-watermark",
        WARNING,
        "an aggregation of a stream without a watermark",
        "the state has one row for every user that was ever seen",
        "withWatermark('time', '10 minutes').groupBy(window('time', ...), ...)",
        _aggregations,
        confirmable=False,
        why=(
            "A watermark says when a group will not change any more. Without one Spark keeps all groups for ever, "
            "and cannot put out final results."
        ),
    ),
    Rule(
        "watermark-after-aggregation",
        ERROR,
        "a watermark after the operation that it should limit",
        "groupBy('user').count().withWatermark(...): the state grows as if it were not there",
        "withWatermark before groupBy and dropDuplicates",
        _after,
        confirmable=False,
        why="A watermark works on what comes after it. State that was made before it is not limited.",
    ),
    Rule(
        "two-watermarks",
        WARNING,
        "watermarks with different delays in one query",
        "clicks wait 1 hour because impressions may be 1 hour late",
        "give both streams the same delay, or say spark.sql.streaming.multipleWatermarkPolicy on purpose",
        _several,
        confirmable=False,
        why=(
            "A query has one watermark in the end: by default the slowest of all. The stream with the longest "
            "delay holds all others back, and decides what is late."
        ),
    ),
    Rule(
        "unbounded-state",
        WARNING,
        "state of a stream that never shrinks",
        "a join of two streams on a key alone keeps every row of both",
        "a condition on both event times, a timeout, a TTL, or state.remove()",
        _unbounded,
        confirmable=False,
        why=(
            "Spark drops state only when the watermark says that it cannot matter any more. It has to see that "
            "from the query."
        ),
    ),
    Rule(
        "deduplication-without-watermark",
        WARNING,
        "dropDuplicates of a stream that keeps every key for ever",
        "the state has one row for every event id that was ever seen",
        "withWatermark(...).dropDuplicatesWithinWatermark(['id']), or add the event time to the keys",
        _duplicates,
        confirmable=False,
        why="To know a duplicate Spark has to remember every key. It forgets keys only by event time.",
    ),
    Rule(
        "output-repeats-rows",
        WARNING,
        "update or complete mode into a sink that adds rows",
        "('a', 1) and then ('a', 2) are both in the table",
        "append mode with a watermark, or merge by key in foreachBatch",
        _repeats,
        confirmable=False,
        why=(
            "In update mode a changed group is put out again, in complete mode all groups are. A sink that only "
            "adds has several rows of one group."
        ),
    ),
    Rule(
        "foreach-batch-appends",
        WARNING,
        "foreachBatch that adds rows and ignores the batch's number",
        "batch 7 fails after it was written; it is run again, and its rows are there twice",
        "write to a path or key of the batch's number, in overwrite mode, or merge by key",
        _not_idempotent,
        confirmable=False,
        why=(
            "After a failure Spark runs the last batch again, with the same number. Only the function can see "
            "that it has been there."
        ),
    ),
    Rule(
        "processing-time-window",
        WARNING,
        "windows or keys of a stream by the time at which rows are processed",
        "the same event is in the window of 12:00 or of 12:05, by how busy the cluster is",
        "window('event_time', ...) with a watermark",
        surviving("processing-time-window"),
        confirmable=False,
        why=(
            "The time at which a row is processed hangs on how busy everything is. The same events give other "
            "windows when they are read again."
        ),
    ),
)
