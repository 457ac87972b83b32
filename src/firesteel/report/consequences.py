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
