"""Runs a case on DStreams, Spark's first kind of stream, and records its trace.

Instant k holds batch k of every input, and the contents of the RDD that every output has for that batch. Each case is
run by a StreamingContext of its own, on a clock that stands still until the runner moves it by one interval: that is
one batch. Nothing sleeps: the last output operation of a batch says that the batch is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from firesteel.names import name_of
from firesteel.perturb.changes import Need
from firesteel.spark.engines.contexts import (
    checkpoint_folder,
    no_warning,
    nothing_kept,
    refuse_a_second,
    still_context,
    stop_another,
)
from firesteel.spark.engines.engine import Engine, Watcher
from firesteel.spark.engines.rdds import batch_of, rdd_of
from firesteel.spark.engines.subject import Subject, being_built, call_subject, named_outputs
from firesteel.spark.engines.waiting import STOP_SECONDS, Worker, is_done
from firesteel.spark.failures import SubjectFailure, goes_on, raised_inside, root_cause, took_too_long
from firesteel.spark.jobs import cancel, tagged
from firesteel.spark.perturb.levers import pulled
from firesteel.spark.running import Running
from firesteel.values.batches import Batch
from firesteel.values.cases import Case
from firesteel.values.durations import START
from firesteel.values.records import Record
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.streaming import DStream, StreamingContext

_MILLISECOND = timedelta(milliseconds=1)
_LOOK_SECONDS = 0.002


def exercise(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher) -> Trace:
    """Run a case and record its trace, until the watcher stops it. Spark runs one StreamingContext at a time.

    What the case needed is gone afterwards, also when it fails: the context, its checkpoints, and the RDDs it kept.
    """
    refuse_a_second(spark)
    with ExitStack() as stack:
        stack.enter_context(nothing_kept(spark.sparkContext))
        stack.enter_context(checkpoint_folder(spark))
        stack.enter_context(pulled(spark, how.under))
        context = still_context(spark.sparkContext, how.batch_interval)
        feeds = {name: _Feed(context) for name in case.inputs}
        with being_built(subject, case.drawn):
            outputs = _outputs(context, subject, {name: feed.dstream for name, feed in feeds.items()}, case.drawn)
        if not case.length:
            return Trace(())
        return _recorded(case, how, watcher, feeds, _Run(context, feeds, outputs, how, stack))


def _recorded(case: Case, how: Running, watcher: Watcher, feeds: Mapping[str, _Feed], run: _Run) -> Trace:
    instants: list[Instant] = []
    ready = _rdds(case, feeds, 0)
    for index in range(case.length):
        for name, rdd in ready.items():
            feeds[name].add(rdd)
        run.advance()
        if index + 1 < case.length:
            ready = _rdds(case, feeds, index + 1)  # made while Spark works
        instant = Instant(
            index,
            case.batches_at(index),
            run.outputs(index, instants),
            time=_first(how.batch_interval) + index * how.batch_interval,
            drawn=case.drawn,
        )
        instants.append(instant.after(instants[-1] if instants else None))
        if watcher(instants[-1]):
            break
    return Trace(instants)


def _rdds(case: Case, feeds: Mapping[str, _Feed], index: int) -> dict[str, Any]:
    return {name: feeds[name].made(batch) for name, batch in case.batches_at(index).items()}


def _first(interval: timedelta) -> datetime:
    """The time of the first batch: Spark's batches are at whole multiples of their interval since 1970."""
    return START + (_epoch() - START) % interval


class _Feed:
    """One input: a queue that Spark takes one RDD from for every batch."""

    def __init__(self, context: StreamingContext) -> None:
        from pyspark.streaming import DStream

        self._spark = context.sparkContext
        jvm: Any = self._spark._jvm
        java: Any = context._jssc.queueStream(jvm.java.util.LinkedList(), True)
        # The queue itself: what PySpark's own queueStream takes is copied when the stream is made, so all RDDs of a
        # stream would have to be there before its first batch.
        self._queue = java.dstream().queue()
        self.dstream: DStream[Any] = DStream(java, context, self._spark.serializer)

    def made(self, batch: Batch) -> Any:
        """The RDD of a batch, ready to be added."""
        return rdd_of(self._spark, batch)._jrdd.rdd()

    def add(self, rdd: Any) -> None:
        """Add the next batch. Call it while Spark is idle: Spark does not expect the queue to change."""
        self._queue.enqueue(rdd)


class _Run:
    """A StreamingContext that is running: batch after batch, and what came out of it."""

    def __init__(
        self,
        context: StreamingContext,
        feeds: Mapping[str, _Feed],
        outputs: Mapping[str, DStream[Any]],
        how: Running,
        stack: ExitStack,
    ) -> None:
        self._java, self._how, self._context = context._jssc, how, context.sparkContext
        self._scheduler = self._java.ssc().scheduler()
        self._clock = self._scheduler.clock()
        self._clock.setTime((_first(how.batch_interval) - _epoch()) // _MILLISECOND - self._interval)
        self._collected: dict[str, list[Any]] = {}
        self._names = list(outputs)
        self._failure: BaseException | None = None
        self._done = Event()
        # Output operations that the subject has put in itself; they come before ours.
        self._has_own = len(self._java.ssc().graph().getOutputStreams()) > 0
        self._register(outputs, next(iter(feeds.values())).dstream)
        self._start(stack)

    @property
    def _interval(self) -> int:
        return self._how.batch_interval // _MILLISECOND

    def _register(self, outputs: Mapping[str, DStream[Any]], every_batch: DStream[Any]) -> None:
        """Collect every output. Spark runs the output operations of a batch in order: the last one ends the batch."""
        last = self._names[-1]
        slides = any(_slide(stream) != self._interval for stream in outputs.values())
        for name, stream in outputs.items():
            stream.foreachRDD(self._collects(name, ends=name == last and not slides))
        if slides:  # an output that slides by more than a batch has no RDD in every batch
            every_batch.foreachRDD(self._ends_the_batch)

    def _collects(self, name: str, *, ends: bool) -> Callable[[Any, Any], None]:
        def collect(at: Any, rdd: Any) -> None:
            try:
                self._collected[name] = rdd.collect()
            except Exception as error:
                self._fail(error)
            if ends:
                self._done.set()

        return collect

    def _ends_the_batch(self, at: Any, rdd: Any) -> None:
        self._done.set()

    def _fail(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error
        self._done.set()

    def _start(self, stack: ExitStack) -> None:
        with tagged(self._context) as self._tag:  # Spark keeps it for all batches
            try:
                self._java.start()
            except Exception as error:
                raise SubjectFailure(f"Spark would not start the subject's DStreams: {root_cause(error)}") from error
        # Waits in the JVM for what goes wrong outside our own output operations, until the context is stopped.
        waiting = Thread(target=self._until_it_ends, name="firesteel-dstream", daemon=True)
        waiting.start()
        stack.push(partial(self._left, waiting))

    def _until_it_ends(self) -> None:
        try:
            self._java.awaitTermination()
        except Exception as error:
            self._fail(error)

    def _left(self, waiting: Thread, kind: Any, error: BaseException | None, traceback: Any) -> None:
        """Stop the context."""
        # In a thread: Spark waits for the subject's functions on the driver, and one of them may hang.
        stopper = Worker()
        stopping = stopper.submit(partial(self._java.stop, False, False))
        stopper.close()
        if not is_done(stopping, STOP_SECONDS):
            cancel(self._context, self._tag)
        if is_done(stopping, STOP_SECONDS / 2):
            waiting.join(timeout=STOP_SECONDS)
        elif error is None or isinstance(error, SubjectFailure):
            raise goes_on("the StreamingContext", STOP_SECONDS, error) from error.__cause__ if error else None

    def advance(self) -> None:
        """Let one interval pass: Spark runs a batch."""
        self._collected = {}
        self._done.clear()
        self._clock.advance(self._interval)

    def outputs(self, index: int, recorded: Sequence[Instant]) -> dict[str, Batch]:
        """What came out of the batch that is running, once it is done."""
        done = self._done.wait(self._how.seconds)
        if done and self._has_own:
            self._look_for_errors()
        if self._failure is not None:
            raise raised_inside(self._failure, f" in batch {index}", recorded) from self._failure
        if not done:
            cancel(self._context, self._tag)
            raise took_too_long(f"batch {index}", self._how.seconds, recorded)
        return {name: batch_of(self._collected.get(name, ())) for name in self._names}

    def _look_for_errors(self) -> None:
        """Spark reports an output operation that failed a moment after the next one has begun: wait for that."""
        give_up = time.monotonic() + self._how.seconds
        while self._scheduler.getPendingTimes().nonEmpty() and time.monotonic() < give_up:
            time.sleep(_LOOK_SECONDS)
        try:
            self._java.awaitTerminationOrTimeout(1)
        except Exception as error:
            self._fail(error)


def _slide(stream: DStream[Any]) -> int:
    return int(stream._jdstream.dstream().slideDuration().milliseconds())


def _epoch() -> datetime:
    return datetime.fromtimestamp(0, START.tzinfo)


# --- the subject ---------------------------------------------------------------------------------


def _outputs(
    context: StreamingContext, subject: Subject, inputs: Mapping[str, DStream[Any]], drawn: Record
) -> Mapping[str, DStream[Any]]:
    """What the subject makes of its inputs, by output name."""
    from pyspark.streaming import DStream

    with no_warning():
        try:
            made = call_subject(subject, inputs, drawn)
        finally:
            own = stop_another(context)
    if own:
        raise SubjectFailure(
            f"the subject {name_of(subject)} starts a StreamingContext of its own, and Spark runs one at a time: build "
            "on the DStreams that it is given (stream.context() is theirs) and return the result"
        )

    def refusal(stream: DStream[Any]) -> str | None:
        if stream.context() is not context:
            return "a DStream of another StreamingContext: build it from the DStreams that it is given"
        return None

    return named_outputs(subject, made, (DStream,), "a DStream", refusal)


ENGINE = Engine(
    "dstream",
    exercise,
    refuses_options=("output_mode", "over", "close", "state"),
    lacks={
        Need.SETTINGS_FOR_FRAMES: "it changes a setting for DataFrames, not for DStreams",
        Need.CHECKPOINT: "DStreams are run without a checkpoint of their program",
        Need.COMMITS: "DStreams commit no batches",
    },
)
