"""Tries code with state in Python before Spark runs it: thousands of runs in the time of one query."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from firesteel.operators.execute import Loaded
from firesteel.operators.kinds import Kind, Operator
from firesteel.operators.onspark.feeds import Failed, Feed, Gave, NotRun, Result
from firesteel.operators.onspark.imitation import Imitation
from firesteel.operators.onspark.operator import SparkOperator
from firesteel.operators.onspark.stateful import Processing, StateFunction
from firesteel.operators.outcomes import Gave as Returned
from firesteel.operators.outcomes import Job, Raised, Seen
from firesteel.operators.sending import CannotLoad
from firesteel.operators.workers import Workers
from firesteel.perturb.changes import RowOrder, ShuffleOrder, ShufflePartitions
from firesteel.spark.engines.source import plain
from firesteel.values import durations, schemas
from firesteel.values.batches import Batch
from firesteel.values.records import make_record

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_LIMIT = 5.0
"""Seconds for one run."""
_TOGETHER = 10
"""So many runs share a process. The code is loaded anew for each batch, so they see little of each other."""
_IMITATED = (RowOrder, ShuffleOrder, ShufflePartitions)


def imitation_of(operator: SparkOperator) -> Imitation | None:
    """An operator as a function of batches in Python; None where that is not possible."""
    match operator.function:
        case Processing(by, factory, None, in_rows):
            code, is_processor = factory, True
        case StateFunction(by, function):
            code, is_processor, in_rows = function, False, False
        case _:
            return None
    output = schemas.parse(by.output)
    if output is None:
        return None
    delay = durations.duration(by.watermark, "watermark", zero=True) // timedelta(milliseconds=1)
    time = by.time if by.time_mode == "eventTime" else None
    given = _columns(operator.ports[0].schema)
    return Imitation(code, is_processor, by.key, given, _columns(output), time, by.time_mode, delay, in_rows)


def _columns(schema: StructType) -> tuple[tuple[str, str], ...]:
    return tuple((each.name, each.dataType.typeName()) for each in schema.fields)


class Trying:
    """Runs feeds of an operator in Python, in a process of its own. What cannot be run there is `NotRun`."""

    def __init__(self, operator: SparkOperator, imitation: Imitation) -> None:
        self._operator, self._imitation = operator, imitation
        self._workers: Workers | None = None
        self._known: dict[str, Result] = {}
        with suppress(CannotLoad):
            self._workers = Workers(Loaded(Operator(Kind.FUNCTION, (imitation,))))

    def end(self) -> None:
        """Give the process back."""
        if self._workers is not None:
            self._workers.__exit__(None, None, None)
            self._workers = None

    @property
    def is_possible(self) -> bool:
        """Is there a process that has the code?"""
        if self._workers is None:
            return False
        try:
            self._workers.ready()
        except CannotLoad:
            self.end()
        return self._workers is not None

    def results(self, feeds: Sequence[Feed]) -> list[Result]:
        """What comes of some feeds."""
        new = {repr(feed): feed for feed in feeds if repr(feed) not in self._known and _is_imitated(feed)}
        if new and self._workers is not None:
            runs = tuple((self._arguments(feed),) for feed in new.values())
            try:
                seen = self._workers.run(Job(runs, limit=_LIMIT, together=_TOGETHER))
            except CannotLoad:
                seen = []
            self._known |= {name: self._result(each) for name, each in zip(new, seen, strict=False)}
        return [self._known.get(repr(feed), NotRun()) for feed in feeds]

    def _arguments(self, feed: Feed) -> tuple[Any, ...]:
        (stream,) = feed.case(self._operator).inputs.values()
        turned = feed.under.shuffle_order == "reversed"
        batches = tuple(tuple(map(tuple, map(plain, _arrived(batch, turned)))) for batch in stream)
        return batches, feed.interval // timedelta(milliseconds=1), feed.close

    def _result(self, seen: Seen) -> Result:
        match seen.outcomes:
            case (Returned((instants,)),):
                names = [name for name, _ in self._imitation.output]
                made = [[make_record(dict(zip(names, row, strict=True))) for row in rows] for rows in instants]
                return Gave(tuple(map(tuple, made)), watermark=self._imitation.time is not None)
            case (Raised(kind, message),):
                return Failed(f"{kind}: {message}")
            case _:
                return NotRun()


def _is_imitated(feed: Feed) -> bool:
    return not feed.state and not feed.retried and all(isinstance(each, _IMITATED) for each in feed.under.changes)


def _arrived(batch: Batch, turned: bool) -> list[Any]:
    """The records of a batch in the order in which a shuffle brings them."""
    if not turned or not batch.partitions:
        return list(batch.records)
    parts, start = [], 0
    for size in batch.partitions:
        parts.append(batch.records[start : start + size])
        start += size
    return [record for part in reversed(parts) for record in part]
