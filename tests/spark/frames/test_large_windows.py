"""Windows on Spark: they are where Spark's own are, and a batch that stays in Spark is cut like one on the driver."""

from datetime import UTC, datetime, timedelta

import pytest

from firesteel import Batch, Instant, Stream, Trace
from firesteel.spark.frames.large import LargeBatch, keep
from firesteel.values.windows import session_window, sliding, tumbling

pytestmark = pytest.mark.slow

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAME = "event.`time"
ODD = f"`{NAME.replace('`', '``')}`"


@pytest.fixture
def elsewhere(spark):
    """Spark's session in another time zone: what lies in a window does not depend on it."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield
    spark.conf.set("spark.sql.session.timeZone", before)


def rows(minutes, kind):
    zone = None if kind == "TIMESTAMP_NTZ" else UTC
    moments = [None if m is None else (EPOCH + timedelta(minutes=m)).replace(tzinfo=zone) for m in minutes]
    return [(number, moment, (number, "x")) for number, moment in enumerate(moments)]


MINUTES = [-61, -60, -0.001, 0, 5, 5, 59.999, 60, 61, 119, None, 185, 240, -300, 100, None]


def batches(spark, kind, most):
    batch = Batch(rows(MINUTES, kind), schema=f"id INT NOT NULL, {ODD} {kind}, s STRUCT<n: INT, t: STRING>")
    return batch, LargeBatch(keep(batch.df.coalesce(2)), batch.schema, most)


INPUT = Stream("ts TIMESTAMP", [[(EPOCH - timedelta(hours=1),), (EPOCH + timedelta(minutes=185),)], [(EPOCH,)]])
WINDOWS = [
    tumbling("1 hour", on={"input": "ts", "output": NAME}),
    sliding("1 hour", every="25 minutes", on={"input": "ts", "output": NAME}),
    session_window("50 minutes", on={"input": "ts", "output": NAME}),
]


CASES = [("TIMESTAMP", 2, WINDOWS), ("TIMESTAMP", 100, WINDOWS[:1]), ("TIMESTAMP_NTZ", 2, WINDOWS[:1])]


@pytest.mark.parametrize("kind, most, windows", CASES)
def test_a_large_batch_is_cut_like_a_small_one(spark, elsewhere, kind, most, windows):
    small, large = batches(spark, kind, most)
    for window in windows:
        spans = window.spans({"input": INPUT})
        parts, rest = small.within(NAME, spans)
        large_parts, large_rest = large.within(NAME, spans)
        for mine, theirs in zip([*parts, rest], [*large_parts, large_rest], strict=True):
            assert type(theirs) is (LargeBatch if len(mine) > most else Batch)
            assert len(mine) == len(theirs) and theirs.schema == small.schema
            if type(theirs) is Batch:
                assert theirs.records == mine.records
            else:
                assert [row.id for row in theirs.df.select("id").collect()] == mine.values("id")
    assert rest.same_as(large_rest)


def test_a_trace_with_large_output_is_cut(spark):
    small, large = batches(spark, "TIMESTAMP", 2)
    run = Trace([Instant(0, {}, {"output": small[:2]}), Instant(1, {}, {"output": large})])
    cut = WINDOWS[0].cut(run, {"input": INPUT})
    assert [len(now.output) for now in cut] == [3, 4, 4, 0, 1]
    assert len(cut.outside["output"]) == 6 and type(cut[4].output) is Batch


def test_windows_are_where_those_of_spark_are(spark):
    from pyspark.sql import functions as F

    moments = [(EPOCH + timedelta(minutes=m),) for m in (-100.5, -61, -60, -1, 0, 7, 59, 60, 400)]
    frame = Batch(moments, schema="ts TIMESTAMP").df
    inputs = {"input": Stream("ts TIMESTAMP", [moments])}
    for mine, theirs in [
        (tumbling("1 hour", on="ts"), F.window("ts", "1 hour")),
        (sliding("50 minutes", every="20 minutes", on="ts"), F.window("ts", "50 minutes", "20 minutes")),
        (sliding("60 minutes", every="20 minutes", on="ts"), F.window("ts", "60 minutes", "20 minutes")),
        (session_window("40 minutes", on="ts"), F.session_window("ts", "40 minutes")),
    ]:
        counted = (
            frame.groupBy(theirs.alias("w")).count().selectExpr("unix_seconds(w.start)", "unix_seconds(w.end)", "count")
        )
        cut = mine.cut(Trace([]), inputs)
        ends = [end.timestamp() for _, end in mine.spans(inputs)]
        assert sorted(map(tuple, counted.collect())) == [
            (now.time.timestamp(), end, len(now.input)) for now, end in zip(cut, ends, strict=True) if len(now.input)
        ]
