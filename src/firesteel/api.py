"""What a test calls: `run`, `for_all`, `equivalent` and the like. They join checks with reports; the work is below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from firesteel import options as validated
from firesteel.errors import InvalidArgument, described
from firesteel.evidence.failures import Falsified, Inconclusive, SubjectError
from firesteel.evidence.report import Claimed, Report
from firesteel.hypothesis_internals import validate
from firesteel.logic.ltl.formulas import FormulaLike
from firesteel.logic.ltl.stated import refuse_undecidable, stated
from firesteel.logic.verdicts import Verdict
from firesteel.options import CheckOptions, Options, RunOptions, Streams, Subject
from firesteel.perturb import Perturbation
from firesteel.surroundings import Called, Reported, tell
from firesteel.tracebacks import with_users_frames
from firesteel.values.batches import Batch
from firesteel.values.cases import Case, as_case
from firesteel.values.checks import Check
from firesteel.values.dependence import Dependence, unordered
from firesteel.values.equality import Equality
from firesteel.values.streams import Stream, make_stream
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from firesteel.equivalence.comparison import Comparison
    from firesteel.runs.question import Question


def session(config: Mapping[str, str] | None = None) -> SparkSession:
    """The Spark session for tests: the active one, or a local one that starts quickly and has small, quick settings.

    >>> import firesteel as fs
    >>> fs.session().range(3).count()
    3
    """
    from firesteel.spark.session.start import session as get

    tell(Called("fs.session"))
    return get(config)


@with_users_frames
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
    from firesteel.evidence.events import nobody
    from firesteel.report.progress import saying_where
    from firesteel.report.words import worded
    from firesteel.runs.alone import run_alone
    from firesteel.spark.engines.subject import refuse_call
    from firesteel.spark.session.interrupts import interruptible

    tell(Called("fs.run"))
    chosen = validated.of_run(options)
    case = as_case(_lifted(stream) if chosen.one_batch else stream)
    refuse_call(subject, case.inputs, case.drawn)
    spark = chosen.session()
    with saying_where(nobody), interruptible(spark):
        seen = run_alone(spark, case, subject, chosen.how)
    if isinstance(seen, Trace):
        return seen
    report, failure = seen
    raise SubjectError(str(failure), worded(report)) from failure.__cause__


@with_users_frames
def for_all(streams: Streams, subject: Subject, formula: FormulaLike, **options: Unpack[CheckOptions]) -> Report:
    """Check that a formula holds for the subject's runs on all generated streams; raise `Failed` where it does not.

    A function alone has to hold in every batch; `fs.now(function)` is for the first batch only. One stream in place of
    a strategy is one case, and the only one.

    >>> import firesteel as fs
    >>> from firesteel import strategies as ss
    >>> numbers = ss.always(ss.batches(ss.records("n INT NOT NULL"), min_size=1, max_size=3), during=2)
    >>> same = fs.always(lambda now: now.output.same_as(now.input))
    >>> report = fs.for_all(numbers, lambda frame: frame.repartition(2), same, cases=3)
    >>> report.cases, report.ran.alone
    (3, 3)

    `report.summary()` says in one line how it passed: how many cases ran in bulk and how many alone, and why; what went
    in and came out; how often premises held.
    """
    from firesteel.properties.claim import question

    chosen = validated.of_check("fs.for_all", options)
    validated.require_function("subject", subject)
    wanted = stated(formula)
    if chosen.checking.on_inconclusive == "fail":
        refuse_undecidable(wanted)

    def asked(streams: Any, chosen: Options) -> Question:
        return question(streams, subject, wanted, chosen.session(), chosen.how, chosen.checking, chosen.score)

    return _checked("fs.for_all", streams, chosen, asked)


def _checked(function: str, streams: Any, chosen: Options, question: Callable[[Any, Options], Question]) -> Report:
    """Ask a question with the user's options; raise where the answer is not a good one."""
    from firesteel.report.progress import saying_where, showing
    from firesteel.report.text import render
    from firesteel.report.words import worded
    from firesteel.runs.check import check
    from firesteel.spark.session.interrupts import interruptible

    tell(Called(function))
    chosen = _with_streams(function, streams, chosen)
    if chosen.one_batch:
        examples = tuple(map(_lifted, chosen.checking.examples))
        streams, chosen = _lifted_all(streams), replace(chosen, checking=replace(chosen.checking, examples=examples))
    wanted = question(streams, chosen)
    with showing() as shown, saying_where(shown) as listener, interruptible(wanted.spark):
        outcome = check(replace(wanted, tell=listener))
    report = worded(outcome.report)
    tell(Reported(report))
    if outcome.failure is not None:
        raise outcome.failure(render(report), report) from outcome.cause
    return report


def _with_streams(function: str, streams: Any, chosen: Options) -> Options:
    """The options, where the streams are what can be checked; one stream is one case, and the only one."""
    from hypothesis import currently_in_test_context
    from hypothesis.strategies import SearchStrategy

    from firesteel.strategies.records import known_schema

    if currently_in_test_context():
        raise InvalidArgument(
            f"{function} draws its own cases, so it cannot be called inside @given: remove @given and hand the "
            f"strategy to {function}(strategy, ...)"
        )
    if chosen.checking.replay is not None:
        return chosen
    if isinstance(streams, SearchStrategy):
        validate(streams)
        schema = known_schema(streams)
        if chosen.how.over is not None and schema is not None:
            chosen.how.over.check_input("input", schema)
        return chosen
    try:
        case = as_case(_lifted(streams) if chosen.one_batch else streams)
    except InvalidArgument:
        raise InvalidArgument(
            f"{described('streams', streams)} is not a strategy: write ss.always(...) or another strategy of streams, "
            "or one stream, which is then the only case"
        ) from None
    for name, value in (("cases", chosen.checking.cases), ("examples", chosen.checking.examples or None)):
        if value is not None:
            raise InvalidArgument(
                f"{described(name, value)} does not go with one stream, which is the only case: leave it out, or write "
                "a strategy of streams"
            )
    return replace(chosen, checking=replace(chosen.checking, replay=case))


_UNORDERED = unordered()


@with_users_frames
def equivalent(
    streams: Streams,
    reference: Subject,
    candidate: Subject,
    *,
    dependence: Dependence = _UNORDERED,
    equal: Equality | None = None,
    accept: Callable[[Instant, Batch, Batch], bool | Check] | None = None,
    under: Sequence[Perturbation] = (),
    property: FormulaLike | None = None,
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
      the reference put out there, and what the candidate did. Each batch is compared by itself then. It is asked
      nowhere else: what both put out alike passes, be it right or wrong.
    - `under`: perturbations (`firesteel.perturb`) that the candidate is run under; the reference is not.
    - `property`: a formula that has to hold on every run, the reference's and the candidate's, also where they agree.
    """
    compared = _comparison(reference, candidate, dependence, equal, accept, under, property)
    return _compared("fs.equivalent", Claimed.EQUIVALENCE, streams, compared, options)


@with_users_frames
def stable(
    streams: Streams,
    subject: Subject,
    *,
    under: Sequence[Perturbation],
    dependence: Dependence = _UNORDERED,
    equal: Equality | None = None,
    accept: Callable[[Instant, Batch, Batch], bool | Check] | None = None,
    property: FormulaLike | None = None,
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

    Runs are compared with each other, and with nothing else: an answer that is wrong in the same way every time is
    stable. `accept` does not help, as it is asked only where two runs differ. Say what is right with `property`: a
    formula that has to hold on the run as it is, and on every run under a perturbation. A function alone has to hold at
    every instant. A run sees the input as it was fed to it, so `now.input` may have another order, and other batches.

    >>> halves = lambda frame: frame.selectExpr("n / 2 AS half")
    >>> whole = lambda now: len(now.output) == len(now.input)
    >>> fs.stable(numbers, halves, under=[perturb.row_order()], property=whole, cases=3).verdict
    <Verdict.TRUE: 1>
    """
    if not under:
        raise InvalidArgument(f"{described('under', under)} changes nothing: write under=[perturb.row_order()]")
    compared = _comparison(subject, subject, dependence, equal, accept, under, property)
    return _compared("fs.stable", Claimed.STABILITY, streams, compared, options)


def _comparison(
    reference: Subject,
    candidate: Subject,
    dependence: Dependence,
    equal: Equality | None,
    accept: Any,
    under: Sequence[Perturbation],
    property: FormulaLike | None,
) -> Comparison:
    from firesteel.equivalence.comparison import Comparison
    from firesteel.equivalence.matcher import Matcher

    for role, program in (("reference", reference), ("candidate", candidate)):
        validated.require_function("subject" if reference is candidate else role, program)
    Matcher(dependence, equal=equal)  # refuses what is not a dependence or an equality, or does not go together
    listed = tuple(under) if isinstance(under, Iterable) else (under,)
    if isinstance(under, Perturbation) or not all(isinstance(each, Perturbation) for each in listed):
        raise InvalidArgument(
            f"{described('under', under)} is not a list of perturbations: write [perturb.row_order()]"
        )
    if accept is not None and not callable(accept):
        raise InvalidArgument(f"{described('accept', accept)} is not a function of an instant and two batches")
    held_to = None if property is None else stated(property, "property")
    return Comparison(reference, candidate, dependence, equal, accept, listed, held_to)


def _compared(
    function: str, claimed: Claimed, streams: Any, compared: Comparison, options: Mapping[str, Any]
) -> Report:
    from firesteel.equivalence.claim import question

    chosen = validated.of_check(function, options, scored=False)
    if compared.held_to is not None and chosen.checking.on_inconclusive == "fail":
        refuse_undecidable(compared.held_to, "property")

    def asked(streams: Any, chosen: Options) -> Question:
        return question(streams, compared, chosen.session, chosen.how, chosen.checking, function, claimed)

    return _checked(function, streams, chosen, asked)


@with_users_frames
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
    firesteel.Falsified: the frames differ: 1 row only left, 1 only right
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
    from firesteel.evidence.frames import Undecided
    from firesteel.report.text import render

    tell(Called("fs.assert_same"))
    found = compare(left, right, dependence, equal)
    if found is None:
        return
    undecided = isinstance(found, Undecided)
    report = Report(Verdict.INCONCLUSIVE if undecided else Verdict.FALSE, 1, found)
    raise (Inconclusive if undecided else Falsified)(render(report), report)


def _lifted_all(streams: Any) -> Any:
    """A strategy of streams, where the given one may draw batches."""
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
