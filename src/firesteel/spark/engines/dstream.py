"""Runs cases on DStreams, Spark's first kind of stream, and records their traces.

Instant k holds batch k of every input, and what the RDD of that batch of every output holds. Each case is run by a
StreamingContext of its own, on a clock that stands still until the runner moves it by one interval: that is one batch.
Nothing sleeps, and nothing asks again and again: the last output operation of a batch says that the batch is done.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from functools import cache
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument, described
from firesteel.names import name_of
from firesteel.spark.engines.rdds import batch_of, rdd_of
from firesteel.spark.engines.structured import Watcher, batch_at
from firesteel.spark.engines.subject import Subject, called
from firesteel.spark.failures import SubjectFailure, root_cause
from firesteel.spark.perturb.levers import pulled
from firesteel.spark.running import Running
from firesteel.spark.session import checkpoints
from firesteel.values.cases import Case
from firesteel.values.durations import START
from firesteel.values.records import Record
from firesteel.values.streams import Batch, Instant, Stream, Trace

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession
    from pyspark.streaming import DStream, StreamingContext

_MILLISECOND = timedelta(milliseconds=1)
_STOP_SECONDS = 10.0


def exercise(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher) -> Trace:
    """Run a case and record its trace, until the watcher stops it. Spark runs one StreamingContext at a time.

    What the case needed is gone afterwards, also when it fails: the context, its checkpoints, and the RDDs it kept.
    """
    _refuse_a_second_context(spark)
    with ExitStack() as stack:
        stack.enter_context(_nothing_kept(spark.sparkContext))
        stack.enter_context(_checkpoints(spark))
        stack.enter_context(pulled(spark, how.under))
        context = _context(spark.sparkContext, how.batch_interval)
        feeds = {name: _Feed(context, stream) for name, stream in case.inputs.items()}
        outputs = _outputs(context, subject, {name: feed.dstream for name, feed in feeds.items()}, case.drawn)
        if not case.length:
            return Trace(())
        return _recorded(case, how, watcher, list(feeds.values()), _Run(context, feeds, outputs, how, stack))


def _recorded(case: Case, how: Running, watcher: Watcher, feeds: Sequence[_Feed], run: _Run) -> Trace:
    instants: list[Instant] = []
    ready = [feed.made(0) for feed in feeds]
    for index in range(case.length):
        for feed, rdd in zip(feeds, ready, strict=True):
            feed.add(rdd)
        run.advance()
        if index + 1 < case.length:  # made while Spark works
            ready = [feed.made(index + 1) for feed in feeds]
        instant = Instant(
            index,
            {name: batch_at(stream, index) for name, stream in case.inputs.items()},
            run.outputs(index, instants),
            time=_first(how.batch_interval) + index * how.batch_interval,
            drawn=case.drawn,
            previous=instants[-1] if instants else None,
        )
        instants.append(instant)
        if watcher(instant):
            break
    return Trace(instants)


def _first(interval: timedelta) -> datetime:
    """The time of the first batch: Spark's batches are at whole multiples of their interval since 1970."""
    return START + (_epoch() - START) % interval


class _Feed:
    """One input: a queue that Spark takes one RDD from for every batch."""

    def __init__(self, context: StreamingContext, stream: Stream) -> None:
        from pyspark.streaming import DStream

        self._spark, self._stream = context.sparkContext, stream
        jvm: Any = self._spark._jvm
        java: Any = context._jssc.queueStream(jvm.java.util.LinkedList(), True)
        # The queue itself: what PySpark's own queueStream takes is copied when the stream is made, so all RDDs of a
        # stream would have to be there before its first batch.
        self._queue = java.dstream().queue()
        self.dstream: DStream[Any] = DStream(java, context, self._spark.serializer)

    def made(self, index: int) -> Any:
        """The RDD of a batch, ready to be added."""
        return rdd_of(self._spark, batch_at(self._stream, index))._jrdd.rdd()

    def add(self, rdd: Any) -> None:
        """Add the next batch; call it while Spark is idle, as it would not expect the queue to change."""
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
        self._java, self._how = context._jssc, how
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
        try:
            self._java.start()
        except Exception as error:
            raise SubjectFailure(f"Spark would not start the subject's DStreams: {root_cause(error)}") from error
        # Waits in the JVM for what goes wrong outside our own output operations, until the context is stopped.
        waiting = Thread(target=self._until_it_ends, name="firesteel-dstream", daemon=True)
        waiting.start()
        stack.callback(self._stop, waiting)

    def _until_it_ends(self) -> None:
        try:
            self._java.awaitTermination()
        except Exception as error:
            self._fail(error)

    def _stop(self, waiting: Thread) -> None:
        # By the way of a thread, as Spark waits for the subject's functions on the driver, and one of them may hang.
        stopping = Thread(target=self._stopped, name="firesteel-dstream", daemon=True)
        stopping.start()
        stopping.join(timeout=_STOP_SECONDS)
        if not stopping.is_alive():
            waiting.join(timeout=_STOP_SECONDS)

    def _stopped(self) -> None:
        with suppress(Exception):  # stopped already, by what went wrong
            self._java.stop(False, False)

    def advance(self) -> None:
        """Let one interval pass: Spark runs a batch."""
        self._collected = {}
        self._done.clear()
        self._clock.advance(self._interval)

    def outputs(self, index: int, instants: Sequence[Instant]) -> dict[str, Batch]:
        """What came out of the batch that is running, once it is done."""
        done = self._done.wait(self._how.seconds)
        if done and self._has_own:
            self._look_for_errors()
        if self._failure is not None:
            raise SubjectFailure(
                f"the subject raised inside Spark in batch {index}: {root_cause(self._failure)}", Trace(instants)
            ) from self._failure
        if not done:
            self._java.ssc().sparkContext().cancelAllJobs()  # else they would go on, and keep the cores busy
            raise SubjectFailure(
                f"batch {index} took longer than {self._how.seconds:g} s: the subject hangs, or needs more time "
                "(seconds=...)",
                Trace(instants),
            )
        return {name: batch_of(self._collected.get(name, ())) for name in self._names}

    def _look_for_errors(self) -> None:
        """Spark reports an output operation that failed a moment after the next one has begun: wait for that."""
        give_up = time.monotonic() + self._how.seconds
        while self._scheduler.getPendingTimes().nonEmpty() and time.monotonic() < give_up:
            pass
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

    with _no_warning():
        try:
            made = called(subject, inputs, drawn)
        finally:
            own = _stopped_context(context)
    where = f"the subject {name_of(subject)}"
    if own:
        raise SubjectFailure(
            f"{where} starts a StreamingContext of its own, and Spark runs one at a time: build on the DStreams that "
            "it is given (stream.context() is theirs) and return the result"
        )
    streams = dict(made) if isinstance(made, Mapping) else {"output": made}
    if not streams:
        raise SubjectFailure(f"{where} returned no output: return a DStream, or a dict of them by name")
    for name, stream in streams.items():
        what = "returned" if not isinstance(made, Mapping) else f"returned, as {name!r},"
        if not isinstance(stream, DStream):
            raise SubjectFailure(f"{where} {what} {described('value', stream)}: return a DStream, or a dict of them")
        if stream.context() is not context:
            raise SubjectFailure(
                f"{where} {what} a DStream of another StreamingContext: build it from the DStreams that it is given"
            )
    return streams


def _stopped_context(ours: StreamingContext) -> bool:
    """Was there a context running that the subject started? It is not any more."""
    from pyspark.streaming import StreamingContext

    active = _active(ours.sparkContext)
    if active is None:
        return False
    active.stop(False, False)
    StreamingContext._activeContext = None
    return True


def _active(context: SparkContext) -> Any:
    jvm: Any = context._jvm
    found = jvm.org.apache.spark.streaming.StreamingContext.getActive()
    return found.get() if found.isDefined() else None


def _refuse_a_second_context(spark: SparkSession) -> None:
    if _active(spark.sparkContext) is not None:
        raise InvalidArgument(
            "engine='dstream' is not possible now: a StreamingContext is running in this process, and Spark runs one "
            "at a time; stop it before: StreamingContext.getActive().stop(stopSparkContext=False)"
        )


# --- what a case needs ----------------------------------------------------------------------------


def _context(spark: SparkContext, interval: timedelta) -> StreamingContext:
    """A StreamingContext on a clock that stands still. One that is never started has nothing to be stopped."""
    settings = {
        "spark.streaming.clock": "org.apache.spark.util.ManualClock",
        "spark.streaming.concurrentJobs": "1",  # the output operations of a batch one after the other
    }
    with _no_warning(), _changed(spark, settings):  # read when the context is made
        seconds: Any = interval / timedelta(seconds=1)
        return _driven()(spark, seconds)


@cache
def _driven() -> type[StreamingContext]:
    from pyspark.streaming import StreamingContext

    class Driven(StreamingContext):
        """A context for the subject to build on, not to run."""

        def checkpoint(self, directory: str) -> None:
            """There is a folder already; and what would be written there, for a new start, nobody reads."""

        def start(self) -> None:
            raise _refusal("start")

        def stop(self, stopSparkContext: bool = True, stopGraceFully: bool = False) -> None:
            raise _refusal("stop")

        def awaitTermination(self, timeout: int | None = None) -> None:
            raise _refusal("awaitTermination")

        def awaitTerminationOrTimeout(self, timeout: int) -> None:
            raise _refusal("awaitTerminationOrTimeout")

    return Driven


def _refusal(method: str) -> RuntimeError:
    return RuntimeError(
        f"{method}() of the StreamingContext was called, which firesteel starts and stops: leave that out of the "
        "subject, and return a DStream"
    )


@contextmanager
def _no_warning() -> Iterator[None]:
    """Who asks for DStreams knows that they are deprecated."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="DStream is deprecated", category=FutureWarning)
        yield


@contextmanager
def _changed(spark: SparkContext, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of the running SparkContext, which Spark has no public way to change, for a while."""
    java: Any = spark._jsc
    conf = java.sc().conf()
    before = {name: conf.get(name) if conf.contains(name) else None for name in settings}
    for name, value in settings.items():
        conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                conf.remove(name)
            else:
                conf.set(name, old)


@contextmanager
def _checkpoints(spark: SparkSession) -> Iterator[None]:
    """A folder for the RDDs of state and of windows, which Spark cuts off from their past every ten seconds of time.

    The folder of the SparkContext alone. With one of the StreamingContext Spark would also write down the whole
    program, its Python functions pickled, after every batch, to be able to start again.
    """
    java: Any = spark._jsc
    scala = java.sc()
    before = scala.checkpointDir()
    folder = checkpoints.new_folder(spark)
    scala.setCheckpointDir(folder)
    try:
        yield
    finally:
        getattr(scala, "checkpointDir_$eq")(before)
        checkpoints.remove(spark, folder)


@contextmanager
def _nothing_kept(spark: SparkContext) -> Iterator[None]:
    """Windows and state are kept in memory, and a context that is stopped leaves them there."""
    java: Any = spark._jsc
    before = set(java.getPersistentRDDs())
    try:
        yield
    finally:
        for number, rdd in dict(java.getPersistentRDDs()).items():
            if number not in before:
                rdd.unpersist(False)
