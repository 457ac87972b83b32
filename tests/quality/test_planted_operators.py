"""Planted operators that break a property on Spark, each beside the same made harmless."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import functions as F
from pyspark.sql.window import Window

import firesteel as fs
from firesteel import operators

KEYED = "k STRING, n INT"
TIMED = "k STRING, ts TIMESTAMP"
JOINED = {"left": "k INT, a INT, ts TIMESTAMP", "right": "j INT, b INT, us TIMESTAMP"}
IN_TIME = "k = j and us between ts and ts + interval 10 minutes"


def drawn_at_random(frame: Any) -> Any:
    return frame.withColumn("r", F.rand())


def drawn_from_content(frame: Any) -> Any:
    return frame.withColumn("r", F.xxhash64("k", "n"))


def numbered_by_place(frame: Any) -> Any:
    return frame.withColumn("id", F.monotonically_increasing_id())


def numbered_by_content(frame: Any) -> Any:
    return frame.withColumn("id", F.crc32(F.col("k")))


def stamped_by_clock(frame: Any) -> Any:
    return frame.withColumn("at", F.current_timestamp())


def stamped_by_record(frame: Any) -> Any:
    return frame.withColumn("at", F.timestamp_seconds("n"))


def listed_as_they_come(frame: Any) -> Any:
    return frame.groupBy("k").agg(F.collect_list("n").alias("ns"))


def listed_in_order(frame: Any) -> Any:
    return frame.groupBy("k").agg(F.sort_array(F.collect_list("n")).alias("ns"))


def first_of_ties(frame: Any) -> Any:
    place = F.row_number().over(Window.partitionBy("k").orderBy(F.lit(1)))
    return frame.withColumn("place", place).where("place = 1")


def first_of_all(frame: Any) -> Any:
    place = F.row_number().over(Window.partitionBy("k").orderBy("n"))
    return frame.withColumn("place", place).where("place = 1")


def seen_for_ever(frame: Any) -> Any:
    return frame.withWatermark("ts", "10 minutes").dropDuplicates(["k"])


def seen_for_a_while(frame: Any) -> Any:
    return frame.withWatermark("ts", "10 minutes").dropDuplicatesWithinWatermark(["k"])


def holding_back(left: Any, right: Any) -> Any:
    return left.withWatermark("ts", "1 minute").join(
        right.withWatermark("us", "1 minute"), F.expr(IN_TIME), "left_semi"
    )


def joining(left: Any, right: Any) -> Any:
    return left.withWatermark("ts", "1 minute").join(right.withWatermark("us", "1 minute"), F.expr(IN_TIME))


def streaming(function: Any, input: Any = KEYED, **more: Any) -> Any:
    return operators.transformation(function, input=input, **more)


def job(function: Any) -> Any:
    return operators.transformation(function, input=KEYED, key="k", engine="batch")


PLANTED = [
    ("deterministic", streaming(drawn_at_random), streaming(drawn_from_content)),
    ("partition_independent", job(numbered_by_place), job(numbered_by_content)),
    ("clock_free", streaming(stamped_by_clock), streaming(stamped_by_record)),
    ("deterministic", job(listed_as_they_come), job(listed_in_order)),
    ("order_independent", job(first_of_ties), job(first_of_all)),
    ("state_bounded", streaming(seen_for_ever, TIMED, key="k"), streaming(seen_for_a_while, TIMED, key="k")),
]


@pytest.mark.slow
@pytest.mark.parametrize("name, wrong, right", PLANTED, ids=[wrong.name for _, wrong, _ in PLANTED])
def test_the_wrong_one_is_found_and_the_right_one_is_not(spark: Any, name: str, wrong: Any, right: Any) -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.holds(wrong, name, tests=24, seconds=40, spark=spark)
    finding = failure.value.report.evidence.finding
    assert finding.evidence and finding.confirmed and finding.replay
    assert wrong.name in str(failure.value)
    kept = fs.analyze(right, name, tests=6, seconds=20, spark=spark)[name]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and not kept.why and kept.outputs


@pytest.mark.slow
def test_a_join_that_holds_one_side_back(spark: Any) -> None:
    at = datetime(2000, 1, 1, tzinfo=UTC)
    rows = {"left": [(1, 5, at)], "right": [(1, 7, at + timedelta(minutes=1))]}
    options: dict[str, Any] = {"sample": rows, "seconds": 20, "spark": spark}
    with pytest.raises(fs.Falsified) as failure:
        fs.holds(streaming(holding_back, JOINED), "non_blocking", tests=4, **options)
    assert failure.value.report.evidence.finding.port == "left"
    kept = fs.analyze(streaming(joining, JOINED), "non_blocking", tests=3, **options)["non_blocking"]
    assert kept.verdict is fs.Verdict.INCONCLUSIVE and not kept.why and kept.outputs
