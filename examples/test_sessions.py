"""Sessions with transformWithState: a user's clicks, until ten minutes go by without one; then a timer tells the sum.

Every click moves the timer on. The wrong tracker sets a new timer and leaves the old one, which ends the session while
the user goes on clicking.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from hypothesis import strategies as st
from pyspark import cloudpickle
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

import firesteel as fs
from firesteel import strategies as ss

pytestmark = pytest.mark.slow

# Spark's Python processes cannot import a test file, as pytest can: this sends them its classes as they are.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

GAP = 600_000  # ten minutes, in milliseconds, as timers are


def millis(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


class SessionTracker(StatefulProcessor):
    moves_the_timer = True

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.open = handle.getValueState("open", "clicks INT, ends BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        for at in sorted(millis(row.ts) for row in rows):
            clicks, ends = self.open.get() or (0, 0)
            if clicks and at >= ends:  # the gap is over, and the timer has not been asked yet
                self.handle.deleteTimer(ends)
                yield Row(user=key[0], clicks=clicks, ends=ends)
                clicks = 0
            elif clicks and self.moves_the_timer:
                self.handle.deleteTimer(ends)
            self.open.update((clicks + 1, at + GAP))
            self.handle.registerTimer(at + GAP)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:
        if session := self.open.get():
            yield Row(user=key[0], clicks=session[0], ends=expiredTimerInfo.getExpiryTimeInMs())
            self.open.clear()

    def close(self) -> None: ...


class HastyTracker(SessionTracker):
    moves_the_timer = False


def tracked(clicks: DataFrame, tracker: StatefulProcessor) -> DataFrame:
    by_user = clicks.withWatermark("ts", "0 seconds").groupBy("user")
    return by_user.transformWithState(tracker, "user INT, clicks INT, ends BIGINT", "append", "EventTime")


def sessions(clicks: DataFrame) -> DataFrame:
    return tracked(clicks, SessionTracker())


def hasty_sessions(clicks: DataFrame) -> DataFrame:
    return tracked(clicks, HastyTracker())


click = ss.records("user INT NOT NULL, ts TIMESTAMP NOT NULL", user=st.integers(0, 1))
one = ss.batches(click, min_size=1, max_size=1)
clicks = ss.timed(
    ss.pattern("one (one | none){4}", one=one, none=ss.batches(click, max_size=0)), every="5 minutes", column="ts"
)


def sessions_end_ten_minutes_after_a_click(now: fs.Instant) -> fs.Check:
    def last_click(session: fs.Record) -> int:
        times = [millis(c.ts) for c in now.so_far.input if c.user == session.user]
        return max((at for at in times if at < session.ends), default=0)

    return now.output.every(lambda session: session.ends == last_click(session) + GAP)


@fs.let
def clicks_are_counted(now: fs.Instant) -> fs.Formula:
    n = len(now.so_far.input)
    return fs.eventually(fs.now(lambda later: sum(later.so_far.output.values("clicks")) >= n, name=f"{n}_are_counted"))


def test_sessions_end_ten_minutes_after_a_click() -> None:
    ends = fs.always(sessions_end_ten_minutes_after_a_click, during=5)
    fs.for_all(clicks, sessions, ends & fs.always(clicks_are_counted), cases=8)


def test_a_timer_that_is_not_moved_is_found() -> None:
    """A user clicks every five minutes: with batch 2 the session ends, ten minutes after the first click."""
    with pytest.raises(fs.Falsified, match="the property is false in batch 2") as failure:
        fs.for_all(clicks, hasty_sessions, fs.always(sessions_end_ten_minutes_after_a_click, during=5), cases=8)
    found = failure.value.report.counterexample
    assert found is not None and [len(now.output) for now in found.trace] == [0, 0, 1]
