"""Which of the planted bugs of order, luck and growing state a lint finds without a property, as docs/lint.md says."""

import pytest

import firesteel as fs
from tests.quality import test_planted_dstream as dstream
from tests.quality import test_planted_in_time as in_time
from tests.quality import test_planted_on_spark as on_spark
from tests.quality import test_planted_operators as operators

FOUND = {
    "numbered_by_place": {"partition-id"},
    "stamped_by_clock": {"clock-in-query"},
    "listed_as_they_come": {"order-sensitive-aggregate"},
    "first_of_ties": {"ties-in-window"},
    "seen_for_ever": {"deduplication-without-watermark"},
    "leaking_state": {"state-in-function"},
    "numbered_in_memory": {"state-in-function"},
    "counted_in_memory": {"state-in-function"},
    "join_that_keeps_its_state": {"unbounded-state"},
    "state_that_never_expires": {"deduplication-without-watermark"},
}
NOT_FOUND = {
    "drawn_at_random": "the plan of rand() has a seed, whether the user gave one or not",
    "holding_back": "a join that waits is not a matter of luck",
    "marked_and_kept": "late rows that come through are not a matter of luck",
    "distinct_in_each_partition": "what a function of partitions should do is not known",
}
RIGHT = {
    "drawn_from_content": set(),
    "numbered_by_content": set(),
    "stamped_by_record": set(),
    "listed_in_order": set(),
    "first_of_all": set(),
    "seen_for_a_while": set(),
    "joining": set(),
    "marked_and_dropped": set(),
    "numbered_in_the_task": set(),
    "counted_in_state": {"unbounded-state"},  # it keeps a count for every key for ever
    "state_of_its_own": {"unbounded-state"},
    "distinct": set(),
    "join_that_forgets_in_time": set(),
    "state_that_expires": set(),
}
EXPECTED = {**FOUND, **{name: set() for name in NOT_FOUND}, **RIGHT}


def stream(spark, *columns):
    return spark.readStream.format("rate").load().selectExpr(*columns)


def program(spark, name):
    """Runs one of the programs, as far as it has to run to be seen."""
    rows = spark.createDataFrame([("a", 1), ("a", 2), ("b", 3)], operators.KEYED)
    timed = stream(spark, "string(value) AS k", "timestamp AS ts")
    if name in ("holding_back", "joining"):
        left = stream(spark, "int(value) AS k", "int(value) AS a", "timestamp AS ts")
        right = stream(spark, "int(value) AS j", "int(value) AS b", "timestamp AS us")
        return getattr(operators, name)(left, right)
    if name in ("seen_for_ever", "seen_for_a_while", "marked_and_kept", "marked_and_dropped"):
        return getattr(operators, name)(timed)
    if name in ("counted_in_memory", "counted_in_state"):
        keyed = stream(spark, "string(value) AS k", "int(value) AS n").groupBy("k")
        return keyed.applyInPandasWithState(getattr(operators, name), operators.KEYED, "n INT", "update", "NoTimeout")
    if name in ("leaking_state", "state_of_its_own"):
        return on_spark.counting(leaks=name == "leaking_state")(stream(spark, "string(value) AS user"))
    if name in ("join_that_keeps_its_state", "join_that_forgets_in_time"):
        ads = stream(spark, "int(value) AS ad", "timestamp AS shown")
        clicks = stream(spark, "int(value) AS click_ad", "timestamp AS clicked")
        return (in_time.boundless if name == "join_that_keeps_its_state" else in_time.bound)(ads, clicks)
    if name in ("state_that_never_expires", "state_that_expires"):
        ids = stream(spark, "value AS id", "timestamp AS ts")
        return (in_time.once if name == "state_that_never_expires" else in_time.once_within_ten_minutes)(ids)
    if name in ("distinct_in_each_partition", "distinct"):
        letters = spark.sparkContext.parallelize(["a", "b", "a"], 2)
        return getattr(dstream, name)(letters).collect()
    return getattr(operators, name)(rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_found_in_each_program_alone(spark, name):
    with fs.capture(spark) as dag:
        program(spark, name)
    assert dag.operations, "nothing was seen"
    assert {one.rule for one in dag.lint(confirm=False)} == EXPECTED[name]
