"""Planted bugs: each is found, shrunk to a stated size, at the expected instant; its right look-alike passes."""

import datetime

import pytest
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss
from firesteel.cli.banned import events, formula
from firesteel.cli.demo import banned_users, forgetful
from tests.quality.planted import caught, passes, records_in

# --- the forgetful ban list ------------------------------------------------------------------------------


def test_forgetful_ban_list(spark):
    found = caught(spark, events(), forgetful, formula(), cases=20)
    assert len(found.trace) == 2 and records_in(found) <= 3
    assert [(str(leaf.formula), leaf.at) for leaf in found.explanation.leaves()] == [
        ("user_15_misbehaves", 0),
        ("user_15_is_banned", 1),
    ]


@pytest.mark.slow
def test_ban_list_that_remembers(spark):
    passes(spark, events(), banned_users, formula(), output_mode="complete")


# --- an off-by-one window ----------------------------------------------------------------------------------

CLICK = ss.records("minute INT NOT NULL", minute=st.integers(0, 29))
clicks = ss.always(ss.batches(CLICK, min_size=1, max_size=3), during=3)


def start_of_window(minute):
    return minute - minute % 10


def windows(frame):
    return frame.groupBy((F.col("minute") - F.col("minute") % 10).alias("start")).count()


def off_by_one(frame):
    """Counts minute 10 into the window that ends with it."""
    shifted = F.col("minute") - 1
    return frame.groupBy((shifted - shifted % 10).alias("start")).count()


def counts_are_right(now):
    counted = {}
    for record in now.so_far.input:
        start = start_of_window(record.minute)
        counted[start] = counted.get(start, 0) + 1
    return now.output.same_as(list(counted.items()))


@pytest.mark.slow
def test_off_by_one_window(spark):
    found = caught(spark, clicks, off_by_one, fs.always(counts_are_right), output_mode="complete")
    minutes = [r.minute for batch in found.inputs["input"] for r in batch]
    assert sorted(minutes) == [0, 0, 10], "one record a batch, and the first minute that is counted wrong"
    assert len(found.trace) == minutes.index(10) + 1, "and nothing after it"


@pytest.mark.slow
def test_right_window(spark):
    passes(spark, clicks, windows, fs.always(counts_are_right), output_mode="complete")


# --- a dropped null -----------------------------------------------------------------------------------------

maybe = ss.records("name STRING", name=st.none() | st.sampled_from(["", "a", "b"]))
names = ss.always(ss.batches(maybe, min_size=1, max_size=3), during=2)
kept = fs.always(lambda now: now.output.same_as(now.input.where(lambda r: r.name != "b")))


def test_dropped_null(spark):
    found = caught(spark, names, lambda frame: frame.where("name <> 'b'"), kept)
    (leaf,) = found.explanation.leaves()
    assert leaf.records == ((None,),) and records_in(found) <= 2


def test_kept_null(spark):
    passes(spark, names, lambda frame: frame.where("name IS NULL OR name <> 'b'"), kept)


# --- a lost update --------------------------------------------------------------------------------------------

deposit = ss.records("account INT NOT NULL, amount INT NOT NULL", account=st.integers(0, 1), amount=st.integers(1, 9))
deposits = ss.always(ss.batches(deposit, max_size=3), during=3)


def balances_are_right(now):
    total = {}
    for record in now.so_far.input:
        total[record.account] = total.get(record.account, 0) + record.amount
    changed = {record.account for record in now.input}
    return now.output.same_as([(account, total[account]) for account in sorted(changed)])


@pytest.mark.slow
def test_lost_update(spark):
    def last_deposit_only(frame):
        return frame.groupBy("account").agg(F.max("amount").cast("long").alias("balance"))

    found = caught(spark, deposits, last_deposit_only, fs.always(balances_are_right), output_mode="update")
    assert records_in(found) == 2, "two deposits into one account"


@pytest.mark.slow
def test_right_update(spark):
    def balance(frame):
        return frame.groupBy("account").agg(F.sum("amount").alias("balance"))

    passes(spark, deposits, balance, fs.always(balances_are_right), output_mode="update")


# --- an outer join that loses rows ------------------------------------------------------------------------------

order = ss.records("customer INT NOT NULL", customer=st.integers(0, 3))
orders = ss.always(ss.batches(order, min_size=1, max_size=3), during=2)
nothing_lost = fs.always(lambda now: sorted(now.output.values("customer")) == sorted(now.input.values("customer")))


def with_names(how):
    def job(frame):
        customers = frame.sparkSession.createDataFrame([(0, "ann"), (1, "bob"), (2, "cy")], "customer INT, name STRING")
        return frame.join(customers, "customer", how)

    return job


@pytest.mark.slow
def test_join_that_loses_rows(spark):
    found = caught(spark, orders, with_names("inner"), nothing_lost)
    needed = [r.customer for batch in found.inputs["input"][: len(found.trace)] for r in batch]
    assert 3 in needed and records_in(found) <= 2


@pytest.mark.slow
def test_outer_join(spark):
    passes(spark, orders, with_names("left"), nothing_lost)


# --- state that leaks between keys ---------------------------------------------------------------------------------

visit = ss.records("user STRING NOT NULL", user=st.sampled_from(["a", "b"]))
visits = ss.always(ss.batches(visit, min_size=1, max_size=2), during=2)


def visits_are_right(now):
    seen = now.so_far.input.values("user")
    return now.output.same_as([(user, seen.count(user)) for user in sorted(set(now.input.values("user")))])


def counting(leaks):
    """Visits of each user, counted in Python state; the wrong one keeps its count in the worker, for all users."""

    def job(frame):
        import pandas as pd

        shared = {"count": 0}

        def count_for_all(key, frames, state):
            shared["count"] += sum(len(f) for f in frames)
            yield pd.DataFrame({"user": [key[0]], "n": [shared["count"]]})

        def count(key, frames, state):
            total = (state.get[0] if state.exists else 0) + sum(len(f) for f in frames)
            state.update((total,))
            yield pd.DataFrame({"user": [key[0]], "n": [total]})

        return frame.groupBy("user").applyInPandasWithState(
            count_for_all if leaks else count, "user STRING, n LONG", "total LONG", "update", "NoTimeout"
        )

    return job


@pytest.mark.slow
def test_state_that_leaks(spark):
    one_partition = {"spark.sql.shuffle.partitions": "1"}
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", one_partition["spark.sql.shuffle.partitions"])
    try:
        found = caught(spark, visits, counting(leaks=True), fs.always(visits_are_right), output_mode="update")
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    assert len(found.trace) <= 2 and records_in(found) <= 3


@pytest.mark.slow
def test_state_of_its_own(spark):
    passes(spark, visits, counting(leaks=False), fs.always(visits_are_right), output_mode="update")


# --- a promise kept too late ------------------------------------------------------------------------------------------

T0 = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)


def test_a_watermark_that_is_too_short_drops_what_was_in_time(spark):
    """By hand, not generated: the record of 0:50 is 10 minutes late, and a watermark of 5 minutes drops it."""
    minutes = [[60], [50], [61]]
    stream = fs.Stream("t TIMESTAMP", [[(T0 + datetime.timedelta(minutes=m),) for m in batch] for batch in minutes])
    complete = fs.always(lambda now: now.so_far.output.same_as(now.so_far.input))

    def dedup(delay):
        return lambda frame: frame.withWatermark("t", delay).dropDuplicates(["t"])

    assert complete.evaluate(fs.run(stream, dedup("20 minutes"), spark=spark))
    short = fs.run(stream, dedup("5 minutes"), spark=spark)
    assert not complete.evaluate(short) and [i.dropped for i in short] == [0, 1, 0]
