"""One case, run by itself for `fs.run`: its trace, or a report that says what the subject failed on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firesteel.evidence.report import Report
from firesteel.evidence.runs import Raised
from firesteel.logic.verdicts import Verdict
from firesteel.runs.asked import asked
from firesteel.runs.replay import reproduction
from firesteel.spark.engines.exercise import exercise
from firesteel.spark.engines.subject import Subject
from firesteel.spark.failures import SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.traces import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_alone(spark: SparkSession, case: Case, subject: Subject, how: Running) -> Trace | tuple[Report, SubjectFailure]:
    """The whole trace of a case; or a report of how the subject failed, and its failure."""
    try:
        return exercise(spark, case, subject, how, lambda instant: False)
    except SubjectFailure as failure:
        how_again = reproduction(case, min(case.length, len(failure.trace) + 1))
        raised = Raised(inputs=case, trace=failure.trace, replay=how_again.line, message=str(failure))
        report = Report(
            Verdict.INCONCLUSIVE,
            1,
            raised,
            asked=asked("fs.run", {"subject": subject}, spark.version, how),
            reproduction=how_again,
        )
        return report, failure
