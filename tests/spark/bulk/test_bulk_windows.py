"""Windows of event time in a bulk run are those of runs alone, though it runs fewer micro-batches where that can be.

Where nothing hangs on which micro-batch a record comes in, that is one for all batches.
"""

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel.spark.bulk.shared import SharedQueries
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.exercise import exercise_apart
from firesteel.spark.running import Running
from firesteel.values.cases import Case

HOURS = fs.tumbling("1 hour", on={"input": "ts", "output": "at"})


def at(minutes):
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)


def case(*batches):
    return Case({"input": fs.Stream("k INT, ts TIMESTAMP", batches, span=(at(0), at(300)))})


# The watermark moves over two hours at once, stands still, and nothing comes in a batch. The third and the fourth are
# of the same times as the first and the second, for subjects that can tell every moment from another.
CASES = [
    case([(0, at(10)), (1, at(50))], [(0, at(130))], [], [(1, at(131)), (0, at(190))]),
    case([(0, at(30)), (0, at(55))], [(1, at(125)), (1, at(135))], [], [(0, at(195))]),
    case([(2, at(10)), (2, at(50))], [(3, at(130))], [], [(2, at(131)), (2, at(190))]),
    case([(4, at(30)), (0, at(55))], [(4, at(125)), (4, at(135))], [], [(4, at(195))]),
]


def counted():
    def subject(f):
        counts = f.withWatermark("ts", "0 minutes").groupBy("k", F.window("ts", "1 hour")).count()
        return counts.select("k", "count", F.window_time("window").alias("at"))

    return subject


def first_of_each(f):
    return f.withWatermark("ts", "10 minutes").dropDuplicatesWithinWatermark(["k"]).select("k", F.col("ts").alias("at"))


def busiest(f):
    hours = f.withWatermark("ts", "0 minutes").groupBy("k", F.window("ts", "1 hour")).count()
    most = hours.groupBy("window").agg(F.max("count").alias("most"))
    return most.select("most", F.window_time("window").alias("at"))


def summed(f):
    """A sum of floats hangs on what is added first."""
    sums = f.withWatermark("ts", "0 minutes").groupBy("k", F.window("ts", "1 hour")).agg(F.sum(F.col("k") / 3))
    return sums.select("*", F.window_time("window").alias("at"))


def row_by_row(f):
    return f.select("k", F.col("ts").alias("at"))


def numbered(f):
    """Looks at what comes at once."""

    def number(parts):
        for part in parts:
            yield part.assign(n=range(len(part)))

    return f.mapInPandas(number, "k INT, ts TIMESTAMP, n LONG").withColumnRenamed("ts", "at")


def at_local_time(f):
    return counted()(f).withColumn("now", F.localtimestamp())


def stamped(f):
    return counted()(f).withColumn("now", F.current_timestamp())


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject, mode, close, fewer, in_one",
    [
        (counted(), "append", True, True, True),
        (counted(), "append", False, False, False),
        (counted(), "update", True, True, False),
        (counted(), "complete", True, False, False),
        (busiest, "append", True, False, True),
        (summed, "append", True, True, False),
        (row_by_row, "append", True, True, True),
        (numbered, "append", True, True, False),
        (first_of_each, "append", True, False, False),
        (stamped, "append", True, False, False),
        (at_local_time, "append", True, False, False),
    ],
)
def test_windows_are_those_of_runs_alone(spark, subject, mode, close, fewer, in_one):
    how = Running(over=HOURS, output_mode=mode, close=close)
    together = exercise_together(spark, CASES, subject, how)
    alone = exercise_apart(spark, CASES, subject, how)
    assert any(len(instant.output) for trace in alone for instant in trace)
    for expected, found in zip(alone, together, strict=True):
        assert found == expected
    shared = SharedQueries(spark, CASES, subject, how)
    assert shared.as_one_batch is in_one
    assert (shared.settings.get("spark.sql.streaming.noDataMicroBatches.enabled") == "false") is fewer
