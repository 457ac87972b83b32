"""A temporal property as a claim about the runs of one subject: a formula, and Spark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from firesteel.errors import PredicateError, described
from firesteel.evidence.runs import TooShort
from firesteel.logic.ltl.formulas import Formula
from firesteel.logic.ltl.margin import margin
from firesteel.names import name_of
from firesteel.runs.asked import asked
from firesteel.runs.meters import FormulaMeter, too_short
from firesteel.runs.question import Checking, Question
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.engine import Watcher
from firesteel.spark.engines.exercise import exercise, exercise_apart
from firesteel.spark.engines.subject import Subject
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.traces import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Score: TypeAlias = Callable[[Trace], float]


def question(
    streams: Any,
    subject: Subject,
    formula: Formula,
    spark: SparkSession,
    how: Running,
    checking: Checking,
    score: Score | None = None,
) -> Question:
    """Does the formula hold for the subject's runs on all these streams?"""
    return Question(
        streams,
        Property(formula, score),
        OneSubject(spark, subject, how),
        spark,
        asked("fs.for_all", {"subject": subject}, spark.version, how, formula=formula),
        f"{name_of(subject)}\n{formula!r}",
        checking,
    )


@dataclass(frozen=True)
class OneSubject:
    """Runs the cases of one subject."""

    spark: SparkSession
    subject: Subject
    how: Running

    @property
    def prefixes(self) -> bool:
        return self.how.over is None  # a window may hold what came in any batch

    def alone(self, case: Case, watcher: Watcher) -> Trace:
        return exercise(self.spark, case, self.subject, self.how, watcher)

    def apart(self, cases: Sequence[Case]) -> list[Trace | SubjectFailure]:
        return exercise_apart(self.spark, cases, self.subject, self.how)

    def together(self, cases: Sequence[Case], *, also_single: bool) -> list[Trace | None]:
        return exercise_together(self.spark, cases, self.subject, self.how, also_single=also_single)


@dataclass(frozen=True)
class Property:
    """A formula, claimed of every trace."""

    formula: Formula
    score: Score | None = None
    """How close a trace came to breaking it, where the formula itself is not to say."""

    @property
    def ignores_order(self) -> bool:
        return True

    @property
    def shortest_true(self) -> int:
        return self.formula.shortest_true

    def meter(self) -> _Meter:
        return _Meter(self.formula, self.score)

    def why_open(self, length: int, trace: Trace) -> TooShort:
        """A trace of this many instants does not decide the formula."""
        return too_short(self.formula, length)


class _Meter(FormulaMeter):
    """A meter that also says how close a trace came to breaking the formula."""

    def __init__(self, formula: Formula, score: Score | None) -> None:
        super().__init__(formula)
        self._score = score

    def closeness(self, trace: Trace) -> float | None:
        if self._score is not None:
            return _scored(self._score, trace)
        if any(batch.stays_in_spark for now in trace for batch in (*now.inputs.values(), *now.outputs.values())):
            return None  # asking a predicate about a large batch costs as much as the batch did
        return -margin(self.formula, trace, self.memory)


def _scored(score: Score, trace: Trace) -> float:
    """What the user's function says, if that is a number."""
    try:
        answer: Any = score(trace)
    except Exception as error:
        raise PredicateError(f"score={name_of(score)} raised {error!r}") from error
    if isinstance(answer, bool) or not isinstance(answer, (int, float)) or not math.isfinite(answer):
        raise PredicateError(
            f"score={name_of(score)} returned {described('answer', answer)}: it has to return a number, the higher the "
            "closer the trace came to breaking the property"
        )
    return float(answer)
