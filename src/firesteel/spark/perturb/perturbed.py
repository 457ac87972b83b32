"""Runs a case under a perturbation: the same records, and Spark goes about it in another way.

A variant changes the case before it is fed (the order of rows, batches, partitions). What it changes in Spark
(settings, the order of shuffles, restarts) is done by the engines, told by `Running.under`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument
from firesteel.perturb.changes import Variant
from firesteel.spark.engines.engine import Watcher
from firesteel.spark.engines.exercise import ENGINES, exercise
from firesteel.spark.engines.subject import Subject
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.traces import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def exercise_under(
    spark: SparkSession, case: Case, subject: Subject, how: Running, variant: Variant, watcher: Watcher
) -> Trace:
    """Run a case as the variant says, and record its trace until the watcher stops it.

    The trace holds the input as it was fed. With other batch boundaries it has another number of instants, unless
    these are windows (`how.over`).
    """
    refuse(variant, how)
    return exercise(spark, variant.applied(case), subject, replace(how, under=variant), watcher)


def refuse(variant: Variant, how: Running) -> None:
    """Refuse a variant that means nothing for the engine.

    >>> from firesteel.perturb.changes import Restart
    >>> refuse(Variant(Restart(1)), Running(engine="batch"))
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: restart() is not possible with engine='batch': a batch job has no checkpoint ...
    """
    lacks = ENGINES[how.engine].lacks
    for change in variant.changes:
        if change.needs is not None and change.needs in lacks:
            raise InvalidArgument(
                f"{change.name}() is not possible with engine={how.engine!r}: {lacks[change.needs]}. Leave it out, or "
                "use engine='structured'"
            )
