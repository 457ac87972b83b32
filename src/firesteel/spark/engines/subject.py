"""Calling the subject: what it is given, and whether it returned what can be run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.names import name_of
from firesteel.spark.failures import SubjectFailure, root_cause
from firesteel.values.records import Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Subject: TypeAlias = Callable[..., Any]


def outputs_of(
    spark: SparkSession, subject: Subject, inputs: Mapping[str, DataFrame], drawn: Record
) -> Mapping[str, DataFrame]:
    """The streaming DataFrames that the subject makes of its inputs, by output name."""
    from pyspark.sql import DataFrame

    def refusal(frame: DataFrame) -> str | None:
        if not frame.sparkSession._jsparkSession.equals(spark._jsparkSession):
            return "a DataFrame of another Spark session: build it from the DataFrames that it is given"
        if not frame.isStreaming:
            return "a batch DataFrame, which no stream flows through: build it from the DataFrames that it is given"
        return None

    return named_outputs(subject, call_subject(subject, inputs, drawn), (DataFrame,), "a DataFrame", refusal)


def named_outputs(
    subject: Subject,
    returned: Any,
    kinds: tuple[type, ...],
    wanted: str,
    refusal: Callable[[Any], str | None],
) -> dict[str, Any]:
    """What a subject returned, by output name: one by itself is called `output`.

    All have to be of the `kinds`, which `wanted` names. `refusal` says what is wrong with one that cannot be run.
    """
    outputs = dict(returned) if isinstance(returned, Mapping) else {"output": returned}
    where = f"the subject {name_of(subject)}"
    if not outputs:
        raise SubjectFailure(f"{where} returned no output: return {wanted}, or a dict of them by name")
    for name, output in outputs.items():
        what = f"returned, as {name!r}," if isinstance(returned, Mapping) else "returned"
        if not isinstance(output, kinds):
            raise SubjectFailure(f"{where} {what} {described('value', output)}: return {wanted}, or a dict of them")
        why = refusal(output)
        if why is not None:
            raise SubjectFailure(f"{where} {what} {why}")
    return outputs


@contextmanager
def being_built(subject: Subject, drawn: Record) -> Iterator[None]:
    """What fails meanwhile, fails for every case: no data has been fed yet. Unless the subject takes drawn values."""
    try:
        yield
    except SubjectFailure as failure:
        failure.depends_on_case = bool(taken_by(subject, drawn))
        raise


def taken_by(subject: Subject, drawn: Record) -> dict[str, Any]:
    """The drawn values that a subject has parameters for."""
    if not drawn.__dict__ or not callable(subject):
        return {}
    try:
        parameters = inspect.signature(subject).parameters
    except ValueError:  # a builtin without a signature
        return {}
    return {name: value for name, value in drawn.__dict__.items() if name in parameters}


def refuse_call(subject: Subject, names: Iterable[str], drawn: Record) -> None:
    """Refuse a subject that cannot be called with streams of these names; no Spark is needed to say so."""
    if not callable(subject):
        raise InvalidArgument(f"{described('subject', subject)} is not a function of DataFrames")
    known = list(names)
    by_name: dict[str, Any] = {} if known == ["input"] else dict.fromkeys(known)
    by_place = () if by_name else (None,)
    try:
        inspect.signature(subject).bind(*by_place, **by_name, **taken_by(subject, drawn))
    except TypeError as error:
        takes = ", ".join(inspect.signature(subject).parameters)
        raise InvalidArgument(
            f"the subject {name_of(subject)}({takes}) cannot take the streams {', '.join(map(repr, known))}: {error}. "
            "One stream is handed over by position; a dict of streams by name"
        ) from None
    except ValueError:
        pass  # a builtin without a signature: let it be called


def call_subject(subject: Subject, frames: Mapping[str, Any], drawn: Record) -> Any:
    """What the subject makes of its inputs: one is handed over by position, several by name, as are drawn values."""
    refuse_call(subject, frames, drawn)
    by_name = {} if list(frames) == ["input"] else dict(frames)
    by_place = () if by_name else tuple(frames.values())
    by_name |= taken_by(subject, drawn)
    try:
        with _quiet():
            return subject(*by_place, **by_name)
    except Exception as error:
        raise SubjectFailure(
            f"the subject {name_of(subject)} raised {type(error).__name__} when it was built: {root_cause(error)}"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """PySpark logs the whole stack of an analysis error that is about to be raised; it is kept as the cause anyway.

    The logger has to be of PySpark's own class: where a plain one has its name, PySpark fails in every later error.
    """
    from pyspark.logger import PySparkLogger

    logger = PySparkLogger.getLogger("DataFrameQueryContextLogger")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
