"""Runs cases as batch jobs: a stream of one batch, as a DataFrame or an RDD, and one instant."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from firesteel.errors import InvalidArgument
from firesteel.perturb.changes import Need, Variant
from firesteel.spark.engines.engine import Engine, Watcher
from firesteel.spark.engines.rdds import batch_of, rdd_of
from firesteel.spark.engines.recorded import Reader
from firesteel.spark.engines.source import BatchFrames, refuse_what_is_not_carried, schema_refusals, to_frame
from firesteel.spark.engines.subject import Subject, being_built, call_subject, named_outputs
from firesteel.spark.engines.waiting import Stopped, Worker, outcome
from firesteel.spark.failures import raised_inside, took_too_long
from firesteel.spark.frames.large import keep, large_batch
from firesteel.spark.jobs import cancel, tagged
from firesteel.spark.perturb.levers import pulled
from firesteel.spark.perturb.shuffles import arriving
from firesteel.spark.running import Running
from firesteel.values.batches import Batch
from firesteel.values.cases import Case
from firesteel.values.records import Record
from firesteel.values.traces import Instant, Trace

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession


def exercise(spark: SparkSession, case: Case, subject: Subject, how: Running, watcher: Watcher) -> Trace:
    """Run a case as one job for every output."""
    for name, stream in case.inputs.items():
        if len(stream) > 1:
            raise InvalidArgument(
                f"the stream {name!r} has {len(stream)} batches, and engine='batch' runs one: write a strategy of "
                "batches (ss.batches(...), ss.partitioned(...)), or ss.always(batches, during=1); for what happens "
                "from batch to batch use engine='structured' or 'dstream'"
            )
    if not case.length:
        return Trace(())
    if all(stream.schema is None for stream in case.inputs.values()):
        _refuse_settings_for_rdds(how.under)
    batches = case.batches_at(0)
    # Where the input is large the output may be, too: then it stays in Spark.
    kept = any(len(batch) > how.large for batch in batches.values())
    with pulled(spark, how.under):
        inputs = {name: handed(spark, name, batch) for name, batch in batches.items()}
        with being_built(subject, case.drawn):
            made = outputs_of_job(subject, inputs, case.drawn)
        instant = Instant(0, batches, collected(spark, made, how, kept=kept), drawn=case.drawn)
    watcher(instant)
    return Trace([instant])


def _refuse_settings_for_rdds(variant: Variant) -> None:
    for change in variant.changes:
        if change.needs is Need.SETTINGS_FOR_FRAMES:
            raise InvalidArgument(
                f"{change.name}() is not possible for RDDs: it changes a setting for DataFrames. Give the records a "
                "schema, so that the subject gets DataFrames, or use partitions(...): RDDs are shuffled into as many "
                "partitions"
            )


def handed(spark: SparkSession, name: str, batch: Batch) -> DataFrame | RDD[Any]:
    """A batch as the subject gets it: a DataFrame where it has a schema, else an RDD; with the batch's partitions."""
    if batch.schema is None:
        return rdd_of(spark.sparkContext, batch)
    refuse_what_is_not_carried(batch.schema)
    with schema_refusals(name):
        if batch.partitions is None:
            return to_frame(spark, batch.records, batch.schema)
        return BatchFrames(spark, [batch], batch.schema).frame(0, spark)


def outputs_of_job(
    subject: Subject, inputs: Mapping[str, DataFrame | RDD[Any]], drawn: Record
) -> Mapping[str, DataFrame | RDD[Any]]:
    """What the subject makes of its inputs, by output name."""
    from pyspark import RDD
    from pyspark.sql import DataFrame

    def refusal(output: DataFrame | RDD[Any]) -> str | None:
        if isinstance(output, DataFrame) and output.isStreaming:
            return "a streaming DataFrame, which a batch job does not end: leave engine= out"
        return None

    made = call_subject(subject, inputs, drawn)
    return named_outputs(subject, made, (DataFrame, RDD), "a DataFrame or an RDD", refusal)


def collected(
    spark: SparkSession, outputs: Mapping[str, DataFrame | RDD[Any]], how: Running, *, kept: bool
) -> dict[str, Batch]:
    """The batches of outputs, each by a job of its own; one that is `kept` stays in Spark if it is large."""
    job = _Job(spark, how, how.large if kept else None)
    worker = Worker()
    try:
        waiting = {name: worker.submit(partial(job.batch, output)) for name, output in outputs.items()}
        return {name: outcome(batch, how.seconds) for name, batch in waiting.items()}
    except TimeoutError:
        job.end()
        raise took_too_long("the job", how.seconds) from None
    except Exception as error:
        raise raised_inside(error) from error
    except BaseException:  # the user has interrupted it
        job.end()
        raise
    finally:
        worker.close()


class _Job:
    """Makes batches of outputs, in a thread that may be given up."""

    def __init__(self, spark: SparkSession, how: Running, most: int | None) -> None:
        self._spark, self._how, self._most = spark, how, most
        self._tag: str | None = None
        self._ended = False

    def batch(self, output: DataFrame | RDD[Any]) -> Batch:
        context = self._spark.sparkContext
        # Both are this thread's own.
        with tagged(context) as self._tag, arriving(context, self._how.under.shuffle_order):
            if self._ended:
                raise Stopped
            return _batch(self._spark, output, self._most)

    def end(self) -> None:
        self._ended = True
        if self._tag is not None:
            cancel(self._spark.sparkContext, self._tag)


def _batch(spark: SparkSession, output: DataFrame | RDD[Any], most: int | None) -> Batch:
    """An output's records; a DataFrame of more than `most` stays where it is."""
    from pyspark import RDD

    if isinstance(output, RDD):
        return batch_of(output.collect())
    reader = Reader(spark, output.schema)
    return reader.batch_of(output) if most is None else large_batch([keep(output)], reader, most)


ENGINE = Engine(
    "batch",
    exercise,
    refuses_options=("output_mode", "over", "close", "state", "batch_interval"),
    lacks={
        Need.SEVERAL_BATCHES: "a batch job has one batch",
        Need.CHECKPOINT: "a batch job has no checkpoint to start again from",
        Need.COMMITS: "a batch job commits no batches",
    },
    one_batch=True,
)
