"""Many batch jobs as one: the subject is called for every case, and what it makes is united before it is collected.

Each case has a plan of its own in the whole, so nothing has to be carried through plans, and any job may be run so. A
job of many small plans costs a part of what as many jobs cost. It only screens: tasks of other cases run beside a case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from firesteel.spark.bulk.shared import split
from firesteel.spark.engines.batch import collected, outputs_of_job
from firesteel.spark.engines.control import INTERPRETED, changed
from firesteel.spark.engines.rdds import rdd_of, sizes_of
from firesteel.spark.engines.source import BatchFrames
from firesteel.spark.engines.subject import Subject, being_built
from firesteel.spark.failures import CannotCarry, OneCaseFails, SubjectFailure
from firesteel.spark.perturb.levers import pulled
from firesteel.spark.running import Running
from firesteel.values.batches import Batch, make_batch
from firesteel.values.cases import Case
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST = 32
"""So many cases are one job: Spark's optimizer takes longer with each of them."""
_CASE = "__case"
# Spark plans the rest anew after every stage, and there are many. For few records, generated code is slower.
_SETTINGS = {"spark.sql.adaptive.enabled": "false", **INTERPRETED}


def exercise_united(
    spark: SparkSession,
    cases: Sequence[Case],
    subject: Subject,
    how: Running,
    is_over: Callable[[], bool] = lambda: False,
) -> list[Trace | None]:
    """Run cases of one batch each together and record their traces; None for those left when it is over.

    `OneCaseFails` if one makes it fail.
    """
    return in_parts(cases, _MOST, lambda some: _united(spark, some, subject, how), is_over)


def in_parts(
    cases: Sequence[Case], most: int, run: Callable[[Sequence[Case]], list[Trace]], is_over: Callable[[], bool]
) -> list[Trace | None]:
    """The traces of cases that are run part by part, the first part in any case; None for those that were not run."""
    found: list[Trace | None] = []
    for start in range(0, len(cases), most):
        if start and is_over():
            break
        found += run(cases[start : start + most])
    return found + [None] * (len(cases) - len(found))


def _united(spark: SparkSession, cases: Sequence[Case], subject: Subject, how: Running) -> list[Trace]:
    if any(case.length != 1 for case in cases):
        raise CannotCarry("a job has one batch")
    with pulled(spark, how.under), changed(spark, _SETTINGS):
        with being_built(subject, cases[0].drawn):
            outputs = _outputs(spark, cases, subject)
        try:
            batches = collected(spark, outputs, how, kept=False)
        except SubjectFailure as failure:
            if failure.hangs:  # parts of it would take as long
                raise
            raise OneCaseFails(f"one of the cases makes it fail ({failure})") from failure
    parts = {
        name: parts_of(batch, len(cases)) if batch.schema is None else split(batch, len(cases))
        for name, batch in batches.items()
    }
    return [
        Trace(
            [Instant(0, case.batches_at(0), {name: every[number] for name, every in parts.items()}, drawn=case.drawn)]
        )
        for number, case in enumerate(cases)
    ]


def _outputs(spark: SparkSession, cases: Sequence[Case], subject: Subject) -> dict[str, Any]:
    """What the subject makes of all cases, united; every row and element has the number of its case."""
    from pyspark.sql import DataFrame
    from pyspark.sql import functions as F

    inputs = _inputs(spark, cases)
    made = [outputs_of_job(subject, inputs[number], case.drawn) for number, case in enumerate(cases)]
    if any(list(each) != list(made[0]) for each in made):
        raise CannotCarry("the outputs differ from case to case")
    united: dict[str, Any] = {}
    for name in made[0]:
        every: list[Any] = [each[name] for each in made]
        if all(isinstance(each, DataFrame) for each in every):
            numbered = [each.select("*", F.lit(number).alias(_CASE)) for number, each in enumerate(every)]
            united[name] = reduce(DataFrame.union, numbered)
        elif any(isinstance(each, DataFrame) for each in every):
            raise CannotCarry("some outputs are DataFrames, others RDDs")
        else:
            united[name] = spark.sparkContext.union(
                [each.map(with_number(number)) for number, each in enumerate(every)]
            )
    return united


def _inputs(spark: SparkSession, cases: Sequence[Case]) -> list[Mapping[str, Any]]:
    """The inputs of every case, as the subject gets them."""
    inputs: list[dict[str, Any]] = [{} for _ in cases]
    usual = spark.sparkContext.defaultParallelism
    for name in cases[0].inputs:
        batches = [case.batches_at(0)[name] for case in cases]
        schema = batches[0].schema
        if any(batch.schema != schema for batch in batches):
            raise CannotCarry(f"the cases have different schemas for {name!r}")
        if schema is None:
            for each, batch in zip(inputs, batches, strict=True):
                each[name] = rdd_of(spark.sparkContext, batch)
        else:
            frames = BatchFrames(spark, batches, schema, partial(sizes_of, usual=usual))
            for number, each in enumerate(inputs):
                each[name] = frames.frame(number, spark)
    return list(inputs)


def with_number(number: int) -> Callable[[Any], tuple[int, Any]]:
    """A function that puts a number before an element; it goes to Python workers, which need not have this module."""
    return lambda element: (number, element)


def parts_of(batch: Batch, cases: int) -> list[Batch]:
    """The elements of each case, without its number."""
    parts: list[list[Any]] = [[] for _ in range(cases)]
    for number, element in batch.records:
        parts[number].append(element)
    return [make_batch(part, None) for part in parts]
