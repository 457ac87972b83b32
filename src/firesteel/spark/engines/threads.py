"""Several cases at once, each in a thread and in queries of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from firesteel.spark.engines.control import changed
from firesteel.spark.engines.recorded import JAVA_TIME
from firesteel.spark.engines.waiting import all_done
from firesteel.spark.failures import SubjectFailure
from firesteel.values.cases import Case
from firesteel.values.traces import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_at_once(
    spark: SparkSession, run: Callable[[Case], Trace], cases: Sequence[Case]
) -> list[Trace | SubjectFailure]:
    """Run cases, several at once; a case that fails gives its failure."""
    jvm: Any = spark._jvm
    # A new thread does not know the session, whose settings the encoders of rows go by.
    active = partial(jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession, spark._jsparkSession)
    # Held for all of them: a case that ends would give the setting back while others still need it.
    with changed(spark, JAVA_TIME):
        return all_done(partial(trace_or_failure, run), cases, at_once(spark), active)


def trace_or_failure(run: Callable[[Case], Trace], case: Case) -> Trace | SubjectFailure:
    """What running a case gives: its trace, or its failure."""
    try:
        return run(case)
    except SubjectFailure as failure:
        return failure


def at_once(spark: SparkSession) -> int:
    """How many cases are run at once: a micro-batch keeps little more than a core busy, and waits in between."""
    if os.environ.get("PYSPARK_PIN_THREAD", "true").lower() != "true":
        return 1  # Python threads then share threads of the JVM, and with them the JVM's locks
    return max(1, min(4, int(spark.sparkContext.defaultParallelism) + 1))
