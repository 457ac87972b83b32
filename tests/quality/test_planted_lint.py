"""Which of the planted bugs a lint finds without a property: those of order and luck, and of state that grows."""

from collections import defaultdict

import pytest

import firesteel as fs
from tests.quality import test_planted_in_time as in_time
from tests.quality import test_planted_on_spark as on_spark
from tests.quality import test_planted_operators as operators

FOUND = {
    "numbered_by_place": "partition-id",
    "stamped_by_clock": "clock-in-query",
    "listed_as_they_come": "order-sensitive-aggregate",
    "first_of_ties": "ties-in-window",
    "seen_for_ever": "deduplication-without-watermark",
    "leaking_state": "state-in-function",
    "join_that_keeps_its_state": "unbounded-state",
    "state_that_never_expires": "deduplication-without-watermark",
}
RIGHT = {
    "numbered_by_content",
    "stamped_by_record",
    "listed_in_order",
    "first_of_all",
    "seen_for_a_while",
    "state_of_its_own",
    "join_that_forgets_in_time",
    "state_that_expires",
}
NOT_FOUND = {"drawn_at_random", "holding_back"}
"""`rand()` before any shuffle gives a retry the same values; a join that waits is not a matter of luck."""


def stream(spark, *columns):
    return spark.readStream.format("rate").load().selectExpr(*columns)


def programs(spark):
    """The programs by their names, each as a call without arguments."""
    rows = spark.createDataFrame([("a", 1), ("a", 2), ("b", 3)], operators.KEYED)
    timed = stream(spark, "string(value) AS k", "timestamp AS ts")
    left = stream(spark, "int(value) AS k", "int(value) AS a", "timestamp AS ts")
    right = stream(spark, "int(value) AS j", "int(value) AS b", "timestamp AS us")
    users = stream(spark, "string(value) AS user")
    ads = stream(spark, "int(value) AS ad", "timestamp AS shown")
    clicks = stream(spark, "int(value) AS click_ad", "timestamp AS clicked")
    ids = stream(spark, "value AS id", "timestamp AS ts")
    inputs = {"seen_for_ever": [timed], "seen_for_a_while": [timed], "holding_back": [left, right]}
    names = ["drawn_at_random", *(name for name in [*FOUND, *RIGHT] if hasattr(operators, name))]
    for name in [*dict.fromkeys([*names, "holding_back"])]:
        yield name, lambda name=name: getattr(operators, name)(*inputs.get(name, [rows]))
    yield "leaking_state", lambda: on_spark.counting(leaks=True)(users)
    yield "state_of_its_own", lambda: on_spark.counting(leaks=False)(users)
    yield "join_that_keeps_its_state", lambda: in_time.boundless(ads, clicks)
    yield "join_that_forgets_in_time", lambda: in_time.bound(ads, clicks)
    yield "state_that_never_expires", lambda: in_time.once(ids)
    yield "state_that_expires", lambda: in_time.once_within_ten_minutes(ids)


@pytest.fixture(scope="module")
def found(spark):
    """The rules that find something in each program. What follows a program's marker in the capture belongs to it."""
    order = []
    with fs.capture(spark) as dag:
        for name, make in programs(spark):
            spark.range(len(order) + 1)
            order.append((name, make()))
    by_program, program, markers = defaultdict(set), {}, iter(order)
    now = None
    for operation in dag.operations:
        now = next(markers)[0] if operation.name == "range" else now
        program[operation.id] = now
    for one in dag.lint(confirm=False):
        by_program[program[one.operation]].add(one.rule)
    return by_program


@pytest.mark.slow
def test_what_is_found_without_a_property(found):
    assert {name: rule for name, rule in FOUND.items() if rule not in found[name]} == {}


@pytest.mark.slow
def test_the_right_ones_are_left_alone(found):
    assert {name: found[name] & set(FOUND.values()) for name in RIGHT if found[name] & set(FOUND.values())} == {}


@pytest.mark.slow
def test_what_is_not_found(found):
    assert {name: found[name] for name in NOT_FOUND if found[name]} == {}
