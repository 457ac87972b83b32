"""The options of `run` and of every check: what may be written, and one frozen value of them, validated.

They are validated before Spark is started: a mistake shows at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from firesteel.errors import InvalidArgument, described
from firesteel.logic.bounds import whole_number
from firesteel.runs.question import Checking
from firesteel.spark.running import Running
from firesteel.values.batches import Batch
from firesteel.values.cases import Case, as_case
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
Streams: TypeAlias = (
    "SearchStrategy[Stream] | SearchStrategy[Batch] | SearchStrategy[dict[str, Stream]] | SearchStrategy[Case] "
    "| Stream | Batch | Mapping[str, Stream]"
)
"""What a check draws its cases from: a strategy of streams, of dicts of streams by input name, or of cases.

A stream itself, or a dict of streams, is the only case then.
"""


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
    replay: str | os.PathLike[str]
    """The line that a failure printed, or the file that it named: runs that case and no other."""
    name: str
    """Tells two properties of one test apart in the example database."""
    bulk: bool
    """Run many cases in one query, where the subject's plan allows it; True if left out."""
    shrink_seconds: float
    """After how many seconds the search for a smaller failing case ends; 60 if left out. There is no such search where
    the settings' `phases` lack `Phase.shrink`."""
    shrink_candidates: int
    """After how many candidates it ends; 10,000 if left out."""
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
        return _one_batch(self.how)

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


def require_function(argument: str, value: Any) -> None:
    """Refuse a subject that is not a function."""
    if not callable(value):
        raise InvalidArgument(f"{described(argument, value)} is not a function of DataFrames")


def _options(function: str, given: Mapping[str, Any], names: tuple[str, ...]) -> Options:
    for name in given:
        if name not in names:
            raise TypeError(f"{function} has no option {name!r}{_instead_of(name, names)} It has {', '.join(names)}")
    how = _running(given)
    checking = _checking(given, one_batch=_one_batch(how))
    return Options(how, checking, _function(given, "score", "a trace that returns a number"), _classic(given))


def _instead_of(name: str, names: Sequence[str]) -> str:
    """The option that was probably meant."""
    near = get_close_matches(name, names, n=1, cutoff=0.75)
    return f": did you mean {near[0]!r}?" if near else "."


# --- how cases are run ---------------------------------------------------------------------------


def _running(given: Mapping[str, Any]) -> Running:
    engine, modes = _engine(given), _modes(given.get("output_mode", "append"))
    limits: dict[str, Any] = {}
    if "large" in given:
        limits["large"] = _whole(given["large"], "large", 0)
    if "seconds" in given:
        limits["seconds"] = _seconds(given["seconds"])
    return Running(output_mode=modes, engine=engine, **limits, **_time(given))


def _modes(modes: Any) -> str | Mapping[str, str]:
    for name, mode in modes.items() if isinstance(modes, Mapping) else [(None, modes)]:
        if name is not None and not isinstance(name, str):
            raise InvalidArgument(
                f"output_mode={{{name!r}: ...}} ({type(name).__name__}) is not the name of an output: write "
                "output_mode={'counts': 'update'}"
            )
        if mode not in ("append", "update", "complete"):
            argument = "output_mode" if name is None else f"output_mode[{name!r}]"
            raise InvalidArgument(
                f"{described(argument, mode)} is not possible: write 'append', 'update' or 'complete'"
            )
    return modes if isinstance(modes, str) else dict(modes)


def _whole(value: Any, argument: str, least: int) -> int:
    number = whole_number(value, least)
    if number is None:
        raise InvalidArgument(f"{described(argument, value)} is not possible: write a whole number from {least}")
    return number


def _seconds(value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not value > 0:  # NaN is not either
        raise InvalidArgument(f"{described('seconds', value)} is not possible: write a number above 0")
    return float(value)


def _one_batch(how: Running) -> bool:
    from firesteel.spark.engines.exercise import ENGINES

    return ENGINES[how.engine].one_batch


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


def _checking(given: Mapping[str, Any], *, one_batch: bool) -> Checking:
    for name in ("on_inconclusive", "on_vacuous"):
        if given.get(name, "fail") not in ("fail", "pass"):
            raise InvalidArgument(f"{described(name, given[name])} is not possible: write 'fail' or 'pass'")
    for name, kinds in (("shrink_seconds", (int, float)), ("shrink_candidates", (int,))):
        limit = given.get(name, 0)
        if isinstance(limit, bool) or not isinstance(limit, kinds) or not limit >= 0:
            raise InvalidArgument(f"{described(name, limit)} is not possible: write a number from 0")
    wanted = {name: given[name] for name in Checking.__dataclass_fields__ if name in given}
    if given.get("cases") is not None:
        wanted["cases"] = _whole(given["cases"], "cases", 1)
    if not isinstance(given.get("bulk", True), bool):
        raise InvalidArgument(f"{described('bulk', given['bulk'])} is not possible: write True or False")
    if not isinstance(given.get("name"), (str, type(None))):
        raise InvalidArgument(f"{described('name', given['name'])} is not possible: write a text")
    if given.get("settings") is not None:
        _require_settings(given["settings"])
    wanted["examples"] = _examples(given.get("examples", ()), one_batch=one_batch)
    if given.get("replay") is not None:
        wanted["replay"] = _replayed(given["replay"])
    return Checking(**wanted)


def _require_settings(value: Any) -> None:
    from hypothesis import settings

    if not isinstance(value, settings):
        raise InvalidArgument(
            f"{described('settings', value)} is not Hypothesis's settings: write hypothesis.settings(...)"
        )


def _examples(given: Any, *, one_batch: bool) -> tuple[Any, ...]:
    """Explicit cases; each has to be a stream, a dict of streams or a case."""
    if isinstance(given, (str, Mapping, Stream, Batch)) or not isinstance(given, Iterable):
        raise InvalidArgument(f"{described('examples', given)} is not a list of streams: write examples=[stream]")
    found = tuple(given)
    for index, example in enumerate(found):
        if not (one_batch and isinstance(example, Batch)):
            try:
                as_case(example)
            except InvalidArgument as error:
                raise InvalidArgument(f"{described(f'examples[{index}]', example)} is not a case: {error}") from None
    return found


def _function(given: Mapping[str, Any], name: str, wanted: str) -> Any:
    function = given.get(name)
    if function is not None and not callable(function):
        raise InvalidArgument(f"{described(name, function)} is not a function: write a function of {wanted}")
    return function


def _replayed(line: Any) -> Case:
    from firesteel.runs.replay import decoded

    return decoded(line)


def _classic(given: Mapping[str, Any]) -> SparkSession | None:
    """The session that was given; only a classic one has the JVM beside it that the in-memory source needs."""
    spark = given.get("spark")
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
    from firesteel.spark.session import versions

    versions.require(spark.version)
    if getattr(spark.sparkContext, "_jsc", None) is None:
        raise InvalidArgument("spark=... is a session that was stopped: write fs.session(), or leave it out")
    return spark
