"""The model of operators on Spark: what a firing is, and what every property means, as runs that have to agree.

| | streaming transformation | batch transformation | sink |
|---|---|---|---|
| a firing is | one record, alone in its micro-batch | a one-row input for selectivity, else all | a batch |
| the output is | what comes out until Spark is idle | the result | what `read` sees in the end |
| stateless: not dependent on | earlier batches | (does not apply) | earlier batches |
| commutative: not dependent on the order of | the records of a port | rows and partitions | batches |
| partition_isolated: not dependent on | records with other keys | rows with other keys | rows with other keys |

Outputs are compared as multisets. What is there in the end is, in append mode, all that came out; in complete mode the
last table. In update mode it is the last row of each group of an aggregate, as its plan says, and the last row of each
key of code with state; what has neither replaces no row. Where nothing in a row says which one it replaces, runs of
other batches cannot be compared. Firings by themselves are looked at as they are. Event time ends with a run, so that
the last windows come out, but not where a firing is looked at.

A material is a list of records, each with its port. A property makes questions of it: some runs, and a judgement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from typing import Any, Literal, TypeAlias

from firesteel.evidence.onspark import Fired, OnSpark, Step, Unlike
from firesteel.operators.comparing import Pair, Side, differ
from firesteel.operators.onspark.feeds import (
    LONG,
    SECOND,
    Feed,
    Gave,
    Material,
    Result,
    at_once,
    distinct,
    in_halves,
    one_by_one,
)
from firesteel.operators.onspark.operator import SparkKind, SparkOperator
from firesteel.operators.onspark.plan import Output, Plan, Replaces
from firesteel.perturb.changes import Restart, RowOrder, ShuffleOrder, ShufflePartitions, Variant
from firesteel.values.equality import EXACT, Equality
from firesteel.values.records import canonical, named

_ANY_ORDER = Pair(Side(()), Side(()))
Late: TypeAlias = Literal["dropped", "counted"]


@dataclass(frozen=True)
class About:
    """What a property needs to know to make runs of a material."""

    operator: SparkOperator
    equal: Equality = EXACT
    delays: tuple[timedelta, ...] = (timedelta(seconds=7), timedelta(days=2))
    """Pauses between records that are tried."""
    late: Late = "dropped"
    """What is claimed of records that come too late."""
    pause: timedelta = SECOND
    """The pause between records of runs that are not about pauses."""
    plan: Plan | None = None
    """What the plan says, where there is one."""

    def differ(self, left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
        """Are two outputs different multisets?"""
        return differ(left, right, _ANY_ORDER, self.equal)

    def in_the_end(self, gave: Gave) -> tuple[Any, ...]:
        """What is there in the end, by the output mode."""
        match self.operator.output_mode:
            case "complete":
                return next((rows for rows in reversed(gave.instants) if rows), ())  # an empty batch has no table
            case "update" if self.operator.key:
                places = self._places(gave)
                if None in places:
                    return gave.rows  # nothing says which of them are over
                return tuple(dict(zip(places, gave.rows, strict=True)).values())
            case _:
                return gave.rows

    def is_told(self, gave: Gave) -> bool:
        """Does the output say what is there in the end?"""
        return self.operator.output_mode != "update" or not self.operator.key or None not in self._places(gave)

    def _places(self, gave: Gave) -> list[Any]:
        """In update mode, what every row has in common with those that it replaces; None where it does not say it."""
        return [self._place(row, number) for number, row in enumerate(gave.rows)]

    def _place(self, row: Any, number: int) -> Any:
        name, columns = _named_output(row)
        output = None if self.plan is None else self.plan.of(name)
        match output:
            case Output(Replaces.NONE):
                return name, number
            case Output(Replaces.UNKNOWN):
                return None
            case Output(Replaces.GROUP, groups) if columns is not None:
                return name, canonical(tuple(columns[each] for each in groups))
            case _:
                key = self.key_of(row)
                return None if key is None else (name, canonical(key))

    def key_of(self, row: Any) -> tuple[Any, ...] | None:
        """The key of an output row; None where it does not have one."""
        key = self.operator.key
        if self.operator.plain and type(row) is tuple:
            return row[: len(key)]
        _, columns = _named_output(row)
        if columns is None or any(each not in columns for each in key):
            return None
        return tuple(columns[each] for each in key)

    def firing(self, batches: tuple[tuple[Step, ...], ...]) -> Feed:
        """A run whose single firings are looked at."""
        # Without event time there is nothing to close, and the run is the same as others.
        return Feed(batches, interval=self.pause, close=not self.operator.has_time)

    def feed(self, batches: tuple[tuple[Step, ...], ...], dealt: int = 1) -> Feed:
        """A run that is looked at in the end. With long pauses, time goes on until what waits has come out."""
        after = () if self.pause == SECOND else ((), ())
        return Feed((*batches, *after), interval=self.pause, dealt=dealt)


def _named_output(row: Any) -> tuple[str | None, Mapping[str, Any] | None]:
    """The name of the output that a row is of, where there are several; and its columns."""
    return (row[0], named(row[1])) if type(row) is tuple and len(row) == 2 else (None, named(row))


@dataclass(frozen=True)
class Question:
    """Some runs, and what they show if anything."""

    feeds: tuple[Feed, ...]
    judge: Callable[[Sequence[Gave]], OnSpark | None]
    port: str | None = None
    raised: Callable[[Sequence[Result]], OnSpark | None] | None = None
    """What runs show that did not come to their end, where that is the question."""


Asking: TypeAlias = Callable[[About, Material], Iterator[Question]]


def same_in_the_end(about: About, left: Feed, right: Feed, port: str | None = None) -> Question:
    """Two runs after which the same has to be there."""
    cut_alike = left.batches == right.batches

    def judge(gave: Sequence[Gave]) -> OnSpark | None:
        if not cut_alike and not all(map(about.is_told, gave)):
            return None
        mine, theirs = about.in_the_end(gave[0]), about.in_the_end(gave[1])
        if not about.differ(mine, theirs):
            return None
        return Unlike(left.fed(about.operator, mine), right.fed(about.operator, theirs))

    return Question((left, right), judge, port)


def _port(about: About, name: str) -> str | None:
    return name if len(about.operator.ports) > 1 else None


# --- the paper's six properties ---


def deterministic(about: About, material: Material) -> Iterator[Question]:
    """The same inputs in the same batches and partitions give the same output: when they come again, with other pauses
    between records, with another order in which the outputs of tasks arrive, and with tasks that are retried.

    `where("n > 1")` has it. `withColumn("r", rand())` and `collect_list` after a shuffle do not have it.
    """
    if about.operator.streams:
        once = about.feed(one_by_one(material))
        yield same_in_the_end(about, once, replace(once, interval=about.delays[-1], again=1))
    several = about.feed(at_once(material), dealt=min(3, len(material)))
    yield same_in_the_end(about, several, replace(several, under=Variant(ShuffleOrder("reversed")), again=1))
    if about.operator.engine != "dstream" and about.operator.kind is not SparkKind.SINK:
        yield same_in_the_end(about, several, replace(several, retried=True))


def _counts(about: About, material: Material, wrong: Callable[[int], bool]) -> Iterator[Question]:
    if not about.operator.streams:
        feeds = [about.firing(((step,),)) for step in material]
    else:
        feeds = [about.firing(one_by_one(material))]
    for feed in feeds:

        def judge(gave: Sequence[Gave], feed: Feed = feed) -> OnSpark | None:
            for number, rows in enumerate(gave[0].instants):
                if len(feed.batches[number]) == 1 and wrong(len(rows)):
                    return Fired(feed.fed(about.operator, rows, until=number))
            return None

        yield Question((feed,), judge)


def one_to_one(about: About, material: Material) -> Iterator[Question]:
    """One row comes out of every record, at once.

    `select` has it. `where` does not have it, and neither does a windowed count in append mode, which waits.
    """
    yield from _counts(about, material, lambda count: count != 1)


def selective(about: About, material: Material) -> Iterator[Question]:
    """At most one row comes out of a record.

    `where` has it. `explode` does not have it.
    """
    yield from _counts(about, material, lambda count: count > 1)


def prolific(about: About, material: Material) -> Iterator[Question]:
    """Sometimes more than one row comes out of a record: one example proves it.

    `explode` has it. `select` does not have it.
    """
    yield from _counts(about, material, lambda count: count > 1)


def stateless(about: About, material: Material) -> Iterator[Question]:
    """What comes out of a record does not depend on earlier batches.

    `where` has it. `groupBy("k").count()` does not have it.
    """
    last = material[-1]
    by_itself = about.firing(((last,),))
    for before in distinct((material[:-1], (last,))):
        earlier = one_by_one(before)
        after = about.firing((*earlier, (last,)))
        alone = about.firing((*[()] * len(earlier), (last,)))  # it comes when it came before

        def judge(gave: Sequence[Gave], after: Feed = after) -> OnSpark | None:
            mine, theirs = gave[0].instants[-1], gave[1].instants[-1]
            if not about.differ(mine, theirs):
                return None
            return Unlike(by_itself.fed(about.operator, mine), after.fed(about.operator, theirs))

        yield Question((alone, after), judge)


def commutative(about: About, material: Material) -> Iterator[Question]:
    """The output does not depend on the order of the records of a port; of a batch job, of rows and partitions.

    A count per key has it. `collect_list`, and a join that takes the latest, do not have it.
    """
    if not about.operator.streams:
        yield from order_independent(about, material)
        yield from partition_independent(about, material)
        return
    if len(material) > LONG:
        return  # its equal records share batches, and in another order others would
    whole = about.feed(one_by_one(material))
    for port in about.operator.ports:
        places = [place for place, (name, _) in enumerate(material) if name == port.name]
        for order in dict.fromkeys((tuple(places[::-1]), tuple(places[1:] + places[:1]))):
            moved = list(material)
            for place, source in zip(places, order, strict=True):
                moved[place] = material[source]
            if tuple(moved) != material:
                yield same_in_the_end(about, whole, about.feed(one_by_one(tuple(moved))), _port(about, port.name))


def partition_isolated(about: About, material: Material) -> Iterator[Question]:
    """The output for a key does not depend on records with other keys.

    A count per key has it. A share of the total does not; neither does a window whose watermark other keys move, so
    that a record comes too late.
    """
    # Records of other keys may come before those of a key, or after them.
    for key in distinct(_key_of_step(about.operator, step) for step in (material[-1], material[0])):
        yield from _isolated(about, material, key)


def _isolated(about: About, material: Material, key: tuple[Any, ...]) -> Iterator[Question]:
    operator = about.operator
    own = tuple(step for step in material if _key_of_step(operator, step) == key)
    if len(own) == len(material):
        return
    if operator.streams:
        # Every record comes when it came before: in the place of others there are empty batches.
        mixed = one_by_one(material)
        alone = tuple(tuple(step for step in batch if _key_of_step(operator, step) == key) for batch in mixed)
        yield _same_for_key(about, key, about.feed(alone), about.feed(mixed))
    yield _same_for_key(about, key, about.feed(at_once(own)), about.feed(at_once(material)))


def _same_for_key(about: About, key: tuple[Any, ...], alone: Feed, mixed: Feed) -> Question:
    operator = about.operator

    def judge(gave: Sequence[Gave]) -> OnSpark | None:
        ends = [about.in_the_end(each) for each in gave]
        keys = [[about.key_of(row) for row in end] for end in ends]
        if any(each is None for found in keys for each in found):
            return None  # the output does not say whose it is
        mine, theirs = (
            tuple(row for row, own in zip(end, found, strict=True) if canonical(own) == canonical(key))
            for end, found in zip(ends, keys, strict=True)
        )
        return Unlike(alone.fed(operator, mine), mixed.fed(operator, theirs)) if about.differ(mine, theirs) else None

    return Question((alone, mixed), judge)


def _key_of_step(operator: SparkOperator, step: Step) -> tuple[Any, ...]:
    columns = operator.port(step[0]).columns
    return tuple(step[1][columns.index(each)] for each in operator.key)


# --- what may change without anybody noticing ---


def batch_independent(about: About, material: Material) -> Iterator[Question]:
    """How a stream is cut into micro-batches does not show in the end. The records come in the order of event time, so
    that none is late: that is `late_safe`.

    A count per key in update mode has it. A count of each batch does not have it.
    """
    ordered = in_time(about.operator, material)
    cuts = _cuts(about.operator, ordered)
    middle = min(cuts, key=lambda cut: abs(2 * cut - len(ordered) - 1), default=len(ordered))
    whole = Feed(_cut(ordered, cuts))  # with long pauses, records of other batches would come at another time
    for other in distinct((at_once(ordered), _cut(ordered, [middle]))):
        if other != whole.batches:
            yield same_in_the_end(about, whole, Feed(other))


def in_time(operator: SparkOperator, material: Material) -> Material:
    """The records in the order of their event time."""
    moments = [_moment(operator, step) for step in material]
    timed = [(moment, place) for place, moment in enumerate(moments) if moment is not None]
    ordered = iter(sorted(timed))
    return tuple(step if moments[place] is None else material[next(ordered)[1]] for place, step in enumerate(material))


def _moment(operator: SparkOperator, step: Step) -> datetime | None:
    """The event time of a record. One without a zone is in UTC, as our sessions are."""
    place = operator.port(step[0]).time
    value: datetime | None = None if place is None else step[1][place]
    return value if value is None or value.tzinfo is not None else value.replace(tzinfo=UTC)


def _cuts(operator: SparkOperator, ordered: Material) -> list[int]:
    """Where records in the order of event time may be cut into batches.

    Not between two of the same time: with a watermark of 0 seconds, the second would come too late.
    """
    moments = [_moment(operator, step) for step in ordered]
    ends = accumulate(len(batch) for batch in one_by_one(ordered))
    return [
        cut
        for cut in ends
        if cut < len(ordered)
        and (
            (before := next((each for each in reversed(moments[:cut]) if each is not None), None)) is None
            or before != next((each for each in moments[cut:] if each is not None), None)
        )
    ]


def _cut(material: Material, cuts: Sequence[int]) -> tuple[tuple[Step, ...], ...]:
    places = (0, *(cut for cut in cuts if cut < len(material)), len(material))
    return tuple(tuple(material[start:end]) for start, end in pairwise(places))


def _in_batches(about: About, material: Material) -> tuple[tuple[Step, ...], ...]:
    return in_halves(material) if about.operator.streams and len(material) > 3 else at_once(material)


def partition_independent(about: About, material: Material) -> Iterator[Question]:
    """The number and the contents of partitions do not show.

    `groupBy("k").sum("n")` of whole numbers has it. `monotonically_increasing_id` does not have it.
    """
    batches = _in_batches(about, material)
    whole = about.feed(batches)
    for parts in dict.fromkeys((2, len(material))):
        yield same_in_the_end(about, whole, replace(whole, dealt=parts))
    if not about.operator.plain:  # RDDs are shuffled into as many partitions as they have
        yield same_in_the_end(about, whole, replace(whole, under=Variant(ShufflePartitions(3))))


def order_independent(about: About, material: Material) -> Iterator[Question]:
    """The order of the rows within a batch does not show.

    `max` has it. `first`, and `row_number` over ties, do not have it.
    """
    whole = about.feed(_in_batches(about, material))
    orders: tuple[Literal["reversed"] | int, ...] = ("reversed", 1)
    for order in orders:
        yield same_in_the_end(about, whole, replace(whole, under=Variant(RowOrder(order))))


def restart_safe(about: About, material: Material) -> Iterator[Question]:
    """A query that is stopped and started again from its checkpoint puts out what it would have put out.

    What Spark keeps as state has it. What a Python function keeps in a variable does not have it.
    """
    whole = about.feed(one_by_one(material))
    for batch in dict.fromkeys((0, len(material) - 2)):
        yield same_in_the_end(about, whole, replace(whole, under=Variant(Restart(batch))))


def clock_free(about: About, material: Material) -> Iterator[Question]:
    """The clock and the pauses between records do not show.

    A window of event time has it. `current_timestamp()` does not have it.
    """
    once = Feed(one_by_one(material))
    for delay in about.delays:
        yield same_in_the_end(about, once, replace(once, interval=delay))
