"""What a test calls: `run`, `for_all`, `equivalent` and the like. They join checks with reports; the work is below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

from firesteel.equivalence.dependence import Dependence, unordered
from firesteel.errors import InvalidArgument, described
from firesteel.evidence import Falsified, Inconclusive, Report, SubjectError
from firesteel.logic.ltl.formulas import FormulaLike, formula_of
from firesteel.logic.verdicts import Verdict
from firesteel.perturb import Perturbation
from firesteel.values.cases import Case, as_case
from firesteel.values.checks import Check
from firesteel.values.durations import duration
from firesteel.values.equality import Equality
from firesteel.values.streams import Batch, Instant, Stream, Trace, make_stream

if TYPE_CHECKING:
    from hypothesis import settings as Settings
    from hypothesis.strategies import SearchStrategy
    from pyspark.sql import DataFrame, SparkSession

    from firesteel.runs.check import Question
    from firesteel.spark.running import Running
    from firesteel.values.windows import Window

OutputMode: TypeAlias = Literal["append", "update", "complete"]
Engine: TypeAlias = Literal["structured", "dstream", "batch"]
Subject: TypeAlias = Callable[..., Any]
Streams: TypeAlias = "SearchStrategy[Stream] | SearchStrategy[dict[str, Stream]] | SearchStrategy[Case]"


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
    on_vacuous: Literal["fail", "pass"]


def session(config: Mapping[str, str] | None = None) -> SparkSession:
    """The Spark session for tests: the active one, or a local one that starts quickly and has small, quick settings.

    >>> import firesteel as fs
    >>> fs.session().range(3).count()
    3
    """
    from firesteel.spark.session.start import session as get

    return get(config)


def run(stream: Stream | Batch | Mapping[str, Stream] | Case, subject: Subject, **options: Unpack[RunOptions]) -> Trace:
    """Run one stream, or several by name, through a subject on Spark, and return what was seen batch by batch.

    >>> import firesteel as fs
    >>> trace = fs.run(fs.Stream("n INT", [[(1,), (2,)], [(3,)]]), lambda numbers: numbers.where("n > 1"))
    >>> [instant.output.values("n") for instant in trace]
    [[2], [3]]

    Time is under control: batch k runs k times `batch_interval` after the year 2000 began, by the clock that
    `current_timestamp`, timers and timeouts go by. Where the subject has a watermark, event time ends with the stream:
    the last instant also holds what comes out then, with nothing fed for it (`close=False` switches that off).

    >>> clock = fs.run(fs.Stream("n INT", [[(1,)], [(2,)]]), lambda f: f.selectExpr("current_timestamp() AS at"),
    ...                batch_interval="1 minute")
    >>> [instant.output[0].at == instant.time for instant in clock], clock[1].time.isoformat()
    ([True, True], '2000-01-01T00:01:00+00:00')

    With `engine="dstream"` the subject is a function of DStreams: an instant is a batch of theirs, on the same kind of
    clock. Records of a stream with a schema are `pyspark.sql.Row`s there, and rows that come out are records; other
    elements, such as strings and tuples, are what they are. Output is collected, however large.

    >>> words = fs.Stream(None, [["a b", "b"], [], ["a"]])
    >>> trace = fs.run(words, lambda lines: lines.flatMap(str.split).countByValue(), engine="dstream")
    >>> [sorted(instant.output) for instant in trace]
    [[('a', 1), ('b', 2)], [], [('a', 1)]]

    With `engine="batch"` it is a function of DataFrames, or of RDDs where a stream has no schema, and there is one
    instant. A batch may stand for the stream.

    >>> fs.run(fs.Batch([1, 2, 3]), lambda numbers: numbers.map(lambda n: 10 * n), engine="batch").output
    Batch([10, 20, 30])
    """
    from firesteel.spark.engines.exercise import exercise
    from firesteel.spark.failures import SubjectFailure

    how, spark, rest = _running(dict(options))
    if rest:
        raise TypeError(
            f"fs.run has no option {', '.join(map(repr, rest))}: it has {', '.join(RunOptions.__annotations__)}"
        )
    case = as_case(_lifted(stream) if how.engine == "batch" else stream)
    try:
        return exercise(spark, case, subject, how, lambda instant: False)
    except SubjectFailure as failure:
        raise SubjectError(str(failure), Report(Verdict.INCONCLUSIVE, 1)) from failure.__cause__


def for_all(streams: Streams, subject: Subject, formula: FormulaLike, **options: Unpack[CheckOptions]) -> Report:
    """Check that a formula holds for the subject's runs on all generated streams; raise `Failed` where it does not.

    >>> import firesteel as fs
    >>> from firesteel import strategies as ss
    >>> numbers = ss.always(ss.batches(ss.records("n INT NOT NULL"), min_size=1, max_size=3), during=2)
    >>> same = fs.always(lambda now: now.output.same_as(now.input))
    >>> fs.for_all(numbers, lambda frame: frame.repartition(2), same, cases=3).cases
    3
    """
    from firesteel.properties.claim import question

    def asked(streams: Any, spark: SparkSession, how: Running, **rest: Any) -> Question:
        return question(streams, subject, formula_of(formula), spark, how, **rest)

    return _checked("fs.for_all", asked, streams, dict(options))


def _checked(
    called: str, question: Callable[..., Question], streams: Any, options: dict[str, Any], *, scored: bool = True
) -> Report:
    """Ask a question with the user's options; raise where the answer is no good."""
    from firesteel.report.progress import showing
    from firesteel.report.text import render
    from firesteel.runs.check import check

    how, spark, rest = _running(options)
    known = [name for name in CheckOptions.__annotations__ if scored or name != "score"]
    unknown = [name for name in rest if name not in known]
    if unknown:
        raise TypeError(
            f"{called} has no option {', '.join(map(repr, unknown))}: it has "
            f"{', '.join(dict.fromkeys([*RunOptions.__annotations__, *known]))}"
        )
    rest["examples"] = tuple(rest.get("examples", ()))
    if how.engine != "structured":
        rest["bulk"] = False  # many cases in one query: the others have none
    if how.engine == "batch":
        streams, rest["examples"] = _lifted_all(streams), tuple(map(_lifted, rest["examples"]))
    with showing() as progress:
        outcome = check(question(streams, spark, how, progress=progress, **rest))
    if outcome.failure is not None:
        raise outcome.failure(render(outcome.report, outcome.failure), outcome.report) from outcome.cause
    return outcome.report


_UNORDERED = unordered()


def equivalent(
    streams: Streams,
    reference: Subject,
    candidate: Subject,
    *,
    dependence: Dependence = _UNORDERED,
    equal: Equality | None = None,
    accept: Callable[[Instant, Batch, Batch], bool | Check] | None = None,
    under: Sequence[Perturbation] = (),
    **options: Unpack[CheckOptions],
) -> Report:
    """Check that two programs mean the same on all generated streams, up to the order that matters; raise if not.

    `dependence` says which records have to keep their order: none if it is left out, and the batch in which a record
    comes out does not matter either. In complete mode every table is compared with the table of the same batch.

    >>> import firesteel as fs
    >>> from firesteel import strategies as ss
    >>> numbers = ss.always(ss.batches(ss.records("n INT NOT NULL"), min_size=1, max_size=3), during=2)
    >>> fs.equivalent(numbers, lambda f: f.where("n > 1"), lambda f: f.where("NOT n <= 1"), cases=3).verdict
    <Verdict.TRUE: 1>

    - `equal`: when two records count as equal, such as `fs.equality(abs_tol=1e-9)`.
    - `accept`: a function that is asked where a batch differs, whether both answers will do: it gets the instant, what
      the reference put out there, and what the candidate did. Each batch is compared by itself then.
    - `under`: perturbations (`firesteel.perturb`) that the candidate is run under; the reference is not.
    """
    return _compared("fs.equivalent", streams, reference, candidate, dependence, equal, accept, under, dict(options))


def stable(
    streams: Streams,
    subject: Subject,
    *,
    under: Sequence[Perturbation],
    dependence: Dependence = _UNORDERED,
    equal: Equality | None = None,
    accept: Callable[[Instant, Batch, Batch], bool | Check] | None = None,
    **options: Unpack[CheckOptions],
) -> Report:
    """Check that a program means the same however Spark runs it: as it is, and under every one of some perturbations.

    >>> import firesteel as fs
    >>> from firesteel import perturb, strategies as ss
    >>> numbers = ss.always(ss.batches(ss.records("n INT NOT NULL"), min_size=2, max_size=3), during=2)
    >>> fs.stable(numbers, lambda frame: frame.where("n > 1"), under=[perturb.row_order()], cases=3).verdict
    <Verdict.TRUE: 1>

    `dependence`, `equal` and `accept` are those of `equivalent`. With other batches (`perturb.batch_boundaries()`) what
    there is in the end is compared: all records in append mode, the last table in complete mode, and in update mode
    the last row of every key, whose columns `dependence=fs.same_key(...)` has to name.
    """
    if not under:
        raise InvalidArgument(f"{described('under', under)} changes nothing: write under=[perturb.row_order()]")
    return _compared("fs.stable", streams, subject, subject, dependence, equal, accept, under, dict(options))


def _compared(
    called: str,
    streams: Any,
    reference: Subject,
    candidate: Subject,
    dependence: Dependence,
    equal: Equality | None,
    accept: Any,
    under: Sequence[Perturbation],
    options: dict[str, Any],
) -> Report:
    from firesteel.equivalence.claim import Sides, question
    from firesteel.equivalence.matcher import Matcher

    Matcher(dependence, equal=equal)  # refuses what is no dependence, no equality, or does not go together
    if isinstance(under, Perturbation) or not all(isinstance(each, Perturbation) for each in under):
        raise InvalidArgument(f"{described('under', under)} is no list of perturbations: write [perturb.row_order()]")
    if accept is not None and not callable(accept):
        raise InvalidArgument(f"{described('accept', accept)} is no function of an instant and two batches")
    sides = Sides(reference, candidate, dependence, equal, accept, tuple(under))

    def asked(streams: Any, spark: SparkSession, how: Running, **rest: Any) -> Question:
        return question(streams, sides, spark, how, called, **rest)

    return _checked(called, asked, streams, options, scored=False)


def assert_same(
    left: DataFrame, right: DataFrame, *, dependence: Dependence = _UNORDERED, equal: Equality | None = None
) -> None:
    """Check that two DataFrames hold the same rows, each as often; raise `Falsified` with the first ones that differ.

    >>> import firesteel as fs
    >>> words = fs.session().createDataFrame([("a", 1.0), ("b", float("nan")), ("b", None)], "word STRING, n DOUBLE")
    >>> fs.assert_same(words, words.repartition(3))
    >>> fs.assert_same(words, words.where("n IS NOT NULL").union(words.where("word = 'a'")))
    Traceback (most recent call last):
        ...
    firesteel.evidence.Falsified: the frames differ: 1 row only left, 1 only right
    <BLANKLINE>
      left              right
      word='b'  n=None  word='a'  n=1.0

    Columns are compared by name, in whatever order they and the fields of structs come; names and types have to agree,
    but not whether nulls are allowed. NaN equals NaN, null equals null, -0.0 equals 0.0, maps are equal in any order of
    their keys, also inside arrays, structs and maps; strings are equal if all their characters are, whatever their
    collation. Variants are equal if they say the same, however it is written.

    Spark compares, and only the first differing rows come to the driver. `dependence` says which order matters, where
    a frame's order is that of its partitions, and of the rows in them: `fs.ordered()` and `fs.same_key("user")` are
    compared by Spark too, any other by a matcher on the driver, row by row.

    `equal` has tolerances, ignored columns, or a function. With tolerances Spark pairs the rows that are exactly equal,
    and those that are close to the only row that agrees with them in all columns without floats. What is left, up to
    100,000 rows, is paired on the driver. So is all that has no exact equal where `equal` is a function. Where more is
    left, `Inconclusive` is raised.

    >>> fs.assert_same(words, words.selectExpr("word", "n + 1e-12 AS n"), equal=fs.equality(abs_tol=1e-9))
    """
    from firesteel.equivalence.frames import compare
    from firesteel.report import sides
    from firesteel.spark.frames.same import Undecided

    match compare(left, right, dependence, equal):
        case None:
            return
        case Undecided() as found:
            raise Inconclusive(found.reason, Report(Verdict.INCONCLUSIVE, 1))
        case difference:
            raise Falsified(sides.told(difference), Report(Verdict.FALSE, 1))


def _running(options: dict[str, Any]) -> tuple[Running, SparkSession, dict[str, Any]]:
    """How to run, on what, and the options that are left."""
    from firesteel.spark.running import Running

    engine = _engine(options, Running())
    modes = options.pop("output_mode", "append")
    for mode in modes.values() if isinstance(modes, Mapping) else (modes,):
        if mode not in ("append", "update", "complete"):
            raise InvalidArgument(
                f"{described('output_mode', mode)} is not possible: write 'append', 'update' or 'complete'"
            )
    spark = _classic(options.pop("spark", None))
    limits = {name: options.pop(name) for name in ("large", "seconds") if name in options}
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise InvalidArgument(f"{described(name, value)} is not possible: write a number from 0")
    return Running(output_mode=modes, engine=engine, **limits, **_time(options)), spark, options


# Options that mean something to Structured Streaming alone, and those about time, which a batch job has not.
_STREAMING = ("output_mode", "over", "close", "state")
_REFUSED = {"structured": (), "dstream": _STREAMING, "batch": (*_STREAMING, "batch_interval")}


def _engine(options: dict[str, Any], usual: Running) -> str:
    """The engine, taken out; the options that it has no use for are refused."""
    engine = options.pop("engine", "structured")
    if not isinstance(engine, str) or engine not in _REFUSED:
        raise InvalidArgument(
            f"{described('engine', engine)} is not possible: write 'structured', 'dstream' or 'batch'"
        )
    for name in _REFUSED[engine]:
        if name in options and options[name] != getattr(usual, name):
            raise InvalidArgument(
                f"{described(name, options[name])} does not go with engine={engine!r}, which has no such thing: "
                "leave it out"
            )
    return engine


def _lifted_all(streams: Any) -> Any:
    """A strategy of streams, where the given one may draw batches; what is no strategy is refused elsewhere."""
    from hypothesis.strategies import SearchStrategy

    return streams.map(_lifted) if isinstance(streams, SearchStrategy) else streams


def _lifted(drawn: Any) -> Any:
    """What a batch job is given, with batches as streams of one."""
    match drawn:
        case Batch():
            return make_stream((drawn,), drawn.schema)
        case Case():
            return drawn
        case Mapping():
            return {name: _lifted(stream) for name, stream in drawn.items()}
        case _:
            return drawn


def _time(options: dict[str, Any]) -> dict[str, Any]:
    """The options about time, taken out and checked."""
    from firesteel.values.windows import Window

    found: dict[str, Any] = {
        name: options.pop(name) for name in ("batch_interval", "over", "close", "state") if name in options
    }
    if "batch_interval" in found:
        found["batch_interval"] = duration(found["batch_interval"], "batch_interval")
        if found["batch_interval"] % timedelta(milliseconds=1) or found["batch_interval"] > timedelta(days=366):
            raise InvalidArgument(
                f"{described('batch_interval', found['batch_interval'])} is not possible: write whole milliseconds, "
                "and a year at the most"
            )
    if not isinstance(found.get("over"), (Window, type(None))):
        raise InvalidArgument(
            f"{described('over', found['over'])} is no window: write fs.tumbling('1 hour', on='ts'), fs.sliding(...) "
            "or fs.session_window(...)"
        )
    for name in ("close", "state"):
        if not isinstance(found.get(name, False), bool):
            raise InvalidArgument(f"{described(name, found[name])} is not possible: write True or False")
    if found.get("state") and found.get("over") is not None:
        raise InvalidArgument(
            "state=True and over=... do not go together: the state is that after a batch, and a window has none"
        )
    return found


def _classic(spark: Any) -> SparkSession:
    """The session to run in; only a classic one has the JVM beside it that the in-memory source needs."""
    from pyspark.sql import SparkSession

    if spark is None:
        return session()
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise InvalidArgument(
            "spark=... is a Spark Connect session, which has no JVM in this process to feed streams into: "
            "write SparkSession.builder.master(...) without .remote(...), or leave spark= out"
        )
    if not isinstance(spark, SparkSession):
        raise InvalidArgument(f"{described('spark', spark)} is no Spark session: write fs.session(), or leave it out")
    return spark
