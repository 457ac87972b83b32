"""Planted bugs of time: watermarks, zones, late data, joins, timers, state. Each is found; its look-alike passes."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import strategies as st
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import strategies as ss
from tests.quality.planted import caught, false_at, passes, records_in

pytestmark = pytest.mark.slow

HOUR = fs.tumbling("1 hour", on={"input": "ts", "output": "at"})
MINUTE = timedelta(minutes=1)
START = datetime(2000, 1, 1, tzinfo=UTC)


# --- a watermark on the wrong column -----------------------------------------------------------------------------

report = ss.records("ts TIMESTAMP NOT NULL", ts=st.sampled_from([START + m * MINUTE for m in (0, 30, 60)]))
reports = ss.always(ss.batches(report, min_size=1, max_size=1), during=3)


def ten_minutes(watermark):
    """What happened, counted in windows of ten minutes; a window is closed once the watermark has passed it."""

    def job(frame):
        seen = frame.withColumn("seen", F.current_timestamp())
        counts = seen.withWatermark(watermark, "10 minutes").groupBy(F.window("ts", "10 minutes")).count()
        return counts.select("window.end", "count")

    return job


def closed_windows_stay_as_they_are(now):
    before = [r.ts for r in now.previous.so_far.input] if now.previous else []
    return now.output.every(lambda r: not before or r.end > max(before) - 10 * MINUTE)


def test_watermark_on_the_wrong_column(spark):
    """On when a report was seen, not on when it happened."""
    rule = fs.always(closed_windows_stay_as_they_are)
    found = caught(spark, reports, ten_minutes("seen"), rule, output_mode="update")
    (at,) = false_at(found)
    (late,) = found.trace[at].input
    assert late.ts <= max(found.trace[at - 1].so_far.input.values("ts")) - 30 * MINUTE
    assert at == len(found.trace) - 1 and records_in(found) == at + 1 <= 3, "one record a batch"


def test_watermark_on_the_right_column(spark):
    passes(spark, reports, ten_minutes("ts"), fs.always(closed_windows_stay_as_they_are), output_mode="update")


# --- a window off by one hour --------------------------------------------------------------------------------------

click = ss.records("ts TIMESTAMP NOT NULL")
clicks = ss.timed(ss.always(ss.batches(click, min_size=1, max_size=2), during=2), every="1 hour", column="ts")


def hourly(zone):
    """Clicks of each hour; `zone` is the one that the job thinks in."""

    def job(frame):
        local = frame.select(F.from_utc_timestamp("ts", zone).alias("local")).withWatermark("local", "1 hour")
        return local.groupBy(F.window("local", "1 hour")).count().select("count", F.col("window.start").alias("at"))

    return job


def every_click_counts_in_its_hour(now):
    return sum(now.output.values("count")) == len(now.input)


def test_window_off_by_one_hour(spark):
    found = caught(spark, clicks, hourly("Europe/Berlin"), fs.always(every_click_counts_in_its_hour), over=HOUR)
    assert found.unit == "window" and false_at(found) == [0], "nothing is counted in the first hour"
    assert records_in(found) == 2 and len(found.trace[0].input) == 1 and not found.trace[0].output


def test_window_in_its_own_hour(spark):
    rule = fs.always(every_click_counts_in_its_hour)
    passes(spark, clicks, hourly("UTC"), rule, over=HOUR)


# --- late data counted twice ----------------------------------------------------------------------------------------

# A batch covers half an hour, and there is one an hour: what is in it has happened some time ago.
two = ss.always(ss.batches(click, min_size=1, max_size=2), during=2)
slow_clicks = ss.timed(two, every="30 minutes", column="ts")
IS_LATE = "current_timestamp() > ts + INTERVAL 10 MINUTES"


def with_late_branch(on_time):
    """Late clicks take a way of their own (a correction, say), and come together with the others again."""

    def job(frame):
        frame = frame.withWatermark("ts", "1 hour")
        both = frame.where(on_time).union(frame.where(IS_LATE))
        return both.groupBy(F.window("ts", "1 hour")).count().select("count", F.col("window.start").alias("at"))

    return job


def test_late_data_counted_twice(spark):
    rule = fs.always(every_click_counts_in_its_hour)
    found = caught(spark, slow_clicks, with_late_branch("true"), rule, over=HOUR, batch_interval="1 hour")
    assert [[r.ts - START for r in batch] for batch in found.inputs["input"]] == [[0 * MINUTE], [30 * MINUTE]]
    assert false_at(found) == [0] and found.trace[0].output.values("count") == [3], "the second click is late"


def test_late_data_counted_once(spark):
    rule = fs.always(every_click_counts_in_its_hour)
    once = with_late_branch(f"NOT ({IS_LATE})")
    passes(spark, slow_clicks, once, rule, over=HOUR, batch_interval="1 hour")


# --- a join that forgets its time bound -------------------------------------------------------------------------------

ad = ss.records("ad INT NOT NULL, shown TIMESTAMP NOT NULL", ad=st.integers(0, 1))
ad_click = ss.records("click_ad INT NOT NULL, clicked TIMESTAMP NOT NULL", click_ad=st.integers(0, 1))


def one_each(record):
    return ss.always(ss.batches(record, min_size=1, max_size=1), during=3)


ads_and_clicks = st.fixed_dictionaries(
    {
        "ads": ss.timed(
            ss.always(ss.batches(ad, min_size=1, max_size=1), during=3), every="20 minutes", column="shown"
        ),
        "clicks": ss.timed(
            ss.always(ss.batches(ad_click, min_size=1, max_size=1), during=3), every="20 minutes", column="clicked"
        ),
    }
)


def attributed(condition):
    def job(ads, clicks):
        ads, clicks = ads.withWatermark("shown", "1 minute"), clicks.withWatermark("clicked", "1 minute")
        return ads.join(clicks, F.expr(condition))

    return job


bound = attributed("ad = click_ad AND clicked BETWEEN shown AND shown + INTERVAL 20 MINUTES")
boundless = attributed("ad = click_ad AND clicked >= shown")


def clicks_come_within_20_minutes(now):
    return now.output.every(lambda r: r.clicked <= r.shown + 20 * MINUTE)


def old_ads_are_forgotten(now):
    """A click of before the watermark is dropped, so an ad of 20 minutes before that can have none any more."""
    latest = min(max(now.so_far["ads"].values("shown")), max(now.so_far["clicks"].values("clicked")))
    ads = now.state.where(lambda r: r.name == "left")
    return ads.every(lambda r: r.value.shown >= latest - 22 * MINUTE)


def test_join_without_its_bound(spark):
    found = caught(spark, ads_and_clicks, boundless, fs.always(clicks_come_within_20_minutes))
    (at,) = false_at(found)
    (pair,) = [r for r in found.trace[at].output if r.clicked > r.shown + 20 * MINUTE]
    assert at == len(found.trace) - 1 and pair.clicked in found.trace[at]["clicks"].values("clicked")
    assert records_in(found) == 2 * len(found.trace) <= 6


def test_join_with_its_bound(spark):
    passes(spark, ads_and_clicks, bound, fs.always(clicks_come_within_20_minutes))


def test_join_that_keeps_its_state(spark):
    found = caught(spark, ads_and_clicks, boundless, fs.always(old_ads_are_forgotten), state=True, cases=3)
    assert false_at(found) == [2] and records_in(found) == 6, "the first ad, when the third batch has come"


def test_join_that_forgets_in_time(spark):
    rule = fs.always(old_ads_are_forgotten)
    passes(spark, ads_and_clicks, bound, rule, state=True, cases=8, one_by_one="the state after every batch")


# --- a timer that never fires ----------------------------------------------------------------------------------------

visit = ss.records("user INT NOT NULL", user=st.integers(0, 1))
visits = ss.concat(ss.batches(visit, min_size=1, max_size=2), ss.always(ss.batches(visit, max_size=2), during=3))


def idle_users(rearms):
    """Users without a visit for more than a second; the wrong one takes a time-out for a visit, and waits again."""

    def job(frame):
        import pandas as pd

        def watch(key, frames, state):
            if state.hasTimedOut and not rearms:
                state.remove()
                yield pd.DataFrame({"user": [key[0]]})
                return
            state.update((sum(map(len, frames)),))
            state.setTimeoutDuration(1000)

        return frame.groupBy("user").applyInPandasWithState(
            watch, "user INT", "visits LONG", "append", "ProcessingTimeTimeout"
        )

    return job


def users(instant):
    return set(instant.input.values("user"))


def idle_users_are_reported(now):
    """In the first batch more than a second after their last visit: the next but one."""
    earlier = now.previous and now.previous.previous
    idle = users(earlier) - users(now.previous) - users(now) if earlier else set()
    return now.output.same_as([(user,) for user in sorted(idle)])


def test_processing_time_timer_that_never_fires(spark):
    rule = fs.always(idle_users_are_reported)
    found = caught(spark, visits, idle_users(rearms=True), rule, batch_interval="1 second")
    assert false_at(found) == [2] and found.trace[0].input == [(0,)] and records_in(found) == 1, "one visit"


def test_processing_time_timer(spark):
    passes(spark, visits, idle_users(rearms=False), fs.always(idle_users_are_reported), batch_interval="1 second")


task = ss.records("user INT NOT NULL, ts TIMESTAMP NOT NULL", user=st.integers(0, 1))
some, none = ss.batches(task, min_size=1, max_size=2), ss.batches(task, max_size=0)
tasks = ss.timed(ss.concat(some, some, none), every="10 minutes", column="ts")


def reminders(units_a_second):
    """A reminder ten minutes after every task; a timer takes milliseconds."""

    def job(frame):
        from pyspark.sql import Row
        from pyspark.sql.streaming import StatefulProcessor

        class Remind(StatefulProcessor):
            def init(self, handle):
                self.handle = handle

            def handleInputRows(self, key, rows, timerValues):
                for row in rows:
                    self.handle.registerTimer(int((row.ts.timestamp() + 600) * units_a_second))
                return iter(())

            def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
                yield Row(user=key[0], due=expiredTimerInfo.getExpiryTimeInMs())

            def close(self):
                pass

        by_user = frame.withWatermark("ts", "0 seconds").groupBy("user")
        due = by_user.transformWithState(Remind(), "user INT, due LONG", "append", "EventTime")
        return due.select("user", F.timestamp_millis("due").alias("at"))

    return job


def a_reminder_follows_every_task(now):
    def due(task):
        return task.ts.replace(microsecond=task.ts.microsecond // 1000 * 1000) + 10 * MINUTE

    return now.output.same_as([(r.user, due(r)) for r in (now.previous.input if now.previous else ())])


TEN_MINUTES = fs.tumbling("10 minutes", on={"input": "ts", "output": "at"})


def test_event_time_timer_that_never_fires(spark):
    rule = fs.always(a_reminder_follows_every_task)
    found = caught(spark, tasks, reminders(1_000_000), rule, over=TEN_MINUTES)
    assert false_at(found) == [1] and records_in(found) == 2, "one task a batch, and none is heard of again"


def test_event_time_timer(spark):
    passes(spark, tasks, reminders(1_000), fs.always(a_reminder_follows_every_task), over=TEN_MINUTES)


# --- state that never expires --------------------------------------------------------------------------------------

payment = ss.records("id INT NOT NULL, ts TIMESTAMP NOT NULL", id=st.integers(0, 1))
payments = ss.timed(ss.always(ss.batches(payment, min_size=1, max_size=2), during=2), every="20 minutes", column="ts")


def once(frame):
    return frame.dropDuplicates(["id", "ts"])


def once_within_ten_minutes(frame):
    return frame.withWatermark("ts", "10 minutes").dropDuplicates(["id", "ts"])


def nothing_old_is_kept(now):
    latest = max(now.so_far.input.values("ts"), default=None)
    return now.state.every(lambda r: r.key.ts >= latest - 10 * MINUTE)


def test_state_that_never_expires(spark):
    found = caught(spark, payments, once, fs.always(nothing_old_is_kept), state=True)
    (at,) = false_at(found)
    (leaf,) = found.explanation.leaves()
    assert records_in(found) == 2 and [r.key.ts for r in leaf.records] == [
        min(r.ts for r in found.trace[at].so_far.input)
    ]


def test_state_that_expires(spark):
    rule = fs.always(nothing_old_is_kept)
    passes(
        spark, payments, once_within_ten_minutes, rule, state=True, cases=8, one_by_one="the state after every batch"
    )
