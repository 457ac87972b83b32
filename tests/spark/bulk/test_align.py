"""Which cases may share a query: their watermarks agree in every batch, and after the last one."""

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel.spark.bulk.align import TimeFacts, Watermark, cell_of, edges_of, watermarks_alone
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.structured import exercise
from firesteel.spark.running import Running
from firesteel.values.cases import Case

SECOND = 1_000
TEN = 10 * SECOND
MARK = Watermark("input", "t", TEN)
OTHER = Watermark("other", "t", 0)


def stream(*batches):
    start = datetime(1970, 1, 1, tzinfo=UTC)
    return fs.Stream("t TIMESTAMP", [[(start + timedelta(seconds=s),) for s in batch] for batch in batches])


def case(*batches):
    return Case({"input": stream(*batches)})


def share(facts, *cases, close):
    """Do cases fall into one group?"""
    return len({cell_of(edges_of(each, [facts]), [facts], each.length, close=close) for each in cases}) == 1


def test_the_watermark_of_every_batch_and_the_one_after_the_last():
    edges = edges_of(case([5, 15], [], [40]), [TimeFacts((MARK,))])
    assert watermarks_alone(edges, [MARK], 3, lowest=True) == [0, 5 * SECOND, 5 * SECOND, 30 * SECOND]


@pytest.mark.parametrize("lowest, after", [(True, 1 * SECOND), (False, 30 * SECOND)])
def test_the_lowest_or_the_highest_of_several_watermarks(lowest, after):
    both = Case({"input": stream([40]), "other": stream([1])})
    edges = edges_of(both, [TimeFacts((MARK, OTHER))])
    assert watermarks_alone(edges, [MARK, OTHER], 1, lowest) == [0, after]


@pytest.mark.parametrize(
    "facts, close, together",
    [
        (TimeFacts((MARK,), (None,)), False, False),
        (TimeFacts((MARK,), (None,)), True, True),
        (TimeFacts((MARK,), (None,), to_the_end=True), True, False),
        (TimeFacts((MARK,), (60_000_000,)), False, True),
        (TimeFacts((MARK,), (5_000_000,)), False, False),
        (TimeFacts((MARK,), ()), False, True),
    ],
    ids=["moments", "event time ends", "a function is told", "one cell", "two cells", "nothing compares"],
)
def test_the_watermark_after_the_last_batch_counts_where_it_shows(facts, close, together):
    assert share(facts, case([1], [3, 20]), case([1], [3]), close=close) is together
    assert share(facts, case([1], [3, 20]), case([2], [20]), close=close), "these agree everywhere"


def test_after_the_last_batch_every_watermark_counts_by_itself():
    """The lowest of each case is the same, but together none of them is low."""
    facts = TimeFacts((MARK, OTHER), (None,))
    one = Case({"input": stream([40]), "other": stream([5])})
    two = Case({"input": stream([15]), "other": stream([30])})
    assert not share(facts, one, two, close=False) and share(facts, one, one, close=False)


def test_rows_come_out_by_a_case_s_own_watermark(spark):
    """Spark's micro-batch without data after the last batch put out a row of the second case by the first one's."""

    def moments(f):
        return f.withWatermark("t", "10 seconds").groupBy("t").count()

    how, cases = Running(close=False), [case([1, 20]), case([1])]
    alone = [exercise(spark, each, moments, how, lambda now: False) for each in cases]
    assert [len(trace[0].output) for trace in alone] == [1, 0]
    assert exercise_together(spark, cases, moments, how, also_single=True) == alone


def test_a_program_says_whether_the_last_watermark_shows(spark):
    """Also where event time ends: a second operator, or a function, sees what the first puts out, and when."""
    from pyspark.sql.types import StructType

    from firesteel.spark.bulk.carry import carrying
    from firesteel.spark.engines.source import PackedSource

    source = PackedSource(spark, StructType.fromDDL("t TIMESTAMP, k INT"), "__case0")
    marked = source.shown.withWatermark("t", "1 minute")
    counts = marked.groupBy(F.window("t", "1 hour"), "k").count()

    def shows(frame):
        return carrying(frame, {"input": source}, "append")[1].to_the_end

    assert not shows(counts) and not shows(marked.dropDuplicates(["k", "t"]))
    assert shows(counts.groupBy("window").count())
    told = F.pandas_udf(same_number, "int")
    assert shows(marked.groupBy(F.window("t", "1 hour"), told("k").alias("k")).count())


def same_number(k: pd.Series) -> pd.Series:
    return k
