"""Runs feeds on Spark: many in one query where the subject allows it, else by themselves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.operators.onspark.feeds import Failed, Feed, Gave, NotRun, Result, distinct
from firesteel.operators.onspark.operator import SparkOperator
from firesteel.operators.onspark.trying import Trying
from firesteel.perturb.changes import RowOrder, ShufflePartitions, Variant
from firesteel.spark.bulk.dstreams import exercise_beside
from firesteel.spark.bulk.jobs import exercise_united
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.exercise import exercise, exercise_apart
from firesteel.spark.failures import CannotCarry, OneCaseFails, SubjectFailure
from firesteel.spark.perturb.levers import dismissed, new_workers
from firesteel.spark.perturb.retries import failing_first, tasks_tried_twice
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.records import canonical
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SMALLEST = 6
"""Where a query of many cases fails, halves of them are tried, down to this many."""
_REFUSALS = 2
"""So many queries of many cases in a row have to fail before none is tried any more."""


_RETRIED = 3
"""So many runs have tasks that are retried: each is run by itself, and takes long."""


@dataclass
class Runner:
    """Runs feeds of one operator, and remembers what came of them. What is remembered screens; `alone` convicts."""

    spark: SparkSession
    operator: SparkOperator
    seconds: float = 60.0
    """A micro-batch that takes longer counts as hanging."""
    streams_at_most: int = 8
    """So many runs of a round are run by themselves; the others are left out."""
    jobs_at_most: int = 80
    until: float = float("inf")
    """When nothing more is run by itself, by the monotonic clock."""
    bulk: bool = True
    trying: Trying | None = None
    """Runs feeds in Python, where that is possible."""
    in_python: bool = False
    """Are feeds run in Python now?"""
    _known: dict[str, Result] = field(default_factory=dict)
    _compared: set[Variant] = field(default_factory=set)
    """Ways to run for which a run together with others was seen to give what a run by itself gives."""
    _refused: int = 0
    _retried: int = 0

    def screened(self, feeds: Sequence[Feed]) -> list[Result]:
        """What came of some feeds; `NotRun` where there was no time."""
        if self.in_python and self.trying is not None:
            return self.trying.results(feeds)
        groups: dict[Any, list[Feed]] = {}
        for feed in distinct(feeds):
            if repr(feed) not in self._known:
                groups.setdefault(
                    (_of_spark(feed.under), feed.interval, feed.close, feed.state, feed.again, feed.retried), []
                ).append(feed)
        found: dict[str, Result] = {}
        left = self.streams_at_most if self.operator.streams else self.jobs_at_most
        for group in groups.values():
            if self.is_over and self._known:  # without a single result there would be nothing to say
                break
            results = self._together(group)
            rest = [feed for feed, result in zip(group, results, strict=True) if isinstance(result, NotRun)]
            found |= {repr(feed): result for feed, result in zip(group, results, strict=True)}
            if group[0].retried:
                known = self._known | found
                now = [feed for feed in rest if _has_rows(known.get(repr(replace(feed, retried=False))))]
                now = now[: _RETRIED - self._retried]
                self._retried += len(now)
            else:
                now = rest[: max(left, 1)]
                left -= len(now)
            if now and not self.is_over:
                found |= {repr(feed): result for feed, result in zip(now, self._apart(now), strict=True)}
        self._known |= {name: result for name, result in found.items() if not isinstance(result, NotRun)}
        return [self._known.get(repr(feed), NotRun()) for feed in feeds]

    def alone(self, feed: Feed) -> Result:
        """What comes of a feed that is run by itself, in Python workers that know nothing of other runs."""
        with self._in_new_workers():
            try:
                with self._tasks_of(feed):
                    trace = exercise(self.spark, self._case(feed), self._subject(feed), self._how(feed), _to_the_end)
                return _gave(trace)
            except SubjectFailure as failure:
                return _failed(failure)
            except InvalidArgument as error:
                return _refused(error, feed)

    @contextmanager
    def _in_new_workers(self) -> Iterator[None]:
        """Python functions run in new workers, which are gone afterwards."""
        context = self.spark.sparkContext
        with new_workers(context) as name:
            try:
                yield
            finally:
                dismissed(context, [name])

    @property
    def is_over(self) -> bool:
        """Is the time over?"""
        return time.monotonic() >= self.until

    @property
    def shares(self) -> bool:
        """May several runs share a query, or a job?"""
        return self.bulk and self._refused < _REFUSALS

    def _subject(self, feed: Feed) -> Any:
        return failing_first(self.operator.function) if feed.retried else self.operator.function

    def _tasks_of(self, feed: Feed) -> AbstractContextManager[None]:
        return tasks_tried_twice(self.spark.sparkContext) if feed.retried else nullcontext()

    def _case(self, feed: Feed) -> Case:
        return feed.case(self.operator)

    def _how(self, feed: Feed) -> Running:
        under = _of_spark(feed.under)
        if self.operator.engine == "dstream":
            return Running(engine="dstream", seconds=self.seconds, batch_interval=feed.interval, under=under)
        if not self.operator.streams:
            return Running(engine="batch", seconds=self.seconds, under=under)
        return Running(
            output_mode=self.operator.output_mode,
            seconds=self.seconds,
            batch_interval=feed.interval,
            close=feed.close,
            state=feed.state,
            under=_in_one_partition(under),
        )

    def _apart(self, feeds: Sequence[Feed]) -> list[Result]:
        """Runs by themselves, several at once."""
        with self._in_new_workers():
            try:
                cases = [self._case(feed) for feed in feeds]
                with self._tasks_of(feeds[0]):
                    traces = exercise_apart(self.spark, cases, self._subject(feeds[0]), self._how(feeds[0]))
                return [_outcome(each, feeds[0]) for each in traces]
            except SubjectFailure:  # tasks cannot be retried here
                return [NotRun()] * len(feeds)
            except InvalidArgument as error:
                return [_refused(error, feed) for feed in feeds]

    def _together(self, feeds: Sequence[Feed]) -> list[Result]:
        """Many runs in one query, where that is possible."""
        first = feeds[0]
        if not self.shares or len(feeds) < 2 or first.under.alone or first.state or first.retried:
            return [NotRun()] * len(feeds)
        with self._in_new_workers():
            try:
                found = self._in_one_query(feeds)
            except InvalidArgument as error:
                return [_refused(error, feed) for feed in feeds]
        self._refused = self._refused + 1 if all(isinstance(each, NotRun) for each in found) else 0
        if self.operator.engine != "structured" and not self._is_alike(first, found[0]):
            return [NotRun()] * len(feeds)
        return found

    def _is_alike(self, feed: Feed, screened: Result) -> bool:
        """Does a feed give by itself what it gave together with others? Asked once for each way to run."""
        under = _of_spark(feed.under)
        if under not in self._compared and not isinstance(screened, NotRun):
            self._compared.add(under)
            match self.alone(feed), screened:
                case Gave() as one, Gave() as other:
                    self.bulk = Counter(map(canonical, one.rows)) == Counter(map(canonical, other.rows))
                case one, other:
                    self.bulk = type(one) is type(other)
        return self.bulk

    def _in_one_query(self, feeds: Sequence[Feed]) -> list[Result]:
        cases = [self._case(feed) for feed in feeds]
        try:
            traces = self._exercised(cases, self._subject(feeds[0]), self._how(feeds[0]))
        except OneCaseFails:
            half = len(feeds) // 2
            if half < _SMALLEST:
                return [NotRun()] * len(feeds)
            return self._in_one_query(feeds[:half]) + self._in_one_query(feeds[half:])
        except CannotCarry:  # no two of them
            return [NotRun()] * len(feeds)
        except SubjectFailure as failure:
            if failure.hangs:
                self.bulk = False
                return [NotRun()] * len(feeds)
            # No data has been fed yet.
            return [Failed(str(failure), always=True)] * len(feeds)
        return [NotRun() if trace is None else _gave(trace) for trace in traces]

    def _exercised(self, cases: Sequence[Case], subject: Any, how: Running) -> Sequence[Trace | None]:
        match self.operator.engine:
            case "structured":
                return exercise_together(self.spark, cases, subject, how, also_single=True, late=True)
            case "dstream":
                return exercise_beside(self.spark, cases, subject, how, lambda: self.is_over)
            case _:
                return exercise_united(self.spark, cases, subject, how, lambda: self.is_over)


def _has_rows(result: Result | None) -> bool:
    """Did anything come out? A run without output says nothing about its tasks."""
    return isinstance(result, Gave) and bool(result.rows)


def _of_spark(under: Variant) -> Variant:
    """What changes in Spark itself: other changes are in the records that are fed, and may share a query."""
    return Variant(*(each for each in under.changes if not isinstance(each, RowOrder)))


def _in_one_partition(under: Variant) -> Variant:
    """Shuffles go into one partition, unless the run is about that: all keys then meet in one Python worker."""
    if any(isinstance(change, ShufflePartitions) for change in under.changes):
        return under
    return Variant(*under.changes, ShufflePartitions(1))


def _to_the_end(now: Instant) -> bool:
    return False


def _gave(trace: Trace) -> Gave:
    states = tuple(0 if now.recorded_state is None else len(now.recorded_state) for now in trace)
    marked = any(now.recorded_watermark is not None for now in trace)
    return Gave(tuple(_rows(now) for now in trace), states, marked)


def _rows(now: Instant) -> tuple[Any, ...]:
    """What came out at an instant; of several outputs, each row with the name of its own."""
    if len(now.outputs) == 1:
        return tuple(row for batch in now.outputs.values() for row in batch.records)
    return tuple((name, row) for name, batch in now.outputs.items() for row in batch.records)


def _failed(failure: SubjectFailure) -> Failed:
    return Failed(str(failure), always=not failure.depends_on_case, hangs=failure.hangs)


def _outcome(found: Trace | SubjectFailure, feed: Feed) -> Result:
    if isinstance(found, SubjectFailure):
        # Where tasks are retried, the failure may be that of what lets them fail, and not of the operator.
        return NotRun() if feed.retried else _failed(found)
    return _gave(found)


def _refused(error: InvalidArgument, feed: Feed) -> Result:
    if feed.state:  # there is no state that could grow
        return Gave(((),) * len(feed.batches), (0,) * len(feed.batches))
    return Failed(str(error), always=True)
