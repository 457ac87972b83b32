"""What a broken promise does in Spark, by kind and property."""

from __future__ import annotations

_BY_KIND = {
    ("reducer", "commutative"): "reduceByKey may merge partitions in any order: this reducer gives different results",
    ("reducer", "associative"): "reduceByKey reduces within partitions first and merges then: the result depends on "
    "how the data are partitioned",
    ("aggregate", "commutative"): "aggregateByKey may see values and partitions in any order: the result changes with "
    "it",
    ("aggregate", "zero_is_identity"): "every partition starts from the zero: the result depends on their number",
    ("aggregate", "seq_comb_agree"): "the result depends on how the data are partitioned",
    ("combiner", "seq_comb_agree"): "the result depends on how the data are partitioned",
    ("partition_function", "deterministic"): "records of one key go to different partitions, and joins and reductions "
    "miss them",
    (
        "transformation",
        "stateless",
    ): "what comes out of a record depends on earlier ones, so its state has to be kept in a checkpoint, and bounded",
    ("transformation", "partition_isolated"): "the result for a key depends on other keys that are in the stream",
    ("transformation", "batch_independent"): "the result depends on when the trigger fires and how much it reads",
    ("processor", "stateless"): "what comes out of a record depends on earlier ones: its state has to be bounded",
    ("state_function", "stateless"): "what comes out of a record depends on earlier ones: its state has to be bounded",
    ("sink", "idempotent"): "rows that a source sends again, after a restart further back, are written again",
    ("sink", "deterministic"): "the same batches leave something else behind each time",
    ("pandas_udf", "row_wise"): "Arrow cuts partitions into batches of spark.sql.execution.arrow.maxRecordsPerBatch "
    "rows: the result for a row depends on where the cuts are",
}
_BY_PROPERTY = {
    "deterministic": "a task that is retried, or a column that is computed twice, gives other values",
    "one_to_one": "records are lost or multiplied",
    "selective": "records are multiplied",
    "stateless": "the result depends on which records the same Python process saw before: that changes with "
    "partitioning, retries and spark.python.worker.reuse",
    "commutative": "the order of rows after a shuffle is not fixed: the result changes with it",
    "partition_isolated": "the result for a key depends on which other keys land in the same partition",
    "associative": "partial results are merged in another nesting: the result changes with it",
    "idempotent": "a record that is delivered or processed twice changes the result",
    "row_wise": "the result for a row depends on how Arrow cuts partitions into batches",
    "batch_independent": "the result depends on how Arrow cuts partitions into batches "
    "(spark.sql.execution.arrow.maxRecordsPerBatch)",
    "clock_free": "a run on another day, or with other pauses, gives another result",
    "partition_independent": "the result changes with the number of partitions, which changes with the cluster",
    "order_independent": "the order of rows after a shuffle is not fixed: the result changes with it",
    "restart_safe": "after a failure, the query goes on with another result",
    "replay_safe": "a batch whose commit was lost is delivered again, with the same id: the sink then has it twice",
    "late_safe": "records that come late are not treated as the claim says",
    "state_bounded": "state grows as long as the query runs, until memory or disk is full",
    "keeps_columns": "a filter on this column must not be moved before the operator",
    "null_safe": "a null in the data fails the task, after its retries the job",
    "nan_safe": "a NaN in the data fails the task, or makes the result depend on the order",
    "total": "a value of the declared type fails the task, after its retries the job",
    "pure": "side effects happen once per attempt, on the executors: retries and speculation repeat them",
    "picklable": "the function cannot be sent to the executors, or is another one there",
    "non_blocking": "the port waits for the other: in a stream, output is held back until it comes",
}


def consequence(kind: str, property: str) -> str:
    """What it does in Spark if an operator of this kind lacks the property.

    >>> consequence("reducer", "commutative")
    'reduceByKey may merge partitions in any order: this reducer gives different results'
    """
    return _BY_KIND.get((kind, property), _BY_PROPERTY.get(property, ""))
