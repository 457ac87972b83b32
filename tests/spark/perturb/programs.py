"""What the tests of perturbed runs share: cases, views of what came out, and programs, most of them wrong.

Every perturbed run is compared with a plain one of the same program: as a multiset of all that came out, as the last
row of every key, or as the sequence of rows of every key, whichever the program promises.
"""

import builtins
from collections import Counter

from pyspark.sql import functions as F

from firesteel import Stream, perturb
from firesteel.perturb.changes import (
    AdaptiveExecution,
    BatchBoundaries,
    ReplayedBatch,
    Restart,
    ShufflePartitions,
    Variant,
)
from firesteel.spark.engines import exercise as engines
from firesteel.spark.perturb.perturbed import exercise_under
from firesteel.spark.running import Running
from firesteel.values.cases import Case

ALL = {
    "partitions": perturb.partitions(3),
    "row_order": perturb.row_order(),
    "batch_boundaries": perturb.batch_boundaries(),
    "shuffle_partitions": perturb.shuffle_partitions(5),
    "adaptive_execution": perturb.adaptive_execution(),
    "shuffle_order": perturb.shuffle_order(),
    "restart": perturb.restart(),
    "replayed_batch": perturb.replayed_batch(),
}
ROWS = [(0, 4), (1, 7), (0, 2), (1, 1), (0, 9), (2, 3), (1, 5), (2, 8), (0, 6), (2, 0)]
NUMBERS = Case({"input": Stream("k INT NOT NULL, n INT NOT NULL", [ROWS[:5], ROWS[5:8], ROWS[8:]])})
ONE_BATCH = Case({"input": Stream("k INT NOT NULL, n INT NOT NULL", [ROWS])})


def everything(trace):
    """All that came out, as a multiset."""
    return Counter((name, tuple(r)) for instant in trace for name, batch in instant.outputs.items() for r in batch)


def tables(trace):
    """The last row of every key, in the first column: what update and complete mode leave behind."""
    return {(name, r[0]): tuple(r) for instant in trace for name, batch in instant.outputs.items() for r in batch}


def sequences(trace):
    """The rows of every key, in the first column, in order."""
    found = {}
    for record in trace.output:
        found.setdefault(record[0], []).append(tuple(record))
    return found


def plain(spark, case, subject, how):
    return engines.exercise(spark, case, subject, how, lambda instant: False)


def under(spark, case, subject, how, variant):
    return exercise_under(spark, case, subject, how, variant, lambda instant: False)


def broken_by(spark, case, subject, how, view, names, most=1):
    """The perturbations, of those named, under which the program does something else; `most` variants of each."""
    expected = view(plain(spark, case, subject, how))
    assert expected, "a program that puts out nothing shows nothing"
    return {
        name
        for name in names
        for variant in ALL[name].variants(case.length)[:most]
        if view(under(spark, case, subject, how, variant)) != expected
    }


APPEND, UPDATE, COMPLETE, BATCH = (
    Running(),
    Running(output_mode="update"),
    Running(output_mode="complete"),
    Running(engine="batch"),
)
ONE_BATCH_OF_ALL = Variant(BatchBoundaries("one"))
# What a program does not mind together it does not mind one by one, and that takes fewer runs.
INTERRUPTED = (AdaptiveExecution(True), Restart(0), ReplayedBatch(1))
EVERYTHING_ELSE = (ShufflePartitions(5), *INTERRUPTED)


# --- programs ------------------------------------------------------------------------------------------


def where(frame):
    """Wrong: takes the partition that a row happens to be in for part of the result."""
    return frame.select("n", F.spark_partition_id().alias("at"))


def placed(frame):
    """Wrong: takes the partition that a group happens to be in for part of the result."""
    return frame.groupBy("k").count().withColumn("at", F.spark_partition_id())


def in_order_of(frame):
    """Wrong: sorts, then groups, and takes the order in a group to be the sorted one."""
    return frame.orderBy("n").groupBy("k").agg(F.collect_list("n").alias("n"))


def in_order_of_right(frame):
    return frame.groupBy("k").agg(F.sort_array(F.collect_list("n")).alias("n"))


def joined_in_order(frame):
    """Wrong: takes the rows of a join to come sorted by their key, as those of a sort-merge join do."""
    doubled = frame.select("n", (F.col("n") * 2).alias("twice"))
    joined = frame.repartition(8, "n").join(doubled.repartition(8, "n"), "n")
    return joined.select("n", "twice", F.monotonically_increasing_id().alias("id"))


def count_so_far(frame):
    return frame.groupBy(F.lit(0).alias("k")).agg(F.count("*").alias("n"))


def remembering(frame):
    """Wrong: counts rows in the memory of the process that it happens to run in."""

    def number(parts):
        for part in parts:
            seen = builtins.__dict__.setdefault("_rows_seen", [])
            numbers = []
            for _ in range(len(part)):
                seen.append(0)
                numbers.append(len(seen))
            yield part.assign(n=numbers)[["n"]]

    return frame.repartition(1).mapInPandas(number, "n INT")
