"""Streams with event time, on one port: windows, sessions, duplicates, timers.

A query has one watermark. What comes behind it is dropped, where there is state. So the order of records shows, and
records of other keys move the watermark: such operators are neither commutative nor isolated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from benchmarks.operators.suite import Suite
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

from firesteel import operators

SUITE = Suite()
TIMED = "k STRING NOT NULL, ts TIMESTAMP NOT NULL"
VALUED = "k STRING NOT NULL, n INT NOT NULL, ts TIMESTAMP NOT NULL"
_LATE = "one_to_one stateless commutative partition_isolated"


def in_windows(frame: DataFrame) -> DataFrame:
    return frame.withWatermark("ts", "1 minute").groupBy("k", F.window("ts", "10 minutes")).count()


def in_all_windows(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k", F.window("ts", "10 minutes")).count()


def sliding(frame: DataFrame) -> DataFrame:
    return frame.groupBy(F.window("ts", "10 minutes", "5 minutes")).count()


def largest_in_window(frame: DataFrame) -> DataFrame:
    return frame.withWatermark("ts", "0 seconds").groupBy("k", F.window("ts", "30 seconds")).agg(F.max("n").alias("n"))


def sessions(frame: DataFrame) -> DataFrame:
    return frame.withWatermark("ts", "1 minute").groupBy("k", F.session_window("ts", "5 minutes")).count()


def once(frame: DataFrame) -> DataFrame:
    return frame.withWatermark("ts", "2 minutes").dropDuplicates(["k", "ts"])


def marked_count(frame: DataFrame) -> DataFrame:
    return frame.withWatermark("ts", "0 seconds").groupBy("k").count()


def busiest(frame: DataFrame) -> DataFrame:
    windows = frame.withWatermark("ts", "1 minute").groupBy("k", F.window("ts", "1 minute")).count()
    hours = windows.groupBy("k", F.window(F.window_time("window"), "1 hour").alias("hour"))
    return hours.agg(F.max("count").alias("most")).select("k", "hour", "most")


SUITE.add(
    "a count in windows, appended",
    operators.transformation(in_windows, input=TIMED, key="k"),
    "a window comes out when the watermark has passed it; what is behind it is dropped, and any key moves it",
    no=_LATE,
    yes="deterministic",
    surprise="a count has no order, and each key has its own; the watermark has neither",
    like="windowed aggregate",
)
SUITE.add(
    "a count in windows, complete",
    operators.transformation(in_all_windows, input=TIMED, key="k", output_mode="complete"),
    "without a watermark nothing is late; the last table is the same in any order, and of each key the same",
    no="one_to_one stateless",
    yes="deterministic commutative partition_isolated",
    surprise="the same windows as in append mode, and no order any more",
    like="windowed aggregate",
)
SUITE.add(
    "a count in sliding windows, updated",
    operators.transformation(sliding, input=TIMED, output_mode="update"),
    "a record is in two windows, so two rows come out; each window's counts are 1, 2, 3 in any order",
    no="one_to_one stateless",
    yes="deterministic commutative",
    surprise="the tumbling window gives one row for each record, the sliding one gives two",
    like="windowed aggregate",
)
SUITE.add(
    "the largest in short windows, appended",
    operators.transformation(largest_in_window, input=VALUED, key="k"),
    "a watermark of 0 seconds: every record behind the latest window's end is dropped, whosever it is",
    no=_LATE,
    yes="deterministic",
    surprise="max has no order, but a record that is dropped is not compared",
    like="windowed aggregate",
)
SUITE.add(
    "sessions of each key",
    operators.transformation(sessions, input=TIMED, key="k"),
    "a session comes out when the watermark has passed its end; other keys move the watermark",
    no=_LATE,
    yes="deterministic",
    surprise="a session belongs to a key, but its end depends on everybody",
    like="windowed aggregate",
)
SUITE.add(
    "each key and time once",
    operators.transformation(once, input=TIMED, key="k"),
    "a duplicate gives nothing; a record behind the watermark gives nothing either, and any key moves it",
    no=_LATE,
    yes="deterministic",
    surprise="duplicates are equal, so it seems that neither order nor other keys could matter",
    like="deduplicate",
)
SUITE.add(
    "a count of each key with a watermark",
    operators.transformation(marked_count, input=TIMED, key="k", output_mode="update"),
    "the watermark is not about anything that is grouped, so nothing is ever late",
    no="stateless",
    yes="deterministic one_to_one commutative partition_isolated",
    surprise="a watermark of 0 seconds before an aggregate, and no record is dropped",
    like="aggregate",
)
SUITE.add(
    "the busiest minute of each hour",
    operators.transformation(busiest, input=TIMED, key="k"),
    "two aggregates one after the other; both wait for the watermark, and what is late is dropped",
    no=_LATE,
    yes="deterministic",
    surprise="counts and maxima have no order",
    like="windowed aggregate",
)


# --- timers of event time ---


class OneMinuteAfter(StatefulProcessor):
    """A delay: a record comes out when the watermark is a minute after it."""

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.waiting = handle.getListState("waiting", "n INT, due LONG")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        for frame in rows:
            for n, ts in zip(frame["n"], frame["ts"], strict=True):
                due = int(ts.timestamp() * 1000) + 60_000
                self.waiting.appendValue((int(n), due))
                self.handle.registerTimer(due)
        yield pd.DataFrame({"k": [], "n": []}).astype({"k": str, "n": "int32"})

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        now = expiredTimerInfo.getExpiryTimeInMs()
        kept = [(n, due) for n, due in self.waiting.get()]
        self.waiting.put([(n, due) for n, due in kept if due != now] or [(0, -1)])
        found = sorted(n for n, due in kept if due == now)
        yield pd.DataFrame({"k": [key[0]] * len(found), "n": found})

    def close(self) -> None: ...


SUITE.add(
    "a delay of a minute of event time",
    operators.processor(
        OneMinuteAfter, key="k", input=VALUED, output="k STRING, n INT", time_mode="eventTime", watermark="1 minute"
    ),
    "a record alone gives nothing and a later one releases it; one behind the watermark is dropped",
    no=_LATE,
    yes="deterministic",
    surprise="nothing is combined with anything, and everything comes out, later",
    like="delay",
)
