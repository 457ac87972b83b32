"""What flows out of every operation on RDDs and DStreams: its order, and what in it hangs on luck.

Records are seen as a whole, but for their parts that are plain: which of them is a key that no other record has.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from firesteel.evidence.lint import Severity
from firesteel.model.lint.expressions import said
from firesteel.model.lint.flows import (
    GROUPED,
    GROUPED_ALONE,
    Flow,
    Help,
    Order,
    Reason,
    Reasons,
    Touch,
    Untested,
    together,
)
from firesteel.model.lint.plans import taken_by_luck
from firesteel.model.lint.reading import causes_in, hides_names, words_in
from firesteel.model.lint.shapes import (
    WHOLE,
    Merge,
    body_of,
    is_identity,
    lucky_places,
    merge_of,
    moved_parts,
    neutral_of,
    order_of_values,
    parts_of_key,
    places_of,
    reads_of_key,
    shows_order,
    spreads,
    takes_one,
)
from firesteel.values.programs import Action, Function, Operation, Program

_KEY = frozenset({frozenset({0})})
_MOST_CALLED = 5
"""So many functions of a program are called to see whether they give the same again."""
REDUCING = frozenset({"reduceByKey", "foldByKey", "aggregateByKey", "combineByKey", "reduceByKeyAndWindow"})
REDUCING_TO_ONE = frozenset({"reduce", "fold", "aggregate", "treeReduce", "treeAggregate", "reduceByKeyLocally"})
_GROUPING = frozenset({"groupByKey", "groupBy", "cogroup", "groupWith", "groupByKeyAndWindow"})
_JOINING = frozenset({"join", "leftOuterJoin", "rightOuterJoin", "fullOuterJoin", "subtractByKey"})
_SETS = frozenset({"distinct", "intersection", "subtract"})
_BY_PLACE = {"zipWithIndex": "numbers", "zipWithUniqueId": "numbers", "zip": "pairs"}
_SAMPLING = frozenset({"sample", "randomSplit", "sampleByKey", "takeSample"})
_TAKING = frozenset({"first", "take"})
_TRANSFORMING = frozenset({"transform", "transformWith"})
"""Operations of DStreams whose function is given whole RDDs: it may sort them."""
_SORTING = frozenset({"sortBy", "sortByKey"})
_OF_VALUES = frozenset({"mapValues", "flatMapValues"})
_OF_RECORDS = frozenset({"map", "flatMap"})
_FLAT = frozenset({"flatMap", "flatMapValues"})
_MOVING = _OF_VALUES | _OF_RECORDS | {"keyBy", "mapPartitions", "mapPartitionsWithIndex"}
_KEEPS_KEYS = frozenset({"mapValues", "filter", "persist", "cache", "coalesce", "checkpoint", "setName"})
SHUFFLING = (
    REDUCING | _GROUPING | _JOINING | _SETS | {"partitionBy", "repartition", "repartitionAndSortWithinPartitions"}
)


class Records:
    """Says what flows out of operations on RDDs."""

    def __init__(self, program: Program, help: Help) -> None:
        self._program = program
        self._help = help
        self.untested: dict[str, None] = {}
        """What is not known of reducers, in words, each once."""
        self._left_to_call = _MOST_CALLED
        self._announced = False

    def flow(self, operation: Operation, parents: Sequence[Flow]) -> Flow:
        """What flows out of an operation, given what flows out of those that it reads from."""
        made = self._flow(operation, parents)
        return made.checkpointed() if operation.checkpointed else made

    def _flow(self, operation: Operation, parents: Sequence[Flow]) -> Flow:
        merged = _merged(parents)
        name = operation.name
        if name in _BY_PLACE:
            return self._by_place(operation, merged)
        if name in _SAMPLING:
            return self._sample(operation, merged)
        if name in ("sortBy", "sortByKey", "repartitionAndSortWithinPartitions"):
            return self._sort(operation, merged)
        if name == "repartition" or (name == "coalesce" and operation.arguments.get("shuffle") is True):
            return self._repartition(operation, merged)
        merged = self._lucky(operation, merged)
        if name in _TRANSFORMING and any(words_in(one.object) & _SORTING for one in operation.functions):
            return replace(merged, order=Order.TIES, unique=frozenset())
        if name in REDUCING:
            return self._reduced(operation, self._keyed(operation, merged))
        if name in _GROUPING:
            return self._grouped(operation, self._keyed(operation, merged))
        if name in SHUFFLING or (operation.wide and name not in _KEEPS_KEYS):
            unique = _KEY if name in _JOINING and all(one.unique >= _KEY for one in parents) else frozenset()
            if name == "partitionBy":
                unique = merged.unique
            return replace(self._keyed(operation, merged), order=Order.ANY, unique=unique)
        return self._narrow(operation, merged)

    # --- what an operation adds ---

    def _lucky(self, operation: Operation, flow: Flow) -> Flow:
        """The functions of an operation may hang on luck by themselves."""
        reasons = []
        for function in operation.functions:
            seen = causes_in(function.object)
            if seen:
                reasons.append(Reason("luck-in-function", said(f"`{function.name}`", seen), operation.id))
        if not reasons:
            return self._found_out(operation, flow)
        if operation.name == "filter":
            return flow.with_rows(*reasons)
        where = frozenset({0, WHOLE})
        if operation.name in _OF_VALUES | {"keyBy"}:
            where = frozenset({0 if operation.name == "keyBy" else 1})
        elif operation.name in _OF_RECORDS:
            where = lucky_places(operation.functions[0].object)
        return _touched(flow, where, reasons)

    def _found_out(self, operation: Operation, flow: Flow) -> Flow:
        """Where reading does not say what a function looks at, it is called with values of the program's own."""
        place = {"map": WHOLE, "mapValues": 1, "filter": WHOLE}.get(operation.name)
        if place is None or not operation.functions or not hides_names(operation.functions[0].object):
            return flow
        function = operation.functions[0]
        records = self._looked_at(operation.parents[0]) if self._left_to_call else []
        if not records:
            return flow
        self._left_to_call -= 1
        evidence = self._help.repeats(function.object, [_second(one) if place == 1 else one for one in records])
        if evidence is None:
            return flow
        text = f"the function `{function.name}` gives something else when it is called again: {evidence}"
        reason = Reason("luck-in-function", text, operation.id)
        return flow.with_rows(reason) if operation.name == "filter" else _touched(flow, {place}, [reason])

    def _narrow(self, operation: Operation, flow: Flow) -> Flow:
        if operation.name == "filter" and operation.functions and flow.values:
            flow = flow.with_rows(*_kept_by(operation.functions[0].object, flow))
        values = _moved(operation, flow)
        if operation.name == "glom" and flow.order is not Order.FIXED and not flow.one_row:
            text = "glom gives the records of a partition in the order in which they arrive"
            arrived = Reason("group-in-order", text, operation.id, Touch.LIST, Severity.WARNING)
            values = {WHOLE: together(*values.values(), (arrived,))}
        if operation.functions and operation.name in _OF_VALUES | _OF_RECORDS:
            for part, reasons in self._in_turn(operation, flow):
                values[part] = together(values.get(part, ()), reasons)
        return replace(flow, values=values, unique=self._unique(operation, flow))

    def _in_turn(self, operation: Operation, flow: Flow) -> Iterator[tuple[int, Reasons]]:
        """What a function of grouped values takes from the order in which they arrived.

        Where it is not plain what it does with them, it may sort them: nothing is said.
        """
        function = operation.functions[0]
        of_pair = operation.name in _OF_RECORDS and GROUPED in flow.values
        is_alone = operation.name in _OF_RECORDS and GROUPED_ALONE in flow.values
        if not (GROUPED in flow.values or is_alone) or not order_of_values(function.object, of_pair=of_pair):
            return
        if operation.name in _FLAT and spreads(function.object, of_pair=of_pair):
            return
        text = f"`{function.name}` keeps the values of a key in the order in which they arrive"
        reason = Reason("group-in-order", text, operation.id, Touch.LIST)
        made = places_of(function.object) or {} if of_pair and operation.name == "map" else {}
        showing = [place for place, one in made.items() if 1 in one.lists]
        for part in showing or [WHOLE if is_alone else 1]:
            yield part, (reason,)

    def _unique(self, operation: Operation, flow: Flow) -> frozenset[frozenset[int]]:
        name = operation.name
        if name in _KEEPS_KEYS:
            return flow.unique
        if name == "map" and operation.functions:
            function = operation.functions[0].object
            if is_identity(function):
                return flow.unique
            moved = moved_parts(function) or {}
            back = {old: new for new, old in moved.items()}
            return frozenset(frozenset(back[part] for part in one) for one in flow.unique if one <= back.keys())
        return frozenset()

    def _by_place(self, operation: Operation, flow: Flow) -> Flow:
        old = together(
            *(why for part, why in flow.values.items() if part not in (GROUPED, GROUPED_ALONE))
        )  # of the records as they were, which are a part of the new ones now
        values = {0 if operation.name != "zip" else WHOLE: old} if old else {}
        flow = replace(flow, values=values, unique=frozenset({frozenset({1})}))
        if flow.order is Order.FIXED or flow.one_row:
            return flow
        how = "any order" if flow.order is Order.ANY else "any order among equal sort keys"
        severity = Severity.ERROR if flow.order is Order.ANY else Severity.WARNING
        text = f"{operation.name} {_BY_PLACE[operation.name]} records by their places, and they come in {how}"
        reason = Reason("index-after-shuffle", text, operation.id, Touch.VALUE, severity)
        return replace(flow, values={**values, 1: (reason,)})

    def _sample(self, operation: Operation, flow: Flow) -> Flow:
        if flow.order is Order.FIXED or flow.one_row:
            return flow
        text = f"{operation.name} draws by the place of a record in its partition, and the records come in any order"
        return flow.with_rows(Reason("sample-after-shuffle", text, operation.id))

    def _sort(self, operation: Operation, flow: Flow) -> Flow:
        own = [one for one in operation.functions if one.parameter == "keyfunc"]
        if operation.name == "sortBy":
            parts = parts_of_key(own[0].object) if own else frozenset()  # an event log does not have it
            reads = reads_of_key(own[0].object) if own else []
        else:
            parts = frozenset({0}) if not own or is_identity(own[0].object) else frozenset()
            reads = [frozenset({0})]
        why = [said(f"`{one.name}`", seen) for one in own if (seen := causes_in(one.object))]
        why += [one.text for part in reads[0] for one in _lucky_in(flow, part)] if reads else []
        if why:
            return self._by_luck(operation, flow, why[0]).in_order(Order.ANY)
        for place, several in enumerate(reads):
            if place and any(_lucky_in(flow, part) for part in several):
                parts = frozenset().union(*reads[:place]) & parts  # among equal ones luck decides
                break
        total = WHOLE in parts or any(one <= parts for one in flow.unique)
        return flow.in_order(Order.FIXED if total else Order.TIES)

    def _repartition(self, operation: Operation, flow: Flow) -> Flow:
        lucky = [one for one in flow.reasons if one.touch is not Touch.RERUN and not one.kept]
        after = replace(flow, order=Order.ANY)
        if lucky:
            text = (
                f"{operation.name} deals records out one by one, and they hang on luck ({lucky[0].text}): a task that "
                "is run again deals them out differently, so records are lost or doubled"
            )
            return after.with_rows(Reason("round-robin-of-indeterminate", text, operation.id))
        is_kept = all(self._program.operations[one].checkpointed for one in operation.parents)
        if flow.order is Order.FIXED or flow.one_row or is_kept:
            return after
        text = (
            f"{operation.name} deals records out one by one, and they come in any order: a task that is run again "
            "deals them out differently. Spark knows, and runs everything after it again, or gives up"
        )
        # The records are the same all the same: Spark sees to it.
        return after.with_rows(Reason("round-robin-after-shuffle", text, operation.id, Touch.RERUN))

    def _keyed(self, operation: Operation, flow: Flow) -> Flow:
        """A shuffle by key. A key that hangs on luck sends records elsewhere when they are computed again."""
        partitioner = [one for one in operation.functions if one.parameter == "partitionFunc"]
        why = [said(f"`{one.name}`", seen) for one in partitioner if (seen := causes_in(one.object))]
        why += [one.text for one in flow.values.get(0, ()) if one.touch is Touch.VALUE and not one.kept]
        if why:
            flow = self._by_luck(operation, flow, why[0])
        lucky = [one for part in (1, WHOLE) for one in flow.values.get(part, ()) if one.rule == "luck-in-function"]
        lucky = [one for one in lucky if not one.kept]
        if lucky and operation.name != "partitionBy":
            text = (
                f"{operation.name} reads records that hang on luck ({lucky[0].text}): where a map task is run again, "
                "some tasks have read its first records and others read the new ones"
            )
            flow = flow.with_rows(Reason("retry-recomputes", text, operation.id))
        return flow

    def _by_luck(self, operation: Operation, flow: Flow, why: str) -> Flow:
        text = (
            f"{operation.name} sends records to other tasks by a key that hangs on luck ({why}): a map task that "
            "is run again sends its records elsewhere, so records are lost or doubled"
        )
        return flow.with_rows(Reason("luck-in-key", text, operation.id))

    # --- merging ---

    def _reduced(self, operation: Operation, flow: Flow) -> Flow:
        reasons = self.merging(operation, flow, operation.parents[0] if operation.parents else None)
        values = {part: why for part, why in flow.values.items() if part not in (GROUPED, GROUPED_ALONE)}
        if reasons:
            values[1] = together(values.get(1, ()), reasons)
        return replace(flow, order=Order.ANY, unique=_KEY, values=values)

    def merging(self, one: Operation | Action, flow: Flow, source: int | None) -> Reasons:
        """Why the functions of a reduction may give something else in another order."""
        id_ = one.id if isinstance(one, Operation) else source
        found = _counted_again(one, id_)
        for function, kind in self._doubtful(one, source):
            if kind is Merge.IN_ORDER:
                text = f"{one.name} merges with `{function.name}`, whose result hangs on the order of its arguments"
                found.append(Reason("reducer-not-commutative", text, id_))
            elif source is not None:
                found += self._tested(one, function, source, id_)
        return tuple(found)

    def _doubtful(self, one: Operation | Action, source: int | None) -> Iterator[tuple[Function, Merge]]:
        """The functions of a reduction that are not plainly the same in any order."""
        functions = self._program.operations[source].functions if source is not None else ()
        paired = _paired_with(functions)
        for function in _mergers(one):
            kind = merge_of(function.object)
            if kind is Merge.ANY_ORDER or (paired is not None and takes_one(function.object)):
                continue  # in the latter case, all values are the same one
            if kind is Merge.BY_TYPE and _is_keyed(one) and makes_numbers(functions):
                continue
            yield function, kind

    def _tested(self, one: Operation | Action, function: Function, source: int, id_: int | None) -> list[Reason]:
        """What is found out by testing the function with values of the program's own."""
        by_type = merge_of(function.object) is Merge.BY_TYPE
        values = self._merged_by(one, source)
        if values and by_type and all(map(_sums_in_any_order, values)):
            return []
        if values and by_type and all(isinstance(value, float) for value in values):
            text = f"{one.name} adds floating-point numbers, which rounds in the order in which they arrive"
            return [Reason("float-sum", text, id_, Touch.DIGITS)]
        try:
            if not values:
                raise Untested(self._help.no_sample)
            evidence = self._help.reducer(function.object, values)
        except Untested as why:
            open_ = "it is not known whether it merges in any order"
            self.untested[f"`{function.name}` of {one.name} was not tested ({why}): {open_}"] = None
            return []
        if evidence is None:
            return []
        text = f"{one.name} merges with `{function.name}`, whose result hangs on the order of its arguments: {evidence}"
        return [Reason("reducer-not-commutative", text, id_)]

    def _merged_by(self, one: Operation | Action, source: int) -> list[Any]:
        """Values of the kind that a reducer merges."""
        at = _holds_values(one, source)
        if at is None:
            return [one.arguments["zeroValue"]] if "zeroValue" in one.arguments else []
        return [_second(record) if _is_keyed(one) else record for record in self._looked_at(at)]

    def _looked_at(self, operation: int) -> list[Any]:
        """A few records of an operation. Before the first are fetched, all that will be needed are announced."""
        if not self._announced:
            self._announced = True
            self._help.coming(frozenset(self._to_be_sampled()))
        return self._help.sample(operation)

    def _to_be_sampled(self) -> Iterator[int]:
        """The operations whose records say what reducers merge."""
        every: list[Operation | Action] = [*self._program.operations, *self._program.actions]
        for one in every:
            sources = one.parents if isinstance(one, Operation) else one.operations
            for source in sources[:1]:
                at = _holds_values(one, source)
                if at is not None and any(kind is not Merge.IN_ORDER for _, kind in self._doubtful(one, source)):
                    yield at

    def _grouped(self, operation: Operation, flow: Flow) -> Flow:
        text = f"{operation.name} gives the values of a key in the order in which they arrive"
        grouped = Reason("group-in-order", text, operation.id, Touch.LIST)
        return replace(flow, order=Order.ANY, unique=_KEY, values={**flow.values, GROUPED: (grouped,)})

    # --- actions ---

    def acted(self, action: Action, flow: Flow) -> Reasons:
        """Why the result of an action hangs on luck, besides what its records bring."""
        source = action.operations[0] if action.operations else None
        if action.name in _TAKING:
            return taken_by_luck(flow, action.name, source)
        if action.name == "takeSample" and flow.order is not Order.FIXED:
            text = "takeSample draws by the place of a record, and the records come in any order"
            return (Reason("sample-after-shuffle", text, source),)
        if action.name in ("takeOrdered", "top", "max", "min") and action.functions:
            parts = parts_of_key(action.functions[0].object)
            if WHOLE not in parts and not any(one <= parts for one in flow.unique):
                text = f"{action.name} takes whichever records arrive first among those that tie"
                return (Reason("ties-after-sort", text, source),)
        if action.name in REDUCING_TO_ONE:
            return self.merging(action, flow, source)
        return ()


def makes_numbers(functions: Sequence[Function]) -> bool:
    """Does a function pair every record with a whole number, as `(word, 1)` does? Then the sums are of these."""
    match _paired_with(functions):
        case ast.Constant(value=int()):
            return True
        case _:
            return False


def _paired_with(functions: Sequence[Function]) -> ast.Constant | None:
    """What a function pairs every record with, if that is always the same."""
    match body_of(functions[0].object) if len(functions) == 1 else None:
        case (_, ast.Tuple(elts=[_, ast.Constant() as value])):
            return value
        case _:
            return None


def _sums_in_any_order(value: Any) -> bool:
    """Is it a value whose sums and unions do not hang on an order?"""
    if isinstance(value, tuple):
        return all(map(_sums_in_any_order, value))
    return isinstance(value, int | set | frozenset | Counter)


def _counted_again(one: Operation | Action, id_: int | None) -> list[Reason]:
    """What a reduction starts with is merged once for each partition. That shows, unless it changes nothing."""
    zero = one.arguments.get("zeroValue")
    neutral = next((each for function in _mergers(one) if (each := neutral_of(function.object)) is not None), None)
    if neutral is None or isinstance(zero, bool) or not isinstance(zero, int | float) or zero in (0, neutral):
        return []
    text = (
        f"{one.name} merges the value that it starts with, {zero!r}, once for each partition: with another number of "
        "partitions the result is another"
    )
    return [Reason("zero-not-neutral", text, id_, Touch.RERUN)]


def _second(record: Any) -> Any:
    return record[1] if isinstance(record, tuple | list) and len(record) == 2 else record


def _is_keyed(one: Operation | Action) -> bool:
    """Does a reduction merge the values of each key?"""
    return one.name in REDUCING or one.name == "reduceByKeyLocally"


def _holds_values(one: Operation | Action, source: int) -> int | None:
    """The operation whose records hold what a reduction merges; None where its start value does.

    With an accumulator, that is not what it reads.
    """
    if one.name in ("aggregate", "treeAggregate"):
        return None
    of_its_own = isinstance(one, Operation) and one.name in ("aggregateByKey", "combineByKey")
    return one.id if of_its_own else source


def _mergers(one: Operation | Action) -> list[Function]:
    """The functions that merge two values of the same kind."""
    wanted = {
        "reduceByKey": ("func",),
        "foldByKey": ("func",),
        "aggregateByKey": ("combFunc",),
        "combineByKey": ("mergeCombiners",),
        "reduce": ("f",),
        "fold": ("op",),
        "aggregate": ("combOp",),
        "treeReduce": ("f",),
        "treeAggregate": ("combOp",),
        "reduceByKeyLocally": ("func",),
        "reduceByKeyAndWindow": ("func",),
    }.get(one.name, ())
    return [function for function in one.functions if function.parameter in wanted]


def _merged(flows: Sequence[Flow]) -> Flow:
    """Several data sets together, as a union or a join reads them."""
    if len(flows) == 1:
        return flows[0]
    values: dict[int, Reasons] = {}
    for flow in flows:
        for part, reasons in flow.values.items():
            values[part] = together(values.get(part, ()), reasons)
    order = Order.FIXED if all(flow.order is Order.FIXED for flow in flows) else Order.ANY
    return Flow(order, False, frozenset(), together(*(flow.rows for flow in flows)), values)


def _moved(operation: Operation, flow: Flow) -> dict[int, Reasons]:
    """Why the parts of a record hang on luck, after an operation that moves them."""
    name = operation.name
    if name in ("keys", "values"):
        kept = 0 if name == "keys" else 1
        reasons = together(flow.values.get(kept, ()), flow.values.get(WHOLE, ()))
        grouped = {GROUPED_ALONE: flow.values[GROUPED]} if name == "values" and GROUPED in flow.values else {}
        return {**grouped, WHOLE: reasons} if reasons else grouped
    if not operation.functions or name not in _MOVING:
        return dict(flow.values)
    values: dict[int, Reasons] = {}
    for part, why in flow.values.items():
        for one in why if part not in (GROUPED, GROUPED_ALONE) else ():
            # What this very function brought is where it should be.
            for place in (part,) if one.operation == operation.id else _places_after(operation, part, one.touch):
                values[place] = together(values.get(place, ()), (one,))
    return values


def _places_after(operation: Operation, part: int, touch: Touch) -> Collection[int]:
    """Where luck in one part of a record is, after a function was called with the record or with its value."""
    function = operation.functions[0].object
    if operation.name in _OF_VALUES:
        if part == 0 or touch is not Touch.LIST:
            return (part,)
        is_spread = operation.name in _FLAT and spreads(function, of_pair=False)
        return (part,) if shows_order(function) and not is_spread else ()
    if operation.name == "flatMap" and touch is Touch.LIST:
        shows = order_of_values(function, of_pair=part != WHOLE) and not spreads(function, of_pair=part != WHOLE)
        return (WHOLE,) if shows else ()
    made = places_of(function) if operation.name in ("map", "keyBy") else None
    if operation.name == "keyBy":
        return {1, *(0 for one in (made or {}).values() if part in one.reads and touch is not Touch.LIST)}
    if made is None:
        return (WHOLE,) if touch is not Touch.LIST or (part == WHOLE and shows_order(function)) else ()
    if part == WHOLE:
        return (WHOLE,) if any(one.lists if touch is Touch.LIST else one.reads for one in made.values()) else ()
    if touch is Touch.LIST:
        return [place for place, one in made.items() if one.lists & {part, WHOLE}]
    # What is computed of the whole record is perhaps made of another part.
    found = {place for place, one in made.items() if part in one.reads or WHOLE in one.lists}
    return found | {WHOLE for one in made.values() if WHOLE in one.reads - one.lists}


def _kept_by(function: Callable[..., Any], flow: Flow) -> Reasons:
    """Why other records may be left by a filter: the parts that it looks at hang on luck."""
    made = places_of(function) or {}
    parts = {part for one in made.values() for part in one.reads if part != WHOLE}
    return tuple(one for part in parts for one in flow.values.get(part, ()) if one.touch is Touch.VALUE)


def _lucky_in(flow: Flow, part: int) -> Reasons:
    """Why all of one part of a record hangs on luck."""
    found = flow.values.get(part, ()) if part != WHOLE else ()  # perhaps another part of the record
    return tuple(one for one in found if one.touch is Touch.VALUE and not one.kept)


def _touched(flow: Flow, parts: Collection[int], reasons: Sequence[Reason]) -> Flow:
    values = dict(flow.values)
    for part in parts:
        values[part] = together(values.get(part, ()), reasons)
    return replace(flow, values=values)
