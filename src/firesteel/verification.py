"""What a test calls about what Spark did: `verify`, `event_log`, `events` and `watch`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.evidence.failures import Falsified, Inconclusive, Vacuous
from firesteel.evidence.logs import Verified
from firesteel.evidence.report import Report
from firesteel.history.rule import Predicate, Rule
from firesteel.logic.ltl.formulas import Formula
from firesteel.logic.pptl.formulas import Formula as Pptl
from firesteel.logic.verdicts import Verdict
from firesteel.models import verify_model
from firesteel.surroundings import Called, Reported, tell
from firesteel.tracebacks import with_users_frames
from firesteel.values.traces import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from firesteel.history.live import Events, Watch
    from firesteel.history.logs.reading import EventLog
    from firesteel.model.msvl.program import Program

RuleLike: TypeAlias = Rule | str | Pptl | Formula


@with_users_frames
def verify(
    source: EventLog | Trace | Iterable[Any] | Program,
    rule: RuleLike | Sequence[RuleLike],
    *,
    propositions: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    externals: Mapping[str, Callable[..., Any]] | None = None,
    bound: int | None = None,
    runs: int | None = None,
) -> Report:
    """Check rules on what happened, or on every run of a model; raise `Falsified` where one is broken.

    What happened is in an event log, in the events of a live application, or in a trace.

    >>> import firesteel as fs
    >>> from firesteel import rules
    >>> log = fs.event_log("tests/history/logs/lost_block.zst")
    >>> fs.verify(log, [rules.PARENTS_BEFORE_CHILDREN, rules.attempts_at_most(3)]).summary()
    'true: 2 rules, 50 events'

    A rule is one of `firesteel.rules`, a text, or a formula. The names in a text are propositions about Spark's events,
    or yours: functions of an event, or expressions.

    >>> fs.verify(log, "[] (job_started -> <> job_succeeded)").verdict
    <Verdict.TRUE: 1>
    >>> fs.verify(log, "[] not again", propositions={"again": "stage.attempt > 1"})
    Traceback (most recent call last):
        ...
    firesteel.Falsified: [] not again is false
    ...

    Any iterable is a trace: for mappings a name is a key, for sets an element, for objects an attribute.

    >>> fs.verify([{"open": True, "closed": False}, {"open": False, "closed": True}], "open until closed").verdict
    <Verdict.TRUE: 1>

    The log is read once, in little memory. What a log does not break stays open where the log is not complete:
    `Inconclusive`.

    A program of MSVL has a run for each choice of its `or`. The rule, a formula of PPTL, has to hold in all of them.
    `propositions` says what its names mean, as MSVL expressions over the program's variables; a name that is left out
    is a variable. `inputs` and `externals` are those of `Program.run`. A run of more than `bound` states, or more than
    `runs` runs, leave the question open: `Inconclusive`.

    >>> from firesteel.model import msvl
    >>> program = msvl.load("frame(x) and (x <== 0 and skip ; x := 1 or x := 2)")
    >>> fs.verify(program, "<> up", propositions={"up": "x > 0"}).summary()
    'true in 2 runs, 5 states'
    """
    from firesteel.history.check import rules_of, verified
    from firesteel.model.msvl.program import Program
    from firesteel.report.progress import saying_where, showing

    if isinstance(source, Program):
        if not isinstance(rule, str | Pptl):
            raise InvalidArgument(f"{described('rule', rule)} is not a formula of PPTL; join several with `and`")
        return verify_model(source, rule, propositions, inputs=inputs, externals=externals, bound=bound, runs=runs)
    for name, value in {"inputs": inputs, "externals": externals, "bound": bound, "runs": runs}.items():
        if value is not None:
            raise InvalidArgument(f"{described(name, value)} is for programs of MSVL; {type(source)} is not one")
    chosen = rules_of(rule, propositions)
    with showing() as shown, saying_where(shown) as listener:
        found = verified(source, chosen, listener)
    return concluded(found, "fs.verify")


def concluded(found: Verified, function: str) -> Report:
    """The report on what was found; raises where it is not good."""
    from firesteel.history.check import report_of, says_nothing
    from firesteel.report.text import render

    report = report_of(found, function)
    tell(Reported(report))
    if report.verdict is Verdict.FALSE:
        raise Falsified(render(report), report)
    if report.verdict is Verdict.INCONCLUSIVE:
        raise Inconclusive(render(report), report)
    if says_nothing(found):
        raise Vacuous("no rule says anything here\n\n" + "\n".join(report.notes), report)
    return report


@with_users_frames
def event_log(path: str | PathLike[str]) -> EventLog:
    """The event log at a path: a file, a rolling folder, or a folder with the logs of several applications.

    >>> import firesteel as fs
    >>> log = fs.event_log("tests/history/logs/lost_block.zst")
    >>> sum(event["Event"] == "SparkListenerJobStart" for event in log)
    3

    It may be packed with any of Spark's codecs, and may still be written. A path such as `s3://...` or `hdfs://...` is
    read through Arrow's file systems, or through fsspec where that is installed. Spark writes a log where
    `spark.eventLog.enabled` is set.
    """
    from firesteel.history.logs.reading import event_log as found

    return found(path)


@with_users_frames
def events(spark: SparkSession) -> Events:
    """The events of a live application while a block runs: a listener is attached, and detached when the block ends.

    >>> import firesteel as fs
    >>> from firesteel import rules
    >>> spark = fs.session()
    >>> with fs.events(spark) as log:
    ...     _ = spark.range(100).repartition(2).count()
    >>> fs.verify(log, rules.PARENTS_BEFORE_CHILDREN).verdict
    <Verdict.TRUE: 1>

    The block is the trace. What was still to happen when it ended leaves a rule open.
    """
    from firesteel.history.live import Events

    tell(Called("fs.events"))
    return Events(spark)


@with_users_frames
def watch(
    query: Any,
    rule: RuleLike | Sequence[RuleLike],
    *,
    stop: bool = False,
    propositions: Mapping[str, Predicate] | None = None,
) -> Watch:
    """Follow a streaming query while it runs; `stop=True` stops it as soon as a rule is broken.

    `watch.verdict` says what is known so far, and `watch.report` has the evidence. It ends with the block, with the
    query, or with `watch.close()`.

    >>> import firesteel as fs
    >>> from firesteel import rules
    >>> spark = fs.session()
    >>> numbers = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    >>> query = numbers.writeStream.format("noop").start()
    >>> with fs.watch(query, rules.BATCH_IDS_CONTIGUOUS) as watch:
    ...     _ = query.awaitTermination(1)
    >>> query.stop()
    >>> watch.verdict is fs.Verdict.FALSE
    False
    """
    from firesteel.history.check import rules_of
    from firesteel.history.live import Watch

    tell(Called("fs.watch"))
    return Watch(query, rules_of(rule, propositions), stop=stop)
