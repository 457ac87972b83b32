"""Sinks: what a run of one is, and what properties mean for them. The output is what `read` sees in the end."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.onspark import OnSpark, Unlike
from firesteel.operators.onspark.feeds import Failed, Feed, Gave, Material, NotRun, Result, in_halves, one_by_one
from firesteel.operators.onspark.harder import QUESTIONS as OF_TRANSFORMATIONS
from firesteel.operators.onspark.model import About, Asking, Question, same_in_the_end
from firesteel.operators.onspark.operator import SparkOperator
from firesteel.operators.onspark.running import Runner
from firesteel.perturb.changes import ReplayedBatch, Variant
from firesteel.spark.engines.sinks import Write, call_sink, can_be_called, exercise_sink, writing_rows
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.records import canonical, make_record, named, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def replay_safe(about: About, material: Material) -> Iterator[Question]:
    """A batch that is delivered twice leaves the sink as one that is delivered once: it ran, its commit did not.

    A sink that writes by key, or that remembers batch ids, has it. One that appends does not have it.
    """
    whole = Feed(in_halves(material))
    for batch in dict.fromkeys((len(whole.batches) - 1, 0)):
        yield same_in_the_end(about, whole, replace(whole, under=Variant(ReplayedBatch(batch))))


def stateless(about: About, material: Material) -> Iterator[Question]:
    """What a batch changes does not depend on earlier batches.

    A sink that appends has it. One that keeps the largest value of each key does not have it.
    """
    if len(material) < 2:
        return
    *_, last = whole = one_by_one(material)
    both, before, alone = Feed(whole), Feed(whole[:-1]), Feed((last,))

    def judge(gave: Sequence[Gave]) -> OnSpark | None:
        with_all, without, only = (Counter(map(canonical, each.rows)) for each in gave)
        if with_all - without == only and not without - with_all:
            return None
        return Unlike(alone.fed(about.operator, gave[2].rows), both.fed(about.operator, gave[0].rows))

    yield Question((both, before, alone), judge)


def idempotent(about: About, material: Material) -> Iterator[Question]:
    """Rows that come again, in a later batch with an id of its own, leave the sink as it is.

    A sink that writes by key has it. One that remembers batch ids does not have it: it takes them for new rows.
    """
    once = in_halves(material)
    yield same_in_the_end(about, Feed(once), Feed((*once, once[-1])))


QUESTIONS: dict[str, Asking] = {
    **OF_TRANSFORMATIONS,
    "stateless": stateless,
    "replay_safe": replay_safe,
    "idempotent": idempotent,
}


class SinkRunner(Runner):
    """Runs a sink, every time into a fresh place: by a query, or to screen, by calls with the same batches."""

    @property
    def shares(self) -> bool:
        return self.bulk

    def alone(self, feed: Feed) -> Result:
        return self._written(feed, exercise_sink)

    def _apart(self, feeds: Sequence[Feed]) -> list[Result]:
        return [self.alone(feed) for feed in feeds]

    def _together(self, feeds: Sequence[Feed]) -> list[Result]:
        """Calls of the sink, without a query; the first one of its kind is compared with a query's."""
        first = feeds[0]
        if not self.bulk or not can_be_called(self._how(first)):
            return [NotRun()] * len(feeds)
        found = [self._written(first, call_sink)]
        for feed in feeds[1:]:
            over = not self._is_alike(first, found[0]) or self.is_over or _is_stuck(found[-1])
            found.append(NotRun() if over else self._written(feed, call_sink))
        return found if self._is_alike(first, found[0]) else [NotRun()] * len(feeds)

    def _written(self, feed: Feed, run: Callable[[SparkSession, Case, Write, Running], None]) -> Result:
        place = empty_place(self.operator)
        try:
            case = self._case(feed)
        except InvalidArgument as error:  # a row of the sample that does not fit the schema
            return Failed(str(error), always=True)
        try:
            run(self.spark, case, _writing(self.operator.function, place), self._how(feed))
        except SubjectFailure as failure:
            return Failed(str(failure), always=not failure.depends_on_case, hangs=failure.hangs)
        try:
            return Gave((rows_in(self.operator, place),))
        except Exception as error:
            if any(feed.batches):
                return Failed(f"read= raised {type(error).__name__} after the run: {error}")
            return Gave(((),))


def _is_stuck(result: Result) -> bool:
    return isinstance(result, NotRun) or (isinstance(result, Failed) and result.hangs)


def empty_place(operator: SparkOperator) -> Any:
    """A fresh place; one that is not empty is refused, before anything is written."""
    assert operator.fresh is not None
    place = operator.fresh()
    try:
        found = rows_in(operator, place)
    except Exception:  # there is nothing yet that could be read
        return place
    if found:
        raise InvalidArgument(
            f"{described('fresh', operator.fresh)} gave a place that is not empty, {shown(place)}: it holds "
            f"{shown(found[0])}. Nothing was written. Make a new place each time, such as tempfile.mkdtemp()"
        )
    return place


def rows_in(operator: SparkOperator, place: Any) -> tuple[Any, ...]:
    """The rows that `read` finds."""
    assert operator.read is not None
    found = operator.read(place) if _takes(operator.read, 1) else operator.read()
    match found:
        case None:
            return ()
        case Mapping():
            return tuple(found.items())
        case _ if hasattr(found, "toLocalIterator") and hasattr(found, "collect"):
            rows: Sequence[Any] = found.collect()
        case _ if hasattr(found, "to_dict") and hasattr(found, "columns"):
            rows = found.to_dict("records")
        case _:
            rows = list(found)
    return tuple(_row(row) for row in rows)


def _row(row: Any) -> Any:
    columns = named(row)
    return row if columns is None else make_record(columns)


def _writing(function: Any, place: Any) -> Write:
    if isinstance(function, type):
        return writing_rows(function(place) if _takes(function, 1) else function())
    if hasattr(function, "process"):
        return writing_rows(function)
    if _takes(function, 3):
        return lambda frame, batch_id: function(frame, batch_id, place)
    return lambda frame, batch_id: function(frame, batch_id)


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Can a function be called with so many arguments?"""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # a builtin without a signature
        return count == 1
    return True
