"""The options of `run` and of every check: what may be written, and one frozen value of them, validated.

They are validated before Spark is started: a mistake shows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from firesteel.errors import InvalidArgument, described
from firesteel.runs.question import Checking
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.durations import duration
from firesteel.values.streams import Stream
from firesteel.values.traces import Trace
from firesteel.values.windows import Window

if TYPE_CHECKING:
    from hypothesis import settings as Settings
    from hypothesis.strategies import SearchStrategy
    from pyspark.sql import SparkSession

OutputMode: TypeAlias = Literal["append", "update", "complete"]
"""Spark's output modes."""
Engine: TypeAlias = Literal["structured", "dstream", "batch"]
"""What can run a subject: Structured Streaming, DStreams, or a batch job."""
Subject: TypeAlias = Callable[..., Any]
"""Your job: a function from DataFrames (or DStreams, or RDDs) to a DataFrame, or to a dict of them by name."""
Streams: TypeAlias = "SearchStrategy[Stream] | SearchStrategy[dict[str, Stream]] | SearchStrategy[Case]"
"""What a check draws its cases from: a strategy of streams, of dicts of streams by input name, or of cases."""


class RunOptions(TypedDict, total=False):
    """Options of every check that runs a subject."""

    engine: Engine
    """What runs the subject: "structured" (the default) hands it streaming DataFrames; "dstream" DStreams; "batch"
    DataFrames, or RDDs where the stream has no schema, that hold a stream's only batch. See `run`."""
    output_mode: OutputMode | Mapping[str, OutputMode]
    """Spark's output mode, of all outputs or by name: append (the default), update or complete."""
    spark: SparkSession
    """The session to run in; `fs.session()` if left out."""
    batch_interval: str | timedelta
    """Processing time from one batch to the next, on a clock that the runner moves: "1 second" if left out."""
    over: Window
    """Windows of event time that the property looks at, instead of the batches: `fs.tumbling("1 hour", on="ts")`."""
    close: bool
    """Does event time end with the stream, so that the last windows come out? True if left out."""
    state: bool
    """Read the subject's state after every batch, as `instant.state`; False if left out."""
    large: int
    """A batch of more records than this stays a Spark DataFrame; 10,000 if left out."""
    seconds: float
    """A micro-batch that takes longer than this counts as hanging; 120 if left out."""


class CheckOptions(RunOptions, total=False):
    """Options of every check on generated cases."""

    cases: int
    """How many cases; the Hypothesis profile's `max_examples` if left out."""
    settings: Settings
    """Hypothesis settings for the rest."""
    examples: Iterable[Stream | Mapping[str, Stream]]
    """Cases to run first."""
    replay: str
    """The line that a failure printed: runs that case and no other."""
    name: str
    """Tells two properties of one test apart in the example database."""
    bulk: bool
    """Run many cases in one query, where the subject's plan allows it; True if left out."""
    score: Callable[[Trace], float]
    """How close a trace came to breaking the property, the higher the closer: cases that score high are tried again
    with small changes. Left out, the formula itself says it: by premises that held, and promises kept late."""
    on_inconclusive: Literal["fail", "pass"]
    """What a trace that is too short to decide the property means: "fail" if left out."""
    on_vacuous: Literal["fail", "pass"]
    """What a property that says nothing about any of the cases means: "fail" if left out."""


@dataclass(frozen=True)
class Options:
    """The options of one call, validated."""

    how: Running = field(default_factory=Running)
    checking: Checking = field(default_factory=Checking)
    score: Callable[[Trace], float] | None = None
    spark: SparkSession | None = None
    """The session that was given, if any."""

    @property
    def one_batch(self) -> bool:
        """Is a case one batch? Then a batch may be given in place of a stream."""
        from firesteel.spark.engines.exercise import ENGINES

        return ENGINES[self.how.engine].one_batch

    def session(self) -> SparkSession:
        """The session to run in: the one that was given, or `fs.session()`."""
        from firesteel.spark.session.start import session

        return session() if self.spark is None else self.spark


def of_run(given: Mapping[str, Any]) -> Options:
    """The options of `fs.run`."""
    return _options("fs.run", given, tuple(RunOptions.__annotations__))


def of_check(function: str, given: Mapping[str, Any], *, scored: bool = True) -> Options:
    """The options of a check; `scored=False` for one that takes no `score`."""
    names = dict.fromkeys([*RunOptions.__annotations__, *CheckOptions.__annotations__])
    return _options(function, given, tuple(name for name in names if scored or name != "score"))


def _options(function: str, given: Mapping[str, Any], names: tuple[str, ...]) -> Options:
    unknown = [name for name in given if name not in names]
    if unknown:
        raise TypeError(f"{function} has no option {', '.join(map(repr, unknown))}: it has {', '.join(names)}")
    how = _running(given)
    return Options(how, _checking(given), given.get("score"), _classic(given.get("spark")))


# --- how cases are run ---------------------------------------------------------------------------


def _running(given: Mapping[str, Any]) -> Running:
    engine = _engine(given)
    modes = given.get("output_mode", "append")
    for mode in modes.values() if isinstance(modes, Mapping) else (modes,):
        if mode not in ("append", "update", "complete"):
            raise InvalidArgument(
                f"{described('output_mode', mode)} is not possible: write 'append', 'update' or 'complete'"
            )
    limits = {name: given[name] for name in ("large", "seconds") if name in given}
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise InvalidArgument(f"{described(name, value)} is not possible: write a number from 0")
    return Running(output_mode=modes, engine=engine, **limits, **_time(given))


def _engine(given: Mapping[str, Any]) -> str:
    """The engine; the options that it has no use for are refused."""
    from firesteel.spark.engines.exercise import ENGINES

    engine, usual = given.get("engine", "structured"), Running()
    if not isinstance(engine, str) or engine not in ENGINES:
        *others, last = map(repr, ENGINES)
        raise InvalidArgument(f"{described('engine', engine)} is not possible: write {', '.join(others)} or {last}")
    for name in ENGINES[engine].refuses_options:
        if name in given and given[name] != getattr(usual, name):
            raise InvalidArgument(
                f"{described(name, given[name])} does not go with engine={engine!r}, which has no such thing: "
                "leave it out"
            )
    return engine


def _time(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options about time."""
    found: dict[str, Any] = {name: given[name] for name in ("over", "close", "state") if name in given}
    if "batch_interval" in given:
        found["batch_interval"] = _interval(given["batch_interval"])
    if not isinstance(found.get("over"), (Window, type(None))):
        raise InvalidArgument(
            f"{described('over', found['over'])} is not a window: write fs.tumbling('1 hour', on='ts'), "
            "fs.sliding(...) or fs.session_window(...)"
        )
    for name in ("close", "state"):
        if not isinstance(found.get(name, False), bool):
            raise InvalidArgument(f"{described(name, found[name])} is not possible: write True or False")
    if found.get("state") and found.get("over") is not None:
        raise InvalidArgument(
            "state=True and over=... do not go together: the state is that after a batch, and a window has none"
        )
    return found


def _interval(given: Any) -> timedelta:
    interval = duration(given, "batch_interval")
    if interval % timedelta(milliseconds=1) or interval > timedelta(days=366):
        raise InvalidArgument(
            f"{described('batch_interval', interval)} is not possible: write whole milliseconds, and a year at the most"
        )
    return interval


# --- how a claim is checked ----------------------------------------------------------------------


def _checking(given: Mapping[str, Any]) -> Checking:
    for name in ("on_inconclusive", "on_vacuous"):
        if given.get(name, "fail") not in ("fail", "pass"):
            raise InvalidArgument(f"{described(name, given[name])} is not possible: write 'fail' or 'pass'")
    cases = given.get("cases")
    if cases is not None and (isinstance(cases, bool) or not cases >= 1):
        raise InvalidArgument(f"{described('cases', cases)} is not possible: write a whole number from 1")
    wanted = {name: given[name] for name in Checking.__dataclass_fields__ if name in given}
    wanted["examples"] = tuple(given.get("examples", ()))
    return Checking(**wanted)


def _classic(spark: Any) -> SparkSession | None:
    """The session that was given; only a classic one has the JVM beside it that the in-memory source needs."""
    if spark is None:
        return None
    from pyspark.sql import SparkSession

    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise InvalidArgument(
            "spark=... is a Spark Connect session, which has no JVM in this process to feed streams into: "
            "write SparkSession.builder.master(...) without .remote(...), or leave spark= out"
        )
    if not isinstance(spark, SparkSession):
        raise InvalidArgument(
            f"{described('spark', spark)} is not a Spark session: write fs.session(), or leave it out"
        )
    return spark
