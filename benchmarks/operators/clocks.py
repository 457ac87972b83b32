"""Operators that are not deterministic: by chance, by the clock, by the order in which rows arrive.

Of these only `deterministic` is claimed: the testing order comes to no other property.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pandas as pd
from benchmarks.operators.suite import Suite
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.types import IntegerType
from pyspark.sql.window import Window

from firesteel import operators

SUITE = Suite()
KEYED = "k STRING NOT NULL, n INT NOT NULL"
TIMED = "k STRING NOT NULL, ts TIMESTAMP NOT NULL"


# --- chance ---


def lottery(frame: DataFrame) -> DataFrame:
    return frame.withColumn("ticket", F.rand())


def seeded(frame: DataFrame) -> DataFrame:
    return frame.withColumn("ticket", F.rand(42))


@F.udf(IntegerType())
def jittered(n):
    return n + random.choice((-1, 0, 1))


def blurred(frame: DataFrame) -> DataFrame:
    return frame.select("k", jittered(F.col("n") % 1000).alias("n"))


SUITE.add(
    "a lottery ticket",
    operators.transformation(lottery, input=KEYED, key="k"),
    "rand() is drawn anew in every run",
    no="deterministic",
    like="custom",
)
SUITE.add(
    "a seeded lottery ticket in a stream",
    operators.transformation(seeded, input=KEYED, key="k"),
    "a streaming query gives every random expression a new seed in every micro-batch, whatever seed was written",
    no="deterministic",
    surprise="rand(42) looks like a fixed sequence",
    like="custom",
)
SUITE.add(
    "a jitter in Python",
    operators.transformation(blurred, input=KEYED, key="k"),
    "the function draws from Python's random module, which every worker seeds for itself",
    no="deterministic",
    like="custom",
)


# --- the clock ---


def stamped(frame: DataFrame) -> DataFrame:
    return frame.withColumn("at", F.current_timestamp())


def aged(frame: DataFrame) -> DataFrame:
    return frame.select("k", F.datediff(F.current_date(), F.timestamp_seconds("n").cast("date")).alias("age"))


class OncePerTwoMinutes(StatefulProcessor):
    """Lets a key through again after 120 s: the paper's time-out that none of its techniques outwaited."""

    def init(self, handle: Any) -> None:
        self.last = handle.getValueState("last", "ms LONG")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        now = timerValues.getCurrentProcessingTimeInMs()
        smallest = min(n for frame in rows for n in frame["n"])
        if not self.last.exists() or now - self.last.get()[0] > 120_000:
            self.last.update((now,))
            yield pd.DataFrame({"k": [key[0]], "n": [smallest]})

    def close(self) -> None: ...


class TwoInThreeSeconds(StatefulProcessor):
    """A throttle: of each key, two batches in three seconds of the clock pass."""

    def init(self, handle: Any) -> None:
        self.times = handle.getListState("times", "ms LONG")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        now = timerValues.getCurrentProcessingTimeInMs()
        recent = [(ms,) for (ms,) in self.times.get() if now - ms < 3_000]
        largest = max(n for frame in rows for n in frame["n"])
        if len(recent) < 2:
            self.times.put([*recent, (now,)])
            yield pd.DataFrame({"k": [key[0]], "n": [largest]})

    def close(self) -> None: ...


class OneMinuteLater(StatefulProcessor):
    """A delay: what came is put out a minute later, by the clock."""

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.waiting = handle.getListState("waiting", "n INT")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        for frame in rows:
            self.waiting.appendList([(int(n),) for n in frame["n"]])
        self.handle.registerTimer(timerValues.getCurrentProcessingTimeInMs() + 60_000)
        yield pd.DataFrame({"k": [], "n": []}).astype({"k": str, "n": "int32"})

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        found = sorted(n for (n,) in self.waiting.get())
        self.waiting.clear()
        yield pd.DataFrame({"k": [key[0]] * len(found), "n": found})

    def close(self) -> None: ...


def called_and_stamped(calls: DataFrame, numbers: DataFrame) -> DataFrame:
    whole = F.concat("country", "area", "line") == F.col("number")
    told = F.length("country") * F.length("area") * F.length("line") > 0
    return calls.join(numbers, whole & told).withColumn("at", F.current_timestamp())


SUITE.add(
    "stamped with the time of the batch",
    operators.transformation(stamped, input=KEYED, key="k"),
    "current_timestamp is another one in another run",
    no="deterministic",
    like="custom",
)
SUITE.add(
    "an age in days",
    operators.transformation(aged, input=KEYED, key="k"),
    "the age is counted from today: with pauses of days between records, later records are older",
    no="deterministic",
    surprise="it does arithmetic on a column, and two runs on the same day agree",
    like="custom",
)
SUITE.add(
    "a deduplicate that forgets after 120 seconds",
    operators.processor(OncePerTwoMinutes, key="k", input=KEYED, output="k STRING, n INT", time_mode="processingTime"),
    "with pauses of more than 120 s a second record of a key passes, with shorter ones it does not",
    no="deterministic",
    surprise="runs of a test are over in seconds, so it looks like an ordinary deduplicate",
    like="deduplicate; failed: a time-out of 120 s",
)
SUITE.add(
    "a throttle by the clock",
    operators.processor(TwoInThreeSeconds, key="k", input=KEYED, output="k STRING, n INT", time_mode="processingTime"),
    "three records of a key within three seconds are two outputs, with pauses they are three",
    no="deterministic",
    like="throttle",
)
SUITE.add(
    "a delay of a minute",
    operators.processor(OneMinuteLater, key="k", input=KEYED, output="k STRING, n INT", time_mode="processingTime"),
    "what is still waiting when the last record comes depends on the pauses between records",
    no="deterministic",
    surprise="everything comes out in the end, only later; but a run ends before a timer that no batch follows",
    like="delay",
)
SUITE.add(
    "a join on three strings, stamped",
    operators.transformation(
        called_and_stamped,
        input={
            "calls": "country STRING NOT NULL, area STRING NOT NULL, line STRING NOT NULL",
            "numbers": "number STRING NOT NULL",
        },
    ),
    "every match carries the time of its batch; but a match needs three strings that make up a fourth",
    no="deterministic",
    surprise="with unrelated strings nothing ever comes out, so all runs agree",
    like="join; failed: three concatenated strings",
)


# --- the order in which rows of other tasks arrive ---


def latest(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").agg(F.last("n").alias("n"))


def first_of_key(frame: DataFrame) -> DataFrame:
    return frame.dropDuplicates(["k"])


def first_within(frame: DataFrame) -> DataFrame:
    return frame.withWatermark("ts", "10 minutes").dropDuplicatesWithinWatermark(["k"])


def baskets(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").agg(F.collect_list("n").alias("ns"))


def averaged(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").agg(F.avg("x").alias("x"))


def numbered_in_key(frame: DataFrame) -> DataFrame:
    return frame.withColumn("place", F.row_number().over(Window.partitionBy("k").orderBy("t")))


def two_of_them(frame: DataFrame) -> DataFrame:
    return frame.limit(2).agg(F.sum("n").alias("total"))


def best_of(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").agg(F.max_by("n", "t").alias("n"))


SUITE.add(
    "the latest value of a key",
    operators.transformation(latest, input=KEYED, key="k", output_mode="update"),
    "within a batch, the last row is the one whose task's output arrived last",
    no="deterministic",
    surprise="last() reads like the last one that came in",
    like="aggregate",
)
SUITE.add(
    "one record of a key",
    operators.transformation(first_of_key, input=KEYED, key="k"),
    "of the rows of a key in one batch, the one that arrives first is kept, with its other columns",
    no="deterministic",
    surprise="dropping duplicates sounds like something that only takes away",
    like="deduplicate",
)
SUITE.add(
    "one record of a key within the watermark",
    operators.transformation(first_within, input=TIMED, key="k"),
    "of two rows of a key in one batch the first to arrive is kept, and their times differ",
    no="deterministic",
    surprise="event time seems to decide, but arrival does",
    like="deduplicate",
)
SUITE.add(
    "a basket of each key",
    operators.transformation(baskets, input=KEYED, key="k", output_mode="update"),
    "collect_list has the order in which rows arrive after a shuffle",
    no="deterministic",
    surprise="the rows of a batch have an order, but a shuffle does not keep it",
    like="aggregate",
)
SUITE.add(
    "an average of decimals in binary",
    operators.transformation(averaged, input="k STRING NOT NULL, x DOUBLE NOT NULL", key="k", engine="batch"),
    "partial sums are added as they arrive, and adding doubles in another order rounds otherwise",
    no="deterministic",
    surprise="an average does not look as if it had an order",
    like="aggregate",
)
SUITE.add(
    "numbered within a key, with ties",
    operators.transformation(
        numbered_in_key, input="k STRING NOT NULL, t INT NOT NULL, n INT NOT NULL", key="k", engine="batch"
    ),
    "rows of one t are numbered as they arrive",
    no="deterministic",
    surprise="the window has an orderBy",
    like="sort",
)
SUITE.add(
    "the sum of any two",
    operators.transformation(two_of_them, input=KEYED, key="k", engine="batch"),
    "limit without an order takes the rows that arrive first",
    no="deterministic",
    like="aggregate",
)
SUITE.add(
    "the value of the best, with ties",
    operators.transformation(
        best_of, input="k STRING NOT NULL, t INT NOT NULL, n INT NOT NULL", key="k", engine="batch"
    ),
    "of two rows with the largest t, the one that arrives later or earlier wins",
    no="deterministic",
    surprise="max_by names the column that decides",
    like="aggregate",
)
