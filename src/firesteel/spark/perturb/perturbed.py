"""Runs a case under a perturbation: the same records, and Spark goes about it in another way.

Some variants change the input (the order of rows, batches, partitions): that is done here. The others change Spark
(settings, the order of shuffles, restarts): the engines do that, told by `Running.under`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from firesteel.errors import InvalidArgument
from firesteel.perturb import Piece, Variant, ends
from firesteel.spark.engines import exercise as engines
from firesteel.spark.engines.structured import Watcher, batch_at
from firesteel.spark.engines.subject import Subject
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.streams import Batch, Stream, Trace, make_batch, make_stream, together

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MEANINGLESS = {
    "batch": {
        "batch_boundaries": "a batch job has one batch",
        "restart": "a batch job has no checkpoint to start again from",
        "replayed_batch": "a batch job commits no batches",
    },
    "dstream": {
        "shuffle_partitions": "spark.sql.shuffle.partitions is a setting for DataFrames, not for DStreams",
        "adaptive_execution": "it is for DataFrames, not for DStreams",
        "restart": "DStreams are run without a checkpoint of their program",
        "replayed_batch": "DStreams commit no batches",
    },
}
"""By engine, what a perturbation cannot change, and why."""


def exercise_under(
    spark: SparkSession, case: Case, subject: Subject, how: Running, variant: Variant, watcher: Watcher
) -> Trace:
    """Run a case as the variant says, and record its trace as far as the watcher lets it go.

    The trace holds the input as it was fed. With other batch boundaries it has another number of instants, but where
    these are windows (`how.over`).
    """
    refuse(variant, how)
    if how.engine == "batch" and all(stream.schema is None for stream in case.inputs.values()):
        _refuse_for_rdds(variant)
    changed = replace(how, under=variant)
    return engines.exercise(spark, perturbed_case(case, variant), subject, changed, watcher)


def refuse(variant: Variant, how: Running) -> None:
    """Refuse a variant that means nothing for the engine.

    >>> refuse(Variant(restart=1), Running(engine="batch"))
    Traceback (most recent call last):
        ...
    firesteel.errors.InvalidArgument: restart() is not possible with engine='batch': a batch job has no checkpoint ...
    """
    for name in variant.changes:
        why = _MEANINGLESS.get(how.engine, {}).get(name)
        if why is not None:
            raise InvalidArgument(
                f"{name}() is not possible with engine={how.engine!r}: {why}. Leave it out, or use engine='structured'"
            )


def _refuse_for_rdds(variant: Variant) -> None:
    for name in ("shuffle_partitions", "adaptive_execution"):
        if name in variant.changes:
            raise InvalidArgument(
                f"{name}() is not possible for RDDs: it changes a setting for DataFrames. Give the records a schema, "
                "so that the subject gets DataFrames, or use partitions(...): RDDs are shuffled into as many partitions"
            )


def perturbed_case(case: Case, variant: Variant) -> Case:
    """The case with its records in another order, in other batches, in other partitions."""
    sizes = [max(len(batch_at(stream, index)) for stream in case.inputs.values()) for index in range(case.length)]
    groups = variant.batches(sizes)
    return case.with_each(lambda stream: _perturbed(stream, groups, variant))


def _perturbed(stream: Stream, groups: list[list[Piece]], variant: Variant) -> Stream:
    batches = stream if variant.batch_boundaries is None else _regrouped(stream, groups)
    return make_stream(
        (_placed(batch, index, variant) for index, batch in enumerate(batches)), stream.schema, stream.span
    )


def _regrouped(stream: Stream, groups: list[list[Piece]]) -> Iterator[Batch]:
    for pieces in groups:
        parts = [make_batch((), stream.schema)]
        for index, part, of in pieces:
            batch = batch_at(stream, index)
            cuts = ends(len(batch), of)
            parts.append(batch if of == 1 else batch[cuts[part] : cuts[part + 1]])
        yield together(parts)


def _placed(batch: Batch, index: int, variant: Variant) -> Batch:
    sizes = batch.partitions
    if variant.partitions is not None:
        sizes = tuple(end - start for start, end in pairwise(ends(len(batch), variant.partitions)))
    records = [batch.records[place] for place in variant.rows(len(batch), index)]
    return make_batch(records, batch.schema, sizes)
